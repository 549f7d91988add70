/* Reductions and their classes: those over the same axes of operands of the same dims can share
 * sweeps over a row. */
#ifndef TCC_PASSES_FUSE_REDUCTION_H
#define TCC_PASSES_FUSE_REDUCTION_H

#include "passes/fuse/fuse.h"

typedef struct ReduceClass {
    const Type *type; /* of an operand: only its dims count */
    uint32_t axes;    /* bit i: axis i is reduced */
} ReduceClass;

bool reduction_is(const Fuser *f, NodeId id);
ReduceClass reduction_class(const Fuser *f, NodeId id);
bool reduction_same_class(const ReduceClass *a, const ReduceClass *b);

#endif
