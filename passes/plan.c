/* plan: chooses the memory layout of images, so far only between the two that matter on a CPU.
 *
 * A conv reads x one number at a time and w and its result in vectors of output channels. Tensors
 * are dense and row-major, so vectors of channels are contiguous only where channels are the last
 * axis. That layout is a permuted tensor here: the value v[N, C, p…] is kept as v'[N, p…, C], and
 * all that reads v reads permute(v'), which kernels absorb as index maps.
 *
 * A component is a set of convs, and of products of channels (what a 1x1 conv has become), with the
 * ops between and after them that work in either layout. It is kept channels-last as a whole if
 * that moves fewer bytes: in the given layout each stored element of a conv costs a cache line of
 * its own; channels-last it costs its size, but each tensor that leaves the component is read with
 * strides once. What a product reads or the component gives that is channels-last outside costs as
 * much in the given layout. */
#include "ir/build.h"
#include "passes/fold/fold.h"

#include <string.h>

enum { LINE_BYTES = 64 };

typedef struct Plan {
    PassContext *ctx;
    const Graph *graph;
    uint32_t *component; /* by node: union-find parent; own id at the root */
    bool *member;        /* the node works in either layout and follows a conv */
    bool *chosen;        /* by root: kept channels-last */
} Plan;

/* What the rewriting of one graph needs beside the map. */
typedef struct Layout {
    Fold fold;
    NodeId *last; /* by old id: the channels-last value of a member */
} Layout;

/* ---- axes ------------------------------------------------------------------------------------ */

/* Where axis `axis` of [N, C, p…] stands in [N, p…, C]. */
static int64_t last_place(uint32_t rank, int64_t axis) {
    if (axis == 0) return 0;
    return axis == 1 ? rank - 1 : axis - 1;
}

/* The permutation from [N, C, p…] to [N, p…, C], or back. */
static void layout_permutation(uint32_t rank, bool to_last, int64_t *out_perm) {
    for (uint32_t i = 0; i < rank; i++) {
        int64_t place = last_place(rank, i);
        if (to_last)
            out_perm[place] = i;
        else
            out_perm[i] = place;
    }
}

static NodeId permuted(Layout *l, NodeId x, bool to_last) {
    int64_t perm[TYPE_MAX_RANK];
    layout_permutation(graph_type(l->fold.g, x)->rank, to_last, perm);
    return fold_simplify(&l->fold, build_permute(l->fold.g, x, perm));
}

/* ---- components ------------------------------------------------------------------------------ */

static uint32_t find(const Plan *p, uint32_t id) {
    while (p->component[id] != id) id = p->component[id] = p->component[p->component[id]];
    return id;
}

static void join(const Plan *p, uint32_t a, uint32_t b) {
    uint32_t x = find(p, a), y = find(p, b);
    if (x != y) p->component[x > y ? x : y] = x > y ? y : x;
}

/* How a contraction of channels alone, [N, C, p…] with [O, C] to [N, O, p…], reads its image: what
 * a 1x1 conv has become. */
typedef enum Product {
    PRODUCT_none,
    PRODUCT_given, /* as [N, C, p…] */
    PRODUCT_last,  /* as [N, p…, C] */
    PRODUCT_other
} Product;

static Product product_of(const Graph *g, const Node *node) {
    if (node->op != OP_contract) return PRODUCT_none;
    const IntList *a = node_attr(node, "a").ints, *out = node_attr(node, "out").ints;
    uint32_t rank = out->count, given = 0, last = 0, found = 0;
    if (a->count != rank || rank < 3 || graph_type(g, node->args[1])->rank != 2)
        return PRODUCT_none;
    for (uint32_t i = 0; i < rank; i++) {
        for (uint32_t k = 0; k < rank; k++) {
            if (a->items[k] != out->items[i]) continue;
            if (i == 1) return PRODUCT_none;
            found++;
            given += k == i;
            last += (int64_t)k == last_place(rank, i);
        }
    }
    if (found + 1 != rank) return PRODUCT_none;
    return given == found ? PRODUCT_given : last == found ? PRODUCT_last : PRODUCT_other;
}

static bool follows_layout(const Node *node) {
    switch (op_info(node->op)->class) {
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE:
    case CLASS_SELECT:
    case CLASS_CAST:
    case CLASS_WINDOW:
    case CLASS_PAD:
    case CLASS_SLICE:
    case CLASS_REVERSE:
    case CLASS_CONCAT: return true;
    default: return false;
    }
}

/* The operands that have the layout of the result; the others are weights and padding values, and
 * images in a layout of their own. */
static uint32_t image_count(const Graph *g, const Node *node) {
    OpClass class = op_info(node->op)->class;
    if (class == CLASS_CONTRACT) return product_of(g, node) == PRODUCT_given;
    return class == CLASS_PAD || class == CLASS_CONV ? 1 : node->arg_count;
}

