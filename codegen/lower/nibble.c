/* 4-bit values: two in a byte, the even element low. In registers each is an i8, sign- or
 * zero-extended. */
#include "codegen/lower/lowering.h"

bool nibble_is(DType dtype) { return dtype == DT_i4 || dtype == DT_u4; }

static V shift_left(Lowering *l, V a, V count) { return LLVMBuildShl(l->builder, a, count, ""); }

static V four(V like) { return ll_const(LLVMTypeOf(like), 4); }

V nibble_high(Lowering *l, DType dtype, V bytes) {
    if (dtype == DT_i4) return LLVMBuildAShr(l->builder, bytes, four(bytes), "");
    return LLVMBuildLShr(l->builder, bytes, four(bytes), "");
}

V nibble_low(Lowering *l, DType dtype, V bytes) {
    if (dtype == DT_i4) return nibble_high(l, dtype, shift_left(l, bytes, four(bytes)));
    return ll_and(l, bytes, ll_const(LLVMTypeOf(bytes), 15));
}

V nibble_join(Lowering *l, V low, V high) {
    V masked = ll_and(l, low, ll_const(LLVMTypeOf(low), 15));
    return LLVMBuildOr(l->builder, masked, shift_left(l, high, four(high)), "");
}

static V is_odd(Lowering *l, V element) {
    V one = ll_const(LLVMTypeOf(element), 1);
    return ll_compare(l, LLVMIntNE, ll_and(l, element, one), LLVMConstNull(LLVMTypeOf(element)));
}

V nibble_take(Lowering *l, DType dtype, V byte, V element) {
    return ll_select(l, is_odd(l, element), nibble_high(l, dtype, byte),
                     nibble_low(l, dtype, byte));
}

static void change_atomically(Lowering *l, LLVMAtomicRMWBinOp op, V address, V bits) {
    LLVMBuildAtomicRMW(l->builder, op, address, bits, LLVMAtomicOrderingMonotonic, 0);
}

void nibble_store(Lowering *l, V byte_address, V element, V value, NibbleOwner owner) {
    V odd = is_odd(l, element);
    V low = ll_and(l, value, ll_const(l->i8, 15));
    V bits = ll_select(l, odd, shift_left(l, value, four(value)), low);
    V others = ll_select(l, odd, ll_const(l->i8, 0x0f), ll_const(l->i8, 0xf0));
    if (owner == NIBBLE_shared) {
        change_atomically(l, LLVMAtomicRMWBinOpAnd, byte_address, others);
        change_atomically(l, LLVMAtomicRMWBinOpOr, byte_address, bits);
        return;
    }
    V old = ll_and(l, LLVMBuildLoad2(l->builder, l->i8, byte_address, ""), others);
    LLVMBuildStore(l->builder, LLVMBuildOr(l->builder, old, bits, ""), byte_address);
}
