/* A graph with values for its inputs, which is made smaller while something holds of it. */
#ifndef TCC_PASSES_REDUCE_CASE_H
#define TCC_PASSES_REDUCE_CASE_H

#include "ir/graph.h"
#include "ir/tensor.h"

typedef struct GraphCase {
    IrContext *ctx;
    const Graph *graph;
    const Tensor *inputs;   /* by input index */
    const int64_t *symbols; /* values of dim symbols by id */
} GraphCase;

#endif
