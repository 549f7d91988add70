/* A program run launch by launch, each kernel in the way that is asked for: what finds out at which
 * launch and at which level of its lowering values go wrong. */
#ifndef TCC_COMPILER_WALK_H
#define TCC_COMPILER_WALK_H

#include "base/guard.h"
#include "codegen/kernel.h"
#include "codegen/lower/jit.h"
#include "ir/eval.h"

/* The levels of a kernel, from what the passes left to what the processor runs. */
typedef enum RunBy {
    RUN_region, /* its graph, by the evaluator */
    RUN_free,   /* its tile program before a schedule places it, by the interpreter */
    RUN_placed, /* the placed one, by the interpreter */
    RUN_fast,   /* machine code that LLVM has optimised least */
    RUN_full,   /* with all of LLVM's passes */
    RUN_count
} RunBy;

/* Where buffers lie. */
typedef enum Placement {
    PLACE_apart,   /* each in memory of its own */
    PLACE_front,   /* the page before each cannot be touched */
    PLACE_back,    /* the page behind each cannot be touched; aligned for its dtype alone */
    PLACE_planned, /* those of the arena by the plan of the bucket */
    PLACE_count
} Placement;

typedef struct WalkBuffer {
    Tensor tensor;
    void *pages; /* mapped, of `page_bytes`; NULL: in the walk's arena */
    size_t page_bytes;
} WalkBuffer;

/* The machine code of a program's kernels in this process, made as it is needed. */
typedef struct WalkCode {
    Arena *arena;
    Jit *jit;
    TccKernel **kernels; /* two a kernel: fast, full */
    GuardDefer defer;
} WalkCode;

/* False with *out_why when there can be none. Ended by walk_code_end, or by a guard that is raised.
 */
bool walk_code_begin(WalkCode *code, const Program *program, const char **out_why);
void walk_code_end(WalkCode *code);

/* Zero but for the first part. Ended by walk_end, which also runs when a guard is raised. */
typedef struct Walk {
    const Program *program;
    const Target *target;
    bool round_everywhere;
    const int64_t *symbols; /* by id */
    const Tensor *inputs;
    Placement placement;
    WalkCode *code;

    Arena *arena;
    WalkBuffer *buffers; /* of the program */
    int64_t *dims;       /* by slot */
    GuardDefer defer;
} Walk;

/* Makes the buffers. False with *out_why when the plan has no place for one of them. */
bool walk_begin(Walk *walk, const char **out_why);
void walk_end(Walk *walk);

/* What the launch's outputs must be, given what is in its inputs now, with bounds. False with
 * *out_why when the evaluator refuses. */
bool walk_want(const Walk *walk, uint32_t launch, Arena *arena, EvalValue *out_want,
               EvalError *out_error, const char **out_why);

/* Writes these values to the launch's outputs. */
void walk_put(const Walk *walk, uint32_t launch, const EvalValue *values);

/* Runs the launch's kernel. False with *out_why where it cannot be built or breaks a rule of tile
 * programs. *out_failed: whether it reported an index out of range. */
bool walk_run(const Walk *walk, uint32_t launch, RunBy by, Arena *arena, bool *out_failed,
              const char **out_why);

const Kernel *walk_kernel(const Walk *walk, uint32_t launch);
/* Output `index` of the launch. */
const Tensor *walk_output(const Walk *walk, uint32_t launch, uint32_t index);

#endif
