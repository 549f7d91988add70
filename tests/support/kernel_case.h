// Runs one kernel's region every way there is and compares: the evaluator, the free tile program,
// the placed ones for x86 and for a GPU's threads by the interpreter, and compiled code; PTX goes
// through ptxas.
#ifndef TCC_TESTS_SUPPORT_KERNEL_CASE_H
#define TCC_TESTS_SUPPORT_KERNEL_CASE_H

#include "ir/eval.h"
#include "ir/graph.h"
#include "tests/support/ptx_batch.h"

typedef struct KernelCase {
    IrContext *ctx;
    const Graph *region;
    Str skeleton;
    const int64_t *symbols;          // by id, of the model's dims
    const EvalValue *inputs;         // of the region
    bool compile;                    // also through LLVM
    const struct Schedule *schedule; // NULL: the skeleton's own
    PtxBatch *ptx;                   // of its target; NULL: no PTX is made
} KernelCase;

// NULL when all agree, else what differs, in `arena`.
const char *kernel_case_run(const KernelCase *test, Arena *arena);

#endif
