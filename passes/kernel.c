#include "passes/kernel.h"

enum { ATTR_NAME, ATTR_SKELETON, ATTR_STRATEGY, ATTR_SCHEDULE }; /* in the order of the row */

bool kernel_holds_leaf(const Graph *graph, NodeId id) {
    const Node *node = graph_node(graph, id);
    if (node->op == OP_iota || node->op == OP_dim) return true;
    int64_t count;
    return node->op == OP_const && type_is_static(node->type, &count) && count == 1;
}

const char *kernel_skeleton(OpClass class) {
    switch (class) {
    case CLASS_REDUCE:
    case CLASS_ARGREDUCE: return "row";
    case CLASS_CUMULATIVE: return "cumulative";
    case CLASS_SCATTER: return "scatter";
    case CLASS_CONTRACT: return "contract";
    case CLASS_CONV: return "conv";
    case CLASS_WINDOW: return "window";
    case CLASS_SORT: return "sort";
    case CLASS_COND:
    case CLASS_LOOP:
    case CLASS_SCAN:
    case CLASS_ITEM:
    case CLASS_CALL:
    case CLASS_KERNEL: return NULL;
    default: return "elementwise";
    }
}

static const Type *outputs_type(const Graph *region) {
    size_t count = region->outputs.count;
    if (count == 1) return graph_type(region, region->outputs.data[0].node);
    const Type **types = NEW_ARRAY(region->arena, const Type *, count);
    for (size_t i = 0; i < count; i++) types[i] = graph_type(region, region->outputs.data[i].node);
    return type_tuple(region->ctx, (uint32_t)count, types);
}

NodeId kernel_add(Graph *graph, const Graph *region, const NodeId *args, Str name, Str skeleton,
                  Str strategy, const Origin *origin) {
    IrContext *ctx = graph->ctx;
    const Str *empty = ir_string(ctx, STR(""));
    Attr attrs[] = {[ATTR_NAME] = {.str = ir_string(ctx, name)},
                    [ATTR_SKELETON] = {.str = ir_string(ctx, skeleton)},
                    [ATTR_STRATEGY] = {.str = ir_string(ctx, strategy)},
                    [ATTR_SCHEDULE] = {.str = empty}};
    return graph_add(graph, OP_kernel, outputs_type(region), args, (uint32_t)region->inputs.count,
                     attrs, &region, 1, origin);
}

Str kernel_name(const Node *kernel) { return *kernel->attrs[ATTR_NAME].str; }

NodeId kernel_with_schedule(Graph *graph, const Node *kernel, const NodeId *args, Str schedule) {
    Attr attrs[OP_MAX_ATTRS];
    for (uint32_t i = 0; i < op_info(OP_kernel)->attr_count; i++) attrs[i] = kernel->attrs[i];
    attrs[ATTR_SCHEDULE].str = ir_string(graph->ctx, schedule);
    return graph_add(graph, OP_kernel, kernel->type, args, kernel->arg_count, attrs,
                     kernel->regions, kernel->region_count, kernel->origin);
}
