/* pack: lays constant weights out in the order in which register tiles read them.
 *
 * A tile of NR results reads NR neighbouring columns of the weights at each step of the sum. So
 *   contract  w[…]: columns n, steps k    becomes  P[ceil(N / NR), K, NR]
 *   conv      w[O, C, taps…]              becomes  P[ceil(O / NR), taps…, C, NR]
 * with zeros behind the last column. The graph then reads w as a view of P: permute, reshape,
 * slice, which kernels absorb as index maps: column n of step k is P[n / NR, k, n mod NR],
 * contiguous along a tile. The values are the same, bit for bit. Depthwise kernels, whose groups
 * are narrower than a tile, only get their channels last: P[taps…, C, O]. */
#include "ir/build.h"
#include "ir/eval.h"
#include "passes/rewrite.h"

typedef struct Packing {
    Graph *g;
    PassContext *ctx;
    NodeId w;
    int64_t columns; /* NR */
} Packing;

static int64_t extent(const Graph *g, NodeId x, uint32_t axis) {
    int64_t value = 0;
    dim_is_const(graph_type(g, x)->dims[axis], &value);
    return value;
}

static NodeId reshaped(Graph *g, NodeId x, const int64_t *dims, uint32_t rank) {
    const Dim *list[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) list[i] = dim_const(g->ctx, dims[i]);
    return build_reshape(g, x, list, rank);
}

/* The value of a chain of movement ops over the weights, as a constant of the new graph. */
static NodeId evaluated(const Packing *p, Graph *chain, NodeId result) {
    graph_add_output(chain, STR(""), result);
    EvalValue value;
    EvalError error = {.failed = false};
    const char *message;
    if (!eval_graph(chain, NULL, &(EvalOptions){.bounds = false}, p->ctx->scratch, &value, &error,
                    &message)) {
        return NODE_none;
    }
    return build_const(p->g, graph_type(chain, result), value.tensor.data,
                       tensor_bytes(&value.tensor));
}

/* A graph that holds the weights alone. */
static Graph *start_chain(const Packing *p, NodeId *out_w) {
    Graph *chain = graph_new(p->g->ctx, p->ctx->scratch, STR(""));
    *out_w = graph_copy_node(chain, p->g, p->w, NULL);
    return chain;
}

/* x[rows, n] with zeros behind its columns up to a multiple of NR. */
static NodeId padded(Graph *g, NodeId x, int64_t more) {
    const Dim *zero = dim_const(g->ctx, 0), *lo[] = {zero, zero};
    const Dim *hi[] = {zero, dim_const(g->ctx, more)};
    return more ? build_pad(g, x, build_scalar(g, graph_type(g, x)->dtype, 0), lo, hi) : x;
}

static void inverse(const int64_t *perm, uint32_t rank, int64_t *out) {
    for (uint32_t i = 0; i < rank; i++) out[perm[i]] = i;
}

/* The weights read from their packed form: `perm` brings the column axis last. */
static NodeId packed_view(const Packing *p, const int64_t *perm) {
    Graph *g = p->g;
    const Type *type = graph_type(g, p->w);
    uint32_t rank = type->rank;
    int64_t dims[TYPE_MAX_RANK], rows = 1;
    for (uint32_t i = 0; i < rank; i++) dims[i] = extent(g, p->w, (uint32_t)perm[i]);
    for (uint32_t i = 0; i + 1 < rank; i++) rows *= dims[i];
    int64_t n = dims[rank - 1], panels = (n + p->columns - 1) / p->columns;
    int64_t all = panels * p->columns, flat[] = {rows, n};
    int64_t split[] = {rows, panels, p->columns}, joined[] = {rows, all};

    NodeId w;
    Graph *chain = start_chain(p, &w);
    NodeId x = reshaped(chain, build_permute(chain, w, perm), flat, 2);
    x = reshaped(chain, padded(chain, x, all - n), split, 3);
    NodeId packed = evaluated(p, chain, build_permute(chain, x, (int64_t[]){1, 0, 2}));
    if (packed == NODE_none) return NODE_none;

    NodeId y = reshaped(g, build_permute(g, packed, (int64_t[]){1, 0, 2}), joined, 2);
    const Dim *zero = dim_const(g->ctx, 0), *start[] = {zero, zero};
    const Dim *limit[] = {dim_const(g->ctx, rows), dim_const(g->ctx, n)};
    if (all > n) y = build_slice(g, y, start, limit, (int64_t[]){1, 1});
    int64_t back[TYPE_MAX_RANK];
    inverse(perm, rank, back);
    return build_permute(g, reshaped(g, y, dims, rank), back);
}

