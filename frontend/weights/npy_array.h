/* Decoding .npy bytes wherever they lie; for frontend/weights alone. */
#ifndef TCC_FRONTEND_WEIGHTS_NPY_ARRAY_H
#define TCC_FRONTEND_WEIGHTS_NPY_ARRAY_H

#include "base/diag.h"
#include "base/status.h"
#include "ir/dtype.h"

enum { NPY_MAX_RANK = 8 };

/* The bytes of one .npy file and how to speak of them. */
typedef struct NpyInput {
    Diags *diags;
    Loc loc;
    Arena *scratch;
    const char *label; /* the tensor's name, escaped */
    const unsigned char *data;
    uint64_t size;
    uint64_t place; /* of data[0] in the file */
    bool packed;    /* the file holds the bytes deflated: all places are `place` */
} NpyInput;

typedef struct NpyHeader {
    DType dtype;
    uint32_t rank;
    int64_t dims[NPY_MAX_RANK];
    bool fortran, swapped; /* whether npy_arrange must be used to get at the values */
    uint64_t data_start;   /* from there to the end of the input */
    uint64_t data_size;
} NpyHeader;

/* Reads and checks the header against the size of the input. */
Status npy_decode(const NpyInput *input, NpyHeader *out_header);

/* Copies the values to `to` (data_size bytes) in row-major order and little-endian. */
void npy_arrange(const NpyHeader *header, const unsigned char *from, unsigned char *to);

#endif
