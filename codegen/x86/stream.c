/* Stores that bypass the caches: for results larger than them, which nobody reads soon. They need
 * the whole vector aligned, which is known at run time only, and the fence at the kernel's end. */
#include "codegen/x86/x86.h"

#include <string.h>

/* The largest vectors that one instruction stores; wider registers are split by LLVM. */
static uint32_t store_bytes(const Lowering *l, V value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t bits = LLVMGetVectorSize(type);
    LLVMTypeRef lane = LLVMGetElementType(type);
    LLVMTypeKind kind = LLVMGetTypeKind(lane);
    if (kind == LLVMIntegerTypeKind)
        bits *= LLVMGetIntTypeWidth(lane);
    else
        bits *= kind == LLVMDoubleTypeKind ? 64 : 32;
    uint32_t bytes = bits / 8, most = l->options->target->vector_bytes;
    return bytes < most ? bytes : most;
}

static V are_aligned(Lowering *l, const V *addresses, uint32_t count, uint32_t bytes) {
    V bits = ll_i64(l, 0);
    for (uint32_t i = 0; i < count; i++) {
        V number = LLVMBuildPtrToInt(l->builder, addresses[i], l->i64, "");
        bits = LLVMBuildOr(l->builder, bits, number, "");
    }
    V low = ll_and(l, bits, ll_i64(l, (int64_t)bytes - 1));
    return ll_compare(l, LLVMIntEQ, low, ll_i64(l, 0));
}

static void store_all(Lowering *l, const V *addresses, const V *values, uint32_t count,
                      uint32_t align, bool streams) {
    unsigned kind = LLVMGetMDKindIDInContext(l->context, "nontemporal", 11);
    LLVMMetadataRef one = LLVMValueAsMetadata(ll_i32(l, 1));
    V node = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, &one, 1));
    for (uint32_t i = 0; i < count; i++) {
        V store = LLVMBuildStore(l->builder, values[i], addresses[i]);
        LLVMSetAlignment(store, align);
        if (streams) LLVMSetMetadata(store, kind, node);
    }
}

bool x86_stream(Lowering *l, const Access *access, const Place *places, const V *values,
                uint32_t count) {
    if (nibble_is(access->view->dtype) || places[0].lanes == 1) return false;
    uint32_t bytes = store_bytes(l, values[0]);
    if (bytes < 16) return false;
    V *addresses = NEW_ARRAY(l->arena, V, count);
    for (uint32_t i = 0; i < count; i++)
        addresses[i] = access_address(l, access, places[i].base, places[i].offset);
    LLVMBasicBlockRef fast = ll_block(l, "stream"), slow = ll_block(l, "store");
    LLVMBasicBlockRef behind = ll_block(l, "stored");
    ll_branch(l, are_aligned(l, addresses, count, bytes), fast, slow);
    ll_enter(l, fast);
    store_all(l, addresses, values, count, bytes, true);
    ll_jump(l, behind);
    ll_enter(l, slow);
    store_all(l, addresses, values, count, places[0].align, false);
    ll_jump(l, behind);
    ll_enter(l, behind);
    l->streams = true;
    return true;
}
