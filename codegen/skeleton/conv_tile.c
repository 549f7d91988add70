/* The sums of a register tile: over the taps in row-major order and, innermost, the channels. */
#include "codegen/skeleton/conv_tile.h"

/* Of one axis, laid out one after the other: nothing but additions is between them. */
enum { SPREAD_TAPS = 5 };

/* Row and column of the tile's pixels ($0) in the block. */
static void set_pixels(const ConvTile *tile, const Dim **out_row, const Dim **out_column) {
    ValueEmitter *e = &tile->t->s->e;
    const Dim *pixel = emit_axis(e, 0), *width = dim_const(e->ctx, tile->columns);
    bool one = tile->rows == 1;
    *out_row = one ? tile->row : dim_add(e->ctx, tile->row, dim_floordiv(e->ctx, pixel, width));
    *out_column = dim_add(e->ctx, tile->column, one ? pixel : dim_mod(e->ctx, pixel, width));
}

void conv_tile_set_results(const ConvTile *tile) {
    Conv *s = tile->t->s;
    IrContext *ctx = s->e.ctx;
    const Dim *row, *column;
    set_pixels(tile, &row, &column);
    s->domain.index[1 + s->spatial] = dim_add(ctx, tile->t->first[1], column);
    if (s->spatial > 1) s->domain.index[s->spatial] = dim_add(ctx, tile->t->first[0], row);
}

/* ---- operands -------------------------------------------------------------------------------- */

const Dim *conv_tile_channel(const ConvTiles *t, uint32_t axis) {
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    const Dim *position = dim_add(e->ctx, t->panel, emit_axis(e, axis));
    if (t->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), t->limit);
    return t->plan.spread ? position : conv_output_channel(s, e->ctx, position);
}

static TileId read_panel(const ConvTiles *t) {
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    conv_set_shape(e, 1, t->plan.nr, 0, s->request->target->lanes);
    s->w_index[0] = conv_tile_channel(t, 0);
    TileId b = conv_as_sum(s, e, emit_value(e, s->node->args[1], s->w_index));
    emit_pop_guards(e, mark);
    return b;
}

static TileId read_given(const ConvTile *tile) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    if (tile->t->plan.spread) s->x_index[1] = conv_tile_channel(tile->t, 1);
    conv_tile_set_results(tile);
    for (uint32_t i = 0; i < s->spatial; i++) {
        s->x_index[2 + i] = conv_tap_position(s, e, i, s->domain.index[2 + i]);
        if (tile->guarded)
            emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    }
    TileId a = conv_read_x(s, e, mark);
    emit_pop_guards(e, mark);
    return a;
}

/* A number a pixel, or a vector of the panel's lanes. */
static TileId read_pixels(const ConvTile *tile) {
    const ConvTiles *t = tile->t;
    ValueEmitter *e = &t->s->e;
    const Dim *row, *column, *lane = NULL;
    if (t->plan.spread)
        conv_set_shape(e, 2, conv_tile_pixels(tile), t->plan.nr, t->s->request->target->lanes);
    else
        conv_set_shape(e, 1, conv_tile_pixels(tile), 0, 1);
    if (!t->plan.copies) return read_given(tile);
    if (t->plan.spread)
        lane = dim_add(e->ctx, dim_sub(e->ctx, t->panel, t->copy.channel), emit_axis(e, 1));
    set_pixels(tile, &row, &column);
    return conv_copy_read(&t->copy, row, column, lane);
}

/* ---- the next panel of weights --------------------------------------------------------------- */

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The tile's number among those of the block, and how many these are. */
static const Dim *tile_number(const ConvTile *tile, int64_t *out_count) {
    const ConvPlan *plan = &tile->t->plan;
    IrContext *ctx = tile->t->s->e.ctx;
    int64_t across = ceil_div(plan->block_columns, plan->columns);
    *out_count = across * ceil_div(plan->block_rows, plan->rows);
    const Dim *down = dim_floordiv(ctx, tile->row, dim_const(ctx, plan->rows));
    const Dim *number = dim_floordiv(ctx, tile->column, dim_const(ctx, plan->columns));
    return dim_add(ctx, dim_scale(ctx, down, across), number);
}

/* The step of the tile's sum at the tap of w_index, and how many these are. */
static const Dim *step_number(const ConvTile *tile, const Dim *channel, const Dim **out_count) {
    const Conv *s = tile->t->s;
    IrContext *ctx = s->e.ctx;
    const Dim *step = dim_const(ctx, 0);
    *out_count = s->channels;
    for (uint32_t i = 2; i < s->spatial + 2; i++) {
        step = dim_add(ctx, dim_mul(ctx, step, s->w->dims[i]), s->w_index[i]);
        *out_count = dim_mul(ctx, *out_count, s->w->dims[i]);
    }
    return dim_add(ctx, dim_mul(ctx, step, s->channels), channel);
}

