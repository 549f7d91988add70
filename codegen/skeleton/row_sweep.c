/* The loops over a row: one for each reduced axis, but the trailing ones merged and in vectors.
 *
 * Float sums of many steps are made in blocks (sums.h), each from zero and added up. */
#include "codegen/skeleton/row.h"
#include "codegen/skeleton/sums.h"

static void set_position(Row *s, const Dim *position) {
    emit_delinear(&s->e, s->domain.rank - s->tail, s->domain.dims + s->tail, position,
                  s->domain.index + s->tail);
}

/* What one step of a loop over `k` does, with the accumulators as they are then. */
typedef struct Steps {
    void (*body)(Row *s, const struct Steps *steps, const Dim *k, Accumulators *acc);
    uint32_t axis, stage;
    SweepBody *sweep;
    uint32_t unroll;
} Steps;

static void set_values(Accumulators *acc, TileId first) {
    for (uint32_t i = 0; i < acc->count; i++) acc->values[i] = first + i;
}

static void loop_steps(Row *s, const Steps *steps, const Dim *from, const Dim *to,
                       Accumulators *acc) {
    EmitLoop loop = emit_begin_for(&s->e, "k", from, to, acc->values, acc->count);
    set_values(acc, loop.loop->carried);
    steps->body(s, steps, loop.variable, acc);
    if (steps->unroll > 0) loop.loop->unroll = emit_unroll(&loop, steps->unroll);
    set_values(acc, emit_end_for(&s->e, loop, acc->values));
}

/* The steps from..to in blocks of `level` - 1 and below. */
static void loop_level(Row *s, const Steps *steps, const SumCut *cut, uint32_t level,
                       const Dim *from, const Dim *to, Accumulators *acc) {
    if (level == 0) {
        loop_steps(s, steps, from, to, acc);
        return;
    }
    IrContext *ctx = s->e.ctx;
    const Dim *size = dim_const(ctx, cut->sizes[level - 1]);
    const Dim *count = dim_ceildiv(ctx, dim_sub(ctx, to, from), size);
    EmitLoop loop = emit_begin_for(&s->e, "b", dim_const(ctx, 0), count, acc->values, acc->count);
    set_values(acc, loop.loop->carried);
    Accumulators block = row_begin_block(s, acc);
    const Dim *begin = dim_add(ctx, from, dim_mul(ctx, loop.variable, size));
    loop_level(s, steps, cut, level - 1, begin, sum_block_end(ctx, cut, level - 1, begin, to),
               &block);
    row_end_block(s, &block, acc);
    set_values(acc, emit_end_for(&s->e, loop, acc->values));
}

/* A loop over 0..extent, in blocks where sums would be long. */
static void loop_in_blocks(Row *s, const Steps *steps, const Dim *extent, Accumulators *acc) {
    int64_t chain = 1;
    SumCut cut = {0};
    if (row_has_sums(acc)) cut = sum_cut(extent->hi, &chain);
    loop_level(s, steps, &cut, cut.levels, dim_const(s->e.ctx, 0), extent, acc);
}

static void step_vector(Row *s, const Steps *steps, const Dim *k, Accumulators *acc) {
    size_t mark = emit_guard_mark(&s->e);
    const Dim *first = dim_scale(s->e.ctx, k, s->request->target->lanes);
    set_position(s, dim_add(s->e.ctx, first, row_lane_axis(s)));
    steps->sweep(s, steps->stage, emit_guard_mark(&s->e), acc);
    emit_pop_guards(&s->e, mark);
}

/* The merged axes in vectors: whole ones, then the partial one under a guard. */
static void sweep_vectors(Row *s, uint32_t stage, SweepBody *body, Accumulators *acc) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = s->request->target->lanes;
    const Dim *length = domain_extent(ctx, s->domain.dims, s->tail, s->domain.rank);
    const Dim *whole = dim_floordiv(ctx, length, dim_const(ctx, lanes));
    Steps steps = {.body = step_vector,
                   .stage = stage,
                   .sweep = body,
                   .unroll = (uint32_t)s->request->schedule.unroll};
    if (!dim_equals_int(whole, 0)) loop_in_blocks(s, &steps, whole, acc);
    const Dim *rest = dim_scale(ctx, whole, lanes);
    if (rest == length) return;
    size_t mark = emit_guard_mark(e), scope = emit_scope(e);
    const Dim *position = dim_add(ctx, rest, row_lane_axis(s));
    emit_push_guard(e, position, dim_const(ctx, 0), length);
    set_position(s, position);
    body(s, stage, mark, acc);
    emit_pop_guards(e, mark);
    emit_end_scope(e, scope);
}

static void sweep_axes(Row *s, uint32_t axis, uint32_t stage, SweepBody *body, Accumulators *acc);

/* Steps of the loops over the reduced axes from `axis` on, at most. */
static int64_t most_steps(const Row *s, uint32_t axis) {
    const Dim *steps = dim_const(s->e.ctx, 1);
    for (uint32_t i = axis; i < s->domain.rank; i++)
        if (s->reduced[i]) steps = dim_mul(s->e.ctx, steps, s->domain.dims[i]);
    return s->column ? steps->hi : steps->hi / s->request->target->lanes;
}

/* The axes inside, whose sums are a block of their own where there are many steps. */
static void step_axis(Row *s, const Steps *steps, const Dim *k, Accumulators *acc) {
    uint32_t axis = steps->axis;
    s->domain.index[axis] = k;
    bool innermost = most_steps(s, axis + 1) <= 1;
    if (innermost || most_steps(s, axis) <= SUM_BLOCK || !row_has_sums(acc)) {
        sweep_axes(s, axis + 1, steps->stage, steps->sweep, acc);
        return;
    }
    Accumulators block = row_begin_block(s, acc);
    sweep_axes(s, axis + 1, steps->stage, steps->sweep, &block);
    row_end_block(s, &block, acc);
}

/* Reduced axes from `axis` on, outermost first; the merged ones in vectors. */
static void sweep_axes(Row *s, uint32_t axis, uint32_t stage, SweepBody *body, Accumulators *acc) {
    uint32_t end = s->column ? s->domain.rank : s->tail;
    while (axis < end && !s->reduced[axis]) axis++;
    if (axis == end) {
        if (s->column)
            body(s, stage, emit_guard_mark(&s->e), acc);
        else
            sweep_vectors(s, stage, body, acc);
        return;
    }
    Steps steps = {.body = step_axis, .axis = axis, .stage = stage, .sweep = body};
    loop_in_blocks(s, &steps, s->domain.dims[axis], acc);
}

void row_sweep(Row *s, uint32_t stage, SweepBody *body, Accumulators *acc) {
    sweep_axes(s, 0, stage, body, acc);
}
