#include "ir/graph.h"

#include "base/guard.h"

#include <string.h>

Graph *graph_new(IrContext *ctx, Arena *arena, Str name) {
    Graph *graph = NEW(arena, Graph);
    graph->ctx = ctx;
    graph->arena = arena;
    graph->name = ir_string(ctx, name);
    return graph;
}

/* Types are hashed by id and lists by address: an address only decides where a node is looked for.
 */
static uint32_t hash_node(const Node *node) {
    uint64_t hash = hash_word(node->op, node->type->id);
    for (uint32_t i = 0; i < node->arg_count; i++) hash = hash_word(hash, node->args[i]);
    for (uint32_t i = 0; i < op_info(node->op)->attr_count; i++) {
        hash = hash_word(hash, node->attrs[i].bits);
    }
    for (uint32_t i = 0; i < node->region_count; i++)
        hash = hash_word(hash, (uintptr_t)node->regions[i]);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same_words(const void *a, const void *b, size_t size) {
    return !size || !memcmp(a, b, size);
}

static bool same_node(const Node *a, const Node *b) {
    return a->op == b->op && a->type == b->type && a->arg_count == b->arg_count &&
           a->region_count == b->region_count &&
           same_words(a->args, b->args, a->arg_count * sizeof *a->args) &&
           same_words(a->attrs, b->attrs, op_info(a->op)->attr_count * sizeof *a->attrs) &&
           same_words(a->regions, b->regions, a->region_count * sizeof *a->regions);
}

/* The slot that holds a node equal to `node`, or the free one where its id goes. Hashes are
 * compared first: the nodes lie all over the memory. */
static NodeSlot *find_slot(const Graph *graph, const Node *node, uint32_t hash) {
    size_t mask = graph->slot_count - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        NodeSlot *slot = &graph->slots[at];
        if (!slot->number) return slot;
        if (slot->hash == hash && same_node(&graph->nodes.data[slot->number - 1], node))
            return slot;
    }
}

static void grow_slots(Graph *graph) {
    const NodeSlot *old = graph->slots;
    size_t old_count = graph->slot_count;
    graph->slot_count = old_count ? old_count * 2 : 32;
    graph->slots = NEW_ARRAY(graph->arena, NodeSlot, graph->slot_count);
    size_t mask = graph->slot_count - 1;
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i].hash & mask;
        while (graph->slots[at].number) at = (at + 1) & mask;
        if (old[i].number) graph->slots[at] = old[i];
    }
}

static bool same_loc(Loc a, Loc b) {
    return a.file == b.file && a.line == b.line && a.column == b.column && a.width == b.width;
}

static bool same_place(const Origin *a, const Origin *b) {
    for (; a && b && a != b; a = a->caller, b = b->caller) {
        if (!same_loc(a->loc, b->loc)) return false;
    }
    return a == b;
}

/* How many places a merged node keeps: a constant of a large model may come from thousands. */
enum { MAX_ORIGINS = 32 };

/* Adds the places of `more` that `old` lacks behind its own. Origins are constant, so the list is
 * built anew, from its end. */
static const Origin *merge_origins(Arena *arena, const Origin *old, const Origin *more) {
    const Origin *places[MAX_ORIGINS];
    size_t count = 0, old_count = 0;
    for (const Origin *at = old; at && count < MAX_ORIGINS; at = at->next) places[count++] = at;
    old_count = count;
    for (const Origin *at = more; at && count < MAX_ORIGINS; at = at->next) {
        size_t known = 0;
        while (known < count && !same_place(places[known], at)) known++;
        if (known == count) places[count++] = at;
    }
    if (count == old_count) return old;
    const Origin *list = NULL;
    while (count) {
        Origin *copy = NEW(arena, Origin);
        *copy = *places[--count];
        copy->next = list;
        list = copy;
    }
    return list;
}

static void check_new_node(const Graph *graph, const Node *node) {
    require(node->op > OP_none && node->op < OP_count && node->type);
    for (uint32_t i = 0; i < node->arg_count; i++) require(node->args[i] < graph->nodes.count);
    if (node->op == OP_input) require(node->attrs[0].i == (int64_t)graph->inputs.count);
}

/* A dtype fills half of an Attr: the rest is cleared, so that attributes compare by their bits. */
static void clean_attrs(const OpInfo *info, const Attr *attrs, Attr *out_attrs) {
    for (uint32_t i = 0; i < info->attr_count; i++) {
        Attr clean = {.bits = 0};
        if (info->attrs[i].kind == ATTR_dtype) {
            clean.dtype = attrs[i].dtype;
        } else {
            clean = attrs[i];
        }
        out_attrs[i] = clean;
    }
}

