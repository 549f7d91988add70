/* Convolutions by Winograd's algorithm F(2x2, 3x3), whose formulas are in passes/winograd.c:
 *
 *     work %panels, %patches {
 *       for each patch of 4x4 pixels: Bᵀ d B to scratch, 16 numbers a channel
 *       for each panel of nr output channels {
 *         for tiles of mr patches {
 *           for each of the 16: acc[mr, nr] = for %c { dot }; to scratch
 *           for each patch: Aᵀ m A, 2x2 results by nr; epilogue -> store } } }
 *
 * Patches are numbered over images, rows and columns, so that small images fill tiles together.
 * Transforms are additions, each rounded, in the order of the formulas; sums over channels run in
 * order, in blocks (sums.h): no bit depends on the plan. */
#include "codegen/skeleton/conv_winograd.h"

enum { RESULTS = 2 }; /* of a patch along an axis */

typedef struct Winograd {
    Conv *s;
    WinogradPlan plan;
    NodeId weights;       /* [panels, 16 + 9, C, nr], an input of the region */
    int64_t down, across; /* patches of an image */
    const Dim *patches;   /* of all images */
    const Dim *first;     /* of the grid point */
    const Dim *panel, *product;
    uint32_t pixels, products; /* scratch: [16, patches, C], [16, mr, nr] */
    const Dim *tile;           /* its first patch, counted in the grid point */
} Winograd;

/* ---- patches --------------------------------------------------------------------------------- */

/* Image, row and column of a patch. */
typedef struct Patch {
    const Dim *image, *row, *column;
} Patch;

static Patch patch_at(const Winograd *w, const Dim *number) {
    IrContext *ctx = w->s->e.ctx;
    const Dim *across = dim_const(ctx, w->across);
    const Dim *rest = dim_mod(ctx, number, dim_const(ctx, w->down * w->across));
    return (Patch){dim_floordiv(ctx, number, dim_const(ctx, w->down * w->across)),
                   dim_floordiv(ctx, rest, across), dim_mod(ctx, rest, across)};
}

/* Where x has pixel `i` of a patch along spatial axis `axis`. */
static const Dim *pixel_of(const Winograd *w, const Dim *patch, uint32_t axis, int64_t i) {
    IrContext *ctx = w->s->e.ctx;
    return dim_offset(ctx, dim_scale(ctx, patch, RESULTS), i - w->s->lo->items[axis]);
}

/* ---- there ----------------------------------------------------------------------------------- */

static TileId add(Winograd *w, TileId a, TileId b) {
    return tile_map(&w->s->e.b, OP_add, (TileId[]){a, b}, 2);
}

static TileId sub(Winograd *w, TileId a, TileId b) {
    return tile_map(&w->s->e.b, OP_sub, (TileId[]){a, b}, 2);
}

/* Bᵀ of the four numbers that stand `step` apart, in their place. */
static void transform(Winograd *w, TileId *d, int step) {
    TileId a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    d[0] = sub(w, a, c);
    d[step] = add(w, b, c);
    d[2 * step] = sub(w, c, b);
    d[3 * step] = sub(w, b, e);
}

/* The pixels of a patch, a vector of channels each; 0 outside x, where any of them may be. */
static bool read_pixels(Winograd *w, const Patch *at, bool inside, TileId *out) {
    Conv *s = w->s;
    ValueEmitter *e = &s->e;
    const Dim *zero = dim_const(e->ctx, 0);
    s->x_index[0] = at->image;
    for (int i = 0; i < WINOGRAD_PRODUCTS; i++) {
        size_t mark = emit_guard_mark(e);
        s->x_index[2] = pixel_of(w, at->row, 0, i / WINOGRAD_SIDE);
        s->x_index[3] = pixel_of(w, at->column, 1, i % WINOGRAD_SIDE);
        emit_push_guard(e, s->x_index[1], zero, s->x->dims[1]);
        for (uint32_t axis = 0; axis < 4 && !inside; axis++)
            if (axis != 1) emit_push_guard(e, s->x_index[axis], zero, s->x->dims[axis]);
        out[i] = conv_read_x(s, e, mark);
        emit_pop_guards(e, mark);
        if (out[i] == TILE_none) return false;
    }
    return true;
}

