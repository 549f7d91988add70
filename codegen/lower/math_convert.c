// Casts, each rounded once.
#include "codegen/lower/math_functions.h"

static bool is_small(DType dtype) { return dtype_is_float(dtype) && dtype_compute(dtype) != dtype; }

V math_round(const MathContext *m, DType dtype, V value) {
    if (is_small(dtype)) return small_unpack(m, dtype, small_pack(m, dtype, value));
    return int_wrap(m, dtype, value);
}

// f64 to f32 rounded to odd: toward zero, with the last bit set when anything was lost. A second
// rounding to a format two or more bits shorter then gives what one rounding would have (Boldo and
// Melquiond, Emulation of FMA and correctly rounded sums, IEEE TC 57, 2008). An overflow becomes
// the greatest finite number, which is odd.
static V narrow_to_odd(const MathContext *m, V value) {
    Real wide = real_of(m, DT_f64), real = real_of(m, DT_f32);
    V near = LLVMBuildFPTrunc(m->builder, value, real.type, "");
    V back = LLVMBuildFPExt(m->builder, near, wide.type, "");
    V beyond = r_compare(&wide, LLVMRealOGT, r_abs(&wide, back), r_abs(&wide, value));
    V lost = r_compare(&wide, LLVMRealONE, back, value);
    V bits = r_to_bits(&real, near);
    bits = i_sub(m, bits, i_zext(m, beyond, 32));
    return r_from_bits(&real, i_or(m, bits, i_zext(m, lost, 32)));
}

static V float_to_float(const MathContext *m, DType from, DType to, V value) {
    Real target = real_of(m, to);
    if (from == DT_f64) {
        if (is_small(to)) return math_round(m, to, narrow_to_odd(m, value));
        return to == DT_f64 ? value : LLVMBuildFPTrunc(m->builder, value, target.type, "");
    }
    if (to == DT_f64) return LLVMBuildFPExt(m->builder, value, target.type, "");
    return math_round(m, to, value);
}

// To at most 16 bits: clamped as a float, converted as i32. NaN becomes 0 first.
static V float_to_short(const Real *r, DType to, V value) {
    const MathContext *m = r->m;
    const DTypeInfo *info = dtype_info(to);
    V least = r_const(r, info->least), most = r_const(r, info->most);
    V low = choose(m, r_compare(r, LLVMRealOLT, value, least), least, value);
    V both = choose(m, r_compare(r, LLVMRealOGT, low, most), most, low);
    V number = choose(m, r_compare(r, LLVMRealUNO, value, value), r_const(r, 0), both);
    V wide = LLVMBuildFPToSI(m->builder, number, int_lanes(m, 32), "");
    return i_trunc(m, wide, info->bits == 4 ? 8 : info->bits);
}

// The conversion instruction is poison outside its range, so what is outside is replaced before and
// selected after.
static V float_to_signed(const Real *r, unsigned width, V value) {
    const MathContext *m = r->m;
    LLVMTypeRef type = int_lanes(m, width);
    double limit = width == 32 ? 0x1p31 : 0x1p63;
    V least = r_const(r, -limit);
    V low = choose(m, r_compare(r, LLVMRealOLT, value, least), least, value);
    V tame = choose(m, r_test(r, LLVMRealUGE, value, limit), r_const(r, 0), low);
    V result = LLVMBuildFPToSI(m->builder, tame, type, "");
    V most = i_const(m, type, ((uint64_t)1 << (width - 1)) - 1);
    return choose(m, r_test(r, LLVMRealOGE, value, limit), most, result);
}

// The upper half of the range is converted less 2^(width - 1), as a signed number, and gets its top
// bit back.
static V float_to_unsigned(const Real *r, unsigned width, V value) {
    const MathContext *m = r->m;
    LLVMTypeRef type = int_lanes(m, width);
    double half = width == 32 ? 0x1p31 : 0x1p63;
    V inside = i_and(m, r_test(r, LLVMRealOGT, value, 0), r_test(r, LLVMRealOLT, value, 2 * half));
    V tame = choose(m, inside, value, r_const(r, 0));
    V upper = r_test(r, LLVMRealOGE, tame, half);
    V lowered = choose(m, upper, r_sub(r, tame, r_const(r, half)), tame);
    V result = LLVMBuildFPToSI(m->builder, lowered, type, "");
    V top = i_const(m, type, (uint64_t)1 << (width - 1));
    result = i_xor(m, result, choose(m, upper, top, i_const(m, type, 0)));
    return choose(m, r_test(r, LLVMRealOGE, value, 2 * half), i_const(m, type, UINT64_MAX), result);
}

