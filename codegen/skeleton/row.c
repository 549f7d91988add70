/* Row kernels: reductions over one set of axes, with everything elementwise before, between and
 * after them, one row (one setting of the other axes) a grid point.
 *
 * Reductions are layered in stages: one of stage 1 depends on no other, one of stage s+1 on some of
 * stage s. Each stage is one sweep over the row, that makes all its reductions at once; a last
 * sweep stores what is as large as the row. Softmax: sweep 1 the maximum, sweep 2 exp and its sum,
 * sweep 3 the quotient. A value that is dear to compute (exp) and needed in a later sweep is kept
 * in scratch, so that it is computed once; the inputs are read again, from the cache that holds the
 * row.
 *
 * Where the last axis is reduced, vectors run along the row: `lanes` partial results an
 * accumulator, folded by halves at the end, so the order of the sum is fixed by the row's length
 * alone. Where it is not (column form), vectors run along the last axis, each lane has a row of its
 * own, and sums are in plain order. A row of at most SHORT_ROW elements is one tile in registers
 * and needs no loops.
 */
#include "codegen/skeleton/row.h"
#include "base/guard.h"
#include "codegen/skeleton/facts.h"

#include <math.h>

enum { SHORT_ROW = 64 };

/* ---- what is reduced over what --------------------------------------------------------------- */

bool row_is_reduction(Op op) {
    OpClass class = op_info(op)->class;
    return class == CLASS_REDUCE || class == CLASS_ARGREDUCE;
}

void row_mark_axes(const Node *node, bool *out_reduced) {
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) out_reduced[i] = false;
    if (op_info(node->op)->class == CLASS_ARGREDUCE) {
        out_reduced[node_attr(node, "axis").i] = true;
        return;
    }
    const IntList *axes = node_attr(node, "axes").ints;
    for (uint32_t i = 0; i < axes->count; i++) out_reduced[axes->items[i]] = true;
}

/* All reductions must be over the same axes of operands of the same dims. */
static void add_reduction(Row *s, NodeId id) {
    const Graph *g = s->request->region;
    const Node *node = graph_node(g, id);
    const Type *type = graph_type(g, node->args[0]);
    bool reduced[TYPE_MAX_RANK];
    row_mark_axes(node, reduced);
    if (s->reductions.count == 0) {
        s->domain.rank = type->rank;
        for (uint32_t i = 0; i < type->rank; i++) {
            s->domain.dims[i] = type->dims[i];
            s->reduced[i] = reduced[i];
        }
    }
    bool same = s->domain.rank == type->rank;
    for (uint32_t i = 0; same && i < type->rank; i++)
        same = s->domain.dims[i] == type->dims[i] && s->reduced[i] == reduced[i];
    if (!same) emit_fail(&s->e, "reductions over different axes or of different dims");
    vec_push(s->e.arena, &s->reductions, id);
}

static void analyse(Row *s) {
    const Graph *g = s->request->region;
    s->stage = NEW_ARRAY(s->e.arena, uint32_t, g->nodes.count);
    s->ignores_nan = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; i < node->arg_count; i++)
            if (s->stage[node->args[i]] > s->stage[id]) s->stage[id] = s->stage[node->args[i]];
        if (!row_is_reduction(node->op)) continue;
        add_reduction(s, id);
        s->ignores_nan[id] = node->op == OP_reduce_max && dtype_is_float(node->type->dtype) &&
                             facts_nan_returns(g, id, s->e.arena);
        s->stage[id]++;
        if (s->stage[id] > s->stage_count) s->stage_count = s->stage[id];
    }
    if (s->reductions.count == 0) emit_fail(&s->e, "there is no reduction");
    s->column = s->domain.rank > 0 && !s->reduced[s->domain.rank - 1];
    s->tail = s->domain.rank;
    while (s->tail > 0 && s->reduced[s->tail - 1]) s->tail--;
}

/* The last axis that stays; the rank when none does. */
static uint32_t last_kept(const Row *s) {
    for (uint32_t i = s->domain.rank; i-- > 0;)
        if (!s->reduced[i]) return i;
    return s->domain.rank;
}

