/* The image: everything about a compiled model that is not code or weights, as one block of bytes
 * without pointers, which code generation writes and the runtime reads in place. Offsets count
 * bytes from the image's begin; strings are zero-terminated; expressions are stack programs over
 * the dims (expr.h).
 */
#ifndef TCC_RUNTIME_IMAGE_H
#define TCC_RUNTIME_IMAGE_H

#include "runtime/abi_gpu.h"

#include <stddef.h>

enum { TCC_IMAGE_MAGIC = 0x31636374 /* "tcc1" */, TCC_MAX_BUCKETS = 4, TCC_IMAGE_RANK = 8 };

/* `count` records at `offset`. */
typedef struct TccTable {
    uint32_t offset, count;
} TccTable;

/* A dim that varies: axis `axis` of input `input` is this dim alone, and binds it. */
typedef struct TccDim {
    uint32_t name;
    uint32_t input, axis;
    uint32_t reserved;
    int64_t lo, hi, tune;
} TccDim;

/* Words `offset`.. of the code table. */
typedef struct TccExpr {
    uint32_t offset, count;
} TccExpr;

typedef struct TccPort {
    uint32_t name;
    int32_t dtype;
    uint32_t rank;
    uint32_t bits; /* of an element */
    TccExpr dims[TCC_IMAGE_RANK];
    uint32_t dim_names[TCC_IMAGE_RANK]; /* of dims that vary; 0: fixed */
    int64_t lo[TCC_IMAGE_RANK], hi[TCC_IMAGE_RANK];
} TccPort;

typedef enum TccBufferKind {
    TCC_BUFFER_input,
    TCC_BUFFER_output,
    TCC_BUFFER_constant,
    TCC_BUFFER_arena
} TccBufferKind;

typedef struct TccBuffer {
    uint32_t kind;
    uint32_t index;                  /* input, output or constant */
    int64_t offset[TCC_MAX_BUCKETS]; /* in the arena */
    TccExpr bytes;
    uint32_t bits; /* of an element */
    uint32_t reserved;
} TccBuffer;

typedef struct TccConstant {
    uint64_t offset, bytes; /* in the weights */
} TccConstant;

typedef struct TccKernelInfo {
    uint32_t name;
    uint32_t place; /* "model.g:12", or 0 */
    TccExpr points;
    TccExpr scratch;     /* bytes a thread */
    double ns_per_point; /* on one thread at the least, for the choice of threads */
} TccKernelInfo;

typedef struct TccLaunch {
    uint32_t kernel;
    uint32_t first_buffer, buffer_count; /* in the launch buffer table */
    uint32_t reserved;
} TccLaunch;

/* a == b (equal) or a <= b must hold when the model is entered. */
typedef struct TccCheck {
    uint32_t at_most; /* 0: equal */
    uint32_t message; /* "model.g:3:9: N and M + 1", the two expressions with their place */
    TccExpr a, b;
} TccCheck;

typedef struct TccBucket {
    uint32_t hi; /* offset of int64_t[dims] */
    uint32_t reserved;
    uint64_t arena_bytes;
} TccBucket;

/* One set of kernels; the last whose features the processor has is used. Kernel k of variant v is
 * record v · K + k of the kernel table, K = kernels / variants. */
typedef struct TccVariant {
    uint32_t name;
    uint32_t features; /* TargetFeature bits */
} TccVariant;

typedef struct TccImage {
    uint32_t magic, abi;
    uint32_t size; /* of the whole image */
    uint32_t name; /* the model's */
    TccTable dims, inputs, outputs, code, buffers, constants, kernels, launches, launch_buffers,
        checks, buckets, variants, strings;
    TccTable gpu_kernels, gpu_dims;
    TccTable ptx;        /* text, terminated; for all kernels; empty: none for a GPU */
    uint32_t gpu_target; /* "sm_80", or 0 */
    uint32_t reserved;
    uint64_t weight_bytes;
} TccImage;

/* How a kernel is launched on a GPU; as many as a variant has kernels, or none. */
typedef struct TccGpuKernel {
    uint32_t name; /* of the entry in the PTX */
    TccGpuLaunch shape;
    uint32_t first_dim; /* in the table of GPU dims: slots, shape.dim_count of them */
    TccExpr points;
    TccExpr scratch; /* bytes of each block */
} TccGpuKernel;

/* What a model is made of in memory. */
typedef struct TccArtefact {
    const TccImage *image;
    const unsigned char *weights;
    TccKernel *const *kernels; /* kernel k of variant v at [v * kernels + k] */
    const char *metadata;
    size_t metadata_size;
    /* Who has all of this, and must live as long as models of it; NULL in a model.so. */
    void *owner;
    void (*hold)(void *owner);
    void (*release)(void *owner);
} TccArtefact;

#endif
