#include "codegen/lower/math_ir.h"

#include <math.h>
#include <string.h>

#include "base/guard.h"

LLVMTypeRef lanes_of(const MathContext *m, LLVMTypeRef scalar) {
    return m->lanes ? LLVMVectorType(scalar, m->lanes) : scalar;
}

LLVMTypeRef int_lanes(const MathContext *m, unsigned width) {
    return lanes_of(m, LLVMIntTypeInContext(m->context, width));
}

static LLVMTypeRef scalar_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static V repeat(const MathContext *m, V constant) {
    enum { MOST_LANES = 256 };
    if (!m->lanes) return constant;
    require(m->lanes <= MOST_LANES);
    V lanes[MOST_LANES];
    for (unsigned i = 0; i < m->lanes; i++) lanes[i] = constant;
    return LLVMConstVector(lanes, m->lanes);
}

V i_const(const MathContext *m, LLVMTypeRef type, uint64_t value) {
    return repeat(m, LLVMConstInt(scalar_of(type), value, 0));
}

V i_like(const MathContext *m, V like, uint64_t value) {
    return i_const(m, LLVMTypeOf(like), value);
}

V r_const(const Real *r, double value) {
    return repeat(r->m, LLVMConstReal(scalar_of(r->type), value));
}

V r_int(const Real *r, int64_t value) { return i_const(r->m, r->bits, (uint64_t)value); }

V r_infinity(const Real *r) {
    return r_from_bits(r, r_int(r, (int64_t)(2 * r->k->bias + 1) << r->k->mantissa));
}

V r_nan(const Real *r) {
    return r_from_bits(r, r_int(r, (int64_t)(4 * r->k->bias + 3) << (r->k->mantissa - 1)));
}

V i_add(const MathContext *m, V a, V b) { return LLVMBuildAdd(m->builder, a, b, ""); }
V i_sub(const MathContext *m, V a, V b) { return LLVMBuildSub(m->builder, a, b, ""); }
V i_mul(const MathContext *m, V a, V b) { return LLVMBuildMul(m->builder, a, b, ""); }
V i_and(const MathContext *m, V a, V b) { return LLVMBuildAnd(m->builder, a, b, ""); }
V i_or(const MathContext *m, V a, V b) { return LLVMBuildOr(m->builder, a, b, ""); }
V i_xor(const MathContext *m, V a, V b) { return LLVMBuildXor(m->builder, a, b, ""); }

V i_shl(const MathContext *m, V a, unsigned count) {
    return LLVMBuildShl(m->builder, a, i_like(m, a, count), "");
}

V i_lshr(const MathContext *m, V a, unsigned count) {
    return LLVMBuildLShr(m->builder, a, i_like(m, a, count), "");
}

V i_ashr(const MathContext *m, V a, unsigned count) {
    return LLVMBuildAShr(m->builder, a, i_like(m, a, count), "");
}

V i_mask(const MathContext *m, V a, uint64_t mask) { return i_and(m, a, i_like(m, a, mask)); }

V i_test(const MathContext *m, V a, uint64_t mask) {
    return i_compare(m, LLVMIntNE, i_mask(m, a, mask), i_like(m, a, 0));
}

V i_compare(const MathContext *m, LLVMIntPredicate predicate, V a, V b) {
    return LLVMBuildICmp(m->builder, predicate, a, b, "");
}

V i_trunc(const MathContext *m, V a, unsigned width) {
    return LLVMBuildTrunc(m->builder, a, int_lanes(m, width), "");
}

V i_zext(const MathContext *m, V a, unsigned width) {
    return LLVMBuildZExt(m->builder, a, int_lanes(m, width), "");
}

V i_sext(const MathContext *m, V a, unsigned width) {
    return LLVMBuildSExt(m->builder, a, int_lanes(m, width), "");
}

V bit_not(const MathContext *m, V a) { return LLVMBuildNot(m->builder, a, ""); }

V choose(const MathContext *m, V condition, V a, V b) {
    return LLVMBuildSelect(m->builder, condition, a, b, "");
}

V r_add(const Real *r, V a, V b) { return LLVMBuildFAdd(r->m->builder, a, b, ""); }
V r_sub(const Real *r, V a, V b) { return LLVMBuildFSub(r->m->builder, a, b, ""); }
V r_mul(const Real *r, V a, V b) { return LLVMBuildFMul(r->m->builder, a, b, ""); }
V r_div(const Real *r, V a, V b) { return LLVMBuildFDiv(r->m->builder, a, b, ""); }
V r_neg(const Real *r, V a) { return LLVMBuildFNeg(r->m->builder, a, ""); }

V r_compare(const Real *r, LLVMRealPredicate predicate, V a, V b) {
    return LLVMBuildFCmp(r->m->builder, predicate, a, b, "");
}

V r_test(const Real *r, LLVMRealPredicate predicate, V a, double constant) {
    return r_compare(r, predicate, a, r_const(r, constant));
}

V r_scale(const Real *r, V a, double constant) { return r_mul(r, a, r_const(r, constant)); }

