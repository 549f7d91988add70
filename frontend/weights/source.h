/* What the readers of the formats share: the file being read, and how its tensors enter the table.
 */
#ifndef TCC_FRONTEND_WEIGHTS_SOURCE_H
#define TCC_FRONTEND_WEIGHTS_SOURCE_H

#include "base/file.h"
#include "frontend/weights/npy_array.h"
#include "frontend/weights/weights.h"

typedef struct WeightFile {
    WeightTable *table;
    Arena *arena; /* the table's */
    Diags *diags;
    Loc loc;  /* the whole file */
    Str stem; /* its name without folder and suffix */
    WeightStorage *storage;
    const unsigned char *data;
    uint64_t size;
} WeightFile;

/* The readers; each has reported what was wrong when it returns anything but STATUS_ok. */
Status weights_read_safetensors(WeightFile *file);
Status weights_read_npz(WeightFile *file);
Status weights_read_npy(WeightFile *file);

/* Memory that lives as long as the file's storage. Raises GUARD_memory. */
void *weight_file_alloc(WeightFile *file, size_t size);

/* Adds a tensor whose dtype, dims and size were checked. Copies bytes that are not aligned; refuses
 * a name that is taken or no name, and bools other than 0 and 1. */
Status weight_file_add(WeightFile *file, const Weight *weight);

/* The same for a decoded .npy array, which is brought into row-major order first. */
Status weight_file_add_npy(WeightFile *file, Str name, const NpyInput *input,
                           const NpyHeader *header);

/* Checks the shape: rank, no negative dimension, and the product of all dimensions but zeros times
 * the size of an element fitting 63 bits, so that no later arithmetic on it can wrap. */
bool weight_shape_size(DType dtype, uint32_t rank, const int64_t *dims, uint64_t *out_size);

/* The index of the first byte that is neither 0 nor 1; `size` when there is none. */
size_t weight_bad_bool(const unsigned char *bytes, size_t size);

/* A name as it stands in messages: escaped, and cut at 100 bytes. */
const char *weight_label(Arena *arena, Str name);

/* Little-endian numbers anywhere in memory. */
static inline uint64_t load_little(const unsigned char *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
