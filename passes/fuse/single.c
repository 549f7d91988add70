/* single: one kernel a core op. The fuser of -O0, and what every other fuser is checked against. */
#include "base/messages.h"
#include "passes/fuse/region.h"
#include "passes/kernel.h"
#include "passes/rewrite.h"

static NodeId wrap(Rewrite *r, NodeId id, const char *skeleton) {
    const Node *node = graph_node(r->from, id);
    Arena *scratch = r->ctx->scratch;
    Region region = region_cut(r->from, NULL, &id, 1, &id, 1, scratch);
    size_t count = region.graph->inputs.count;
    NodeId *args = NEW_ARRAY(scratch, NodeId, count);
    for (size_t i = 0; i < count; i++) args[i] = r->map[region.args[i]];
    Str name = str_format(scratch, "%s_%u", op_info(node->op)->name, id);
    return kernel_add(r->to, region.graph, args, name, str_from(skeleton), STR(""), node->origin);
}

static bool is_output(const Graph *graph, NodeId id) {
    for (size_t i = 0; i < graph->outputs.count; i++) {
        if (graph->outputs.data[i].node == id) return true;
    }
    return false;
}

static NodeId single_node(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    if (node->op == OP_item) return NODE_none;
    if (op_info(node->op)->class == CLASS_LEAF) {
        bool made = kernel_holds_leaf(r->from, id) && is_output(r->from, id);
        return made ? wrap(r, id, "elementwise") : NODE_none;
    }
    const char *skeleton = kernel_skeleton(op_info(node->op)->class);
    if (skeleton) return wrap(r, id, skeleton);
    diag_error(r->ctx->diags, node->origin ? node->origin->loc : (Loc){0}, MSG_NO_KERNEL,
               op_info(node->op)->name);
    return NODE_none;
}

Graph *pass_single(PassContext *ctx, Arena *arena, const Graph *graph) {
    return rewrite_graph(ctx, arena, graph, single_node, NULL);
}