const Dim *row_lane_axis(Row *s) { return emit_axis(&s->e, s->pairs ? 1 : 0); }

/* The grid: all axes that stay, the last one in vectors in column form. Leaves the outer domain's
 * index. */
static void add_grid(Row *s) {
    IrContext *ctx = s->e.ctx;
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (s->reduced[i]) continue;
        const Dim *extent = s->domain.dims[i];
        bool vectors = s->column && i + 1 == s->domain.rank && s->request->state == TILE_placed;
        if (vectors) extent = dim_ceildiv(ctx, extent, dim_const(ctx, s->request->target->lanes));
        if (s->pairs && i == last_kept(s)) extent = dim_floordiv(ctx, extent, dim_const(ctx, 2));
        const Dim *index = domain_add_work(&s->e, "r", extent);
        if (vectors)
            index =
                dim_add(ctx, dim_scale(ctx, index, s->request->target->lanes), emit_axis(&s->e, 0));
        if (s->pairs && i == last_kept(s))
            index = dim_add(ctx, dim_scale(ctx, index, 2), emit_axis(&s->e, 0));
        s->domain.index[i] = index;
        s->outer.dims[s->outer.rank] = s->domain.dims[i];
        s->outer.index[s->outer.rank++] = index;
    }
}

const Dim *row_length(const Row *s) {
    const Dim *length = dim_const(s->e.ctx, 1);
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) length = dim_mul(s->e.ctx, length, s->domain.dims[i]);
    return length;
}

/* ---- what sweeps do -------------------------------------------------------------------------- */

static void reduce_body(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
    row_step(s, stage, mark, acc);
    row_store_kept(s);
}

static void store_body(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
    (void)stage, (void)mark, (void)acc;
    for (uint32_t i = 0; i < s->request->region->outputs.count; i++) {
        NodeId base = domain_base(s->request->region, s->request->region->outputs.data[i].node);
        if (!domain_fits(s->e.ctx, &s->outer, graph_type(s->request->region, base)))
            domain_store(&s->e, &s->domain, i, s->streaming);
    }
}

/* Outputs with one element a row; whether there are any as large as the row. */
static bool store_small_outputs(Row *s, const TileShape *small) {
    const Graph *g = s->request->region;
    bool any_large = false;
    TileShape shape = s->e.shape;
    __typeof__(s->e.guards) guards = s->e.guards;
    emit_set_shape(&s->e, *small);
    /* Those of the row are about its elements; they stay as they are for its own outputs. */
    if (small->rank == 0) s->e.guards = (__typeof__(s->e.guards)){0};
    for (uint32_t i = 0; i < g->outputs.count; i++) {
        const Type *type = graph_type(g, domain_base(g, g->outputs.data[i].node));
        if (domain_fits(s->e.ctx, &s->outer, type))
            domain_store(&s->e, &s->outer, i, false);
        else if (domain_fits(s->e.ctx, &s->domain, type))
            any_large = true;
        else
            emit_fail(&s->e, "an output is neither as large as the row nor one element of it");
    }
    emit_set_shape(&s->e, shape);
    s->e.guards = guards;
    return any_large;
}

/* ---- the forms ------------------------------------------------------------------------------- */

/* The indices of all reduced axes from one position over them. */
static void set_reduced(Row *s, const Dim *position) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) dims[count++] = s->domain.dims[i];
    emit_delinear(&s->e, count, dims, position, index);
    count = 0;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) s->domain.index[i] = index[count++];
}

