/* Where a region's outputs lie in the domain that a skeleton walks. */
#ifndef TCC_CODEGEN_SKELETON_DOMAIN_H
#define TCC_CODEGEN_SKELETON_DOMAIN_H

#include "codegen/skeleton/emit.h"
#include "codegen/skeleton/skeleton.h"

/* A set of axes with the index that is being emitted. */
typedef struct Domain {
    uint32_t rank;
    const Dim *dims[TYPE_MAX_RANK];
    const Dim *index[TYPE_MAX_RANK];
} Domain;

/* The output's value without the permutes and reshapes that end it: the node that is computed in
 * the skeleton's domain. */
NodeId domain_base(const Graph *region, NodeId output);

/* Whether the op's results are computed by a skeleton, not by the emitter. */
bool domain_accumulates(Op op);

/* Whether tensors of `type` have as many elements as the domain. */
bool domain_fits(IrContext *ctx, const Domain *domain, const Type *type);

/* The element of a tensor of `type` at the domain's current position in row-major order. */
void domain_index_in(ValueEmitter *e, const Domain *domain, const Type *type,
                     const Dim **out_index);

/* The index in node `id`'s own dims of the domain's current point: `id`'s base must fit the domain.
 * Permutes and reshapes between elementwise ops, on the way to what is accumulated, are followed.
 */
void domain_index_of(ValueEmitter *e, const Domain *domain, NodeId id, const Dim **out_index);

/* Emits the base of output `output` at the domain's current point and stores it where it belongs.
 */
void domain_store(ValueEmitter *e, const Domain *domain, uint32_t output, bool streaming);

/* Adds a grid axis of `extent` points; the constant 0 when there is only one. */
const Dim *domain_add_work(ValueEmitter *e, const char *name, const Dim *extent);

/* The product of dims[from..to-1]. */
const Dim *domain_extent(IrContext *ctx, const Dim *const *dims, uint32_t from, uint32_t to);

#endif
