/* The calls for what is known while the graph is built: numbers, strings, dtypes, lists. */
#include "compiler/graph.h"

static Value make_known(GraphCall *call) {
    const Value *value = call->more;
    if (value->kind != VALUE_string) return *value;
    return dsl_value_string(str_copy(call->graph->arena, value->text));
}

static tcc_value known(tcc_graph *graph, Value value) {
    GraphCall call = {.graph = graph, .make = make_known, .more = &value};
    return graph_make(&call);
}

tcc_value tcc_graph_int(tcc_graph *graph, int64_t number) {
    return known(graph, dsl_value_int(number));
}

tcc_value tcc_graph_float(tcc_graph *graph, double number) {
    return known(graph, dsl_value_float(number));
}

tcc_value tcc_graph_bool(tcc_graph *graph, int truth) {
    return known(graph, dsl_value_bool(truth != 0));
}

tcc_value tcc_graph_none(tcc_graph *graph) { return known(graph, dsl_value_none()); }

tcc_value tcc_graph_string(tcc_graph *graph, const char *text) {
    if (text == NULL) return graph_refuse_value(graph, "text");
    return known(graph, dsl_value_string(str_from(text)));
}

tcc_value tcc_graph_dtype(tcc_graph *graph, tcc_dtype dtype) {
    if (graph_has_dtype(dtype)) return known(graph, dsl_value_dtype((DType)dtype));
    if (graph != NULL)
        compiler_fail(graph->compiler, TCC_INVALID, "there is no dtype %d", (int)dtype);
    return TCC_NO_VALUE;
}

static Value make_list(GraphCall *call) {
    return live_list(call->graph->live, call->operands, call->value_count);
}

tcc_value tcc_graph_list(tcc_graph *graph, const tcc_value *items, uint32_t count) {
    GraphCall call = {.graph = graph, .make = make_list, .values = items, .value_count = count};
    if (items == NULL && count > 0) return graph_refuse_value(graph, "items");
    return graph_make(&call);
}

static Value make_ints(GraphCall *call) {
    const int64_t *numbers = call->more;
    LiveOperand *items = NEW_ARRAY(call->graph->arena, LiveOperand, call->inner_count);
    for (uint32_t i = 0; i < call->inner_count; i++)
        items[i] = (LiveOperand){.value = dsl_value_int(numbers[i]),
                                 .block = live_block(call->graph->live)};
    uint32_t count = call->inner_count;
    call->inner_count = 0;
    return live_list(call->graph->live, items, count);
}

tcc_value tcc_graph_ints(tcc_graph *graph, const int64_t *numbers, uint32_t count) {
    GraphCall call = {.graph = graph, .make = make_ints, .more = numbers, .inner_count = count};
    if (numbers == NULL && count > 0) return graph_refuse_value(graph, "numbers");
    return graph_make(&call);
}
