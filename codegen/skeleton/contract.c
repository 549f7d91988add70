/* Contractions: an einsum of two operands in register tiles with an elementwise epilogue.
 *
 * Labels of the einsum fall in four groups: batch (in both operands and the result), m and n (in
 * one operand and the result) and k (in both operands only). The operands are named so that the
 * result's last axis is an n label: vectors run along n. A tile of mr × nr results stays in
 * registers for the whole k loop:
 *
 *     work %batch…, %panel in [N / nr], %block in [M / rows] {
 *       for %i in rows / mr {
 *         acc[mr, nr] = for %k … { dot acc, a[mr] (scalars), b[nr] (vectors) }
 *         epilogue(acc) -> store }
 *       for %i in the remaining rows { the same with mr = 1 } }
 *
 * Every result is summed in k order, in blocks (sums.h), so tile sizes do not change bits. The
 * accumulators fill the registers; those of the finished blocks wait in memory, and cost a load, an
 * addition and a store in SUM_BLOCK multiply-adds. An operand b whose n
 * axis is not contiguous is copied into a scratch panel [K, nr] first; constants have been packed
 * by the `pack` pass so that this is not needed.
 */
#include "codegen/skeleton/mma.h"
#include "codegen/skeleton/sums.h"

enum { BLOCK_TILES = 8, PACK_MIN_ROWS = 8 };

typedef enum LabelGroup { GROUP_batch, GROUP_m, GROUP_n, GROUP_k, GROUP_count } LabelGroup;

typedef struct Label {
    LabelGroup group;
    const Dim *dim;
    int a_axis, b_axis, out_axis; /* -1 where it does not occur */
    const Dim *index;             /* the current one */
} Label;

typedef struct Contraction {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    NodeId a, b;
    Label labels[3 * TYPE_MAX_RANK];
    uint32_t label_count;
    Domain domain; /* the result's dims */
    const Dim *extent[GROUP_count];
    int64_t mr, nr, lanes;
    bool pack;      /* copy b's panel to scratch */
    bool partial;   /* the panel at hand may reach past n */
    bool b_is_slow; /* found out while emitting b */
    uint32_t panel_view;
} Contraction;

/* ---- labels ---------------------------------------------------------------------------------- */

static int find_axis(const IntList *labels, int64_t label) {
    for (uint32_t i = 0; i < labels->count; i++)
        if (labels->items[i] == label) return (int)i;
    return -1;
}

static void add_label(Contraction *s, int64_t name, const IntList *a, const IntList *b,
                      const IntList *out) {
    Label l = {.a_axis = find_axis(a, name),
               .b_axis = find_axis(b, name),
               .out_axis = find_axis(out, name)};
    const Graph *g = s->request->region;
    l.dim =
        l.a_axis >= 0 ? graph_type(g, s->a)->dims[l.a_axis] : graph_type(g, s->b)->dims[l.b_axis];
    l.group = l.out_axis < 0 ? GROUP_k
              : l.a_axis < 0 ? GROUP_n
              : l.b_axis < 0 ? GROUP_m
                             : GROUP_batch;
    s->labels[s->label_count++] = l;
}

/* In the result's order, then the summed ones in a's. */
static void find_labels(Contraction *s) {
    const IntList *a = node_attr(s->node, "a").ints, *b = node_attr(s->node, "b").ints;
    const IntList *out = node_attr(s->node, "out").ints;
    s->a = s->node->args[0];
    s->b = s->node->args[1];
    bool swap = out->count > 0 && find_axis(b, out->items[out->count - 1]) < 0;
    if (swap) {
        const IntList *t = a;
        a = b, b = t;
        s->a = s->node->args[1], s->b = s->node->args[0];
    }
    for (uint32_t i = 0; i < out->count; i++) add_label(s, out->items[i], a, b, out);
    for (uint32_t i = 0; i < a->count; i++)
        if (find_axis(out, a->items[i]) < 0) add_label(s, a->items[i], a, b, out);
    for (int g = 0; g < GROUP_count; g++) s->extent[g] = dim_const(s->e.ctx, 1);
    for (uint32_t i = 0; i < s->label_count; i++) {
        const Dim **extent = &s->extent[s->labels[i].group];
        *extent = dim_mul(s->e.ctx, *extent, s->labels[i].dim);
    }
}

/* Sets the indices of a group's labels from one position over all of them. */
static void set_group(Contraction *s, LabelGroup group, const Dim *position) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == group) dims[count++] = s->labels[i].dim;
    emit_delinear(&s->e, count, dims, position, index);
    count = 0;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == group) s->labels[i].index = index[count++];
}

