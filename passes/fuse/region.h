/* Regions: what a kernel computes, cut out of a graph as a graph of its own.
 *
 * A region reads memory leaves and results of other kernels through its inputs, in order of first
 * use when its operands are read from the outputs on, so equal computations have equal regions
 * whatever their nodes are numbered or called. One-element constants, iota and dim stand inside. */
#ifndef TCC_PASSES_FUSE_REGION_H
#define TCC_PASSES_FUSE_REGION_H

#include "ir/graph.h"

enum { REGION_MAX_INLINED = 4 }; /* marked nodes in a row, behind one operand */

typedef struct Region {
    Graph *graph;
    NodeId *args; /* by input of `graph`: the node of the graph it was cut from */
} Region;

/* Cuts `nodes` (increasing ids; leaves need not be listed) out of `from`. Nodes with the mark
 * `inlined` (NULL: none) stand in every region that uses them, though they are not listed.
 * `outputs` are among them, or leaves, and stand for all results of a node that has several; what
 * leads to none of them is left out. All lies in `arena`. */
Region region_cut(const Graph *from, const bool *inlined, const NodeId *nodes, uint32_t count,
                  const NodeId *outputs, uint32_t output_count, Arena *arena);

#endif
