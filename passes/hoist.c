/* hoist: a factor of a contraction's operand that does not depend on what is summed leaves the sum.
 *
 *     Σ_k (e(k) / l) · v(k)   ->   (Σ_k e(k) · v(k)) / l
 *
 * It is done where l comes from a reduction over the same k, of a row made from another
 * contraction: attention, however its softmax is spelled. Then all reductions of the row are made
 * in one sweep (fuse/chain.c), which a quotient by their sum forbids; and it saves a division for
 * each weight. The sum rounds differently, so -fstrict-sums leaves it out. */
#include "ir/build.h"
#include "passes/rewrite.h"

enum { MOST_FACTORS = 8, MOST_STEPS = 256 };

typedef struct Hoisted {
    NodeId node; /* a broadcast */
    bool inverse;
} Hoisted;

typedef struct Hoist {
    Rewrite *r;
    Graph *g;
    const Type *type; /* of the weights */
    int64_t key_axis; /* of the weights, the one that is summed */
    Hoisted factors[MOST_FACTORS];
    uint32_t count;
} Hoist;

static int find(const IntList *list, int64_t label) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == label) return (int)i;
    return -1;
}

static bool same_dims(const Type *a, const Type *b) {
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

/* ---- what a factor depends on ---------------------------------------------------------------- */

typedef bool Predicate(const Hoist *h, const Node *node);

/* Whether a node for which `wanted` holds is behind `id`, with maps, movement and reductions of the
 * row between. */
static bool is_behind(const Hoist *h, NodeId id, Predicate *wanted) {
    NodeId pending[MOST_STEPS];
    uint32_t count = 1;
    pending[0] = id;
    for (uint32_t done = 0; done < count; done++) {
        const Node *node = graph_node(h->g, pending[done]);
        if (wanted(h, node)) return true;
        bool passed = op_is_elementwise(node->op) || (op_info(node->op)->flags & FLAG_movement) ||
                      op_info(node->op)->class == CLASS_REDUCE;
        for (uint32_t i = 0; passed && i < node->arg_count; i++) {
            bool known = false;
            for (uint32_t k = 0; k < count; k++) known |= pending[k] == node->args[i];
            if (!known && count < MOST_STEPS) pending[count++] = node->args[i];
        }
    }
    return false;
}

static bool is_row_reduction(const Hoist *h, const Node *node) {
    if (op_info(node->op)->class != CLASS_REDUCE) return false;
    const IntList *axes = node_attr(node, "axes").ints;
    return axes->count == 1 && axes->items[0] == h->key_axis &&
           same_dims(graph_type(h->g, node->args[0]), h->type);
}

/* Weights are measured from it, so that sums of them stay finite. */
static bool is_row_maximum(const Hoist *h, const Node *node) {
    return node->op == OP_reduce_max && is_row_reduction(h, node);
}

static bool is_scores(const Hoist *h, const Node *node) {
    return node->op == OP_contract && same_dims(node->type, h->type);
}

/* A broadcast along the summed axis of what the row's reductions give. */
static bool leaves_sum(const Hoist *h, NodeId id) {
    const Node *node = graph_node(h->g, id);
    if (node->op != OP_broadcast) return false;
    const IntList *axes = node_attr(node, "axes").ints;
    int at = find(axes, h->key_axis);
    const Type *type = graph_type(h->g, node->args[0]);
    return (at < 0 || dim_equals_int(type->dims[at], 1)) &&
           is_behind(h, node->args[0], is_row_reduction);
}

/* ---- taking factors out ---------------------------------------------------------------------- */

static bool is_plain_cast(const Hoist *h, const Node *node) {
    return node->op == OP_cast && node_attr(node, "user").i == 0 &&
           h->r->ctx->options.excess == EXCESS_fused && dtype_is_float(node->type->dtype) &&
           dtype_is_float(graph_type(h->g, node->args[0])->dtype);
}

/* `id` without the factors that leave, which are listed. */
static NodeId peel(Hoist *h, NodeId id) {
    const Node *node = graph_node(h->g, id);
    NodeId args[2] = {NODE_none, NODE_none};
    for (uint32_t i = 0; i < node->arg_count && i < 2; i++) args[i] = node->args[i];
    if (is_plain_cast(h, node)) {
        DType to = node->type->dtype;
        NodeId x = peel(h, args[0]);
        return x == args[0] ? id : build_cast(h->g, x, to);
    }
    if (node->op != OP_mul && node->op != OP_div) return id;
    for (uint32_t i = 2; i-- > 0;) {
        if (h->count == MOST_FACTORS || (i == 0 && node->op == OP_div)) continue;
        if (!leaves_sum(h, args[i])) continue;
        h->factors[h->count++] = (Hoisted){args[i], node->op == OP_div};
        return peel(h, args[1 - i]);
    }
    Op op = node->op;
    NodeId x = peel(h, args[0]), y = op == OP_mul ? peel(h, args[1]) : args[1];
    return x == args[0] && y == args[1] ? id : build_binary(h->g, op, x, y);
}

/* The factor over the axes of the contraction's result. */
static NodeId over_result(Hoist *h, NodeId factor, const Node *contract, uint32_t which) {
    const Node *wide = graph_node(h->g, factor);
    const IntList *weights = node_attr(contract, which ? "b" : "a").ints;
    const IntList *out = node_attr(contract, "out").ints, *axes = node_attr(wide, "axes").ints;
    NodeId small = wide->args[0];
    const Type *type = graph_type(h->g, small);
    const Dim *dims[TYPE_MAX_RANK];
    int64_t to[TYPE_MAX_RANK], perm[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        if (axes->items[i] == h->key_axis) continue;
        dims[count] = type->dims[i];
        to[count++] = find(out, weights->items[axes->items[i]]);
    }
    if (count != type->rank) small = build_reshape(h->g, small, dims, count);
    bool moved = false;
    for (uint32_t i = 0; i < count; i++) perm[i] = i;
    for (uint32_t i = 1; i < count; i++) /* broadcasts keep the order of axes */
        for (uint32_t k = i; k > 0 && to[k] < to[k - 1]; k--) {
            int64_t t = to[k], p = perm[k];
            to[k] = to[k - 1], perm[k] = perm[k - 1];
            to[k - 1] = t, perm[k - 1] = p;
            moved = true;
        }
    if (moved) small = build_permute(h->g, small, perm);
    return build_broadcast(h->g, small, contract->type->dims, contract->type->rank, to);
}

static NodeId rebuild(Hoist *h, const Node *contract, const NodeId *args, uint32_t which) {
    DType own = contract->type->dtype, wide = dtype_compute(own);
    Attr attrs[] = {node_attr(contract, "a"),
                    node_attr(contract, "b"),
                    node_attr(contract, "out"),
                    {.dtype = wide}};
    NodeId value = build_op(h->g, OP_contract, args, 2, attrs);
    for (uint32_t i = h->count; i-- > 0;) {
        NodeId factor = over_result(h, h->factors[i].node, contract, which);
        if (graph_type(h->g, factor)->dtype != wide) factor = build_cast(h->g, factor, wide);
        value = build_binary(h->g, h->factors[i].inverse ? OP_div : OP_mul, value, factor);
    }
    return own == wide ? value : build_cast(h->g, value, own);
}

static NodeId hoist_contract(Rewrite *r, NodeId id, uint32_t which) {
    const Node *node = graph_node(r->from, id);
    const IntList *labels = node_attr(node, which ? "b" : "a").ints;
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    Hoist h = {.r = r, .g = r->to, .type = graph_type(r->to, args[which]), .key_axis = -1};
    if (r->uses[node->args[which]] != 1 || !dtype_is_float(h.type->dtype)) return NODE_none;
    for (uint32_t i = 0; i < labels->count; i++) {
        if (find(node_attr(node, "out").ints, labels->items[i]) >= 0) continue;
        if (h.key_axis >= 0) return NODE_none;
        h.key_axis = i;
    }
    if (h.key_axis < 0 || !is_behind(&h, args[which], is_scores)) return NODE_none;
    NodeId weights = peel(&h, args[which]);
    if (!is_behind(&h, weights, is_row_maximum)) return NODE_none;
    if (h.count == 0 || !pass_allows(r->ctx, "hoist-factor", r->from, id)) return NODE_none;
    args[which] = weights;
    return rebuild(&h, node, args, which);
}

static NodeId hoist_node(Rewrite *r, NodeId id) {
    if (graph_node(r->from, id)->op != OP_contract) return NODE_none;
    for (uint32_t which = 0; which < 2; which++) {
        NodeId to = hoist_contract(r, id, which);
        if (to != NODE_none) return to;
    }
    return NODE_none;
}

Graph *pass_hoist(PassContext *ctx, Arena *arena, const Graph *graph) {
    if (ctx->options.strict_sums) return graph_copy_live(arena, graph);
    return rewrite_graph(ctx, arena, graph, hoist_node, NULL);
}
