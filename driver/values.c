#include "driver/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum ValueKind { VALUE_bool, VALUE_signed, VALUE_unsigned, VALUE_float } ValueKind;

/* For floats: the bits of the exponent, its bias, the decimal digits that name every value, and the
 * bits of 1. */
static const struct DTypeInfo {
    const char *name;
    ValueKind kind;
    unsigned bits, exponent_bits;
    int bias, digits;
    uint64_t one;
} dtypes[] = {
    [TCC_BOOL] = {"bool", VALUE_bool, 8, 0, 0, 0, 1},
    [TCC_I4] = {"i4", VALUE_signed, 4, 0, 0, 0, 1},
    [TCC_U4] = {"u4", VALUE_unsigned, 4, 0, 0, 0, 1},
    [TCC_I8] = {"i8", VALUE_signed, 8, 0, 0, 0, 1},
    [TCC_U8] = {"u8", VALUE_unsigned, 8, 0, 0, 0, 1},
    [TCC_I16] = {"i16", VALUE_signed, 16, 0, 0, 0, 1},
    [TCC_U16] = {"u16", VALUE_unsigned, 16, 0, 0, 0, 1},
    [TCC_I32] = {"i32", VALUE_signed, 32, 0, 0, 0, 1},
    [TCC_U32] = {"u32", VALUE_unsigned, 32, 0, 0, 0, 1},
    [TCC_I64] = {"i64", VALUE_signed, 64, 0, 0, 0, 1},
    [TCC_U64] = {"u64", VALUE_unsigned, 64, 0, 0, 0, 1},
    [TCC_F8E4M3] = {"f8e4m3", VALUE_float, 8, 4, 7, 3, 0x38},
    [TCC_F8E5M2] = {"f8e5m2", VALUE_float, 8, 5, 15, 2, 0x3c},
    [TCC_F16] = {"f16", VALUE_float, 16, 5, 15, 5, 0x3c00},
    [TCC_BF16] = {"bf16", VALUE_float, 16, 8, 127, 4, 0x3f80},
    [TCC_F32] = {"f32", VALUE_float, 32, 8, 127, 9, 0x3f800000},
    [TCC_F64] = {"f64", VALUE_float, 64, 11, 1023, 17, 0x3ff0000000000000},
};

const char *dtype_text(int32_t dtype) {
    bool known = dtype >= 0 && dtype < (int32_t)(sizeof dtypes / sizeof *dtypes);
    return known ? dtypes[dtype].name : "?";
}

int64_t tensor_element_count(const tcc_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

/* The bits of an element; of two 4-bit ones in a byte the first is the low nibble. */
static uint64_t element_bits(const tcc_tensor *tensor, int64_t index) {
    unsigned bits = dtypes[tensor->dtype].bits;
    const unsigned char *data = (const unsigned char *)tensor->data + tensor->byte_offset;
    if (bits == 4) return (unsigned)data[index / 2] >> (index % 2 * 4) & 15;
    uint64_t value = 0;
    memcpy(&value, data + index * (int64_t)(bits / 8), bits / 8); /* little-endian */
    return value;
}

static int64_t sign_extend(uint64_t value, unsigned bits) {
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* IEEE's layout for every float; e4m3 has no infinities and one NaN. */
static double float_value(const struct DTypeInfo *info, uint64_t value) {
    unsigned fraction_bits = info->bits - 1 - info->exponent_bits;
    uint64_t top = ((uint64_t)1 << info->exponent_bits) - 1;
    uint64_t exponent = value >> fraction_bits & top;
    uint64_t fraction = value & (((uint64_t)1 << fraction_bits) - 1);
    double sign = value >> (info->bits - 1) & 1 ? -1 : 1;
    bool e4m3 = info->bits == 8 && info->exponent_bits == 4;
    if (exponent == top && (!e4m3 || fraction == 7)) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        exponent = 1;
    else
        fraction |= (uint64_t)1 << fraction_bits;
    return sign * ldexp((double)fraction, (int)exponent - info->bias - (int)fraction_bits);
}

/* f32 and f64 in the fewest digits that read back the same: any text of 6 or 15 digits is that of
 * one value only, so fewer need not be tried, as %g leaves out zeros at the end. */
static void float_text(char out[VALUE_SIZE], const struct DTypeInfo *info, double value) {
    if (!isfinite(value)) {
        snprintf(out, VALUE_SIZE, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = info->bits < 32    ? info->digits
                      : info->bits == 32 ? 6
                                         : 15;
         digits <= info->digits; digits++) {
        snprintf(out, VALUE_SIZE, "%.*g", digits, value);
        double back = info->bits == 32 ? (double)strtof(out, NULL) : strtod(out, NULL);
        if (back == value) return;
    }
}

void value_text(char out[VALUE_SIZE], const tcc_tensor *tensor, int64_t index) {
    const struct DTypeInfo *info = &dtypes[tensor->dtype];
    uint64_t bits = element_bits(tensor, index);
    switch (info->kind) {
    case VALUE_bool: snprintf(out, VALUE_SIZE, "%s", bits ? "true" : "false"); return;
    case VALUE_signed: snprintf(out, VALUE_SIZE, "%" PRId64, sign_extend(bits, info->bits)); return;
    case VALUE_unsigned: snprintf(out, VALUE_SIZE, "%" PRIu64, bits); return;
    case VALUE_float: float_text(out, info, float_value(info, bits)); return;
    }
}

bool value_is_json(const char *text) {
    return strpbrk(text, "0123456789tf") != NULL && !strstr(text, "inf");
}

void tensor_fill_ones(const tcc_tensor *tensor) {
    const struct DTypeInfo *info = &dtypes[tensor->dtype];
    unsigned char *data = (unsigned char *)tensor->data + tensor->byte_offset;
    int64_t count = tensor_element_count(tensor);
    if (info->bits == 4) {
        for (int64_t i = 0; i < count; i += 2) data[i / 2] = i + 1 < count ? 0x11 : 0x01;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(data + i * (int64_t)(info->bits / 8), &info->one, info->bits / 8);
}

void shape_text(char *out, size_t size, uint32_t rank, const int64_t *dims) {
    size_t at = (size_t)snprintf(out, size, "[");
    for (uint32_t i = 0; i < rank && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, i ? ", " : "", dims[i]);
    if (at < size) snprintf(out + at, size - at, "]");
}
