// sin, cos, tan, atan.
#include "codegen/lower/math_functions.h"

// NaN where x is infinite or NaN.
static V finite_only(const Real *r, V x, V value) {
    V inside = r_compare(r, LLVMRealOLT, r_abs(r, x), r_infinity(r));
    return choose(r->m, inside, value, r_sub(r, x, x));
}

// sin(a + b) = sin a + b cos a to first order; 1 - a^2/2 is cosine enough for b.
static V sin_of(const Real *r, Pair angle, V z) {
    V cube = r_mul(r, angle.hi, z);
    V slope = r_fma(r, z, r_const(r, -0.5), r_const(r, 1));
    V low = r_fma(r, cube, r_poly(r, r->k->sin, z), r_mul(r, angle.lo, slope));
    return r_add(r, angle.hi, low);
}

// 1 - z/2 + rest, where the rounding of 1 - z/2 is added back.
static V cos_of(const Real *r, Pair angle, V z) {
    V half = r_scale(r, z, 0.5);
    V main = r_sub(r, r_const(r, 1), half);
    V lost = r_sub(r, r_sub(r, r_const(r, 1), main), half);
    V rest =
        r_fma(r, r_mul(r, z, z), r_poly(r, r->k->cos, z), r_neg(r, r_mul(r, angle.hi, angle.lo)));
    return r_add(r, main, r_add(r, lost, rest));
}

// sin of quadrant * pi/2 + angle.
static V sin_in_quadrant(const Real *r, Pair angle, V quadrant) {
    V z = r_mul(r, angle.hi, angle.hi);
    V odd = i_test(r->m, quadrant, 1);
    V value = choose(r->m, odd, cos_of(r, angle, z), sin_of(r, angle, z));
    return r_flip_sign(r, value, i_shl(r->m, quadrant, r->k->width - 2));
}

V real_sin(const Real *r, V x) {
    Reduced a = reduce_angle(r, r_abs(r, x));
    V value = sin_in_quadrant(r, a.angle, a.quadrant);
    return finite_only(r, x, r_flip_sign(r, value, r_to_bits(r, x)));
}

V real_cos(const Real *r, V x) {
    Reduced a = reduce_angle(r, r_abs(r, x));
    V next = i_add(r->m, a.quadrant, r_int(r, 1));
    return finite_only(r, x, sin_in_quadrant(r, a.angle, next));
}

// tan(a + b) = t + b (1 + t^2), t = tan a; in odd quadrants -1/t, with the low part of t carried
// through the division.
V real_tan(const Real *r, V x) {
    const MathContext *m = r->m;
    Reduced a = reduce_angle(r, r_abs(r, x));
    V z = r_mul(r, a.angle.hi, a.angle.hi);
    V rest = r_mul(r, r_mul(r, a.angle.hi, z), r_poly(r, r->k->tan, z));
    V estimate = r_add(r, a.angle.hi, rest);
    V slope = r_fma(r, estimate, estimate, r_const(r, 1));
    Pair t = pair_fast_sum(r, a.angle.hi, r_fma(r, a.angle.lo, slope, rest));
    V inverse = r_div(r, r_const(r, -1), t.hi);
    V error = r_fma(r, inverse, t.lo, r_fma(r, inverse, t.hi, r_const(r, 1))); // 1 + inverse * t
    V refined = r_fma(r, inverse, error, inverse);
    V value = choose(m, i_test(m, a.quadrant, 1), refined, t.hi);
    return finite_only(r, x, r_flip_sign(r, value, r_to_bits(r, x)));
}

// atan a = base + atan t: t = a below tan(pi/8); (a - 1) / (a + 1) with base pi/4 up to tan(3
// pi/8); else -1/a with pi/2.
V real_atan(const Real *r, V x) {
    const MathContext *m = r->m;
    V a = r_abs(r, x), one = r_const(r, 1), zero = r_const(r, 0);
    V middle = r_test(r, LLVMRealOGT, a, 0.4142135623730950488);
    V large = r_test(r, LLVMRealOGT, a, 2.414213562373095049);
    V top = choose(m, middle, r_sub(r, a, one), a);
    V bottom = choose(m, middle, r_add(r, a, one), one);
    top = choose(m, large, r_const(r, -1), top);
    bottom = choose(m, large, a, bottom);
    V t = r_div(r, top, bottom);
    Pair quarter = pair_const(r, r->k->quarter_pi), half = pair_const(r, r->k->half_pi);
    V base = choose(m, large, half.hi, choose(m, middle, quarter.hi, zero));
    V base_low = choose(m, large, half.lo, choose(m, middle, quarter.lo, zero));
    V z = r_mul(r, t, t);
    V rest = r_fma(r, r_mul(r, t, z), r_poly(r, r->k->atan, z), base_low);
    return r_copysign(r, r_add(r, base, r_add(r, t, rest)), x);
}
