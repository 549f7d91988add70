/* decompose: brings degenerate and composite ops to those that fusion and skeletons know.
 *
 *   any op, a dim of the result is 0        ->  an empty fill
 *   reduce over an axis of 0 elements       ->  its neutral element
 *   reduce over axes of 1 element, or none  ->  reshape (of x + 0 for sums of floats, since 0 + -0
 * is 0) argmax, argmin over 1 element           ->  0 contract over nothing (K = 0)           ->  0
 *   contract that is no product of matrices ->  multiply and reduce_sum (contract.c)
 *   conv with a 1x1 kernel, no padding      ->  contract (of strided slices)
 *   window of 1 element, no padding         ->  strided slice
 *   dim of a constant                       ->  constant
 *   cond, loop, scan                        ->  straight code, where that is not too long
 * (control.c)
 *
 * Several operands, epilogues, several axes and the like are left as they are: fusion derives
 * better code from the whole than from parts. */
#include "passes/decompose/decompose.h"

#include "ir/build.h"

#include <math.h>

static bool has_zero_dim(const Type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        if (dim_equals_int(type->dims[i], 0)) return true;
    }
    return false;
}

NodeId decompose_zeros(Graph *graph, const Type *type) { return build_fill(graph, type, 0); }

static NodeId operand(const Rewrite *r, NodeId id) { return rewrite_arg(r, id, 0); }

/* x with the dims of `type`, which has as many elements. */
static NodeId reshape_to(Graph *g, NodeId x, const Type *type) {
    return build_reshape(g, x, type->dims, type->rank);
}

/* ---- reductions ------------------------------------------------------------------------------ */

typedef enum Extent { EXTENT_zero, EXTENT_one, EXTENT_more } Extent;

/* How many elements are reduced to one. */
static Extent reduced_extent(const Type *operand_type, const IntList *axes) {
    Extent extent = EXTENT_one;
    for (uint32_t i = 0; i < axes->count; i++) {
        const Dim *dim = operand_type->dims[axes->items[i]];
        if (dim_equals_int(dim, 0)) return EXTENT_zero;
        if (!dim_equals_int(dim, 1)) extent = EXTENT_more;
    }
    return extent;
}

/* The value of a reduction by `scalar` over nothing. */
static NodeId neutral_fill(Graph *g, Op scalar, const Type *type) {
    const DTypeInfo *info = dtype_info(type->dtype);
    bool is_float = info->class == DTYPE_FLOAT;
    switch (scalar) {
    case OP_mul: return build_fill(g, type, 1);
    case OP_max:
    case OP_min: break;
    default: return build_fill(g, type, 0);
    }
    if (is_float) return build_fill(g, type, scalar == OP_max ? -INFINITY : INFINITY);
    bool most = scalar == OP_min;
    int64_t value = (int64_t)(most ? info->most : info->least);
    if (most && type->dtype == DT_i64) value = INT64_MAX;
    if (most && type->dtype == DT_u64) value = -1; /* all bits */
    NodeId number = build_scalar_int(g, type->dtype, value);
    return build_broadcast(g, number, type->dims, type->rank, NULL);
}

/* A sum starts from +0, so that the sum of -0 alone is +0. */
static NodeId sum_of_one(Graph *g, NodeId x) {
    const Type *type = graph_type(g, x);
    if (!dtype_is_float(type->dtype)) return x;
    return build_binary(g, OP_add, x, build_fill(g, type, 0));
}

static NodeId cast_to(Graph *g, NodeId x, DType dtype) {
    return graph_type(g, x)->dtype == dtype ? x : build_cast(g, x, dtype);
}

static NodeId decompose_reduce(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    Op scalar = op_info(node->op)->scalar;
    NodeId x = operand(r, id);
    switch (reduced_extent(graph_type(r->to, x), node_attr(node, "axes").ints)) {
    case EXTENT_zero:
        return pass_allows(r->ctx, "reduce-nothing", r->from, id)
                   ? neutral_fill(r->to, scalar, node->type)
                   : NODE_none;
    case EXTENT_more: return NODE_none;
    case EXTENT_one: break;
    }
    if (!pass_allows(r->ctx, "reduce-one", r->from, id)) return NODE_none;
    if (scalar == OP_add) x = sum_of_one(r->to, x);
    return cast_to(r->to, reshape_to(r->to, x, node->type), node->type->dtype);
}

static NodeId decompose_argreduce(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    const Type *type = graph_type(r->to, operand(r, id));
    const Dim *dim = type->dims[node_attr(node, "axis").i];
    bool trivial = dim_equals_int(dim, 0) || dim_equals_int(dim, 1);
    return trivial && pass_allows(r->ctx, "argreduce-one", r->from, id)
               ? decompose_zeros(r->to, node->type)
               : NODE_none;
}

