/* Graphs that say how long 8- and 16-bit floats stay f32 (docs/numerics.md, "Excess precision"):
 * the evaluator on such a graph gives what a kernel computes that rounds no earlier than it must.
 * It matters where a rounded value overflows and the f32 does not: no tolerance covers both. */
#ifndef TCC_IR_EXCESS_H
#define TCC_IR_EXCESS_H

#include "ir/graph.h"

/* The graph of one kernel with every 8- and 16-bit float left in f32 up to where it must be
 * rounded: casts of the user, operands of ops with jumps, outputs and their other uses. Inputs and
 * outputs have the types that they had. In `arena`. */
Graph *excess_region(const Graph *region, Arena *arena);

/* A copy in `arena` of a graph of kernels, each with the region above. */
Graph *excess_kernels(const Graph *graph, Arena *arena);

#endif
