/* Scatter kernels: one setting of all axes but the indexed one a grid point (a vector of neighbours
 * where the last axis is not the indexed one). The operand is copied, then the updates are applied
 * in index order, so the last one wins and sums are in plain order. 16- and 8-bit floats accumulate
 * in f32 scratch and are rounded once. */
#include "codegen/skeleton/domain.h"

typedef struct Scatter {
    const SkeletonRequest *request;
    ValueEmitter e;
    const Node *node;
    Domain domain;
    uint32_t axis, batch;
    const Type *indices;
    bool staged;   /* accumulates in scratch */
    uint32_t view; /* what is accumulated in: the output or scratch [extent, lanes] */
} Scatter;

static NodeId find_node(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_SCATTER) return id;
    return NODE_none;
}

/* Where the current row keeps the element with index `position` along the axis. */
static uint32_t place(const Scatter *s, const Dim *position, const Dim **subscripts) {
    if (!s->staged) {
        for (uint32_t i = 0; i < s->domain.rank; i++)
            subscripts[i] = i == s->axis ? position : s->domain.index[i];
        return s->axis;
    }
    subscripts[0] = position;
    ValueEmitter *e = (ValueEmitter *)(uintptr_t)&s->e;
    subscripts[1] = e->shape.rank > 0 ? emit_axis(e, 0) : dim_const(e->ctx, 0);
    return 0;
}

static void keep(Scatter *s, TileId value, const Dim *position, TileId at, Op combine) {
    ValueEmitter *e = &s->e;
    const Dim *subscripts[TYPE_MAX_RANK];
    TileId ats[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) ats[i] = TILE_none;
    uint32_t axis = place(s, position, subscripts);
    ats[axis] = at;
    DType dtype = e->program->views.data[s->view].dtype;
    if (tile_value_type(e->program, value)->dtype != dtype) value = tile_cast(&e->b, value, dtype);
    tile_store(&e->b, value, s->view, subscripts, at == TILE_none ? NULL : ats, e->guards.data,
               (uint32_t)e->guards.count, combine);
}

static void copy_operand(Scatter *s) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0), s->domain.dims[s->axis], NULL, 0);
    s->domain.index[s->axis] = loop.variable;
    TileId value = emit_value(e, s->node->args[0], s->domain.index);
    if (value != TILE_none) keep(s, value, loop.variable, TILE_none, OP_none);
    emit_end_for(e, loop, NULL);
}

static void apply_update(Scatter *s, const Dim *const *middle, uint32_t middle_rank) {
    ValueEmitter *e = &s->e;
    const Dim *where[TYPE_MAX_RANK], *from[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->batch; i++) where[i] = s->domain.index[i];
    for (uint32_t i = 0; i < middle_rank; i++) where[s->batch + i] = middle[i];
    for (uint32_t i = 0; i < s->axis; i++) from[i] = s->domain.index[i];
    for (uint32_t i = 0; i < middle_rank; i++) from[s->axis + i] = middle[i];
    for (uint32_t i = s->axis + 1; i < s->domain.rank; i++)
        from[i - 1 + middle_rank] = s->domain.index[i];
    TileId index = emit_value(e, s->node->args[1], where);
    TileId update = emit_value(e, s->node->args[2], from);
    if (index == TILE_none || update == TILE_none) return;
    const Dim *extent = s->domain.dims[s->axis];
    if (tile_value_type(e->program, index)->dtype != DT_i64)
        index = tile_cast(&e->b, index, DT_i64);
    TileId safe = tile_check(&e->b, index, extent, e->guards.data, (uint32_t)e->guards.count);
    size_t mark = emit_guard_mark(e);
    emit_push_guard(e, dim_const(e->ctx, 0), dim_const(e->ctx, 0), extent);
    keep(s, update, dim_const(e->ctx, 0), safe, op_info(s->node->op)->scalar);
    emit_pop_guards(e, mark);
}

