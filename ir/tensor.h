/* Host tensors: dense row-major values in the memory form of their dtype. */
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

/* One element as a number, exactly (i64/u64 through tensor_get_int). Index in row-major order. */
double tensor_get(const Tensor *tensor, int64_t index);
int64_t tensor_get_int(const Tensor *tensor, int64_t index);
/* Stores with the contract's rounding and saturation. */
void tensor_set(Tensor *tensor, int64_t index, double value);
void tensor_set_int(Tensor *tensor, int64_t index, int64_t value);

/* Single numbers in memory form <-> double, for the floats; round to nearest even, e4m3 saturating. */
double number_from_bits(DType dtype, uint64_t bits);
uint64_t number_to_bits(DType dtype, double value);

#endif
