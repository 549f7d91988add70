#include "passes/rewrite.h"
#include "base/scratch.h"
#include "ir/build.h"

bool *graph_find_kept(const Graph *graph, Arena *arena) {
    bool *kept = graph_find_live(graph, arena);
    for (size_t i = 0; i < graph->inputs.count; i++) kept[graph->inputs.data[i]] = true;
    return kept;
}

uint32_t *graph_count_kept_uses(const Graph *graph, Arena *arena) {
    const bool *kept = graph_find_kept(graph, arena);
    uint32_t *uses = NEW_ARRAY(arena, uint32_t, graph->nodes.count);
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        for (uint32_t k = 0; kept[id] && k < node->arg_count; k++) uses[node->args[k]]++;
    }
    for (size_t i = 0; i < graph->outputs.count; i++) uses[graph->outputs.data[i].node]++;
    return uses;
}

static void copy_outputs(Graph *to, const Graph *from, const NodeId *map) {
    for (size_t i = 0; i < from->outputs.count; i++) {
        graph_add_output(to, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    }
    graph_copy_checks(to, from);
}

Graph *graph_copy_live(Arena *arena, const Graph *from) {
    Graph *to = graph_new(from->ctx, arena, *from->name);
    Scratch scratch;
    Arena *own = scratch_open(&scratch);
    const bool *kept = graph_find_kept(from, own);
    NodeId *map = NEW_ARRAY(own, NodeId, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        if (kept[id]) map[id] = graph_copy_node(to, from, id, map);
    }
    copy_outputs(to, from, map);
    scratch_close(&scratch);
    return to;
}

NodeId rewrite_copy(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    if (!node->region_count) return graph_copy_node(r->to, r->from, id, r->map);
    Arena *arena = r->to->arena;
    NodeId *args = NEW_ARRAY(arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = r->map[node->args[i]];
    const Graph **regions = NEW_ARRAY(arena, const Graph *, node->region_count);
    for (uint32_t i = 0; i < node->region_count; i++) {
        regions[i] = rewrite_graph(r->ctx, arena, node->regions[i], r->rule, r->user);
    }
    return graph_add(r->to, node->op, node->type, args, node->arg_count, node->attrs, regions,
                     node->region_count, node->origin);
}

/* Nodes that a rule adds without an origin come from the node that it rewrites. */
static void give_origin(Graph *to, size_t from, const Origin *origin) {
    for (size_t i = from; i < to->nodes.count; i++) {
        if (!to->nodes.data[i].origin) to->nodes.data[i].origin = origin;
    }
}

static NodeId rewrite_node(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    if (node->op == OP_item && r->results[node->args[0]]) {
        return r->results[node->args[0]][node->attrs[0].i];
    }
    size_t before = r->to->nodes.count;
    NodeId result = r->rule(r, id);
    if (result == NODE_none) return rewrite_copy(r, id);
    give_origin(r->to, before, node->origin);
    return result;
}

static void begin(Rewrite *r) {
    Arena *scratch = r->ctx->scratch;
    r->map = NEW_ARRAY(scratch, NodeId, r->from->nodes.count);
    r->results = NEW_ARRAY(scratch, NodeId *, r->from->nodes.count);
    r->uses = graph_count_kept_uses(r->from, scratch);
}

void rewrite_splice(const Rewrite *r, const Graph *region, const NodeId *args,
                    NodeId *out_outputs) {
    Rewrite inner = {.ctx = r->ctx, .from = region, .to = r->to, .rule = r->rule, .user = r->user};
    begin(&inner);
    const bool *kept = graph_find_kept(region, r->ctx->scratch);
    for (NodeId id = 0; id < region->nodes.count; id++) {
        const Node *node = graph_node(region, id);
        if (!kept[id]) continue;
        inner.map[id] = node->op == OP_input ? build_as(r->to, args[node->attrs[0].i], node->type)
                                             : rewrite_node(&inner, id);
    }
    for (size_t i = 0; i < region->outputs.count; i++) {
        out_outputs[i] = inner.map[region->outputs.data[i].node];
    }
}

Graph *rewrite_graph(PassContext *ctx, Arena *arena, const Graph *from, RewriteRule *rule,
                     void *user) {
    Rewrite r = {.ctx = ctx, .from = from, .rule = rule, .user = user};
    r.to = graph_new(from->ctx, ctx->scratch, *from->name);
    begin(&r);
    const bool *kept = graph_find_kept(from, ctx->scratch);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        r.map[id] = kept[id] ? rewrite_node(&r, id) : NODE_none;
    }
    copy_outputs(r.to, from, r.map);
    return graph_copy_live(arena, r.to);
}
