// rem, mod and floordiv of floats.
//
// rem is exact. With both operands as integer mantissas, x = mx 2^ex and y = my 2^ey, the remainder
// of mx 2^(ex - ey) by my is found a digit of K bits at a time: r 2^K is exact; the quotient by the
// rounded reciprocal, below 2^(K + 1), is off by a quarter at most, so after rounding to nearest
// the rest is within 3/4 of my, an integer that the fma finds exactly. The number of digits is that
// of the widest distance of exponents, so the code has no loop: 14 digits in f32, 43 in f64.
#include "codegen/lower/math_functions.h"

typedef struct Scaled {
    V mantissa; // an integer in [2^mantissa, 2^(mantissa + 1)), as a float
    V exponent; // exponent field of the number; below 1 for denormal ones
} Scaled;

static Scaled scale_to_integer(const Real *r, V a) {
    const MathContext *m = r->m;
    unsigned bits = r->k->mantissa;
    V low = r_test(r, LLVMRealOLT, a, r->k->least_normal);
    V raised = choose(m, low, r_scale(r, a, 2 * (double)((uint64_t)1 << bits)), a);
    V field = r_to_bits(r, raised);
    V exponent = i_sub(m, i_lshr(m, field, bits), choose(m, low, r_int(r, bits + 1), r_int(r, 0)));
    V mantissa = i_mask(m, field, ((uint64_t)1 << bits) - 1);
    V one = r_to_bits(r, r_const(r, (double)((uint64_t)1 << bits)));
    return (Scaled){r_from_bits(r, i_or(m, mantissa, one)), exponent};
}

// rest * 2^count modulo divisor.
static V rem_digit(const Real *r, V rest, V count, V divisor, V inverse) {
    const MathContext *m = r->m;
    V scaled = r_mul(r, rest, r_power_of_two(r, count));
    V quotient = r_round(r, r_mul(r, scaled, inverse));
    V left = r_fma(r, r_neg(r, quotient), divisor, scaled);
    V under = r_test(r, LLVMRealOLT, left, 0);
    return choose(m, under, r_add(r, left, divisor), left);
}

// |x| rem |y| for finite x and y != 0, as a magnitude; anything else else.
static V rem_magnitude(const Real *r, V a, V b) {
    const MathContext *m = r->m;
    Scaled x = scale_to_integer(r, a), y = scale_to_integer(r, b);
    int digit = (int)r->k->mantissa - 3;
    int distance = 2 * r->k->bias + (int)r->k->mantissa;
    V zero = r_int(r, 0), most = r_int(r, digit);
    V left = i_sub(m, x.exponent, y.exponent);
    V less = i_compare(m, LLVMIntSLT, left, zero);
    V inverse = r_div(r, r_const(r, 1), y.mantissa);
    V rest = x.mantissa;
    for (int done = 0; done < distance; done += digit) {
        V count = choose(m, i_compare(m, LLVMIntSGT, left, most), most, left);
        count = choose(m, i_compare(m, LLVMIntSLT, count, zero), zero, count);
        rest = rem_digit(r, rest, count, y.mantissa, inverse);
        left = i_sub(m, left, count);
    }
    V exponent = i_sub(m, y.exponent, r_int(r, r->k->bias + (int)r->k->mantissa));
    V half = i_ashr(m, exponent, 1);
    V value = r_mul(r, rest, r_power_of_two(r, half));
    value = r_mul(r, value, r_power_of_two(r, i_sub(m, exponent, half)));
    return choose(m, less, a, value);
}

V real_rem(const Real *r, V x, V y) {
    const MathContext *m = r->m;
    V a = r_abs(r, x), b = r_abs(r, y);
    V value = r_copysign(r, rem_magnitude(r, a, b), x);
    V defined = i_and(m, r_compare(r, LLVMRealOLT, a, r_infinity(r)), r_test(r, LLVMRealOGT, b, 0));
    return choose(m, defined, value, r_nan(r));
}

static V signs_differ(const Real *r, V a, V b) {
    V bits = i_xor(r->m, r_to_bits(r, a), r_to_bits(r, b));
    V differ = i_compare(r->m, LLVMIntSLT, bits, r_int(r, 0));
    return i_and(r->m, differ, r_test(r, LLVMRealONE, a, 0));
}

V real_mod(const Real *r, V x, V y) {
    V rest = real_rem(r, x, y);
    return choose(r->m, signs_differ(r, rest, y), r_add(r, rest, y), rest);
}

// The floor of the exact quotient: where x / y was rounded up to an integer, x - n y has the wrong
// sign. A quotient of 2^24 (f64: 2^53) or more is within a unit in the last place of its floor.
V real_floordiv(const Real *r, V x, V y) {
    V n = r_floor(r, r_div(r, x, y));
    V rest = r_fma(r, r_neg(r, n), y, x);
    return choose(r->m, signs_differ(r, rest, y), r_sub(r, n, r_const(r, 1)), n);
}
