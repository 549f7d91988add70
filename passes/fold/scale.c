/* Sum-class rules: constants that scale or shift a sum of products go into its constant operand.
 *
 * u = Σ x·w is a contraction or a convolution with a constant w, used once. A factor c that is
 * constant along all axes but those that w gives to the result leaves the sum: u·c = Σ x·(w·c).
 * With (u + t)·c = u·c + t·c and (u + t) + c = u + (t + c), a batch norm in any spelling ((x -
 * m)·rsqrt(v + e)·g + b, in any order and with any of its parts constant-folded before) becomes new
 * weights and one added vector, because all that stands beside x is constant. Weights stay as they
 * are if a product is not finite. */
#include "ir/build.h"
#include "passes/fold/fold.h"

#include <math.h>
#include <string.h>

static const Type *type_of(const Fold *f, NodeId id) { return graph_type(f->g, id); }

static bool is_shared(const Fold *f, NodeId id) {
    return id < f->shared.count && f->shared.data[id] == 1;
}

/* A constant as a small tensor and the result axes that its axes are; all other axes are constant.
 */
typedef struct Along {
    NodeId value;
    uint32_t count;
    int64_t axes[TYPE_MAX_RANK];
} Along;

static bool read_along(Fold *f, NodeId c, Along *out) {
    *out = (Along){.value = c};
    if (!fold_is_constant(f, c) || fold_is(f, c, OP_iota)) return false;
    if (fold_is(f, c, OP_broadcast)) {
        const IntList *axes = node_attr(fold_node(f, c), "axes").ints;
        out->value = fold_arg(f, c, 0);
        out->count = axes->count;
        memcpy(out->axes, axes->items, axes->count * sizeof *out->axes);
        return fold_is(f, out->value, OP_const) || fold_is(f, out->value, OP_param);
    }
    const Dim *dims[TYPE_MAX_RANK];
    const Type *type = type_of(f, c);
    for (uint32_t i = 0; i < type->rank; i++) {
        if (dim_equals_int(type->dims[i], 1)) continue;
        dims[out->count] = type->dims[i];
        out->axes[out->count++] = i;
    }
    out->value = fold_simplify(f, build_reshape(f->g, c, dims, out->count));
    return fold_is_constant(f, out->value);
}

/* The axis of operand `k` of the sum that is result axis `axis`, or -1. */
static int64_t operand_axis(const Fold *f, NodeId sum, uint32_t k, int64_t axis) {
    const Node *node = fold_node(f, sum);
    if (node->op == OP_conv) return k == 1 && axis == 1 ? 0 : -1;
    const IntList *labels = node_attr(node, k ? "b" : "a").ints;
    int64_t label = node_attr(node, "out").ints->items[axis];
    for (uint32_t i = 0; i < labels->count; i++) {
        if (labels->items[i] == label) return i;
    }
    return -1;
}

/* Whether operand k of the sum can take factors along these axes of the result. */
static bool takes_factor(const Fold *f, NodeId sum, uint32_t k, const Along *c) {
    NodeId w = fold_arg(f, sum, k);
    DType dtype = type_of(f, sum)->dtype;
    bool exact_enough = dtype == DT_f32 || dtype == DT_f64;
    if (!exact_enough || type_of(f, w)->dtype != dtype) return false;
    if (!fold_is(f, w, OP_const) && !fold_is(f, w, OP_param)) return false;
    if (!fold_is_constant(f, w)) return false;
    int64_t before = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        int64_t axis = operand_axis(f, sum, k, c->axes[i]);
        if (axis <= before) return false; /* absent, or in another order */
        before = axis;
    }
    return true;
}

/* The operand that takes the factor: 0 or 1, or -1. `sum` is checked to be one, used once. */
static int find_weights(const Fold *f, NodeId sum, const Along *c) {
    bool is_sum = fold_is(f, sum, OP_contract) || fold_is(f, sum, OP_conv);
    if (!is_sum || is_shared(f, sum)) return -1;
    if (takes_factor(f, sum, 1, c)) return 1;
    return fold_is(f, sum, OP_contract) && takes_factor(f, sum, 0, c) ? 0 : -1;
}

static bool all_finite(const Fold *f, NodeId id) {
    Tensor value;
    if (!fold_value(f, id, INT64_MAX, &value)) return false;
    int64_t count = tensor_elements(&value), i = 0;
    while (i < count && isfinite(tensor_get(&value, i))) i++;
    return i == count;
}