static TileId operand_at(Contraction *s, NodeId operand, bool is_a) {
    const Dim *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->label_count; i++) {
        int axis = is_a ? s->labels[i].a_axis : s->labels[i].b_axis;
        if (axis >= 0) index[axis] = s->labels[i].index;
    }
    return emit_value(&s->e, operand, index);
}

static DType sum_dtype(const Contraction *s) { return emit_sum_dtype(&s->e, s->id); }

static TileId as_sum(Contraction *s, TileId value) {
    if (value == TILE_none || tile_value_type(s->e.program, value)->dtype == sum_dtype(s))
        return value;
    return tile_cast(&s->e.b, value, sum_dtype(s));
}

/* ---- a tile of results ----------------------------------------------------------------------- */

static void set_shape(Contraction *s, uint32_t rank, int64_t first, int64_t second, int64_t lanes) {
    TileShape shape = {.rank = rank,
                       .lanes = (uint32_t)lanes,
                       .extents = {dim_const(s->e.ctx, first), dim_const(s->e.ctx, second)}};
    emit_set_shape(&s->e, shape);
}

/* b along a panel, 0 past its end. */
static TileId read_b(Contraction *s, const Dim *panel) {
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    uint32_t slow = e->slow_accesses;
    const Dim *position = dim_add(e->ctx, panel, emit_axis(e, 0));
    if (s->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->extent[GROUP_n]);
    set_group(s, GROUP_n, position);
    TileId b = as_sum(s, operand_at(s, s->b, false));
    if (e->slow_accesses > slow) s->b_is_slow = true;
    emit_pop_guards(e, mark);
    return b;
}

static TileId load_b(Contraction *s, const Dim *panel, const Dim *k) {
    set_shape(s, 1, s->nr, 0, s->lanes);
    if (!s->pack) return read_b(s, panel);
    return tile_load(&s->e.b, emit_type(&s->e, sum_dtype(s)), s->panel_view,
                     (const Dim *[]){k, emit_axis(&s->e, 0)}, NULL, NULL, 0, 0);
}

/* Where a tile of results begins. */
typedef struct Corner {
    Contraction *s;
    const Dim *row, *panel; /* the first m and n positions */
    int64_t mr;
} Corner;

static TileId add_products(SumNest *n, TileId acc) {
    const Corner *corner = n->user;
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    set_group(s, GROUP_k, n->index[0]);
    TileId b = load_b(s, corner->panel, n->index[0]);
    set_shape(s, 1, corner->mr, 0, 1);
    set_group(s, GROUP_m, dim_add(e->ctx, corner->row, emit_axis(e, 0)));
    TileId a = as_sum(s, operand_at(s, s->a, true));
    if (a != TILE_none && b != TILE_none) acc = tile_dot(&e->b, acc, a, b);
    emit_pop_guards(e, mark);
    return acc;
}

/* acc[mr, nr] over the whole k axis. */
static TileId sum_tile(const Corner *corner) {
    Contraction *s = corner->s;
    bool blocks = s->extent[GROUP_k]->hi > SUM_BLOCK; /* a loop of so few steps ends too often */
    SumNest nest = {.e = &s->e,
                    .dtype = sum_dtype(s),
                    .plain = !dtype_is_float(sum_dtype(s)),
                    .rank = 1,
                    .extents = {s->extent[GROUP_k]},
                    .names = {"k"},
                    .unroll = blocks ? 8 : 4,
                    .body = add_products,
                    .user = (void *)(uintptr_t)corner};
    set_shape(s, 2, corner->mr, s->nr, s->lanes);
    return sum_nest(&nest, emit_identity(&s->e, sum_dtype(s), OP_add));
}

/* The result's index of the tile at hand, for the epilogue. */
static void set_result_index(Contraction *s) {
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].out_axis >= 0) s->domain.index[s->labels[i].out_axis] = s->labels[i].index;
}

/* Provides the finished sums at the result's index and stores what the region makes of them. */
static void store_result(Contraction *s, TileId acc) {
    ValueEmitter *e = &s->e;
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, acc)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
}

static void build_tile(Contraction *s, const Dim *row, const Dim *panel, int64_t mr) {
    ValueEmitter *e = &s->e;
    TileId acc = sum_tile(&(Corner){s, row, panel, mr});
    if (e->error != NULL) return;
    set_shape(s, 2, mr, s->nr, s->lanes);
    size_t mark = emit_guard_mark(e);
    const Dim *position = dim_add(e->ctx, panel, emit_axis(e, 1));
    set_group(s, GROUP_m, dim_add(e->ctx, row, emit_axis(e, 0)));
    set_group(s, GROUP_n, position);
    set_result_index(s);
    if (s->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->extent[GROUP_n]);
    store_result(s, acc);
    emit_pop_guards(e, mark);
}

