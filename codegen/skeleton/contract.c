/* Contractions: an einsum of two operands in register tiles with an elementwise epilogue.
 *
 * A grid point has some rows of the result and one panel of nr columns, or several:
 *
 *     work %batch…, %m in [M / (rows · mr)], %n in [N / (panels · nr)] {
 *       copy its rows of a                                          where that pays
 *       for %p in panels {
 *         copy the panel of b                                       where that pays
 *         for %part in K / depth { for %i in rows { tile } a last tile of fewer rows } } }
 *
 * The rows stay in the second cache while panels go by, and the panel while rows do. Points are
 * numbered with the panels innermost, so a thread, which takes neighbouring points, keeps its rows
 * for all panels if there are rows enough for all threads, and else takes panels of its own.
 *
 * Where reductions over whole rows follow, a point has all panels, and what becomes of its rows
 * comes after them.
 *
 * The other files: contract_labels.c (what is multiplied), contract_tile.c (a register tile),
 * contract_panels.c (where it gets its operands), contract_rows.c (rows of results),
 * contract_schedule.c (the sizes), contract_mma.c (by tensor cores). */
#include "codegen/skeleton/contract.h"

/* ---- rows ------------------------------------------------------------------------------------ */

typedef void VisitTile(const Corner *corner);

/* The first row of a tile, among all of m. */
static const Dim *row_of_tile(const Contraction *s, const Dim *tile) {
    IrContext *ctx = s->e.ctx;
    return dim_add(ctx, dim_mul(ctx, tile, s->height), dim_min(ctx, tile, s->taller));
}

/* How many rows a tile has. */
static const Dim *rows_of_tile(const Contraction *s, const Dim *tile) {
    IrContext *ctx = s->e.ctx;
    const Dim *m = s->extent[GROUP_m], *mr = dim_const(ctx, s->mr);
    const Dim *rest = dim_sub(ctx, m, row_of_tile(s, tile));
    if (!dim_is_const(m, NULL)) rest = dim_ceildiv(ctx, dim_sub(ctx, m, tile), s->tiles);
    return dim_min(ctx, mr, rest);
}

static const Dim *tiles_before(const Corner *base) {
    return dim_mul(base->s->e.ctx, base->block, base->s->point_tiles);
}

/* Of the point at hand. */
static const Dim *count_tiles(const Corner *base, const Dim *of_all) {
    IrContext *ctx = base->s->e.ctx;
    const Dim *rest = dim_sub(ctx, of_all, tiles_before(base));
    return dim_min(ctx, base->s->point_tiles, rest);
}

/* The tile of that number in the point. */
static void visit_at(const Corner *base, const Dim *tile, const Dim *row, int64_t mr,
                     VisitTile *visit) {
    Corner corner = *base;
    corner.tile = tile;
    corner.block_row = dim_scale(base->s->e.ctx, tile, base->s->mr);
    corner.row = row;
    corner.mr = mr;
    visit(&corner);
}

/* A tile whose rows are counted when it runs: there is code for each height up to mr. */
static void visit_counted(const Corner *base, const Dim *tile, const Dim *number,
                          VisitTile *visit) {
    ValueEmitter *e = &base->s->e;
    IrContext *ctx = e->ctx;
    const Dim *row = row_of_tile(base->s, number), *rows = rows_of_tile(base->s, number);
    for (int64_t mr = base->s->mr; mr > 0; mr--) {
        const Dim *behind = dim_offset(ctx, base->s->extent[GROUP_m], 1 - mr);
        TileGuard fits[] = {{rows, dim_const(ctx, mr), dim_const(ctx, mr + 1)},
                            {row, dim_const(ctx, 0), behind}}; /* for proofs */
        EmitBranch branch = emit_begin_if(e, fits, 2);
        visit_at(base, tile, row, mr, visit);
        emit_else(e, branch, NULL, 0);
        emit_end_if(e, branch, NULL, 0);
    }
}

