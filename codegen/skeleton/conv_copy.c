/* A copy has an axis for each spatial one, then the channels; where panels go across groups, then
 * the output channels, each of which finds there the input channels of its group. Along a spatial
 * axis its places are
 *
 *   the taps,    where the block is one result long there,
 *   the results, where the kernel is one tap long,
 *   else all places from the first that is read to the last: result · stride + tap · dilation. */
#include "codegen/skeleton/conv_copy.h"

typedef enum Places { PLACES_taps, PLACES_results, PLACES_all } Places;

/* Of the block, along a spatial axis. */
static int64_t block_size(const ConvCopy *c, uint32_t axis) {
    uint32_t last = c->s->spatial - 1;
    if (axis == last) return c->plan->block_columns;
    return axis + 1 == last ? c->plan->block_rows : 1;
}

static Places places_of(const ConvCopy *c, uint32_t axis) {
    if (dim_equals_int(c->s->w->dims[2 + axis], 1)) return PLACES_results;
    return block_size(c, axis) == 1 ? PLACES_taps : PLACES_all;
}

static const Dim *extent_of(const ConvCopy *c, uint32_t axis) {
    IrContext *ctx = c->s->e.ctx;
    const Dim *taps = c->s->w->dims[2 + axis];
    int64_t size = block_size(c, axis);
    switch (places_of(c, axis)) {
    case PLACES_taps: return taps;
    case PLACES_results: return dim_const(ctx, size);
    default: break;
    }
    taps = dim_max(ctx, taps, dim_const(ctx, 1));
    const Dim *reach = dim_scale(ctx, dim_offset(ctx, taps, -1), c->s->dilations->items[axis]);
    return dim_offset(ctx, reach, (size - 1) * c->s->strides->items[axis] + 1);
}

/* The place of a result of the block at the tap of w_index. */
static const Dim *place_of(const ConvCopy *c, uint32_t axis, const Dim *result) {
    IrContext *ctx = c->s->e.ctx;
    const Dim *tap = c->s->w_index[2 + axis];
    switch (places_of(c, axis)) {
    case PLACES_taps: return tap;
    case PLACES_results: return result;
    default: break;
    }
    return dim_add(ctx, dim_scale(ctx, result, c->s->strides->items[axis]),
                   dim_scale(ctx, tap, c->s->dilations->items[axis]));
}

/* Where x has what belongs at a place. */
static const Dim *source_of(const ConvCopy *c, uint32_t axis, const Dim *place) {
    Conv *s = c->s;
    IrContext *ctx = s->e.ctx;
    uint32_t last = s->spatial - 1;
    const Dim *first = axis == last       ? c->first[1]
                       : axis + 1 == last ? c->first[0]
                                          : s->domain.index[2 + axis];
    int64_t stride = s->strides->items[axis], dilation = s->dilations->items[axis];
    Places places = places_of(c, axis);
    place = dim_scale(ctx, place,
                      places == PLACES_taps      ? dilation
                      : places == PLACES_results ? stride
                                                 : 1);
    return dim_offset(ctx, dim_add(ctx, dim_scale(ctx, first, stride), place), -s->lo->items[axis]);
}

/* ---- filling --------------------------------------------------------------------------------- */

typedef struct Filling {
    ConvCopy *copy;
    const Dim *places[TYPE_MAX_RANK]; /* and the channel, and the output channel */
} Filling;

/* Sets the channels that the vector at hand has; may push a guard. */
static void set_channels(const Filling *f) {
    Conv *s = f->copy->s;
    IrContext *ctx = s->e.ctx;
    if (f->copy->plan->spread) {
        const Dim *output = dim_add(ctx, f->copy->channel, f->places[s->spatial + 1]);
        emit_push_guard(&s->e, output, dim_const(ctx, 0), s->w->dims[0]);
        s->group = dim_floordiv(ctx, output, dim_max(ctx, s->outputs, dim_const(ctx, 1)));
    }
    conv_set_channel(s, ctx, f->places[s->spatial]);
}

/* One vector; what the guards since `mark` exclude is not touched, what lies outside x is 0. */
static void fill_vector(Filling *f, size_t mark) {
    Conv *s = f->copy->s;
    ValueEmitter *e = &s->e;
    TileGuard own[4];
    uint32_t count = 0;
    for (size_t i = mark; i < e->guards.count; i++) own[count++] = e->guards.data[i];
    set_channels(f);
    for (uint32_t i = 0; i < s->spatial; i++) {
        s->x_index[2 + i] = source_of(f->copy, i, f->places[i]);
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    }
    TileId value = conv_read_x(s, e, mark);
    emit_pop_guards(e, mark + count);
    if (value != TILE_none)
        tile_store(&e->b, value, f->copy->view, f->places, NULL, own, count, OP_none);
}

/* Vectors along axis `along` of the copy, the last of which may be cut. */
static void fill_along(Filling *f, uint32_t along, const Dim *extent) {
    ValueEmitter *e = &f->copy->s->e;
    int64_t lanes = f->copy->s->request->target->lanes;
    conv_set_shape(e, 1, lanes, 0, lanes);
    const Dim *vectors = dim_ceildiv(e->ctx, extent, dim_const(e->ctx, lanes));
    EmitLoop loop = emit_begin_for(e, "v", dim_const(e->ctx, 0), vectors, NULL, 0);
    loop.loop->unroll = 2;
    size_t mark = emit_guard_mark(e);
    f->places[along] = dim_add(e->ctx, dim_scale(e->ctx, loop.variable, lanes), emit_axis(e, 0));
    emit_push_guard(e, f->places[along], dim_const(e->ctx, 0), extent);
    fill_vector(f, mark);
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}