/* `count` rows from `first` on: tiles of mr rows, then row by row. */
static void build_rows(Contraction *s, const Dim *first, const Dim *count, const Dim *panel) {
    ValueEmitter *e = &s->e;
    const Dim *tiles = dim_floordiv(e->ctx, count, dim_const(e->ctx, s->mr));
    const Dim *done = dim_scale(e->ctx, tiles, s->mr);
    if (!dim_equals_int(tiles, 0)) {
        EmitLoop loop = emit_begin_for(e, "i", dim_const(e->ctx, 0), tiles, NULL, 0);
        build_tile(s, dim_add(e->ctx, first, dim_scale(e->ctx, loop.variable, s->mr)), panel,
                   s->mr);
        emit_end_for(e, loop, NULL);
    }
    if (done == count) return;
    EmitLoop loop = emit_begin_for(e, "i", done, count, NULL, 0);
    build_tile(s, dim_add(e->ctx, first, loop.variable), panel, 1);
    emit_end_for(e, loop, NULL);
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void pack_panel(Contraction *s, const Dim *panel) {
    ValueEmitter *e = &s->e;
    set_shape(s, 1, s->nr, 0, s->lanes);
    EmitLoop loop = emit_begin_for(e, "k", dim_const(e->ctx, 0), s->extent[GROUP_k], NULL, 0);
    size_t mark = emit_guard_mark(e);
    set_group(s, GROUP_k, loop.variable);
    TileId b = read_b(s, panel);
    const Dim *subscripts[2] = {loop.variable, emit_axis(e, 0)};
    if (b != TILE_none) tile_store(&e->b, b, s->panel_view, subscripts, NULL, NULL, 0, OP_none);
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}

static void build_panel(Contraction *s, const Dim *first, const Dim *count, const Dim *panel) {
    if (s->pack) pack_panel(s, panel);
    build_rows(s, first, count, panel);
}

/* A whole panel without guards on n, the last partial one with them. */
static void build_panels(Contraction *s, const Dim *first, const Dim *count, const Dim *panel) {
    ValueEmitter *e = &s->e;
    const Dim *last = dim_offset(e->ctx, panel, s->nr - 1), *n = s->extent[GROUP_n];
    if (dim_proves_lt(e->ctx, last, n)) {
        build_panel(s, first, count, panel);
        return;
    }
    TileGuard whole = {last, dim_const(e->ctx, 0), n};
    bool never = dim_proves_lt(e->ctx, n, dim_const(e->ctx, s->nr));
    EmitBranch branch = {.scope = emit_scope(e)};
    if (!never) {
        branch = emit_begin_if(e, &whole, 1);
        build_panel(s, first, count, panel);
        emit_else(e, branch, NULL, 0);
    }
    s->partial = true;
    build_panel(s, first, count, panel);
    s->partial = false;
    emit_end_scope(e, branch.scope);
    if (!never) emit_end_if(e, branch, NULL, 0);
}

/* ---- the grid -------------------------------------------------------------------------------- */

static void add_panel_view(Contraction *s) {
    TileView view = {.name = STR("panel"),
                     .space = SPACE_scratch,
                     .dtype = sum_dtype(s),
                     .rank = 2,
                     .dims = {s->extent[GROUP_k], dim_const(s->e.ctx, s->nr)},
                     .alignment = 64,
                     .written = true};
    s->panel_view = tile_add_view(s->e.program, &view);
}

static void build_placed(Contraction *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    if (s->pack) add_panel_view(s);
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == GROUP_batch)
            s->labels[i].index = domain_add_work(e, "b", s->labels[i].dim);
    const Dim *panels = dim_ceildiv(ctx, s->extent[GROUP_n], dim_const(ctx, s->nr));
    const Dim *panel = dim_scale(ctx, domain_add_work(e, "n", panels), s->nr);
    const Dim *first = dim_const(ctx, 0), *count = s->extent[GROUP_m];
    if (!s->pack) {
        int64_t rows = s->mr * BLOCK_TILES;
        const Dim *blocks = dim_ceildiv(ctx, count, dim_const(ctx, rows));
        first = dim_scale(ctx, domain_add_work(e, "m", blocks), rows);
        count = dim_min(ctx, dim_sub(ctx, count, first), dim_const(ctx, rows));
        count = dim_max(ctx, count, dim_const(ctx, 0));
    }
    build_panels(s, first, count, panel);
}