/* The rows behind the last whole tile. */
static void visit_rest(const Corner *base, int64_t whole, int64_t rest, VisitTile *visit) {
    Contraction *s = base->s;
    ValueEmitter *e = &s->e;
    const Dim *tile = dim_mod(e->ctx, dim_const(e->ctx, whole), s->point_tiles);
    const Dim *row = dim_const(e->ctx, whole * s->mr);
    if (dim_equals_int(s->blocks, 1)) {
        visit_at(base, tile, row, rest, visit);
        return;
    }
    TileGuard last = {base->block, dim_offset(e->ctx, s->blocks, -1), s->blocks};
    EmitBranch branch = emit_begin_if(e, &last, 1);
    visit_at(base, tile, row, rest, visit);
    emit_else(e, branch, NULL, 0);
    emit_end_if(e, branch, NULL, 0);
}

/* Each tile of the rows of the point at hand, from the first on. */
static void visit_tiles(const Corner *base, VisitTile *visit) {
    Contraction *s = base->s;
    ValueEmitter *e = &s->e;
    int64_t m = 0;
    bool counted = !dim_is_const(s->extent[GROUP_m], &m);
    const Dim *whole = counted ? s->tiles : dim_const(e->ctx, m / s->mr);
    if (whole->hi > 0) {
        const Dim *count = count_tiles(base, whole);
        EmitLoop loop = emit_begin_for(e, "i", dim_const(e->ctx, 0), count, NULL, 0);
        const Dim *number = dim_add(e->ctx, tiles_before(base), loop.variable);
        if (counted)
            visit_counted(base, loop.variable, number, visit);
        else
            visit_at(base, loop.variable, row_of_tile(s, number), s->mr, visit);
        emit_end_for(e, loop, NULL);
    }
    if (m % s->mr != 0) visit_rest(base, m / s->mr, m % s->mr, visit);
}

/* ---- panels ---------------------------------------------------------------------------------- */

static void build_parts(Corner *base) {
    Contraction *s = base->s;
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    if (s->depth == 0) {
        visit_tiles(base, contract_build_tile);
        return;
    }
    const Dim *k = s->extent[GROUP_k], *count = dim_ceildiv(ctx, k, dim_const(ctx, s->depth));
    EmitLoop loop = emit_begin_for(e, "part", dim_const(ctx, 0), count, NULL, 0);
    base->first = dim_scale(ctx, loop.variable, s->depth);
    base->end = dim_min(ctx, dim_offset(ctx, base->first, s->depth), k);
    visit_tiles(base, contract_build_tile);
    emit_end_for(e, loop, NULL);
}

static void build_panel(Corner *base) {
    if (base->s->words) {
        if (base->s->pack_b) contract_pack_b_words(base);
        contract_total_b(base);
    } else if (base->s->pack_b) {
        contract_pack_b(base);
    }
    build_parts(base);
}

/* The last panel, of fewer columns: its tiles are no wider than they must be. */
static void build_last_panel(Corner *base) {
    Contraction *s = base->s;
    IrContext *ctx = s->e.ctx;
    int64_t n;
    base->partial = true;
    if (dim_is_const(s->extent[GROUP_n], &n)) {
        base->column = dim_const(ctx, n / s->nr * s->nr);
        base->nr = (n % s->nr + s->lanes - 1) / s->lanes * s->lanes;
        base->partial = n % s->lanes != 0;
    }
    build_panel(base);
}