static V float_to_int(const MathContext *m, DType from, DType to, V value) {
    Real r = real_of(m, from);
    unsigned width = dtype_info(to)->bits;
    if (to == DT_bool) return r_test(&r, LLVMRealUNE, value, 0);
    if (width < 32) return float_to_short(&r, to, value);
    return dtype_is_signed(to) ? float_to_signed(&r, width, value)
                               : float_to_unsigned(&r, width, value);
}

static V int_to_wide(const MathContext *m, DType from, LLVMTypeRef type, V value) {
    return dtype_is_signed(from) ? LLVMBuildSIToFP(m->builder, value, type, "")
                                 : LLVMBuildUIToFP(m->builder, value, type, "");
}

// f16 and f8 overflow long before 2^17, so a wide integer is clamped to that and is then exact in
// f32.
static V clamp_int(const MathContext *m, DType from, V value) {
    V most = i_like(m, value, 1 << 17), least = i_sub(m, i_like(m, value, 0), most);
    bool is_signed = dtype_is_signed(from);
    V over = i_compare(m, is_signed ? LLVMIntSGT : LLVMIntUGT, value, most);
    V result = choose(m, over, most, value);
    if (is_signed) result = choose(m, i_compare(m, LLVMIntSLT, value, least), least, result);
    return LLVMBuildTruncOrBitCast(m->builder, result, int_lanes(m, 32), "");
}

// A 64-bit integer with the same rounding to bf16, exact in f64: from 2^44 on the low 32 bits are
// folded into one sticky bit.
static V sticky_int(const MathContext *m, DType from, V value) {
    V zero = i_like(m, value, 0), magnitude = value, negative = NULL;
    if (dtype_is_signed(from)) {
        negative = i_compare(m, LLVMIntSLT, value, zero);
        magnitude = choose(m, negative, i_sub(m, zero, value), value);
    }
    V lost = i_test(m, magnitude, UINT32_MAX);
    V sticky = i_shl(m, i_zext(m, lost, 64), 32);
    V folded = i_or(m, i_mask(m, magnitude, ~(uint64_t)UINT32_MAX), sticky);
    V large = i_compare(m, LLVMIntUGE, magnitude, i_like(m, value, (uint64_t)1 << 44));
    V result = choose(m, large, folded, magnitude);
    return negative ? choose(m, negative, i_sub(m, zero, result), result) : result;
}

static V int_to_float(const MathContext *m, DType from, DType to, V value) {
    Real target = real_of(m, to);
    unsigned width = dtype_info(from)->bits;
    if (!is_small(to)) return int_to_wide(m, from, target.type, value);
    if (width <= 16) return math_round(m, to, int_to_wide(m, from, target.type, value));
    if (to != DT_bf16) {
        V clamped = clamp_int(m, from, value);
        return math_round(m, to, LLVMBuildSIToFP(m->builder, clamped, target.type, ""));
    }
    V exact = width == 64 ? sticky_int(m, from, value) : value;
    return float_to_float(m, DT_f64, to, int_to_wide(m, from, real_of(m, DT_f64).type, exact));
}

static V int_to_int(const MathContext *m, DType from, DType to, V value) {
    if (to == DT_bool) return i_compare(m, LLVMIntNE, value, i_like(m, value, 0));
    LLVMTypeRef type = math_type(m, to);
    return int_wrap(m, to, LLVMBuildIntCast2(m->builder, value, type, dtype_is_signed(from), ""));
}

V math_convert(const MathContext *m, DType from, DType to, V value) {
    if (from == to) return value;
    if (dtype_is_float(from))
        return dtype_is_float(to) ? float_to_float(m, from, to, value)
                                  : float_to_int(m, from, to, value);
    return dtype_is_float(to) ? int_to_float(m, from, to, value) : int_to_int(m, from, to, value);
}

V math_unpack(const MathContext *m, DType dtype, V stored) {
    if (dtype == DT_bool) return i_compare(m, LLVMIntNE, stored, i_like(m, stored, 0));
    return is_small(dtype) ? small_unpack(m, dtype, stored) : stored;
}

V math_pack(const MathContext *m, DType dtype, V value) {
    if (dtype == DT_bool) return i_zext(m, value, 8);
    return is_small(dtype) ? small_pack(m, dtype, value) : int_wrap(m, dtype, value);
}
