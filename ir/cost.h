/* What the passes ask of code generation, as a table of functions, so that they need not know it:
 * which groups a skeleton can build, what a kernel would cost, and which schedule it gets. The
 * compiler wires codegen's answers in. */
#ifndef TCC_IR_COST_H
#define TCC_IR_COST_H

#include "ir/graph.h"
#include "ir/target.h"

typedef struct KernelCost {
    double ns;    /* one launch at the dims' tune values, on all cores */
    double bytes; /* global memory read and written */
    double flops;
    double scratch_bytes; /* on-chip, one worker */
} KernelCost;

typedef struct CostModel {
    void *self;
    /* Whether `skeleton` with `strategy` can build a kernel from the region (inputs and outputs are
     * tensors in memory); when not, *out_why says so in `arena`. */
    bool (*legal)(void *self, const Graph *region, Str skeleton, Str strategy, const Target *target,
                  Arena *arena, const char **out_why);
    /* What the kernel would cost with the schedule it would get; the region must be legal. */
    KernelCost (*cost)(void *self, const Graph *region, Str skeleton, Str strategy,
                       const Target *target, Arena *arena);
    /* The schedule as text (schedule.h), empty for the defaults. */
    Str (*schedule)(void *self, const Graph *region, Str skeleton, Str strategy,
                    const Target *target, Arena *arena);
} CostModel;

#endif
