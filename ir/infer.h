/* Type inference: the result type of an op from its operands and attributes, with errors for the user.
 * One rule per op class (infer_*.c). */
#ifndef TCC_IR_INFER_H
#define TCC_IR_INFER_H

#include "ir/graph.h"

/* The type of `op` applied to `args` of `graph`; NULL after a diagnostic at `origin` (with notes along its
 * callers). Dims that agree only at run time become entry checks of `graph`. `diags` may be NULL, then
 * a wrong application only returns NULL. Leaves other than OP_dim have no rule: their type is given. */
const Type *infer_type(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                       uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                       uint32_t region_count);

/* infer_type and graph_add in one: NODE_none after a diagnostic. */
NodeId graph_build(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                   uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                   uint32_t region_count);

/* Reports at the innermost user location of `origin` and adds "called from" notes. */
#define origin_error(diags, origin, ...) diag_error((diags), origin_loc(origin), __VA_ARGS__)
Loc origin_loc(const Origin *origin);
void origin_notes(Diags *diags, const Origin *origin);

#endif
