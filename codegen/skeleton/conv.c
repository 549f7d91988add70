/* Convolutions in register tiles: mr neighbours along the last spatial axis (scalars of x) by nr
 * output channels (vectors of w), summed over the taps in row-major order and, innermost, over the
 * channels; in blocks (sums.h) where these are many.
 *
 *     work %n, %g, %panel in [O/groups / nr], %y… (leading spatial axes), %block in [W / rows] {
 *       tiles of mr pixels, then single ones:
 *         acc[mr, nr] = for each tap { if all its pixels lie inside x { for %c { dot } }
 *                                      else { for %c { dot, outside pixels read as 0 } } }
 *         epilogue(acc) -> store }
 *
 * x is read channels-last without a copy when `plan` has made it so; any other layout is right,
 * only slower. Convolutions with few output channels a group (depthwise) are made element by
 * element instead, with vectors along whichever axis is contiguous.
 */
#include "codegen/skeleton/mma.h"
#include "codegen/skeleton/pointwise.h"
#include "codegen/skeleton/sums.h"

enum { BLOCK_TILES = 8, MIN_TILE_CHANNELS = 8 };

typedef struct Conv {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    const Type *x, *w;
    const IntList *strides, *dilations, *lo;
    uint32_t spatial; /* how many spatial axes */
    int64_t groups, mr, nr, lanes;
    const Dim *channels; /* input channels of a group */
    const Dim *outputs;  /* output channels of a group */
    Domain domain;       /* of the result */
    const Dim *group;
    bool partial; /* the panel at hand may reach past the group's output channels */
    const Dim *x_index[TYPE_MAX_RANK], *w_index[TYPE_MAX_RANK];
} Conv;

static NodeId find_conv(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (graph_node(g, id)->op == OP_conv) return id;
    return NODE_none;
}

static void describe(Conv *s, const SkeletonRequest *request, NodeId id) {
    const Graph *g = request->region;
    s->request = request;
    s->id = id;
    s->node = graph_node(g, id);
    s->x = graph_type(g, s->node->args[0]);
    s->w = graph_type(g, s->node->args[1]);
    s->strides = node_attr(s->node, "strides").ints;
    s->dilations = node_attr(s->node, "dilations").ints;
    s->lo = node_attr(s->node, "lo").ints;
    s->groups = node_attr(s->node, "groups").i;
    s->spatial = s->x->rank - 2;
    s->channels = s->w->dims[1];
    s->outputs = dim_floordiv(request->ctx, s->w->dims[0], dim_const(request->ctx, s->groups));
    s->mr = request->schedule.mr;
    s->nr = request->schedule.nr;
    s->lanes = request->target->lanes;
    s->domain.rank = s->node->type->rank;
    for (uint32_t i = 0; i < s->domain.rank; i++) s->domain.dims[i] = s->node->type->dims[i];
}

static TileId as_sum(Conv *s, ValueEmitter *e, TileId value) {
    DType dtype = emit_sum_dtype(e, s->id);
    if (value == TILE_none || tile_value_type(e->program, value)->dtype == dtype) return value;
    return tile_cast(&e->b, value, dtype);
}

/* Whether elements that are left out by a guard read as 0: they do where the value is loaded, but
 * not where it is computed from what was loaded. */
static bool guards_to_zero(const Graph *g, NodeId id) {
    for (;;) {
        const Node *node = graph_node(g, id);
        switch (node->op) {
        case OP_input: return true;
        case OP_permute:
        case OP_reverse:
        case OP_slice: id = node->args[0]; break;
        default: return false;
        }
    }
}

/* x at x_index, 0 where the guards pushed since `mark` do not hold. */
static TileId read_x(Conv *s, ValueEmitter *e, size_t mark) {
    NodeId x = s->node->args[0];
    TileId value = as_sum(s, e, emit_value(e, x, s->x_index));
    if (value == TILE_none || guards_to_zero(e->region, x)) return value;
    TileId inside = emit_test(e, mark);
    if (inside == TILE_none) return value;
    TileId zero = emit_identity(e, emit_sum_dtype(e, s->id), OP_add);
    return tile_map(&e->b, OP_select, (TileId[]){inside, value, zero}, 3);
}

