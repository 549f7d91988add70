// Ops on integers and bools in register form.
//
// 4-bit values live in i8 lanes: they compute as i8 and are brought back into their range at the
// end.
#include "base/guard.h"
#include "codegen/lower/math_functions.h"

// What an op needs to know of its dtype.
typedef struct Int {
    const MathContext *m;
    unsigned width; // of the values: 4 for 4-bit ones
    bool is_signed;
    V zero, one;
} Int;

static Int int_of(const MathContext *m, DType dtype, V like) {
    return (Int){m, dtype_info(dtype)->bits, dtype_is_signed(dtype), i_like(m, like, 0),
                 i_like(m, like, 1)};
}

V int_wrap(const MathContext *m, DType dtype, V a) {
    if (dtype == DT_u4) return i_mask(m, a, 15);
    return dtype == DT_i4 ? i_ashr(m, i_shl(m, a, 4), 4) : a;
}

static V negate(const Int *t, V a) { return i_sub(t->m, t->zero, a); }

static V less(const Int *t, V a, V b) {
    return i_compare(t->m, t->is_signed ? LLVMIntSLT : LLVMIntULT, a, b);
}

static V equal(const Int *t, V a, V b) { return i_compare(t->m, LLVMIntEQ, a, b); }

static V sign_of(const Int *t, V a) {
    V negative = choose(t->m, less(t, a, t->zero), i_like(t->m, a, UINT64_MAX), t->one);
    return choose(t->m, equal(t, a, t->zero), t->zero, negative);
}

V int_unary(const MathContext *m, Op op, DType dtype, V a) {
    Int t = int_of(m, dtype, a);
    switch (op) {
    case OP_neg: return int_wrap(m, dtype, negate(&t, a));
    case OP_abs: return int_wrap(m, dtype, choose(m, less(&t, a, t.zero), negate(&t, a), a));
    case OP_sign: return sign_of(&t, a);
    case OP_not: return int_wrap(m, dtype, bit_not(m, a));
    case OP_floor:
    case OP_ceil:
    case OP_trunc:
    case OP_round: return a;
    default: bug("op %s has no lowering for %s", op_info(op)->name, dtype_name(dtype));
    }
}

// Vectors of up to 32 bits divide as floats: the quotient of two integers below 2^p, rounded to p
// bits, has the right integer part. x86 has no vector division of integers. u32 goes through i32 by
// flipping its top bit.
static V divide_as_floats(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    Real r = real_of(m, t->width > 16 ? DT_f64 : DT_f32);
    if (t->width < 32 || t->is_signed) {
        V top = t->is_signed ? LLVMBuildSIToFP(m->builder, a, r.type, "")
                             : LLVMBuildUIToFP(m->builder, a, r.type, "");
        V bottom = t->is_signed ? LLVMBuildSIToFP(m->builder, b, r.type, "")
                                : LLVMBuildUIToFP(m->builder, b, r.type, "");
        V quotient = LLVMBuildFPToSI(m->builder, r_div(&r, top, bottom), int_lanes(m, 32), "");
        return LLVMBuildTruncOrBitCast(m->builder, quotient, LLVMTypeOf(a), "");
    }
    V flip = i_like(m, a, (uint64_t)1 << 31), offset = r_const(&r, 0x1p31);
    V top = r_add(&r, LLVMBuildSIToFP(m->builder, i_xor(m, a, flip), r.type, ""), offset);
    V bottom = r_add(&r, LLVMBuildSIToFP(m->builder, i_xor(m, b, flip), r.type, ""), offset);
    V quotient = r_sub(&r, r_floor(&r, r_div(&r, top, bottom)), offset);
    return i_xor(m, LLVMBuildFPToSI(m->builder, quotient, LLVMTypeOf(a), ""), flip);
}

// b is neither 0 nor, for signed values, -1.
static V divide_safely(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    if (m->lanes && m->target == MATH_X86 && t->width <= 32) return divide_as_floats(t, a, b);
    return t->is_signed ? LLVMBuildSDiv(m->builder, a, b, "") : LLVMBuildUDiv(m->builder, a, b, "");
}

typedef struct Division {
    V quotient, rest;
} Division;