static void find_members(Plan *p) {
    const Graph *g = p->graph;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        p->component[id] = id;
        p->member[id] = node->op == OP_conv || product_of(g, node);
        if (!p->member[id] && !follows_layout(node)) continue;
        for (uint32_t i = 0; i < image_count(g, node); i++) {
            NodeId arg = node->args[i];
            bool same = p->member[arg] && graph_type(g, arg)->rank == node->type->rank;
            if (same) join(p, id, arg);
            p->member[id] |= same;
        }
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef struct Traffic {
    double given, last; /* bytes moved in either layout */
    uint32_t convs;
} Traffic;

static double elements(const Plan *p, NodeId id) {
    return (double)dim_tune_value(type_elements(p->graph->ctx, graph_type(p->graph, id)));
}

static double element_bytes(const Plan *p, NodeId id) {
    return dtype_info(graph_type(p->graph, id)->dtype)->bits / 8.0;
}

static bool is_permute_of_layouts(const Node *node, bool to_last) {
    int64_t perm[TYPE_MAX_RANK];
    if (node->op != OP_permute) return false;
    layout_permutation(node->type->rank, to_last, perm);
    return !memcmp(perm, node_attr(node, "perm").ints->items, node->type->rank * sizeof *perm);
}

static bool is_layout_permute(const Node *node) { return is_permute_of_layouts(node, true); }

/* Whether a value is made of one that is channels-last. */
static bool comes_last(const Graph *g, NodeId id) {
    while (graph_node(g, id)->op == OP_slice) id = graph_node(g, id)->args[0];
    return is_permute_of_layouts(graph_node(g, id), false);
}

/* A reduction over all spatial axes, and not over channels, works in either layout. */
static bool is_spatial_reduce(const Graph *g, const Node *node) {
    if (op_info(node->op)->class != CLASS_REDUCE) return false;
    const IntList *axes = node_attr(node, "axes").ints;
    uint32_t mask = 0, rank = graph_type(g, node->args[0])->rank;
    for (uint32_t i = 0; i < axes->count; i++) mask |= 1u << axes->items[i];
    return rank >= 3 && mask == ((1u << rank) - 1 - 3);
}

/* Whether each node's value is used in the given layout by something outside. */
static bool *find_leaving(const Plan *p) {
    const Graph *g = p->graph;
    const bool *kept = graph_find_kept(g, p->ctx->scratch);
    bool *leaves = NEW_ARRAY(p->ctx->scratch, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (!kept[id] || is_layout_permute(node) || is_spatial_reduce(g, node)) continue;
        uint32_t images = p->member[id] ? image_count(g, node) : 0;
        for (uint32_t i = images; i < node->arg_count; i++) leaves[node->args[i]] = true;
    }
    for (size_t i = 0; i < g->outputs.count; i++) leaves[g->outputs.data[i].node] = true;
    return leaves;
}

/* Whether each node's value is wanted channels-last. */
static bool *find_wanted_last(const Plan *p) {
    const Graph *g = p->graph;
    const bool *kept = graph_find_kept(g, p->ctx->scratch);
    bool *wanted = NEW_ARRAY(p->ctx->scratch, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (kept[id] && is_layout_permute(node)) wanted[node->args[0]] = true;
    }
    return wanted;
}

static Traffic *count_traffic(const Plan *p) {
    const Graph *g = p->graph;
    const bool *wanted = find_wanted_last(p);
    Traffic *traffic = NEW_ARRAY(p->ctx->scratch, Traffic, g->nodes.count);
    const bool *leaves = find_leaving(p);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        if (!p->member[id]) continue;
        Traffic *t = &traffic[find(p, id)];
        double size = element_bytes(p, id), count = elements(p, id);
        if (graph_node(g, id)->op == OP_conv) {
            t->convs++;
            t->given += count * LINE_BYTES;
            t->last += count * size;
        }
        NodeId image = graph_node(g, id)->args[0];
        Product product = product_of(g, graph_node(g, id));
        bool read_last = product == PRODUCT_last || (product && comes_last(g, image));
        if (read_last) t->given += elements(p, image) * LINE_BYTES;
        if (wanted[id]) t->given += count * LINE_BYTES;
        if (leaves[id]) t->last += count * (LINE_BYTES + size);
    }
    return traffic;
}

static void choose(Plan *p) {
    const Traffic *traffic = count_traffic(p);
    for (NodeId id = 0; id < p->graph->nodes.count; id++) {
        if (!p->member[id] || find(p, id) != id) continue;
        const Traffic *t = &traffic[id];
        p->chosen[id] = t->last < t->given && pass_allows(p->ctx, "layout", p->graph, id);
        if (t->convs == 0 && !p->chosen[id]) continue;
        Remark remark = {.rule = "layout", .kind = REMARK_choice, .number_count = 3};
        remark.origin = graph_node(p->graph, id)->origin;
        remark.numbers[0] = (RemarkNumber){"convolutions", t->convs};
        remark.numbers[1] = (RemarkNumber){"bytes as given", t->given};
        remark.numbers[2] = (RemarkNumber){"bytes channels-last", t->last};
        remark.text = p->chosen[id] ? STR("channels-last") : STR("as given");
        pass_remark(p->ctx, &remark);
    }
}