/* Each tile asks for an equal part of the next panel, which is packed: one row of elements. */
static void ask_for_next_panel(const ConvTile *tile, const Dim *channel) {
    Conv *s = tile->t->s;
    IrContext *ctx = s->e.ctx;
    const ConvPlan *plan = &tile->t->plan;
    bool packed = graph_node(s->request->region, s->node->args[1])->op != OP_input;
    if (!plan->asks || !packed || tile->t->partial) return;
    int64_t tiles = 0;
    const Dim *steps, *first[TYPE_MAX_RANK], *number = tile_number(tile, &tiles);
    const Dim *step = step_number(tile, channel, &steps);
    const Dim *at = dim_add(ctx, dim_mul(ctx, number, steps), step);
    for (uint32_t i = 1; i < s->spatial + 2; i++) first[i] = dim_const(ctx, 0);
    first[0] = conv_output_channel(s, ctx, dim_offset(ctx, tile->t->panel, plan->nr));
    conv_set_shape(&s->e, 1, 1, 0, 1);
    s->e.ask = dim_scale(ctx, at, ceil_div(plan->nr, tiles));
    emit_value(&s->e, s->node->args[1], first);
    s->e.ask = NULL;
}

/* ---- a step and all steps -------------------------------------------------------------------- */

static TileId add_products(const ConvTile *tile, TileId acc, TileId a, TileId b) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    if (a == TILE_none || b == TILE_none) return acc;
    if (tile->t->plan.spread)
        b = tile_move(&e->b, emit_type(e, emit_sum_dtype(e, s->id)), b, (uint32_t[]){1});
    return tile_dot(&e->b, acc, a, b);
}

static TileId add_step(SumNest *n, TileId acc) {
    const ConvTile *tile = n->user;
    Conv *s = tile->t->s;
    const Dim *channel = n->index[0];
    if (tile->t->merged) {
        s->w_index[1 + s->spatial] = dim_floordiv(n->e->ctx, channel, s->channels);
        channel = dim_mod(n->e->ctx, channel, s->channels);
    }
    conv_set_channel(s, n->e->ctx, channel);
    TileId b = read_panel(tile->t);
    ask_for_next_panel(tile, channel);
    return add_products(tile, acc, read_pixels(tile), b);
}

static SumNest nest_of(ConvTile *tile, SumBody *body) {
    Conv *s = tile->t->s;
    DType dtype = emit_sum_dtype(&s->e, s->id);
    return (SumNest){
        .e = &s->e, .dtype = dtype, .plain = !dtype_is_float(dtype), .body = body, .user = tile};
}

static const Dim *inner_extent(const ConvTiles *t) {
    Conv *s = t->s;
    return t->merged ? dim_mul(s->e.ctx, s->channels, s->w->dims[1 + s->spatial]) : s->channels;
}

/* Steps laid out in a row; more take registers from the sums. A number that divides them all leaves
 * no rest. */
static uint32_t unroll_of(const Dim *steps) {
    int64_t count = 0;
    return dim_is_const(steps, &count) && count % 4 != 0 && count % 3 == 0 ? 3 : 4;
}

/* One tap over all input channels, or a row of taps. */
static TileId sum_channels(ConvTile *tile, TileId acc, bool guarded) {
    ConvTiles *t = tile->t;
    SumNest nest = nest_of(tile, add_step);
    nest.rank = 1;
    nest.extents[0] = inner_extent(t);
    nest.names[0] = "c";
    nest.unroll = t->plan.spread ? 1 : unroll_of(nest.extents[0]);
    tile->guarded = guarded;
    conv_set_shape(&t->s->e, 2, conv_tile_pixels(tile), t->plan.nr, t->s->request->target->lanes);
    return sum_nest(&nest, acc);
}

/* The conditions under which no pixel of a tile of one row leaves x at this tap; those that are
 * proved are left out. */
static uint32_t inside_guards(const ConvTile *tile, TileGuard *guards) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    uint32_t count = 0, last = s->spatial - 1;
    const Dim *zero = dim_const(e->ctx, 0);
    const Dim *column = dim_add(e->ctx, tile->t->first[1], tile->column);
    if (last > 0) s->domain.index[1 + last] = dim_add(e->ctx, tile->t->first[0], tile->row);
    for (uint32_t i = 0; i < s->spatial; i++) {
        const Dim *at = i < last ? s->domain.index[2 + i] : column, *extent = s->x->dims[2 + i];
        const Dim *first = conv_tap_position(s, e, i, at), *final = first;
        if (i == last)
            final = conv_tap_position(s, e, i, dim_offset(e->ctx, at, conv_tile_pixels(tile) - 1));
        bool above = dim_proves_le(e->ctx, zero, first),
             below = dim_proves_lt(e->ctx, final, extent);
        if (!above || !below) guards[count++] = (TileGuard){first, zero, extent};
        if (final != first && !below) guards[count++] = (TileGuard){final, zero, extent};
    }
    return count;
}

