// The 8- and 16-bit float formats: packing with one rounding to nearest even, and exact unpacking.
//
// Native conversions are used where the target has them; else integer code on the bits of the f32,
// because LLVM would call a library. A number in the normal range of the small format is rounded by
// adding just under half a unit to its bits; one below is added to the power of two whose unit in
// the last place is the format's least number, so the float adder does the rounding.
#include <string.h>

#include "base/guard.h"
#include "codegen/lower/math_functions.h"

typedef struct SmallFormat {
    unsigned width, mantissa;
    int bias;
    bool infinite; // has infinities; e4m3 has none and saturates
} SmallFormat;

static SmallFormat small_format(DType dtype) {
    switch (dtype) {
    case DT_f16: return (SmallFormat){16, 10, 15, true};
    case DT_bf16: return (SmallFormat){16, 7, 127, true};
    case DT_f8e5m2: return (SmallFormat){8, 2, 15, true};
    case DT_f8e4m3: return (SmallFormat){8, 3, 7, false};
    default: bug("%s is no small float", dtype_name(dtype));
    }
}

// LLVM's scalar type of a format that the target converts by an instruction, or NULL.
static LLVMTypeRef native_type(const MathContext *m, DType dtype, unsigned feature_of_bf16) {
    bool nvptx = m->target == MATH_NVPTX;
    if (dtype == DT_f16 && (nvptx || m->features & MATH_F16C))
        return LLVMHalfTypeInContext(m->context);
    if (dtype == DT_bf16 && (nvptx || m->features & feature_of_bf16))
        return LLVMBFloatTypeInContext(m->context);
    return NULL;
}

static double power_of_two(int exponent) {
    double value = 1;
    for (; exponent > 0; exponent--) value *= 2;
    for (; exponent < 0; exponent++) value /= 2;
    return value;
}

// bits / 2^drop, halves to even.
static V round_bits(const MathContext *m, V bits, unsigned drop) {
    V odd = i_mask(m, i_lshr(m, bits, drop), 1);
    V half = i_like(m, bits, ((uint64_t)1 << (drop - 1)) - 1);
    return i_lshr(m, i_add(m, i_add(m, bits, half), odd), drop);
}

// The code of a magnitude, given as its bits, before NaN is seen to.
static V magnitude_code(const Real *r, SmallFormat f, V bits) {
    const MathContext *m = r->m;
    V code = round_bits(m, bits, 23 - f.mantissa);
    if (f.bias == 127) return code; // rounding carries into infinity by itself
    code = i_sub(m, code, r_int(r, (int64_t)(127 - f.bias) << f.mantissa));
    V unit = r_const(r, power_of_two(24 - f.bias - (int)f.mantissa));
    V sum = r_add(r, r_from_bits(r, bits), unit);
    V denormal = i_sub(m, r_to_bits(r, sum), r_to_bits(r, unit));
    V low = i_compare(m, LLVMIntULT, bits, r_int(r, (int64_t)(128 - f.bias) << 23));
    code = choose(m, low, denormal, code);
    int64_t exponents = ((int64_t)1 << (f.width - 1 - f.mantissa)) - 1;
    V most = r_int(r, f.infinite ? exponents << f.mantissa : (1 << (f.width - 1)) - 2);
    return choose(m, i_compare(m, LLVMIntSGT, code, most), most, code);
}

static V pack_by_bits(const Real *r, SmallFormat f, V value) {
    const MathContext *m = r->m;
    V all = r_to_bits(r, value);
    V bits = i_mask(m, all, INT32_MAX);
    V nan = r_int(r, (1 << (f.width - 1)) - (f.infinite ? 1 << (f.mantissa - 1) : 1));
    V is_nan = i_compare(m, LLVMIntUGT, bits, r_int(r, 0x7f800000));
    V code = choose(m, is_nan, nan, magnitude_code(r, f, bits));
    V sign = i_mask(m, i_lshr(m, all, 32 - f.width), (uint64_t)1 << (f.width - 1));
    return i_trunc(m, i_or(m, code, sign), f.width);
}

// The operand of `value` if it is made by the instruction `opcode`; NULL if not.
static V operand_of(V value, LLVMOpcode opcode) {
    bool made = value && LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
    return made ? LLVMGetOperand(value, 0) : NULL;
}

