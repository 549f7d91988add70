/* The calls for what a model is made of: dims, inputs, parameters, constants, outputs. */
#include "base/messages.h"
#include "compiler/graph.h"

#include <string.h>

/* What the graph's compiler narrows it to is its range from the start. */
static Value make_dim(GraphCall *call) {
    const DimRange *declared = call->more;
    DimRanges ranges = options_ranges(&call->graph->compiler->options);
    const DimRange *narrow = dim_ranges_find(&ranges, str_from(call->what));
    if (narrow != NULL && !dim_range_is_within(narrow, declared->lo, declared->hi)) {
        diag_error(call->graph->diags, live_place(call->graph->live), MSG_DIM_OVERRIDE,
                   (long long)narrow->lo, (long long)narrow->hi, STR_ARG(narrow->name));
        return dsl_value_error();
    }
    const DimRange *range = narrow == NULL ? declared : narrow;
    return live_dim(call->graph->live, str_copy(call->graph->arena, str_from(call->what)),
                    range->lo, range->hi, range->tune);
}

tcc_value tcc_graph_dim(tcc_graph *graph, const char *name, int64_t lo, int64_t hi, int64_t tune) {
    DimRange range = {.lo = lo, .hi = hi, .tune = tune};
    GraphCall call = {
        .graph = graph, .make = make_dim, .what = name, .is_named = true, .more = &range};
    if (name == NULL) return graph_refuse_value(graph, "name");
    return graph_make(&call);
}

typedef struct Declared {
    DType dtype;
    uint32_t rank;
    const int64_t *dims;
} Declared;

static Value make_input(GraphCall *call) {
    const Declared *declared = call->more;
    return live_input(call->graph->live, str_from(call->what), declared->dtype, call->operands,
                      call->value_count);
}

tcc_value tcc_graph_input(tcc_graph *graph, const char *name, tcc_dtype dtype,
                          const tcc_value *dims, uint32_t rank) {
    Declared declared = {.dtype = (DType)dtype};
    GraphCall call = {.graph = graph,
                      .make = make_input,
                      .what = name,
                      .is_named = true,
                      .values = dims,
                      .value_count = rank,
                      .more = &declared};
    if (name == NULL) return graph_refuse_value(graph, "name");
    if (dims == NULL && rank > 0) return graph_refuse_value(graph, "dims");
    if (!graph_has_dtype(dtype)) return tcc_graph_dtype(graph, dtype);
    return graph_make(&call);
}

static Value make_param(GraphCall *call) {
    const Declared *declared = call->more;
    LiveOperand *dims = NEW_ARRAY(call->graph->arena, LiveOperand, declared->rank);
    for (uint32_t i = 0; i < declared->rank; i++)
        dims[i] = (LiveOperand){.value = dsl_value_int(declared->dims[i]),
                                .block = live_block(call->graph->live)};
    return live_param(call->graph->live, str_from(call->what), declared->dtype, dims,
                      declared->rank);
}

tcc_value tcc_graph_param(tcc_graph *graph, const char *name, tcc_dtype dtype, const int64_t *dims,
                          uint32_t rank) {
    Declared declared = {(DType)dtype, rank, dims};
    GraphCall call = {
        .graph = graph, .make = make_param, .what = name, .is_named = true, .more = &declared};
    if (name == NULL) return graph_refuse_value(graph, "name");
    if (dims == NULL && rank > 0) return graph_refuse_value(graph, "dims");
    if (!graph_has_dtype(dtype)) return tcc_graph_dtype(graph, dtype);
    return graph_make(&call);
}

static Value make_constant(GraphCall *call) {
    tcc_graph *graph = call->graph;
    Weight *weight = graph_take_tensor(graph, live_place(graph->live), (Str){0}, call->more);
    return weight == NULL ? dsl_value_error() : live_constant(graph->live, weight);
}

tcc_value tcc_graph_constant(tcc_graph *graph, const tcc_tensor *tensor) {
    GraphCall call = {.graph = graph, .make = make_constant, .what = "constant", .more = tensor};
    if (tensor == NULL) return graph_refuse_value(graph, "tensor");
    return graph_make(&call);
}

static Value make_output(GraphCall *call) {
    bool good = live_output(call->graph->live, str_from(call->what), &call->operands[0]);
    return good ? dsl_value_none() : dsl_value_error();
}

/* What is said when the graph is compiled: why its first output is not there. */
static tcc_status lack_output(tcc_graph *graph, const char *name, tcc_value value,
                              tcc_status status) {
    tcc_compiler *compiler = graph->compiler;
    if (value == TCC_NO_VALUE && compiler->message[0] == 0)
        compiler_fail(compiler, status, "output \"%s\" has no value", name);
    if (!graph->lacks_output) memcpy(graph->first, compiler->message, sizeof graph->first);
    graph->lacks_output = true;
    return status;
}

tcc_status tcc_graph_output(tcc_graph *graph, const char *name, tcc_value value) {
    GraphCall call = {.graph = graph,
                      .make = make_output,
                      .what = name,
                      .is_named = true,
                      .makes_nothing = true,
                      .values = &value,
                      .value_count = 1};
    if (graph == NULL) return TCC_INVALID;
    if (name == NULL) return graph_refuse(graph, "name");
    tcc_status status = graph_do(&call);
    return status == TCC_OK ? status : lack_output(graph, name, value, status);
}
