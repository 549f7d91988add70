/* Type inference: the result type of an op from its operands and attributes, with errors for the
 * user. One rule per op class (infer_*.c). */
#ifndef TCC_IR_INFER_H
#define TCC_IR_INFER_H

#include "ir/graph.h"

/* The type of `op` applied to `args` of `graph`; NULL after a diagnostic at `origin` (with notes
 * along its callers). Dims that agree only at run time become entry checks of `graph`. `diags` may
 * be NULL, then a wrong application only returns NULL. Leaves other than OP_dim have no rule: their
 * type is given. */
const Type *infer_type(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                       uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                       uint32_t region_count);

/* infer_type and graph_add in one: NODE_none after a diagnostic. */
NodeId graph_build(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                   uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                   uint32_t region_count);

/* The place that an error about `origin` is shown at: the innermost one in the user's own files. */
Loc origin_loc(const Origin *origin);
/* Notes that follow such an error: where in the library it arose, and the calls that led there. */
void origin_notes(Diags *diags, const Origin *origin);

/* Labels of contract are 0 <= label < CONTRACT_LABELS, so that a set of them fits a word. */
enum { CONTRACT_LABELS = 64 };

/* The extent of a window of `window` elements `dilation` apart sliding by `stride` over lo + size +
 * hi elements: max(0, (size + lo + hi - dilation·(window - 1) - 1) floordiv stride + 1). */
const Dim *infer_window_extent(IrContext *ctx, const Dim *size, const Dim *window, int64_t stride,
                               int64_t dilation, int64_t lo, int64_t hi);

#endif