/* Where the tap at w_index reads along spatial axis `axis` for the result at `out`. */
static const Dim *tap_position(const Conv *s, const ValueEmitter *e, uint32_t axis,
                               const Dim *out) {
    const Dim *at = dim_scale(e->ctx, out, s->strides->items[axis]);
    at = dim_add(e->ctx, at, dim_scale(e->ctx, s->w_index[2 + axis], s->dilations->items[axis]));
    return dim_offset(e->ctx, at, -s->lo->items[axis]);
}

static void store_result(Conv *s, ValueEmitter *e, TileId acc) {
    if (e->error != NULL) return;
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, acc)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
}

/* ---- register tiles -------------------------------------------------------------------------- */

static void set_shape(Conv *s, uint32_t rank, int64_t first, int64_t second, int64_t lanes) {
    TileShape shape = {.rank = rank,
                       .lanes = (uint32_t)lanes,
                       .extents = {dim_const(s->e.ctx, first), dim_const(s->e.ctx, second)}};
    emit_set_shape(&s->e, shape);
}

/* The first output channel of the panel, as a row of w. */
static const Dim *output_channel(const Conv *s, const Dim *panel_position) {
    return dim_add(s->e.ctx, dim_mul(s->e.ctx, s->group, s->outputs), panel_position);
}

/* What is summed at the moment: a tile of pixels from `column` on, or one point (mr = 0). */
typedef struct ConvSum {
    Conv *s;
    ValueEmitter *e;
    const Dim *column, *panel;
    int64_t mr;
    bool guarded; /* pixels of the tile may lie outside x */
} ConvSum;

static SumNest sum_over(ConvSum *sum, SumBody *body) {
    DType dtype = emit_sum_dtype(sum->e, sum->s->id);
    return (SumNest){
        .e = sum->e, .dtype = dtype, .plain = !dtype_is_float(dtype), .body = body, .user = sum};
}

static void set_channel(Conv *s, IrContext *ctx, const Dim *channel) {
    s->w_index[1] = channel;
    s->x_index[1] = dim_add(ctx, dim_mul(ctx, s->group, s->channels), channel);
}

static TileId read_panel(Conv *s, const Dim *panel) {
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    set_shape(s, 1, s->nr, 0, s->lanes);
    const Dim *position = dim_add(e->ctx, panel, emit_axis(e, 0));
    if (s->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->outputs);
    s->w_index[0] = output_channel(s, position);
    TileId b = as_sum(s, e, emit_value(e, s->node->args[1], s->w_index));
    emit_pop_guards(e, mark);
    return b;
}

static TileId add_channel(SumNest *n, TileId acc) {
    const ConvSum *sum = n->user;
    Conv *s = sum->s;
    ValueEmitter *e = n->e;
    uint32_t last = s->spatial - 1;
    size_t mark = emit_guard_mark(e);
    set_channel(s, e->ctx, n->index[0]);
    TileId b = read_panel(s, sum->panel);
    set_shape(s, 1, sum->mr, 0, 1);
    s->x_index[2 + last] = tap_position(s, e, last, dim_add(e->ctx, sum->column, emit_axis(e, 0)));
    for (uint32_t i = 0; sum->guarded && i < s->spatial; i++)
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    TileId a = read_x(s, e, mark);
    emit_pop_guards(e, mark);
    if (a != TILE_none && b != TILE_none) acc = tile_dot(&e->b, acc, a, b);
    return acc;
}

/* One tap over all input channels. */
static TileId sum_channels(ConvSum *sum, TileId acc, bool guarded) {
    SumNest nest = sum_over(sum, add_channel);
    nest.rank = 1;
    nest.extents[0] = sum->s->channels;
    nest.names[0] = "c";
    nest.unroll = 4;
    sum->guarded = guarded;
    set_shape(sum->s, 2, sum->mr, sum->s->nr, sum->s->lanes);
    return sum_nest(&nest, acc);
}

/* The conditions under which no pixel of the tile leaves x at this tap; those that are proved are
 * left out. */
