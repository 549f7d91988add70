/* pack: lays constant weights out in the order in which register tiles read them.
 *
 * A tile of NR results reads NR neighbouring columns of the weights at each step of the sum. So
 *   contract  w[…]: columns n, steps k    becomes  P[ceil(N / NR), k…, NR]
 *   conv      w[O, C, taps…]              becomes  P[ceil(O / NR), taps…, C, NR]
 * with zeros behind the last column. The graph then reads w as a view of P: permute, reshape,
 * slice, which kernels absorb as index maps: column n of step k is P[n // NR, k, n % NR],
 * contiguous along a tile. The values are the same, bit for bit. Depthwise kernels, whose groups
 * are narrower than a tile, only get their channels last: P[taps…, C, O]. Those of convolutions
 * that Winograd's algorithm makes get their transforms beside them (winograd.c). */
#include "passes/pack.h"
#include "base/map.h"
#include "ir/build.h"
#include "ir/eval.h"
#include "passes/rewrite.h"

static int64_t extent(const Graph *g, NodeId x, uint32_t axis) {
    int64_t value = 0;
    dim_is_const(graph_type(g, x)->dims[axis], &value);
    return value;
}

NodeId pack_reshaped(Graph *g, NodeId x, const int64_t *dims, uint32_t rank) {
    const Dim *list[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) list[i] = dim_const(g->ctx, dims[i]);
    return build_reshape(g, x, list, rank);
}

NodeId pack_evaluated(const Packing *p, Graph *chain, NodeId result) {
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

Graph *pack_start(const Packing *p, NodeId *out_w) {
    Graph *chain = graph_new(p->g->ctx, p->ctx->scratch, STR(""));
    *out_w = graph_copy_node(chain, p->g, p->w, NULL);
    return chain;
}

static bool is_identity(const int64_t *perm, uint32_t rank) {
    uint32_t i = 0;
    while (i < rank && perm[i] == i) i++;
    return i == rank;
}

NodeId pack_permuted(Graph *g, NodeId x, const int64_t *perm) {
    return is_identity(perm, graph_type(g, x)->rank) ? x : build_permute(g, x, perm);
}

NodeId pack_unpermuted(Graph *g, NodeId x, const int64_t *perm) {
    int64_t back[TYPE_MAX_RANK];
    uint32_t rank = graph_type(g, x)->rank;
    for (uint32_t i = 0; i < rank; i++) back[perm[i]] = i;
    return pack_permuted(g, x, back);
}

NodeId pack_padded(Graph *g, NodeId x, int64_t more) {
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    const Type *type = graph_type(g, x);
    for (uint32_t i = 0; i < type->rank; i++) {
        bool last = i + 1 == type->rank;
        lo[i] = dim_const(g->ctx, 0);
        hi[i] = dim_const(g->ctx, last ? more : 0);
    }
    return more ? build_pad(g, x, build_scalar(g, type->dtype, 0), lo, hi) : x;
}

NodeId pack_cut(Graph *g, NodeId x, uint32_t axis, int64_t first, int64_t count) {
    if (dim_equals_int(graph_type(g, x)->dims[axis], count)) return x;
    return build_range(g, x, axis, dim_const(g->ctx, first), dim_const(g->ctx, first + count));
}

/* The first n elements of x's last axis. */
static NodeId trimmed(Graph *g, NodeId x, int64_t n) {
    return pack_cut(g, x, graph_type(g, x)->rank - 1, 0, n);
}

void pack_moving(uint32_t rank, uint32_t from, uint32_t to, int64_t *out_perm) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (next == from) next++;
        out_perm[i] = i == to ? from : next++;
    }
}

/* The weights read from their packed form: `perm` brings the column axis last, where it is split
 * into panels, whose axis goes to the front. */
static NodeId packed_view(const Packing *p, const int64_t *perm) {
    Graph *g = p->g;
    uint32_t rank = graph_type(g, p->w)->rank;
    if (rank + 1 > TYPE_MAX_RANK) return NODE_none;
    int64_t split[TYPE_MAX_RANK], merged[TYPE_MAX_RANK], front[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) split[i] = merged[i] = extent(g, p->w, (uint32_t)perm[i]);
    int64_t n = split[rank - 1], panels = (n + p->columns - 1) / p->columns;
    split[rank - 1] = panels;
    split[rank] = p->columns;
    merged[rank - 1] = panels * p->columns;
    pack_moving(rank + 1, rank - 1, 0, front);

    NodeId w;
    Graph *chain = pack_start(p, &w);
    NodeId x = pack_padded(chain, pack_permuted(chain, w, perm), merged[rank - 1] - n);
    NodeId packed = pack_evaluated(
        p, chain, pack_permuted(chain, pack_reshaped(chain, x, split, rank + 1), front));
    if (packed == NODE_none) return NODE_none;
    NodeId y = pack_reshaped(g, pack_unpermuted(g, packed, front), merged, rank);
    return pack_unpermuted(g, trimmed(g, y, n), perm);
}

