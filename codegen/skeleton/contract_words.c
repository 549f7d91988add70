/* Contractions of bytes, four steps of k at a time: one instruction multiplies four unsigned bytes
 * by four signed ones and adds the products to a sum of 32 bits. Sums of integers are exact in any
 * order, so the bits are those of the other ways.
 *
 *     a: bytes [row, k] in scratch, 128 more than they are where they are signed
 *     b: words [k / 4, nr], as the `pack` pass has laid constants out, or in scratch
 *
 * Σ a·b = Σ (a + 128)·b − 128·Σ b: the sums of a column begin with what the 128 have added,
 * which is found by a row of ones. */
#include "codegen/skeleton/contract.h"

enum { WORD = 4, OFFSET = 128, LEAST_STEPS = 8 };

static bool is_byte(DType dtype) { return dtype == DT_i8 || dtype == DT_u8; }

static DType dtype_of(const Contraction *s, NodeId id) {
    return graph_type(s->request->region, id)->dtype;
}

bool contract_takes_words(const Contraction *s) {
    const Target *target = s->request->target;
    int64_t k = s->extent[GROUP_k]->hi, n = s->extent[GROUP_n]->hi, bytes;
    if (target->kind != TARGET_cpu || !(target->features & FEATURE_avx512_vnni)) return false;
    if (__builtin_mul_overflow(k, n > s->rows * s->mr ? s->nr : s->rows * s->mr, &bytes))
        return false;
    return is_byte(dtype_of(s, s->a)) && dtype_of(s, s->b) == DT_i8 &&
           contract_sum_dtype(s) == DT_i32 && k >= LEAST_STEPS &&
           bytes <= TARGET_SCRATCH_BYTES / 16;
}

static uint32_t add_view(Contraction *s, const char *name, DType dtype, const Dim *rows,
                         const Dim *columns) {
    TileView view = {.name = str_from(name),
                     .space = SPACE_scratch,
                     .dtype = dtype,
                     .rank = 2,
                     .dims = {rows, columns},
                     .alignment = 64,
                     .written = true};
    return tile_add_view(s->e.program, &view);
}

void contract_add_word_views(Contraction *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *nr = dim_const(ctx, s->nr);
    s->a_view = add_view(s, "bytes", DT_u8, dim_const(ctx, s->rows * s->mr),
                         dim_scale(ctx, s->steps, WORD));
    s->totals_view = add_view(s, "totals", DT_i32, dim_const(ctx, 1), nr);
    if (s->pack_b) s->b_view = add_view(s, "panel", DT_i32, s->steps, nr);
}

static TileId number(Contraction *s, int64_t value) {
    return tile_const_int(&s->e.b, emit_type(&s->e, DT_i32), value);
}

static TileId apply(Contraction *s, Op op, TileId a, TileId b) {
    return tile_map(&s->e.b, op, (TileId[]){a, b}, 2);
}

/* ---- a --------------------------------------------------------------------------------------- */

TileId contract_as_byte(Contraction *s, TileId a) {
    if (dtype_of(s, s->a) == DT_i8) a = apply(s, OP_add, a, number(s, OFFSET));
    return tile_cast(&s->e.b, a, DT_u8);
}

/* The row, and zeros up to a whole word. */
void contract_pack_a_bytes(Contraction *s, const Dim *row, const Dim *block_row) {
    ValueEmitter *e = &s->e;
    const Dim *k = s->extent[GROUP_k], *end = dim_scale(e->ctx, s->steps, WORD);
    contract_pack_a_row(s, row, block_row);
    if (end == k) return;
    EmitLoop loop = emit_begin_for(e, "k", k, end, NULL, 0);
    contract_set_shape(s, 1, 0, 1);
    const Dim *subscripts[2] = {block_row, dim_add(e->ctx, loop.variable, emit_axis(e, 0))};
    TileId zero = tile_cast(&e->b, number(s, 0), DT_u8);
    tile_store(&e->b, zero, s->a_view, subscripts, NULL, NULL, 0, OP_none);
    emit_end_for(e, loop, NULL);
}

/* ---- b --------------------------------------------------------------------------------------- */

/* b at step k along a panel, 0 past its end; as words where e->words. */
static TileId read_b(const Corner *corner, const Dim *k) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    const Dim *position = dim_add(e->ctx, corner->column, emit_axis(e, 0));
    const Dim *zero = dim_const(e->ctx, 0);
    if (corner->partial) emit_push_guard(e, position, zero, s->extent[GROUP_n]);
    emit_push_guard(e, k, zero, s->extent[GROUP_k]);
    contract_set_group(s, GROUP_n, position);
    contract_set_group(s, GROUP_k, k);
    TileId b = e->words ? contract_raw_operand(s, false) : contract_operand(s, false);
    emit_pop_guards(e, mark);
    return b;
}