/* One result a grid point, summed over the k axes as they are. */
static void build_free(Contraction *s) {
    ValueEmitter *e = &s->e;
    emit_set_shape(e, (TileShape){0});
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group != GROUP_k)
            s->labels[i].index = domain_add_work(e, "i", s->labels[i].dim);
    set_result_index(s);
    emit_set_shape(e, (TileShape){.rank = 1, .extents = {s->extent[GROUP_k]}});
    set_group(s, GROUP_k, emit_axis(e, 0));
    TileId a = as_sum(s, operand_at(s, s->a, true)), b = as_sum(s, operand_at(s, s->b, false));
    if (a == TILE_none || b == TILE_none) return;
    TileId product = tile_map(&e->b, OP_mul, (TileId[]){a, b}, 2);
    emit_set_shape(e, (TileShape){0});
    TileId sum = tile_reduce(&e->b, OP_add, product, 0),
           zero = emit_identity(e, sum_dtype(s), OP_add);
    store_result(s, tile_map(&e->b, OP_add, (TileId[]){zero, sum}, 2)); /* 0 + -0 is 0 */
}

static void init(Contraction *s, const SkeletonRequest *request, NodeId id, bool pack) {
    *s = (Contraction){.request = request, .id = id, .pack = pack};
    s->node = graph_node(request->region, id);
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s->mr = request->schedule.mr;
    s->nr = request->schedule.nr;
    s->lanes = request->target->lanes;
    s->domain.rank = s->node->type->rank;
    for (uint32_t i = 0; i < s->domain.rank; i++) s->domain.dims[i] = s->node->type->dims[i];
    find_labels(s);
}

static NodeId find_contract(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (graph_node(g, id)->op == OP_contract) return id;
    return NODE_none;
}

/* ---- by tensor cores ------------------------------------------------------------------------- */

static TileId mma_a(MmaWalk *w, const Dim *row, const Dim *k) {
    Contraction *s = w->user;
    set_group(s, GROUP_m, row);
    set_group(s, GROUP_k, k);
    return operand_at(s, s->a, true);
}

static TileId mma_b(MmaWalk *w, const Dim *row, const Dim *k) {
    Contraction *s = w->user;
    set_group(s, GROUP_n, row);
    set_group(s, GROUP_k, k);
    return operand_at(s, s->b, false);
}

static void mma_result(MmaWalk *w, const Dim *row, const Dim *column, TileId sums) {
    Contraction *s = w->user;
    set_group(s, GROUP_m, row);
    set_group(s, GROUP_n, column);
    set_result_index(s);
    store_result(s, sums);
}

/* Whether the operand's last axis is summed over. */
static bool ends_in_k(const Contraction *s, NodeId operand, bool is_a) {
    int last = (int)graph_type(s->request->region, operand)->rank - 1;
    for (uint32_t i = 0; i < s->label_count; i++)
        if ((is_a ? s->labels[i].a_axis : s->labels[i].b_axis) == last)
            return s->labels[i].group == GROUP_k;
    return true;
}

static DType operand_dtype(const Contraction *s) {
    const Graph *g = s->request->region;
    DType a = graph_type(g, s->a)->dtype, b = graph_type(g, s->b)->dtype;
    if (a != b || !mma_pays(s->extent[GROUP_m], s->extent[GROUP_n], s->extent[GROUP_k]))
        return DT_count;
    return mma_operand_dtype(s->request, a, sum_dtype(s));
}

static void build_mma(Contraction *s) {
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == GROUP_batch)
            s->labels[i].index = domain_add_work(&s->e, "b", s->labels[i].dim);
    MmaWalk walk = {.e = &s->e,
                    .m = s->extent[GROUP_m],
                    .n = s->extent[GROUP_n],
                    .k = s->extent[GROUP_k],
                    .operand = operand_dtype(s),
                    .sum = sum_dtype(s),
                    .a = mma_a,
                    .b = mma_b,
                    .store = mma_result,
                    .a_along_k = ends_in_k(s, s->a, true),
                    .b_along_k = ends_in_k(s, s->b, false),
                    .user = s};
    mma_build(&walk);
}

/* Copying the panel pays when it is read in many row tiles, and it must stay in the cache. */
static bool should_pack(const Contraction *s) {
    int64_t bytes = s->extent[GROUP_k]->hi * s->nr * (int64_t)(dtype_info(sum_dtype(s))->bits / 8);
    return s->b_is_slow && s->extent[GROUP_m]->hi >= PACK_MIN_ROWS &&
           bytes <= s->request->target->l2_bytes / 2;
}

TileProgram *skeleton_build_contract(const SkeletonRequest *request, const char **out_why) {
    NodeId id = find_contract(request->region);
    *out_why = "there is no contraction";
    if (id == NODE_none) return NULL;
    Contraction s;
    init(&s, request, id, false);
    if (request->state == TILE_free)
        build_free(&s);
    else if (operand_dtype(&s) != DT_count)
        build_mma(&s);
    else
        build_placed(&s);
    if (s.e.error == NULL && should_pack(&s)) {
        init(&s, request, id, true);
        build_placed(&s);
    }
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
