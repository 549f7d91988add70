/* Sort kernels: one row along the axis a grid point. The row's values and positions are copied to
 * scratch, sorted there with a spare copy to merge into, and what the region's outputs take of them
 * is written. On a GPU all threads of a point copy, a warp's or, for long rows, a block's, and sort
 * in place. */
#include "codegen/skeleton/domain.h"

typedef struct Sort {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    Domain domain; /* the operand's dims */
    uint32_t axis;
    int64_t lanes; /* that copy a row; 1: elements go one by one */
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

/* A loop over a row's elements, one or `lanes` at a time; the last of those may be past its end,
 * which the guard that it pushes tells. */
typedef struct RowLoop {
    EmitLoop loop;
    const Dim *position;
    size_t mark;
} RowLoop;

static RowLoop begin_row(Sort *s, const Dim *length) {
    ValueEmitter *e = &s->e;
    const Dim *steps = dim_ceildiv(e->ctx, length, dim_const(e->ctx, s->lanes));
    RowLoop row = {.mark = emit_guard_mark(e)};
    row.loop = emit_begin_for(e, "c", dim_const(e->ctx, 0), steps, NULL, 0);
    row.position = row.loop.variable;
    if (s->lanes == 1) return row;
    const Dim *first = dim_scale(e->ctx, row.loop.variable, s->lanes);
    row.position = dim_add(e->ctx, first, emit_axis(e, 0));
    emit_push_guard(e, row.position, dim_const(e->ctx, 0), length);
    return row;
}

static void end_row(Sort *s, const RowLoop *row) {
    emit_pop_guards(&s->e, row->mark);
    emit_end_for(&s->e, row->loop, NULL);
}

static void fill_row(Sort *s) {
    ValueEmitter *e = &s->e;
    RowLoop row = begin_row(s, s->domain.dims[s->axis]);
    s->domain.index[s->axis] = row.position;
    TileId value = emit_value(e, s->node->args[0], s->domain.index);
    if (value == TILE_none) return;
    DType dtype = e->program->views.data[s->keys].dtype;
    if (tile_value_type(e->program, value)->dtype != dtype) value = tile_cast(&e->b, value, dtype);
    const TileGuard *guards = e->guards.data + row.mark;
    uint32_t count = (uint32_t)(e->guards.count - row.mark);
    tile_store(&e->b, value, s->keys, &row.position, NULL, guards, count, OP_none);
    TileId position = tile_index(&e->b, emit_type(e, DT_i64), row.position);
    tile_store(&e->b, position, s->indices, &row.position, NULL, guards, count, OP_none);
    end_row(s, &row);
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
    RowLoop row = begin_row(s, out.dims[s->axis]);
    out.index[s->axis] = row.position;
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &out, i, false);
    end_row(s, &row);
}

/* All threads of a point, where keys are whole bytes. */
static int64_t row_lanes(const Sort *s, DType key) {
    enum { LONG_ROW = 256, BLOCK_LANES = 256 };
    bool threads = s->request->target->kind == TARGET_gpu && s->request->state == TILE_placed &&
                   dtype_info(key)->bits >= 8;
    if (!threads) return 1;
    bool is_long = dim_tune_value(s->domain.dims[s->axis]) >= LONG_ROW;
    return is_long ? BLOCK_LANES : (int64_t)s->request->target->lanes;
}

static TileShape row_shape(const Sort *s) {
    if (s->lanes == 1) return (TileShape){.lanes = s->request->state == TILE_free ? 0 : 1};
    return (TileShape){
        .rank = 1, .extents = {dim_const(s->e.ctx, s->lanes)}, .lanes = (uint32_t)s->lanes};
}

static void build(Sort *s) {
    ValueEmitter *e = &s->e;
    DType dtype = dtype_compute(s->node->type->items[0]->dtype);
    s->lanes = row_lanes(s, dtype);
    emit_set_shape(e, row_shape(s));
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (i != s->axis) s->domain.index[i] = domain_add_work(e, "i", s->domain.dims[i]);
    s->keys = s->spare_keys = add_scratch(s, "keys", dtype);
    s->indices = s->spare_indices = add_scratch(s, "indices", DT_i64);
    if (s->lanes == 1) {
        s->spare_keys = add_scratch(s, "spare_keys", dtype);
        s->spare_indices = add_scratch(s, "spare_indices", DT_i64);
    }
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
