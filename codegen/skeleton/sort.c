/* Sort kernels: one row along the axis a grid point. The row's values and positions are copied to
 * scratch, sorted there with a spare copy to merge into, and what the region's outputs take of them
 * is written. */
#include "codegen/skeleton/domain.h"

typedef struct Sort {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    Domain domain; /* the operand's dims */
    uint32_t axis;
    uint32_t keys, indices, spare_keys, spare_indices;
} Sort;

static uint32_t add_scratch(Sort *s, const char *name, DType dtype) {
    TileView view = {.name = str_from(name),
                     .space = SPACE_scratch,
                     .dtype = dtype,
                     .rank = 1,
                     .dims = {s->domain.dims[s->axis]},
                     .alignment = 64,
                     .written = true};
    return tile_add_view(s->e.program, &view);
}

static NodeId find_sort(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_SORT) return id;
    return NODE_none;
}

static void fill_row(Sort *s) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0), s->domain.dims[s->axis], NULL, 0);
    s->domain.index[s->axis] = loop.variable;
    TileId value = emit_value(e, s->node->args[0], s->domain.index);
    if (value == TILE_none) return;
    DType dtype = e->program->views.data[s->keys].dtype;
    if (tile_value_type(e->program, value)->dtype != dtype) value = tile_cast(&e->b, value, dtype);
    tile_store(&e->b, value, s->keys, &loop.variable, NULL, NULL, 0, OP_none);
    TileId position = tile_index(&e->b, emit_type(e, DT_i64), loop.variable);
    tile_store(&e->b, position, s->indices, &loop.variable, NULL, NULL, 0, OP_none);
    emit_end_for(e, loop, NULL);
}

/* The items of the sort's tuple are its sorted row in scratch. */
static void provide_items(Sort *s) {
    const Graph *g = s->request->region;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (node->op != OP_item || node->args[0] != s->id) continue;
        Provision p = {.node = id,
                       .value = TILE_none,
                       .view = node_attr(node, "index").i == 0 ? s->keys : s->indices};
        for (uint32_t i = 0; i < s->domain.rank; i++)
            p.index[i] = i == s->axis ? NULL : s->domain.index[i];
        emit_provide(&s->e, &p);
    }
}

static void store_outputs(Sort *s) {
    ValueEmitter *e = &s->e;
    Domain out = s->domain;
    const Type *result = s->node->type->items[0];
    out.dims[s->axis] = result->dims[s->axis];
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0), out.dims[s->axis], NULL, 0);
    out.index[s->axis] = loop.variable;
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &out, i, false);
    emit_end_for(e, loop, NULL);
}

static void build(Sort *s) {
    ValueEmitter *e = &s->e;
    emit_set_shape(e, (TileShape){.lanes = s->request->state == TILE_free ? 0 : 1});
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (i != s->axis) s->domain.index[i] = domain_add_work(e, "i", s->domain.dims[i]);
    DType dtype = dtype_compute(s->node->type->items[0]->dtype);
    s->keys = add_scratch(s, "keys", dtype);
    s->indices = add_scratch(s, "indices", DT_i64);
    s->spare_keys = add_scratch(s, "spare_keys", dtype);
    s->spare_indices = add_scratch(s, "spare_indices", DT_i64);
    fill_row(s);
    if (e->error != NULL) return;
    bool topk = s->node->op == OP_topk;
    bool descending = node_attr(s->node, topk ? "largest" : "descending").i != 0;
    tile_sort(&e->b, s->keys, s->indices, s->spare_keys, s->spare_indices, s->domain.dims[s->axis],
              descending);
    provide_items(s);
    store_outputs(s);
}

TileProgram *skeleton_build_sort(const SkeletonRequest *request, const char **out_why) {
    Sort s = {.request = request, .id = find_sort(request->region)};
    *out_why = "there is no sort";
    if (s.id == NODE_none) return NULL;
    emit_init(&s.e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s.node = graph_node(request->region, s.id);
    s.axis = (uint32_t)node_attr(s.node, "axis").i;
    const Type *type = graph_type(request->region, s.node->args[0]);
    s.domain.rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++) s.domain.dims[i] = type->dims[i];
    build(&s);
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
