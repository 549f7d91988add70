/* Rows behind a product: a contraction and reductions over whole rows of its result as one kernel,
 * which makes a band of rows after the other (codegen/skeleton/contract_rows.c). */
#ifndef TCC_PASSES_FUSE_BANDS_H
#define TCC_PASSES_FUSE_BANDS_H

#include "passes/fuse/fuse.h"

enum { BAND_ROWS = 6 }; /* of the least band: a register tile */

/* The group's contraction where it has reductions too; NODE_none. */
NodeId band_product(const Fuser *f, const Group *group);
/* Whether the reductions of `rows`, which has no other op that accumulates, are over the rows of
 * the contraction of `product` and read what that makes, and the caches suit; the reason if not. */
bool band_may_follow(const Fuser *f, const Group *product, const Group *rows, Refusal *out_refusal);
/* How long its rows are. */
const Dim *band_columns(const Fuser *f, NodeId product);
/* The operand of a contraction that has the columns of its result: each band reads all of it. */
NodeId band_weights(const Fuser *f, NodeId product);

#endif
