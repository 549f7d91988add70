/* Skeletons: from a fused group (a kernel's region) and a schedule to a tile program.
 *
 * A region's inputs and outputs are tensors in memory, dense and row-major. The program's views are
 * the inputs in order, then the outputs, with the same argument numbers.
 */
#ifndef TCC_CODEGEN_SKELETON_SKELETON_H
#define TCC_CODEGEN_SKELETON_SKELETON_H

#include "codegen/tile/tile.h"
#include "ir/cost.h"
#include "ir/graph.h"
#include "ir/schedule.h"
#include "ir/target.h"

typedef struct SkeletonRequest {
    IrContext *ctx;
    Arena *arena; /* of the program */
    const Graph *region;
    Str name;     /* of the program */
    Str strategy; /* empty: the skeleton's own choice */
    Schedule schedule;
    const Target *target;
    TileState state;       /* TILE_free ignores schedule and target */
    bool round_everywhere; /* -fexcess-precision=none */
} SkeletonRequest;

/* The program, or NULL with the reason why this skeleton cannot build the region. */
typedef TileProgram *SkeletonBuild(const SkeletonRequest *request, const char **out_why);

typedef struct Skeleton {
    const char *name, *meaning;
    SkeletonBuild *build;
} Skeleton;

const Skeleton *skeleton_find(Str name); /* NULL when unknown */
const Skeleton *skeleton_at(uint32_t index);

#define SKELETON(name, meaning) SkeletonBuild skeleton_build_##name;
#include "codegen/skeleton/skeleton.def"
#undef SKELETON

/* The schedule a region gets when nobody says otherwise, from the shapes and the target alone. */
Schedule skeleton_schedule(const SkeletonRequest *request);

/* What a placed program costs on the target, by counting it at the dims' tune values. */
KernelCost skeleton_cost(const TileProgram *program, const Target *target);

/* What a grid point costs one thread at the least, in ns at the dims' tune values: the runtime
 * wakes threads for no less work than it was told. */
double skeleton_least_ns(const TileProgram *program, const Target *target);

/* The vtable that passes ask (ir/cost.h); `ctx` outlives it. */
CostModel skeleton_cost_model(IrContext *ctx);

#endif