static uint32_t inside_guards(Conv *s, const Dim *column, int64_t mr, TileGuard *guards) {
    ValueEmitter *e = &s->e;
    uint32_t count = 0, last = s->spatial - 1;
    const Dim *zero = dim_const(e->ctx, 0);
    for (uint32_t i = 0; i < s->spatial; i++) {
        const Dim *extent = s->x->dims[2 + i];
        const Dim *first = i < last ? s->x_index[2 + i] : tap_position(s, e, last, column);
        const Dim *final =
            i < last ? first : tap_position(s, e, last, dim_offset(e->ctx, column, mr - 1));
        bool above = dim_proves_le(e->ctx, zero, first),
             below = dim_proves_lt(e->ctx, final, extent);
        if (!above || !below) guards[count++] = (TileGuard){first, zero, extent};
        if (final != first && !below) guards[count++] = (TileGuard){final, zero, extent};
    }
    return count;
}

static TileId sum_tap(SumNest *n, TileId acc) {
    ConvSum *sum = n->user;
    TileGuard guards[2 * TYPE_MAX_RANK];
    uint32_t count = inside_guards(sum->s, sum->column, sum->mr, guards);
    if (count == 0) return sum_channels(sum, acc, false);
    EmitBranch branch = emit_begin_if(n->e, guards, count);
    TileId inside = sum_channels(sum, acc, false);
    emit_else(n->e, branch, &inside, 1);
    TileId edge = sum_channels(sum, acc, true);
    return emit_end_if(n->e, branch, &edge, 1);
}

/* The leading axes of x are at hand; of the last one only where the tile begins. */
static void enter_tap(SumNest *n, uint32_t axis) {
    Conv *s = ((ConvSum *)n->user)->s;
    s->w_index[2 + axis] = n->index[axis];
    if (axis + 1 < s->spatial)
        s->x_index[2 + axis] = tap_position(s, n->e, axis, s->domain.index[2 + axis]);
}

static TileId sum_taps(ConvSum *sum, TileId acc) {
    Conv *s = sum->s;
    SumNest nest = sum_over(sum, sum_tap);
    sum_cut(s->channels->hi, &nest.chain);
    nest.enter = enter_tap;
    nest.rank = s->spatial;
    for (uint32_t i = 0; i < s->spatial; i++) {
        nest.extents[i] = s->w->dims[2 + i];
        nest.names[i] = "t";
    }
    return sum_nest(&nest, acc);
}

static void build_tile(Conv *s, const Dim *column, const Dim *panel, int64_t mr) {
    ValueEmitter *e = &s->e;
    set_shape(s, 2, mr, s->nr, s->lanes);
    TileId acc = emit_identity(e, emit_sum_dtype(e, s->id), OP_add);
    s->x_index[0] = s->domain.index[0];
    acc = sum_taps(&(ConvSum){.s = s, .e = e, .column = column, .panel = panel, .mr = mr}, acc);
    if (e->error != NULL) return;
    set_shape(s, 2, mr, s->nr, s->lanes);
    const Dim *position = dim_add(e->ctx, panel, emit_axis(e, 1));
    s->domain.index[1] = output_channel(s, position);
    s->domain.index[1 + s->spatial] = dim_add(e->ctx, column, emit_axis(e, 0));
    size_t mark = emit_guard_mark(e);
    if (s->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->outputs);
    store_result(s, e, acc);
    emit_pop_guards(e, mark);
}

static void build_row(Conv *s, const Dim *first, const Dim *count, const Dim *panel) {
    ValueEmitter *e = &s->e;
    const Dim *tiles = dim_floordiv(e->ctx, count, dim_const(e->ctx, s->mr));
    const Dim *done = dim_scale(e->ctx, tiles, s->mr);
    if (!dim_equals_int(tiles, 0)) {
        EmitLoop loop = emit_begin_for(e, "x", dim_const(e->ctx, 0), tiles, NULL, 0);
        build_tile(s, dim_add(e->ctx, first, dim_scale(e->ctx, loop.variable, s->mr)), panel,
                   s->mr);
        emit_end_for(e, loop, NULL);
    }
    if (done == count) return;
    EmitLoop loop = emit_begin_for(e, "x", done, count, NULL, 0);
    build_tile(s, dim_add(e->ctx, first, loop.variable), panel, 1);
    emit_end_for(e, loop, NULL);
}

