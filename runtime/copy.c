#include "runtime/copy.h"

#include <string.h>

/* In elements: in bits it still fits 64. */
static const int64_t MAX_REACH = (int64_t)1 << 56;

bool tensor_count(const tcc_tensor *tensor, int64_t *out_count) {
    int64_t count = 1;
    bool empty = false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0) return false;
        if (tensor->dims[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(count, tensor->dims[i], &count))
            return false;
    }
    *out_count = empty ? 0 : count;
    return true;
}

bool tensor_is_dense(const tcc_tensor *tensor) {
    bool all_zero = true, dense = true;
    int64_t stride = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        if (tensor->strides[i] != 0) all_zero = false;
        if (tensor->dims[i] == 0) return true;
        if (tensor->dims[i] != 1 && tensor->strides[i] != stride) dense = false;
        stride *= tensor->dims[i];
    }
    return dense || all_zero;
}

/* An axis of one element has any stride: nothing is reached by it. */
static int64_t axis_stride(const tcc_tensor *tensor, uint32_t axis) {
    return tensor->dims[axis] == 1 ? 0 : tensor->strides[axis];
}

/* The lowest and the highest element that the strides reach, from the first; no dim is 0. False
 * when they lie further off than any memory is wide. */
static bool find_reach(const tcc_tensor *tensor, int64_t *out_low, int64_t *out_high) {
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        int64_t reach, *end = tensor->strides[i] < 0 ? &low : &high;
        if (__builtin_mul_overflow(tensor->dims[i] - 1, axis_stride(tensor, i), &reach) ||
            __builtin_add_overflow(*end, reach, end))
            return false;
    }
    *out_low = low;
    *out_high = high;
    return low >= -MAX_REACH && high <= MAX_REACH;
}

bool tensor_has_sound_strides(const tcc_tensor *tensor) {
    int64_t low, high;
    return tensor_is_dense(tensor) || find_reach(tensor, &low, &high);
}

void tensor_span(const tcc_tensor *tensor, uint32_t element_bits, uintptr_t *out_begin,
                 uintptr_t *out_end) {
    int64_t low = 0, high = 0, count = 0;
    uintptr_t begin = (uintptr_t)tensor_begin(tensor);
    *out_begin = *out_end = begin;
    if (!tensor_count(tensor, &count) || count == 0) return;
    if (tensor_is_dense(tensor))
        high = count - 1;
    else if (!find_reach(tensor, &low, &high))
        return;
    *out_begin = begin + (uintptr_t)(low * (int64_t)element_bits / 8);
    *out_end = begin + (uintptr_t)(((high + 1) * (int64_t)element_bits + 7) / 8);
}

/* Walks the elements in row-major order; `strides` in bytes. */
typedef struct Walk {
    uint32_t rank;
    const int64_t *dims;
    int64_t strides[TCC_MAX_RANK];
    int64_t index[TCC_MAX_RANK];
    int64_t offset;
} Walk;

static void walk_begin(Walk *walk, const tcc_tensor *tensor, uint32_t element_bytes) {
    *walk = (Walk){.rank = tensor->rank, .dims = tensor->dims};
    int64_t dense = element_bytes;
    bool is_dense = tensor_is_dense(tensor);
    for (uint32_t i = tensor->rank; i-- > 0;) {
        walk->strides[i] = is_dense ? dense : axis_stride(tensor, i) * (int64_t)element_bytes;
        dense *= tensor->dims[i];
    }
}

static void walk_next(Walk *walk) {
    for (uint32_t i = walk->rank; i-- > 0;) {
        walk->offset += walk->strides[i];
        if (++walk->index[i] < walk->dims[i]) return;
        walk->offset -= walk->strides[i] * walk->dims[i];
        walk->index[i] = 0;
    }
}

void tensor_gather(const tcc_tensor *tensor, uint32_t element_bytes, void *dense) {
    int64_t count = 0;
    Walk walk;
    if (!tensor_count(tensor, &count)) return;
    walk_begin(&walk, tensor, element_bytes);
    char *to = dense;
    for (int64_t i = 0; i < count; i++, to += element_bytes, walk_next(&walk))
        memcpy(to, tensor_begin(tensor) + walk.offset, element_bytes);
}

void tensor_scatter(const tcc_tensor *tensor, uint32_t element_bytes, const void *dense) {
    int64_t count = 0;
    Walk walk;
    if (!tensor_count(tensor, &count)) return;
    walk_begin(&walk, tensor, element_bytes);
    const char *from = dense;
    for (int64_t i = 0; i < count; i++, from += element_bytes, walk_next(&walk))
        memcpy(tensor_begin(tensor) + walk.offset, from, element_bytes);
}