/* All axes of the row as one tile: free programs, and short rows in registers. */
static void build_whole(Row *s, uint32_t lanes) {
    TileShape shape = {.lanes = lanes}, small = {.lanes = lanes == 0 ? 0 : 1};
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    const Dim *length = row_length(s);
    shape.rank = 1;
    shape.extents[0] = length;
    if (lanes > 0)
        shape.extents[0] =
            dim_scale(e->ctx, dim_ceildiv(e->ctx, length, dim_const(e->ctx, lanes)), lanes);
    emit_set_shape(e, shape);
    const Dim *position = emit_axis(e, 0);
    emit_push_guard(e, position, dim_const(e->ctx, 0), length);
    set_reduced(s, position);
    for (uint32_t stage = 1; stage <= s->stage_count && e->error == NULL; stage++) {
        Accumulators acc = row_start(s, stage);
        row_step(s, stage, mark, &acc);
        row_finish(s, stage, &acc);
    }
    if (e->error == NULL && store_small_outputs(s, &small)) store_body(s, 0, mark, NULL);
    emit_pop_guards(e, mark);
}

/* The last sweep that stores nothing asks for the next rows: while the stores of the sweep behind
 * it leave the caches, reading would only be in their way. */
static int64_t bytes_ahead(const Row *s, uint32_t stage) {
    enum { LONGEST = 1 << 17 };
    int64_t wanted = s->request->schedule.ahead;
    if (wanted == 0 || s->column || stage != s->stage_count) return 0;
    int64_t row = 4 * dim_tune_value(row_length(s));
    if (row <= 0 || row > LONGEST) return wanted;
    return (wanted + row - 1) / row * row;
}

static void build_sweeps(Row *s) {
    TileShape small = {.lanes = 1};
    if (s->column) small = s->e.shape;
    if (s->pairs) small = (TileShape){.rank = 1, .lanes = 1, .extents = {s->e.shape.extents[0]}};
    for (uint32_t stage = 1; stage <= s->stage_count && s->e.error == NULL; stage++) {
        row_keep(s, stage);
        Accumulators acc = row_start(s, stage);
        s->e.ahead = bytes_ahead(s, stage);
        row_sweep(s, stage, reduce_body, &acc);
        s->e.ahead = 0;
        row_finish(s, stage, &acc);
        row_provide_kept(s);
    }
    Accumulators none = {0};
    if (s->e.error == NULL && store_small_outputs(s, &small)) row_sweep(s, 0, store_body, &none);
}

/* Column form in vectors: whole ones without guards, the last partial one with them. */
static void build_column(Row *s) {
    ValueEmitter *e = &s->e;
    const Dim *length = s->domain.dims[s->domain.rank - 1];
    const Dim *position = s->domain.index[s->domain.rank - 1];
    if (dim_proves_lt(e->ctx, position, length)) {
        build_sweeps(s);
        return;
    }
    const Dim *base = dim_sub(e->ctx, position, emit_axis(e, 0));
    const Dim *last = dim_offset(e->ctx, base, s->request->target->lanes - 1);
    TileGuard whole = {last, dim_const(e->ctx, 0), length};
    size_t provided = e->provisions.count, mark = emit_guard_mark(e);
    EmitBranch branch = emit_begin_if(e, &whole, 1);
    build_sweeps(s);
    e->provisions.count = provided;
    emit_else(e, branch, NULL, 0);
    emit_push_guard(e, position, dim_const(e->ctx, 0), length);
    build_sweeps(s);
    emit_pop_guards(e, mark);
    emit_end_if(e, branch, NULL, 0);
}

static bool is_short(const Row *s) {
    int64_t length;
    return dim_is_const(row_length(s), &length) && length <= SHORT_ROW && length > 0 &&
           s->tail + 1 <= s->domain.rank;
}

/* Two rows at once are two sums that do not wait for each other. It pays where little else is done
 * and while both rows stay in the second cache, but not where stores bypass the caches: those would
 * go back and forth between places that are near. */
