// Short names for what the elementwise emitters build, private to the math files of this folder.
//
// A V is a value of one lane type, T or <n x T>. A Real says which float format the r_ functions
// work in, so that an algorithm is written once for f32 and f64: its constants come from the
// format's table. i_ functions take integer lanes of any width. A Pair is an unevaluated sum hi +
// lo with |lo| <= ulp(hi) / 2 or so.
#ifndef TCC_CODEGEN_LOWER_MATH_IR_H
#define TCC_CODEGEN_LOWER_MATH_IR_H

#include "codegen/lower/math.h"

typedef LLVMValueRef V;

// Coefficients, lowest degree first.
typedef struct Poly {
    const double *c;
    int count;
} Poly;

// What the algorithms need to know of f32 or f64. Constant pairs are split as value = [0] + [1].
typedef struct MathFormat {
    unsigned width;    // bits of the format
    unsigned mantissa; // stored bits of mantissa
    int bias;
    double magic;        // 1.5 * 2^mantissa: x + magic - magic rounds a small x to an integer
    double least_normal; // 2^(1 - bias)
    double tanh_end;     // tanh x is 1 from here on
    double expm1_end;    // e^-x - 1 is -1 from here on
    double erf_edge;     // |x| from which erf is computed as 1 - erfc
    double erf_end;      // erf x is 1 from here on
    double erfc_centre;  // of the map (x - c) / (x + c)
    Poly exp, exp2, log, pow, sin, cos, tan, atan, tanh, erf, erf_tail, erfc;
    const double *limits; // last x with finite e^x, first with normal e^x, last with normal erfc
    const double *ln2, *log2e, *two_log2e, *third, *half_pi, *quarter_pi;
} MathFormat;

typedef struct Real {
    const MathContext *m;
    const MathFormat *k;
    LLVMTypeRef type; // lanes of float or double
    LLVMTypeRef bits; // lanes of integers of the same width
} Real;

typedef struct Pair {
    V hi, lo;
} Pair;

// The format in which `dtype` computes: f64 for f64, f32 for every other float.
Real real_of(const MathContext *m, DType dtype);

LLVMTypeRef lanes_of(const MathContext *m, LLVMTypeRef scalar);
LLVMTypeRef int_lanes(const MathContext *m, unsigned width);

// Constants in every lane. `like` gives the lane type.
V i_const(const MathContext *m, LLVMTypeRef type, uint64_t value);
V i_like(const MathContext *m, V like, uint64_t value);
V r_const(const Real *r, double value);
V r_int(const Real *r, int64_t value); // of r->bits
V r_infinity(const Real *r);
V r_nan(const Real *r);

V i_add(const MathContext *m, V a, V b);
V i_sub(const MathContext *m, V a, V b);
V i_mul(const MathContext *m, V a, V b);
V i_and(const MathContext *m, V a, V b);
V i_or(const MathContext *m, V a, V b);
V i_xor(const MathContext *m, V a, V b);
V i_shl(const MathContext *m, V a, unsigned count);
V i_lshr(const MathContext *m, V a, unsigned count);
V i_ashr(const MathContext *m, V a, unsigned count);
V i_mask(const MathContext *m, V a, uint64_t mask); // a & mask
V i_test(const MathContext *m, V a, uint64_t mask); // (a & mask) != 0
V i_compare(const MathContext *m, LLVMIntPredicate predicate, V a, V b);
V i_trunc(const MathContext *m, V a, unsigned width);
V i_zext(const MathContext *m, V a, unsigned width);
V i_sext(const MathContext *m, V a, unsigned width);
V bit_not(const MathContext *m, V a);
V choose(const MathContext *m, V condition, V a, V b);

V r_add(const Real *r, V a, V b);
V r_sub(const Real *r, V a, V b);
V r_mul(const Real *r, V a, V b);
V r_div(const Real *r, V a, V b);
V r_fma(const Real *r, V a, V b, V c); // a * b + c, rounded once
V r_neg(const Real *r, V a);
V r_compare(const Real *r, LLVMRealPredicate predicate, V a, V b);
V r_test(const Real *r, LLVMRealPredicate predicate, V a, double constant);
V r_scale(const Real *r, V a, double constant); // a * constant

// Intrinsics that both targets select to instructions.
V r_abs(const Real *r, V a);
V r_sqrt(const Real *r, V a);
V r_floor(const Real *r, V a);
V r_ceil(const Real *r, V a);
V r_trunc(const Real *r, V a);
V r_round(const Real *r, V a); // halves to even
V r_copysign(const Real *r, V magnitude, V sign);
V r_min(const Real *r, V a, V b); // NaN wins, -0 < 0
V r_max(const Real *r, V a, V b);
V r_fence(const Real *r, V a); // a itself, which the optimizer does not look through

V r_to_bits(const Real *r, V a);
V r_from_bits(const Real *r, V bits);
V r_flip_sign(const Real *r, V a, V bits);   // flips the sign where the top bit of `bits` is set
V r_power_of_two(const Real *r, V exponent); // 2^e for integer lanes e in the normal range
V r_from_small_int(const Real *r,
                   V value); // integer lanes of r->bits, |value| < 2^(mantissa - 1), exact

V r_poly(const Real *r, Poly poly, V x);

// The sum, with its rounding error, of a and b where |a| >= |b| or a is 0 (Dekker 1971).
Pair pair_fast_sum(const Real *r, V a, V b);
// The product with its rounding error.
Pair pair_product(const Real *r, V a, V b);
// a * b for two pairs, to about twice the precision of the format.
Pair pair_multiply(const Real *r, Pair a, Pair b);
Pair pair_const(const Real *r, const double split[2]);

#endif
