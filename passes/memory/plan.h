/* Where buffers lie in an arena: lifetimes are intervals of launches, sizes are known. */
#ifndef TCC_PASSES_MEMORY_PLAN_H
#define TCC_PASSES_MEMORY_PLAN_H

#include "base/arena.h"

#include <stdbool.h>

/* One block to place: a buffer, or several that follow one another in place. */
typedef struct PlanBlock {
    uint32_t first, last; /* launches, both included */
    int64_t bytes;        /* a multiple of the alignment */
    int64_t offset;       /* the result */
} PlanBlock;

/* Places the blocks, best fit by decreasing size, then tries other orders by local swaps while that
 * lowers the peak; deterministic. Returns the bytes of the arena. */
int64_t plan_blocks(Arena *scratch, PlanBlock *blocks, uint32_t count);

/* What no plan can go below: the most bytes that are live during one launch. */
int64_t plan_lower_bound(Arena *scratch, const PlanBlock *blocks, uint32_t count);

#endif
