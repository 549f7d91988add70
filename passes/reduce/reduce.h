/* Makes a case smaller while something holds of it: delta debugging over its nodes, its dims and
 * the numbers in its inputs (after Zeller and Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", 2002), each change a small one that keeps the graph valid. */
#ifndef TCC_PASSES_REDUCE_REDUCE_H
#define TCC_PASSES_REDUCE_REDUCE_H

#include "passes/reduce/case.h"

/* Whether it holds of the case, which lives during the call. */
typedef bool ReduceTest(void *user, const GraphCase *c);

typedef struct ReduceRequest {
    ReduceTest *holds;
    void *user;
    double seconds; /* after so long nothing more is tried; 0: no limit */
} ReduceRequest;

/* The smallest case that is found, in `arena`; `c` itself where no smaller one holds. */
GraphCase reduce_case(Arena *arena, const GraphCase *c, const ReduceRequest *request);

#endif
