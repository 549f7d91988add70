// pow(x, y) = 2^(y log2 x), with log2 x to about 12 bits more than the format has.
//
// log(mantissa) = 2 atanh(s), s = (mantissa - 1) / (mantissa + 1); atanh(s) = s (1 + z/3 + z^2
// P(z)), z = s^2 <= 0.0295. s, z and the sums are pairs; only z^2 P(z), less than 2^-12 of the
// whole, is rounded to the format.
#include "codegen/lower/math_functions.h"

// (mantissa - 1) / (mantissa + 1) as a pair: the quotient of the heads, and the exact remainder
// over the divisor.
static Pair pow_quotient(const Real *r, V mantissa) {
    V one = r_const(r, 1);
    V top = r_sub(r, mantissa, one);
    V bottom = r_add(r, mantissa, one);
    V bottom_low = r_sub(r, mantissa, r_sub(r, bottom, one));
    V inverse = r_div(r, one, bottom);
    V s = r_mul(r, top, inverse);
    V rest = r_fma(r, r_neg(r, s), bottom_low, r_fma(r, r_neg(r, s), bottom, top));
    return (Pair){s, r_mul(r, rest, inverse)};
}

static Pair pow_log2(const Real *r, V x) {
    Split split = log_split(r, x);
    Pair s = pow_quotient(r, split.mantissa);
    Pair z = pair_product(r, s.hi, s.hi);
    z.lo = r_fma(r, r_add(r, s.hi, s.hi), s.lo, z.lo);
    Pair third = pair_const(r, r->k->third);
    Pair inner = pair_fast_sum(r, third.hi, r_mul(r, z.hi, r_poly(r, r->k->pow, z.hi)));
    inner.lo = r_add(r, inner.lo, third.lo);
    Pair cube = pair_multiply(r, s, pair_multiply(r, z, inner));
    Pair atanh = pair_fast_sum(r, s.hi, cube.hi);
    atanh.lo = r_add(r, atanh.lo, r_add(r, s.lo, cube.lo));
    Pair log2 = pair_multiply(r, atanh, pair_const(r, r->k->two_log2e));
    Pair sum = pair_fast_sum(r, split.exponent, log2.hi);
    return pair_fast_sum(r, sum.hi, r_add(r, sum.lo, log2.lo));
}

// 2^(hi + lo) for |hi| < 4 * bias: scaled in two steps, so that a result below the least normal is
// rounded, not lost.
static V pow_exp2(const Real *r, Pair t) {
    const MathContext *m = r->m;
    V magic = r_const(r, r->k->magic);
    V sum = r_add(r, t.hi, magic);
    V rest = r_add(r, r_sub(r, t.hi, r_sub(r, sum, magic)), t.lo);
    V power = r_fma(r, rest, r_poly(r, r->k->exp2, rest), r_const(r, 1));
    V n = i_sub(m, r_to_bits(r, sum), r_to_bits(r, magic));
    V half = i_ashr(m, n, 1);
    V scaled = r_mul(r, power, r_power_of_two(r, half));
    return r_mul(r, scaled, r_power_of_two(r, i_sub(m, n, half)));
}

// |x|^y for x and y of any kind, but for the cases that pow_special adds.
static V pow_magnitude(const Real *r, V a, V y) {
    const MathContext *m = r->m;
    V infinity = r_infinity(r), zero = r_const(r, 0);
    Pair log2 = pow_log2(r, a);
    V no_log = r_test(r, LLVMRealOEQ, a, 0);
    V endless = r_compare(r, LLVMRealUGE, a, infinity); // or NaN
    log2.hi = choose(m, no_log, r_neg(r, infinity), choose(m, endless, a, log2.hi));
    Pair t = pair_product(r, y, log2.hi);
    V limit = r_const(r, 1.25 * (1 + r->k->bias));
    V inside = r_compare(r, LLVMRealOLT, r_abs(r, t.hi), limit);
    V low = r_fma(r, y, log2.lo, t.lo);
    Pair tame = {choose(m, inside, t.hi, zero), choose(m, inside, low, zero)};
    V outside = choose(m, r_test(r, LLVMRealOLT, t.hi, 0), zero, r_add(r, t.hi, infinity));
    return choose(m, inside, pow_exp2(r, tame), outside);
}

// The cases of C11 F.10.4.4: x^0 and 1^y are 1 even for NaN, (-1)^(+-inf) is 1, a negative base
// takes the sign of an odd exponent and gives NaN for one that is no integer.
V real_pow(const Real *r, V x, V y) {
    const MathContext *m = r->m;
    V a = r_abs(r, x), one = r_const(r, 1);
    V value = pow_magnitude(r, a, y);
    V unit = r_test(r, LLVMRealOEQ, a, 1);
    V ordered = r_compare(r, LLVMRealORD, y, y);
    value = choose(m, i_and(m, unit, ordered), one, value);
    V integer = r_compare(r, LLVMRealOEQ, r_trunc(r, y), y);
    V half = r_scale(r, y, 0.5);
    V odd = i_and(m, integer, r_compare(r, LLVMRealONE, r_trunc(r, half), half));
    V flipped = r_flip_sign(r, value, r_to_bits(r, x));
    value = choose(m, odd, flipped, value);
    V negative = r_test(r, LLVMRealOLT, x, 0);
    V finite = r_compare(r, LLVMRealOLT, a, r_infinity(r));
    V undefined = i_and(m, i_and(m, negative, finite), i_and(m, ordered, bit_not(m, integer)));
    value = choose(m, undefined, r_nan(r), value);
    V always =
        LLVMBuildOr(m->builder, r_test(r, LLVMRealOEQ, y, 0), r_test(r, LLVMRealOEQ, x, 1), "");
    return choose(m, always, one, value);
}