static bool takes_pairs(const Row *s) {
    enum { LEAST_ROWS = 32 };
    const SkeletonRequest *request = s->request;
    bool in_rows = request->state == TILE_placed && !s->streaming &&
                   request->target->kind == TARGET_cpu && !s->column && !is_short(s) &&
                   last_kept(s) < s->domain.rank;
    if (!in_rows) return false;
    const Dim *rows = s->domain.dims[last_kept(s)];
    if (!dim_proves_divisible(rows, 2) || dim_tune_value(rows) < LEAST_ROWS) return false;
    if (16 * dim_tune_value(row_length(s)) > request->target->l2_bytes) return false;
    for (NodeId id = 0; id < request->region->nodes.count; id++) {
        const Node *node = graph_node(request->region, id);
        if (op_info(node->op)->class == CLASS_ARGREDUCE) return false;
        if (row_is_dear(node) && row_is_sized(s, id)) return false;
    }
    return true;
}

/* What tiles are made of while the row is swept. */
static TileShape sweep_shape(const Row *s) {
    const Dim *lanes = dim_const(s->e.ctx, s->request->target->lanes);
    TileShape shape = {.rank = 1, .lanes = s->request->target->lanes, .extents = {lanes}};
    if (s->pairs) {
        shape.rank = 2;
        shape.extents[0] = dim_const(s->e.ctx, 2);
        shape.extents[1] = lanes;
    }
    return shape;
}

static TileProgram *build(const SkeletonRequest *request, const char **out_why) {
    Row row = {.request = request}, *s = &row;
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s->streaming = request->schedule.streaming == 2;
    analyse(s);
    if (s->e.error == NULL) {
        bool placed = request->state == TILE_placed;
        s->pairs = takes_pairs(s);
        if (placed) emit_set_shape(&s->e, sweep_shape(s));
        add_grid(s);
        if (!placed)
            build_whole(s, 0);
        else if (s->column)
            build_column(s);
        else if (is_short(s))
            build_whole(s, request->target->lanes);
        else
            build_sweeps(s);
    }
    *out_why = s->e.error;
    return s->e.error == NULL ? s->e.program : NULL;
}

/* The axes that stay, at an index that others have found. */
static void set_outer(Row *s, const Dim *const *index) {
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (s->reduced[i]) continue;
        s->domain.index[i] = index[i];
        s->outer.dims[s->outer.rank] = s->domain.dims[i];
        s->outer.index[s->outer.rank++] = index[i];
    }
}

void row_build_inside(const SkeletonRequest *request, ValueEmitter *e, const Dim *const *index) {
    enum { UNROLL = 4 };
    SkeletonRequest own = *request;
    own.schedule = (Schedule){.unroll = UNROLL};
    Row row = {.request = &own, .e = *e}, *s = &row;
    analyse(s);
    set_outer(s, index);
    if (own.state == TILE_placed) emit_set_shape(&s->e, sweep_shape(s));
    if (s->e.error == NULL && own.state == TILE_free)
        build_whole(s, 0);
    else if (s->e.error == NULL && is_short(s))
        build_whole(s, own.target->lanes);
    else if (s->e.error == NULL)
        build_sweeps(s);
    *e = s->e;
}

/* The elements of a row, at the dims' tune values, where the last axis is reduced; else 0. */
static int64_t tuned_length(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (!row_is_reduction(node->op)) continue;
        const Type *type = graph_type(g, node->args[0]);
        bool reduced[TYPE_MAX_RANK];
        double length = 1;
        row_mark_axes(node, reduced);
        for (uint32_t i = 0; i < type->rank; i++)
            if (reduced[i]) length *= (double)dim_tune_value(type->dims[i]);
        return type->rank > 0 && reduced[type->rank - 1] ? (int64_t)fmin(length, INT32_MAX) : 0;
    }
    return 0;
}

/* On a GPU a long row is a block's. How many threads that has follows from the row alone, as the
 * order of the sums does. */
TileProgram *skeleton_build_row(const SkeletonRequest *request, const char **out_why) {
    enum { LONG_ROW = 1024, BLOCK_LANES = 256 };
    SkeletonRequest own = *request;
    Target target = *request->target;
    bool placed = request->state == TILE_placed;
    if (placed && target.kind == TARGET_gpu && tuned_length(request->region) >= LONG_ROW)
        target.lanes = BLOCK_LANES;
    own.target = &target;
    return build(&own, out_why);
}
