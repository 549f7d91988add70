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
#include "codegen/skeleton/conv_tile.h"

/* ---- panels ---------------------------------------------------------------------------------- */

/* What is done for a panel: for the tile, or for all tiles of the block. */
typedef void ForPanel(ConvTile tile);

/* A whole panel without guards on its channels, the last partial one with them. */
static void for_panel(ConvTile tile, ForPanel *build) {
    ConvTiles *t = tile.t;
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
static const Dim *block_count(const ConvTiles *t, const Dim *first, const Dim *whole,
                              int64_t block) {
    IrContext *ctx = t->s->e.ctx;
    const Dim *count = dim_min(ctx, dim_sub(ctx, whole, first), dim_const(ctx, block));
    return dim_max(ctx, count, dim_const(ctx, 0));
}

static void for_panels(ConvTile tile, ForPanel *build) {
    ConvTiles *t = tile.t;
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

static void build_tile(ConvTile tile) {
    ConvTiles *t = tile.t;
    Conv *s = t->s;
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    conv_set_shape(e, 2, conv_tile_pixels(&tile), t->plan.nr, lanes);
    TileId acc = conv_tile_sum(&tile, emit_identity(e, emit_sum_dtype(e, s->id), OP_add));
    if (e->error != NULL) return;
    conv_set_shape(e, 2, conv_tile_pixels(&tile), t->plan.nr, lanes);
    conv_tile_set_results(&tile);
    size_t mark = emit_guard_mark(e);
    s->domain.index[1] = conv_tile_channel(t, 1);
    uint32_t last = 1 + s->spatial;
    if (tile.cut)
        emit_push_guard(e, s->domain.index[last], dim_const(e->ctx, 0), s->domain.dims[last]);
    conv_store(s, e, acc);
    emit_pop_guards(e, mark);
}

/* Panels across groups read pixels of their own, which are neighbours: all panels of a tile before
 * the next tile. Others read the same pixels, but weights of their own: all tiles before the next
 * panel. */
static void build_at(ConvTile tile) {
    if (tile.t->plan.spread)
        for_panels(tile, build_tile);
    else
        build_tile(tile);
}

/* ConvTiles of `step` neighbours along one axis of the block, then what is left of it. */
typedef struct Line {
    ConvTile tile; /* the axis at hand is set in copies of it */
    bool across;
    const Dim *first, *whole;
    int64_t block, step;
    ForPanel *build;
} Line;

static void build_part(const Line *line, const Dim *position, int64_t size, bool cut) {
    ConvTile tile = line->tile;
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
    const ConvTiles *t = line->tile.t;
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

static void build_columns(ConvTile tile) {
    const ConvTiles *t = tile.t;
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

static void build_rows(ConvTile tile) {
    const ConvTiles *t = tile.t;
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

static void build_block(ConvTiles *t) {
    const Dim *zero = dim_const(t->s->e.ctx, 0);
    ConvTile tile = {.t = t, .row = zero, .column = zero, .rows = 1, .columns = 1};
    if (t->plan.spread)
        build_rows(tile);
    else
        for_panels(tile, build_rows);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* A grid axis over blocks of `size` of `extent`; where the block at hand begins. */
static const Dim *add_blocks(ConvTiles *t, const char *name, const Dim *extent, int64_t size) {
    ValueEmitter *e = &t->s->e;
    const Dim *blocks = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, size));
    return dim_scale(e->ctx, domain_add_work(e, name, blocks), size);
}

/* One tap after the other along the last axis, and in each the channels: a loop over both sums in
 * the same order, if it needs no blocks. */
static bool can_merge(const ConvTiles *t) {
    const Conv *s = t->s;
    uint32_t last = s->spatial - 1;
    int64_t taps = 0, channels = 0;
    return t->plan.copies && !t->plan.spread && t->plan.pitch == 0 &&
           s->dilations->items[last] == 1 && dim_is_const(s->w->dims[2 + last], &taps) &&
           dim_is_const(s->channels, &channels) && taps > 1 && channels > 0 &&
           taps <= SUM_BLOCK / channels;
}

void conv_build_tiles(Conv *s) {
    ConvTiles t = {.s = s, .plan = conv_plan(s)};
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