/* Bytes w[k, n] whose steps are multiplied four at a time: P[ceil(N / NR), ceil(K / 4), NR, 4],
 * with zeros behind the last row and column. */
static NodeId quad_view(const Packing *p, const int64_t *perm) {
    enum { WORD = 4 };
    Graph *g = p->g;
    int64_t k = extent(g, p->w, (uint32_t)perm[0]), n = extent(g, p->w, (uint32_t)perm[1]);
    int64_t panels = (n + p->columns - 1) / p->columns, steps = (k + WORD - 1) / WORD;
    const int64_t split[] = {steps, WORD, panels, p->columns};
    const int64_t merged[] = {steps * WORD, panels * p->columns}, front[] = {2, 0, 3, 1};
    const int64_t turn[] = {1, 0};
    NodeId w;
    Graph *chain = pack_start(p, &w);
    NodeId x = pack_padded(chain, pack_permuted(chain, w, perm), merged[1] - n);
    x = pack_permuted(chain, pack_padded(chain, pack_permuted(chain, x, turn), merged[0] - k),
                      turn);
    NodeId packed =
        pack_evaluated(p, chain, pack_permuted(chain, pack_reshaped(chain, x, split, 4), front));
    if (packed == NODE_none) return NODE_none;
    NodeId y = trimmed(g, pack_reshaped(g, pack_unpermuted(g, packed, front), merged, 2), n);
    y = pack_permuted(g, trimmed(g, pack_permuted(g, y, turn), k), turn);
    return pack_unpermuted(g, y, perm);
}

/* The weights read from a permuted copy. */
static NodeId permuted_view(const Packing *p, const int64_t *perm) {
    NodeId w;
    Graph *chain = pack_start(p, &w);
    NodeId moved = pack_evaluated(p, chain, pack_permuted(chain, w, perm));
    return moved == NODE_none ? NODE_none : pack_unpermuted(p->g, moved, perm);
}

/* What was packed before: a layer unrolled over time reads the same weights at each step. */
typedef struct PackingKey {
    int64_t w, columns, order, perm[TYPE_MAX_RANK];
} PackingKey;

typedef enum PackingOrder {
    ORDER_permuted,
    ORDER_panels,
    ORDER_quads,
    ORDER_transforms
} PackingOrder;

/* The weights w[O, C, 3, 3] of a convolution by Winograd's algorithm. */
static NodeId transforms_view(const Packing *p, const int64_t *perm) {
    (void)perm;
    return winograd_view(p);
}

static NodeId (*const views_by_order[])(const Packing *p, const int64_t *perm) = {
    [ORDER_permuted] = permuted_view,
    [ORDER_panels] = packed_view,
    [ORDER_quads] = quad_view,
    [ORDER_transforms] = transforms_view};

/* `view` of the packing, made once for equal ones; what could not be made is not tried again. */
static NodeId shared_view(Rewrite *r, const Packing *p, const int64_t *perm, PackingOrder order) {
    Map *views = r->state;
    if (views == NULL) {
        r->state = views = NEW(r->ctx->scratch, Map);
        views->arena = r->ctx->scratch;
    }
    PackingKey key = {.w = p->w, .columns = p->columns, .order = order};
    for (uint32_t i = 0; i < graph_type(p->g, p->w)->rank; i++) key.perm[i] = perm[i];
    Str bytes = {(const char *)&key, sizeof key};
    NodeId *view = map_get(views, bytes);
    if (view == NULL) {
        view = NEW(r->ctx->scratch, NodeId);
        *view = views_by_order[order](p, perm);
        map_set(views, bytes, view);
    }
    return *view;
}

/* ---- what is packed -------------------------------------------------------------------------- */

static bool is_packable(const Graph *g, NodeId w) {
    const Node *node = graph_node(g, w);
    bool known =
        node->op == OP_const || (node->op == OP_param && node_attr(node, "value").blob != NULL);
    int64_t count;
    return known && type_is_static(node->type, &count) && count > 1 &&
           dtype_info(node->type->dtype)->bits >= 8;
}

/* The operand whose axis is the result's last one, when that axis is all it gives to the result:
 * *out_perm has its summed axes in the order in which the sum runs (that of operand a), then the
 * column. -1 when there is none. */
static int contract_columns(const Node *node, const Graph *g, int64_t *out_perm) {
    const IntList *labels[] = {node_attr(node, "a").ints, node_attr(node, "b").ints};
    const IntList *out = node_attr(node, "out").ints;
    if (!out->count) return -1;
    int64_t column = out->items[out->count - 1];
    int k = ints_find(labels[1], column) >= 0;
    const IntList *w = labels[k];
    if (ints_find(labels[!k], column) >= 0) return -1; /* a batch axis */
    uint32_t rank = 0;
    for (uint32_t i = 0; i < labels[0]->count; i++) {
        int axis = ints_find(w, labels[0]->items[i]);
        if (axis < 0 || labels[0]->items[i] == column) continue;
        if (ints_find(out, labels[0]->items[i]) >= 0)
            return -1; /* a batch axis or a second column */
        out_perm[rank++] = axis;
    }
    out_perm[rank++] = ints_find(w, column);
    return rank == w->count && is_packable(g, node->args[k]) ? k : -1;
}

