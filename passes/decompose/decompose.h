/* decompose: the parts of the pass. */
#ifndef TCC_PASSES_DECOMPOSE_DECOMPOSE_H
#define TCC_PASSES_DECOMPOSE_DECOMPOSE_H

#include "passes/rewrite.h"

/* cond, loop and scan as straight code; NODE_none where that is not possible (decompose/control.c).
 */
RewriteRule decompose_cond, decompose_loop, decompose_scan;

/* contract over nothing, and contract that no register tiles suit (decompose/contract.c). */
RewriteRule decompose_contract;

/* Reports a constant index of a gather or scatter that is out of range (decompose/indices.c). */
void decompose_check_indices(PassContext *ctx, const Graph *graph, NodeId id);

/* 0 (false) of the type's dims and dtype. */
NodeId decompose_zeros(Graph *graph, const Type *type);

#endif