/* The weights read from a permuted copy. */
static NodeId permuted_view(const Packing *p, const int64_t *perm) {
    NodeId w;
    Graph *chain = start_chain(p, &w);
    NodeId moved = evaluated(p, chain, build_permute(chain, w, perm));
    int64_t back[TYPE_MAX_RANK];
    inverse(perm, graph_type(p->g, p->w)->rank, back);
    return moved == NODE_none ? NODE_none : build_permute(p->g, moved, back);
}

/* ---- what is packed ---------------------------------------------------------------------------
 */

static bool is_packable(const Graph *g, NodeId w) {
    const Node *node = graph_node(g, w);
    bool known =
        node->op == OP_const || (node->op == OP_param && node_attr(node, "value").blob != NULL);
    int64_t count;
    return known && type_is_static(node->type, &count) && count > 1 &&
           dtype_info(node->type->dtype)->bits >= 8;
}

static int find_label(const IntList *labels, int64_t label) {
    for (uint32_t i = 0; i < labels->count; i++) {
        if (labels->items[i] == label) return (int)i;
    }
    return -1;
}

/* The operand whose axis is the result's last one, when that axis is all it gives to the result:
 * *out_perm has its summed axes in the order in which the sum runs (that of operand a), then the
 * column. -1 when there is none. */
static int contract_columns(const Node *node, const Graph *g, int64_t *out_perm) {
    const IntList *labels[] = {node_attr(node, "a").ints, node_attr(node, "b").ints};
    const IntList *out = node_attr(node, "out").ints;
    if (!out->count) return -1;
    int64_t column = out->items[out->count - 1];
    int k = find_label(labels[1], column) >= 0;
    const IntList *w = labels[k];
    if (find_label(labels[!k], column) >= 0) return -1; /* a batch axis */
    uint32_t rank = 0;
    for (uint32_t i = 0; i < labels[0]->count; i++) {
        int axis = find_label(w, labels[0]->items[i]);
        if (axis < 0 || labels[0]->items[i] == column) continue;
        if (find_label(out, labels[0]->items[i]) >= 0)
            return -1; /* a batch axis or a second column */
        out_perm[rank++] = axis;
    }
    out_perm[rank++] = find_label(w, column);
    return rank == w->count && is_packable(g, node->args[k]) ? k : -1;
}

static void remark(PassContext *ctx, const Graph *g, NodeId w, NodeId view, Op op) {
    Remark r = {.rule = "pack", .kind = REMARK_applied, .number_count = 1};
    const Node *node = graph_node(g, w);
    r.where = node->op == OP_param ? *node_attr(node, "name").str : str_from(op_info(op)->name);
    r.origin = node->origin;
    r.numbers[0] = (RemarkNumber){"bytes", (double)dim_tune_value(type_bytes(g->ctx, node->type))};
    if (view != NODE_none) pass_remark(ctx, &r);
}

static int64_t columns_for(const PassContext *ctx, const Node *node) {
    return target_panel_columns(ctx->target,
                                dtype_info(dtype_compute(node->type->dtype))->bits / 8);
}

static NodeId pack_contract(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    int64_t perm[TYPE_MAX_RANK];
    int k = contract_columns(node, r->from, perm);
    if (k < 0 || !pass_allows(r->ctx)) return NODE_none;
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    Packing p = {.g = r->to, .ctx = r->ctx, .w = args[k], .columns = columns_for(r->ctx, node)};
    args[k] = packed_view(&p, perm);
    remark(r->ctx, r->to, p.w, args[k], node->op);
    return args[k] == NODE_none ? NODE_none : build_op(r->to, node->op, args, 2, node->attrs);
}

static NodeId pack_conv(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    if (!is_packable(r->to, args[1]) || !pass_allows(r->ctx)) return NODE_none;
    Packing p = {.g = r->to, .ctx = r->ctx, .w = args[1], .columns = columns_for(r->ctx, node)};
    uint32_t rank = graph_type(r->to, p.w)->rank;
    int64_t perm[TYPE_MAX_RANK], groups = node_attr(node, "groups").i;
    for (uint32_t i = 2; i < rank; i++) perm[i - 2] = i;
    perm[rank - 2] = 1;
    perm[rank - 1] = 0;
    bool straddles = groups > 1 && extent(r->to, p.w, 0) / groups % p.columns != 0;
    args[1] = straddles ? permuted_view(&p, perm) : packed_view(&p, perm);
    remark(r->ctx, r->to, p.w, args[1], node->op);
    return args[1] == NODE_none ? NODE_none : build_op(r->to, node->op, args, 2, node->attrs);
}

static NodeId pack_node(Rewrite *r, NodeId id) {
    switch (graph_node(r->from, id)->op) {
    case OP_contract: return pack_contract(r, id);
    case OP_conv: return pack_conv(r, id);
    default: return NODE_none;
    }
}

Graph *pass_pack(PassContext *ctx, Arena *arena, const Graph *graph) {
    return rewrite_graph(ctx, arena, graph, pack_node, NULL);
}
