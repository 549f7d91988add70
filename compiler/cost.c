/* What the passes ask about kernels, answered for all targets of a compilation. */
#include "codegen/skeleton/skeleton.h"
#include "compiler/session.h"

/* A group becomes a kernel if it can be built for all that the program is compiled for; what it
 * costs is asked of the target that the passes have. */
static bool legal_for_all(void *self, const Graph *region, Str skeleton, Str strategy,
                          const Target *target, Arena *arena, const char **out_why) {
    const Core *core = self;
    CostModel model = skeleton_cost_model(core->ctx);
    bool good = model.legal(model.self, region, skeleton, strategy, target, arena, out_why);
    for (uint32_t i = 0; i <= core->target_count && good; i++) {
        const Target *other = i < core->target_count ? core->targets[i] : core->gpu;
        if (other != NULL && other != target)
            good = model.legal(model.self, region, skeleton, strategy, other, arena, out_why);
    }
    return good;
}

static KernelCost cost_of_kernel(void *self, const Graph *region, Str skeleton, Str strategy,
                                 const Target *target, Arena *arena) {
    CostModel model = skeleton_cost_model(((const Core *)self)->ctx);
    return model.cost(model.self, region, skeleton, strategy, target, arena);
}

static Str schedule_of_kernel(void *self, const Graph *region, Str skeleton, Str strategy,
                              const Target *target, Arena *arena) {
    CostModel model = skeleton_cost_model(((const Core *)self)->ctx);
    return model.schedule(model.self, region, skeleton, strategy, target, arena);
}

CostModel core_cost_model(Core *core) {
    return (CostModel){.self = core,
                       .legal = legal_for_all,
                       .cost = cost_of_kernel,
                       .schedule = schedule_of_kernel};
}
