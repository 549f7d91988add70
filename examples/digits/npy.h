/* npy.h: reads arrays that numpy saved, as far as this example needs them. */
#ifndef EXAMPLES_DIGITS_NPY_H
#define EXAMPLES_DIGITS_NPY_H

#include <stdint.h>

enum { NPY_MAX_RANK = 8 };

typedef struct Npy {
    uint32_t rank;
    int64_t dims[NPY_MAX_RANK];
    int64_t count; /* of elements */
    void *data;    /* row-major */
} Npy;

/* Reads `path`, whose elements must be of type `descr` ("<f4", "<i8") and `size` bytes each. NULL,
 * or what is wrong with the file. The data is released by npy_free. */
const char *npy_read(const char *path, const char *descr, int64_t size, Npy *out_array);
void npy_free(Npy *array);

#endif
