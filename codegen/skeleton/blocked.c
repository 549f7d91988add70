/* A vector of a transposing access touches as many cache lines as it has elements; the next rows
 * along the axis that is contiguous in the source use the rest of those lines. So a grid point is a
 * block of ROWS rows by COLUMNS columns, column vectors outside, rows inside:
 *
 *     work %i… , %b in [D_axis / ROWS], %c in [D_last / COLUMNS] {
 *       for %j in the block's vectors { for %r in the block's rows { element (b·ROWS + r, …, L·j +
 * $0) } } the partial vector at the end, likewise, under a guard }
 *
 * On a GPU the block is one tile of as many rows as lanes, of which the lowering loads columns and
 * turns them round (access_is_transposed); where it reaches past an end, the rows go one by one:
 *
 *     work %i… , %b in [D_axis / 32], %c in [D_last / 32] {
 *       if whole { element (32·b + $0, …, 32·c + $1) }
 *       else { for %r in the block's rows { element (32·b + r, …, 32·c + $0), under a guard } } }
 */
#include "codegen/skeleton/blocked.h"

enum { ROWS = 16, COLUMNS = 64 };

typedef struct Blocked {
    const SkeletonRequest *request;
    PointBody *body;
    ValueEmitter e;
    Domain domain;
    uint32_t axis;
    const Dim *first_row, *row_count;
} Blocked;

/* All rows of the block at the columns of one vector. */
static void emit_rows(Blocked *s, const Dim *column) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "r", dim_const(e->ctx, 0), s->row_count, NULL, 0);
    s->domain.index[s->axis] = dim_add(e->ctx, s->first_row, loop.variable);
    s->domain.index[s->domain.rank - 1] = column;
    e->near_symbol = loop.loop->variable;
    size_t provided = e->provisions.count, mark = emit_guard_mark(e);
    s->body(e, &s->domain, s->request);
    e->provisions.count = provided;
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}

static void emit_tail(Blocked *s, const Dim *first_column, const Dim *whole, const Dim *length) {
    ValueEmitter *e = &s->e;
    const Dim *rest = dim_scale(e->ctx, whole, s->request->target->lanes);
    TileGuard mine = {rest, first_column, dim_offset(e->ctx, first_column, COLUMNS)};
    EmitBranch branch = emit_begin_if(e, &mine, 1);
    size_t mark = emit_guard_mark(e);
    const Dim *column = dim_add(e->ctx, rest, emit_axis(e, 0));
    emit_push_guard(e, column, dim_const(e->ctx, 0), length);
    emit_rows(s, column);
    emit_pop_guards(e, mark);
    emit_else(e, branch, NULL, 0);
    emit_end_if(e, branch, NULL, 0);
}

static void build(Blocked *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    uint32_t last = s->domain.rank - 1;
    int64_t lanes = s->request->target->lanes;
    const Dim *rows = s->domain.dims[s->axis], *length = s->domain.dims[last];
    for (uint32_t i = 0; i < last; i++)
        if (i != s->axis) s->domain.index[i] = domain_add_work(e, "i", s->domain.dims[i]);
    const Dim *b = domain_add_work(e, "b", dim_ceildiv(ctx, rows, dim_const(ctx, ROWS)));
    const Dim *c = domain_add_work(e, "c", dim_ceildiv(ctx, length, dim_const(ctx, COLUMNS)));
    s->first_row = dim_scale(ctx, b, ROWS);
    s->row_count = dim_min(ctx, dim_sub(ctx, rows, s->first_row), dim_const(ctx, ROWS));
    emit_set_shape(
        e, (TileShape){.rank = 1, .extents = {dim_const(ctx, lanes)}, .lanes = (uint32_t)lanes});
    const Dim *whole = dim_floordiv(ctx, length, dim_const(ctx, lanes));
    const Dim *from = dim_scale(ctx, c, COLUMNS / lanes);
    const Dim *to = dim_min(ctx, dim_offset(ctx, from, COLUMNS / lanes), whole);
    EmitLoop loop = emit_begin_for(e, "j", from, to, NULL, 0);
    emit_rows(s, dim_add(ctx, dim_scale(ctx, loop.variable, lanes), emit_axis(e, 0)));
    emit_end_for(e, loop, NULL);
    if (dim_scale(ctx, whole, lanes) != length)
        emit_tail(s, dim_scale(ctx, c, COLUMNS), whole, length);
}