// Truncated; by 0 both are 0. Divisors that trap are replaced by 1, and -1 by negation, which
// wraps.
static Division divide(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    V by_zero = equal(t, b, t->zero), unsafe = by_zero, by_minus_one = NULL;
    if (t->is_signed) {
        by_minus_one = equal(t, b, i_like(m, b, UINT64_MAX));
        unsafe = i_or(m, by_zero, by_minus_one);
    }
    V safe = choose(m, unsafe, t->one, b);
    V quotient = divide_safely(t, a, safe);
    V rest = i_sub(m, a, i_mul(m, quotient, safe));
    if (by_minus_one) quotient = choose(m, by_minus_one, negate(t, a), quotient);
    return (Division){choose(m, by_zero, t->zero, quotient), rest};
}

// Floored: one less, and the divisor more, where a rest is left and its sign is not the divisor's.
static Division divide_down(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    Division d = divide(t, a, b);
    if (!t->is_signed) return d;
    V differ = i_compare(m, LLVMIntSLT, i_xor(m, d.rest, b), t->zero);
    V down = i_and(m, differ, bit_not(m, equal(t, d.rest, t->zero)));
    V quotient = choose(m, down, i_sub(m, d.quotient, t->one), d.quotient);
    return (Division){quotient, choose(m, down, i_add(m, d.rest, b), d.rest)};
}

// Squaring and multiplying over all bits of the exponent. A negative exponent leaves 1 of the base
// 1, 1 or -1 of -1, and 0.
static V power(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    V result = t->one, square = a;
    unsigned bits = t->is_signed ? t->width - 1 : t->width;
    for (unsigned i = 0; i < bits; i++) {
        result = choose(m, i_test(m, b, (uint64_t)1 << i), i_mul(m, result, square), result);
        if (i + 1 < bits) square = i_mul(m, square, square);
    }
    if (!t->is_signed) return result;
    V minus_one = i_like(m, a, UINT64_MAX);
    V alternating = choose(m, i_test(m, b, 1), minus_one, t->one);
    V inverse = choose(m, equal(t, a, t->one), t->one, t->zero);
    inverse = choose(m, equal(t, a, minus_one), alternating, inverse);
    return choose(m, less(t, b, t->zero), inverse, result);
}

// LLVM's shifts are undefined from the width on, so the count is replaced first.
static V shift_left(const Int *t, V a, V b) {
    V legal = i_compare(t->m, LLVMIntULT, b, i_like(t->m, b, t->width));
    V count = choose(t->m, legal, b, t->zero);
    return choose(t->m, legal, LLVMBuildShl(t->m->builder, a, count, ""), t->zero);
}

static V shift_right(const Int *t, V a, V b) {
    const MathContext *m = t->m;
    V legal = i_compare(m, LLVMIntULT, b, i_like(m, b, t->width));
    if (t->is_signed)
        return LLVMBuildAShr(m->builder, a, choose(m, legal, b, i_like(m, b, t->width - 1)), "");
    V shifted = LLVMBuildLShr(m->builder, a, choose(m, legal, b, t->zero), "");
    return choose(m, legal, shifted, t->zero);
}

static V binary(const Int *t, Op op, V a, V b) {
    switch (op) {
    case OP_add: return i_add(t->m, a, b);
    case OP_sub: return i_sub(t->m, a, b);
    case OP_mul: return i_mul(t->m, a, b);
    case OP_div: return divide(t, a, b).quotient;
    case OP_rem: return divide(t, a, b).rest;
    case OP_floordiv: return divide_down(t, a, b).quotient;
    case OP_mod: return divide_down(t, a, b).rest;
    case OP_pow: return power(t, a, b);
    case OP_min: return choose(t->m, less(t, a, b), a, b);
    case OP_max: return choose(t->m, less(t, a, b), b, a);
    case OP_and: return i_and(t->m, a, b);
    case OP_or: return i_or(t->m, a, b);
    case OP_xor: return i_xor(t->m, a, b);
    case OP_shl: return shift_left(t, a, b);
    case OP_shr: return shift_right(t, a, b);
    default: bug("op %s has no lowering for integers", op_info(op)->name);
    }
}

V int_binary(const MathContext *m, Op op, DType dtype, V a, V b) {
    Int t = int_of(m, dtype, a);
    return int_wrap(m, dtype, binary(&t, op, a, b));
}
