/* Conversions between numbers and the memory forms of dtypes.
 *
 * All float formats are treated alike, as sign, exponent and p - 1 bits of fraction, by integer
 * arithmetic on the bits of a double: dropping the low 53 - p bits of the fraction with ties to
 * even rounds a normal number; below the least normal number the addition of 1.5·2^52 quanta does.
 */
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

/* The shape of the small float formats. */
typedef struct Format {
    int precision; /* with the hidden bit */
    int least;     /* exponent of the least normal number */
    double most;
    bool saturates; /* and has no infinity: the top exponent holds numbers, all ones is NaN */
    uint64_t infinity, nan;
    uint64_t sign;
} Format;

static inline Format format_of(DType dtype) {
    switch (dtype) {
    case DT_f8e4m3: return (Format){4, -6, 448, true, 0, 0x7f, 0x80};
    case DT_f8e5m2: return (Format){3, -14, 57344, false, 0x7c, 0x7e, 0x80};
    case DT_f16: return (Format){11, -14, 65504, false, 0x7c00, 0x7e00, 0x8000};
    default: return (Format){8, -126, 0x1.fep127, false, 0x7f80, 0x7fc0, 0x8000};
    }
}

static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2^exponent for exponents of normal doubles. */
static inline double power(int exponent) { return double_of((uint64_t)(exponent + 1023) << 52); }

/* |value| rounded to the format's grid, without a limit above; not for NaN or infinity. */
static inline double round_magnitude(Format f, double magnitude) {
    if (magnitude < power(f.least)) {
        double shift = 1.5 * power(f.least - f.precision + 1 + 52);
        return (magnitude + shift) - shift;
    }
    int drop = 53 - f.precision;
    uint64_t bits = bits_of(magnitude);
    uint64_t odd = bits >> drop & 1;
    bits += (UINT64_C(1) << (drop - 1)) - 1 + odd;
    return double_of(bits >> drop << drop);
}

static inline double round_small(Format f, double value) {
    if (isnan(value)) return value;
    double magnitude = fabs(value);
    double rounded = isinf(value) ? INFINITY : round_magnitude(f, magnitude);
    if (rounded > f.most) rounded = f.saturates ? f.most : (double)INFINITY;
    return copysign(rounded, value);
}

double number_round(DType dtype, double value) {
    if (dtype == DT_f64) return value;
    if (dtype == DT_f32) return (double)(float)value;
    return round_small(format_of(dtype), value);
}

/* The bits of a number that the format represents. */
static inline uint64_t encode(Format f, double value) {
    uint64_t sign = signbit(value) ? f.sign : 0;
    if (isnan(value)) return sign | f.nan;
    if (isinf(value)) return sign | f.infinity;
    double magnitude = fabs(value);
    if (magnitude < power(f.least)) {
        return sign | (uint64_t)(magnitude * power(-(f.least - f.precision + 1)));
    }
    uint64_t bits = bits_of(magnitude);
    uint64_t exponent = (bits >> 52) - (uint64_t)(1023 + f.least - 1);
    uint64_t fraction = (bits & ((UINT64_C(1) << 52) - 1)) >> (53 - f.precision);
    return sign | exponent << (f.precision - 1) | fraction;
}

static inline double decode(Format f, uint64_t bits) {
    uint64_t magnitude = bits & (f.sign - 1);
    uint64_t fraction = magnitude & ((UINT64_C(1) << (f.precision - 1)) - 1);
    uint64_t exponent = magnitude >> (f.precision - 1);
    double value;
    if (f.saturates ? magnitude == f.nan : magnitude > f.infinity) {
        value = (double)NAN;
    } else if (!f.saturates && magnitude == f.infinity) {
        value = (double)INFINITY;
    } else if (exponent == 0) {
        value = (double)fraction * power(f.least - f.precision + 1);
    } else {
        value = double_of((exponent + (uint64_t)(1023 + f.least - 1)) << 52 |
                          fraction << (53 - f.precision));
    }
    return bits & f.sign ? -value : value;
}

double number_from_bits(DType dtype, uint64_t bits) {
    if (dtype == DT_f64) return double_of(bits);
    if (dtype == DT_f32) {
        uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        return (double)value;
    }
    return decode(format_of(dtype), bits);
}

