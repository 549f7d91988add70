/* Values that are dear to compute and needed by a later sweep are kept in scratch. */
#include "codegen/skeleton/row.h"

bool row_is_dear(const Node *node) {
    return op_info(node->op)->ulp > 0 || node->op == OP_gather || node->op == OP_random;
}

/* By node: whether something dear is computed between it and the inputs and finished reductions. */
static bool *find_dear(const Row *s) {
    const Graph *g = s->request->region;
    bool *dear = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (row_is_reduction(node->op)) continue;
        dear[id] = row_is_dear(node);
        for (uint32_t i = 0; i < node->arg_count; i++) dear[id] |= dear[node->args[i]];
    }
    return dear;
}

bool row_is_sized(const Row *s, NodeId id) {
    const Type *type = graph_type(s->request->region, id);
    bool same = type->rank == s->domain.rank;
    for (uint32_t i = 0; same && i < type->rank; i++) same = type->dims[i] == s->domain.dims[i];
    return same;
}

/* Nodes that the reductions of `stage` compute, are dear, and that later sweeps use. */
static bool *find_kept(Row *s, uint32_t stage) {
    const Graph *g = s->request->region;
    bool *computed = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    bool *kept = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    const bool *dear = find_dear(s);
    for (size_t i = 0; i < s->reductions.count; i++) {
        NodeId id = s->reductions.data[i];
        if (s->stage[id] == stage) computed[graph_node(g, id)->args[0]] = true;
    }
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        if (!computed[id] || row_is_reduction(node->op)) continue;
        for (uint32_t i = 0; i < node->arg_count; i++) computed[node->args[i]] = true;
    }
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; s->stage[id] >= stage && i < node->arg_count; i++) {
            NodeId arg = node->args[i];
            bool later = !row_is_reduction(node->op) || s->stage[id] > stage;
            if (later && computed[arg] && s->stage[arg] < stage && row_is_sized(s, arg) &&
                dear[arg])
                kept[arg] = true;
        }
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        NodeId base = domain_base(g, g->outputs.data[i].node);
        if (computed[base] && s->stage[base] < stage && row_is_sized(s, base) && dear[base])
            kept[base] = true;
    }
    return kept;
}

static const Dim *row_position(const Row *s) {
    const Dim *position = dim_const(s->e.ctx, 0);
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i])
            position = dim_add(s->e.ctx, dim_mul(s->e.ctx, position, s->domain.dims[i]),
                               s->domain.index[i]);
    return position;
}

static void add_kept(Row *s, NodeId id, const Dim *length) {
    TileView view = {.name = str_format(s->e.arena, "s%u", s->kept_count++),
                     .space = SPACE_scratch,
                     .dtype = dtype_compute(graph_type(s->request->region, id)->dtype),
                     .rank = 1,
                     .dims = {length},
                     .alignment = 64,
                     .written = true};
    vec_push(s->e.arena, &s->kept, (Kept){id, tile_add_view(s->e.program, &view)});
}

/* The longest row that is kept: half of the second cache; on a GPU what stays in shared memory, as
 * its global memory is no faster than computing again. */
static int64_t most_kept(const Row *s) {
    enum { BLOCK_BYTES = 32 << 10, WARPS = 4 };
    const Target *target = s->request->target;
    if (target->kind == TARGET_cpu) return target->l2_bytes / 8;
    return BLOCK_BYTES / (target->lanes > 32 ? 1 : WARPS) / 4;
}

void row_keep(Row *s, uint32_t stage) {
    const Dim *length = row_length(s);
    bool fits = length->hi <= most_kept(s);
    s->kept.count = 0;
    if (s->column || !fits) return;
    bool *kept = find_kept(s, stage);
    for (NodeId id = 0; id < s->request->region->nodes.count; id++)
        if (kept[id]) add_kept(s, id, length);
}

void row_store_kept(Row *s) {
    const Dim *position = row_position(s);
    for (size_t i = 0; i < s->kept.count; i++) {
        TileId value = emit_value(&s->e, s->kept.data[i].node, s->domain.index);
        if (value == TILE_none) return;
        tile_store(&s->e.b, value, s->kept.data[i].view, &position, NULL, s->e.guards.data,
                   (uint32_t)s->e.guards.count, OP_none);
    }
}

void row_provide_kept(Row *s) {
    for (size_t i = 0; i < s->kept.count; i++) {
        Provision p = {
            .node = s->kept.data[i].node, .value = TILE_none, .view = s->kept.data[i].view};
        for (uint32_t a = 0; a < s->domain.rank; a++)
            p.index[a] = s->reduced[a] ? NULL : s->domain.index[a];
        emit_provide(&s->e, &p);
    }
}
