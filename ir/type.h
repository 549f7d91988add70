/* Types: interned, so that equal types are the same pointer. A tensor type is a dtype and dims
 * (rank at most TYPE_MAX_RANK; rank 0 is a scalar); a tuple type lists the results of an op with
 * several (tensor types, at most TYPE_MAX_ITEMS). Types hold no strides: memory layout is a matter
 * of programs. */
#ifndef TCC_IR_TYPE_H
#define TCC_IR_TYPE_H

#include "ir/dim.h"
#include "ir/dtype.h"

enum { TYPE_MAX_RANK = 8, TYPE_MAX_ITEMS = 256 };

typedef struct Type Type;
struct Type {
    bool is_tuple;
    DType dtype;   /* tensors */
    uint32_t rank; /* tensors */
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t item_count; /* tuples */
    const Type *const *items;
    uint32_t id;
};

const Type *type_tensor(IrContext *ctx, DType dtype, uint32_t rank, const Dim *const *dims);
const Type *type_scalar(IrContext *ctx, DType dtype);
const Type *type_tuple(IrContext *ctx, uint32_t count, const Type *const *items);
/* The same dims with another dtype. */
const Type *type_with_dtype(IrContext *ctx, const Type *type, DType dtype);
/* The product of the dims (1 for a scalar). */
const Dim *type_elements(IrContext *ctx, const Type *type);
/* Whether all dims are constants; writes their product when out_count is not NULL. */
bool type_is_static(const Type *type, int64_t *out_count);
/* Bytes of a dense row-major tensor, as a Dim. */
const Dim *type_bytes(IrContext *ctx, const Type *type);

void buf_type(Buf *buf, const Type *type); /* f32[N, 3], f32[] for scalars, (f32[N], i64[N]) */
/* Reads a type and advances `*text` past it; NULL when it is malformed or names an unknown dim. */
const Type *type_parse(IrContext *ctx, Str *text);

#endif
