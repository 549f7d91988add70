/* Running reductions: one row along the axis a grid point, in order; sums in blocks (sums.h), of
 * which what is stored is the sum of the finished ones plus that of the block at hand. Vectors run
 * along the last axis when that is not the running one; else elements are made one by one, on a GPU
 * each lane those of a row of its own. */
#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/sums.h"

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

/* The running value: of the block at hand, and of those around it that are finished. */
static TileId add_finished(SumNest *n, TileId block) {
    for (uint32_t i = n->outer_count; i-- > 0;)
        block = tile_map(&n->e->b, OP_add, (TileId[]){n->outer[i], block}, 2);
    return block;
}

/* One element: the running value goes on, and what is stored here is it (exclusive: what it was).
 */
static TileId run_step(SumNest *n, TileId acc) {
    Cumulative *s = n->user;
    ValueEmitter *e = &s->e;
    TileId value = emit_value(e, s->node->args[0], s->domain.index);
    if (value == TILE_none) return acc;
    TileId next = tile_map(&e->b, op_info(s->node->op)->scalar, (TileId[]){acc, value}, 2);
    TileId shown = add_finished(n, node_attr(s->node, "exclusive").i ? acc : next);
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, shown)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
    return next;
}

static void enter_step(SumNest *n, uint32_t axis) {
    Cumulative *s = n->user;
    const Dim *last = dim_offset(n->e->ctx, n->extents[axis], -1);
    bool reverse = node_attr(s->node, "reverse").i != 0;
    s->domain.index[s->axis] = reverse ? dim_sub(n->e->ctx, last, n->index[axis]) : n->index[axis];
}

static void run_axis(Cumulative *s) {
    DType dtype = s->node->type->dtype;
    Op op = op_info(s->node->op)->scalar;
    SumNest nest = {.e = &s->e,
                    .dtype = dtype,
                    .plain = op != OP_add || !dtype_is_float(dtype),
                    .rank = 1,
                    .extents = {s->domain.dims[s->axis]},
                    .names = {"k"},
                    .body = run_step,
                    .enter = enter_step,
                    .user = s};
    sum_nest(&nest, emit_identity(&s->e, dtype, op));
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

/* The axis that vectors run along; the rank for none. */
static uint32_t vector_axis(const Cumulative *s) {
    uint32_t rank = s->domain.rank, last = rank - 1, best = rank;
    if (s->request->state == TILE_free) return rank;
    if (s->axis != last) return last;
    for (uint32_t i = 0; i < last && s->request->target->kind == TARGET_gpu; i++)
        if (best == rank ||
            dim_tune_value(s->domain.dims[i]) > dim_tune_value(s->domain.dims[best]))
            best = i;
    return best;
}

static void build(Cumulative *s) {
    ValueEmitter *e = &s->e;
    bool free = s->request->state == TILE_free;
    int64_t lanes = free ? 0 : s->request->target->lanes;
    uint32_t along = vector_axis(s);
    bool vectors = along < s->domain.rank;
    emit_set_shape(e, (TileShape){.rank = 0, .lanes = free ? 0 : 1});
    if (vectors)
        emit_set_shape(e, (TileShape){.rank = 1,
                                      .lanes = (uint32_t)lanes,
                                      .extents = {dim_const(e->ctx, lanes)}});
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (i == s->axis) continue;
        const Dim *extent = s->domain.dims[i];
        if (i == along) extent = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, lanes));
        const Dim *index = domain_add_work(e, "i", extent);
        if (i == along) index = dim_add(e->ctx, dim_scale(e->ctx, index, lanes), emit_axis(e, 0));
        s->domain.index[i] = index;
    }
    if (vectors)
        run_vectors(s, s->domain.dims[along], s->domain.index[along]);
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
