// Reduction of an angle modulo pi/2, exact for every finite argument.
//
// Payne and Hanek (Radian reduction for trigonometric functions, SIGNUM Newsletter 18, 1983): of x
// * 2/pi only the two integer bits above the point and enough bits below it matter, so the integer
// mantissa of x is multiplied by that window of the bits of 2/pi which its exponent selects. The
// window is picked by a tree of selects, log2 of the number of words deep, so no table in memory is
// needed. f32 takes words of 32 bits and keeps 62 fraction bits; its arguments come as near as
// 2^-30 to a multiple of pi/2, so that is 32 bits beyond any cancellation. f64 takes words of 28
// bits, so that sums of three products fit 64, and keeps 156 fraction bits (cancellation is at most
// 2^-62).
#include "codegen/lower/math_coefficients.h"
#include "codegen/lower/math_functions.h"

enum { WORDS_32 = 9, WORDS_28 = 50, WINDOW_28 = 9, MASK_28 = (1 << 28) - 1 };

// Leaves words[index .. index + wanted) in words[0 .. wanted), lane by lane; index < 2^levels.
static void pick_words(const MathContext *m, V *words, int count, V index, unsigned levels,
                       int wanted) {
    for (unsigned level = levels; level-- > 0;) {
        int step = 1 << level, needed = wanted + step - 1;
        V far = i_test(m, index, (uint64_t)step);
        for (int i = 0; i < needed && i + step < count; i++)
            words[i] = choose(m, far, words[i + step], words[i]);
        if (needed < count) count = needed;
    }
}

static V funnel(const MathContext *m, V high, V low, V count) {
    V wide = i_or(m, i_shl(m, i_zext(m, high, 64), 32), i_zext(m, low, 64));
    V shifted = LLVMBuildShl(m->builder, wide, i_zext(m, count, 64), "");
    return i_lshr(m, shifted, 32);
}

// x * 2/pi modulo 4, in units of 2^-62, for |x| >= 2^-14: i64 lanes. The window is the 96 bits of
// 2/pi from bit exponent - 1 on, where x = mantissa * 2^exponent; bits below it count for less than
// 2^-62 in all.
static V quarter_turns(const Real *r, V bits) {
    const MathContext *m = r->m;
    V words[WORDS_32];
    for (int i = 0; i < WORDS_32; i++) words[i] = r_int(r, two_over_pi_32[i]);
    V mantissa = i_zext(m, i_or(m, i_mask(m, bits, 0x7fffff), r_int(r, 0x800000)), 64);
    V field = i_lshr(m, bits, 23);
    V low = i_compare(m, LLVMIntULT, field, r_int(r, 113));
    field = choose(m, low, r_int(r, 113), field);
    V start = i_sub(m, field, r_int(r, 150 - 62)); // counted from the first padding bit
    pick_words(m, words, WORDS_32, i_lshr(m, start, 5), 3, 4);
    V shift = i_mask(m, start, 31);
    V window[3];
    for (int i = 0; i < 3; i++)
        window[i] = i_mask(m, funnel(m, words[i], words[i + 1], shift), UINT32_MAX);
    V sum = i_add(m, i_shl(m, i_mul(m, mantissa, window[0]), 32), i_mul(m, mantissa, window[1]));
    return i_add(m, sum, i_lshr(m, i_mul(m, mantissa, window[2]), 32));
}

// The angle from its value in quarter turns, high + low.
static Pair to_angle(const Real *r, Pair turns) {
    Pair pi = pair_const(r, r->k->half_pi);
    Pair product = pair_product(r, turns.hi, pi.hi);
    V low = r_fma(r, turns.hi, pi.lo, r_mul(r, turns.lo, pi.hi));
    return (Pair){product.hi, r_add(r, product.lo, low)};
}

static Pair flip_pair(const Real *r, Pair a, V bits) {
    return (Pair){r_flip_sign(r, a.hi, bits), r_flip_sign(r, a.lo, bits)};
}

static Reduced reduce_f32(const Real *r, V magnitude) {
    const MathContext *m = r->m;
    V turns = quarter_turns(r, r_to_bits(r, magnitude));
    V quadrant = i_lshr(m, i_add(m, turns, i_like(m, turns, (uint64_t)1 << 61)), 62);
    V rest = i_sub(m, turns, i_shl(m, quadrant, 62));
    V sign = i_ashr(m, rest, 63);
    V distance = i_sub(m, i_xor(m, rest, sign), sign); // |rest| <= 2^61
    V high = i_trunc(m, i_lshr(m, distance, 38), 32);
    V low = i_mask(m, i_trunc(m, i_lshr(m, distance, 7), 32), 0x7fffffff);
    V high_part = r_scale(r, LLVMBuildSIToFP(m->builder, high, r->type, ""), 0x1p-24);
    V low_part = r_scale(r, LLVMBuildSIToFP(m->builder, low, r->type, ""), 0x1p-55);
    Pair angle = to_angle(r, pair_fast_sum(r, high_part, low_part));
    return (Reduced){flip_pair(r, angle, i_trunc(m, sign, 32)), i_trunc(m, quadrant, 32)};
}

