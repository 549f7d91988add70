/* What the rules of inference (infer_*.c) share; for them alone. */
#ifndef TCC_IR_INFER_RULES_H
#define TCC_IR_INFER_RULES_H

#include "base/messages.h"
#include "ir/infer.h"

/* One application of an op, as its rule sees it. */
typedef struct Infer {
    Graph *graph;
    IrContext *ctx;
    Diags *diags; /* may be NULL */
    const Origin *origin;
    Op op;
    const OpInfo *info;
    const NodeId *args;
    const Type *const *types; /* of the operands */
    uint32_t arg_count;
    const Attr *attrs;
    const Graph *const *regions;
    uint32_t region_count;
    bool *failed; /* an application is reported once, for the first reason */
} Infer;

/* A rule gives the result type, or NULL after infer_fail. Operands have been counted and are
 * tensors of dtypes that the op's row accepts (item: a tuple). */
typedef const Type *InferRule(const Infer *in);

InferRule infer_dim, infer_unary, infer_binary, infer_compare, infer_select, infer_cast;
InferRule infer_reduce, infer_argreduce, infer_cumulative;
InferRule infer_reshape, infer_permute, infer_broadcast, infer_slice, infer_pad, infer_reverse;
InferRule infer_concat, infer_gather, infer_scatter, infer_sort, infer_random;
InferRule infer_contract, infer_conv, infer_window;
InferRule infer_cond, infer_loop, infer_scan, infer_item, infer_call;

/* Reports at the op's origin, with notes; returns false. */
bool infer_fail(const Infer *in, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define REJECT(in, ...) (infer_fail((in), __VA_ARGS__), NULL)

/* Texts for messages, in the graph's arena. */
const char *infer_type_text(const Infer *in, const Type *type);
const char *infer_dim_text(const Infer *in, const Dim *dim);
const char *infer_dims_text(const Infer *in, const DimList *dims);
const char *infer_ints_text(const Infer *in, const IntList *ints);

/* Whether `a` and `b` may be equal; false when they provably differ. */
bool infer_may_equal(const Infer *in, const Dim *a, const Dim *b);
/* Two dims that must be equal and may be: the better known of the two, with an entry check where
 * equality is not proved. NULL after a failure when only a kernel will know their values. */
const Dim *infer_same_dim(const Infer *in, const Dim *a, const Dim *b);
/* Types that must have equal shapes: that shape with a's dtype. Reports MSG_SHAPES_DISAGREE. */
const Type *infer_same_shape(const Infer *in, const Type *a, const Type *b);
/* Requires a <= b, by proof or an entry check; false when provably not (nothing is reported) or
 * when only a kernel will know (it is). */
bool infer_at_most(const Infer *in, const Dim *a, const Dim *b);

/* The tensor type, after checking rank, sign and size of its dims. */
const Type *infer_tensor(const Infer *in, DType dtype, uint32_t rank, const Dim *const *dims);

/* Attribute checks; false after a report. */
bool infer_axis(const Infer *in, int64_t axis, const Type *type);
bool infer_axes(const Infer *in, const IntList *axes, const Type *type, uint32_t *out_mask);
bool infer_flag(const Infer *in, uint32_t attr);
/* Attribute `attr` lists `count` numbers (so many as `of` has axes), each at least `least`. */
bool infer_numbers(const Infer *in, uint32_t attr, uint32_t count, int least, const Type *of);
/* The dtype attribute of sums: floats give floats, integers give integers. */
bool infer_result_dtype(const Infer *in, DType operand, DType result);

#endif
