/* Index arithmetic, and what surrounds the values that are emitted: guards, loops, branches. */
#include "codegen/skeleton/emit_internal.h"

/* ---- index arithmetic ------------------------------------------------------------------------ */

const Dim *emit_linear(IrContext *ctx, uint32_t rank, const Dim *const *dims,
                       const Dim *const *index) {
    const Dim *position = dim_const(ctx, 0);
    for (uint32_t i = 0; i < rank; i++)
        position = dim_add(ctx, dim_mul(ctx, position, dims[i]), index[i]);
    return position;
}

void emit_delinear(ValueEmitter *e, uint32_t rank, const Dim *const *dims, const Dim *position,
                   const Dim **out_index) {
    const Dim *one = dim_const(e->ctx, 1);
    for (uint32_t i = rank; i-- > 0;) {
        const Dim *d = dims[i]->lo > 0 ? dims[i] : dim_max(e->ctx, dims[i], one);
        out_index[i] = i == 0 ? position : dim_mod(e->ctx, position, d);
        position = dim_floordiv(e->ctx, position, d);
        if (dims[i]->lo <= 0 && rank > 1)
            emit_push_guard(e, out_index[i], dim_const(e->ctx, 0), dims[i]);
    }
}

/* ---- guards, scopes, provisions -------------------------------------------------------------- */

void emit_push_guard(ValueEmitter *e, const Dim *value, const Dim *lo, const Dim *hi) {
    if (dim_proves_le(e->ctx, lo, value) && dim_proves_lt(e->ctx, value, hi)) return;
    for (size_t i = 0; i < e->guards.count; i++) {
        const TileGuard *g = &e->guards.data[i];
        if (g->value == value && g->lo == lo && g->hi == hi) return;
    }
    vec_push(e->arena, &e->guards, (TileGuard){value, lo, hi});
}

size_t emit_guard_mark(const ValueEmitter *e) { return e->guards.count; }

void emit_pop_guards(ValueEmitter *e, size_t mark) { e->guards.count = mark; }

TileId emit_test(ValueEmitter *e, size_t mark) {
    if (e->guards.count == mark) return TILE_none;
    return tile_test(&e->b, emit_type(e, DT_bool), e->guards.data + mark,
                     (uint32_t)(e->guards.count - mark));
}

size_t emit_scope(const ValueEmitter *e) { return e->memo.count; }

void emit_end_scope(ValueEmitter *e, size_t mark) { e->memo.count = mark; }

void emit_provide(ValueEmitter *e, const Provision *provision) {
    vec_push(e->arena, &e->provisions, *provision);
}

EmitLoop emit_begin_for(ValueEmitter *e, const char *name, const Dim *from, const Dim *to,
                        const TileId *initial, uint32_t count) {
    EmitLoop loop = {.scope = emit_scope(e), .facts = e->prover.facts.count};
    loop.loop = tile_begin_for(&e->b, name, from, to, 1, initial, count);
    loop.variable = dim_of_symbol(e->ctx, loop.loop->variable);
    prover_assume_range(&e->prover, from, loop.variable, to);
    return loop;
}

TileId emit_end_for(ValueEmitter *e, EmitLoop loop, const TileId *yields) {
    emit_end_scope(e, loop.scope);
    e->prover.facts.count = loop.facts;
    return tile_end_for(&e->b, loop.loop, yields);
}

/* A longer loop gains nothing: its own instructions fill the window that a core looks ahead in, and
 * copies of them only take LLVM's time. */
enum { UNROLLED_INSTRS = 128 };

/* rsqrt is a root and a quotient, and mostly one of a row. */
static bool has_polynomial(const TileBlock *block) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        bool is_map = instr->op == TILE_map && instr->scalar != OP_rsqrt;
        if (is_map && op_info(instr->scalar)->ulp > 0) return true;
        for (uint32_t b = 0; b < instr->block_count; b++)
            if (has_polynomial(&instr->blocks[b])) return true;
    }
    return false;
}

static int64_t count_instrs(const TileBlock *block) {
    int64_t count = (int64_t)block->instrs.count;
    for (size_t i = 0; i < block->instrs.count; i++)
        for (uint32_t b = 0; b < block->instrs.data[i]->block_count; b++)
            count += count_instrs(&block->instrs.data[i]->blocks[b]);
    return count;
}

uint32_t emit_unroll(const EmitLoop *loop, int64_t wanted) {
    const TileBlock *body = &loop->loop->blocks[0];
    if (has_polynomial(body)) wanted /= 4;
    int64_t most = UNROLLED_INSTRS / (1 + count_instrs(body));
    while (wanted > 1 && wanted > most) wanted /= 2;
    return wanted > 1 ? (uint32_t)wanted : 1;
}

EmitBranch emit_begin_if(ValueEmitter *e, const TileGuard *guards, uint32_t guard_count) {
    EmitBranch branch = {.scope = emit_scope(e), .facts = e->prover.facts.count};
    branch.branch = tile_begin_if(&e->b, guards, guard_count);
    for (uint32_t i = 0; i < guard_count; i++)
        prover_assume_range(&e->prover, guards[i].lo, guards[i].value, guards[i].hi);
    return branch;
}

void emit_else(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count) {
    emit_end_scope(e, branch.scope);
    e->prover.facts.count = branch.facts;
    tile_else(&e->b, branch.branch, yields, count);
}

TileId emit_end_if(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count) {
    emit_end_scope(e, branch.scope);
    return tile_end_if(&e->b, branch.branch, yields, count);
}
