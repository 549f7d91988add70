/* Host tensors: dense row-major values in the memory form of their dtype.
 *
 * The whole tensor is packed densely: 4-bit values stand two to a byte, element 2i in the low
 * nibble of byte i and element 2i + 1 in the high one, across rows too; the last nibble of an odd
 * count is 0. A bool is a byte 0 or 1 (any other byte reads as true). `data` need not be aligned.
 */
#ifndef TCC_IR_TENSOR_H
#define TCC_IR_TENSOR_H

#include "ir/type.h"

typedef struct Tensor {
    DType dtype;
    uint32_t rank;
    int64_t dims[TYPE_MAX_RANK];
    void *data;
} Tensor;

int64_t tensor_elements(const Tensor *tensor);
size_t tensor_bytes(const Tensor *tensor);

/* One element as a number. Index in row-major order. Floats and bools are exact as doubles,
 * integers beyond 2^53 are rounded; tensor_get_int is exact for integers (u64 as the same bits) and
 * bools and converts floats as a cast does. */
double tensor_get(const Tensor *tensor, int64_t index);
int64_t tensor_get_int(const Tensor *tensor, int64_t index);
/* Stores with the contract's rounding and saturation, as a cast from f64 or i64 would: integers
 * wrap in tensor_set_int. */
void tensor_set(Tensor *tensor, int64_t index, double value);
void tensor_set_int(Tensor *tensor, int64_t index, int64_t value);

/* Runs of `count` elements from `start`, by the same rules; `tensor_load_ints` and
 * `tensor_store_ints` hold u64 as the same bits in int64. */
void tensor_load(const Tensor *tensor, int64_t start, int64_t count, double *out_values);
void tensor_load_ints(const Tensor *tensor, int64_t start, int64_t count, int64_t *out_values);
void tensor_store(Tensor *tensor, int64_t start, int64_t count, const double *values);
void tensor_store_ints(Tensor *tensor, int64_t start, int64_t count, const int64_t *values);

/* Single numbers in memory form <-> double, for the floats: round to nearest, ties to even; f8e4m3
 * saturates at ±448 (infinities too), the others overflow to infinity. NaN stays NaN of its sign.
 */
double number_from_bits(DType dtype, uint64_t bits);
uint64_t number_to_bits(DType dtype, double value);
/* `value` rounded to what the float dtype represents, by the same rules. */
double number_round(DType dtype, double value);
/* Runs of 16- and 8-bit floats from and to memory that need not be aligned. */
void number_load_small(DType dtype, const unsigned char *data, int64_t count, double *out_values);
void number_store_small(DType dtype, unsigned char *data, int64_t count, const double *values);
/* A 64-bit integer rounded once to the float dtype. */
double number_round_int(DType dtype, int64_t value, bool is_unsigned);
/* The cast of a float to an integer or bool dtype: truncated, saturated, NaN gives 0; to bool:
 * whether it is not 0. u64 comes as the same bits. */
int64_t number_to_int(DType dtype, double value);
/* `value` (mod 2^64) wrapped to the integer dtype; to bool: whether it is not 0. */
int64_t number_wrap(DType dtype, int64_t value);
/* The distance of neighbouring numbers of the float dtype at |value| (at least its least
 * subnormal). */
double number_ulp(DType dtype, double value);

#endif
