/* Contractions that register tiles do not suit. A tile of results reuses each element of one
 * operand for all of the other's own labels, with vectors along the result's last label; so each
 * operand needs a label of its own, and the last label must be one of those. What has none is a dot
 * product, a product of a matrix and a vector whose rows are contiguous, or a product element by
 * element:
 *
 *     out[i…] = Σ_k a · b   ->   reduce_sum(broadcast(a) · broadcast(b), k)
 *
 * which fusion makes one kernel over rows. It is not done at -O0, where the product would be
 * stored. A contraction is a sum that starts from +0 also where it has one term, so a product that
 * is not summed over anything is added to +0: -0 becomes +0. */
#include "passes/decompose/decompose.h"

#include "ir/build.h"

typedef struct Einsum {
    Rewrite *r;
    const Node *node;
    const IntList *labels[2], *out;
    NodeId args[2];
    int64_t joint[2 * TYPE_MAX_RANK]; /* the labels of the product's axes */
    const Dim *dims[2 * TYPE_MAX_RANK];
    uint32_t rank;
} Einsum;

static int find(const IntList *list, int64_t label) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i] == label) return (int)i;
    }
    return -1;
}

static bool is_summed(const Einsum *e, int64_t label) { return find(e->out, label) < 0; }

static bool sums_nothing(const Einsum *e) {
    const Type *type = graph_type(e->r->to, e->args[0]);
    for (uint32_t i = 0; i < e->labels[0]->count; i++) {
        if (is_summed(e, e->labels[0]->items[i]) && dim_equals_int(type->dims[i], 0)) return true;
    }
    return false;
}

/* Whether operand k has a label that the other one lacks. */
static bool has_own_label(const Einsum *e, int k) {
    for (uint32_t i = 0; i < e->labels[k]->count; i++) {
        if (find(e->labels[1 - k], e->labels[k]->items[i]) < 0) return true;
    }
    return false;
}

static bool ends_summed(const Einsum *e, int k) {
    uint32_t count = e->labels[k]->count;
    return count > 0 && is_summed(e, e->labels[k]->items[count - 1]);
}

static bool has_sum(const Einsum *e) {
    for (uint32_t i = 0; i < e->labels[0]->count; i++) {
        if (is_summed(e, e->labels[0]->items[i])) return true;
    }
    return false;
}

/* Whether rows suit it better than tiles. */
static bool suits_rows(const Einsum *e) {
    bool own[] = {has_own_label(e, 0), has_own_label(e, 1)};
    if (!has_sum(e) || (!own[0] && !own[1])) return true;
    for (int k = 0; k < 2; k++) {
        if (!own[k] && ends_summed(e, 1 - k)) return true;
    }
    int64_t last = e->out->items[e->out->count - 1]; /* one has an own label, so there is one */
    return find(e->labels[0], last) >= 0 && find(e->labels[1], last) >= 0;
}

static void add_axis(Einsum *e, int64_t label) {
    for (int k = 0; k < 2; k++) {
        int axis = find(e->labels[k], label);
        if (axis >= 0) e->dims[e->rank] = graph_type(e->r->to, e->args[k])->dims[axis];
    }
    e->joint[e->rank++] = label;
}

static void add_sums(Einsum *e) {
    for (uint32_t i = 0; i < e->labels[0]->count; i++) {
        if (is_summed(e, e->labels[0]->items[i])) add_axis(e, e->labels[0]->items[i]);
    }
}

/* The result's labels, then the summed ones; these before the last one where both operands have it
 * contiguous. False when they are too many. */
static bool find_axes(Einsum *e) {
    uint32_t sums = 0;
    for (uint32_t i = 0; i < e->labels[0]->count; i++) sums += is_summed(e, e->labels[0]->items[i]);
    if (e->out->count + sums > TYPE_MAX_RANK) return false;
    bool inner = !ends_summed(e, 0) && !ends_summed(e, 1) && e->out->count > 0;
    for (uint32_t i = 0; i < e->out->count; i++) {
        if (inner && i + 1 == e->out->count) add_sums(e);
        add_axis(e, e->out->items[i]);
    }
    if (!inner) add_sums(e);
    return true;
}

static NodeId cast_to(Graph *g, NodeId x, DType dtype) {
    return graph_type(g, x)->dtype == dtype ? x : build_cast(g, x, dtype);
}

/* Operand k over the axes of the product. */
static NodeId spread(Einsum *e, int k, DType dtype) {
    Graph *g = e->r->to;
    int64_t perm[TYPE_MAX_RANK], axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->rank; i++) {
        int axis = find(e->labels[k], e->joint[i]);
        if (axis < 0) continue;
        perm[count] = axis;
        axes[count++] = i;
    }
    NodeId x = build_permute(g, cast_to(g, e->args[k], dtype), perm);
    return build_broadcast(g, x, e->dims, e->rank, axes);
}

static NodeId multiply_and_sum(Einsum *e) {
    Graph *g = e->r->to;
    DType dtype = dtype_compute(e->node->type->dtype);
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->rank; i++) {
        if (is_summed(e, e->joint[i])) axes[count++] = i;
    }
    NodeId product = build_binary(g, OP_mul, spread(e, 0, dtype), spread(e, 1, dtype));
    if (count > 0)
        product = build_reduce(g, OP_reduce_sum, product, axes, count);
    else if (dtype_is_float(dtype))
        product = build_binary(g, OP_add, product, build_fill(g, graph_type(g, product), 0));
    return cast_to(g, product, e->node->type->dtype);
}

/* Operands that are wider than the result's sum are left to the skeleton. */
static bool widens(const Einsum *e) {
    uint32_t bits = dtype_info(dtype_compute(e->node->type->dtype))->bits;
    for (int k = 0; k < 2; k++) {
        DType dtype = graph_type(e->r->to, e->args[k])->dtype;
        if (dtype_info(dtype)->bits > bits) return false;
        if (dtype_is_float(dtype) != dtype_is_float(e->node->type->dtype)) return false;
    }
    return true;
}

NodeId decompose_contract(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    Einsum e = {.r = r, .node = node, .out = node_attr(node, "out").ints};
    e.labels[0] = node_attr(node, "a").ints;
    e.labels[1] = node_attr(node, "b").ints;
    for (uint32_t k = 0; k < 2; k++) e.args[k] = rewrite_arg(r, id, k);
    if (sums_nothing(&e) && pass_allows(r->ctx, "sum-of-nothing", r->from, id))
        return decompose_zeros(r->to, node->type);
    bool wanted = r->ctx->options.level > 0 && suits_rows(&e) && widens(&e) && find_axes(&e);
    return wanted && pass_allows(r->ctx, "multiply-and-sum", r->from, id) ? multiply_and_sum(&e)
                                                                          : NODE_none;
}