/* ---- contractions and convolutions ----------------------------------------------------------- */

/* Every strides[i]-th element along the last axes. */
static NodeId strided(Graph *g, NodeId x, const IntList *strides) {
    if (ints_are(strides, 1)) return x;
    const Type *type = graph_type(g, x);
    const Dim *start[TYPE_MAX_RANK], *zero = dim_const(g->ctx, 0);
    int64_t step[TYPE_MAX_RANK];
    uint32_t first = type->rank - strides->count;
    for (uint32_t i = 0; i < type->rank; i++) {
        start[i] = zero;
        step[i] = i < first ? 1 : strides->items[i - first];
    }
    return build_slice(g, x, start, type->dims, step);
}

static bool is_pointwise_conv(const Rewrite *r, const Node *node) {
    const Type *w = graph_type(r->from, node->args[1]);
    for (uint32_t i = 2; i < w->rank; i++) {
        if (!dim_equals_int(w->dims[i], 1)) return false;
    }
    return node_attr(node, "groups").i == 1 && ints_are(node_attr(node, "lo").ints, 0) &&
           ints_are(node_attr(node, "hi").ints, 0);
}

/* x[n, c, p…] · w[o, c] -> [n, o, p…] */
static NodeId decompose_conv(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    if (!is_pointwise_conv(r, node) || !pass_allows(r->ctx, "pointwise-conv", r->from, id))
        return NODE_none;
    Graph *g = r->to;
    NodeId x = strided(g, operand(r, id), node_attr(node, "strides").ints);
    NodeId w = rewrite_arg(r, id, 1);
    NodeId args[] = {x, build_reshape(g, w, graph_type(g, w)->dims, 2)};
    enum { LABEL_O = TYPE_MAX_RANK };
    int64_t a[TYPE_MAX_RANK], b[] = {LABEL_O, 1}, out[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < node->type->rank; i++) {
        a[i] = i;
        out[i] = i == 1 ? LABEL_O : i;
    }
    Attr attrs[] = {{.ints = ir_ints(g->ctx, a, node->type->rank)},
                    {.ints = ir_ints(g->ctx, b, 2)},
                    {.ints = ir_ints(g->ctx, out, node->type->rank)},
                    {.dtype = node->type->dtype}};
    return build_as(g, build_op(g, OP_contract, args, 2, attrs), node->type);
}

static NodeId decompose_window(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    bool trivial = ints_are(node_attr(node, "window").ints, 1) &&
                   ints_are(node_attr(node, "lo").ints, 0) &&
                   ints_are(node_attr(node, "hi").ints, 0);
    if (!trivial || !pass_allows(r->ctx, "window-of-one", r->from, id)) return NODE_none;
    NodeId x = strided(r->to, operand(r, id), node_attr(node, "strides").ints);
    return build_as(r->to, node->op == OP_window_sum ? sum_of_one(r->to, x) : x, node->type);
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* r->user is the model's graph: blocks of control ops may never run, so what is wrong there is not
 * an error of the model. */
static NodeId decompose_node(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    OpClass class = op_info(node->op)->class;
    if (class == CLASS_LEAF) {
        int64_t value;
        bool known = node->op == OP_dim && dim_is_const(node_attr(node, "value").dim, &value);
        return known ? build_scalar_int(r->to, DT_i64, value) : NODE_none;
    }
    bool indexed = class == CLASS_GATHER || class == CLASS_SCATTER;
    if (indexed && r->from == r->user) decompose_check_indices(r->ctx, r->from, id);
    bool empty = !node->type->is_tuple && has_zero_dim(node->type);
    if (empty && class != CLASS_BROADCAST && pass_allows(r->ctx, "empty", r->from, id)) {
        return decompose_zeros(r->to, node->type);
    }
    switch (class) {
    case CLASS_REDUCE: return decompose_reduce(r, id);
    case CLASS_ARGREDUCE: return decompose_argreduce(r, id);
    case CLASS_CONTRACT: return decompose_contract(r, id);
    case CLASS_CONV: return decompose_conv(r, id);
    case CLASS_WINDOW: return decompose_window(r, id);
    case CLASS_COND: return decompose_cond(r, id);
    case CLASS_LOOP: return decompose_loop(r, id);
    case CLASS_SCAN: return decompose_scan(r, id);
    default: return NODE_none;
    }
}

Graph *pass_decompose(PassContext *ctx, Arena *arena, const Graph *graph) {
    return rewrite_graph(ctx, arena, graph, decompose_node, (void *)graph);
}