static void transform_channels(Winograd *w, const Dim *number, const Patch *at, bool inside) {
    ValueEmitter *e = &w->s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = w->s->request->target->lanes;
    const Dim *vectors = dim_ceildiv(ctx, w->s->channels, dim_const(ctx, lanes));
    EmitLoop loop = emit_begin_for(e, "v", dim_const(ctx, 0), vectors, NULL, 0);
    const Dim *channel = dim_add(ctx, dim_scale(ctx, loop.variable, lanes), emit_axis(e, 0));
    TileId d[WINOGRAD_PRODUCTS];
    w->s->x_index[1] = channel;
    if (read_pixels(w, at, inside, d)) {
        for (int i = 0; i < WINOGRAD_SIDE; i++) transform(w, d + i, WINOGRAD_SIDE);
        for (int i = 0; i < WINOGRAD_SIDE; i++) transform(w, d + i * WINOGRAD_SIDE, 1);
        for (int i = 0; i < WINOGRAD_PRODUCTS; i++) {
            const Dim *place[] = {dim_const(ctx, i), number, channel};
            tile_store(&e->b, d[i], w->pixels, place, NULL, NULL, 0, OP_none);
        }
    }
    emit_end_for(e, loop, NULL);
}

/* Of all patches of the grid point; those behind the last one are zeros. Inside x nothing asks
 * where it ends. */
static void transform_patches(Winograd *w) {
    Conv *s = w->s;
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    const Dim *zero = dim_const(ctx, 0), *count = dim_const(ctx, w->plan.tiles * w->plan.mr);
    int64_t lanes = s->request->target->lanes;
    conv_set_shape(e, 1, lanes, 0, lanes);
    EmitLoop loop = emit_begin_for(e, "p", zero, count, NULL, 0);
    Patch at = patch_at(w, dim_add(ctx, w->first, loop.variable));
    TileGuard inside[] = {
        {at.image, zero, s->x->dims[0]},
        {pixel_of(w, at.row, 0, 0), zero, s->x->dims[2]},
        {pixel_of(w, at.row, 0, WINOGRAD_SIDE - 1), zero, s->x->dims[2]},
        {pixel_of(w, at.column, 1, 0), zero, s->x->dims[3]},
        {pixel_of(w, at.column, 1, WINOGRAD_SIDE - 1), zero, s->x->dims[3]},
    };
    EmitBranch branch = emit_begin_if(e, inside, sizeof inside / sizeof *inside);
    transform_channels(w, loop.variable, &at, true);
    emit_else(e, branch, NULL, 0);
    transform_channels(w, loop.variable, &at, false);
    emit_end_if(e, branch, NULL, 0);
    emit_end_for(e, loop, NULL);
}

/* ---- products -------------------------------------------------------------------------------- */

static TileId add_channel(SumNest *n, TileId acc) {
    Winograd *w = n->user;
    ValueEmitter *e = n->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = w->s->request->target->lanes;
    conv_set_shape(e, 1, w->plan.nr, 0, lanes);
    const Dim *from[] = {w->panel, w->product, n->index[0], emit_axis(e, 0)};
    e->ahead = w->plan.ahead;
    TileId b = emit_value(e, w->weights, from);
    e->ahead = 0;
    conv_set_shape(e, 1, w->plan.mr, 0, 1);
    const Dim *place[] = {w->product, dim_add(ctx, w->tile, emit_axis(e, 0)), n->index[0]};
    TileId a = tile_load(&e->b, emit_type(e, DT_f32), w->pixels, place, NULL, NULL, 0, 0);
    return b == TILE_none ? acc : tile_dot(&e->b, acc, a, b);
}

/* The 16 products of the patches of a tile, one after the other. */
static void make_products(Winograd *w) {
    ValueEmitter *e = &w->s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = w->s->request->target->lanes;
    const Dim *all = dim_const(ctx, WINOGRAD_PRODUCTS);
    EmitLoop loop = emit_begin_for(e, "m", dim_const(ctx, 0), all, NULL, 0);
    w->product = loop.variable;
    conv_set_shape(e, 2, w->plan.mr, w->plan.nr, lanes);
    SumNest nest = {.e = e, .dtype = DT_f32, .rank = 1, .body = add_channel, .user = w};
    nest.extents[0] = w->s->channels;
    nest.names[0] = "c";
    nest.unroll = 4;
    TileId acc = sum_nest(&nest, emit_identity(e, DT_f32, OP_add));
    conv_set_shape(e, 2, w->plan.mr, w->plan.nr, lanes);
    const Dim *place[] = {w->product, emit_axis(e, 0), emit_axis(e, 1)};
    if (e->error == NULL) tile_store(&e->b, acc, w->products, place, NULL, NULL, 0, OP_none);
    emit_end_for(e, loop, NULL);
}

