/* Convolutions in register tiles: pixels (scalars of x) by output channels (vectors of w), summed
 * over the taps in row-major order and, innermost, over the channels; in blocks (sums.h) where
 * these are many. So a convolution is a contraction whose rows of x overlap:
 *
 *     work %g, %panels, %n, %y… (leading spatial axes), %row block, %column block {
 *       copy the pixels that the block reads, channels-last, with its padding     (conv_copy.c)
 *       for each panel of nr output channels {
 *         for tiles of rows × columns pixels {
 *           acc[pixels, nr] = for each tap { for %c { dot } }
 *           epilogue(acc) -> store } } }
 *
 * The copy has the zeros of the padding in it, so nothing in the sum asks where the border is, and
 * a pixel of a tile lies a constant distance behind its neighbour. It stays in the second cache and
 * is read once a tap and panel, where making it costs one pass. x is read where it is if it needs
 * no padding. On GPUs, whose scratch is memory like any other, taps whose pixels may lie outside
 * are guarded instead.
 */
#include "codegen/skeleton/conv_copy.h"

/* Of one axis, laid out one after the other: nothing but additions is between them. */
enum { SPREAD_TAPS = 5 };

typedef struct Tiles {
    Conv *s;
    ConvPlan plan;
    ConvCopy copy;
    const Dim *first[2]; /* row and column of the result where the block begins */
    const Dim *limit;    /* output channels of the group; of all where panels go across groups */
    const Dim *first_panel;
    const Dim *panel; /* the first output channel of the panel at hand */
    bool partial;     /* that panel may reach past the limit */
    bool merged;      /* the last spatial axis and the channels are one loop */
} Tiles;

/* A tile at a row and a column of its block. */
typedef struct Tile {
    Tiles *t;
    const Dim *row, *column;
    int64_t rows, columns;
    bool cut;     /* pixels of it may lie outside the result */
    bool guarded; /* … outside x, and x is read where it is */
} Tile;

static int64_t pixels(const Tile *tile) { return tile->rows * tile->columns; }

/* Row and column of the tile's pixels ($0) in the block. */
static void set_pixels(const Tile *tile, const Dim **out_row, const Dim **out_column) {
    ValueEmitter *e = &tile->t->s->e;
    const Dim *pixel = emit_axis(e, 0), *width = dim_const(e->ctx, tile->columns);
    bool one = tile->rows == 1;
    *out_row = one ? tile->row : dim_add(e->ctx, tile->row, dim_floordiv(e->ctx, pixel, width));
    *out_column = dim_add(e->ctx, tile->column, one ? pixel : dim_mod(e->ctx, pixel, width));
}

/* The tile's pixels in the result. */
static void set_results(const Tile *tile) {
    Conv *s = tile->t->s;
    IrContext *ctx = s->e.ctx;
    const Dim *row, *column;
    set_pixels(tile, &row, &column);
    s->domain.index[1 + s->spatial] = dim_add(ctx, tile->t->first[1], column);
    if (s->spatial > 1) s->domain.index[s->spatial] = dim_add(ctx, tile->t->first[0], row);
}

/* ---- one step of the sum --------------------------------------------------------------------- */

/* The output channel that is number `axis` of the panel; may push a guard. */
static const Dim *panel_channel(const Tiles *t, uint32_t axis) {
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    const Dim *position = dim_add(e->ctx, t->panel, emit_axis(e, axis));
    if (t->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), t->limit);
    return t->plan.spread ? position : conv_output_channel(s, e->ctx, position);
}

static TileId read_panel(const Tiles *t) {
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    conv_set_shape(e, 1, t->plan.nr, 0, s->request->target->lanes);
    s->w_index[0] = panel_channel(t, 0);
    TileId b = conv_as_sum(s, e, emit_value(e, s->node->args[1], s->w_index));
    emit_pop_guards(e, mark);
    return b;
}

static TileId read_given(const Tile *tile) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    if (tile->t->plan.spread) s->x_index[1] = panel_channel(tile->t, 1);
    set_results(tile);
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
static TileId read_pixels(const Tile *tile) {
    const Tiles *t = tile->t;
    ValueEmitter *e = &t->s->e;
    const Dim *row, *column, *lane = NULL;
    if (t->plan.spread)
        conv_set_shape(e, 2, pixels(tile), t->plan.nr, t->s->request->target->lanes);
    else
        conv_set_shape(e, 1, pixels(tile), 0, 1);
    if (!t->plan.copies) return read_given(tile);
    if (t->plan.spread)
        lane = dim_add(e->ctx, dim_sub(e->ctx, t->panel, t->copy.channel), emit_axis(e, 1));
    set_pixels(tile, &row, &column);
    return conv_copy_read(&t->copy, row, column, lane);
}

