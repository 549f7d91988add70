/* The trailing axes of the domain from `split` on are merged into one position that vectors run
 * along; the axes before them are grid axes. Merging all (split 0) makes the longest runs, but a
 * broadcast operand may then lose its contiguous access; so every split is built, and the one with
 * the fewest slow accesses is kept. A grid point is `grain` positions of a run:
 *
 *     work %i in [leading], %p in [ceil(N / G)] {
 *       for %j in %p·G/L .. min((%p + 1)·G/L, N // L) { positions L·%j + $0 }
 *       if L·(N // L) in [%p·G, (%p + 1)·G)           { the last, partial vector } }
 *
 * On a GPU whose accesses are all contiguous or uniform, a tile is [V, L] with position V·$1 + $0:
 * each thread has V neighbours, as many as 16 bytes of the smallest elements hold, and accesses
 * them at once.
 */
#include "codegen/skeleton/pointwise.h"

#include "codegen/skeleton/blocked.h"

enum { SIDE_VECTORS = 2, ACCESS_BITS = 128, MOST_NEIGHBOURS = 8 };

typedef struct Pointwise {
    const SkeletonRequest *request;
    PointBody *body;
    ValueEmitter e;
    Domain domain;
    uint32_t split;
    int64_t step;      /* positions of a tile: the lanes, times V */
    const Dim *length; /* of the merged axes */
} Pointwise;

static void init(Pointwise *s, const SkeletonRequest *request, const Type *type, PointBody *body,
                 uint32_t split) {
    *s = (Pointwise){
        .request = request, .body = body, .split = split, .step = request->target->lanes};
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s->e.branches = request->state != TILE_free;
    s->domain.rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++) s->domain.dims[i] = type->dims[i];
    s->length = domain_extent(request->ctx, type->dims, split, type->rank);
    for (uint32_t i = 0; i < split; i++)
        s->domain.index[i] = domain_add_work(&s->e, "i", type->dims[i]);
}

static void emit_at(Pointwise *s, const Dim *position) {
    size_t mark = emit_guard_mark(&s->e);
    emit_delinear(&s->e, s->domain.rank - s->split, s->domain.dims + s->split, position,
                  s->domain.index + s->split);
    size_t provided = s->e.provisions.count;
    s->body(&s->e, &s->domain, s->request);
    s->e.provisions.count = provided;
    emit_pop_guards(&s->e, mark);
}

static void build_free(Pointwise *s) {
    emit_set_shape(&s->e, (TileShape){.rank = 1, .extents = {s->length}});
    emit_at(s, emit_axis(&s->e, 0));
}

/* The element's position in its tile. */
static const Dim *in_tile(Pointwise *s) {
    ValueEmitter *e = &s->e;
    if (e->neighbours <= 1) return emit_axis(e, 0);
    return dim_add(e->ctx, dim_scale(e->ctx, emit_axis(e, 1), e->neighbours), emit_axis(e, 0));
}

/* The positions from `rest` on, fewer than a vector, by the grid point that they belong to. */
static void build_tail(Pointwise *s, const Dim *point, const Dim *rest) {
    ValueEmitter *e = &s->e;
    int64_t grain = s->request->schedule.grain;
    const Dim *begin = dim_scale(e->ctx, point, grain);
    TileGuard mine = {rest, begin, dim_offset(e->ctx, begin, grain)};
    bool alone = dim_equals_int(point, 0);
    EmitBranch branch = {.scope = emit_scope(e)};
    if (!alone) branch = emit_begin_if(e, &mine, 1);
    size_t mark = emit_guard_mark(e);
    const Dim *position = dim_add(e->ctx, rest, in_tile(s));
    emit_push_guard(e, position, dim_const(e->ctx, 0), s->length);
    emit_at(s, position);
    emit_pop_guards(e, mark);
    emit_end_scope(e, branch.scope);
    if (alone) return;
    emit_else(e, branch, NULL, 0);
    emit_end_if(e, branch, NULL, 0);
}

