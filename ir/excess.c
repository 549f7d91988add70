#include "ir/excess.h"

#include "base/scratch.h"
#include "ir/build.h"
#include "ir/eval_rules.h"
#include "ir/infer.h"

#include <string.h>

/* A value of the old graph in the new one: as the f32 that it stays, and rounded. The same node
 * where its dtype is computed in as it is. */
typedef struct Value {
    NodeId wide, narrow;
} Value;

typedef struct Excess {
    const Graph *from;
    Graph *to;
    Arena *arena;
    Value *values; /* by node; the narrow one may be NODE_none until it is wanted */
} Excess;

static bool is_small(const Type *type) {
    return !type->is_tuple && dtype_is_float(type->dtype) &&
           dtype_compute(type->dtype) != type->dtype;
}

static NodeId cast_to(const Excess *e, NodeId x, DType dtype) {
    Attr attrs[] = {{.dtype = dtype}, {.i = 1}};
    if (graph_type(e->to, x)->dtype == dtype) return x;
    return build_op(e->to, OP_cast, &x, 1, attrs);
}

static NodeId rounded(const Excess *e, NodeId id) {
    Value *v = &e->values[id];
    if (v->narrow == NODE_none) {
        v->narrow = cast_to(e, v->wide, graph_type(e->from, id)->dtype);
    }
    return v->narrow;
}

/* Whether the op reads its operands rounded, and gives what its dtype holds: it has a jump, or it
 * is a block of its own. */
static bool reads_rounded(const Node *node) {
    OpClass class = op_info(node->op)->class;
    return eval_has_jump(node) || class == CLASS_LEAF || class == CLASS_ITEM ||
           node->region_count > 0;
}

static NodeId *operands(const Excess *e, const Node *node, bool narrow) {
    NodeId *args = NEW_ARRAY(e->arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        args[i] = narrow ? rounded(e, node->args[i]) : e->values[node->args[i]].wide;
    }
    return args;
}

static NodeId copy_rounded(const Excess *e, NodeId id) {
    const Node *node = graph_node(e->from, id);
    NodeId *map = NEW_ARRAY(e->arena, NodeId, e->from->nodes.count);
    for (uint32_t i = 0; i < node->arg_count; i++) map[node->args[i]] = rounded(e, node->args[i]);
    return graph_copy_node(e->to, e->from, id, map);
}

/* The op on f32; NODE_none where it does not take them. */
static NodeId apply_wide(const Excess *e, const Node *node) {
    const OpInfo *info = op_info(node->op);
    Attr *attrs = arena_copy(e->arena, node->attrs, info->attr_count * sizeof *attrs);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        bool small = info->attrs[i].kind == ATTR_dtype && dtype_is_float(attrs[i].dtype) &&
                     dtype_compute(attrs[i].dtype) != attrs[i].dtype;
        if (small) attrs[i] = (Attr){.dtype = DT_f32};
    }
    return graph_build(e->to, NULL, node->origin, node->op, operands(e, node, false),
                       node->arg_count, attrs, NULL, 0);
}

static Value add_cast(const Excess *e, const Node *node) {
    NodeId x = e->values[node->args[0]].wide;
    bool small = is_small(node->type), pinned = node->attrs[1].i != 0;
    if (!small || !pinned)
        return (Value){cast_to(e, x, small ? DT_f32 : node->type->dtype), NODE_none};
    NodeId narrow = cast_to(e, x, node->type->dtype);
    return (Value){cast_to(e, narrow, DT_f32), narrow};
}

static Value add_node(const Excess *e, NodeId id) {
    const Node *node = graph_node(e->from, id);
    Value v = {NODE_none, NODE_none};
    if (reads_rounded(node)) {
        v.narrow = copy_rounded(e, id);
    } else if (node->op == OP_cast) {
        v = add_cast(e, node);
    } else {
        v.wide = apply_wide(e, node);
        if (v.wide == NODE_none) v.narrow = copy_rounded(e, id);
    }
    if (!is_small(node->type)) {
        v.wide = v.narrow = v.wide == NODE_none ? v.narrow : v.wide;
    } else if (v.wide == NODE_none) {
        v.wide = cast_to(e, v.narrow, DT_f32);
    }
    return v;
}

Graph *excess_region(const Graph *region, Arena *arena) {
    size_t count = region->nodes.count;
    bool *stored = NEW_ARRAY(arena, bool, count);
    Excess e = {.from = region,
                .to = graph_new(region->ctx, arena, *region->name),
                .arena = arena,
                .values = NEW_ARRAY(arena, Value, count)};
    for (size_t i = 0; i < region->outputs.count; i++) stored[region->outputs.data[i].node] = true;
    for (NodeId id = 0; id < count; id++) {
        e.values[id] = add_node(&e, id);
        if (!stored[id] || !is_small(graph_type(region, id))) continue;
        e.values[id].wide = cast_to(&e, rounded(&e, id), DT_f32);
    }
    for (size_t i = 0; i < region->outputs.count; i++) {
        const Output *output = &region->outputs.data[i];
        graph_add_output(e.to, *output->name, rounded(&e, output->node));
    }
    graph_copy_checks(e.to, region);
    return e.to;
}

Graph *excess_kernels(const Graph *graph, Arena *arena) {
    Graph *to = graph_new(graph->ctx, arena, *graph->name);
    NodeId *map = NEW_ARRAY(arena, NodeId, graph->nodes.count);
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        if (node->op != OP_kernel) {
            map[id] = graph_copy_node(to, graph, id, map);
            continue;
        }
        const Graph *region = excess_region(node->regions[0], arena);
        NodeId *args = NEW_ARRAY(arena, NodeId, node->arg_count);
        for (uint32_t i = 0; i < node->arg_count; i++) args[i] = map[node->args[i]];
        map[id] = graph_add(to, node->op, node->type, args, node->arg_count, node->attrs, &region,
                            1, node->origin);
    }
    for (size_t i = 0; i < graph->outputs.count; i++) {
        graph_add_output(to, *graph->outputs.data[i].name, map[graph->outputs.data[i].node]);
    }
    graph_copy_checks(to, graph);
    return to;
}
