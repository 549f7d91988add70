// exp, exp2, expm1, tanh.
//
// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite, Software Manual for the Elementary
// Functions, 1980), and e^x = 2^n e^r. n comes out of adding a magic number whose last place is 1:
// its low bits are n in two's complement, so shifting them to the exponent field and adding scales
// by 2^n without a conversion. That addition of bits is right while the result is normal; selects
// put 0 below and infinity above.
#include "codegen/lower/math_functions.h"

typedef struct Reduction {
    V n;        // the integer, as a float
    V exponent; // the same in the exponent field: added to the bits of a float it multiplies by 2^n
    V r;
} Reduction;

static V exponent_field(const Real *r, V magic_sum) {
    return i_shl(r->m, r_to_bits(r, magic_sum), r->k->mantissa);
}

static V times_power(const Real *r, V value, V exponent) {
    return r_from_bits(r, i_add(r->m, r_to_bits(r, value), exponent));
}

static Reduction reduce_exp(const Real *r, V x) {
    V magic = r_const(r, r->k->magic);
    V sum = r_fma(r, x, r_const(r, r->k->log2e[0]), magic);
    V n = r_sub(r, sum, magic);
    V rest = r_fma(r, n, r_const(r, -r->k->ln2[0]), x);
    return (Reduction){n, exponent_field(r, sum), r_fma(r, n, r_const(r, -r->k->ln2[1]), rest)};
}

// e^t - 1 for small t.
static V exp_rest(const Real *r, V t) {
    return r_fma(r, r_mul(r, t, t), r_poly(r, r->k->exp, t), t);
}

V exp_times(const Real *r, V hi, V lo, V factor) {
    Reduction x = reduce_exp(r, hi);
    V rest = exp_rest(r, r_add(r, x.r, lo));
    return times_power(r, r_fma(r, rest, factor, factor), x.exponent);
}

V exp_normal(const Real *r, V x) {
    Reduction reduced = reduce_exp(r, x);
    return times_power(r, r_add(r, r_const(r, 1), exp_rest(r, reduced.r)), reduced.exponent);
}

// value where low <= x <= high, 0 below, infinity above, NaN for NaN.
static V within(const Real *r, V x, double low, double high, V value) {
    V down = choose(r->m, r_test(r, LLVMRealOLT, x, low), r_const(r, 0), value);
    V beyond = r_add(r, x, r_infinity(r));
    V inside = r_test(r, LLVMRealOLE, x, high);
    return choose(r->m, inside, down, beyond);
}

V real_exp(const Real *r, V x) {
    return within(r, x, r->k->limits[1], r->k->limits[0], exp_normal(r, x));
}

// 2^n is a float of its own: its exponent field, n + bias, is what shifting leaves of the magic
// sum.
// It is 0 where e^x is below the least normal, by the bound on x; NaN passes that, and then the
// multiplication.
V real_exp_nonpositive(const Real *r, V x) {
    const MathFormat *k = r->k;
    double magic = k->magic + k->bias;
    V low = r_const(r, k->limits[1] - 0.6);
    x = choose(r->m, r_compare(r, LLVMRealOGT, low, x), low, x);
    V sum = r_fma(r, x, r_const(r, k->log2e[0]), r_const(r, magic));
    V n = r_sub(r, sum, r_const(r, magic));
    V t = r_fma(r, n, r_const(r, -k->ln2[0]), x);
    t = r_fma(r, n, r_const(r, -k->ln2[1]), t);
    V power = r_from_bits(r, exponent_field(r, sum));
    return r_fma(r, exp_rest(r, t), power, power);
}

V real_exp2(const Real *r, V x) {
    V magic = r_const(r, r->k->magic);
    V sum = r_add(r, x, magic);
    V rest = r_sub(r, x, r_sub(r, sum, magic));
    V power = r_fma(r, rest, r_poly(r, r->k->exp2, rest), r_const(r, 1));
    double top = 1 + r->k->bias;
    double last = top - top * (r->k->width == 64 ? 0x1p-53 : 0x1p-24); // the float before it
    return within(r, x, 1 - r->k->bias, last, times_power(r, power, exponent_field(r, sum)));
}

// 2^n (e^r - 1) + (2^n - 1), halved so that n = 128 (1024) does not overflow before its time.
V real_expm1(const Real *r, V x) {
    const MathContext *m = r->m;
    Reduction reduced = reduce_exp(r, x);
    V half_power = times_power(r, r_const(r, 0.5), reduced.exponent);
    V half = r_fma(r, exp_rest(r, reduced.r), half_power, r_sub(r, half_power, r_const(r, 0.5)));
    V value = r_add(r, half, half);
    value = choose(m, r_test(r, LLVMRealOLT, x, -r->k->expm1_end), r_const(r, -1), value);
    V inside = r_test(r, LLVMRealOLE, x, r->k->limits[0]);
    value = choose(m, inside, value, r_add(r, x, r_infinity(r)));
    return choose(m, r_test(r, LLVMRealOEQ, x, 0), x, value); // keeps -0
}

// A polynomial near 0, else 1 - 2 / (e^2x + 1).
V real_tanh(const Real *r, V x) {
    const MathContext *m = r->m;
    V a = r_abs(r, x);
    V z = r_mul(r, x, x);
    V near = r_fma(r, r_mul(r, a, z), r_poly(r, r->k->tanh, z), a);
    V end = r_const(r, r->k->tanh_end);
    V top = choose(m, r_compare(r, LLVMRealOGT, a, end), end, a);
    V power = exp_normal(r, r_add(r, top, top));
    V quotient = r_div(r, r_const(r, 2), r_add(r, power, r_const(r, 1)));
    V far = r_sub(r, r_const(r, 1), quotient);
    V value = choose(m, r_test(r, LLVMRealULT, a, 0.55), near, far); // NaN takes the polynomial
    return r_copysign(r, value, x);
}
