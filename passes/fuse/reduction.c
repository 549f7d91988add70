#include "passes/fuse/reduction.h"

bool reduction_is(const Fuser *f, NodeId id) {
    OpClass class = fuser_class(f, id);
    return class == CLASS_REDUCE || class == CLASS_ARGREDUCE;
}

ReduceClass reduction_class(const Fuser *f, NodeId id) {
    const Node *node = graph_node(f->graph, id);
    ReduceClass class = {.type = graph_type(f->graph, node->args[0])};
    if (fuser_class(f, id) == CLASS_ARGREDUCE) {
        class.axes = 1U << node_attr(node, "axis").i;
        return class;
    }
    const IntList *axes = node_attr(node, "axes").ints;
    for (uint32_t i = 0; i < axes->count; i++) class.axes |= 1U << axes->items[i];
    return class;
}

bool reduction_same_class(const ReduceClass *a, const ReduceClass *b) {
    bool same = a->axes == b->axes && a->type->rank == b->type->rank;
    for (uint32_t i = 0; same && i < a->type->rank; i++)
        same = a->type->dims[i] == b->type->dims[i];
    return same;
}
