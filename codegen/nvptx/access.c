/* Registers from and to memory on NVPTX: each thread accesses its own element, if its mask says so.
 */
#include "codegen/nvptx/nvptx.h"

static V address_of(Lowering *l, const Access *access, const Place *place) {
    return access_address(l, access, place->offsets, place->offset);
}

static V load_now(Lowering *l, const Access *access, const Place *place) {
    V load = LLVMBuildLoad2(l->builder, access->storage, address_of(l, access, place), "");
    access_mark_load(l, access, load, place->align);
    if (!nibble_is(access->view->dtype)) return load;
    return nibble_take(l, access->view->dtype, load, place->offsets);
}

V nvptx_load(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad) {
    V condition = guards_lanes(l, mask, place->lanes);
    if (!condition) return load_now(l, access, place);
    LLVMBasicBlockRef from = ll_here(l), body = ll_block(l, "load"), behind = ll_block(l, "loaded");
    ll_branch(l, condition, body, behind);
    ll_enter(l, body);
    V value = load_now(l, access, place);
    ll_jump(l, behind);
    ll_enter(l, behind);
    V result = ll_phi(l, LLVMTypeOf(value));
    ll_incoming(result, pad, from);
    ll_incoming(result, value, body);
    return result;
}

static void store_now(Lowering *l, const Access *access, const Place *place, V value) {
    V store = LLVMBuildStore(l->builder, value, address_of(l, access, place));
    LLVMSetAlignment(store, place->align);
}

static void store_if(Lowering *l, V condition, const Access *access, const Place *place, V value,
                     void (*store)(Lowering *, const Access *, const Place *, V)) {
    LLVMBasicBlockRef body = ll_block(l, "store"), behind = ll_block(l, "stored");
    ll_branch(l, condition, body, behind);
    ll_enter(l, body);
    store(l, access, place, value);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

/* ---- 4-bit elements ---------------------------------------------------------------------------
 *
 * A byte may be shared with any other thread, and there are no atomic operations on bytes. So bits
 * are replaced in the word around them: the old ones are cleared, then the new ones set. Threads
 * that do so may not meet others that store bytes of the word as such. */

static void store_byte(Lowering *l, const Access *access, const Place *place, V value) {
    LLVMSetAlignment(LLVMBuildStore(l->builder, value, address_of(l, access, place)), 1);
}

/* `mask` and `bits`, i32, of the byte at `byte`, shifted by `shift` (i64; NULL: not). */
static void replace_bits(Lowering *l, V byte, V shift, V mask, V bits) {
    V number = LLVMBuildPtrToInt(l->builder, byte, l->i64, "");
    V in_word = ll_and(l, number, ll_i64(l, 3));
    V word = ll_gep(l, l->i8, byte, LLVMBuildNeg(l->builder, in_word, ""));
    V before = LLVMBuildShl(l->builder, in_word, ll_i64(l, 3), "");
    if (shift) before = ll_add(l, before, shift);
    before = ll_cast(l, before, l->i32, false);
    V others = LLVMBuildNot(l->builder, LLVMBuildShl(l->builder, mask, before, ""), "");
    V mine = LLVMBuildShl(l->builder, ll_and(l, bits, mask), before, "");
    LLVMBuildAtomicRMW(l->builder, LLVMAtomicRMWBinOpAnd, word, others, LLVMAtomicOrderingMonotonic,
                       0);
    LLVMBuildAtomicRMW(l->builder, LLVMAtomicRMWBinOpOr, word, mine, LLVMAtomicOrderingMonotonic,
                       0);
}

static void replace_byte(Lowering *l, const Access *access, const Place *place, V value) {
    replace_bits(l, address_of(l, access, place), NULL, ll_i32(l, 255),
                 ll_cast(l, value, l->i32, false));
}

static void store_nibble(Lowering *l, const Access *access, const Place *place, V value) {
    V odd = ll_and(l, place->offsets, ll_i64(l, 1));
    V shift = LLVMBuildShl(l->builder, odd, ll_i64(l, 2), "");
    replace_bits(l, address_of(l, access, place), shift, ll_i32(l, 15),
                 ll_cast(l, value, l->i32, false));
}

static uint32_t count_stores(const Lowering *l, const TileBlock *block, const TileView *to) {
    uint32_t count = 0;
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        for (uint32_t j = 0; j < instr->block_count; j++)
            count += count_stores(l, &instr->blocks[j], to);
        if (instr->op != TILE_store) continue;
        const TileView *view = &l->program->views.data[instr->view];
        bool scratch = to->space == SPACE_scratch;
        count +=
            scratch ? view == to : view->space != SPACE_scratch && view->argument == to->argument;
    }
    return count;
}

/* Even lanes store the byte of two: as such if no other store may replace bits beside it. */
static void store_whole_bytes(Lowering *l, const Access *access, const Place *place, V value) {
    bool alone =
        access->instr->guard_count == 0 && count_stores(l, &l->program->body, access->view) == 1;
    V byte = nibble_join(l, value, nvptx_exchange(l, value, 1));
    V even = ll_compare(l, LLVMIntEQ, ll_and(l, l->lane, ll_i32(l, 1)), ll_i32(l, 0));
    store_if(l, even, access, place, byte, alone ? store_byte : replace_byte);
}

/* ---- stores ---------------------------------------------------------------------------------- */

void nvptx_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value) {
    V condition = guards_lanes(l, mask, place->lanes);
    if (place->lanes == 1)
        condition = ll_and(l, condition, ll_compare(l, LLVMIntEQ, l->lane, ll_i32(l, 0)));
    bool nibbles = nibble_is(access->view->dtype);
    if (nibbles && !condition && place->even) {
        store_whole_bytes(l, access, place, value);
        return;
    }
    void (*store)(Lowering *, const Access *, const Place *, V) =
        nibbles ? store_nibble : store_now;
    if (condition)
        store_if(l, condition, access, place, value, store);
    else
        store(l, access, place, value);
}

void nvptx_each_lane(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                     V value, EmitLane *emit) {
    LLVMBasicBlockRef before = ll_here(l), body = ll_block(l, "turn"), behind = ll_block(l, "done");
    ll_jump(l, body);
    size_t mark = memo_open(&l->memo);
    ll_enter(l, body);
    V turn = ll_phi(l, l->i32);
    Place own = *place;
    own.kind = PLACE_spread;
    V mine = ll_compare(l, LLVMIntEQ, l->lane, turn);
    Mask one = {.lanes = ll_and(l, guards_lanes(l, mask, place->lanes), mine)};
    emit(l, access, &own, &one, value);
    nvptx_order_lanes(l);
    V next = ll_add(l, turn, ll_i32(l, 1));
    ll_incoming(turn, ll_i32(l, 0), before);
    ll_incoming(turn, next, ll_here(l));
    ll_branch(l, ll_compare(l, LLVMIntSLT, next, ll_i32(l, l->threads)), body, behind);
    memo_close(&l->memo, mark);
    ll_enter(l, behind);
}
