/* Where the register tiles of a contraction get their operands: from memory as it is, or from
 * scratch, into which the rows or the panel at hand are copied first, in the order in which tiles
 * read them and in the dtype of the sum:
 *
 *     b: [k, nr]             nr neighbours a step
 *     a: [row, k]            where k is contiguous in memory, or [tile, k, mr] where it is not
 *
 * Constants have been packed by the `pack` pass, so that b needs no copy. */
#include "codegen/skeleton/contract.h"

enum {
    LINE_BYTES = 64,
    ASKING_ROWS = 3 /* of a tile: what has fewer is done before the next panel could come */
};

static int64_t sum_bytes(const Contraction *s) {
    return dtype_info(contract_sum_dtype(s))->bits / 8;
}

static uint32_t add_view(Contraction *s, const char *name, const Dim *const *dims, uint32_t rank) {
    TileView view = {.name = str_from(name),
                     .space = SPACE_scratch,
                     .dtype = contract_sum_dtype(s),
                     .rank = rank,
                     .alignment = 64,
                     .written = true};
    for (uint32_t i = 0; i < rank; i++) view.dims[i] = dims[i];
    return tile_add_view(s->e.program, &view);
}

void contract_add_views(Contraction *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *k = s->extent[GROUP_k], *tiles = dim_const(ctx, s->rows);
    const Dim *rows = dim_const(ctx, s->rows * s->mr), *mr = dim_const(ctx, s->mr);
    const Dim *nr = dim_const(ctx, s->nr);
    if (s->pack_b) s->b_view = add_view(s, "panel", (const Dim *[]){k, nr}, 2);
    if (s->pack_a && s->a_facts.slow)
        s->a_view = add_view(s, "rows", (const Dim *[]){tiles, k, mr}, 3);
    else if (s->pack_a)
        s->a_view = add_view(s, "rows", (const Dim *[]){rows, k}, 2);
    if (s->depth > 0) s->sums_view = add_view(s, "sums", (const Dim *[]){rows, nr}, 2);
}

/* ---- what an operand's loads look like ------------------------------------------------------- */

static const DimSymbol *symbol_of(const Dim *dim) {
    bool plain = dim->term_count == 1 && dim->terms[0].atom_count == 1 &&
                 dim->terms[0].atoms[0]->kind == ATOM_symbol;
    return plain ? dim->terms[0].atoms[0]->symbol : NULL;
}

/* How many elements neighbours along `symbol` are apart; false when that is not one number. */
static bool find_step(Contraction *s, const TileInstr *load, const DimSymbol *symbol,
                      int64_t *out_step) {
    const TileView *view = &s->e.program->views.data[load->view];
    const Dim *coefficient, *rest;
    for (uint32_t i = 0; load->at != NULL && i < view->rank; i++)
        if (load->at[i] != TILE_none && tile_value_type(s->e.program, load->at[i])->rank > 0)
            return false;
    const Dim *element = emit_linear(s->e.ctx, view->rank, view->dims, load->subscripts);
    return symbol != NULL && dim_split_affine(s->e.ctx, element, symbol, &coefficient, &rest) &&
           dim_is_const(coefficient, out_step);
}

/* Of the instructions that the current block has from `mark` on. */
static OperandFacts facts_since(Contraction *s, size_t mark, const DimSymbol *near,
                                const DimSymbol *k, int64_t width) {
    const TileBlock *block = s->e.b.block;
    OperandFacts facts = {.computed = block->instrs.count - mark > 1};
    for (size_t i = mark; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        if (instr->op != TILE_load || s->e.program->views.data[instr->view].rank == 0) continue;
        int64_t step = 0;
        if (!find_step(s, instr, near, &step) || step < 0 || step > 1) facts.slow = true;
        DType dtype = s->e.program->views.data[instr->view].dtype;
        facts.quads = step == 4 && tile_takes_words(DT_i32, dtype) && instr->at == NULL &&
                      block->instrs.count - mark == 2; /* with its cast */
        if (k == NULL) continue;
        bool known = find_step(s, instr, k, &step);
        facts.far |= !known || step < 0 || step > width;
        if (known && step > facts.apart) facts.apart = step;
    }
    return facts;
}

/* ---- b --------------------------------------------------------------------------------------- */

/* The operand along a panel where it is, 0 past its end. */
static TileId read_b(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    const Dim *position = dim_add(e->ctx, corner->column, emit_axis(e, 0));
    if (corner->partial) emit_push_guard(e, position, dim_const(e->ctx, 0), s->extent[GROUP_n]);
    contract_set_group(s, GROUP_n, position);
    TileId b = contract_operand(s, false);
    emit_pop_guards(e, mark);
    return b;
}

TileId contract_load_b(const Corner *corner, const Dim *k) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->nr, 0, s->lanes);
    if (s->pack_b)
        return tile_load(&e->b, emit_type(e, contract_sum_dtype(s)), s->b_view,
                         (const Dim *[]){k, emit_axis(e, 0)}, NULL, NULL, 0, 0);
    size_t mark = e->b.block->instrs.count;
    TileId b = read_b(corner);
    s->b_facts = facts_since(s, mark, symbol_of(emit_axis(e, 0)), symbol_of(k), 2 * s->nr);
    return b;
}

void contract_pack_b(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->nr, 0, s->lanes);
    EmitLoop loop = emit_begin_for(e, "k", dim_const(e->ctx, 0), s->extent[GROUP_k], NULL, 0);
    size_t mark = emit_guard_mark(e);
    contract_set_group(s, GROUP_k, loop.variable);
    TileId b = read_b(corner);
    const Dim *subscripts[2] = {loop.variable, emit_axis(e, 0)};
    if (b != TILE_none) tile_store(&e->b, b, s->b_view, subscripts, NULL, NULL, 0, OP_none);
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}

