/* Registers from and to memory on NVPTX: each thread accesses its own element, if its mask says so.
 */
#include "codegen/nvptx/nvptx.h"

static V address_of(Lowering *l, const Access *access, const Place *place) {
    return access_address(l, access, place->offsets, 0);
}

static V load_now(Lowering *l, const Access *access, const Place *place) {
    V load = LLVMBuildLoad2(l->builder, access->storage, address_of(l, access, place), "");
    uint32_t bits = dtype_info(access->view->dtype)->bits;
    access_mark_load(l, access, load, bits >= 8 ? bits / 8 : 1);
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
    V address = address_of(l, access, place);
    if (nibble_is(access->view->dtype)) {
        nibble_store(l, address, place->offsets, value);
        return;
    }
    V store = LLVMBuildStore(l->builder, value, address);
    LLVMSetAlignment(store, dtype_info(access->view->dtype)->bits / 8);
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

void nvptx_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value) {
    V condition = guards_lanes(l, mask, place->lanes);
    if (place->lanes == 1)
        condition = ll_and(l, condition, ll_compare(l, LLVMIntEQ, l->lane, ll_i32(l, 0)));
    if (condition)
        store_if(l, condition, access, place, value, store_now);
    else if (nibble_is(access->view->dtype) && place->even)
        store_whole_bytes(l, access, place, value);
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
    ll_branch(l, ll_compare(l, LLVMIntSLT, next, ll_i32(l, WARP_LANES)), body, behind);
    memo_close(&l->memo, mark);
    ll_enter(l, behind);
}