/* All index positions in row-major order. */
static void apply_updates(Scatter *s, const Dim **middle, uint32_t done) {
    ValueEmitter *e = &s->e;
    uint32_t middle_rank = s->indices->rank - s->batch;
    if (done == middle_rank) {
        apply_update(s, middle, middle_rank);
        return;
    }
    EmitLoop loop =
        emit_begin_for(e, "u", dim_const(e->ctx, 0), s->indices->dims[s->batch + done], NULL, 0);
    middle[done] = loop.variable;
    apply_updates(s, middle, done + 1);
    emit_end_for(e, loop, NULL);
}

static void store_staged(Scatter *s) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0), s->domain.dims[s->axis], NULL, 0);
    s->domain.index[s->axis] = loop.variable;
    const Dim *subscripts[TYPE_MAX_RANK];
    place(s, loop.variable, subscripts);
    TileId value = tile_load(&e->b, emit_type(e, e->program->views.data[s->view].dtype), s->view,
                             subscripts, NULL, e->guards.data, (uint32_t)e->guards.count, 0);
    emit_store(e, 0, value, s->domain.index, false);
    emit_end_for(e, loop, NULL);
}

static void run(Scatter *s) {
    const Dim *middle[TYPE_MAX_RANK];
    size_t scope = emit_scope(&s->e);
    copy_operand(s);
    apply_updates(s, middle, 0);
    if (s->staged && s->e.error == NULL) store_staged(s);
    emit_end_scope(&s->e, scope);
}

static void add_grid(Scatter *s, bool vectors, int64_t lanes) {
    ValueEmitter *e = &s->e;
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (i == s->axis) continue;
        bool last = vectors && i + 1 == s->domain.rank;
        const Dim *extent = s->domain.dims[i];
        if (last) extent = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, lanes));
        const Dim *index = domain_add_work(e, "i", extent);
        if (last) index = dim_add(e->ctx, dim_scale(e->ctx, index, lanes), emit_axis(e, 0));
        s->domain.index[i] = index;
    }
}

static void add_stage(Scatter *s, int64_t lanes) {
    TileView view = {.name = STR("stage"),
                     .space = SPACE_scratch,
                     .dtype = dtype_compute(s->node->type->dtype),
                     .rank = 2,
                     .dims = {s->domain.dims[s->axis], dim_const(s->e.ctx, lanes)},
                     .alignment = 64,
                     .written = true};
    s->view = tile_add_view(s->e.program, &view);
}

static void build(Scatter *s) {
    ValueEmitter *e = &s->e;
    bool free = s->request->state == TILE_free;
    bool vectors = !free && s->axis + 1 < s->domain.rank;
    int64_t lanes = vectors ? s->request->target->lanes : 1;
    emit_set_shape(e, (TileShape){.rank = 0, .lanes = free ? 0 : 1});
    if (vectors)
        emit_set_shape(e, (TileShape){.rank = 1,
                                      .lanes = (uint32_t)lanes,
                                      .extents = {dim_const(e->ctx, lanes)}});
    add_grid(s, vectors, lanes);
    s->view = e->output_view;
    s->staged = dtype_compute(s->node->type->dtype) != s->node->type->dtype;
    if (s->staged) add_stage(s, lanes);
    size_t mark = emit_guard_mark(e);
    uint32_t last = s->domain.rank - 1;
    if (vectors)
        emit_push_guard(e, s->domain.index[last], dim_const(e->ctx, 0), s->domain.dims[last]);
    run(s);
    emit_pop_guards(e, mark);
}

TileProgram *skeleton_build_scatter(const SkeletonRequest *request, const char **out_why) {
    const Graph *g = request->region;
    Scatter s = {.request = request};
    NodeId id = find_node(g);
    *out_why = "there is no scatter, or something follows it";
    if (id == NODE_none || g->outputs.count != 1 || g->outputs.data[0].node != id) return NULL;
    emit_init(&s.e, request->ctx, request->arena, g, request->state, request->name,
              request->round_everywhere);
    s.node = graph_node(g, id);
    s.axis = (uint32_t)node_attr(s.node, "axis").i;
    s.batch = (uint32_t)node_attr(s.node, "batch").i;
    s.indices = graph_type(g, s.node->args[1]);
    s.domain.rank = s.node->type->rank;
    for (uint32_t i = 0; i < s.domain.rank; i++) s.domain.dims[i] = s.node->type->dims[i];
    build(&s);
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