static void build_any_panel(Corner base) {
    Contraction *s = base.s;
    ValueEmitter *e = &s->e;
    const Dim *last = dim_offset(e->ctx, base.column, s->nr - 1), *n = s->extent[GROUP_n];
    if (dim_proves_lt(e->ctx, last, n)) {
        build_panel(&base);
        return;
    }
    TileGuard whole = {last, dim_const(e->ctx, 0), n};
    if (dim_proves_lt(e->ctx, n, dim_const(e->ctx, s->nr))) {
        build_last_panel(&base);
        return;
    }
    EmitBranch branch = emit_begin_if(e, &whole, 1);
    Corner copy = base;
    build_panel(&copy);
    emit_else(e, branch, NULL, 0);
    build_last_panel(&base);
    emit_end_if(e, branch, NULL, 0);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* A row of the point at hand: its number among all, and its place in the point's scratch. */
typedef void VisitRow(Contraction *s, const Dim *row, const Dim *place);

static void visit_rows(const Corner *base, VisitRow *visit) {
    Contraction *s = base->s;
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    const Dim *zero = dim_const(ctx, 0);
    EmitLoop tiles = emit_begin_for(e, "i", zero, count_tiles(base, s->tiles), NULL, 0);
    const Dim *number = dim_add(ctx, tiles_before(base), tiles.variable);
    EmitLoop loop = emit_begin_for(e, "r", zero, rows_of_tile(s, number), NULL, 0);
    const Dim *row = dim_add(ctx, row_of_tile(s, number), loop.variable);
    visit(s, row, dim_add(ctx, dim_scale(ctx, tiles.variable, s->mr), loop.variable));
    emit_end_for(e, loop, NULL);
    emit_end_for(e, tiles, NULL);
}

static void pack_rows(const Corner *base) {
    const Contraction *s = base->s;
    if (s->a_facts.slow && !s->words)
        visit_tiles(base, contract_pack_a_tile);
    else
        visit_rows(base, s->words ? contract_pack_a_bytes : contract_pack_a_row);
}

/* Points of whole rows cannot share panels: threads get equal shares of the tiles, however few rows
 * there are when the kernel runs. */
static void share_tiles(Contraction *s) {
    IrContext *ctx = s->e.ctx;
    int64_t cores = s->request->target->cores;
    const Dim *one = dim_const(ctx, 1);
    const Dim *share = dim_max(ctx, dim_ceildiv(ctx, s->tiles, dim_const(ctx, cores)), one);
    if (!dim_is_const(s->extent[GROUP_m], NULL)) s->tiles = dim_scale(ctx, share, cores);
    s->point_tiles = dim_min(ctx, share, s->point_tiles);
}

/* How the rows lie in tiles. Where their number is known all tiles have mr, but for the last; else
 * they are as equal as they can be, the first ones a row taller than the others. */
static void cut_rows(Contraction *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *m = s->extent[GROUP_m], *one = dim_const(ctx, 1);
    s->tiles = dim_ceildiv(ctx, m, dim_const(ctx, s->mr));
    s->point_tiles = dim_const(ctx, s->rows);
    if (s->has_rows) share_tiles(s);
    s->blocks = dim_ceildiv(ctx, s->tiles, s->point_tiles);
    s->height = dim_const(ctx, s->mr);
    s->taller = dim_const(ctx, 0);
    if (dim_is_const(m, NULL)) return;
    s->tiles = dim_max(ctx, s->tiles, one);
    s->height = dim_floordiv(ctx, m, s->tiles);
    s->taller = dim_mod(ctx, m, s->tiles);
}

static void build_panels(const Corner *point, const Dim *panels, const Dim *first) {
    const Contraction *s = point->s;
    ValueEmitter *e = &point->s->e;
    IrContext *ctx = e->ctx;
    Corner base = *point;
    if (s->panels == 1) {
        base.column = dim_scale(ctx, first, s->nr);
        build_any_panel(base);
        return;
    }
    const Dim *count = dim_min(ctx, dim_const(ctx, s->panels), dim_sub(ctx, panels, first));
    EmitLoop loop = emit_begin_for(e, "p", dim_const(ctx, 0), count, NULL, 0);
    base.column = dim_scale(ctx, dim_add(ctx, first, loop.variable), s->nr);
    build_any_panel(base);
    emit_end_for(e, loop, NULL);
}

static void build_placed(Contraction *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    if (s->words)
        contract_add_word_views(s);
    else
        contract_add_views(s);
    if (s->has_rows) contract_add_band(s);
    contract_add_batch(s);
    cut_rows(s);
    const Dim *panels = dim_ceildiv(ctx, s->extent[GROUP_n], dim_const(ctx, s->nr));
    Corner base = {.s = s, .nr = s->nr};
    base.block = domain_add_work(e, "m", s->blocks);
    const Dim *groups = dim_ceildiv(ctx, panels, dim_const(ctx, s->panels));
    const Dim *first = dim_scale(ctx, domain_add_work(e, "n", groups), s->panels);
    if (s->pack_a) pack_rows(&base);
    build_panels(&base, panels, first);
    if (s->has_rows && e->error == NULL) visit_rows(&base, contract_build_row);
}

/* One result a grid point, summed over the k axes as they are. */
static void build_free(Contraction *s) {
    ValueEmitter *e = &s->e;
    emit_set_shape(e, (TileShape){0});
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group != GROUP_k)
            s->labels[i].index = domain_add_work(e, "i", s->labels[i].dim);
    contract_set_result_index(s);
    emit_set_shape(e, (TileShape){.rank = 1, .extents = {s->extent[GROUP_k]}});
    contract_set_group(s, GROUP_k, emit_axis(e, 0));
    TileId a = contract_operand(s, true), b = contract_operand(s, false);
    if (a == TILE_none || b == TILE_none) return;
    TileId product = tile_map(&e->b, OP_mul, (TileId[]){a, b}, 2);
    emit_set_shape(e, (TileShape){0});
    TileId sum = tile_reduce(&e->b, OP_add, product, 0),
           zero = emit_identity(e, contract_sum_dtype(s), OP_add);
    sum = tile_map(&e->b, OP_add, (TileId[]){zero, sum}, 2); /* 0 + -0 is 0 */
    contract_store(s, sum, NULL);
}