/* Tiles of the block for each panel. */
static int64_t tile_count(const Tiles *t) {
    const ConvPlan *plan = &t->plan;
    int64_t down = plan->block_rows / plan->rows, across = plan->block_columns / plan->columns;
    return down * across > 0 ? down * across : 1;
}

/* Each tile asks for an equal part of the next panel, which is packed: one row of elements. */
static void ask_for_next_panel(const Tile *tile, const Dim *channel) {
    const Tiles *t = tile->t;
    Conv *s = t->s;
    IrContext *ctx = s->e.ctx;
    bool packed = graph_node(s->request->region, s->node->args[1])->op != OP_input;
    if (!t->plan.asks || !packed || t->partial) return;
    int64_t step = (t->plan.nr + tile_count(t) - 1) / tile_count(t);
    const Dim *saved[TYPE_MAX_RANK], *zero = dim_const(ctx, 0), *k = zero, *terms = s->channels;
    for (uint32_t i = 0; i < s->spatial; i++) {
        k = dim_add(ctx, dim_mul(ctx, k, s->w->dims[2 + i]), s->w_index[2 + i]);
        terms = dim_mul(ctx, terms, s->w->dims[2 + i]);
    }
    k = dim_add(ctx, dim_mul(ctx, k, s->channels), channel);
    int64_t across = (t->plan.block_columns + t->plan.columns - 1) / t->plan.columns;
    const Dim *down = dim_floordiv(ctx, tile->row, dim_const(ctx, t->plan.rows));
    const Dim *number = dim_floordiv(ctx, tile->column, dim_const(ctx, t->plan.columns));
    number = dim_add(ctx, dim_scale(ctx, down, across), number);
    for (uint32_t i = 0; i < s->spatial + 2; i++) {
        saved[i] = s->w_index[i];
        s->w_index[i] = zero;
    }
    s->w_index[0] = conv_output_channel(s, ctx, dim_offset(ctx, t->panel, t->plan.nr));
    conv_set_shape(&s->e, 1, 1, 0, 1);
    s->e.ask = dim_scale(ctx, dim_add(ctx, dim_mul(ctx, number, terms), k), step);
    emit_value(&s->e, s->node->args[1], s->w_index);
    s->e.ask = NULL;
    for (uint32_t i = 0; i < s->spatial + 2; i++) s->w_index[i] = saved[i];
}

static TileId add_products(const Tile *tile, TileId acc, TileId a, TileId b) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    if (a == TILE_none || b == TILE_none) return acc;
    if (tile->t->plan.spread)
        b = tile_move(&e->b, emit_type(e, emit_sum_dtype(e, s->id)), b, (uint32_t[]){1});
    return tile_dot(&e->b, acc, a, b);
}

