/* How tensor cores add, after MMA-Sim (arXiv 2511.10909): all terms of a step, the products and the
 * accumulator, are fixed-point numbers that begin at the greatest exponent E among them and end
 * `fraction` bits below, where they are cut off; their sum is exact; it is then rounded once,
 * toward zero to f32, to nearest even to f16.
 *
 * A product's exponent is the sum of its factors', whether or not the product of the significands
 * reaches 2; subnormal factors have the least exponent of their type; zeros have no say in E. */
#include "emulator/machine/convert.h"
#include "emulator/machine/mma.h"

#include <math.h>

enum { HOPPER_FRACTION = 25, AMPERE_FRACTION = 24, ADA_FP8_FRACTION = 13 };

MmaSum mma_sum_of(int major, int minor, PtxType a) {
    if (major >= 9) return (MmaSum){.fraction = HOPPER_FRACTION};
    bool fp8 = a == PTX_TYPE_e4m3 || a == PTX_TYPE_e5m2;
    bool ada = fp8 && minor == 9;
    return (MmaSum){.fraction = ada ? ADA_FP8_FRACTION : AMPERE_FRACTION, .halves = true};
}

/* significand * 2^(exponent - fraction). */
typedef struct Term {
    int64_t significand;
    int exponent, fraction;
} Term;

typedef struct Shape {
    int least, fraction; /* exponent of the least normal, bits of the fraction */
} Shape;

static Shape shape_of(PtxType type) {
    switch (type) {
    case PTX_TYPE_f16: return (Shape){-14, 10};
    case PTX_TYPE_bf16: return (Shape){-126, 7};
    case PTX_TYPE_tf32: return (Shape){-126, 10};
    case PTX_TYPE_e4m3: return (Shape){-6, 3};
    case PTX_TYPE_e5m2: return (Shape){-14, 2};
    default: return (Shape){-126, 23};
    }
}

static Term term_of(PtxType type, float value) {
    Shape shape = shape_of(type);
    int exponent = shape.least;
    if (value != 0 && ilogbf(value) > exponent) exponent = ilogbf(value);
    double significand = ldexp((double)value, shape.fraction - exponent);
    return (Term){(int64_t)significand, exponent, shape.fraction};
}

static Term term_product(Term x, Term y) {
    return (Term){x.significand * y.significand, x.exponent + y.exponent, x.fraction + y.fraction};
}

/* The term in units of 2^(greatest - fraction), cut off toward zero. */
static int64_t term_aligned(Term t, int greatest, int fraction) {
    int left = t.exponent - greatest + fraction - t.fraction;
    if (left >= 0) return t.significand * ((int64_t)1 << left);
    return left > -63 ? t.significand / ((int64_t)1 << -left) : 0;
}

static float round_to(PtxType d, int64_t sum, int exponent) {
    double value = ldexp((double)sum, exponent); /* exact: the sum has fewer than 53 bits */
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};
    EmuConversion c = {.to = d == PTX_TYPE_f16 ? PTX_TYPE_f16 : PTX_TYPE_f32, .from = PTX_TYPE_f64};
    if (c.to == PTX_TYPE_f16) return emu_f16_to_f32((uint16_t)emu_convert(&c, both.bits));
    c.rounding = EMU_ROUND_zero;
    if (fabs(value) >= 0x1p128) return value < 0 ? -INFINITY : INFINITY;
    return emu_float((uint32_t)emu_convert(&c, both.bits));
}

/* The result where a term is NaN or infinite; false where all are finite. */
static bool special(const float *a, const float *b, int count, float c, float *out) {
    float sum = isfinite(c) ? 0 : c;
    for (int i = 0; i < count; i++)
        if (!isfinite(a[i]) || !isfinite(b[i])) sum += a[i] * b[i];
    *out = isnan(sum) ? emu_float(0x7fffffff) : sum;
    return sum != 0;
}

static float step(const Mma *mma, const float *a, const float *b, int count, float c) {
    Term terms[MMA_PACKED + 1];
    float result;
    int greatest = INT32_MIN;
    int64_t sum = 0;
    if (special(a, b, count, c, &result)) return result;
    terms[count] = term_of(mma->c, c);
    for (int i = 0; i < count; i++)
        terms[i] = term_product(term_of(mma->a, a[i]), term_of(mma->b, b[i]));
    for (int i = 0; i <= count; i++)
        if (terms[i].significand && terms[i].exponent > greatest) greatest = terms[i].exponent;
    if (greatest == INT32_MIN) return 0;
    for (int i = 0; i <= count; i++)
        if (terms[i].significand) sum += term_aligned(terms[i], greatest, mma->sum.fraction);
    return round_to(mma->d, sum, greatest - mma->sum.fraction);
}

/* Ampere takes the largest shapes (256 bits of k) in two steps. */
float mma_exact(const Mma *mma, const float *a, const float *b, int count, float c) {
    if (!mma->sum.halves || count * mma->layout_a.bits < 256) return step(mma, a, b, count, c);
    float half = step(mma, a, b, count / 2, c);
    return step(mma, a + count / 2, b + count / 2, count - count / 2, half);
}