static const Dim *lanes_at(Pointwise *s, const Dim *vector) {
    ValueEmitter *e = &s->e;
    return dim_add(e->ctx, dim_scale(e->ctx, vector, s->step), in_tile(s));
}

/* The vectors from..to, one after the other. */
static void emit_run(Pointwise *s, const Dim *from, const Dim *to) {
    if (dim_proves_le(s->e.ctx, to, from)) return;
    EmitLoop loop = emit_begin_for(&s->e, "j", from, to, NULL, 0);
    emit_at(s, lanes_at(s, loop.variable));
    loop.loop->unroll = emit_unroll(&loop, s->request->schedule.unroll);
    emit_end_for(&s->e, loop, NULL);
}

/* SIDE_VECTORS vectors from `first` on, laid out in a row. */
static void emit_side(Pointwise *s, const Dim *first) {
    ValueEmitter *e = &s->e;
    EmitLoop loop =
        emit_begin_for(e, "v", dim_const(e->ctx, 0), dim_const(e->ctx, SIDE_VECTORS), NULL, 0);
    loop.loop->unroll = SIDE_VECTORS;
    emit_at(s, lanes_at(s, dim_add(e->ctx, first, loop.variable)));
    emit_end_for(e, loop, NULL);
}

/* The same, both halves of the grid point side by side: a core moves more from and to memory in two
 * places far from each other than in one. What has no partner, at the end of the array, is left to
 * runs. */
static void emit_halves(Pointwise *s, const Dim *from, const Dim *to, int64_t half) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    const Dim *middle = dim_offset(ctx, from, half), *side = dim_const(ctx, SIDE_VECTORS);
    const Dim *pairs = dim_floordiv(ctx, dim_sub(ctx, to, middle), side);
    EmitLoop loop = emit_begin_for(e, "j", dim_const(ctx, 0), pairs, NULL, 0);
    const Dim *first = dim_add(ctx, from, dim_scale(ctx, loop.variable, SIDE_VECTORS));
    emit_side(s, first);
    emit_side(s, dim_offset(ctx, first, half));
    emit_end_for(e, loop, NULL);
    const Dim *done = dim_scale(ctx, dim_max(ctx, pairs, dim_const(ctx, 0)), SIDE_VECTORS);
    emit_run(s, dim_add(ctx, from, done), dim_min(ctx, to, middle));
    emit_run(s, dim_add(ctx, middle, done), to);
}

/* Two outputs are two places already; more would be too many at once. */
static bool takes_halves(const Pointwise *s) {
    int64_t half = s->request->schedule.grain / s->step / 2;
    return s->request->schedule.streaming == 2 && s->request->region->outputs.count == 1 &&
           half > 0 && half % SIDE_VECTORS == 0;
}

static TileShape tile_shape(const Pointwise *s) {
    uint32_t lanes = s->request->target->lanes;
    IrContext *ctx = s->e.ctx;
    if (s->e.neighbours > 1)
        return (TileShape){.rank = 2,
                           .extents = {dim_const(ctx, s->e.neighbours), dim_const(ctx, lanes)},
                           .lanes = lanes};
    return (TileShape){.rank = 1, .extents = {dim_const(ctx, lanes)}, .lanes = lanes};
}

static void build_placed(Pointwise *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = s->step, grain = s->request->schedule.grain;
    const Dim *point = domain_add_work(e, "p", dim_ceildiv(ctx, s->length, dim_const(ctx, grain)));
    emit_set_shape(e, tile_shape(s));
    const Dim *whole = dim_floordiv(ctx, s->length, dim_const(ctx, lanes));
    const Dim *from = dim_scale(ctx, point, grain / lanes);
    const Dim *to = dim_min(ctx, dim_offset(ctx, from, grain / lanes), whole);
    if (takes_halves(s))
        emit_halves(s, from, to, grain / lanes / 2);
    else
        emit_run(s, from, to);
    const Dim *rest = dim_scale(ctx, whole, lanes);
    if (rest != s->length) build_tail(s, point, rest);
}