/* Whether a row of the copy is a stretch of a row of x: few channels of neighbouring pixels fill
 * vectors together. */
static bool is_stretch(const ConvCopy *c) {
    const Conv *s = c->s;
    int64_t channels = 0;
    return conv_is_channels_last(s) && s->groups == 1 && c->plan->pitch == 0 &&
           places_of(c, s->spatial - 1) == PLACES_all && dim_is_const(s->channels, &channels) &&
           channels > 0 && channels % s->request->target->lanes != 0;
}

/* Vectors along a row of the copy, its pixels and channels as one axis. */
static void fill_stretch(Filling *f) {
    Conv *s = f->copy->s;
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    uint32_t last = s->spatial - 1;
    const Dim *c = s->channels, *zero = dim_const(ctx, 0);
    int64_t lanes = s->request->target->lanes;
    conv_set_shape(e, 1, lanes, 0, lanes);
    const Dim *extent = dim_mul(ctx, extent_of(f->copy, last), c);
    const Dim *vectors = dim_ceildiv(ctx, extent, dim_const(ctx, lanes));
    EmitLoop loop = emit_begin_for(e, "v", zero, vectors, NULL, 0);
    const Dim *at = dim_add(ctx, dim_scale(ctx, loop.variable, lanes), emit_axis(e, 0));
    const Dim *from = dim_add(ctx, at, dim_mul(ctx, source_of(f->copy, last, zero), c));
    size_t mark = emit_guard_mark(e);
    TileGuard own = {at, zero, extent};
    bool cut = !dim_proves_lt(ctx, at, extent);
    f->places[last] = dim_floordiv(ctx, at, c);
    f->places[s->spatial] = dim_mod(ctx, at, c);
    if (cut) emit_push_guard(e, at, zero, extent);
    emit_push_guard(e, from, zero, dim_mul(ctx, s->x->dims[2 + last], c));
    for (uint32_t i = 0; i < last; i++) {
        s->x_index[2 + i] = source_of(f->copy, i, f->places[i]);
        emit_push_guard(e, s->x_index[2 + i], zero, s->x->dims[2 + i]);
    }
    s->x_index[2 + last] = dim_floordiv(ctx, from, c);
    s->x_index[1] = dim_mod(ctx, from, c);
    TileId value = conv_read_x(s, e, mark);
    emit_pop_guards(e, mark);
    if (value != TILE_none)
        tile_store(&e->b, value, f->copy->view, f->places, NULL, &own, cut, OP_none);
    emit_end_for(e, loop, NULL);
}

static void fill_from(Filling *f, uint32_t axis);

static void fill_each(Filling *f, uint32_t axis, const Dim *extent, uint32_t next) {
    ValueEmitter *e = &f->copy->s->e;
    EmitLoop loop = emit_begin_for(e, "i", dim_const(e->ctx, 0), extent, NULL, 0);
    f->places[axis] = loop.variable;
    fill_from(f, next);
    emit_end_for(e, loop, NULL);
}

static void fill_from(Filling *f, uint32_t axis) {
    Conv *s = f->copy->s;
    uint32_t last = s->spatial - 1;
    bool channels_last = conv_is_channels_last(s);
    const ConvPlan *plan = f->copy->plan;
    if (plan->spread && axis <= s->spatial)
        fill_each(f, axis, axis <= last ? extent_of(f->copy, axis) : s->channels, axis + 1);
    else if (plan->spread)
        fill_along(f, axis, dim_const(s->e.ctx, plan->panels * plan->nr));
    else if (axis == last && is_stretch(f->copy))
        fill_stretch(f);
    else if (axis < last || (axis == last && channels_last))
        fill_each(f, axis, extent_of(f->copy, axis), axis + 1);
    else if (axis == last)
        fill_each(f, s->spatial, s->channels, TYPE_MAX_RANK);
    else if (axis == s->spatial)
        fill_along(f, s->spatial, s->channels);
    else
        fill_along(f, last, extent_of(f->copy, last));
}

void conv_copy_make(ConvCopy *copy) {
    Conv *s = copy->s;
    ValueEmitter *e = &s->e;
    TileView view = {.name = STR("pixels"),
                     .space = SPACE_scratch,
                     .dtype = emit_sum_dtype(e, s->id),
                     .rank = s->spatial + 1,
                     .alignment = 64,
                     .written = true};
    for (uint32_t i = 0; i < s->spatial; i++) view.dims[i] = extent_of(copy, i);
    const ConvPlan *plan = copy->plan;
    view.dims[s->spatial] = plan->pitch ? dim_const(e->ctx, plan->pitch) : s->channels;
    if (plan->spread) view.dims[view.rank++] = dim_const(e->ctx, plan->panels * plan->nr);
    copy->view = tile_add_view(e->program, &view);
    Filling filling = {.copy = copy};
    fill_from(&filling, 0);
}

TileId conv_copy_read(const ConvCopy *copy, const Dim *row, const Dim *column, const Dim *lane) {
    Conv *s = copy->s;
    ValueEmitter *e = &s->e;
    const Dim *places[TYPE_MAX_RANK];
    uint32_t last = s->spatial - 1;
    for (uint32_t i = 0; i <= last; i++)
        places[i] = place_of(copy, i,
                             i == last       ? column
                             : i + 1 == last ? row
                                             : dim_const(e->ctx, 0));
    places[s->spatial] = s->w_index[1];
    places[s->spatial + 1] = lane;
    TileType type = emit_type(e, emit_sum_dtype(e, s->id));
    return tile_load(&e->b, type, copy->view, places, NULL, NULL, 0, 0);
}
