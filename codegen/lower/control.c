/* Blocks, loops and branches.
 *
 * A loop becomes up to two: the *main* loop lays out `unroll` iterations in a row and assumes the
 * guards that hold in all iterations up to some; what is left, the last iterations and all that a
 * guard cuts, runs one iteration at a time. Both test before they enter and at their end. Around
 * them, guards that the loop does not change are decided once, and the loops exist in two versions.
 */
#include "codegen/lower/lowering.h"

static EmitWhole *const whole_emitters[TILE_op_count] = {
    [TILE_for] = lower_for,           [TILE_if] = lower_if,     [TILE_reduce] = lower_reduce,
    [TILE_scan] = lower_scan,         [TILE_dot] = lower_dot,   [TILE_sort] = lower_sort,
    [TILE_random] = lower_random,     [TILE_mma] = lower_mma,   [TILE_mma_store] = lower_mma,
    [TILE_prefetch] = lower_prefetch, [TILE_dot4] = lower_dot4,
};

void lower_block(Lowering *l, const TileBlock *block) {
    TileInstr *const *instrs = block->instrs.data;
    for (size_t i = 0; i < block->instrs.count;) {
        size_t count = runs_length(l, instrs + i, block->instrs.count - i);
        if (count > 0) {
            runs_emit(l, instrs + i, count);
            i += count;
            continue;
        }
        lower_note_place(l, instrs[i]);
        if (instrs[i]->op != TILE_yield) whole_emitters[instrs[i]->op](l, instrs[i]);
        i++;
    }
}

static const TileInstr *yield_of(const TileBlock *block) {
    require(block->instrs.count > 0);
    const TileInstr *last = block->instrs.data[block->instrs.count - 1];
    require(last->op == TILE_yield);
    return last;
}

/* ---- all registers of several tiles in a row ------------------------------------------------- */

typedef struct Flat {
    V *items;
    uint32_t count;
} Flat;

static Flat flat_new(Lowering *l, uint32_t count) {
    return (Flat){NEW_ARRAY(l->arena, V, count), count};
}

static Flat flat_of(Lowering *l, const TileId *ids, uint32_t id_count) {
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < id_count; i++)
        count += tile_register_count(tile_value_type(l->program, ids[i]));
    Flat flat = flat_new(l, count);
    for (uint32_t i = 0; i < id_count; i++) {
        uint32_t registers = tile_register_count(tile_value_type(l->program, ids[i]));
        for (uint32_t j = 0; j < registers; j++) flat.items[at++] = values_of(l, ids[i])->items[j];
    }
    return flat;
}

/* Gives the values to the consecutive ids from `first` on. */
static void flat_bind(Lowering *l, Flat flat, TileId first, uint32_t id_count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < id_count; i++) {
        const TileType *type = tile_value_type(l->program, first + i);
        Registers registers = values_new(l, type);
        uint32_t count = tile_register_count(type);
        for (uint32_t j = 0; j < count; j++) registers.items[j] = flat.items[at++];
        l->values[first + i] = registers;
    }
    require(at == flat.count);
}

static Flat flat_phis(Lowering *l, Flat like) {
    Flat phis = flat_new(l, like.count);
    for (uint32_t i = 0; i < like.count; i++) phis.items[i] = ll_phi(l, LLVMTypeOf(like.items[i]));
    return phis;
}

static void flat_incoming(Flat phis, Flat values, LLVMBasicBlockRef from) {
    for (uint32_t i = 0; i < phis.count; i++) ll_incoming(phis.items[i], values.items[i], from);
}

/* ---- two ways to one result ------------------------------------------------------------------ */

typedef Flat EmitWay(Lowering *l, const void *what, bool first);

/* The one way or the other; what is emitted in either is out of scope behind. */
static Flat emit_two_ways(Lowering *l, V condition, EmitWay *emit, const void *what) {
    LLVMBasicBlockRef ways[2] = {ll_block(l, "yes"), ll_block(l, "no")}, ends[2];
    LLVMBasicBlockRef behind = ll_block(l, "behind");
    Flat results[2];
    ll_branch(l, condition, ways[0], ways[1]);
    for (int i = 0; i < 2; i++) {
        size_t mark = memo_open(&l->memo);
        ll_enter(l, ways[i]);
        results[i] = emit(l, what, i == 0);
        ends[i] = ll_here(l);
        ll_jump(l, behind);
        memo_close(&l->memo, mark);
    }
    ll_enter(l, behind);
    Flat phis = flat_phis(l, results[0]);
    for (int i = 0; i < 2; i++) flat_incoming(phis, results[i], ends[i]);
    return phis;
}

