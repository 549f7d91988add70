/* A register tile of a contraction: the sums of mr × nr results over k, and what becomes of them.
 *
 *     acc[mr, nr] = for %block … { for %k … { dot acc, a[mr] (scalars), b[nr] (vectors) } }
 *     epilogue(acc) -> store
 *
 * The blocks are those of sums.h, whatever the tile, so its size does not change bits. Where the
 * sum is made in parts, those that are finished wait in scratch: 0 + first + second + …, the same
 * additions in the same order. */
#include "codegen/skeleton/contract.h"

void contract_set_shape(Contraction *s, int64_t first, int64_t second, int64_t lanes) {
    TileShape shape = {.rank = second > 0 ? 2 : 1,
                       .lanes = (uint32_t)lanes,
                       .extents = {dim_const(s->e.ctx, first), dim_const(s->e.ctx, second)}};
    emit_set_shape(&s->e, shape);
}

static TileId add_products(SumNest *n, TileId acc) {
    const Corner *corner = n->user;
    ValueEmitter *e = &corner->s->e;
    size_t mark = emit_guard_mark(e);
    contract_set_group(corner->s, GROUP_k, n->index[0]);
    TileId b = contract_load_b(corner, n->index[0]);
    contract_prefetch_b(corner, n->index[0]);
    TileId a = contract_load_a(corner, n->index[0]);
    if (a != TILE_none && b != TILE_none) acc = tile_dot(&e->b, acc, a, b);
    emit_pop_guards(e, mark);
    return acc;
}

/* Steps in a row: enough instructions to hide the loop's own, few enough to compile fast, above all
 * where there is code for each number of rows. */
static uint32_t unrolled_steps(const Corner *corner) {
    const Contraction *s = corner->s;
    bool counted = !dim_is_const(s->extent[GROUP_m], NULL);
    return counted || corner->mr * corner->nr / s->lanes >= 12 ? 4 : 8;
}

static SumNest nest_of(const Corner *corner) {
    Contraction *s = corner->s;
    return (SumNest){.e = &s->e,
                     .dtype = contract_sum_dtype(s),
                     .plain = !dtype_is_float(contract_sum_dtype(s)),
                     .rank = 1,
                     .extents = {s->extent[GROUP_k]},
                     .names = {"k"},
                     .unroll = unrolled_steps(corner),
                     .body = add_products,
                     .user = (void *)(uintptr_t)corner};
}

static void set_tile_shape(const Corner *corner) {
    contract_set_shape(corner->s, corner->mr, corner->nr, corner->s->lanes);
}

/* ---- sums in parts --------------------------------------------------------------------------- */

static const Dim **part_subscripts(const Corner *corner, const Dim **subscripts) {
    ValueEmitter *e = &corner->s->e;
    subscripts[0] = dim_add(e->ctx, corner->block_row, emit_axis(e, 0));
    subscripts[1] = emit_axis(e, 1);
    return subscripts;
}

/* The sum of the parts before this one. */
static TileId load_part(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    const Dim *subscripts[2];
    TileGuard later = {corner->first, dim_const(e->ctx, 1), s->extent[GROUP_k]};
    EmitBranch branch = emit_begin_if(e, &later, 1);
    set_tile_shape(corner);
    TileId value = tile_load(&e->b, emit_type(e, contract_sum_dtype(s)), s->sums_view,
                             part_subscripts(corner, subscripts), NULL, NULL, 0, 0);
    emit_else(e, branch, &value, 1);
    value = emit_identity(e, contract_sum_dtype(s), OP_add);
    return emit_end_if(e, branch, &value, 1);
}

static void store_part(const Corner *corner, TileId sums) {
    Contraction *s = corner->s;
    const Dim *subscripts[2];
    set_tile_shape(corner);
    tile_store(&s->e.b, sums, s->sums_view, part_subscripts(corner, subscripts), NULL, NULL, 0,
               OP_none);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void store_tile(const Corner *corner, TileId sums) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    set_tile_shape(corner);
    size_t mark = emit_guard_mark(e);
    const Dim *position = dim_add(e->ctx, corner->column, emit_axis(e, 1));
    contract_set_group(s, GROUP_m, dim_add(e->ctx, corner->row, emit_axis(e, 0)));
    contract_set_group(s, GROUP_n, position);
    contract_set_result_index(s);
    if (corner->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->extent[GROUP_n]);
    contract_store(s, sums, corner);
    emit_pop_guards(e, mark);
}

void contract_build_tile(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    SumNest nest = nest_of(corner);
    set_tile_shape(corner);
    if (s->words) {
        TileId sums = contract_sum_words(corner);
        if (e->error == NULL) store_tile(corner, sums);
        return;
    }
    if (corner->first == NULL) {
        TileId sums = sum_nest(&nest, emit_identity(e, contract_sum_dtype(s), OP_add));
        if (e->error == NULL) store_tile(corner, sums);
        return;
    }
    TileId before = load_part(corner);
    set_tile_shape(corner);
    TileId sums = sum_part(&nest, corner->first, corner->end, before);
    if (e->error != NULL) return;
    TileGuard last = {corner->end, s->extent[GROUP_k], dim_offset(e->ctx, s->extent[GROUP_k], 1)};
    EmitBranch branch = emit_begin_if(e, &last, 1);
    store_tile(corner, sums);
    emit_else(e, branch, NULL, 0);
    store_part(corner, sums);
    emit_end_if(e, branch, NULL, 0);
}
