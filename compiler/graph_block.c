/* The calls that open and close the blocks of cond, loop and scan. */
#include "compiler/graph.h"

#include <string.h>

static Value whether(bool good) { return good ? dsl_value_none() : dsl_value_error(); }

static Value begin_cond(GraphCall *call) {
    return whether(live_begin_cond(call->graph->live, &call->operands[0]));
}

tcc_status tcc_graph_begin_cond(tcc_graph *graph, tcc_value condition) {
    GraphCall call = {.graph = graph,
                      .make = begin_cond,
                      .what = "cond",
                      .makes_nothing = true,
                      .values = &condition,
                      .value_count = 1};
    return graph_do(&call);
}

/* Values within the block that is opened: as many as are carried. */
static void make_room(GraphCall *call, uint32_t count) {
    call->inner = NEW_ARRAY(call->graph->arena, Value, count);
    call->inner_count = count;
}

static Value next_block(GraphCall *call) {
    Live *live = call->graph->live;
    make_room(call, live_carried(live));
    return whether(live_next_block(live, call->operands, call->value_count, call->inner));
}

static tcc_status go_on(GraphCall *call) {
    call->make = next_block;
    call->makes_nothing = true;
    return graph_do(call);
}

tcc_status tcc_graph_else(tcc_graph *graph, const tcc_value *results, uint32_t count) {
    GraphCall call = {.graph = graph, .what = "else", .values = results, .value_count = count};
    if (results == NULL && count > 0) return graph_refuse(graph, "results");
    if (graph != NULL && live_carried(graph->live) > 0)
        return compiler_fail(graph->compiler, TCC_INVALID, "the block that is open is no cond");
    return go_on(&call);
}

tcc_status tcc_graph_do(tcc_graph *graph, tcc_value condition, tcc_value *out_carried) {
    GraphCall call = {.graph = graph,
                      .what = "do",
                      .values = &condition,
                      .value_count = 1,
                      .out_inner = out_carried};
    if (out_carried == NULL) return graph_refuse(graph, "out_carried");
    if (graph != NULL && live_carried(graph->live) == 0)
        return compiler_fail(graph->compiler, TCC_INVALID, "the block that is open is no loop");
    return go_on(&call);
}

static Value begin_loop(GraphCall *call) {
    const int64_t *limit = call->more;
    make_room(call, call->value_count);
    return whether(
        live_begin_loop(call->graph->live, call->operands, call->value_count, *limit, call->inner));
}

tcc_status tcc_graph_begin_loop(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                int64_t limit, tcc_value *out_carried) {
    GraphCall call = {.graph = graph,
                      .make = begin_loop,
                      .what = "loop",
                      .makes_nothing = true,
                      .values = carried,
                      .value_count = count,
                      .more = &limit,
                      .out_inner = out_carried};
    if (carried == NULL && count > 0) return graph_refuse(graph, "carried");
    if (out_carried == NULL && count > 0) return graph_refuse(graph, "out_carried");
    return graph_do(&call);
}

typedef struct ScanParts {
    uint32_t carried;
    bool reverse;
} ScanParts;

static Value begin_scan(GraphCall *call) {
    const ScanParts *parts = call->more;
    uint32_t carried = parts->carried, sequences = call->value_count - carried;
    make_room(call, call->value_count);
    return whether(live_begin_scan(call->graph->live, call->operands, carried,
                                   call->operands + carried, sequences, parts->reverse,
                                   call->inner));
}

enum { MAX_SCAN = 256 };

tcc_status tcc_graph_begin_scan(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                const tcc_value *sequences, uint32_t sequence_count, int reverse,
                                tcc_value *out_carried, tcc_value *out_slices) {
    tcc_value values[MAX_SCAN], inner[MAX_SCAN];
    ScanParts parts = {count, reverse != 0};
    GraphCall call = {.graph = graph,
                      .make = begin_scan,
                      .what = "scan",
                      .makes_nothing = true,
                      .values = values,
                      .value_count = count + sequence_count,
                      .more = &parts,
                      .out_inner = inner};
    if (graph == NULL) return TCC_INVALID;
    if (count > 0 && carried == NULL) return graph_refuse(graph, "carried");
    if (count > 0 && out_carried == NULL) return graph_refuse(graph, "out_carried");
    if (sequence_count > 0 && sequences == NULL) return graph_refuse(graph, "sequences");
    if (sequence_count > 0 && out_slices == NULL) return graph_refuse(graph, "out_slices");
    if (count > MAX_SCAN || sequence_count > MAX_SCAN - count)
        return compiler_fail(graph->compiler, TCC_INVALID, "a scan takes at most %d values",
                             MAX_SCAN);
    if (count > 0) memcpy(values, carried, count * sizeof *values);
    if (sequence_count > 0) memcpy(values + count, sequences, sequence_count * sizeof *values);
    tcc_status status = graph_do(&call);
    for (uint32_t i = 0; status == TCC_OK && i < count + sequence_count; i++)
        *(i < count ? &out_carried[i] : &out_slices[i - count]) = inner[i];
    return status;
}

static Value end_block(GraphCall *call) {
    return live_end_block(call->graph->live, call->operands, call->value_count);
}

tcc_value tcc_graph_end(tcc_graph *graph, const tcc_value *results, uint32_t count) {
    GraphCall call = {
        .graph = graph, .make = end_block, .what = "end", .values = results, .value_count = count};
    if (results == NULL && count > 0) return graph_refuse_value(graph, "results");
    return graph_make(&call);
}

uint32_t tcc_graph_depth(const tcc_graph *graph) {
    return graph == NULL || graph->spoilt ? 0 : live_depth(graph->live);
}

static Value abandon_block(GraphCall *call) {
    return whether(live_abandon_block(call->graph->live));
}

tcc_status tcc_graph_abandon(tcc_graph *graph) {
    GraphCall call = {
        .graph = graph, .make = abandon_block, .what = "abandon", .makes_nothing = true};
    return graph_do(&call);
}
