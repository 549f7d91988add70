/* The caller's tensors: whether kernels may use them as they are, and copies where they may not. */
#ifndef TCC_RUNTIME_COPY_H
#define TCC_RUNTIME_COPY_H

#include <stdbool.h>
#include <tcc/model.h>

/* The address of the first element; of a tensor without elements, any. */
static inline char *tensor_begin(const tcc_tensor *tensor) {
    return (char *)((uintptr_t)tensor->data + tensor->byte_offset);
}

/* The number of elements; false when it overflows or a dim is negative. */
bool tensor_count(const tcc_tensor *tensor, int64_t *out_count);

/* Whether the elements lie row-major without gaps. */
bool tensor_is_dense(const tcc_tensor *tensor);

/* Whether the elements, by the strides, lie within what memory can be; tensor_count was true. */
bool tensor_has_sound_strides(const tcc_tensor *tensor);

/* The lowest and the highest byte that the elements touch (as addresses, end exclusive). */
void tensor_span(const tcc_tensor *tensor, uint32_t element_bits, uintptr_t *out_begin,
                 uintptr_t *out_end);

/* Copies between the tensor and dense memory; elements are whole bytes. */
void tensor_gather(const tcc_tensor *tensor, uint32_t element_bytes, void *dense);
void tensor_scatter(const tcc_tensor *tensor, uint32_t element_bytes, const void *dense);

#endif
