/* Data that no cache holds: loads that are asked for ahead of time, and stores that bypass the
 * caches: for results larger than them, which nobody reads soon. They need
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

static V is_aligned(Lowering *l, V address, uint32_t bytes) {
    V number = LLVMBuildPtrToInt(l->builder, address, l->i64, "");
    V low = ll_and(l, number, ll_i64(l, (int64_t)bytes - 1));
    return ll_compare(l, LLVMIntEQ, low, ll_i64(l, 0));
}

static void mark_streaming(Lowering *l, V store) {
    unsigned kind = LLVMGetMDKindIDInContext(l->context, "nontemporal", 11);
    LLVMMetadataRef one = LLVMValueAsMetadata(ll_i32(l, 1));
    V node = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, &one, 1));
    LLVMSetMetadata(store, kind, node);
}

bool x86_stream(Lowering *l, const Access *access, const Place *place, V value) {
    if (nibble_is(access->view->dtype) || place->lanes == 1) return false;
    uint32_t bytes = store_bytes(l, value);
    if (bytes < 16) return false;
    V address = access_address(l, access, place->base, place->offset);
    V decides = place->step % bytes == 0 ? access->base : address; /* the same in every iteration */
    LLVMBasicBlockRef fast = ll_block(l, "stream"), slow = ll_block(l, "store");
    LLVMBasicBlockRef behind = ll_block(l, "stored");
    ll_branch(l, is_aligned(l, decides, bytes), fast, slow);
    ll_enter(l, fast);
    V streaming = LLVMBuildStore(l->builder, value, address);
    LLVMSetAlignment(streaming, bytes);
    mark_streaming(l, streaming);
    ll_jump(l, behind);
    ll_enter(l, slow);
    LLVMSetAlignment(LLVMBuildStore(l->builder, value, address), place->align);
    ll_jump(l, behind);
    ll_enter(l, behind);
    l->streams = true;
    return true;
}

enum { LINE_BYTES = 64, CACHE_first = 3, CACHE_second = 2 };

/* `offset` may lead beyond the memory that `base` is in. */
static void ask(Lowering *l, V base, int64_t offset, int cache) {
    V bytes = ll_i64(l, offset);
    V args[4] = {LLVMBuildGEP2(l->builder, l->i8, base, &bytes, 1, ""), ll_i32(l, 0),
                 ll_i32(l, cache), ll_i32(l, 1)};
    ll_intrinsic(l, "llvm.prefetch", &l->ptr, 1, args, 4);
}

/* One request for each cache line; a prefetch of no memory of ours does nothing. What is needed
 * soon is asked into the first cache, what is further ahead into the second, lest it drive out what
 * is needed now. */
void x86_prefetch(Lowering *l, const Access *access, const Place *place, int64_t ahead) {
    int cache = ahead > l->options->target->l1_bytes / 4 ? CACHE_second : CACHE_first;
    int64_t bytes = (int64_t)dtype_info(access->view->dtype)->bits * place->lanes / 8;
    V address = access_address(l, access, place->base, place->offset);
    for (int64_t at = 0; at < bytes; at += LINE_BYTES) ask(l, address, ahead + at, cache);
}

void x86_prefetch_line(Lowering *l, const Access *access, const Place *place) {
    int64_t bits = dtype_info(access->view->dtype)->bits;
    V bytes = LLVMBuildLShr(l->builder, ll_mul(l, place->base, ll_i64(l, bits)), ll_i64(l, 3), "");
    V base = LLVMBuildGEP2(l->builder, l->i8, access->base, &bytes, 1, "");
    ask(l, base, place->offset * bits / 8, CACHE_second);
}