static void build_tiles(Conv *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    uint32_t last = 1 + s->spatial;
    s->domain.index[0] = domain_add_work(e, "n", s->domain.dims[0]);
    s->group = domain_add_work(e, "g", dim_const(ctx, s->groups));
    const Dim *panels = dim_ceildiv(ctx, s->outputs, dim_const(ctx, s->nr));
    const Dim *panel = dim_scale(ctx, domain_add_work(e, "o", panels), s->nr);
    for (uint32_t i = 2; i < last; i++)
        s->domain.index[i] = domain_add_work(e, "y", s->domain.dims[i]);
    int64_t rows = s->mr * BLOCK_TILES;
    const Dim *width = s->domain.dims[last];
    const Dim *blocks = dim_ceildiv(ctx, width, dim_const(ctx, rows));
    const Dim *first = dim_scale(ctx, domain_add_work(e, "x", blocks), rows);
    const Dim *count = dim_min(ctx, dim_sub(ctx, width, first), dim_const(ctx, rows));
    count = dim_max(ctx, count, dim_const(ctx, 0));
    const Dim *final = dim_offset(ctx, panel, s->nr - 1);
    if (dim_proves_lt(ctx, final, s->outputs)) {
        build_row(s, first, count, panel);
        return;
    }
    TileGuard whole = {final, dim_const(ctx, 0), s->outputs};
    bool never = dim_proves_lt(ctx, s->outputs, dim_const(ctx, s->nr));
    EmitBranch branch = {.scope = emit_scope(e)};
    if (!never) {
        branch = emit_begin_if(e, &whole, 1);
        build_row(s, first, count, panel);
        emit_else(e, branch, NULL, 0);
    }
    s->partial = true;
    build_row(s, first, count, panel);
    emit_end_scope(e, branch.scope);
    if (!never) emit_end_if(e, branch, NULL, 0);
}

/* ---- by tensor cores: rows are pixels, columns output channels, k taps and channels ---------- */

static void set_pixel(Conv *s, const Dim *row) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    dims[0] = s->domain.dims[0];
    for (uint32_t i = 0; i < s->spatial; i++) dims[1 + i] = s->domain.dims[2 + i];
    emit_delinear(&s->e, 1 + s->spatial, dims, row, index);
    s->domain.index[0] = s->x_index[0] = index[0];
    for (uint32_t i = 0; i < s->spatial; i++) s->domain.index[2 + i] = index[1 + i];
}

static void set_tap(Conv *s, const Dim *k) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->spatial; i++) dims[i] = s->w->dims[2 + i];
    dims[s->spatial] = s->channels;
    emit_delinear(&s->e, 1 + s->spatial, dims, k, index);
    for (uint32_t i = 0; i < s->spatial; i++) s->w_index[2 + i] = index[i];
    set_channel(s, s->e.ctx, index[s->spatial]);
}

static TileId mma_pixels(MmaWalk *w, const Dim *row, const Dim *k) {
    Conv *s = w->user;
    ValueEmitter *e = w->e;
    set_pixel(s, row);
    set_tap(s, k);
    for (uint32_t i = 0; i < s->spatial; i++) {
        s->x_index[2 + i] = tap_position(s, e, i, s->domain.index[2 + i]);
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    }
    return emit_value(e, s->node->args[0], s->x_index);
}

static TileId mma_weights(MmaWalk *w, const Dim *row, const Dim *k) {
    Conv *s = w->user;
    set_tap(s, k);
    s->w_index[0] = output_channel(s, row);
    return emit_value(w->e, s->node->args[1], s->w_index);
}

static void mma_result(MmaWalk *w, const Dim *row, const Dim *column, TileId sums) {
    Conv *s = w->user;
    set_pixel(s, row);
    s->domain.index[1] = output_channel(s, column);
    store_result(s, w->e, sums);
}