/* ---- and back -------------------------------------------------------------------------------- */

/* Aᵀ of the four numbers that stand `step` apart: the first two of them become the results. */
static void transform_back(Winograd *w, TileId *m, int step) {
    TileId a = m[0], b = m[step], c = m[2 * step], d = m[3 * step];
    m[0] = add(w, add(w, a, b), c);
    m[step] = sub(w, sub(w, b, c), d);
}

/* The 2x2 results, `m[0]`, `m[1]`, `m[4]` and `m[5]`, through the epilogue. */
static void store_results(Winograd *w, const Patch *at, const TileId *m) {
    Conv *s = w->s;
    ValueEmitter *e = &s->e;
    const Dim *zero = dim_const(e->ctx, 0);
    s->domain.index[0] = at->image;
    for (int i = 0; i < RESULTS * RESULTS; i++) {
        size_t mark = emit_guard_mark(e);
        s->domain.index[2] = dim_offset(e->ctx, dim_scale(e->ctx, at->row, RESULTS), i / RESULTS);
        s->domain.index[3] =
            dim_offset(e->ctx, dim_scale(e->ctx, at->column, RESULTS), i % RESULTS);
        for (uint32_t axis = 0; axis < 4; axis++)
            emit_push_guard(e, s->domain.index[axis], zero, s->domain.dims[axis]);
        conv_store(s, e, m[i / RESULTS * WINOGRAD_SIDE + i % RESULTS]);
        emit_pop_guards(e, mark);
    }
}

static void finish_vector(Winograd *w, const Dim *patch, const Dim *vector) {
    Conv *s = w->s;
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = s->request->target->lanes;
    conv_set_shape(e, 1, lanes, 0, lanes);
    const Dim *lane = dim_add(ctx, dim_scale(ctx, vector, lanes), emit_axis(e, 0));
    Patch at = patch_at(w, dim_add(ctx, dim_add(ctx, w->first, w->tile), patch));
    TileId m[WINOGRAD_PRODUCTS];
    for (int i = 0; i < WINOGRAD_PRODUCTS; i++) {
        const Dim *place[] = {dim_const(ctx, i), patch, lane};
        m[i] = tile_load(&e->b, emit_type(e, DT_f32), w->products, place, NULL, NULL, 0, 0);
    }
    for (int i = 0; i < WINOGRAD_SIDE; i++) transform_back(w, m + i, WINOGRAD_SIDE);
    for (int i = 0; i < RESULTS; i++) transform_back(w, m + i * WINOGRAD_SIDE, 1);
    s->domain.index[1] = dim_add(ctx, dim_scale(ctx, w->panel, w->plan.nr), lane);
    store_results(w, &at, m);
}

