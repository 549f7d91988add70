// Numbers of 16 and 32 bits as what they are worth, for the tests of the machine's floats.
#ifndef TCC_TESTS_UNIT_EMULATOR_FORMATS_H
#define TCC_TESTS_UNIT_EMULATOR_FORMATS_H

#include <math.h>
#include <stdint.h>

typedef struct Format {
    int exponent_bits, fraction_bits, infinity;
} Format;
static const Format f16 = {5, 10, 0x7c00}, bf16 = {8, 7, 0x7f80}, f32 = {8, 23, 0x7f800000};

static inline double value(uint64_t bits, Format f) {
    uint64_t sign = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    int exponent = (int)(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
    uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    double v = ldexp((double)(fraction | (uint64_t)(exponent != 0) << f.fraction_bits),
                     (exponent ? exponent : 1) - bias - f.fraction_bits);
    if (exponent == 2 * bias + 1) v = fraction ? NAN : INFINITY;
    return sign ? -v : v;
}

#endif
