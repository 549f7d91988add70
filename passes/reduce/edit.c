#include "passes/reduce/edit.h"

#include "ir/eval.h"
#include "ir/infer.h"

#include <string.h>

typedef struct Editor {
    const GraphCase *c;
    const Edit *edit;
    Arena *arena;
    Graph *to;
    NodeId *map;
    VEC(Tensor) inputs;
} Editor;

/* ---- dims ------------------------------------------------------------------------------------ */

static const Dim *edit_dim(const Editor *e, const Dim *dim) {
    IrContext *ctx = e->c->ctx;
    int64_t value;
    if (e->edit->kind == EDIT_fix) {
        const Dim *fixed = dim_const(ctx, e->c->symbols[e->edit->symbol->id]);
        return dim_substitute(ctx, dim, &e->edit->symbol, &fixed, 1);
    }
    bool resized = e->edit->kind == EDIT_resize && dim_is_const(dim, &value);
    return resized && value == e->edit->from ? dim_const(ctx, e->edit->to) : dim;
}

static const Type *edit_type(const Editor *e, const Type *type) {
    const Dim *dims[TYPE_MAX_RANK];
    if (type->is_tuple) return type;
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = edit_dim(e, type->dims[i]);
    return type_tensor(e->c->ctx, type->dtype, type->rank, dims);
}

static Attr edit_attr(const Editor *e, AttrKind kind, Attr attr) {
    if (kind == ATTR_dim) return (Attr){.dim = edit_dim(e, attr.dim)};
    if (kind != ATTR_dims) return attr;
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < attr.dims->count; i++) dims[i] = edit_dim(e, attr.dims->items[i]);
    return (Attr){.dims = ir_dims(e->c->ctx, dims, attr.dims->count)};
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t size_of(const Editor *e, const Dim *dim) {
    int64_t size = 0;
    return dim_evaluate(dim, e->c->symbols, &size) && size >= 0 ? size : 0;
}

/* The leading block of `t` that has the sizes of `type`. */
static Tensor crop(const Editor *e, const Tensor *t, const Type *type) {
    Tensor part = {.dtype = t->dtype, .rank = t->rank};
    for (uint32_t i = 0; i < t->rank; i++) part.dims[i] = size_of(e, type->dims[i]);
    part.data = arena_alloc(e->arena, tensor_bytes(&part) + 64);
    for (int64_t i = 0; i < tensor_elements(&part); i++) {
        int64_t from = 0, rest = i, stride = 1, scale = 1;
        for (uint32_t a = t->rank; a-- > 0;) {
            int64_t at = rest / scale % part.dims[a];
            from += (at < t->dims[a] ? at : t->dims[a] - 1) * stride;
            stride *= t->dims[a];
            scale *= part.dims[a];
        }
        if (dtype_is_float(t->dtype))
            tensor_set(&part, i, tensor_get(t, from));
        else
            tensor_set_int(&part, i, tensor_get_int(t, from));
    }
    return part;
}

