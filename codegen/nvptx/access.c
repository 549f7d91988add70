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

static void store_nibble(Lowering *l, const Access *access, const Place *place, V value) {
    nibble_store(l, address_of(l, access, place), place->offsets, value);
}

/* A byte is read and written, so the lanes with even elements go first, then those with odd ones;
 * and none begins before the lanes have done what they did to the neighbours. */
static void store_nibbles(Lowering *l, V condition, const Access *access, const Place *place,
                          V value) {
    V bit = ll_and(l, place->offsets, ll_i64(l, 1));
    for (int64_t odd = 0; odd < 2; odd++) {
        nvptx_order_lanes(l);
        V mine = ll_and(l, condition, ll_compare(l, LLVMIntEQ, bit, ll_i64(l, odd)));
        store_if(l, mine, access, place, value, store_nibble);
    }
    nvptx_order_lanes(l);
}

void nvptx_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value) {
    V condition = guards_lanes(l, mask, place->lanes);
    if (place->lanes == 1)
        condition = ll_and(l, condition, ll_compare(l, LLVMIntEQ, l->lane, ll_i32(l, 0)));
    bool nibbles = nibble_is(access->view->dtype);
    if (nibbles && (condition || !place->even))
        store_nibbles(l, condition, access, place, value);
    else if (nibbles)
        store_whole_bytes(l, access, place, value);
    else if (condition)
        store_if(l, condition, access, place, value, store_now);
    else
        store_now(l, access, place, value);
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