// Adds mantissa * window into columns of 28 bits: column c, of weight 2^-28c, collects the products
// of mantissa word a with window word a + c.
static void multiply_28(const Real *r, V mantissa[3], V *window, V columns[7]) {
    const MathContext *m = r->m;
    for (int c = 0; c < 7; c++) {
        columns[c] = i_mul(m, mantissa[0], window[c]);
        for (int a = 1; a < 3; a++)
            columns[c] = i_add(m, columns[c], i_mul(m, mantissa[a], window[a + c]));
    }
    for (int c = 6; c > 0; c--) {
        columns[c - 1] = i_add(m, columns[c - 1], i_lshr(m, columns[c], 28));
        columns[c] = i_mask(m, columns[c], MASK_28);
    }
}

// The columns of x * 2/pi modulo 4: [0] holds the integer in its low bits, [1] to [6] the fraction.
// x = mantissa * 2^exponent, and exponent + 84 = 28 index + shift; words whose product is a
// multiple of 2^28 are before the window.
static void quarter_turns_28(const Real *r, V bits, V columns[7]) {
    const MathContext *m = r->m;
    V words[WORDS_28];
    for (int i = 0; i < WORDS_28; i++) words[i] = r_int(r, two_over_pi_28[i]);
    V fraction = i_mask(m, bits, ((uint64_t)1 << 52) - 1);
    V whole = i_or(m, fraction, r_int(r, (int64_t)1 << 52));
    V field = i_lshr(m, bits, 52);
    V low = i_compare(m, LLVMIntULT, field, r_int(r, 1075 - 84));
    V position = i_sub(m, choose(m, low, r_int(r, 1075 - 84), field), r_int(r, 1075 - 84));
    V index =
        i_lshr(m, i_mul(m, position, r_int(r, 2341)), 16); // position / 28, for position < 2^12
    V shift = i_sub(m, position, i_mul(m, index, r_int(r, 28)));
    pick_words(m, words, WORDS_28, index, 6, WINDOW_28);
    V first = LLVMBuildShl(m->builder, i_mask(m, whole, MASK_28), shift, "");
    V second = LLVMBuildShl(m->builder, i_lshr(m, whole, 28), shift, "");
    second = i_add(m, second, i_lshr(m, first, 28));
    V mantissa[3] = {i_mask(m, first, MASK_28), i_mask(m, second, MASK_28), i_lshr(m, second, 28)};
    multiply_28(r, mantissa, words, columns);
}

// 52 bits as a float: the number 2^52 with them as its mantissa, less 2^52.
static V small_to_f64(const Real *r, V value, double scale) {
    V biased = r_from_bits(r, i_or(r->m, value, r_to_bits(r, r_const(r, 0x1p52))));
    return r_scale(r, r_sub(r, biased, r_const(r, 0x1p52)), scale);
}

static Reduced reduce_f64(const Real *r, V magnitude) {
    const MathContext *m = r->m;
    V d[7];
    quarter_turns_28(r, r_to_bits(r, magnitude), d);
    V up = i_lshr(m, d[1], 27); // a fraction of a half or more rounds up, and the rest is negative
    V flip = i_and(m, i_sub(m, r_int(r, 0), up), r_int(r, MASK_28));
    for (int i = 1; i < 7; i++) d[i] = i_xor(m, d[i], flip);
    V first = i_or(m, i_shl(m, d[1], 24), i_lshr(m, d[2], 4));
    V second = i_or(m, i_shl(m, i_mask(m, d[2], 15), 48), i_shl(m, d[3], 20));
    second = i_or(m, second, i_lshr(m, d[4], 8));
    V third = i_or(m, i_shl(m, i_mask(m, d[4], 255), 28), d[5]);
    Pair turns =
        pair_fast_sum(r, small_to_f64(r, first, 0x1p-52), small_to_f64(r, second, 0x1p-104));
    turns.lo = r_add(r, turns.lo, small_to_f64(r, third, 0x1p-140));
    Pair angle = to_angle(r, turns);
    return (Reduced){flip_pair(r, angle, i_shl(m, up, 63)), i_add(m, d[0], up)};
}

Reduced reduce_angle(const Real *r, V magnitude) {
    const MathContext *m = r->m;
    Reduced x = r->k->width == 32 ? reduce_f32(r, magnitude) : reduce_f64(r, magnitude);
    V small = r_test(r, LLVMRealOLE, magnitude, r->k->quarter_pi[0]);
    x.angle.hi = choose(m, small, magnitude, x.angle.hi);
    x.angle.lo = choose(m, small, r_const(r, 0), x.angle.lo);
    x.quadrant = choose(m, small, r_int(r, 0), x.quadrant);
    return x;
}