static MmaWalk mma_walk(Conv *s) {
    IrContext *ctx = s->request->ctx;
    DType dtype = s->x->dtype == s->w->dtype ? s->x->dtype : DT_count;
    bool wide = dtype == DT_f64;
    MmaWalk walk = {.e = &s->e, .n = s->outputs, .k = s->channels, .user = s};
    walk.sum = wide ? DT_f64 : dtype_compute(s->node->type->dtype);
    walk.operand = mma_operand_dtype(s->request, dtype, walk.sum);
    walk.m = s->domain.dims[0];
    for (uint32_t i = 0; i < s->spatial; i++) {
        walk.m = dim_mul(ctx, walk.m, s->domain.dims[2 + i]);
        walk.k = dim_mul(ctx, walk.k, s->w->dims[2 + i]);
    }
    walk.a = mma_pixels;
    walk.b = mma_weights;
    walk.store = mma_result;
    walk.b_along_k = true;
    return walk;
}

static void build_mma(Conv *s) {
    MmaWalk walk = mma_walk(s);
    s->group = domain_add_work(&s->e, "g", dim_const(s->e.ctx, s->groups));
    mma_build(&walk);
}

/* ---- element by element ---------------------------------------------------------------------- */

/* x at the current tap, 0 outside. */
static TileId read_tap(Conv *s, ValueEmitter *e) {
    size_t mark = emit_guard_mark(e);
    for (uint32_t i = 0; i < s->spatial; i++)
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    TileId x = read_x(s, e, mark);
    emit_pop_guards(e, mark);
    return x;
}

static TileId add_point(SumNest *n, TileId acc) {
    Conv *s = ((ConvSum *)n->user)->s;
    TileId x = read_tap(s, n->e);
    TileId w = as_sum(s, n->e, emit_value(n->e, s->node->args[1], s->w_index));
    if (x == TILE_none || w == TILE_none) return acc;
    TileId product = tile_map(&n->e->b, OP_mul, (TileId[]){x, w}, 2);
    return tile_map(&n->e->b, OP_add, (TileId[]){acc, product}, 2);
}

static void enter_point(SumNest *n, uint32_t axis) {
    Conv *s = ((ConvSum *)n->user)->s;
    if (axis == s->spatial) {
        set_channel(s, n->e->ctx, n->index[axis]);
        return;
    }
    s->w_index[2 + axis] = n->index[axis];
    s->x_index[2 + axis] = tap_position(s, n->e, axis, s->domain.index[2 + axis]);
}

static TileId sum_point(ConvSum *sum, TileId acc) {
    Conv *s = sum->s;
    SumNest nest = sum_over(sum, add_point);
    nest.enter = enter_point;
    nest.rank = s->spatial + 1;
    for (uint32_t i = 0; i <= s->spatial; i++) {
        nest.extents[i] = i < s->spatial ? s->w->dims[2 + i] : s->channels;
        nest.names[i] = i < s->spatial ? "t" : "c";
    }
    return sum_nest(&nest, acc);
}

static void emit_point(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request) {
    Conv s = {0};
    describe(&s, request, find_conv(request->region));
    s.domain = *domain;
    s.x_index[0] = domain->index[0];
    s.w_index[0] = domain->index[1];
    /* Where a group has no outputs, there is no element to ask for its group. */
    const Dim *outputs = dim_max(e->ctx, s.outputs, dim_const(e->ctx, 1));
    s.group = dim_floordiv(e->ctx, domain->index[1], outputs);
    TileId acc = emit_identity(e, emit_sum_dtype(e, s.id), OP_add);
    store_result(&s, e, sum_point(&(ConvSum){.s = &s, .e = e}, acc));
}

TileProgram *skeleton_build_conv(const SkeletonRequest *request, const char **out_why) {
    NodeId id = find_conv(request->region);
    *out_why = "there is no convolution";
    if (id == NODE_none) return NULL;
    Conv s = {0};
    describe(&s, request, id);
    bool few = s.outputs->hi < MIN_TILE_CHANNELS;
    if (few || request->state == TILE_free)
        return pointwise_build(request, s.node->type, emit_point, out_why);
    emit_init(&s.e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    MmaWalk walk = mma_walk(&s);
    if (walk.operand != DT_count && mma_pays(walk.m, walk.n, walk.k))
        build_mma(&s);
    else
        build_tiles(&s);
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
