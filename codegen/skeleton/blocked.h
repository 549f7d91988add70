/* The walk of pointwise kernels that transpose: in square blocks, so that the lines which a strided
 * access touches are used again while the cache still holds them. */
#ifndef TCC_CODEGEN_SKELETON_BLOCKED_H
#define TCC_CODEGEN_SKELETON_BLOCKED_H

#include "codegen/skeleton/pointwise.h"

/* Walks the domain with vectors along its last axis and, inside a block, rows along `axis`. NULL
 * with *out_why when the body cannot be emitted so; *out_reuses tells whether every strided access
 * of it is contiguous along `axis`. */
TileProgram *blocked_build(const SkeletonRequest *request, const Type *type, PointBody *body,
                           uint32_t axis, bool *out_reuses, const char **out_why);

#endif
