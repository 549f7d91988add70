// Runs one kernel's region every way there is and compares: the evaluator, the free tile program,
// the placed ones for x86 and for a GPU's threads by the interpreter, and compiled code: x86's by
// the processor, PTX by the software CUDA device; PTX goes through ptxas as well.
#ifndef TCC_TESTS_SUPPORT_KERNEL_CASE_H
#define TCC_TESTS_SUPPORT_KERNEL_CASE_H

#include "ir/eval.h"
#include "ir/graph.h"
#include "tests/support/emulated.h"
#include "tests/support/ptx_batch.h"

typedef struct KernelCase {
    IrContext *ctx;
    const Graph *region;
    Str skeleton, strategy;
    const int64_t *symbols;          // by id, of the model's dims
    const EvalValue *inputs;         // of the region
    bool compile;                    // also through LLVM
    bool same_bits;                  // and for AVX-512, where it is there, to the same bits
    const struct Schedule *schedule; // NULL: the skeleton's own
    const char *gpu;                 // the target for PTX; NULL: none is made
    bool fast;                       // PTX by the level of least compile time
    PtxBatch *assembler;             // of that target; NULL: it is not assembled
    Emulated *device;                // that runs it; NULL: it is not run
} KernelCase;

// NULL when all agree, else what differs, in `arena`.
const char *kernel_case_run(const KernelCase *test, Arena *arena);

#endif