static TileId add_step(SumNest *n, TileId acc) {
    const Tile *tile = n->user;
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

/* ---- the sum --------------------------------------------------------------------------------- */

static SumNest nest_of(Tile *tile, SumBody *body) {
    Conv *s = tile->t->s;
    DType dtype = emit_sum_dtype(&s->e, s->id);
    return (SumNest){
        .e = &s->e, .dtype = dtype, .plain = !dtype_is_float(dtype), .body = body, .user = tile};
}

static const Dim *inner_extent(const Tiles *t) {
    Conv *s = t->s;
    return t->merged ? dim_mul(s->e.ctx, s->channels, s->w->dims[1 + s->spatial]) : s->channels;
}

/* A number of steps that divides them all leaves no rest. */
static uint32_t unroll_of(const Dim *steps) {
    enum { USUAL = 4, LEAST = 3, MOST = 4 };
    int64_t count = 0;
    if (!dim_is_const(steps, &count) || count % USUAL == 0) return USUAL;
    for (uint32_t n = MOST; n >= LEAST; n--)
        if (count % n == 0) return n;
    return USUAL;
}

/* One tap over all input channels, or a row of taps. */
static TileId sum_channels(Tile *tile, TileId acc, bool guarded) {
    Tiles *t = tile->t;
    SumNest nest = nest_of(tile, add_step);
    nest.rank = 1;
    nest.extents[0] = inner_extent(t);
    nest.names[0] = "c";
    nest.unroll = t->plan.spread ? 1 : unroll_of(nest.extents[0]);
    tile->guarded = guarded;
    conv_set_shape(&t->s->e, 2, pixels(tile), t->plan.nr, t->s->request->target->lanes);
    return sum_nest(&nest, acc);
}

/* The conditions under which no pixel of a tile of one row leaves x at this tap; those that are
 * proved are left out. */
static uint32_t inside_guards(const Tile *tile, TileGuard *guards) {
    Conv *s = tile->t->s;
    ValueEmitter *e = &s->e;
    uint32_t count = 0, last = s->spatial - 1;
    const Dim *zero = dim_const(e->ctx, 0);
    const Dim *column = dim_add(e->ctx, tile->t->first[1], tile->column);
    if (last > 0) s->domain.index[1 + last] = dim_add(e->ctx, tile->t->first[0], tile->row);
    for (uint32_t i = 0; i < s->spatial; i++) {
        const Dim *at = i < last ? s->domain.index[2 + i] : column, *extent = s->x->dims[2 + i];
        const Dim *first = conv_tap_position(s, e, i, at), *final = first;
        if (i == last) final = conv_tap_position(s, e, i, dim_offset(e->ctx, at, pixels(tile) - 1));
        bool above = dim_proves_le(e->ctx, zero, first),
             below = dim_proves_lt(e->ctx, final, extent);
        if (!above || !below) guards[count++] = (TileGuard){first, zero, extent};
        if (final != first && !below) guards[count++] = (TileGuard){final, zero, extent};
    }
    return count;
}

static TileId sum_tap(SumNest *n, TileId acc) {
    Tile *tile = n->user;
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
    const Tile *tile = n->user;
    tile->t->s->w_index[2 + axis] = n->index[axis];
}

/* ---- the sum of a channel a lane, where x is read where it is -------------------------------- */

static TileId add_tap(SumNest *n, TileId acc) {
    Tile *tile = n->user;
    Conv *s = tile->t->s;
    s->w_index[1 + s->spatial] = n->index[0];
    s->w_index[1] = dim_const(n->e->ctx, 0);
    TileId b = read_panel(tile->t);
    if (tile->guarded) return add_products(tile, acc, read_pixels(tile), b);
    conv_set_shape(n->e, 2, pixels(tile), tile->t->plan.nr, s->request->target->lanes);
    return add_products(tile, acc, emit_identity(n->e, emit_sum_dtype(n->e, s->id), OP_add), b);
}

/* The taps of a row, whose pixels lie inside x along all axes but the last, or outside. */
static TileId sum_row(Tile *tile, TileId acc, bool inside) {
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
    Tile *tile = n->user;
    Conv *s = tile->t->s;
    TileGuard guards[TYPE_MAX_RANK];
    uint32_t count = 0;
    const Dim *zero = dim_const(n->e->ctx, 0);
    set_results(tile);
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

static TileId sum_rows_of_taps(Tile *tile, TileId acc) {
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

/* ---------------------------------------------------------------------------------------------- */

static TileId sum_taps(Tile *tile, TileId acc) {
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

/* ---- panels ---------------------------------------------------------------------------------- */

/* What is done for a panel: for the tile, or for all tiles of the block. */
typedef void ForPanel(Tile tile);

/* A whole panel without guards on its channels, the last partial one with them. */
static void for_panel(Tile tile, ForPanel *build) {
    Tiles *t = tile.t;
    ValueEmitter *e = &t->s->e;
    IrContext *ctx = e->ctx;
    const Dim *final = dim_offset(ctx, t->panel, t->plan.nr - 1);
    if (prover_less(&e->prover, final, t->limit)) {
        build(tile);
        return;
    }
    TileGuard whole = {final, dim_const(ctx, 0), t->limit};
    bool never = dim_proves_lt(ctx, t->limit, dim_const(ctx, t->plan.nr));
    EmitBranch branch = {.scope = emit_scope(e)};
    if (!never) {
        branch = emit_begin_if(e, &whole, 1);
        build(tile);
        emit_else(e, branch, NULL, 0);
    }
    t->partial = true;
    build(tile);
    t->partial = false;
    emit_end_scope(e, branch.scope);
    if (!never) emit_end_if(e, branch, NULL, 0);
}

/* How many there are of `whole` neighbours from `first` on in a block of at most `block`. */
static const Dim *block_count(const Tiles *t, const Dim *first, const Dim *whole, int64_t block) {
    IrContext *ctx = t->s->e.ctx;
    const Dim *count = dim_min(ctx, dim_sub(ctx, whole, first), dim_const(ctx, block));
    return dim_max(ctx, count, dim_const(ctx, 0));
}

static void for_panels(Tile tile, ForPanel *build) {
    Tiles *t = tile.t;
    ValueEmitter *e = &t->s->e;
    const Dim *panels = dim_ceildiv(e->ctx, t->limit, dim_const(e->ctx, t->plan.nr));
    if (t->plan.panels == 1) {
        t->panel = dim_scale(e->ctx, t->first_panel, t->plan.nr);
        for_panel(tile, build);
        return;
    }
    const Dim *count = block_count(t, t->first_panel, panels, t->plan.panels);
    EmitLoop loop = emit_begin_for(e, "o", dim_const(e->ctx, 0), count, NULL, 0);
    t->panel = dim_scale(e->ctx, dim_add(e->ctx, t->first_panel, loop.variable), t->plan.nr);
    for_panel(tile, build);
    emit_end_for(e, loop, NULL);
}

/* ---- tiles of a block ------------------------------------------------------------------------ */

static void build_tile(Tile tile) {
    Tiles *t = tile.t;
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    conv_set_shape(e, 2, pixels(&tile), t->plan.nr, lanes);
    TileId acc = sum_taps(&tile, emit_identity(e, emit_sum_dtype(e, s->id), OP_add));
    if (e->error != NULL) return;
    conv_set_shape(e, 2, pixels(&tile), t->plan.nr, lanes);
    set_results(&tile);
    size_t mark = emit_guard_mark(e);
    s->domain.index[1] = panel_channel(t, 1);
    uint32_t last = 1 + s->spatial;
    if (tile.cut)
        emit_push_guard(e, s->domain.index[last], dim_const(e->ctx, 0), s->domain.dims[last]);
    conv_store(s, e, acc);
    emit_pop_guards(e, mark);
}

/* Panels across groups read pixels of their own, which are neighbours: all panels of a tile before
 * the next tile. Others read the same pixels, but weights of their own: all tiles before the next
 * panel. */
static void build_at(Tile tile) {
    if (tile.t->plan.spread)
        for_panels(tile, build_tile);
    else
        build_tile(tile);
}

/* Tiles of `step` neighbours along one axis of the block, then what is left of it. */
typedef struct Line {
    Tile tile; /* the axis at hand is set in copies of it */
    bool across;
    const Dim *first, *whole;
    int64_t block, step;
    ForPanel *build;
} Line;

static void build_part(const Line *line, const Dim *position, int64_t size, bool cut) {
    Tile tile = line->tile;
    tile.cut = cut;
    if (line->across) {
        tile.column = position;
        tile.columns = size;
    } else {
        tile.row = position;
        tile.rows = size;
    }
    line->build(tile);
}

static void build_loop(const Line *line, const Dim *from, const Dim *to, int64_t size, bool cut) {
    ValueEmitter *e = &line->tile.t->s->e;
    if (dim_sub(e->ctx, to, from) == dim_const(e->ctx, 0)) return;
    EmitLoop loop = emit_begin_for(e, line->across ? "x" : "y", from, to, NULL, 0);
    build_part(line, dim_scale(e->ctx, loop.variable, size), size, cut);
    emit_end_for(e, loop, NULL);
}

/* The last tile of a known size, in the block where it lies. */
static void build_rest(const Line *line, int64_t whole) {
    ValueEmitter *e = &line->tile.t->s->e;
    int64_t rest = whole % line->step;
    if (rest == 0) return;
    int64_t at = (whole - rest) % line->block, last = whole - rest - at;
    TileGuard here = {line->first, dim_const(e->ctx, last), dim_const(e->ctx, last + 1)};
    bool always = dim_is_const(line->first, NULL);
    EmitBranch branch = {0};
    if (!always) branch = emit_begin_if(e, &here, 1);
    build_part(line, dim_const(e->ctx, at), rest, false);
    if (always) return;
    emit_else(e, branch, NULL, 0);
    emit_end_if(e, branch, NULL, 0);
}

/* Of a varying size the last tile is whole too where pixels outside the result can be read, and is
 * stored in part; else its pixels are made one by one. */
static void build_line(const Line *line) {
    const Tiles *t = line->tile.t;
    IrContext *ctx = t->s->e.ctx;
    int64_t whole = 0;
    const Dim *zero = dim_const(ctx, 0), *step = dim_const(ctx, line->step);
    const Dim *count = block_count(t, line->first, line->whole, line->block);
    const Dim *tiles = dim_floordiv(ctx, count, step), *done = dim_mul(ctx, tiles, step);
    bool known = dim_is_const(line->whole, &whole);
    if (t->plan.copies && !known) {
        build_loop(line, zero, dim_ceildiv(ctx, count, step), line->step, done != count);
        return;
    }
    build_loop(line, zero, tiles, line->step, false);
    if (known)
        build_rest(line, whole);
    else
        build_loop(line, done, count, 1, false);
}

/* The first and the last tile at places known here, so that it is known as well which pixels of
 * theirs lie outside x. */
static void build_ends(const Line *line, int64_t whole) {
    IrContext *ctx = line->tile.t->s->e.ctx;
    int64_t step = line->step, tiles = (whole + step - 1) / step, last = (tiles - 1) * step;
    build_part(line, dim_const(ctx, 0), tiles > 1 ? step : whole, false);
    if (tiles > 2) build_loop(line, dim_const(ctx, 1), dim_const(ctx, tiles - 1), step, false);
    if (tiles > 1) build_part(line, dim_const(ctx, last), whole - last, false);
}

static void build_columns(Tile tile) {
    const Tiles *t = tile.t;
    int64_t whole = 0;
    Line line = {.tile = tile,
                 .across = true,
                 .first = t->first[1],
                 .whole = t->s->domain.dims[1 + t->s->spatial],
                 .block = t->plan.block_columns,
                 .step = t->plan.columns,
                 .build = build_at};
    if (t->plan.spread && !t->plan.copies && dim_is_const(line.whole, &whole))
        build_ends(&line, whole);
    else
        build_line(&line);
}

static void build_rows(Tile tile) {
    const Tiles *t = tile.t;
    if (t->s->spatial == 1) {
        build_columns(tile);
        return;
    }
    Line line = {.tile = tile,
                 .first = t->first[0],
                 .whole = t->s->domain.dims[t->s->spatial],
                 .block = t->plan.block_rows,
                 .step = t->plan.rows,
                 .build = build_columns};
    build_line(&line);
}

static void build_block(Tiles *t) {
    const Dim *zero = dim_const(t->s->e.ctx, 0);
    Tile tile = {.t = t, .row = zero, .column = zero, .rows = 1, .columns = 1};
    if (t->plan.spread)
        build_rows(tile);
    else
        for_panels(tile, build_rows);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* A grid axis over blocks of `size` of `extent`; where the block at hand begins. */
static const Dim *add_blocks(Tiles *t, const char *name, const Dim *extent, int64_t size) {
    ValueEmitter *e = &t->s->e;
    const Dim *blocks = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, size));
    return dim_scale(e->ctx, domain_add_work(e, name, blocks), size);
}

/* One tap after the other along the last axis, and in each the channels: a loop over both sums in
 * the same order, if it needs no blocks. */
static bool can_merge(const Tiles *t) {
    const Conv *s = t->s;
    uint32_t last = s->spatial - 1;
    int64_t taps = 0, channels = 0;
    return t->plan.copies && !t->plan.spread && t->plan.pitch == 0 &&
           s->dilations->items[last] == 1 && dim_is_const(s->w->dims[2 + last], &taps) &&
           dim_is_const(s->channels, &channels) && taps > 1 && channels > 0 &&
           taps <= SUM_BLOCK / channels;
}

void conv_build_tiles(Conv *s) {
    Tiles t = {.s = s, .plan = conv_plan(s)};
    ValueEmitter *e = &s->e;
    uint32_t last = 1 + s->spatial;
    t.limit = t.plan.spread ? s->w->dims[0] : s->outputs;
    s->group = dim_const(e->ctx, 0);
    if (!t.plan.spread) s->group = domain_add_work(e, "g", dim_const(e->ctx, s->groups));
    const Dim *panels = dim_ceildiv(e->ctx, t.limit, dim_const(e->ctx, t.plan.nr));
    t.first_panel = add_blocks(&t, "o", panels, t.plan.panels);
    s->domain.index[0] = s->x_index[0] = domain_add_work(e, "n", s->domain.dims[0]);
    for (uint32_t i = 2; i + 1 < last; i++)
        s->domain.index[i] = domain_add_work(e, "z", s->domain.dims[i]);
    if (s->spatial > 1)
        t.first[0] = add_blocks(&t, "y", s->domain.dims[last - 1], t.plan.block_rows);
    t.first[1] = add_blocks(&t, "x", s->domain.dims[last], t.plan.block_columns);
    t.merged = can_merge(&t);
    if (t.plan.copies) {
        t.copy = (ConvCopy){.s = s, .plan = &t.plan, .first = {t.first[0], t.first[1]}};
        if (t.plan.spread) t.copy.channel = dim_scale(e->ctx, t.first_panel, t.plan.nr);
        conv_copy_make(&t.copy);
    }
    build_block(&t);
}
