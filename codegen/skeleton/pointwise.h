/* The walk of kernels that make each element of a domain by itself: grid, vectors, tails, and the
 * choice of the axes that vectors run along. */
#ifndef TCC_CODEGEN_SKELETON_POINTWISE_H
#define TCC_CODEGEN_SKELETON_POINTWISE_H

#include "codegen/skeleton/domain.h"

/* Emits everything for the domain's current point (a tile of neighbours). */
typedef void PointBody(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request);

/* Walks a domain with the dims of `type`. */
TileProgram *pointwise_build(const SkeletonRequest *request, const Type *type, PointBody *body,
                             const char **out_why);

#endif