static V intrinsic(const Real *r, const char *name, V *args, unsigned count) {
    LLVMTypeRef type = r->type;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V function = LLVMGetIntrinsicDeclaration(r->m->module, id, &type, 1);
    LLVMTypeRef signature = LLVMIntrinsicGetType(r->m->context, id, &type, 1);
    return LLVMBuildCall2(r->m->builder, signature, function, args, count, "");
}

static V intrinsic1(const Real *r, const char *name, V a) { return intrinsic(r, name, &a, 1); }

V r_fma(const Real *r, V a, V b, V c) { return intrinsic(r, "llvm.fma", (V[]){a, b, c}, 3); }
V r_abs(const Real *r, V a) { return intrinsic1(r, "llvm.fabs", a); }
V r_sqrt(const Real *r, V a) { return intrinsic1(r, "llvm.sqrt", a); }
V r_floor(const Real *r, V a) { return intrinsic1(r, "llvm.floor", a); }
V r_ceil(const Real *r, V a) { return intrinsic1(r, "llvm.ceil", a); }
V r_trunc(const Real *r, V a) { return intrinsic1(r, "llvm.trunc", a); }
V r_round(const Real *r, V a) { return intrinsic1(r, "llvm.roundeven", a); }

V r_fence(const Real *r, V a) { return intrinsic1(r, "llvm.arithmetic.fence", a); }

V r_min(const Real *r, V a, V b) { return intrinsic(r, "llvm.minimum", (V[]){a, b}, 2); }

// Whether every lane is one number known here, neither NaN nor -0.
static bool is_plain_constant(const Real *r, V v) {
    if (!LLVMIsConstant(v)) return false;
    for (unsigned i = 0; i < (r->m->lanes > 0 ? r->m->lanes : 1); i++) {
        V lane = r->m->lanes > 0 ? LLVMGetAggregateElement(v, i) : v;
        LLVMBool loses;
        if (!lane || !LLVMIsAConstantFP(lane)) return false;
        double number = LLVMConstRealGetDouble(lane, &loses);
        if (isnan(number) || (number == 0 && signbit(number))) return false;
    }
    return true;
}

// x86 has no maximum that hands on NaN. With a constant c that is neither NaN nor -0 there is
// a <= c ? c : a: NaN compares false and stays, and of a zero of either sign and +0 it takes c.
V r_max(const Real *r, V a, V b) {
    if (is_plain_constant(r, a)) {
        V swapped = a;
        a = b, b = swapped;
    }
    if (r->m->target == MATH_X86 && is_plain_constant(r, b))
        return LLVMBuildSelect(r->m->builder, r_compare(r, LLVMRealOLE, a, b), b, a, "");
    return intrinsic(r, "llvm.maximum", (V[]){a, b}, 2);
}

V r_copysign(const Real *r, V magnitude, V sign) {
    return intrinsic(r, "llvm.copysign", (V[]){magnitude, sign}, 2);
}

V r_to_bits(const Real *r, V a) { return LLVMBuildBitCast(r->m->builder, a, r->bits, ""); }
V r_from_bits(const Real *r, V bits) { return LLVMBuildBitCast(r->m->builder, bits, r->type, ""); }

V r_flip_sign(const Real *r, V a, V bits) {
    V sign = i_mask(r->m, bits, (uint64_t)1 << (r->k->width - 1));
    return r_from_bits(r, i_xor(r->m, r_to_bits(r, a), sign));
}

V r_power_of_two(const Real *r, V exponent) {
    return r_from_bits(r, i_shl(r->m, i_add(r->m, exponent, r_int(r, r->k->bias)), r->k->mantissa));
}

// The integer is added to the mantissa of the magic number, whose unit in the last place is 1.
V r_from_small_int(const Real *r, V value) {
    V magic = r_const(r, r->k->magic);
    return r_sub(r, r_from_bits(r, i_add(r->m, value, r_to_bits(r, magic))), magic);
}

V r_poly(const Real *r, Poly poly, V x) {
    V sum = r_const(r, poly.c[poly.count - 1]);
    for (int i = poly.count - 2; i >= 0; i--) sum = r_fma(r, sum, x, r_const(r, poly.c[i]));
    return sum;
}

Pair pair_fast_sum(const Real *r, V a, V b) {
    V sum = r_add(r, a, b);
    return (Pair){sum, r_sub(r, b, r_sub(r, sum, a))};
}

Pair pair_product(const Real *r, V a, V b) {
    V product = r_mul(r, a, b);
    return (Pair){product, r_fma(r, a, b, r_neg(r, product))};
}

Pair pair_multiply(const Real *r, Pair a, Pair b) {
    Pair p = pair_product(r, a.hi, b.hi);
    V cross = r_fma(r, a.hi, b.lo, r_mul(r, a.lo, b.hi));
    return pair_fast_sum(r, p.hi, r_add(r, p.lo, cross));
}

Pair pair_const(const Real *r, const double split[2]) {
    return (Pair){r_const(r, split[0]), r_const(r, split[1])};
}
