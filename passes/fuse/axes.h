/* Access maps: where the element of a node at an index comes from, as index expressions composed
 * along paths of movement ops. */
#ifndef TCC_PASSES_FUSE_AXES_H
#define TCC_PASSES_FUSE_AXES_H

#include "passes/fuse/fuse.h"

/* A variable for each axis of `type`, below the axis's extent; the same ones for the same axis and
 * extent. */
void axes_identity(Axes *axes, const Type *type, const Dim **out_index);

/* The index in operand 0 of a movement op that element `index` of its result comes from (of pad:
 * where it is inside; of concat: not for it). */
void axes_operand_index(IrContext *ctx, const Graph *graph, const Node *node,
                        const Dim *const *index, const Dim **out_index);

/* Whether the tensor `last`, which permutes and reshapes make of `base`, is better stored than
 * `base`: its reader would have to divide, and its writer need not. */
bool axes_prefer_moved(Axes *axes, const Graph *graph, NodeId base, NodeId last);

/* How many times a kernel computes a node of the region at another index or under another guard
 * than before; more than `limit` are not counted. */
uint32_t axes_count_contexts(Axes *axes, Arena *arena, const Graph *region, uint32_t limit);

#endif