/* The bytes of a constant or parameter whose dims were resized; NULL where there are none. */
static const Blob *crop_blob(const Editor *e, const Blob *blob, const Type *from, const Type *to) {
    if (from == to) return blob;
    Tensor old = {.dtype = from->dtype, .rank = from->rank, .data = (void *)(uintptr_t)blob->bytes};
    for (uint32_t i = 0; i < from->rank; i++) old.dims[i] = size_of(e, from->dims[i]);
    if (tensor_elements(&old) == 0) return NULL;
    Tensor part = crop(e, &old, to);
    return ir_blob(e->c->ctx, part.data, tensor_bytes(&part));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const Graph *edit_region(const Editor *e, const Graph *region);

static NodeId edit_node(const Editor *e, Graph *to, const Graph *from, NodeId id,
                        const NodeId *map) {
    const Node *node = graph_node(from, id);
    const OpInfo *info = op_info(node->op);
    Attr attrs[OP_MAX_ATTRS];
    const Graph **regions = NEW_ARRAY(e->arena, const Graph *, node->region_count + 1);
    NodeId *args = NEW_ARRAY(e->arena, NodeId, node->arg_count + 1);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = map[node->args[i]];
    for (uint32_t i = 0; i < info->attr_count; i++)
        attrs[i] = edit_attr(e, info->attrs[i].kind, node->attrs[i]);
    for (uint32_t i = 0; i < node->region_count; i++) {
        regions[i] = edit_region(e, node->regions[i]);
        if (!regions[i]) return NODE_none;
    }
    const Type *type = edit_type(e, node->type);
    if (node->op == OP_input) return graph_add_input(to, *attrs[1].str, type, NULL);
    uint32_t value = node->op == OP_param;
    bool known = node->op == OP_const || node->op == OP_param;
    const Blob *blob = known ? attrs[value].blob : NULL;
    if (blob != NULL && (attrs[value].blob = crop_blob(e, blob, node->type, type)) == NULL)
        return NODE_none;
    if (known || node->op == OP_iota)
        return graph_add(to, node->op, type, NULL, 0, attrs, NULL, 0, NULL);
    return graph_build(to, NULL, NULL, node->op, args, node->arg_count, attrs, regions,
                       node->region_count);
}

static const Graph *edit_region(const Editor *e, const Graph *region) {
    Graph *to = graph_new(e->c->ctx, e->arena, *region->name);
    NodeId *map = NEW_ARRAY(e->arena, NodeId, region->nodes.count);
    for (NodeId id = 0; id < region->nodes.count; id++) {
        map[id] = edit_node(e, to, region, id, map);
        if (map[id] == NODE_none) return NULL;
    }
    for (size_t i = 0; i < region->outputs.count; i++)
        graph_add_output(to, *region->outputs.data[i].name, map[region->outputs.data[i].node]);
    return to;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static NodeId add_input(Editor *e, const Type *type, Tensor value) {
    Str name = str_format(e->arena, "x%zu", e->to->inputs.count);
    vec_push(e->arena, &e->inputs, value);
    return graph_add_input(e->to, name, type, NULL);
}

static NodeId edit_input(Editor *e, NodeId id) {
    const Node *node = graph_node(e->c->graph, id);
    const Tensor *old = &e->c->inputs[node_attr(node, "index").i];
    const Type *type = edit_type(e, node->type);
    Tensor value = crop(e, old, type);
    if (tensor_elements(old) == 0 && tensor_elements(&value) > 0) return NODE_none;
    if (e->edit->kind == EDIT_clear && e->edit->node == id)
        for (int64_t i = 0; i < e->edit->count; i++)
            tensor_set_int(&value, e->edit->begin + i, e->edit->to);
    return add_input(e, type, value);
}

/* The value that the evaluator has for a node. */
static bool value_of(const Editor *e, NodeId id, Tensor *out) {
    Graph *graph = graph_copy(e->arena, e->c->graph);
    EvalValue *inputs = NEW_ARRAY(e->arena, EvalValue, graph->inputs.count + 1), result;
    EvalOptions options = {.symbols = e->c->symbols};
    EvalError error;
    const char *why;
    for (size_t i = 0; i < graph->inputs.count; i++) inputs[i].tensor = e->c->inputs[i];
    graph->outputs.count = 0;
    graph_add_output(graph, STR("value"), id);
    if (!eval_graph(graph, inputs, &options, e->arena, &result, &error, &why)) return false;
    *out = result.tensor;
    return !error.failed;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool keeps_output(const Edit *edit, size_t index) {
    return edit->kind != EDIT_root && !(edit->kind == EDIT_drop && edit->output == index);
}

/* What is needed: what leads to the outputs that remain, and inputs that give dims their values. */
static bool *find_needed(const Editor *e) {
    const Graph *g = e->c->graph;
    bool *needed = NEW_ARRAY(e->arena, bool, g->nodes.count);
    const Edit *edit = e->edit;
    for (size_t i = 0; i < g->outputs.count; i++)
        if (keeps_output(edit, i)) needed[g->outputs.data[i].node] = true;
    if (edit->kind == EDIT_root) needed[edit->node] = true;
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        bool gone = edit->kind == EDIT_cut && edit->node == id;
        for (uint32_t i = 0; needed[id] && !gone && i < node->arg_count; i++)
            if (edit->kind != EDIT_skip || edit->node != id || edit->operand == i)
                needed[node->args[i]] = true;
    }
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++)
            if (dim_as_symbol(edit_dim(e, type->dims[a]))) needed[g->inputs.data[i]] = true;
    }
    return needed;
}

static NodeId apply(Editor *e, NodeId id) {
    const Node *node = graph_node(e->c->graph, id);
    const Edit *edit = e->edit;
    Tensor value;
    if (node->op == OP_input) return edit_input(e, id);
    if (edit->kind == EDIT_cut && edit->node == id)
        return value_of(e, id, &value) ? add_input(e, node->type, value) : NODE_none;
    if (edit->kind == EDIT_skip && edit->node == id) return e->map[node->args[edit->operand]];
    return edit_node(e, e->to, e->c->graph, id, e->map);
}

static void add_outputs(Editor *e) {
    const Graph *g = e->c->graph;
    if (e->edit->kind == EDIT_root) {
        graph_add_output(e->to, STR("y"), e->map[e->edit->node]);
        return;
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        if (keeps_output(e->edit, i))
            graph_add_output(e->to, *g->outputs.data[i].name, e->map[g->outputs.data[i].node]);
}

bool edit_case(Arena *arena, const GraphCase *c, const Edit *edit, GraphCase *out) {
    Editor e = {.c = c, .edit = edit, .arena = arena};
    e.to = graph_new(c->ctx, arena, *c->graph->name);
    e.map = NEW_ARRAY(arena, NodeId, c->graph->nodes.count);
    const bool *needed = find_needed(&e);
    for (NodeId id = 0; id < c->graph->nodes.count; id++) {
        if (needed[id]) e.map[id] = apply(&e, id);
        if (e.map[id] == NODE_none) return false;
    }
    add_outputs(&e);
    *out = *c;
    out->graph = e.to;
    out->inputs = e.inputs.data;
    return true;
}