static Flat emit_branch(Lowering *l, const void *what, bool first) {
    const TileInstr *instr = what;
    const TileBlock *block = &instr->blocks[first ? 0 : 1];
    const TileInstr *yield = yield_of(block);
    lower_block(l, block);
    return flat_of(l, yield->args, yield->arg_count);
}

void lower_if(Lowering *l, const TileInstr *instr) {
    V condition = guards_uniform(l, instr);
    Flat results =
        condition ? emit_two_ways(l, condition, emit_branch, instr) : emit_branch(l, instr, true);
    flat_bind(l, results, instr->result, instr->result_count);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* A part of a loop: from an i64 start, `copies` iterations at a time, as long as there are so many
 * and the guards of `guards`, which its body assumes, hold in all of them. */
typedef struct LoopPart {
    const TileInstr *instr;
    uint32_t copies;
    const GuardSet *guards;
    V start, limit;
} LoopPart;

static V more_iterations(Lowering *l, const LoopPart *part, V at) {
    int64_t ahead = part->instr->step * ((int64_t)part->copies - 1);
    V more = ll_compare(l, LLVMIntSLT, ll_add(l, at, ll_i64(l, ahead)), part->limit);
    if (part->guards->items.count == 0) return more;
    size_t mark = memo_open(&l->memo);
    dims_bind(l, part->instr->variable, at);
    V hold = versions_condition(l, part->guards, part->instr->variable, ahead);
    memo_close(&l->memo, mark);
    return ll_and(l, more, hold);
}

static Flat emit_iteration(Lowering *l, const TileInstr *instr, V at, Flat carried) {
    size_t mark = memo_open(&l->memo);
    dims_bind(l, instr->variable, at);
    flat_bind(l, carried, instr->carried, instr->arg_count);
    lower_block(l, &instr->blocks[0]);
    const TileInstr *yield = yield_of(&instr->blocks[0]);
    memo_close(&l->memo, mark);
    return flat_of(l, yield->args, yield->arg_count);
}

static Flat emit_copies(Lowering *l, const LoopPart *part, V at, Flat carried) {
    size_t mark = versions_assume(l, part->guards);
    for (uint32_t i = 0; i < part->copies; i++) {
        V here = ll_add(l, at, ll_i64(l, part->instr->step * i));
        carried = emit_iteration(l, part->instr, here, carried);
    }
    versions_forget(l, mark);
    return carried;
}

/* Gives the carried values behind the part, and the variable's in *out_at. */
static Flat emit_part(Lowering *l, const LoopPart *part, Flat initial, V *out_at) {
    LLVMBasicBlockRef body = ll_block(l, "loop"), behind = ll_block(l, "done");
    ll_branch(l, more_iterations(l, part, part->start), body, behind);
    LLVMBasicBlockRef before = ll_here(l);
    ll_enter(l, body);
    V at = ll_phi(l, l->i64);
    Flat carried = flat_phis(l, initial);
    size_t mark = memo_open(&l->memo);
    Flat next = emit_copies(l, part, at, carried);
    V next_at = ll_add(l, at, ll_i64(l, part->instr->step * part->copies));
    V more = more_iterations(l, part, next_at);
    memo_close(&l->memo, mark);
    LLVMBasicBlockRef latch = ll_here(l);
    ll_branch(l, more, body, behind);
    ll_incoming(at, part->start, before);
    ll_incoming(at, next_at, latch);
    flat_incoming(carried, initial, before);
    flat_incoming(carried, next, latch);
    ll_enter(l, behind);
    V end = ll_phi(l, l->i64);
    ll_incoming(end, part->start, before);
    ll_incoming(end, next_at, latch);
    *out_at = end;
    Flat results = flat_phis(l, initial);
    flat_incoming(results, initial, before);
    flat_incoming(results, next, latch);
    return results;
}

/* How many iterations there are when that is a constant; else -1. */
static int64_t constant_trips(Lowering *l, const TileInstr *instr) {
    int64_t span = 0;
    if (!dim_is_const(dim_sub(l->program->ctx, instr->to, instr->from), &span)) return -1;
    return span <= 0 ? 0 : (span + instr->step - 1) / instr->step;
}

static bool divides(Lowering *l, const TileInstr *instr, uint32_t copies) {
    const Dim *span = dim_sub(l->program->ctx, instr->to, instr->from);
    int64_t whole = 0;
    if (__builtin_mul_overflow(instr->step, (int64_t)copies, &whole)) return false;
    return dim_proves_divisible(span, whole);
}

/* The main part, single iterations that no guard cuts, and the rest. */
static Flat emit_loop(Lowering *l, const TileInstr *instr, Flat carried) {
    const GuardSet none = {0};
    uint32_t copies = instr->unroll > 1 && l->general == 0 ? instr->unroll : 1;
    GuardSet rising = versions_collect_rising(l, instr);
    if (rising.items.count > 0 && !versions_afford(l, &instr->blocks[0])) rising = none;
    bool cut = rising.items.count > 0;
    LoopPart part = {.instr = instr, .copies = copies, .guards = &rising};
    part.start = dims_emit(l, instr->from);
    part.limit = dims_emit(l, instr->to);
    carried = emit_part(l, &part, carried, &part.start);
    part.copies = 1;
    if (!cut && (copies == 1 || divides(l, instr, copies))) return carried;
    if (cut && copies > 1) carried = emit_part(l, &part, carried, &part.start);
    part.guards = &none;
    return emit_part(l, &part, carried, &part.start);
}

/* A loop of a known small number of iterations is laid out whole. */
static Flat emit_straight(Lowering *l, const TileInstr *instr, Flat carried, int64_t trips) {
    V from = dims_emit(l, instr->from);
    for (int64_t i = 0; i < trips; i++)
        carried = emit_iteration(l, instr, ll_add(l, from, ll_i64(l, i * instr->step)), carried);
    return carried;
}

static Flat emit_all(Lowering *l, const TileInstr *instr) {
    Flat initial = flat_of(l, instr->args, instr->arg_count);
    int64_t trips = constant_trips(l, instr);
    if (trips >= 0 && trips <= (instr->unroll > 1 ? instr->unroll : 1))
        return emit_straight(l, instr, initial, trips);
    return emit_loop(l, instr, initial);
}

typedef struct Versioned {
    const TileInstr *instr; /* a loop; NULL: the program's body */
    const GuardSet *guards;
} Versioned;

static Flat emit_version(Lowering *l, const void *what, bool first) {
    const Versioned *versioned = what;
    const GuardSet none = {0};
    size_t mark = versions_assume(l, first ? versioned->guards : &none);
    uint32_t depth = l->general;
    if (!first && versioned->guards->items.count > 0) l->general++;
    Flat results = {0};
    if (versioned->instr)
        results = emit_all(l, versioned->instr);
    else
        lower_block(l, &l->program->body);
    versions_forget(l, mark);
    l->general = depth;
    return results;
}

static Flat emit_versions(Lowering *l, const TileInstr *instr, const TileBlock *block,
                          const DimSymbol *without) {
    GuardSet guards = versions_collect(l, block, without);
    const Versioned what = {.instr = instr, .guards = &guards};
    if (guards.items.count == 0 || !versions_afford(l, block)) {
        guards.items.count = 0;
        return emit_version(l, &what, false);
    }
    V condition = versions_condition(l, &guards, NULL, 0);
    return emit_two_ways(l, condition, emit_version, &what);
}

void lower_for(Lowering *l, const TileInstr *instr) {
    Flat results = emit_versions(l, instr, &instr->blocks[0], instr->variable);
    flat_bind(l, results, instr->result, instr->result_count);
}

void lower_point(Lowering *l) {
    size_t mark = memo_open(&l->memo);
    emit_versions(l, NULL, &l->program->body, NULL);
    memo_close(&l->memo, mark);
}