static V unfenced(V value) {
    if (!value || !LLVMIsACallInst(value)) return NULL;
    unsigned fence =
        LLVMLookupIntrinsicID("llvm.arithmetic.fence", strlen("llvm.arithmetic.fence"));
    bool fenced = LLVMGetIntrinsicID(LLVMGetCalledValue(value)) == fence;
    return fenced ? LLVMGetOperand(value, 0) : NULL;
}

// What small_unpack made `value` from, so that packing a rounded value costs nothing; NULL if it is
// not seen.
static V unpacked_from(const MathContext *m, DType dtype, V value) {
    V stored = NULL;
    if (dtype == DT_f16) stored = operand_of(operand_of(unfenced(value), LLVMFPExt), LLVMBitCast);
    if (dtype == DT_bf16) {
        V shifted = operand_of(value, LLVMBitCast);
        stored = operand_of(operand_of(shifted, LLVMShl), LLVMZExt);
        if (stored && LLVMGetOperand(shifted, 1) != i_like(m, shifted, 16)) return NULL;
    }
    return stored && LLVMTypeOf(stored) == int_lanes(m, 16) ? stored : NULL;
}

V small_pack(const MathContext *m, DType dtype, V value) {
    V before = unpacked_from(m, dtype, value);
    if (before) return before;
    LLVMTypeRef native = native_type(m, dtype, MATH_AVX512BF16);
    Real r = real_of(m, DT_f32);
    if (!native) return pack_by_bits(&r, small_format(dtype), value);
    V narrow = LLVMBuildFPTrunc(m->builder, value, lanes_of(m, native), "");
    return LLVMBuildBitCast(m->builder, narrow, int_lanes(m, 16), "");
}

// The magnitude's bits moved to f32's place have the exponent off by 127 - bias, which is added; a
// denormal gets the exponent of the least normal number, which is then subtracted as a float; the
// top exponent goes to the top.
static V unpack_by_bits(const Real *r, SmallFormat f, V stored) {
    const MathContext *m = r->m;
    V all = i_zext(m, stored, 32);
    V bits = i_shl(m, i_mask(m, all, ((uint64_t)1 << (f.width - 1)) - 1), 23 - f.mantissa);
    V normal = i_add(m, bits, r_int(r, (int64_t)(127 - f.bias) << 23));
    V raised = i_add(m, bits, r_int(r, (int64_t)(128 - f.bias) << 23));
    V least = r_const(r, power_of_two(1 - f.bias));
    V denormal = r_to_bits(r, r_sub(r, r_from_bits(r, raised), least));
    V low = i_compare(m, LLVMIntULT, bits, r_int(r, 1 << 23));
    V value = choose(m, low, denormal, normal);
    int64_t exponents = ((int64_t)1 << (f.width - 1 - f.mantissa)) - 1;
    int64_t top = f.infinite ? exponents << 23 : ((int64_t)127 << (23 - f.mantissa));
    V special = i_or(m, bits, r_int(r, 0x7f800000));
    value = choose(m, i_compare(m, LLVMIntUGE, bits, r_int(r, top)), special, value);
    V sign = i_shl(m, i_lshr(m, all, f.width - 1), 31);
    return r_from_bits(r, i_or(m, value, sign));
}

// x86 has no arithmetic on halves, but LLVM narrows floor, comparisons and the like to them where
// it sees the extension, and then runs them lane by lane; the fence keeps it from seeing.
V small_unpack(const MathContext *m, DType dtype, V stored) {
    Real r = real_of(m, DT_f32);
    if (dtype == DT_bf16) return r_from_bits(&r, i_shl(m, i_zext(m, stored, 32), 16));
    LLVMTypeRef native = native_type(m, dtype, 0);
    if (!native) return unpack_by_bits(&r, small_format(dtype), stored);
    V narrow = LLVMBuildBitCast(m->builder, stored, lanes_of(m, native), "");
    V wide = LLVMBuildFPExt(m->builder, narrow, r.type, "");
    return m->target == MATH_X86 ? r_fence(&r, wide) : wide;
}
