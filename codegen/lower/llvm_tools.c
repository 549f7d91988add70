/* Short forms of LLVM's builder calls. */
#include "codegen/lower/lowering.h"

#include <string.h>

V ll_i64(const Lowering *l, int64_t value) { return LLVMConstInt(l->i64, (uint64_t)value, 1); }

V ll_i32(const Lowering *l, int64_t value) { return LLVMConstInt(l->i32, (uint64_t)value, 1); }

V ll_true(const Lowering *l) { return LLVMConstInt(l->i1, 1, 0); }

LLVMTypeRef ll_lanes(LLVMTypeRef element, uint32_t width) {
    return width ? LLVMVectorType(element, width) : element;
}

V ll_const(LLVMTypeRef type, int64_t value) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return LLVMConstInt(type, (uint64_t)value, 1);
    V lane = LLVMConstInt(LLVMGetElementType(type), (uint64_t)value, 1);
    V lanes[128];
    unsigned width = LLVMGetVectorSize(type);
    require(width <= sizeof lanes / sizeof *lanes);
    for (unsigned i = 0; i < width; i++) lanes[i] = lane;
    return LLVMConstVector(lanes, width);
}

static bool is_int(V value, int64_t number) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == number;
}

V ll_add(Lowering *l, V a, V b) {
    if (is_int(a, 0)) return b;
    return is_int(b, 0) ? a : LLVMBuildAdd(l->builder, a, b, "");
}

V ll_sub(Lowering *l, V a, V b) { return is_int(b, 0) ? a : LLVMBuildSub(l->builder, a, b, ""); }

V ll_mul(Lowering *l, V a, V b) {
    if (is_int(a, 1)) return b;
    return is_int(b, 1) ? a : LLVMBuildMul(l->builder, a, b, "");
}

V ll_compare(Lowering *l, LLVMIntPredicate predicate, V a, V b) {
    return LLVMBuildICmp(l->builder, predicate, a, b, "");
}

V ll_and(Lowering *l, V a, V b) {
    if (!a || !b) return a ? a : b;
    return LLVMBuildAnd(l->builder, a, b, "");
}

V ll_select(Lowering *l, V condition, V a, V b) {
    return LLVMBuildSelect(l->builder, condition, a, b, "");
}

V ll_min(Lowering *l, V a, V b) { return ll_select(l, ll_compare(l, LLVMIntSLT, a, b), a, b); }

V ll_max(Lowering *l, V a, V b) { return ll_select(l, ll_compare(l, LLVMIntSGT, a, b), a, b); }

static LLVMTypeRef lane_type_of(V value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

V ll_cast(Lowering *l, V value, LLVMTypeRef lane_type, bool is_signed) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        lane_type = LLVMVectorType(lane_type, LLVMGetVectorSize(type));
    unsigned from = LLVMGetIntTypeWidth(lane_type_of(value));
    unsigned to = LLVMGetIntTypeWidth(LLVMGetTypeKind(lane_type) == LLVMVectorTypeKind
                                          ? LLVMGetElementType(lane_type)
                                          : lane_type);
    if (from == to) return value;
    if (from > to) return LLVMBuildTrunc(l->builder, value, lane_type, "");
    return is_signed ? LLVMBuildSExt(l->builder, value, lane_type, "")
                     : LLVMBuildZExt(l->builder, value, lane_type, "");
}

V ll_splat(Lowering *l, V scalar, uint32_t width) {
    if (width == 0) return scalar;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), width);
    V one = LLVMBuildInsertElement(l->builder, LLVMGetPoison(type), scalar, ll_i32(l, 0), "");
    V zeros = LLVMConstNull(LLVMVectorType(l->i32, width));
    return LLVMBuildShuffleVector(l->builder, one, LLVMGetPoison(type), zeros, "");
}

V ll_extract(Lowering *l, V vector, uint32_t lane) {
    return LLVMBuildExtractElement(l->builder, vector, ll_i32(l, lane), "");
}

V ll_gep(Lowering *l, LLVMTypeRef element, V base, V index) {
    return LLVMBuildInBoundsGEP2(l->builder, element, base, &index, 1, "");
}

V ll_intrinsic(Lowering *l, const char *name, LLVMTypeRef *overload, uint32_t overload_count,
               V *args, uint32_t arg_count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    require(id != 0);
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(l->module, id, overload, overload_count);
    LLVMTypeRef type = LLVMGlobalGetValueType(callee);
    return LLVMBuildCall2(l->builder, type, callee, args, arg_count, "");
}

void ll_enter_entry(Lowering *l) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(l->function);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(l->builder, first);
    else
        LLVMPositionBuilderAtEnd(l->builder, entry);
}

V ll_alloca(Lowering *l, LLVMTypeRef type, uint32_t count, uint32_t align) {
    LLVMBasicBlockRef here = ll_here(l);
    ll_enter_entry(l);
    V slot = LLVMBuildAlloca(l->builder, LLVMArrayType2(type, count), "");
    LLVMSetAlignment(slot, align);
    ll_enter(l, here);
    return slot;
}

void ll_attribute(Lowering *l, LLVMValueRef function, uint32_t index, const char *name,
                  uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    require(kind != 0);
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(l->context, kind, value));
}

void ll_text_attribute(Lowering *l, LLVMValueRef function, const char *name, const char *value) {
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(l->context, name, (unsigned)strlen(name),
                                                           value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

/* "no-builtins": a loop that copies or fills must not become a call of memcpy or memset. */
LLVMValueRef ll_function(Lowering *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params,
                         uint32_t count, LLVMLinkage linkage) {
    LLVMTypeRef type = LLVMFunctionType(result, params, count, 0);
    LLVMValueRef function = LLVMAddFunction(l->module, name, type);
    LLVMSetLinkage(function, linkage);
    ll_text_attribute(l, function, "no-builtins", "");
    ll_attribute(l, function, (uint32_t)LLVMAttributeFunctionIndex, "nounwind", 0);
    return function;
}

LLVMBasicBlockRef ll_block(Lowering *l, const char *name) {
    return LLVMAppendBasicBlockInContext(l->context, l->function, name);
}

LLVMBasicBlockRef ll_here(Lowering *l) { return LLVMGetInsertBlock(l->builder); }

void ll_enter(Lowering *l, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(l->builder, block); }

V ll_phi(Lowering *l, LLVMTypeRef type) { return LLVMBuildPhi(l->builder, type, ""); }

void ll_incoming(V phi, V value, LLVMBasicBlockRef block) {
    LLVMAddIncoming(phi, &value, &block, 1);
}

void ll_jump(Lowering *l, LLVMBasicBlockRef to) { LLVMBuildBr(l->builder, to); }

void ll_branch(Lowering *l, V condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
    LLVMBuildCondBr(l->builder, condition, yes, no);
}
