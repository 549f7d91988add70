/* The values of a decoded .npy array, and how they become a weight. */
#include "frontend/weights/npy_array.h"

#include "frontend/weights/source.h"

#include <string.h>

static void copy_value(unsigned char *to, const unsigned char *from, size_t size, bool swapped) {
    for (size_t i = 0; i < size; i++) to[i] = from[swapped ? size - 1 - i : i];
}

/* Walks the values in row-major order with an index that counts like an odometer; in Fortran order
 * the first dimension is the one whose neighbours lie side by side. */
void npy_arrange(const NpyHeader *header, const unsigned char *from, unsigned char *to) {
    size_t size = dtype_info(header->dtype)->bits / 8;
    size_t strides[NPY_MAX_RANK] = {0}, stride = size, offset = 0;
    int64_t index[NPY_MAX_RANK] = {0};
    if (!header->swapped && !header->fortran) {
        if (header->data_size) memcpy(to, from, (size_t)header->data_size);
        return;
    }
    for (uint32_t i = 0; i < header->rank; i++) {
        uint32_t d = header->fortran ? i : header->rank - 1 - i;
        strides[d] = stride;
        stride *= (size_t)header->dims[d];
    }
    for (size_t done = 0; done < header->data_size; done += size) {
        copy_value(to + done, from + offset, size, header->swapped);
        for (uint32_t d = header->rank; d-- > 0;) {
            offset += strides[d];
            if (++index[d] < header->dims[d]) break;
            offset -= strides[d] * (size_t)header->dims[d];
            index[d] = 0;
        }
    }
}

Status weights_read_npy(WeightFile *file) {
    NpyInput input = {.diags = file->diags, .loc = file->loc, .scratch = file->arena};
    NpyHeader header;
    input.label = weight_label(file->arena, file->stem);
    input.data = file->data;
    input.size = file->size;
    TRY(npy_decode(&input, &header));
    return weight_file_add_npy(file, file->stem, &input, &header);
}

Status weight_file_add_npy(WeightFile *file, Str name, const NpyInput *input,
                           const NpyHeader *header) {
    Weight weight = {.name = name, .dtype = header->dtype, .rank = header->rank};
    memcpy(weight.dims, header->dims, sizeof weight.dims);
    weight.bytes = input->data + header->data_start;
    weight.size = (size_t)header->data_size;
    weight.offset = input->packed ? input->place : input->place + header->data_start;
    if (header->swapped || (header->fortran && header->rank > 1)) {
        unsigned char *arranged = weight_file_alloc(file, weight.size);
        npy_arrange(header, weight.bytes, arranged);
        weight.bytes = arranged;
    }
    return weight_file_add(file, &weight);
}