NodeId graph_add(Graph *graph, Op op, const Type *type, const NodeId *args, uint32_t arg_count,
                 const Attr *attrs, const Graph *const *regions, uint32_t region_count,
                 const Origin *origin) {
    Attr clean[OP_MAX_ATTRS];
    clean_attrs(op_info(op), attrs, clean);
    Node node = {op, arg_count, args, clean, region_count, regions, type, origin};
    check_new_node(graph, &node);
    if (2 * (graph->nodes.count + 1) > graph->slot_count) grow_slots(graph);
    uint32_t hash = hash_node(&node);
    NodeSlot *slot = find_slot(graph, &node, hash);
    if (slot->number) {
        Node *old = &graph->nodes.data[slot->number - 1];
        old->origin = merge_origins(ir_context_arena(graph->ctx), old->origin, origin);
        return slot->number - 1;
    }
    node.args = arena_copy(graph->arena, args, arg_count * sizeof *args);
    node.attrs = arena_copy(graph->arena, clean, op_info(op)->attr_count * sizeof *clean);
    node.regions = arena_copy(graph->arena, regions, region_count * sizeof *regions);
    vec_push(graph->arena, &graph->nodes, node);
    *slot = (NodeSlot){hash, (uint32_t)graph->nodes.count};
    return slot->number - 1;
}

NodeId graph_add_input(Graph *graph, Str name, const Type *type, const Origin *origin) {
    Attr attrs[] = {{.i = (int64_t)graph->inputs.count}, {.str = ir_string(graph->ctx, name)}};
    NodeId id = graph_add(graph, OP_input, type, NULL, 0, attrs, NULL, 0, origin);
    vec_push(graph->arena, &graph->inputs, id);
    return id;
}

void graph_add_output(Graph *graph, Str name, NodeId node) {
    require(node < graph->nodes.count);
    Output output = {ir_string(graph->ctx, name), node};
    vec_push(graph->arena, &graph->outputs, output);
}

void graph_add_check(Graph *graph, CheckKind kind, const Dim *a, const Dim *b,
                     const Origin *origin) {
    for (size_t i = 0; i < graph->checks.count; i++) {
        EntryCheck *old = &graph->checks.data[i];
        bool same = old->a == a && old->b == b;
        bool turned = kind == CHECK_equal && old->a == b && old->b == a;
        if (old->kind != kind || !(same || turned)) continue;
        if (!old->origin) old->origin = origin;
        return;
    }
    EntryCheck check = {kind, a, b, origin};
    vec_push(graph->arena, &graph->checks, check);
}

Attr node_attr(const Node *node, const char *name) {
    const OpInfo *info = op_info(node->op);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (!strcmp(info->attrs[i].name, name)) return node->attrs[i];
    }
    bug("%s has no attribute %s", info->name, name);
}

uint32_t *graph_count_uses(const Graph *graph, Arena *arena) {
    uint32_t *uses = NEW_ARRAY(arena, uint32_t, graph->nodes.count);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        for (uint32_t k = 0; k < node->arg_count; k++) uses[node->args[k]]++;
    }
    for (size_t i = 0; i < graph->outputs.count; i++) uses[graph->outputs.data[i].node]++;
    return uses;
}

/* Operands have smaller ids, so one walk from the end suffices. */
bool *graph_find_live(const Graph *graph, Arena *arena) {
    bool *live = NEW_ARRAY(arena, bool, graph->nodes.count);
    for (size_t i = 0; i < graph->outputs.count; i++) live[graph->outputs.data[i].node] = true;
    for (size_t i = graph->nodes.count; i-- > 0;) {
        const Node *node = &graph->nodes.data[i];
        for (uint32_t k = 0; live[i] && k < node->arg_count; k++) live[node->args[k]] = true;
    }
    return live;
}

/* Regions of another arena are copied, since a graph must not outlive what it refers to. */
static const Graph *const *adopt_regions(Graph *to, const Node *node) {
    const Graph **regions = NEW_ARRAY(to->arena, const Graph *, node->region_count);
    for (uint32_t i = 0; i < node->region_count; i++) {
        const Graph *region = node->regions[i];
        regions[i] = region->arena == to->arena ? region : graph_copy(to->arena, region);
    }
    return regions;
}

NodeId graph_copy_node(Graph *to, const Graph *from, NodeId id, const NodeId *map) {
    require(to->ctx == from->ctx);
    const Node *node = graph_node(from, id);
    if (node->op == OP_input) {
        return graph_add_input(to, *node->attrs[1].str, node->type, node->origin);
    }
    NodeId *args = NEW_ARRAY(to->arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = map[node->args[i]];
    return graph_add(to, node->op, node->type, args, node->arg_count, node->attrs,
                     adopt_regions(to, node), node->region_count, node->origin);
}

Graph *graph_copy(Arena *arena, const Graph *from) {
    Graph *copy = graph_new(from->ctx, arena, *from->name);
    NodeId *map = NEW_ARRAY(arena, NodeId, from->nodes.count);
    for (NodeId i = 0; i < from->nodes.count; i++) map[i] = graph_copy_node(copy, from, i, map);
    for (size_t i = 0; i < from->outputs.count; i++) {
        graph_add_output(copy, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    }
    graph_copy_checks(copy, from);
    return copy;
}

void graph_copy_checks(Graph *to, const Graph *from) {
    for (size_t i = 0; i < from->checks.count; i++) {
        const EntryCheck *check = &from->checks.data[i];
        graph_add_check(to, check->kind, check->a, check->b, check->origin);
    }
}
