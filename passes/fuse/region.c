#include "passes/fuse/region.h"

#include "passes/kernel.h"

/* What a node of `from` is in the region. */
typedef struct Entry {
    NodeId from, to;
} Entry;

typedef struct Cut {
    const Graph *from;
    const bool *inlined;
    const NodeId *nodes;
    uint32_t count;
    Region region;
    Entry *entries; /* by hash; `to` is NODE_none where free */
    uint32_t mask;
} Cut;

static Entry *find(const Cut *c, NodeId id) {
    uint32_t slot = (uint32_t)(hash_word(0, id) & c->mask);
    while (c->entries[slot].to != NODE_none && c->entries[slot].from != id) {
        slot = (slot + 1) & c->mask;
    }
    return &c->entries[slot];
}

static void init(Cut *c, size_t most, Arena *arena) {
    uint32_t slots = 8;
    while (slots < 2 * most) slots *= 2;
    c->mask = slots - 1;
    c->entries = NEW_ARRAY(arena, Entry, slots);
    for (uint32_t i = 0; i < slots; i++) c->entries[i].to = NODE_none;
}

/* A node that is not computed in the region: copied when regions hold it, else an input. */
static NodeId add_outside(Cut *c, NodeId id) {
    Entry *entry = find(c, id);
    if (entry->to != NODE_none) return entry->to;
    Graph *graph = c->region.graph;
    NodeId to;
    if (kernel_holds_leaf(c->from, id)) {
        to = graph_copy_node(graph, c->from, id, NULL);
    } else {
        c->region.args[graph->inputs.count] = id;
        to = graph_add_input(graph, STR(""), graph_type(c->from, id), NULL);
    }
    *entry = (Entry){id, to};
    return to;
}

static int position(const NodeId *nodes, uint32_t count, NodeId id) {
    for (uint32_t lo = 0, hi = count; lo < hi;) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (nodes[middle] == id) return (int)middle;
        if (nodes[middle] < id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return -1;
}

/* Operands before the node, in their order: the region depends on nothing else, so equal
 * computations give equal regions however their nodes are numbered. Depth is at most the number of
 * listed nodes. */
static NodeId add(Cut *c, NodeId id) {
    bool inside = position(c->nodes, c->count, id) >= 0 || (c->inlined && c->inlined[id]);
    if (!inside) return add_outside(c, id);
    Entry *entry = find(c, id);
    if (entry->to != NODE_none) return entry->to;
    const Node *node = graph_node(c->from, id);
    Graph *graph = c->region.graph;
    NodeId *args = NEW_ARRAY(graph->arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = add(c, node->args[i]);
    NodeId to = graph_add(graph, node->op, node->type, args, node->arg_count, node->attrs, NULL, 0,
                          node->origin);
    *find(c, id) = (Entry){id, to};
    return to;
}

/* All results of a node that has several. */
static void add_output(Cut *c, NodeId id) {
    Graph *graph = c->region.graph;
    NodeId to = add(c, id);
    const Type *type = graph_type(graph, to);
    if (!type->is_tuple) graph_add_output(graph, STR(""), to);
    for (uint32_t i = 0; type->is_tuple && i < type->item_count; i++) {
        Attr attrs[] = {{.i = i}};
        NodeId item = graph_add(graph, OP_item, type->items[i], &to, 1, attrs, NULL, 0, NULL);
        graph_add_output(graph, STR(""), item);
    }
}

Region region_cut(const Graph *from, const bool *inlined, const NodeId *nodes, uint32_t count,
                  const NodeId *outputs, uint32_t output_count, Arena *arena) {
    Cut c = {.from = from, .inlined = inlined, .nodes = nodes, .count = count};
    size_t most = count + output_count;
    for (uint32_t i = 0; i < count; i++) most += graph_node(from, nodes[i])->arg_count;
    init(&c, most * (1 + REGION_MAX_INLINED), arena);
    c.region.graph = graph_new(from->ctx, arena, STR(""));
    c.region.args = NEW_ARRAY(arena, NodeId, most);
    for (uint32_t i = 0; i < output_count; i++) add_output(&c, outputs[i]);
    return c.region;
}
