/* Access to the elements of host tensors, one at a time or in runs. */
#include "ir/tensor.h"

#include <string.h>

int64_t tensor_elements(const Tensor *tensor) {
    int64_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

size_t tensor_bytes(const Tensor *tensor) {
    int64_t bytes = 0;
    dtype_bytes(tensor->dtype, tensor_elements(tensor), &bytes);
    return (size_t)bytes;
}

double tensor_get(const Tensor *tensor, int64_t index) {
    double value;
    tensor_load(tensor, index, 1, &value);
    return value;
}

int64_t tensor_get_int(const Tensor *tensor, int64_t index) {
    int64_t value;
    tensor_load_ints(tensor, index, 1, &value);
    return value;
}

void tensor_set(Tensor *tensor, int64_t index, double value) {
    tensor_store(tensor, index, 1, &value);
}

void tensor_set_int(Tensor *tensor, int64_t index, int64_t value) {
    tensor_store_ints(tensor, index, 1, &value);
}

/* ---- the memory form of one element: memcpy because data need not be aligned ----------------- */

static uint64_t load_bits(const unsigned char *data, uint32_t bits, int64_t i) {
    uint64_t word = 0;
    if (bits == 4) return data[i / 2] >> (i % 2 * 4) & 15;
    memcpy(&word, data + i * (int64_t)(bits / 8), bits / 8);
    return word;
}

static void store_bits(unsigned char *data, uint32_t bits, int64_t i, uint64_t word) {
    if (bits == 4) {
        int shift = (int)(i % 2 * 4);
        data[i / 2] = (unsigned char)((data[i / 2] & ~(15 << shift)) | (int)(word & 15) << shift);
    } else {
        memcpy(data + i * (int64_t)(bits / 8), &word, bits / 8);
    }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied from their low end");

/* ---- runs ------------------------------------------------------------------------------------ */

/* A loop over a run of elements that memory holds as C type T, with `expression` of `v` or giving
 * it. */
#define LOAD_RUN(T, expression)                                                                    \
    for (int64_t i = 0; i < count; i++) {                                                          \
        T v;                                                                                       \
        memcpy(&v, data + (start + i) * (int64_t)sizeof v, sizeof v);                              \
        out_values[i] = (expression);                                                              \
    }                                                                                              \
    return

#define STORE_RUN(T, expression)                                                                   \
    for (int64_t i = 0; i < count; i++) {                                                          \
        T v = (T)(expression);                                                                     \
        memcpy(data + (start + i) * (int64_t)sizeof v, &v, sizeof v);                              \
    }                                                                                              \
    return

void tensor_load_ints(const Tensor *tensor, int64_t start, int64_t count, int64_t *out_values) {
    const unsigned char *data = tensor->data;
    uint32_t bits = dtype_info(tensor->dtype)->bits;
    switch (tensor->dtype) {
    case DT_i8: LOAD_RUN(int8_t, v);
    case DT_u8: LOAD_RUN(uint8_t, v);
    case DT_i32: LOAD_RUN(int32_t, v);
    case DT_u32: LOAD_RUN(uint32_t, v);
    case DT_i64:
    case DT_u64: LOAD_RUN(int64_t, v);
    case DT_bool: LOAD_RUN(uint8_t, v != 0);
    default: break;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t word = load_bits(data, bits, start + i);
        out_values[i] = dtype_is_float(tensor->dtype)
                            ? number_to_int(DT_i64, number_from_bits(tensor->dtype, word))
                            : number_wrap(tensor->dtype, (int64_t)word);
    }
}

static void load_from_ints(const Tensor *tensor, int64_t start, int64_t count, double *out_values) {
    bool is_unsigned = tensor->dtype == DT_u64;
    for (int64_t i = 0; i < count; i++) {
        int64_t value;
        tensor_load_ints(tensor, start + i, 1, &value);
        out_values[i] = number_round_int(DT_f64, value, is_unsigned);
    }
}

void tensor_load(const Tensor *tensor, int64_t start, int64_t count, double *out_values) {
    const unsigned char *data = tensor->data;
    DType dtype = tensor->dtype;
    switch (dtype) {
    case DT_f32: LOAD_RUN(float, (double)v);
    case DT_f64: LOAD_RUN(double, v);
    case DT_f16:
    case DT_bf16: number_load_small(dtype, data + 2 * start, count, out_values); return;
    case DT_f8e4m3:
    case DT_f8e5m2: number_load_small(dtype, data + start, count, out_values); return;
    default: load_from_ints(tensor, start, count, out_values);
    }
}

void tensor_store(Tensor *tensor, int64_t start, int64_t count, const double *values) {
    unsigned char *data = tensor->data;
    DType dtype = tensor->dtype;
    switch (dtype) {
    case DT_f32: STORE_RUN(float, values[i]);
    case DT_f64: STORE_RUN(double, values[i]);
    case DT_f16:
    case DT_bf16: number_store_small(dtype, data + 2 * start, count, values); return;
    case DT_f8e4m3:
    case DT_f8e5m2: number_store_small(dtype, data + start, count, values); return;
    default: break;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t value = number_to_int(dtype, values[i]);
        store_bits(data, dtype_info(dtype)->bits, start + i, (uint64_t)value);
    }
}

void tensor_store_ints(Tensor *tensor, int64_t start, int64_t count, const int64_t *values) {
    unsigned char *data = tensor->data;
    DType dtype = tensor->dtype;
    uint32_t bits = dtype_info(dtype)->bits;
    switch (dtype) {
    case DT_i8:
    case DT_u8: STORE_RUN(uint8_t, values[i]);
    case DT_i32:
    case DT_u32: STORE_RUN(uint32_t, values[i]);
    case DT_i64:
    case DT_u64: STORE_RUN(int64_t, values[i]);
    case DT_bool: STORE_RUN(uint8_t, values[i] != 0);
    default: break;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t word = dtype_is_float(dtype)
                            ? number_to_bits(dtype, number_round_int(dtype, values[i], false))
                            : (uint64_t)values[i];
        store_bits(data, bits, start + i, word);
    }
}
