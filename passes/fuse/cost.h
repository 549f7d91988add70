/* Prices of kernels and moves. */
#ifndef TCC_PASSES_FUSE_COST_H
#define TCC_PASSES_FUSE_COST_H

#include "passes/fuse/fuse.h"
#include "passes/kernel.h"

enum { FUSE_MAX_SOURCES = 64 };

/* Distinct tensors in memory; those beyond the limit are not counted. */
typedef struct Sources {
    NodeId items[FUSE_MAX_SOURCES];
    uint32_t count;
} Sources;

/* What a kernel does. */
typedef struct Work {
    Sources sources; /* what it reads */
    Amount stored;   /* bytes it writes */
    Amount flops;
    Amount bands; /* the most grid points that it has; 0: as many as there are cores */
    Amount again; /* bytes that each core reads, beside the first one that does */
} Work;

Amount amount_of_dim(const Fuser *f, const Dim *dim);
Amount amount_bytes(const Fuser *f, NodeId id);
Amount amount_elements(const Fuser *f, NodeId id);

/* Operations for one element of the node, counted so that a multiply-add is 2. */
double cost_flops(const Fuser *f, NodeId id);
/* The code of one vector of the node's elements, in simple instructions. Kernels are bounded by it:
 * what LLVM takes grows faster than a kernel (its register allocator looks at all values that live
 * at once, and the constants of polynomials do), while a cut after a thousand instructions adds one
 * store and one load to them. */
uint32_t cost_code(const Fuser *f, NodeId id);
/* How many times an op does its work to make its whole result: a step of its sum, an element. */
Amount cost_steps(const Fuser *f, NodeId id);
/* How often elements of operand `arg` of `user` are asked for when user's are asked for
 * `evaluations` times. */
Amount cost_evaluations(const Fuser *f, NodeId user, NodeId arg, const Amount *evaluations);
/* How often elements of `id` are asked for by the nodes of the group. */
Amount cost_uses(const Fuser *f, NodeId id, const Group *group);

Work cost_of_group(const Fuser *f, const Group *group);
/* Nanoseconds of a kernel. */
double cost_time_at(const Fuser *f, double bytes, double flops);
/* Of one on so many cores at most. */
double cost_time_on(const Fuser *f, double bytes, double flops, double cores);
Amount cost_work_time(const Fuser *f, const Work *work);

/* Whether `id` is better computed in all of `groups` than by a kernel of its own. */
bool cost_prefers_absorbed(const Fuser *f, NodeId id, Group *const *groups, size_t count,
                           Refusal *out_refusal);

#endif