static bool is_last(const Plan *p, NodeId id) { return p->member[id] && p->chosen[find(p, id)]; }

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Operand k of node `id`, channels-last. */
static NodeId last_operand(const Rewrite *r, Layout *l, NodeId id, uint32_t k) {
    NodeId old = graph_node(r->from, id)->args[k];
    if (is_last(r->user, old)) return l->last[old];
    return permuted(l, r->map[old], true);
}

static const IntList *last_ints(IrContext *ctx, const IntList *list) {
    int64_t moved[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < list->count; i++) moved[last_place(list->count, i)] = list->items[i];
    return ir_ints(ctx, moved, list->count);
}

static const DimList *last_dims(IrContext *ctx, const DimList *list) {
    const Dim *moved[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < list->count; i++) moved[last_place(list->count, i)] = list->items[i];
    return ir_dims(ctx, moved, list->count);
}

static const IntList *last_axes(IrContext *ctx, uint32_t rank, const IntList *axes) {
    int64_t moved[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < axes->count; i++) moved[i] = last_place(rank, axes->items[i]);
    return ir_ints(ctx, moved, axes->count);
}

/* The attributes of an op that works on the permuted operands. */
static void last_attrs(IrContext *ctx, const Node *node, uint32_t rank, Attr *out) {
    const OpInfo *info = op_info(node->op);
    memcpy(out, node->attrs, info->attr_count * sizeof *out);
    switch (info->class) {
    case CLASS_CONCAT: out[0].i = last_place(rank, out[0].i); return;
    case CLASS_REDUCE:
    case CLASS_REVERSE: out[0].ints = last_axes(ctx, rank, out[0].ints); return;
    case CLASS_CONTRACT: out[2].ints = last_ints(ctx, out[2].ints); return;
    default: break;
    }
    for (uint32_t i = 0; i < info->attr_count; i++) { /* one entry an axis: window, slice, pad */
        if (info->attrs[i].kind == ATTR_ints) out[i].ints = last_ints(ctx, out[i].ints);
        if (info->attrs[i].kind == ATTR_dims) out[i].dims = last_dims(ctx, out[i].dims);
    }
}

/* The op on channels-last operands; a contraction takes its operands as they come, by label. */
static NodeId apply_last(const Rewrite *r, Layout *l, NodeId id) {
    const Node *node = graph_node(r->from, id);
    bool labels = node->op == OP_contract;
    NodeId *args = NEW_ARRAY(r->ctx->scratch, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        bool image = i < image_count(r->from, node) && !labels;
        args[i] = image ? last_operand(r, l, id, i) : rewrite_arg(r, id, i);
    }
    Attr attrs[OP_MAX_ATTRS];
    last_attrs(r->to->ctx, node, graph_type(r->from, node->args[0])->rank, attrs);
    NodeId result = build_op(r->to, node->op, args, node->arg_count, attrs);
    return labels ? fold_simplify(&l->fold, result) : result;
}

static NodeId plan_node(Rewrite *r, NodeId id) {
    const Plan *p = r->user;
    const Node *node = graph_node(r->from, id);
    if (r->from != p->graph) return NODE_none; /* a block of a control op */
    Layout *l = r->state;
    if (!l) {
        r->state = l = NEW(r->ctx->scratch, Layout);
        l->fold = (Fold){.ctx = r->ctx, .g = r->to};
        l->last = NEW_ARRAY(r->ctx->scratch, NodeId, r->from->nodes.count);
    }
    if (is_spatial_reduce(r->from, node) && is_last(p, node->args[0])) {
        return apply_last(r, l, id);
    }
    if (is_layout_permute(node) && is_last(p, node->args[0])) return l->last[node->args[0]];
    if (!is_last(p, id)) return NODE_none;
    l->last[id] =
        node->op == OP_conv ? permuted(l, rewrite_copy(r, id), true) : apply_last(r, l, id);
    return permuted(l, l->last[id], false);
}

Graph *pass_plan(PassContext *ctx, Arena *arena, const Graph *graph) {
    if (ctx->target->kind != TARGET_cpu) return graph_copy_live(arena, graph);
    size_t count = graph->nodes.count;
    Plan p = {.ctx = ctx, .graph = graph};
    p.component = NEW_ARRAY(ctx->scratch, uint32_t, count);
    p.member = NEW_ARRAY(ctx->scratch, bool, count);
    p.chosen = NEW_ARRAY(ctx->scratch, bool, count);
    find_members(&p);
    choose(&p);
    return rewrite_graph(ctx, arena, graph, plan_node, &p);
}
