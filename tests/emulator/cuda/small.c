// Floats of few bits as their definition has them: a significand of some bits times a power of two.
#include "tests/emulator/cuda/cases.h"

static const struct {
    int exponent_bits, fraction_bits;
    double largest; // finite
    bool infinity;
} formats[] = {
    [SMALL_f16] = {5, 10, 65504, true},        [SMALL_bf16] = {8, 7, 0x1.fep127, true},
    [SMALL_e4m3] = {4, 3, 448, false},         [SMALL_e5m2] = {5, 2, 57344, true},
    [SMALL_tf32] = {8, 10, 0x1.ffcp127, true},
};

double small_decode(SmallFormat format, uint32_t bits) {
    int e = formats[format].exponent_bits, m = formats[format].fraction_bits;
    int bias = (1 << (e - 1)) - 1;
    uint32_t exponent = bits >> m & ((1u << e) - 1), fraction = bits & ((1u << m) - 1);
    double sign = bits >> (e + m) & 1 ? -1 : 1;
    bool last = exponent == (1u << e) - 1;
    if (last && formats[format].infinity) return fraction ? NAN : sign * INFINITY;
    if (last && fraction == (1u << m) - 1) return NAN;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - m);
    return sign * ldexp(fraction + (1u << m), (int)exponent - bias - m);
}

static double round_by(SmallRound round, double x) {
    switch (round) {
    case SMALL_rn: return rint(x);
    case SMALL_rz: return trunc(x);
    case SMALL_rp: return ceil(x);
    case SMALL_rm: return floor(x);
    case SMALL_rna: return x < 0 ? -floor(-x + 0.5) : floor(x + 0.5);
    }
    return x;
}

uint32_t small_encode(SmallFormat format, SmallRound round, bool saturate, double value) {
    int e = formats[format].exponent_bits, m = formats[format].fraction_bits;
    int bias = (1 << (e - 1)) - 1, exponent;
    uint32_t sign = signbit(value) ? 1u << (e + m) : 0, infinity = ((1u << e) - 1) << m;
    if (isnan(value)) return (1u << (e + m)) - 1;
    frexp(value, &exponent);
    if (value == 0 || exponent - 1 < 1 - bias) exponent = 2 - bias;
    int unit = isinf(value) ? 0 : exponent - 1 - m; // of the last place
    double rounded = isinf(value) ? value : ldexp(round_by(round, ldexp(value, -unit)), unit);
    double largest = formats[format].largest, size = fabs(rounded);
    if (size > largest) {
        bool up = signbit(value) ? round != SMALL_rp : round != SMALL_rm;
        if (!saturate && !isinf(value) && (round == SMALL_rz || !up)) size = largest;
        if (saturate || !formats[format].infinity) size = largest;
        if (size > largest) return sign | infinity;
    }
    if (size == 0) return sign;
    frexp(size, &exponent);
    if (exponent - 1 < 1 - bias) return sign | (uint32_t)ldexp(size, bias - 1 + m);
    uint32_t fraction = (uint32_t)ldexp(size, m - (exponent - 1)) - (1u << m);
    return sign | (uint32_t)(exponent - 1 + bias) << m | fraction;
}
