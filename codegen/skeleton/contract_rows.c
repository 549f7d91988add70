/* Rows of results: reductions over the whole rows of a contraction, a layer norm behind a product
 * say, with all around them.
 *
 * A grid point computes a band of its rows, all panels of it, into scratch, which stays in the
 * second cache, and then what the row kernels make of each row (row.h). What is kept in the band is
 * the last value on the way from the sums to the reductions through which all that follows goes:
 * sums with their bias and residual are added up once. Sums and reductions are those of kernels of
 * their own, so neither their order nor, in f32 and f64, any bit changes. */
#include "codegen/skeleton/contract.h"
#include "codegen/skeleton/row.h"

bool contract_has_rows(const Graph *region) {
    for (NodeId id = 0; id < region->nodes.count; id++)
        if (row_is_reduction(graph_node(region, id)->op)) return true;
    return false;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* The one node that uses `id`; NODE_none where several do, or it is a result. */
static NodeId only_user(const Graph *g, NodeId id) {
    NodeId user = NODE_none;
    for (size_t i = 0; i < g->outputs.count; i++)
        if (g->outputs.data[i].node == id) return NODE_none;
    for (NodeId n = 0; n < g->nodes.count; n++) {
        const Node *node = graph_node(g, n);
        for (uint32_t i = 0; i < node->arg_count; i++) {
            if (node->args[i] != id) continue;
            if (user != NODE_none && user != n) return NODE_none;
            user = n;
        }
    }
    return user;
}

/* By node: whether a reduction is on the way to it. */
static bool *find_late(const Contraction *s) {
    const Graph *g = s->request->region;
    bool *late = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        late[id] = row_is_reduction(node->op);
        for (uint32_t i = 0; i < node->arg_count; i++) late[id] |= late[node->args[i]];
    }
    return late;
}

/* In bytes of its own. */
static bool is_stored_whole(const Graph *g, NodeId id) {
    DType dtype = graph_type(g, id)->dtype;
    return dtype != DT_bool && dtype_info(dtype)->bits >= 8;
}

static NodeId find_kept(const Contraction *s) {
    const Graph *g = s->request->region;
    const bool *late = find_late(s);
    for (NodeId kept = s->id;;) {
        NodeId user = only_user(g, kept);
        bool goes_on = user != NODE_none && !late[user] &&
                       op_is_elementwise(graph_node(g, user)->op) && is_stored_whole(g, user);
        if (!goes_on) return kept;
        kept = user;
    }
}

/* ---- the band -------------------------------------------------------------------------------- */

/* The reductions must be over the columns, all of them, of rows as the contraction has them. */
static bool are_rows(const Contraction *s) {
    const Graph *g = s->request->region;
    bool columns[TYPE_MAX_RANK] = {0}, reduced[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == GROUP_n) columns[s->labels[i].out_axis] = true;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (!row_is_reduction(node->op)) continue;
        const Type *type = graph_type(g, node->args[0]);
        bool same = type->rank == s->domain.rank;
        row_mark_axes(node, reduced);
        for (uint32_t i = 0; same && i < type->rank; i++)
            same = type->dims[i] == s->domain.dims[i] && reduced[i] == columns[i];
        if (!same) return false;
    }
    return true;
}

bool contract_begin_rows(Contraction *s) {
    int64_t columns;
    bool gpu = s->request->target->kind == TARGET_gpu && s->request->state == TILE_placed;
    if (gpu)
        emit_fail(&s->e, "a row of a contraction's results is not made by one block");
    else if (!are_rows(s))
        emit_fail(&s->e, "reductions behind a contraction that are not over its rows");
    else if (!dim_is_const(s->extent[GROUP_n], &columns))
        emit_fail(&s->e, "a row of a contraction's results has no length that is known");
    if (s->e.error != NULL) return false;
    s->kept = find_kept(s);
    return true;
}

void contract_add_band(Contraction *s) {
    TileView view = {.name = STR("band"),
                     .space = SPACE_scratch,
                     .dtype = dtype_compute(graph_type(s->request->region, s->kept)->dtype),
                     .rank = 2,
                     .dims = {dim_const(s->e.ctx, s->rows * s->mr), s->extent[GROUP_n]},
                     .alignment = 64,
                     .written = true};
    s->band_view = tile_add_view(s->e.program, &view);
}

void contract_store_band(const Corner *corner) {
    Contraction *s = corner->s;
    ValueEmitter *e = &s->e;
    const Dim *subscripts[] = {dim_add(e->ctx, corner->block_row, emit_axis(e, 0)),
                               dim_add(e->ctx, corner->column, emit_axis(e, 1))};
    TileId value = emit_value(e, s->kept, s->domain.index);
    if (value == TILE_none) return;
    tile_store(&e->b, value, s->band_view, subscripts, NULL, e->guards.data,
               (uint32_t)e->guards.count, OP_none);
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* The axes that a row has one index of; NULL for those of its elements. */
static void row_index(Contraction *s, const Dim **out_index) {
    contract_set_result_index(s);
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].out_axis >= 0)
            out_index[s->labels[i].out_axis] =
                s->labels[i].group == GROUP_n ? NULL : s->labels[i].index;
}

static void build_row(Contraction *s, Provision *p) {
    const Dim *index[TYPE_MAX_RANK];
    size_t provided = s->e.provisions.count;
    row_index(s, index);
    emit_provide(&s->e, p);
    row_build_inside(s->request, &s->e, index);
    s->e.provisions.count = provided;
}

void contract_build_row(Contraction *s, const Dim *row, const Dim *place) {
    size_t mark = emit_guard_mark(&s->e);
    contract_set_group(s, GROUP_m, row);
    Provision p = {.node = s->kept, .value = TILE_none, .view = s->band_view, .row = place};
    row_index(s, p.index);
    build_row(s, &p);
    emit_pop_guards(&s->e, mark);
}

void contract_build_free_rows(Contraction *s) {
    ValueEmitter *e = &s->e;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == GROUP_m || s->labels[i].group == GROUP_batch)
            s->labels[i].index = domain_add_work(e, "r", s->labels[i].dim);
    emit_set_shape(e, (TileShape){.rank = 2, .extents = {s->extent[GROUP_n], s->extent[GROUP_k]}});
    size_t mark = emit_guard_mark(e);
    contract_set_group(s, GROUP_n, emit_axis(e, 0));
    contract_set_group(s, GROUP_k, emit_axis(e, 1));
    TileId a = contract_operand(s, true), b = contract_operand(s, false);
    emit_pop_guards(e, mark);
    if (a == TILE_none || b == TILE_none) return;
    TileId product = tile_map(&e->b, OP_mul, (TileId[]){a, b}, 2);
    emit_set_shape(e, (TileShape){.rank = 1, .extents = {s->extent[GROUP_n]}});
    TileId sum = tile_reduce(&e->b, OP_add, product, 1),
           zero = emit_identity(e, contract_sum_dtype(s), OP_add);
    sum = tile_map(&e->b, OP_add, (TileId[]){zero, sum}, 2); /* 0 + -0 is 0 */
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, sum)};
    contract_set_result_index(s);
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    build_row(s, &p);
}
