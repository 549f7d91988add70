// Elements in storage form as numbers, by the definition of their formats: what the emitters are
// compared with.
//
// A long double holds every value of every dtype exactly.
#ifndef TCC_TESTS_UNIT_LOWER_MATH_VALUES_H
#define TCC_TESTS_UNIT_LOWER_MATH_VALUES_H

#include <math.h>
#include <string.h>

#include "ir/ops.h"

typedef long double Wide;

typedef struct Bound {
    Op op;
    double f32, f64;
} Bound;

static const Bound math_bounds[] = {
#define MATH_BOUND(op, f32, f64) {OP_##op, f32, f64},
#include "codegen/lower/math.def"
#undef MATH_BOUND
};

// The bound of a function as math.def states it; half a unit for what has no row.
static inline double bound_of(Op op, DType dtype) {
    for (size_t i = 0; i < sizeof math_bounds / sizeof *math_bounds; i++)
        if (math_bounds[i].op == op)
            return dtype == DT_f64 ? math_bounds[i].f64 : math_bounds[i].f32;
    return 0.5;
}

static inline unsigned storage_bytes(DType dtype) { return (dtype_info(dtype)->bits + 7) / 8; }

static inline uint64_t load_bits(DType dtype, const void *array, int64_t i) {
    uint64_t bits = 0;
    unsigned bytes = storage_bytes(dtype);
    memcpy(&bits, (const char *)array + i * bytes, bytes);
    return bits;
}

static inline void store_bits(DType dtype, void *array, int64_t i, uint64_t bits) {
    unsigned bytes = storage_bytes(dtype);
    memcpy((char *)array + i * bytes, &bits, bytes);
}

// The low bits of an integer as a value of `dtype`: wrapped to its range.
static inline int64_t wrap_bits(DType dtype, uint64_t bits) {
    unsigned width = dtype_info(dtype)->bits, spare = 64 - width;
    if (dtype == DT_bool) return bits != 0;
    if (dtype_is_signed(dtype)) return (int64_t)(bits << spare) >> spare;
    return (int64_t)(bits << spare >> spare);
}

static inline bool is_small_float(DType dtype) {
    return dtype_is_float(dtype) && dtype_info(dtype)->bits < 32;
}

// Exponent of 2 in the least normal number of a float dtype.
static inline int least_exponent(DType dtype) { return ilogb(dtype_info(dtype)->least); }

static inline Wide small_value(DType dtype, unsigned code) {
    const DTypeInfo *info = dtype_info(dtype);
    int mantissa = (int)info->precision - 1, least = least_exponent(dtype);
    unsigned magnitude = code & ((1u << (info->bits - 1)) - 1);
    unsigned field = magnitude >> mantissa, fraction = magnitude & ((1u << mantissa) - 1);
    unsigned top = (1u << ((int)info->bits - 1 - mantissa)) - 1;
    Wide sign = code >> (info->bits - 1) ? -1 : 1;
    if (dtype == DT_f8e4m3 && magnitude == 0x7f) return (Wide)NAN;
    if (dtype != DT_f8e4m3 && field == top) return fraction ? (Wide)NAN : sign * HUGE_VALL;
    if (field == 0) return sign * ldexpl(fraction, least - mantissa);
    return sign * ldexpl((1u << mantissa) + fraction, least - 1 - mantissa + (int)field);
}

// x rounded to nearest even to the precision of a small float, e4m3 saturated.
static inline Wide small_round(DType dtype, Wide x) {
    const DTypeInfo *info = dtype_info(dtype);
    if (isnan(x) || x == 0) return x;
    Wide most = info->most, sign = copysignl(1, x);
    if (isinf(x)) return dtype == DT_f8e4m3 ? sign * most : x;
    int exponent = ilogbl(x), least = least_exponent(dtype);
    if (exponent < least) exponent = least;
    int unit = exponent - (int)info->precision + 1;
    Wide rounded = ldexpl(nearbyintl(ldexpl(x, -unit)), unit);
    if (fabsl(rounded) <= most) return copysignl(rounded, x);
    return sign * (dtype == DT_f8e4m3 ? most : HUGE_VALL);
}

static inline Wide load_value(DType dtype, const void *array, int64_t i) {
    uint64_t bits = load_bits(dtype, array, i);
    if (is_small_float(dtype)) return small_value(dtype, (unsigned)bits);
    float f;
    double d;
    switch (dtype) {
    case DT_f32: memcpy(&f, (const char *)array + 4 * i, 4); return (Wide)f;
    case DT_f64: memcpy(&d, (const char *)array + 8 * i, 8); return (Wide)d;
    case DT_u64: return (Wide)bits;
    default: return (Wide)wrap_bits(dtype, bits);
    }
}

// x as the nearest value of a float dtype.
static inline Wide round_value(DType dtype, Wide x) {
    if (is_small_float(dtype)) return small_round(dtype, x);
    return dtype == DT_f32 ? (Wide)(float)x : (Wide)(double)x;
}

static inline bool same_value(Wide a, Wide b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && !signbit(a) == !signbit(b);
}

// |got - want| in units in the last place of `dtype` at want. Infinity counts as the power of two
// after the greatest number, and e4m3 has its greatest number for everything beyond.
static inline double ulps(DType dtype, Wide got, Wide want) {
    const DTypeInfo *info = dtype_info(dtype);
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : HUGE_VAL;
    Wide end = dtype == DT_f8e4m3 ? (Wide)info->most : ldexpl(1, ilogb(info->most) + 1);
    if (fabsl(want) > end) want = copysignl(end, want);
    if (isinf(got)) got = copysignl(end, got);
    int exponent = want == 0 ? INT32_MIN : ilogbl(want), least = least_exponent(dtype);
    if (exponent < least) exponent = least;
    return (double)(fabsl(got - want) / ldexpl(1, exponent - (int)info->precision + 1));
}

#endif
