/* What the files of the emitter share. The interface is emit.h; emit.c dispatches, emit_context.c
 * keeps guards, loops and branches, emit_access.c makes loads and stores, emit_move.c the ops that
 * only move. */
#ifndef TCC_CODEGEN_SKELETON_EMIT_INTERNAL_H
#define TCC_CODEGEN_SKELETON_EMIT_INTERNAL_H

#include "codegen/skeleton/emit.h"

/* `value` in dtype `to`. */
TileId emit_cast(TileBuilder *b, TileId value, DType to);

/* A smaller value along the axes that it lacks: the last ones, or the first. */
TileId emit_broadcast(ValueEmitter *e, TileId value, bool leading);

/* emit_access.c: an element of a view, in compute form. */
TileId emit_load(ValueEmitter *e, uint32_t view, DType dtype, const Dim *const *index,
                 uint32_t rank);

/* emit_move.c: values of ops that only move: one operand (reshape, permute, …), pad, concat,
 * gather. */
/* The element of the operand of a movement op with one operand that element `index` of its result
 * is; guards that it needs are pushed. */
void emit_operand_index(ValueEmitter *e, const Node *node, const Dim *const *index,
                        const Dim **inner);
TileId emit_moved(ValueEmitter *e, const Node *node, const Dim *const *index);
TileId emit_pad(ValueEmitter *e, const Node *node, const Dim *const *index);
TileId emit_concat(ValueEmitter *e, const Node *node, const Dim *const *index);
TileId emit_gather(ValueEmitter *e, const Node *node, const Dim *const *index);

#endif
