/* single: one kernel a core op. The fuser of -O0, and what every other fuser is checked against. */
#include "base/messages.h"
#include "passes/kernel.h"
#include "passes/rewrite.h"

/* The region of one op, being built. */
typedef struct Region {
    Graph *graph;
    NodeId *args;    /* in the region, by operand */
    NodeId *outside; /* the kernel's operands */
    uint32_t outside_count;
} Region;

/* Operand k as the region sees it: a leaf of its own, or an input, one for equal operands. */
static NodeId region_operand(Rewrite *r, const Node *node, uint32_t k, Region *region) {
    NodeId old = node->args[k];
    if (kernel_holds_leaf(r->from, old)) return graph_copy_node(region->graph, r->from, old, NULL);
    NodeId outside = r->map[old];
    for (uint32_t i = 0; i < region->outside_count; i++) {
        if (region->outside[i] == outside) return region->graph->inputs.data[i];
    }
    region->outside[region->outside_count++] = outside;
    return graph_add_input(region->graph, STR(""), graph_type(r->from, old), NULL);
}

static void add_outputs(Graph *region, NodeId op) {
    const Type *type = graph_type(region, op);
    if (!type->is_tuple) {
        graph_add_output(region, STR(""), op);
        return;
    }
    for (uint32_t i = 0; i < type->item_count; i++) {
        Attr attrs[] = {{.i = i}};
        NodeId item = graph_add(region, OP_item, type->items[i], &op, 1, attrs, NULL, 0, NULL);
        graph_add_output(region, STR(""), item);
    }
}

static NodeId wrap(Rewrite *r, NodeId id, const char *skeleton) {
    const Node *node = graph_node(r->from, id);
    Arena *scratch = r->ctx->scratch;
    const char *op = op_info(node->op)->name;
    Region region = {.graph = graph_new(r->to->ctx, scratch, STR(""))};
    region.args = NEW_ARRAY(scratch, NodeId, node->arg_count);
    region.outside = NEW_ARRAY(scratch, NodeId, node->arg_count);
    for (uint32_t k = 0; k < node->arg_count; k++) {
        region.args[k] = region_operand(r, node, k, &region);
    }
    NodeId inner = graph_add(region.graph, node->op, node->type, region.args, node->arg_count,
                             node->attrs, NULL, 0, node->origin);
    add_outputs(region.graph, inner);
    return kernel_add(r->to, region.graph, region.outside, str_format(scratch, "%s_%u", op, id),
                      str_from(skeleton), node->origin);
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
