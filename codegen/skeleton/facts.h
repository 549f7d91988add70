/* What a region says of its values beyond their types, where cheaper code follows from it. */
#ifndef TCC_CODEGEN_SKELETON_FACTS_H
#define TCC_CODEGEN_SKELETON_FACTS_H

#include "ir/graph.h"

/* Whether every element is at most 0, up to rounding, or NaN: x - max x of a row. */
bool facts_nonpositive(const Graph *region, NodeId id);

/* Whether a NaN among what `maximum` (a reduce_max of floats) reduces makes every output NaN by
 * another way, so that the maximum itself may ignore it, and the sign of a zero as well. */
bool facts_nan_returns(const Graph *region, NodeId maximum, Arena *arena);

#endif
