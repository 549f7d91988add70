/* Running reductions: one row along the axis a grid point, in plain order. Vectors run along the
 * last axis when that is not the running one; else elements are made one after the other. */
#include "codegen/skeleton/domain.h"

typedef struct Cumulative {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    Domain domain;
    uint32_t axis;
} Cumulative;

static NodeId find_node(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_CUMULATIVE) return id;
    return NODE_none;
}

/* One element: the running value goes on, and what is stored here is it (exclusive: what it was).
 */
static TileId run_step(Cumulative *s, TileId acc) {
    ValueEmitter *e = &s->e;
    TileId value = emit_value(e, s->node->args[0], s->domain.index);
    if (value == TILE_none) return acc;
    TileId next = tile_map(&e->b, op_info(s->node->op)->scalar, (TileId[]){acc, value}, 2);
    TileId shown = node_attr(s->node, "exclusive").i ? acc : next;
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, shown)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
    return next;
}

static void run_axis(Cumulative *s) {
    ValueEmitter *e = &s->e;
    const Dim *extent = s->domain.dims[s->axis];
    TileId acc = emit_identity(e, s->node->type->dtype, op_info(s->node->op)->scalar);
    EmitLoop loop = emit_begin_for(e, "k", dim_const(e->ctx, 0), extent, &acc, 1);
    s->domain.index[s->axis] = node_attr(s->node, "reverse").i
                                   ? dim_sub(e->ctx, dim_offset(e->ctx, extent, -1), loop.variable)
                                   : loop.variable;
    acc = run_step(s, loop.loop->carried);
    emit_end_for(e, loop, &acc);
}

/* Whole vectors without guards, the last partial one with them. */
static void run_vectors(Cumulative *s, const Dim *length, const Dim *position) {
    ValueEmitter *e = &s->e;
    if (dim_proves_lt(e->ctx, position, length)) {
        run_axis(s);
        return;
    }
    const Dim *last = dim_offset(e->ctx, dim_sub(e->ctx, position, emit_axis(e, 0)),
                                 s->request->target->lanes - 1);
    TileGuard whole = {last, dim_const(e->ctx, 0), length};
    EmitBranch branch = emit_begin_if(e, &whole, 1);
    run_axis(s);
    emit_else(e, branch, NULL, 0);
    size_t mark = emit_guard_mark(e);
    emit_push_guard(e, position, dim_const(e->ctx, 0), length);
    run_axis(s);
    emit_pop_guards(e, mark);
    emit_end_if(e, branch, NULL, 0);
}

static void build(Cumulative *s) {
    ValueEmitter *e = &s->e;
    bool free = s->request->state == TILE_free;
    int64_t lanes = free ? 0 : s->request->target->lanes;
    uint32_t last = s->domain.rank - 1;
    bool vectors = s->axis != last && !free;
    emit_set_shape(e, (TileShape){.rank = 0, .lanes = free ? 0 : 1});
    if (vectors)
        emit_set_shape(e, (TileShape){.rank = 1,
                                      .lanes = (uint32_t)lanes,
                                      .extents = {dim_const(e->ctx, lanes)}});
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (i == s->axis) continue;
        const Dim *extent = s->domain.dims[i];
        if (vectors && i == last) extent = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, lanes));
        const Dim *index = domain_add_work(e, "i", extent);
        if (vectors && i == last)
            index = dim_add(e->ctx, dim_scale(e->ctx, index, lanes), emit_axis(e, 0));
        s->domain.index[i] = index;
    }
    if (vectors)
        run_vectors(s, s->domain.dims[last], s->domain.index[last]);
    else
        run_axis(s);
}

TileProgram *skeleton_build_cumulative(const SkeletonRequest *request, const char **out_why) {
    Cumulative s = {.request = request, .id = find_node(request->region)};
    *out_why = "there is no running reduction";
    if (s.id == NODE_none) return NULL;
    emit_init(&s.e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s.node = graph_node(request->region, s.id);
    s.axis = (uint32_t)node_attr(s.node, "axis").i;
    s.domain.rank = s.node->type->rank;
    for (uint32_t i = 0; i < s.domain.rank; i++) s.domain.dims[i] = s.node->type->dims[i];
    build(&s);
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