static TileShape vector_shape(const Blocked *s) {
    uint32_t lanes = s->request->target->lanes;
    return (TileShape){.rank = 1, .extents = {dim_const(s->e.ctx, lanes)}, .lanes = lanes};
}

/* The whole block as one tile. */
static void emit_tile(Blocked *s, const Dim *first_column) {
    ValueEmitter *e = &s->e;
    TileShape shape = vector_shape(s);
    shape.rank = 2;
    shape.extents[1] = shape.extents[0];
    emit_set_shape(e, shape);
    e->near_symbol = tile_axis_symbol(e->program, 0, shape.extents[0]);
    s->domain.index[s->axis] = dim_add(e->ctx, s->first_row, emit_axis(e, 0));
    s->domain.index[s->domain.rank - 1] = dim_add(e->ctx, first_column, emit_axis(e, 1));
    size_t mark = emit_guard_mark(e);
    s->body(e, &s->domain, s->request);
    emit_pop_guards(e, mark);
}

/* What there is of it, row by row. */
static void emit_partial(Blocked *s, const Dim *first_column, const Dim *length) {
    ValueEmitter *e = &s->e;
    emit_set_shape(e, vector_shape(s));
    size_t mark = emit_guard_mark(e);
    const Dim *column = dim_add(e->ctx, first_column, emit_axis(e, 0));
    emit_push_guard(e, column, dim_const(e->ctx, 0), length);
    emit_rows(s, column);
    emit_pop_guards(e, mark);
}

static void build_tiles(Blocked *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    uint32_t last = s->domain.rank - 1;
    const Dim *rows = s->domain.dims[s->axis], *length = s->domain.dims[last];
    const Dim *side = dim_const(ctx, s->request->target->lanes), *zero = dim_const(ctx, 0);
    for (uint32_t i = 0; i < last; i++)
        if (i != s->axis) s->domain.index[i] = domain_add_work(e, "i", s->domain.dims[i]);
    s->first_row = dim_mul(ctx, domain_add_work(e, "b", dim_ceildiv(ctx, rows, side)), side);
    s->row_count = dim_min(ctx, dim_sub(ctx, rows, s->first_row), side);
    const Dim *column = dim_mul(ctx, domain_add_work(e, "c", dim_ceildiv(ctx, length, side)), side);
    const Dim *most = dim_offset(ctx, side, -1);
    const TileGuard whole[2] = {{dim_add(ctx, s->first_row, most), zero, rows},
                                {dim_add(ctx, column, most), zero, length}};
    if (dim_proves_lt(ctx, whole[0].value, rows) && dim_proves_lt(ctx, whole[1].value, length)) {
        emit_tile(s, column);
        return;
    }
    EmitBranch branch = emit_begin_if(e, whole, 2);
    emit_tile(s, column);
    emit_else(e, branch, NULL, 0);
    emit_partial(s, column, length);
    emit_end_if(e, branch, NULL, 0);
}

TileProgram *blocked_build(const SkeletonRequest *request, const Type *type, PointBody *body,
                           uint32_t axis, bool *out_reuses, const char **out_why) {
    Blocked s = {.request = request, .body = body, .axis = axis};
    emit_init(&s.e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s.domain.rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++) s.domain.dims[i] = type->dims[i];
    if (request->target->kind == TARGET_gpu)
        build_tiles(&s);
    else
        build(&s);
    *out_why = s.e.error;
    *out_reuses = s.e.slow_accesses > 0 && s.e.near_accesses == s.e.slow_accesses;
    return s.e.error == NULL ? s.e.program : NULL;
}