static void remark(Fold *f, NodeId id, const char *rule, RemarkKind kind, const char *text) {
    pass_remark(f->ctx, &(Remark){.rule = rule,
                                  .kind = kind,
                                  .where = str_from(op_info(fold_node(f, id)->op)->name),
                                  .origin = fold_node(f, id)->origin,
                                  .text = str_from(text)});
}

/* Σ x·(w ∘ c) for u = Σ x·w; NODE_none when that is not possible. */
static NodeId into_weights(Fold *f, Op op, NodeId sum, NodeId c) {
    Along along;
    if (!read_along(f, c, &along)) return NODE_none;
    int k = find_weights(f, sum, &along);
    if (k < 0) return NODE_none;
    NodeId args[] = {fold_arg(f, sum, 0), fold_arg(f, sum, 1)};
    const Type *w = type_of(f, args[k]);
    int64_t axes[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < along.count; i++) {
        axes[i] = operand_axis(f, sum, (uint32_t)k, along.axes[i]);
    }
    NodeId factor = build_broadcast(f->g, along.value, w->dims, w->rank, axes);
    NodeId scaled = fold_binary(f, op, args[k], fold_simplify(f, factor));
    if (!all_finite(f, scaled)) {
        remark(f, sum, "scale-into-weights", REMARK_missed, "a scaled weight would not be finite");
        return NODE_none;
    }
    args[k] = scaled;
    remark(f, sum, "scale-into-weights", REMARK_applied, "a constant factor went into the weights");
    const Node *node = fold_node(f, sum);
    return graph_add(f->g, node->op, node->type, args, 2, node->attrs, NULL, 0, node->origin);
}

/* u and t of a node u + t, used once, with a sum u and a constant t. */
static bool read_shifted(const Fold *f, NodeId id, NodeId *out_sum, NodeId *out_shift) {
    if (!fold_is(f, id, OP_add) || is_shared(f, id)) return false;
    *out_sum = fold_arg(f, id, 0);
    *out_shift = fold_arg(f, id, 1);
    bool is_sum = fold_is(f, *out_sum, OP_contract) || fold_is(f, *out_sum, OP_conv);
    return is_sum && !is_shared(f, *out_sum) && fold_is_constant(f, *out_shift);
}

/* u ∘ c or (u + t) ∘ c, ∘ being · or / */
static NodeId scale(Fold *f, Op op, NodeId x, NodeId c) {
    NodeId sum, shift;
    if (!read_shifted(f, x, &sum, &shift)) return into_weights(f, op, x, c);
    NodeId scaled = into_weights(f, op, sum, c);
    if (scaled == NODE_none) return NODE_none;
    return build_binary(f->g, OP_add, scaled, fold_binary(f, op, shift, c));
}

NodeId fold_scale_mul(Fold *f, NodeId id) {
    return scale(f, OP_mul, fold_arg(f, id, 0), fold_arg(f, id, 1));
}

NodeId fold_scale_div(Fold *f, NodeId id) {
    return scale(f, OP_div, fold_arg(f, id, 0), fold_arg(f, id, 1));
}

static NodeId negated(Fold *f, NodeId x) {
    return scale(f, OP_mul, x, build_fill(f->g, type_of(f, x), -1));
}

/* -u = u · -1 */
NodeId fold_scale_neg(Fold *f, NodeId id) { return negated(f, fold_arg(f, id, 0)); }

/* (u + t) + c = u + (t + c) */
NodeId fold_scale_add(Fold *f, NodeId id) {
    NodeId sum, shift, c = fold_arg(f, id, 1);
    bool is_float = dtype_is_float(type_of(f, id)->dtype);
    if (!is_float || !fold_is_constant(f, c)) return NODE_none;
    if (!read_shifted(f, fold_arg(f, id, 0), &sum, &shift)) return NODE_none;
    return build_binary(f->g, OP_add, sum, fold_binary(f, OP_add, shift, c));
}

/* c - u = -u + c */
NodeId fold_scale_sub(Fold *f, NodeId id) {
    NodeId c = fold_arg(f, id, 0);
    if (!fold_is_constant(f, c)) return NODE_none;
    NodeId other = negated(f, fold_arg(f, id, 1));
    return other == NODE_none ? NODE_none : build_binary(f->g, OP_add, other, c);
}