static TileId load_words(const Corner *corner, const Dim *step) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->nr, 0, s->lanes);
    if (s->pack_b)
        return tile_load(&e->b, emit_type(e, DT_i32), s->b_view,
                         (const Dim *[]){step, emit_axis(e, 0)}, NULL, NULL, 0, 0);
    e->words = true;
    TileId words = read_b(corner, dim_scale(e->ctx, step, WORD));
    e->words = false;
    return words;
}

void contract_pack_b_words(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "q", dim_const(e->ctx, 0), s->steps, NULL, 0);
    TileId words = TILE_none;
    contract_set_shape(s, corner->nr, 0, s->lanes);
    for (int64_t i = 0; i < WORD; i++) {
        const Dim *k = dim_offset(e->ctx, dim_scale(e->ctx, loop.variable, WORD), i);
        TileId b = read_b(corner, k);
        if (b == TILE_none) return;
        b = apply(s, OP_and, b, number(s, 255));
        if (i > 0) b = apply(s, OP_shl, b, number(s, 8 * i));
        words = i == 0 ? b : apply(s, OP_or, words, b);
    }
    tile_store(&e->b, words, s->b_view, (const Dim *[]){loop.variable, emit_axis(e, 0)}, NULL, NULL,
               0, OP_none);
    emit_end_for(e, loop, NULL);
}

/* Whether a panel has one tile: it is read once, for the totals and the sums. */
static bool has_one_tile(const Contraction *s) { return s->extent[GROUP_m]->hi <= s->mr; }

enum { ONES = 0x01010101 };

/* One more step of the totals of [1, nr]. */
static TileId add_total(Contraction *s, TileId total, TileId words) {
    contract_set_shape(s, 1, 0, 1);
    return tile_dot4(&s->e.b, total, number(s, ONES), words);
}

void contract_total_b(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    if (dtype_of(s, s->a) != DT_i8 || has_one_tile(s)) return;
    contract_set_shape(s, 1, corner->nr, s->lanes);
    TileId total = number(s, 0);
    EmitLoop loop = emit_begin_for(e, "q", dim_const(e->ctx, 0), s->steps, &total, 1);
    loop.loop->unroll = 4;
    TileId words = load_words(corner, loop.variable);
    total = words == TILE_none ? loop.loop->carried : add_total(s, loop.loop->carried, words);
    total = emit_end_for(e, loop, &total);
    contract_set_shape(s, 1, corner->nr, s->lanes);
    total = apply(s, OP_mul, total, number(s, -OFFSET));
    tile_store(&e->b, total, s->totals_view, (const Dim *[]){emit_axis(e, 0), emit_axis(e, 1)},
               NULL, NULL, 0, OP_none);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* What all rows begin with. */
static TileId first_sums(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->mr, corner->nr, s->lanes);
    if (dtype_of(s, s->a) != DT_i8 || has_one_tile(s)) return number(s, 0);
    return tile_load(&e->b, emit_type(e, DT_i32), s->totals_view,
                     (const Dim *[]){dim_const(e->ctx, 0), emit_axis(e, 1)}, NULL, NULL, 0, 0);
}

static TileId load_bytes(const Corner *corner, const Dim *step) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->mr, 0, 1);
    const Dim *row = dim_add(e->ctx, corner->block_row, emit_axis(e, 0));
    return tile_load(&e->b, emit_type(e, DT_i32), s->a_view,
                     (const Dim *[]){row, dim_scale(e->ctx, step, WORD)}, NULL, NULL, 0, 0);
}

/* The sums without what the 128 have added, which is the same in all rows. */
static TileId without_offset(const Corner *corner, TileId sums, TileId total) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, 1, corner->nr, s->lanes);
    total = apply(s, OP_mul, total, number(s, OFFSET));
    total = tile_reduce(&e->b, OP_add, total, 0);
    contract_set_shape(s, corner->mr, corner->nr, s->lanes);
    total = tile_move(&e->b, emit_type(e, DT_i32), total, (const uint32_t[]){1});
    return apply(s, OP_sub, sums, total);
}

TileId contract_sum_words(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    bool totals = dtype_of(s, s->a) == DT_i8 && has_one_tile(s);
    TileId sums[2] = {first_sums(corner)};
    contract_set_shape(s, 1, corner->nr, s->lanes);
    if (totals) sums[1] = number(s, 0);
    EmitLoop loop = emit_begin_for(e, "q", dim_const(e->ctx, 0), s->steps, sums, totals ? 2 : 1);
    loop.loop->unroll = 4;
    sums[0] = loop.loop->carried;
    sums[1] = sums[0] + 1;
    TileId b = load_words(corner, loop.variable);
    contract_prefetch_b(corner, loop.variable);
    TileId a = load_bytes(corner, loop.variable);
    if (b != TILE_none) sums[0] = tile_dot4(&e->b, sums[0], a, b);
    if (b != TILE_none && totals) sums[1] = add_total(s, sums[1], b);
    TileId result = emit_end_for(e, loop, sums);
    return totals ? without_offset(corner, result, result + 1) : result;
}
