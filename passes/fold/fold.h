/* fold: the parts of the pass. A rule is asked about a node that has just been added to the new
 * graph, whose operands are as simple as rules make them, and answers with a node to use instead.
 */
#ifndef TCC_PASSES_FOLD_FOLD_H
#define TCC_PASSES_FOLD_FOLD_H

#include "ir/eval.h"
#include "passes/rewrite.h"

typedef struct Fold {
    PassContext *ctx;
    Graph *g;            /* the new graph */
    bool top;            /* it is the model itself, not a block that may never run */
    VEC(uint8_t) shared; /* by node of g: used more than once, as far as the old graph tells */
} Fold;

/* The replacement of node `id`, or NODE_none. */
typedef NodeId FoldRule(Fold *f, NodeId id);

typedef struct FoldRow {
    const char *name;
    Op op;          /* OP_none: all ops of the class */
    OpClass class;  /* CLASS_LEAF: all classes but that */
    bool sum_class; /* changes the rounding of sums; off with -fstrict-sums */
    FoldRule *rule;
    const char *algebra;
} FoldRow;

/* The rules of rules.def; NULL past the end. */
const FoldRow *fold_row(uint32_t index);

/* Applies rules to the node, and to what they make of it, until none answers. */
NodeId fold_simplify(Fold *f, NodeId id);

/* Nodes that rules build, simplified at once. */
NodeId fold_unary(Fold *f, Op op, NodeId x);
NodeId fold_binary(Fold *f, Op op, NodeId x, NodeId y);

static inline const Node *fold_node(const Fold *f, NodeId id) { return graph_node(f->g, id); }
static inline NodeId fold_arg(const Fold *f, NodeId id, uint32_t k) {
    return graph_node(f->g, id)->args[k];
}
static inline bool fold_is(const Fold *f, NodeId id, Op op) {
    return graph_node(f->g, id)->op == op;
}

/* ---- constants (constant.c) ------------------------------------------------------------------ */

/* Whether the node's value is known: a constant, a parameter with a value, iota, or a broadcast of
 * one. */
bool fold_is_constant(const Fold *f, NodeId id);
/* Its value in ctx->scratch; false when it has none, when its dims are not known or when it has
 * more than `limit` elements. */
bool fold_value(const Fold *f, NodeId id, int64_t limit, Tensor *out_value);
/* A constant node of the tensor's value: a broadcast scalar when all elements are the same. */
NodeId fold_constant(Fold *f, const Type *type, const Tensor *value);
/* Whether all elements of the node are one number. */
bool fold_splat(const Fold *f, NodeId id, Tensor *out_scalar);
/* Whether all are exactly `number` (of zeros: of the same sign). */
bool fold_is_number(const Fold *f, NodeId id, double number);

#define RULE(name, op, algebra) FoldRule fold_##name;
#define CLASS_RULE(name, class, algebra) FoldRule fold_##name;
#define ANY_RULE(name, algebra) FoldRule fold_##name;
#define SUM_RULE(name, op, algebra) FoldRule fold_##name;
#include "passes/fold/rules.def"

#endif