uint64_t number_to_bits(DType dtype, double value) {
    if (dtype == DT_f64) return bits_of(value);
    if (dtype == DT_f32) {
        float narrow = (float)value;
        uint32_t word;
        memcpy(&word, &narrow, sizeof word);
        return word;
    }
    Format f = format_of(dtype);
    return encode(f, round_small(f, value));
}

/* Runs of one format, so that its numbers are constants of the loop. */
#define RUNS(T, dtype)                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
        T bits;                                                                                    \
        memcpy(&bits, data + i * (int64_t)sizeof bits, sizeof bits);                               \
        out_values[i] = decode(format_of(dtype), bits);                                            \
    }                                                                                              \
    return

void number_load_small(DType dtype, const unsigned char *data, int64_t count, double *out_values) {
    switch (dtype) {
    case DT_f16: RUNS(uint16_t, DT_f16);
    case DT_bf16: RUNS(uint16_t, DT_bf16);
    case DT_f8e4m3: RUNS(uint8_t, DT_f8e4m3);
    default: RUNS(uint8_t, DT_f8e5m2);
    }
}

#undef RUNS
#define RUNS(T, dtype)                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
        T bits = (T)encode(format_of(dtype), round_small(format_of(dtype), values[i]));            \
        memcpy(data + i * (int64_t)sizeof bits, &bits, sizeof bits);                               \
    }                                                                                              \
    return

void number_store_small(DType dtype, unsigned char *data, int64_t count, const double *values) {
    switch (dtype) {
    case DT_f16: RUNS(uint16_t, DT_f16);
    case DT_bf16: RUNS(uint16_t, DT_bf16);
    case DT_f8e4m3: RUNS(uint8_t, DT_f8e4m3);
    default: RUNS(uint8_t, DT_f8e5m2);
    }
}

/* The integer as a double rounded to odd, which a second rounding to fewer bits cannot spoil. */
static double odd_double(uint64_t magnitude) {
    if (magnitude >> 53 == 0) return (double)magnitude;
    int drop = 64 - 53 - __builtin_clzll(magnitude);
    uint64_t kept = magnitude >> drop;
    if (kept << drop != magnitude) kept |= 1;
    return (double)kept * power(drop);
}

double number_round_int(DType dtype, int64_t value, bool is_unsigned) {
    bool negative = !is_unsigned && value < 0;
    uint64_t magnitude = negative ? -(uint64_t)value : (uint64_t)value;
    double wide = dtype == DT_f64 ? (double)magnitude : odd_double(magnitude);
    return number_round(dtype, negative ? -wide : wide);
}

int64_t number_to_int(DType dtype, double value) {
    if (dtype == DT_bool) return value != 0;
    if (isnan(value)) return 0;
    const DTypeInfo *info = dtype_info(dtype);
    double whole = trunc(value);
    if (whole <= info->least) whole = info->least;
    if (dtype == DT_u64) return (int64_t)(whole >= info->most ? UINT64_MAX : (uint64_t)whole);
    if (dtype == DT_i64) return whole >= info->most ? INT64_MAX : (int64_t)whole;
    return (int64_t)(whole >= info->most ? info->most : whole);
}

int64_t number_wrap(DType dtype, int64_t value) {
    if (dtype == DT_bool) return value != 0;
    int unused = 64 - (int)dtype_info(dtype)->bits;
    uint64_t top = (uint64_t)value << unused;
    return dtype_is_signed(dtype) ? (int64_t)top >> unused : (int64_t)(top >> unused);
}

double number_ulp(DType dtype, double value) {
    const DTypeInfo *info = dtype_info(dtype);
    double magnitude = fabs(value);
    if (!(magnitude >= info->least)) magnitude = info->least;
    if (magnitude > info->most) magnitude = info->most;
    uint64_t exponent = bits_of(magnitude) >> 52; /* of a normal double: least is one */
    int p = (int)info->precision;
    if (exponent >= (uint64_t)p) return double_of((exponent - (uint64_t)p + 1) << 52);
    return ldexp(1.0, (int)exponent - 1023 - p + 1);
}