/* ---- choices --------------------------------------------------------------------------------- */

static NodeId find_contract(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (graph_node(g, id)->op == OP_contract) return id;
    return NODE_none;
}

static void init(Contraction *s, const SkeletonRequest *request, NodeId id) {
    const Schedule *schedule = &request->schedule;
    *s = (Contraction){.request = request,
                       .id = id,
                       .node = graph_node(request->region, id),
                       .mr = schedule->mr,
                       .nr = schedule->nr,
                       .rows = schedule->rows,
                       .panels = 1,
                       .depth = schedule->depth,
                       .lanes = request->target->lanes};
    s->domain.rank = s->node->type->rank;
    for (uint32_t i = 0; i < s->domain.rank; i++) s->domain.dims[i] = s->node->type->dims[i];
    contract_find_labels(s);
    s->steps = s->extent[GROUP_k];
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s->has_rows = contract_has_rows(request->region);
    if (s->has_rows && contract_begin_rows(s)) s->panels = contract_panels_of_point(s);
}

/* From what a first try has found out of the operands; false when nothing is to be changed. */
static bool choose_copies(const Contraction *tried, Contraction *s) {
    const Target *target = tried->request->target;
    OperandFacts a = tried->a_facts, b = tried->b_facts;
    bool cpu = target->kind == TARGET_cpu;
    s->a_facts = a;
    s->b_facts = b;
    s->words = contract_takes_words(tried);
    if (s->words) {
        s->pack_a = true;
        s->pack_b = !b.quads;
        s->prefetch = b.quads && contract_should_prefetch(tried);
        s->depth = 0;
        s->steps = dim_ceildiv(s->e.ctx, s->extent[GROUP_k], dim_const(s->e.ctx, 4));
        s->panels = contract_panels_of_point(tried);
        return true;
    }
    s->pack_a = cpu && contract_should_pack_a(tried);
    s->pack_b = contract_should_pack_b(tried);
    s->prefetch = cpu && contract_should_prefetch(tried);
    if (s->pack_a) s->panels = contract_panels_of_point(tried);
    return s->pack_a || s->pack_b || s->prefetch;
}

TileProgram *skeleton_build_contract(const SkeletonRequest *request, const char **out_why) {
    NodeId id = find_contract(request->region);
    *out_why = "there is no contraction";
    if (id == NODE_none) return NULL;
    Contraction s;
    init(&s, request, id);
    if (s.e.error != NULL) {
        *out_why = s.e.error;
        return NULL;
    }
    if (request->state == TILE_free && s.has_rows) {
        contract_build_free_rows(&s);
    } else if (request->state == TILE_free) {
        build_free(&s);
    } else if (contract_uses_mma(&s)) {
        contract_build_mma(&s);
    } else {
        build_placed(&s);
        Contraction tried = s;
        if (s.e.error == NULL) {
            init(&s, request, id);
            if (choose_copies(&tried, &s))
                build_placed(&s);
            else
                s = tried;
        }
    }
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
