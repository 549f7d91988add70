/* Compiling the kernels of a program: skeleton, check, lowering, object code. */
#ifndef TCC_CODEGEN_KERNEL_H
#define TCC_CODEGEN_KERNEL_H

#include "base/status.h"
#include "codegen/artefact/image.h"
#include "codegen/lower/emit.h"
#include "codegen/tile/tile.h"
#include "ir/program.h"

/* The tile program of kernel `index`: placed by its schedule for `target`, or free. Verified. NULL
 * with *out_why (in `arena`) when its skeleton cannot build it, which after fuse is a bug of ours.
 */
TileProgram *kernel_tile(const Program *program, uint32_t index, const Target *target,
                         TileState state, bool round_everywhere, Arena *arena,
                         const char **out_why);

/* The symbol of a kernel's function in the objects of a variant: "tcc_<kernel>_v<variant>". */
const char *kernel_symbol(const Program *program, uint32_t index, uint32_t variant, Arena *arena);

typedef struct KernelRequest {
    const Program *program;
    const Target *const *targets;
    uint32_t target_count;
    EmitLevel level;
    bool round_everywhere;
    uint32_t threads; /* that compile at the same time; 0: one a core */
} KernelRequest;

/* A relocatable object with some of a variant's kernels. */
typedef struct KernelObject {
    uint32_t variant;
    uint32_t first, count; /* kernels, numbered as the facts are */
    double seconds;        /* what LLVM took */
    Str bytes;
} KernelObject;

typedef struct CompiledKernels {
    KernelFacts *facts;        /* kernel k of variant v at [v * kernels + k] */
    const char **symbols;      /* likewise */
    VEC(KernelObject) objects; /* by variant */
} CompiledKernels;

/* Compiles every kernel for every target, on several threads; raises GUARD_stopped between kernels
 * when the guard's scope says so. STATUS_internal with *out_message for
 * what only a bug of ours or of the back end can cause. All results are in `arena`. */
Status kernels_compile(const KernelRequest *request, Arena *arena, CompiledKernels *out_kernels,
                       const char **out_message);

/* Compiles every kernel for one GPU, into one text of PTX. Likewise. */
Status kernels_compile_gpu(const KernelRequest *request, const Target *gpu, Arena *arena,
                           GpuImage *out_image, const char **out_message);

/* How each kernel is launched on that GPU, by number, without compiling any. */
Status kernels_describe_gpu(const KernelRequest *request, const Target *gpu, Arena *arena,
                            GpuFacts **out_facts, const char **out_message);

/* One kernel for one target as text or object. */
Status kernel_emit(const Program *program, uint32_t index, const Target *target, EmitLevel level,
                   bool round_everywhere, EmitKind kind, const char *symbol, Arena *arena,
                   Str *out_bytes, const char **out_message);

#endif
