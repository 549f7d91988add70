// erf, erfc.
#include "codegen/lower/math_functions.h"

static V erf_near(const Real *r, V x) {
    return r_fma(r, x, r_poly(r, r->k->erf, r_mul(r, x, x)), x);
}

// erfc(a) for a >= 0: e^(-a^2) P(q) / (1 + 2a) with q = (a - c) / (a + c), which maps the half line
// to a bounded interval on which the quotient of both is smooth (Shepherd and Laframboise, Math.
// Comp. 36, 1981). The rounding of a^2 goes into the exponential as its low part, so the tail keeps
// its relative accuracy.
static V erfc_positive(const Real *r, V a) {
    V centre = r_const(r, r->k->erfc_centre);
    V q = r_div(r, r_sub(r, a, centre), r_add(r, a, centre));
    Pair square = pair_product(r, a, a);
    V top = exp_times(r, r_neg(r, square.hi), r_neg(r, square.lo), r_poly(r, r->k->erfc, q));
    return r_div(r, top, r_fma(r, a, r_const(r, 2), r_const(r, 1)));
}

// 1 - erf near 0; 0 where erfc is below the least normal number.
V real_erfc(const Real *r, V x) {
    const MathContext *m = r->m;
    V a = r_abs(r, x);
    V far = r_test(r, LLVMRealOGT, a, r->k->limits[2]);
    V value = choose(m, far, r_const(r, 0), erfc_positive(r, a));
    V negative = r_test(r, LLVMRealOLT, x, 0);
    value = choose(m, negative, r_sub(r, r_const(r, 2), value), value);
    V near = r_sub(r, r_const(r, 1), erf_near(r, x));
    return choose(m, r_test(r, LLVMRealULT, a, 0.47), near, value); // NaN takes 1 - erf
}

// 1 - erfc(a) for a from the edge on; f32 has -log(erfc(a)) as a polynomial.
static V erf_far(const Real *r, V a) {
    V end = r_const(r, r->k->erf_end);
    V top = choose(r->m, r_compare(r, LLVMRealOGT, a, end), end, a);
    V rest = r->k->erf_tail.count ? exp_normal(r, r_neg(r, r_poly(r, r->k->erf_tail, top)))
                                  : erfc_positive(r, top);
    return r_sub(r, r_const(r, 1), rest);
}

V real_erf(const Real *r, V x) {
    V a = r_abs(r, x);
    V near = r_test(r, LLVMRealULT, a, r->k->erf_edge); // NaN takes the polynomial
    return choose(r->m, near, erf_near(r, x), r_copysign(r, erf_far(r, a), x));
}
