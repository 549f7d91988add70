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

static void store_byte(Lowering *l, const Access *access, const Place *place, V value) {
    LLVMSetAlignment(LLVMBuildStore(l->builder, value, address_of(l, access, place)), 1);
}

/* Even lanes store the byte of two. */
static void store_whole_bytes(Lowering *l, const Access *access, const Place *place, V value) {
    V byte = nibble_join(l, value, nvptx_exchange(l, value, 1));
    V even = ll_compare(l, LLVMIntEQ, ll_and(l, l->lane, ll_i32(l, 1)), ll_i32(l, 0));
    store_if(l, even, access, place, byte, store_byte);
}

/* The rest of a byte may belong to any other thread, and there are no atomic operations on bytes:
 * in the word around it the old bits are cleared, then the new ones set. */
static void store_nibble(Lowering *l, const Access *access, const Place *place, V value) {
    V byte = address_of(l, access, place);
    V number = LLVMBuildPtrToInt(l->builder, byte, l->i64, "");
    V in_word = ll_and(l, number, ll_i64(l, 3)), three = ll_i64(l, 3), two = ll_i64(l, 2);
    V word = ll_gep(l, l->i8, byte, LLVMBuildNeg(l->builder, in_word, ""));
    V odd = ll_and(l, place->offsets, ll_i64(l, 1));
    V shift = ll_add(l, LLVMBuildShl(l->builder, in_word, three, ""),
                     LLVMBuildShl(l->builder, odd, two, ""));
    shift = ll_cast(l, shift, l->i32, false);
    V mask = ll_i32(l, 15), mine = ll_and(l, ll_cast(l, value, l->i32, false), mask);
    V others = LLVMBuildNot(l->builder, LLVMBuildShl(l->builder, mask, shift, ""), "");
    V bits = LLVMBuildShl(l->builder, mine, shift, "");
    LLVMBuildAtomicRMW(l->builder, LLVMAtomicRMWBinOpAnd, word, others, LLVMAtomicOrderingMonotonic,
                       0);
    LLVMBuildAtomicRMW(l->builder, LLVMAtomicRMWBinOpOr, word, bits, LLVMAtomicOrderingMonotonic,
                       0);
}

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