static void remark(PassContext *ctx, const Graph *g, NodeId w, NodeId view, Op op) {
    const char *rule = op == OP_conv_winograd ? "winograd" : "pack";
    Remark r = {.rule = rule, .kind = REMARK_applied, .number_count = 1};
    const Node *node = graph_node(g, w);
    r.where = node->op == OP_param ? *node_attr(node, "name").str : str_from(op_info(op)->name);
    r.origin = node->origin;
    r.numbers[0] = (RemarkNumber){"bytes", (double)dim_tune_value(type_bytes(g->ctx, node->type))};
    if (view != NODE_none) pass_remark(ctx, &r);
}

/* No wider than the result is. Its last axis is the columns, all others are rows. */
static int64_t contract_columns_for(const PassContext *ctx, IrContext *ir, const Node *node) {
    const Type *type = node->type;
    const Dim *rows = dim_const(ir, 1);
    for (uint32_t i = 0; i + 1 < type->rank; i++) rows = dim_mul(ir, rows, type->dims[i]);
    int64_t bytes = dtype_info(dtype_compute(type->dtype))->bits / 8, n = 0;
    int64_t columns = target_contract_columns(ctx->target, bytes, rows->hi);
    int64_t lanes = (int64_t)ctx->target->lanes;
    dim_is_const(type->dims[type->rank - 1], &n);
    return n > 0 && n < columns ? (n + lanes - 1) / lanes * lanes : columns;
}

static int64_t columns_for(const PassContext *ctx, const Node *node) {
    return target_panel_columns(ctx->target,
                                dtype_info(dtype_compute(node->type->dtype))->bits / 8);
}

/* Whether the kernel multiplies bytes in words of four. */
static bool takes_words(const PassContext *ctx, const Graph *g, const NodeId *args, int k,
                        DType result) {
    DType other = graph_type(g, args[!k])->dtype;
    return ctx->target->kind == TARGET_cpu && (ctx->target->features & FEATURE_avx512_vnni) &&
           graph_type(g, args[k])->dtype == DT_i8 && graph_type(g, args[k])->rank == 2 &&
           (other == DT_i8 || other == DT_u8) && result == DT_i32;
}

static NodeId pack_contract(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    int64_t perm[TYPE_MAX_RANK];
    int k = contract_columns(node, r->from, perm);
    if (k < 0 || !pass_allows(r->ctx, "pack", r->from, id)) return NODE_none;
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    int64_t columns = contract_columns_for(r->ctx, r->to->ctx, node);
    Packing p = {.g = r->to, .ctx = r->ctx, .w = args[k], .columns = columns};
    bool words = takes_words(r->ctx, r->to, args, k, node->type->dtype);
    args[k] = shared_view(r, &p, perm, words ? ORDER_quads : ORDER_panels);
    remark(r->ctx, r->to, p.w, args[k], node->op);
    return args[k] == NODE_none ? NODE_none : build_op(r->to, node->op, args, 2, node->attrs);
}

/* Whether a convolution is made by Winograd's algorithm, another grouping of its sums. */
static bool transforms(const Rewrite *r, NodeId id) {
    const PassContext *ctx = r->ctx;
    return ctx->target->kind == TARGET_cpu && !ctx->options.strict_sums &&
           winograd_is_chosen(r->from, id, rewrite_arg(r, id, 1), r->to) &&
           pass_allows(r->ctx, "winograd", r->from, id);
}

static NodeId pack_conv(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    if (!is_packable(r->to, args[1]) || !pass_allows(r->ctx, "pack", r->from, id)) return NODE_none;
    Packing p = {.g = r->to, .ctx = r->ctx, .w = args[1], .columns = columns_for(r->ctx, node)};
    uint32_t rank = graph_type(r->to, p.w)->rank;
    int64_t perm[TYPE_MAX_RANK], groups = node_attr(node, "groups").i;
    for (uint32_t i = 2; i < rank; i++) perm[i - 2] = i;
    perm[rank - 2] = 1;
    perm[rank - 1] = 0;
    bool straddles = groups > 1 && extent(r->to, p.w, 0) / groups % p.columns != 0;
    PackingOrder order = transforms(r, id) ? ORDER_transforms
                         : straddles       ? ORDER_permuted
                                           : ORDER_panels;
    Op op = order == ORDER_transforms ? OP_conv_winograd : node->op;
    if (op == OP_conv_winograd && extent(r->to, p.w, 0) <= (int64_t)r->ctx->target->lanes)
        p.columns = r->ctx->target->lanes;
    args[1] = shared_view(r, &p, perm, order);
    remark(r->ctx, r->to, p.w, args[1], op);
    return args[1] == NODE_none ? NODE_none : build_op(r->to, op, args, 2, node->attrs);
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
