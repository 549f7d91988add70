/* What the fuser knows of its graph: what is live, who uses what, the settings of the dims. */
#include "passes/fuse/fuse.h"
#include "passes/kernel.h"

bool fuser_is_op(const Fuser *f, NodeId id) {
    bool leaf = op_info(graph_node(f->graph, id)->op)->class == CLASS_LEAF;
    return f->live[id] && !leaf && !f->is_constant[id];
}

OpClass fuser_class(const Fuser *f, NodeId id) {
    return op_info(graph_node(f->graph, id)->op)->class;
}

bool fuser_is_pointwise(const Fuser *f, NodeId id) {
    switch (fuser_class(f, id)) {
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE:
    case CLASS_SELECT:
    case CLASS_CAST:
    case CLASS_RESHAPE:
    case CLASS_PERMUTE:
    case CLASS_BROADCAST:
    case CLASS_SLICE:
    case CLASS_PAD:
    case CLASS_REVERSE:
    case CLASS_CONCAT:
    case CLASS_GATHER:
    case CLASS_RANDOM: return true;
    default: return false;
    }
}

const Target *fuser_prices(const Fuser *f) {
    const Target *target = f->ctx->target;
    return target->kind == TARGET_cpu ? target_find(STR("x86-64-v4")) : target;
}

bool fuser_is_heavy(const Fuser *f, NodeId id) {
    return fuser_is_op(f, id) && fuser_class(f, id) != CLASS_ITEM && !fuser_is_pointwise(f, id);
}

const Ban *fuser_find_ban(const Fuser *f, NodeId root, NodeId id) {
    for (size_t i = 0; i < f->bans.count; i++) {
        const Ban *ban = &f->bans.data[i];
        if (ban->root == root && (ban->node == id || ban->node == NODE_none)) return ban;
    }
    return NULL;
}

static void find_users(Fuser *f) {
    const Graph *g = f->graph;
    size_t count = g->nodes.count;
    f->user_start = NEW_ARRAY(f->arena, uint32_t, count + 2);
    for (NodeId id = 0; id < count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; f->live[id] && i < node->arg_count; i++)
            f->user_start[node->args[i] + 2]++;
    }
    for (size_t i = 2; i < count + 2; i++) f->user_start[i] += f->user_start[i - 1];
    f->users = NEW_ARRAY(f->arena, NodeId, f->user_start[count + 1]);
    for (NodeId id = 0; id < count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; f->live[id] && i < node->arg_count; i++)
            f->users[f->user_start[node->args[i] + 1]++] = id;
    }
}

/* Named symbols at their least, usual and greatest value; all else is 0 in a graph. */
static void find_settings(Fuser *f) {
    IrContext *ir = f->ctx->ir;
    uint32_t count = dim_symbol_count(ir);
    for (int p = 0; p < FUSE_POINTS; p++) {
        f->settings[p] = NEW_ARRAY(f->arena, int64_t, count);
        for (uint32_t i = 0; i < count; i++) {
            const DimSymbol *s = dim_symbol_at(ir, i);
            if (s->kind == SYMBOL_index) continue;
            f->settings[p][i] = p == 0 ? s->lo : p == 1 ? s->tune : s->hi;
        }
    }
}

/* Movement of one-element constants, iota and dim: cheaper than a look at where else it is. */
static void find_constants(Fuser *f) {
    const Graph *g = f->graph;
    f->is_constant = NEW_ARRAY(f->arena, bool, g->nodes.count);
    uint8_t *depth = NEW_ARRAY(f->arena, uint8_t, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        bool moves = (op_info(node->op)->flags & FLAG_movement) != 0 && node->arg_count == 1;
        if (!f->live[id] || f->is_output[id] || !moves) continue;
        NodeId arg = node->args[0];
        bool constant = f->is_constant[arg] || kernel_holds_leaf(g, arg);
        if (!constant || depth[arg] == REGION_MAX_INLINED) continue;
        f->is_constant[id] = true;
        depth[id] = (uint8_t)(depth[arg] + 1);
    }
}

void fuser_init(Fuser *f, PassContext *ctx, const Graph *graph) {
    *f = (Fuser){.ctx = ctx, .graph = graph, .arena = ctx->scratch};
    f->axes = (Axes){.ctx = ctx->ir};
    f->live = graph_find_live(graph, f->arena);
    f->is_output = NEW_ARRAY(f->arena, bool, graph->nodes.count);
    for (size_t i = 0; i < graph->outputs.count; i++)
        f->is_output[graph->outputs.data[i].node] = true;
    f->in = NEW_ARRAY(f->arena, GroupList, graph->nodes.count);
    find_constants(f);
    f->seen = NEW_ARRAY(f->arena, uint32_t, graph->nodes.count);
    f->verdicts.arena = f->reasons.arena = f->arena;
    find_users(f);
    find_settings(f);
}