static void finish_patches(Winograd *w, const Dim *count) {
    ValueEmitter *e = &w->s->e;
    IrContext *ctx = e->ctx;
    const Dim *zero = dim_const(ctx, 0);
    int64_t vectors = w->plan.nr / w->s->request->target->lanes;
    EmitLoop patches = emit_begin_for(e, "p", zero, count, NULL, 0);
    EmitLoop loop = emit_begin_for(e, "v", zero, dim_const(ctx, vectors), NULL, 0);
    finish_vector(w, patches.variable, loop.variable);
    emit_end_for(e, loop, NULL);
    emit_end_for(e, patches, NULL);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* How many blocks of `size` there are of what is left of `whole` behind `first`, at most `count`.
 */
static const Dim *blocks_left(const Winograd *w, const Dim *whole, const Dim *first, int64_t size,
                              int64_t count) {
    IrContext *ctx = w->s->e.ctx;
    const Dim *left = dim_max(ctx, dim_sub(ctx, whole, first), dim_const(ctx, 0));
    return dim_min(ctx, dim_ceildiv(ctx, left, dim_const(ctx, size)), dim_const(ctx, count));
}

/* All tiles of the grid point, for one panel. */
static void build_tiles(Winograd *w) {
    ValueEmitter *e = &w->s->e;
    IrContext *ctx = e->ctx;
    const Dim *zero = dim_const(ctx, 0);
    const Dim *count = blocks_left(w, w->patches, w->first, w->plan.mr, w->plan.tiles);
    EmitLoop loop = emit_begin_for(e, "t", zero, count, NULL, 0);
    w->tile = dim_scale(ctx, loop.variable, w->plan.mr);
    make_products(w);
    const Dim *first = dim_add(ctx, w->first, w->tile);
    finish_patches(w, blocks_left(w, w->patches, first, 1, w->plan.mr));
    emit_end_for(e, loop, NULL);
}

static void add_scratch(Winograd *w) {
    const WinogradPlan *plan = &w->plan;
    IrContext *ctx = w->s->e.ctx;
    const Dim *all = dim_const(ctx, WINOGRAD_PRODUCTS);
    TileView view = {.space = SPACE_scratch, .dtype = DT_f32, .rank = 3, .alignment = 64};
    view.written = true;
    view.name = STR("pixels");
    view.dims[0] = all;
    view.dims[1] = dim_const(ctx, plan->tiles * plan->mr);
    view.dims[2] = dim_const(ctx, plan->pitch);
    w->pixels = tile_add_view(w->s->e.program, &view);
    view.name = STR("products");
    view.dims[1] = dim_const(ctx, plan->mr);
    view.dims[2] = dim_const(ctx, plan->nr);
    w->products = tile_add_view(w->s->e.program, &view);
}

static void build(Winograd *w) {
    ValueEmitter *e = &w->s->e;
    IrContext *ctx = e->ctx;
    int64_t band = w->plan.tiles * w->plan.mr;
    const Dim *panels = graph_type(e->region, w->weights)->dims[0], *zero = dim_const(ctx, 0);
    const Dim *groups = dim_ceildiv(ctx, panels, dim_const(ctx, w->plan.panels));
    const Dim *group = dim_scale(ctx, domain_add_work(e, "o", groups), w->plan.panels);
    const Dim *bands = dim_ceildiv(ctx, w->patches, dim_const(ctx, band));
    w->first = dim_scale(ctx, domain_add_work(e, "t", bands), band);
    add_scratch(w);
    transform_patches(w);
    const Dim *count = blocks_left(w, panels, group, 1, w->plan.panels);
    EmitLoop loop = emit_begin_for(e, "o", zero, count, NULL, 0);
    w->panel = dim_add(ctx, group, loop.variable);
    build_tiles(w);
    emit_end_for(e, loop, NULL);
}

/* ---- which ----------------------------------------------------------------------------------- */

/* Always so in what pack makes. */
static bool is_dense_3x3(const Conv *s) {
    return s->spatial == 2 && s->groups == 1 && dim_equals_int(s->w->dims[2], 3) &&
           dim_equals_int(s->w->dims[3], 3) && ints_are(s->strides, 1) && ints_are(s->dilations, 1);
}

/* The constant that the weights are cut out of; NODE_none where it is not as pack makes it. */
static NodeId find_weights(const Conv *s, int64_t *out_nr) {
    const Graph *g = s->request->region;
    NodeId id = s->node->args[1];
    while (op_info(graph_node(g, id)->op)->flags & FLAG_movement) id = graph_node(g, id)->args[0];
    const Type *type = graph_type(g, id);
    int64_t panels = 0, outputs = 0;
    bool fits =
        graph_node(g, id)->op == OP_input && type->rank == 4 &&
        dim_equals_int(type->dims[1], WINOGRAD_PRODUCTS + 9) && type->dims[2] == s->channels &&
        dim_is_const(s->channels, NULL) && dim_is_const(type->dims[0], &panels) &&
        dim_is_const(type->dims[3], out_nr) && dim_is_const(s->outputs, &outputs) && *out_nr > 0 &&
        *out_nr % s->request->target->lanes == 0 && panels == (outputs + *out_nr - 1) / *out_nr;
    return fits ? id : NODE_none;
}

bool conv_build_winograd(Conv *s) {
    Winograd w = {.s = s};
    int64_t height = 0, width = 0, nr = 0;
    if (s->node->op != OP_conv_winograd || s->request->target->kind != TARGET_cpu) return false;
    if (!is_dense_3x3(s) || !dim_is_const(s->domain.dims[2], &height) ||
        !dim_is_const(s->domain.dims[3], &width))
        return false;
    w.weights = find_weights(s, &nr);
    if (w.weights == NODE_none || !conv_is_channels_last(s)) return false;
    w.down = (height + RESULTS - 1) / RESULTS;
    w.across = (width + RESULTS - 1) / RESULTS;
    w.plan = winograd_plan(s, nr, w.down, w.across);
    w.patches = dim_scale(s->e.ctx, s->domain.dims[0], w.down * w.across);
    s->group = dim_const(s->e.ctx, 0);
    build(&w);
    return true;
}
