/* Whether two graphs of one context are the same: equal nodes in the same order, regions included.
 */
#ifndef TCC_PASSES_COMPARE_H
#define TCC_PASSES_COMPARE_H

#include "ir/graph.h"

/* Origins, the graph's own name and entry checks do not count. */
bool graph_equal(const Graph *a, const Graph *b);
/* Equal graphs have equal hashes; differs from run to run only in which unequal graphs collide. */
uint64_t graph_hash(const Graph *graph);
/* Nodes, those of regions included. */
uint32_t graph_size(const Graph *graph);

#endif