/* Asks for the line `offset` elements behind the one of b at a column and a step. */
static void ask_for_b(Contraction *s, const Dim *column, const Dim *k, const Dim *offset) {
    contract_set_shape(s, 1, 0, 1);
    contract_set_group(s, GROUP_n, column);
    contract_set_group(s, GROUP_k, k);
    s->e.ask = offset;
    contract_raw_operand(s, false);
    s->e.ask = NULL;
}

/* The tiles of a panel ask for the next one, so that it comes from memory or the last cache while
 * this one is multiplied: an equal part each of a packed panel, which is one row of elements; of
 * another one a line of each step, as long as there are lines. */
void contract_prefetch_b(const Corner *corner, const Dim *k) {
    Contraction *s = corner->s;
    IrContext *ctx = s->e.ctx;
    if (!s->prefetch || s->pack_b || corner->partial || corner->mr < ASKING_ROWS) return;
    const Dim *next = dim_offset(ctx, corner->column, s->nr), *zero = dim_const(ctx, 0);
    int64_t line = s->words ? LINE_BYTES : LINE_BYTES / sum_bytes(s);
    int64_t width = s->words ? 4 * s->nr : s->nr, step = (width + s->rows - 1) / s->rows;
    const Dim *done = dim_mul(ctx, corner->tile, s->steps);
    const Dim *at = dim_scale(ctx, dim_add(ctx, done, k), step);
    if (s->b_facts.far && !s->words) {
        step = (s->nr / line + s->rows - 1) / s->rows * line;
        at = dim_scale(ctx, dim_min(ctx, corner->tile, dim_const(ctx, s->nr / step)), step);
    }
    for (int64_t i = 0; i < step; i += line)
        ask_for_b(s, next, s->b_facts.far && !s->words ? k : zero, dim_offset(ctx, at, i));
    contract_set_group(s, GROUP_k, k);
}

/* ---- a --------------------------------------------------------------------------------------- */

static TileId load_packed_a(const Corner *corner, const Dim *k) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    TileType type = emit_type(e, contract_sum_dtype(s));
    const Dim *row = dim_add(e->ctx, corner->block_row, emit_axis(e, 0));
    if (!s->a_facts.slow)
        return tile_load(&e->b, type, s->a_view, (const Dim *[]){row, k}, NULL, NULL, 0, 0);
    return tile_load(&e->b, type, s->a_view, (const Dim *[]){corner->tile, k, emit_axis(e, 0)},
                     NULL, NULL, 0, 0);
}

TileId contract_load_a(const Corner *corner, const Dim *k) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    contract_set_shape(s, corner->mr, 0, 1);
    if (s->pack_a) return load_packed_a(corner, k);
    size_t mark = e->b.block->instrs.count;
    contract_set_group(s, GROUP_m, dim_add(e->ctx, corner->row, emit_axis(e, 0)));
    TileId a = contract_operand(s, true);
    OperandFacts facts = facts_since(s, mark, symbol_of(k), NULL, 0);
    if (corner->mr == s->mr) s->a_facts = facts;
    return a;
}

/* One row, along k in vectors. */
static void copy_along_k(Contraction *s, const Dim *row, const Dim *block_row, const Dim *k,
                         int64_t width) {
    ValueEmitter *e = &s->e;
    contract_set_shape(s, width, 0, width > 1 ? s->lanes : 1);
    const Dim *position = dim_add(e->ctx, k, emit_axis(e, 0));
    size_t mark = emit_guard_mark(e);
    contract_set_group(s, GROUP_m, row);
    contract_set_group(s, GROUP_k, position);
    TileId a = contract_operand(s, true);
    if (a != TILE_none && s->words) a = contract_as_byte(s, a);
    const Dim *subscripts[2] = {block_row, position};
    if (a != TILE_none) tile_store(&e->b, a, s->a_view, subscripts, NULL, NULL, 0, OP_none);
    emit_pop_guards(e, mark);
}

void contract_pack_a_row(Contraction *s, const Dim *row, const Dim *block_row) {
    ValueEmitter *e = &s->e;
    const Dim *k = s->extent[GROUP_k], *lanes = dim_const(e->ctx, s->lanes);
    const Dim *vectors = dim_floordiv(e->ctx, k, lanes), *done = dim_mul(e->ctx, vectors, lanes);
    EmitLoop loop = emit_begin_for(e, "v", dim_const(e->ctx, 0), vectors, NULL, 0);
    copy_along_k(s, row, block_row, dim_mul(e->ctx, loop.variable, lanes), s->lanes);
    if (s->words) loop.loop->unroll = 4;
    emit_end_for(e, loop, NULL);
    if (done == k) return;
    loop = emit_begin_for(e, "k", done, k, NULL, 0);
    copy_along_k(s, row, block_row, loop.variable, 1);
    emit_end_for(e, loop, NULL);
}

void contract_pack_a_tile(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "k", dim_const(e->ctx, 0), s->extent[GROUP_k], NULL, 0);
    contract_set_shape(s, corner->mr, 0, 1);
    size_t mark = emit_guard_mark(e);
    contract_set_group(s, GROUP_k, loop.variable);
    contract_set_group(s, GROUP_m, dim_add(e->ctx, corner->row, emit_axis(e, 0)));
    TileId a = contract_operand(s, true);
    const Dim *subscripts[3] = {corner->tile, loop.variable, emit_axis(e, 0)};
    if (a != TILE_none) tile_store(&e->b, a, s->a_view, subscripts, NULL, NULL, 0, OP_none);
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}
