/* Whether the entry checks of a graph can hold together at all. A model whose checks contradict
 * each other refuses every input, so it is refused when it is compiled; passes may rely on some
 * sizes for which all checks hold. */
#ifndef TCC_IR_CONFLICT_H
#define TCC_IR_CONFLICT_H

#include "base/diag.h"
#include "ir/graph.h"

/* Checks that no values of the dims within their ranges fulfil together: few, none of which can be
 * left out as far as is seen, in `arena`, *out_count of them. NULL when none are found. What is
 * found is true; a contradiction that only nonlinear arithmetic shows may be missed. Not
 * thread-safe within one context. */
const EntryCheck *const *graph_find_conflict(const Graph *graph, Arena *arena, uint32_t *out_count);

/* Tells the user of the conflict at its places, if there is one; false then. */
bool graph_refuse_conflict(const Graph *graph, Diags *diags);

#endif