/* Where vectors cannot be contiguous in everything: blocks along an axis that the strided accesses
 * are contiguous in. NULL when there is none, or not enough of it. */
static TileProgram *build_blocked(const SkeletonRequest *request, const Type *type,
                                  PointBody *body) {
    const char *why;
    bool reuses = false;
    for (uint32_t axis = 0; axis + 1 < type->rank; axis++) {
        int64_t lanes = request->target->lanes;
        if (type->dims[axis]->hi < lanes || type->dims[type->rank - 1]->hi < lanes) continue;
        TileProgram *program = blocked_build(request, type, body, axis, &reuses, &why);
        if (program != NULL && reuses) return program;
    }
    return NULL;
}

/* Slow accesses, and lanes that idle because runs are shorter than a vector. */
static uint64_t penalty(const Pointwise *s) {
    int64_t length, lanes = s->request->target->lanes;
    bool is_short = s->split > 0 && dim_is_const(s->length, &length) && length < lanes;
    uint64_t idle = is_short ? (uint64_t)(lanes / (length > 0 ? length : 1)) : 0;
    return 4 * (uint64_t)s->e.slow_accesses + 2 * idle;
}

/* How many neighbours a thread may have: as many as fit an access of those with the smallest
 * elements. */
static int64_t most_neighbours(const Pointwise *s) {
    uint32_t least = ACCESS_BITS;
    for (size_t i = 0; i < s->e.program->views.count; i++) {
        const TileView *view = &s->e.program->views.data[i];
        uint32_t bits = dtype_info(view->dtype)->bits;
        if (view->rank > 0 && bits < least) least = bits;
    }
    int64_t count = ACCESS_BITS / (least < 8 ? ACCESS_BITS : least);
    return count < MOST_NEIGHBOURS ? count : MOST_NEIGHBOURS;
}

/* The same walk with several neighbours a thread, where that is worth it; else `best`. */
static TileProgram *with_neighbours(const Pointwise *best, const Type *type) {
    const SkeletonRequest *request = best->request;
    int64_t count = most_neighbours(best);
    bool wanted = request->target->kind == TARGET_gpu && penalty(best) == 0 && count > 1 &&
                  dim_tune_value(best->length) >= count * (int64_t)request->target->lanes &&
                  request->schedule.grain % (count * (int64_t)request->target->lanes) == 0;
    if (!wanted) return best->e.program;
    Pointwise s;
    init(&s, request, type, best->body, best->split);
    s.e.neighbours = count;
    s.step = count * (int64_t)request->target->lanes;
    build_placed(&s);
    return s.e.error == NULL && s.e.slow_accesses == 0 ? s.e.program : best->e.program;
}

TileProgram *pointwise_build(const SkeletonRequest *request, const Type *type, PointBody *body,
                             const char **out_why) {
    Pointwise best = {0};
    if (request->state == TILE_free) {
        init(&best, request, type, body, type->rank > 0 ? type->rank - 1 : 0);
        build_free(&best);
        *out_why = best.e.error;
        return best.e.error == NULL ? best.e.program : NULL;
    }
    for (uint32_t split = 0; split == 0 || split < type->rank; split++) {
        Pointwise s;
        init(&s, request, type, body, split);
        build_placed(&s);
        bool better = split == 0 ||
                      (s.e.error == NULL && (best.e.error != NULL || penalty(&s) < penalty(&best)));
        if (better) best = s;
        if (best.e.error == NULL && penalty(&best) == 0) break;
    }
    *out_why = best.e.error;
    if (best.e.error != NULL) return NULL;
    TileProgram *blocked = best.e.slow_accesses > 0 ? build_blocked(request, type, body) : NULL;
    return blocked != NULL ? blocked : with_neighbours(&best, type);
}
