/* Numbers in memory form: rounding, packing and casts, one generic routine for every small float.
 */
#include "codegen/tile/cell.h"

#include <math.h>
#include <string.h>

/* ---- floats ---------------------------------------------------------------------------------- */

/* The exponent of the least normal number. */
static int least_exponent(const DTypeInfo *info) {
    int exponent = 0;
    frexp(info->least, &exponent);
    return exponent - 1;
}

/* To a multiple of the unit in the last place at `value`, which denormals share with the least
 * normal. */
static double round_small(DType dtype, long double value) {
    const DTypeInfo *info = dtype_info(dtype);
    int exponent = 0, precision = (int)info->precision;
    if (isinf(value))
        return dtype == DT_f8e4m3 ? copysign(info->most, (double)value) : (double)value;
    frexpl(value, &exponent);
    int unit = exponent - precision, least = least_exponent(info) - precision + 1;
    if (unit < least) unit = least;
    double rounded = (double)ldexpl(nearbyintl(ldexpl(value, -unit)), unit);
    if (fabs(rounded) <= info->most) return rounded;
    return copysign(dtype == DT_f8e4m3 ? info->most : INFINITY, rounded);
}

double cell_round(DType dtype, long double value) {
    if (dtype == DT_f64 || isnan(value)) return (double)value;
    if (dtype == DT_f32) return (float)value;
    return round_small(dtype, value);
}

/* Sign, exponent and fraction bits of a value that the dtype represents. */
static uint64_t encode_small(DType dtype, double value) {
    const DTypeInfo *info = dtype_info(dtype);
    uint32_t fraction_bits = info->precision - 1, exponent_bits = info->bits - info->precision;
    uint64_t ones = (1u << exponent_bits) - 1, sign = signbit(value) ? 1u : 0u, field = 0,
             fraction = 0;
    double magnitude = fabs(value);
    if (isnan(value)) {
        field = ones;
        fraction = dtype == DT_f8e4m3 ? 7 : 1ull << (fraction_bits - 1);
    } else if (isinf(value)) {
        field = ones;
    } else if (magnitude < info->least) {
        fraction = (uint64_t)ldexp(magnitude, (int)fraction_bits - least_exponent(info));
    } else {
        int exponent = ilogb(magnitude);
        field = (uint64_t)(exponent - least_exponent(info) + 1);
        fraction =
            (uint64_t)ldexp(magnitude, (int)fraction_bits - exponent) - (1ull << fraction_bits);
    }
    return sign << (info->bits - 1) | field << fraction_bits | fraction;
}

static double decode_small(DType dtype, uint64_t bits) {
    const DTypeInfo *info = dtype_info(dtype);
    uint32_t fraction_bits = info->precision - 1, exponent_bits = info->bits - info->precision;
    uint64_t ones = (1u << exponent_bits) - 1, fraction = bits & ((1ull << fraction_bits) - 1);
    uint64_t field = bits >> fraction_bits & ones;
    double magnitude;
    if (dtype == DT_f8e4m3 && field == ones && fraction == 7)
        magnitude = NAN;
    else if (dtype != DT_f8e4m3 && field == ones)
        magnitude = fraction ? NAN : INFINITY;
    else if (field == 0)
        magnitude = ldexp((double)fraction, least_exponent(info) - (int)fraction_bits);
    else
        magnitude = ldexp((double)(fraction | 1ull << fraction_bits),
                          (int)field - 1 + least_exponent(info) - (int)fraction_bits);
    return bits >> (info->bits - 1) & 1 ? -magnitude : magnitude;
}

/* ---- integers and casts ---------------------------------------------------------------------- */

int64_t cell_wrap(DType dtype, int64_t value) {
    if (dtype == DT_bool) return value != 0;
    uint32_t spare = 64 - dtype_info(dtype)->bits;
    uint64_t high = (uint64_t)value << spare;
    return dtype_is_signed(dtype) ? (int64_t)high >> spare : (int64_t)(high >> spare);
}

/* Toward zero, saturated to the range of the dtype; NaN gives 0. */
static int64_t truncate(DType to, double value) {
    const DTypeInfo *info = dtype_info(to);
    int64_t least = dtype_is_signed(to) ? (int64_t)(UINT64_MAX << (info->bits - 1)) : 0;
    uint64_t most =
        (dtype_is_signed(to) ? (1ull << (info->bits - 1)) - 1 : UINT64_MAX >> (64 - info->bits));
    if (isnan(value)) return 0;
    if (value <= (double)least) return least;
    if (value >= ldexp(1, (int)info->bits - (dtype_is_signed(to) ? 1 : 0))) return (int64_t)most;
    return value < 0 ? (int64_t)value : (int64_t)(uint64_t)value;
}

TileCell cell_cast(DType from, DType to, TileCell cell) {
    bool from_float = dtype_is_float(from), to_float = dtype_is_float(to);
    if (to == DT_bool) return (TileCell){.i = from_float ? cell.f != 0 : cell.i != 0};
    if (from_float && to_float) return (TileCell){.f = cell_round(to, cell.f)};
    if (from_float) return (TileCell){.i = truncate(to, cell.f)};
    if (!to_float) return (TileCell){.i = cell_wrap(to, cell.i)};
    long double exact = from == DT_u64 ? (long double)(uint64_t)cell.i : (long double)cell.i;
    return (TileCell){.f = cell_round(to, exact)};
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t load_bits(uint32_t bits, const unsigned char *base, size_t index) {
    uint64_t word = 0;
    if (bits == 4) return (uint64_t)base[index / 2] >> (index % 2 * 4) & 15u;
    memcpy(&word, base + index * (bits / 8), bits / 8);
    return word;
}

static void store_bits(uint32_t bits, unsigned char *base, size_t index, uint64_t word) {
    if (bits != 4) {
        memcpy(base + index * (bits / 8), &word, bits / 8);
        return;
    }
    unsigned shift = (unsigned)(index % 2) * 4;
    base[index / 2] = (unsigned char)((base[index / 2] & ~(15u << shift)) | (word & 15u) << shift);
}

TileCell cell_load(DType dtype, const void *base, int64_t index) {
    uint64_t bits = load_bits(dtype_info(dtype)->bits, base, (size_t)index);
    if (!dtype_is_float(dtype)) return (TileCell){.i = cell_wrap(dtype, (int64_t)bits)};
    TileCell cell;
    float single;
    uint32_t word = (uint32_t)bits;
    memcpy(&cell.f, &bits, sizeof bits);
    memcpy(&single, &word, sizeof word);
    if (dtype == DT_f32) cell.f = single;
    if (dtype != DT_f32 && dtype != DT_f64) cell.f = decode_small(dtype, bits);
    return cell;
}

void cell_store(DType dtype, void *base, int64_t index, TileCell cell) {
    uint64_t bits = (uint64_t)cell.i;
    float single = 0;
    uint32_t word;
    if (dtype == DT_f32) {
        single = (float)cell.f;
        memcpy(&word, &single, sizeof word);
        bits = word;
    } else if (dtype_is_float(dtype) && dtype != DT_f64) {
        bits = encode_small(dtype, cell.f);
    }
    store_bits(dtype_info(dtype)->bits, base, (size_t)index, bits);
}