static TileId sum_tap(SumNest *n, TileId acc) {
    ConvTile *tile = n->user;
    TileGuard guards[2 * TYPE_MAX_RANK];
    uint32_t count = 0;
    if (!tile->t->plan.copies && tile->rows == 1) count = inside_guards(tile, guards);
    if (count == 0) return sum_channels(tile, acc, false);
    EmitBranch branch = emit_begin_if(n->e, guards, count);
    TileId inside = sum_channels(tile, acc, false);
    emit_else(n->e, branch, &inside, 1);
    TileId edge = sum_channels(tile, acc, true);
    return emit_end_if(n->e, branch, &edge, 1);
}

static void enter_tap(SumNest *n, uint32_t axis) {
    const ConvTile *tile = n->user;
    tile->t->s->w_index[2 + axis] = n->index[axis];
}

/* ---- the sum of a channel a lane, where x is read where it is -------------------------------- */

static TileId add_tap(SumNest *n, TileId acc) {
    ConvTile *tile = n->user;
    Conv *s = tile->t->s;
    s->w_index[1 + s->spatial] = n->index[0];
    s->w_index[1] = dim_const(n->e->ctx, 0);
    TileId b = read_panel(tile->t);
    if (tile->guarded) return add_products(tile, acc, read_pixels(tile), b);
    conv_set_shape(n->e, 2, conv_tile_pixels(tile), tile->t->plan.nr, s->request->target->lanes);
    return add_products(tile, acc, emit_identity(n->e, emit_sum_dtype(n->e, s->id), OP_add), b);
}

/* The taps of a row, whose pixels lie inside x along all axes but the last, or outside. */
static TileId sum_row(ConvTile *tile, TileId acc, bool inside) {
    Conv *s = tile->t->s;
    SumNest nest = nest_of(tile, add_tap);
    nest.rank = 1;
    nest.extents[0] = s->w->dims[1 + s->spatial];
    nest.names[0] = "t";
    nest.unroll = SPREAD_TAPS;
    tile->guarded = inside;
    return sum_nest(&nest, acc);
}

static TileId sum_row_of_taps(SumNest *n, TileId acc) {
    ConvTile *tile = n->user;
    Conv *s = tile->t->s;
    TileGuard guards[TYPE_MAX_RANK];
    uint32_t count = 0;
    const Dim *zero = dim_const(n->e->ctx, 0);
    conv_tile_set_results(tile);
    for (uint32_t i = 0; i + 1 < s->spatial; i++) {
        const Dim *at = conv_tap_position(s, n->e, i, s->domain.index[2 + i]);
        const Dim *extent = s->x->dims[2 + i];
        if (!dim_proves_le(n->e->ctx, zero, at) || !dim_proves_lt(n->e->ctx, at, extent))
            guards[count++] = (TileGuard){at, zero, extent};
    }
    if (count == 0) return sum_row(tile, acc, true);
    EmitBranch branch = emit_begin_if(n->e, guards, count);
    TileId inside = sum_row(tile, acc, true);
    emit_else(n->e, branch, &inside, 1);
    TileId outside = sum_row(tile, acc, false);
    return emit_end_if(n->e, branch, &outside, 1);
}

static TileId sum_rows_of_taps(ConvTile *tile, TileId acc) {
    Conv *s = tile->t->s;
    SumNest nest = nest_of(tile, sum_row_of_taps);
    sum_cut(s->w->dims[1 + s->spatial]->hi, &nest.chain);
    nest.enter = enter_tap;
    nest.rank = s->spatial - 1;
    nest.unroll = nest.outer_unroll = SPREAD_TAPS;
    for (uint32_t i = 0; i < nest.rank; i++) {
        nest.extents[i] = s->w->dims[2 + i];
        nest.names[i] = "t";
    }
    return sum_nest(&nest, acc);
}

/* ---- all of a tile --------------------------------------------------------------------------- */

TileId conv_tile_sum(ConvTile *tile, TileId acc) {
    Conv *s = tile->t->s;
    if (tile->t->plan.spread && !tile->t->plan.copies) return sum_rows_of_taps(tile, acc);
    SumNest nest = nest_of(tile, sum_tap);
    sum_cut(inner_extent(tile->t)->hi, &nest.chain);
    nest.enter = enter_tap;
    nest.rank = s->spatial - tile->t->merged;
    if (tile->t->plan.spread) nest.unroll = nest.outer_unroll = SPREAD_TAPS;
    for (uint32_t i = 0; i < nest.rank; i++) {
        nest.extents[i] = s->w->dims[2 + i];
        nest.names[i] = "t";
    }
    return sum_nest(&nest, acc);
}
