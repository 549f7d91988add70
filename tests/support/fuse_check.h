// Fuses a graph and checks what comes out: kernels and leaves alone, each kernel one that codegen
// can build, every value the same bit for bit as without fusion, and (on request) each kernel run
// every way there is on the inputs that it gets.
#ifndef TCC_TESTS_SUPPORT_FUSE_CHECK_H
#define TCC_TESTS_SUPPORT_FUSE_CHECK_H

#include "ir/eval.h"
#include "passes/pass.h"

typedef enum FuseKernels {
    FUSE_kernels_built,
    FUSE_kernels_interpreted,
    FUSE_kernels_compiled
} FuseKernels;

typedef struct FuseCheck {
    IrContext *ctx;
    const Graph *graph;
    Str passes;             // that run before fuse; may be empty
    bool regroups;          // they may regroup sums, so what they do is not compared
    const int64_t *symbols; // by id, of the model's dims
    const EvalValue *inputs;
    FuseKernels kernels;
} FuseCheck;

typedef struct FuseResult {
    const Graph *fused;
    uint32_t kernels;
    VEC(Remark) remarks; // of fuse
} FuseResult;

// NULL when all is well, else what is wrong, in `arena`, where the result lies too.
const char *fuse_check(const FuseCheck *check, Arena *arena, FuseResult *out_result);

#endif
