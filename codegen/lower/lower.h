/* Lowering: a placed tile program becomes an LLVM module with one kernel function.
 *
 * One translation for both targets. A tile value is an array of registers, row-major, each of
 * `lanes` elements along the last axis: on x86 a register is an LLVM vector (a scalar when lanes is
 * 1); on NVPTX the lanes are threads, each holding one scalar (lanes 1: every thread holds the same
 * one): the 32 of a warp, or those of a whole block where a program has tiles of more lanes, so
 * `lanes` is 1 or the same power of two from 32 to 1024 in all of it. Results are bit-equal at
 * every optimisation level.
 *
 * x86: the function is a TccKernel (runtime/abi.h) of external linkage and imports nothing.
 *
 * NVPTX: an entry with the parameters and the launch of runtime/abi_gpu.h; lower_launch tells its
 * numbers.
 *
 * 4-bit views: two grid points never store to one element, but may meet in a byte, where rows have
 * an odd number of elements. The store of a whole register whose first element is known to have an
 * even index, under no guard that cuts it, writes whole bytes. Every other one changes single
 * nibbles, by atomic operations where points may run on several threads, and is slow.
 */
#ifndef TCC_CODEGEN_LOWER_LOWER_H
#define TCC_CODEGEN_LOWER_LOWER_H

#include <llvm-c/Core.h>

#include "base/diag.h"
#include "codegen/tile/tile.h"
#include "ir/target.h"
#include "runtime/abi_gpu.h"

enum { LOWER_SCRATCH_ALIGN = 64 };

typedef struct LowerOptions {
    const Target *target;
    Str symbol; /* the kernel function's name; empty: the program's */
    /* The order of dim slots (TccKernelArgs.dims, NVPTX parameters). Every named or bound symbol
     * that the program mentions is among them; their values lie in the symbols' ranges. */
    const DimSymbol *const *dims;
    uint32_t dim_count;
    /* By argument: memory that overlaps another argument's (in-place pairs). NULL: none does. */
    const bool *may_alias;
    uint32_t may_alias_count;
    const Diags *places; /* NVPTX: what origins' places lie in, for .loc; NULL: none is written */
} LowerOptions;

/* Adds a kernel to a module. `program` is placed and passes
 * tile_verify; what breaks that is GUARD_bug, after which the module is only good to be disposed
 * of. Makes Dims in the program's IrContext, so one thread a context at a time; the module does not
 * depend on it later. */
void lower_into(LLVMModuleRef module, const TileProgram *program, const LowerOptions *options);

/* A new module in `context`, which the caller disposes of, with one kernel. */
LLVMModuleRef lower_program(LLVMContextRef context, const TileProgram *program,
                            const LowerOptions *options);

/* How many buffers the kernel takes: 1 + the largest argument of its views. */
uint32_t lower_buffer_count(const TileProgram *program);

/* Scratch memory of one thread (x86) or of the threads of a point (NVPTX), and whether the kernel
 * itself holds it in shared memory (NVPTX, small and constant). */
typedef struct LowerScratch {
    const Dim *bytes; /* over named and bound dims; the constant 0 without scratch views */
    bool shared;
} LowerScratch;
LowerScratch lower_scratch(const TileProgram *program, const Target *target);

/* How an NVPTX kernel is launched (runtime/abi_gpu.h). */
typedef struct LowerLaunch {
    TccGpuLaunch shape;
    const Dim *points;    /* of its grid, over the model's dims */
    const Dim *scratch;   /* bytes of each block; the constant 0: none */
    const uint32_t *dims; /* the slots of the dims that it takes, shape.dim_count of them */
} LowerLaunch;
LowerLaunch lower_launch(const TileProgram *program, const LowerOptions *options, Arena *arena);

#endif
