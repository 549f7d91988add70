/* inline: puts the nodes of functions where they are called. Parameters of a function have relative
 * names; the full name is the scopes of the calls that lead to it, joined by dots. Equal nodes of
 * several calls merge as they are added. */
#include "base/messages.h"
#include "ir/build.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

/* How many nodes a graph may come to by inlining: calls inside calls grow exponentially. */
enum { MAX_NODES = 4000000 };

/* The copying of one graph: the model, a block of a control op (both keep their inputs), or the
 * body of a call, whose inputs are the call's operands. */
typedef struct Body {
    PassContext *ctx;
    const Graph *from;
    Graph *to;
    const NodeId *inputs; /* in `to`; NULL when inputs stay inputs */
    Str scope;            /* of all calls around, "" or ending in a dot */
    const Origin *call;
    NodeId *map;
    const NodeId **results; /* of calls with several results, by the call's id */
} Body;

static Graph *copy_block(const Body *around, const Graph *block);

/* The place `origin` as reached through `call`. */
static const Origin *under_call(IrContext *ctx, const Origin *origin, const Origin *call) {
    if (!call || !origin) return origin ? origin : call;
    Origin *copy = NEW(ir_context_arena(ctx), Origin);
    *copy = *origin;
    copy->next = NULL;
    copy->caller = under_call(ctx, origin->caller, call);
    return copy;
}

/* Copies the nodes of b->from; its outputs in `to` are written to out_outputs. */
static void copy_body(Body *b, NodeId *out_outputs);

static const NodeId *copy_call(Body *b, const Node *node) {
    Arena *arena = b->ctx->scratch;
    const Graph *from = node->regions[0];
    NodeId *inputs = NEW_ARRAY(arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) inputs[i] = b->map[node->args[i]];
    Str scope = *node_attr(node, "scope").str;
    Body inner = {.ctx = b->ctx, .from = from, .to = b->to, .inputs = inputs, .scope = b->scope};
    if (scope.size) {
        inner.scope = str_format(arena, "%.*s%.*s.", STR_ARG(b->scope), STR_ARG(scope));
    }
    inner.call = under_call(b->to->ctx, node->origin, b->call);
    NodeId *outputs = NEW_ARRAY(arena, NodeId, from->outputs.count);
    copy_body(&inner, outputs);
    return outputs;
}

static NodeId copy_param(Body *b, const Node *node, const Origin *origin) {
    Str name = str_format(b->ctx->scratch, "%.*s%.*s", STR_ARG(b->scope),
                          STR_ARG(*node_attr(node, "name").str));
    Attr attrs[] = {{.str = ir_string(b->to->ctx, name)}, node_attr(node, "value")};
    return graph_add(b->to, OP_param, node->type, NULL, 0, attrs, NULL, 0, origin);
}

static NodeId copy_other(Body *b, const Node *node, const Origin *origin) {
    Arena *arena = b->ctx->scratch;
    NodeId *args = NEW_ARRAY(arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = b->map[node->args[i]];
    const Graph **regions = NEW_ARRAY(arena, const Graph *, node->region_count);
    for (uint32_t i = 0; i < node->region_count; i++) {
        regions[i] = copy_block(b, node->regions[i]);
    }
    return graph_add(b->to, node->op, node->type, args, node->arg_count, node->attrs, regions,
                     node->region_count, origin);
}

static NodeId copy_node(Body *b, NodeId id) {
    const Node *node = graph_node(b->from, id);
    const Origin *origin = under_call(b->to->ctx, node->origin, b->call);
    switch (node->op) {
    case OP_input:
        if (b->inputs) return build_as(b->to, b->inputs[node->attrs[0].i], node->type);
        return graph_add_input(b->to, *node->attrs[1].str, node->type, node->origin);
    case OP_param: return copy_param(b, node, origin);
    case OP_item:
        if (!b->results[node->args[0]]) return copy_other(b, node, origin);
        return b->results[node->args[0]][node->attrs[0].i];
    case OP_call: {
        const NodeId *results = copy_call(b, node);
        if (!node->type->is_tuple) return results[0];
        b->results[id] = results;
        return NODE_none;
    }
    default: return copy_other(b, node, origin);
    }
}

static bool too_large(const Body *b) {
    if (b->to->nodes.count <= MAX_NODES) return false;
    if (!diags_error_count(b->ctx->diags)) {
        diag_error(b->ctx->diags, b->call ? b->call->loc : (Loc){0}, MSG_INLINE_SIZE, MAX_NODES);
    }
    return true;
}

static void copy_body(Body *b, NodeId *out_outputs) {
    const Graph *from = b->from;
    const bool *kept = graph_find_kept(from, b->ctx->scratch);
    b->map = NEW_ARRAY(b->ctx->scratch, NodeId, from->nodes.count);
    b->results = NEW_ARRAY(b->ctx->scratch, const NodeId *, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count && !too_large(b); id++) {
        if (kept[id]) b->map[id] = copy_node(b, id);
    }
    for (size_t i = 0; i < from->outputs.count; i++) {
        out_outputs[i] = b->map[from->outputs.data[i].node];
    }
    graph_copy_checks(b->to, from);
}

/* A graph of its own: the model or a block. */
static Graph *copy_graph(Body *b, Arena *arena) {
    b->to = graph_new(b->from->ctx, arena, *b->from->name);
    NodeId *outputs = NEW_ARRAY(b->ctx->scratch, NodeId, b->from->outputs.count);
    copy_body(b, outputs);
    for (size_t i = 0; i < b->from->outputs.count; i++) {
        graph_add_output(b->to, *b->from->outputs.data[i].name, outputs[i]);
    }
    return b->to;
}

static Graph *copy_block(const Body *around, const Graph *block) {
    Body b = {.ctx = around->ctx, .from = block, .scope = around->scope, .call = around->call};
    return copy_graph(&b, around->to->arena);
}

Graph *pass_inline(PassContext *ctx, Arena *arena, const Graph *graph) {
    Body b = {.ctx = ctx, .from = graph, .scope = STR("")};
    return graph_copy_live(arena, copy_graph(&b, ctx->scratch));
}
