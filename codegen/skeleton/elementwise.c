/* Elementwise kernels: every output element by itself, in the first output's order. */
#include "codegen/skeleton/pointwise.h"

static void store_outputs(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request) {
    for (uint32_t i = 0; i < e->region->outputs.count; i++) {
        NodeId id = e->region->outputs.data[i].node;
        const Type *type = graph_type(e->region, id);
        if (!domain_fits(e->ctx, domain, type))
            emit_fail(e, "outputs have different numbers of elements");
        const Dim *index[TYPE_MAX_RANK];
        size_t mark = emit_guard_mark(e);
        domain_index_in(e, domain, type, index);
        emit_store(e, i, emit_value(e, id, index), index, request->schedule.streaming == 2);
        emit_pop_guards(e, mark);
    }
}

TileProgram *skeleton_build_elementwise(const SkeletonRequest *request, const char **out_why) {
    const Graph *g = request->region;
    return pointwise_build(request, graph_type(g, g->outputs.data[0].node), store_outputs, out_why);
}
