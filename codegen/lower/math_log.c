// log, log2, log1p.
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), log x = k ln 2 + log(1 + f), and log(1 + f) =
// f + y with a small y: in f32 a polynomial; in f64, where that would be long, by s = f / (2 + f)
// and the odd series of the inverse hyperbolic tangent, arranged as y = s (f^2/2 + R(s^2)) - f^2/2
// so that the large term f stays exact (the method of Sun's fdlibm, e_log.c).
#include "codegen/lower/math_functions.h"

// Splits a normal x; `raise` was added to its exponent before.
static Split split_normal(const Real *r, V x, V raise) {
    const MathContext *m = r->m;
    V bits = r_to_bits(r, x);
    V root = r_to_bits(r, r_const(r, 0x1.6a09e667f3bcdp-1)); // sqrt(1/2)
    V k = i_ashr(m, i_sub(m, bits, root), r->k->mantissa);
    V mantissa = r_from_bits(r, i_sub(m, bits, i_shl(m, k, r->k->mantissa)));
    if (raise) k = i_sub(m, k, raise);
    return (Split){mantissa, r_from_small_int(r, k)};
}

Split log_split(const Real *r, V x) {
    unsigned raise = r->k->mantissa + 1;
    V low = r_test(r, LLVMRealOLT, x, r->k->least_normal);
    V scaled = choose(r->m, low, r_scale(r, x, (double)((uint64_t)1 << raise)), x);
    return split_normal(r, scaled, choose(r->m, low, r_int(r, raise), r_int(r, 0)));
}

// log(1 + f) - f.
static V log_rest(const Real *r, V f) {
    V square = r_mul(r, f, f);
    V half = r_scale(r, square, 0.5);
    if (r->k->width == 32)
        return r_fma(r, r_mul(r, square, f), r_poly(r, r->k->log, f), r_neg(r, half));
    V s = r_div(r, f, r_add(r, f, r_const(r, 2)));
    V z = r_mul(r, s, s);
    V series = r_mul(r, z, r_poly(r, r->k->log, z));
    return r_sub(r, r_mul(r, s, r_add(r, half, series)), half);
}

// value for finite x > bound, -inf at the bound, NaN below it, x itself where it is infinite or
// NaN.
static V above(const Real *r, V x, double bound, V value) {
    const MathContext *m = r->m;
    V infinity = r_infinity(r);
    V other = choose(m, r_test(r, LLVMRealOLT, x, bound), r_nan(r), x);
    other = choose(m, r_test(r, LLVMRealOEQ, x, bound), r_neg(r, infinity), other);
    V inside = i_and(m, r_test(r, LLVMRealOGT, x, bound), r_compare(r, LLVMRealOLT, x, infinity));
    return choose(m, inside, value, other);
}

// k ln 2 + f + rest.
static V log_sum(const Real *r, V k, V f, V rest) {
    V low = r_fma(r, k, r_const(r, r->k->ln2[1]), rest);
    return r_fma(r, k, r_const(r, r->k->ln2[0]), r_add(r, f, low));
}

V real_log(const Real *r, V x) {
    Split s = log_split(r, x);
    V f = r_sub(r, s.mantissa, r_const(r, 1));
    return above(r, x, 0, log_sum(r, s.exponent, f, log_rest(r, f)));
}

// (f + y) log2(e) as the exact product f log2(e) plus small terms.
V real_log2(const Real *r, V x) {
    Split s = log_split(r, x);
    V f = r_sub(r, s.mantissa, r_const(r, 1));
    V scale = r_const(r, r->k->log2e[0]);
    Pair product = pair_product(r, f, scale);
    V low = r_fma(r, f, r_const(r, r->k->log2e[1]), product.lo);
    low = r_fma(r, log_rest(r, f), scale, low);
    Pair sum = pair_fast_sum(r, s.exponent, product.hi);
    return above(r, x, 0, r_add(r, sum.hi, r_add(r, sum.lo, low)));
}

// 1 + x = 2^k (1 + f): f = 2^-k x + (2^-k - 1) in one rounding, and exactly x when k is 0. Where x
// is so large that the 1 does not count, f comes from x as in log, and 2^-k need not be normal.
V real_log1p(const Real *r, V x) {
    const MathContext *m = r->m;
    V one = r_const(r, 1);
    Split s = split_normal(r, r_add(r, x, one), NULL);
    V negated = r_neg(r, s.exponent);
    V bits = i_shl(m, r_to_bits(r, r_add(r, negated, r_const(r, r->k->magic))), r->k->mantissa);
    V power = r_from_bits(r, i_add(m, r_to_bits(r, one), bits)); // 2^-k
    V f = r_fma(r, x, power, r_sub(r, power, one));
    V large = r_test(r, LLVMRealOGT, x, (double)((uint64_t)1 << (r->k->mantissa + 2)));
    f = choose(m, large, r_sub(r, s.mantissa, one), f);
    V value = above(r, x, -1, log_sum(r, s.exponent, f, log_rest(r, f)));
    return choose(m, r_test(r, LLVMRealOEQ, x, 0), x, value); // keeps -0
}
