/* Writing the image of a program (runtime/image.h), and where its constants lie among the weights.
 */
#ifndef TCC_CODEGEN_ARTEFACT_IMAGE_H
#define TCC_CODEGEN_ARTEFACT_IMAGE_H

#include "ir/program.h"
#include "runtime/abi_gpu.h"

/* What compiling a kernel for one target found out. */
typedef struct KernelFacts {
    const Dim *points;   /* of its grid */
    const Dim *scratch;  /* bytes a thread */
    double ns_per_point; /* on one thread, at the least */
} KernelFacts;

/* What compiling a kernel for a GPU found out (runtime/abi_gpu.h). */
typedef struct GpuFacts {
    const char *symbol;
    TccGpuLaunch shape;
    const Dim *points, *scratch; /* of its grid; bytes of each block */
    const uint32_t *dims;        /* slots of the dims that it takes */
} GpuFacts;

typedef struct GpuImage {
    const Target *target;
    Str ptx;         /* of all kernels, terminated */
    GpuFacts *facts; /* by kernel */
} GpuImage;

typedef struct ImageRequest {
    const Program *program;
    const Target *const *targets; /* the variants, from plain to special */
    uint32_t target_count;
    const KernelFacts *facts; /* kernel k of variant v at [v * kernels + k] */
    const GpuImage *gpu;      /* NULL: for no GPU */
    const Diags *diags;       /* for the paths of source places */
} ImageRequest;

/* The image's bytes, aligned to 8, in `arena`; NULL data with *out_message when a limit of the
 * format is reached. */
Str image_write(const ImageRequest *request, Arena *arena, const char **out_message);

enum { WEIGHT_ALIGNMENT = 64 };

/* The offset of each constant among the weights, and their size in all. Equal blobs share their
 * bytes. */
uint64_t image_place_constants(const Program *program, Arena *arena, uint64_t **out_offsets);

#endif
