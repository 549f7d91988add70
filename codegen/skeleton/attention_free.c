/* Attention as a free program: one result a grid point, rows as they are. */
#include "codegen/skeleton/attention.h"

static TileId operand_at(Attention *s, const Product *p, uint32_t which) {
    const Dim *index[TYPE_MAX_RANK];
    attention_operand_index(p, which, index);
    TileId value = emit_value(&s->e, p->operands[which], index);
    return attention_as(s, value, attention_sum_dtype(s, p));
}

/* 0 + Σ along the tile's last axis: 0 + -0 is 0. */
static TileId sum_products(Attention *s, const Product *p, TileId product, const TileShape *shape) {
    DType dtype = attention_sum_dtype(s, p);
    uint32_t rank = tile_value_type(s->e.program, product)->rank;
    TileId sum = tile_reduce(&s->e.b, OP_add, product, rank - 1);
    emit_set_shape(&s->e, *shape);
    TileId zero = emit_identity(&s->e, dtype, OP_add);
    return tile_map(&s->e.b, OP_add, (TileId[]){zero, sum}, 2);
}

/* The scores of a whole row of keys. */
static TileId scores_of_row(Attention *s, const TileShape *row) {
    ValueEmitter *e = &s->e;
    Product *p = &s->scores;
    const Dim *depth = domain_extent(e->ctx, p->extents, 0, p->summed_count);
    emit_set_shape(e, (TileShape){.rank = 2, .extents = {row->extents[0], depth}});
    size_t mark = emit_guard_mark(e);
    s->domain.index[s->key_axis] = emit_axis(e, 0);
    for (uint32_t i = 0; i < s->domain.rank; i++) p->result[i] = s->domain.index[i];
    emit_delinear(e, p->summed_count, p->extents, emit_axis(e, 1), p->position);
    TileId a = operand_at(s, p, 0), b = operand_at(s, p, 1);
    emit_pop_guards(e, mark);
    if (a == TILE_none || b == TILE_none) return TILE_none;
    return sum_products(s, p, tile_map(&e->b, OP_mul, (TileId[]){a, b}, 2), row);
}

static void provide(Attention *s, NodeId id, TileId value) {
    Provision p = {.node = id, .value = emit_pin(&s->e, id, value)};
    bool whole = id == s->scores.id;
    for (uint32_t i = 0, k = 0; i < s->domain.rank; i++)
        if (whole || i != s->key_axis) p.index[k++] = s->domain.index[i];
    emit_provide(&s->e, &p);
}

static void reduce_row(Attention *s, NodeId id) {
    ValueEmitter *e = &s->e;
    if (id == NODE_none || e->error != NULL) return;
    const Node *node = graph_node(s->request->region, id);
    TileId value = emit_value(e, node->args[0], s->domain.index);
    value = attention_as(s, value, emit_sum_dtype(e, id));
    if (value == TILE_none) return;
    provide(s, id, tile_reduce(&e->b, op_info(node->op)->scalar, value, 0));
}

/* The result's labels: those of the weights as in the scores, a grid axis for the others. */
static void set_values(Attention *s, Domain *result) {
    Product *p = &s->values;
    const IntList *weights = p->labels[p->outer];
    result->rank = p->out->count;
    for (uint32_t i = 0; i < p->out->count; i++) {
        result->dims[i] = p->node->type->dims[i];
        result->index[i] = NULL;
        for (uint32_t k = 0; k < weights->count; k++)
            if (weights->items[k] == p->out->items[i]) result->index[i] = s->domain.index[k];
        if (result->index[i] == NULL)
            result->index[i] = domain_add_work(&s->e, "n", result->dims[i]);
        p->result[i] = result->index[i];
    }
    p->position[0] = s->domain.index[s->key_axis];
}

void attention_build_free(Attention *s) {
    ValueEmitter *e = &s->e;
    Domain result = {0};
    const TileShape row = {.rank = 1, .extents = {s->domain.dims[s->key_axis]}};
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (i != s->key_axis) s->domain.index[i] = domain_add_work(e, "q", s->domain.dims[i]);
    TileId scores = scores_of_row(s, &row);
    if (e->error != NULL) return;
    provide(s, s->scores.id, scores);
    reduce_row(s, s->maximum);
    reduce_row(s, s->sum);
    set_values(s, &result);
    TileId a = operand_at(s, &s->values, 0), b = operand_at(s, &s->values, 1);
    if (e->error != NULL) return;
    const TileShape scalar = {0};
    TileId sum = sum_products(s, &s->values, tile_map(&e->b, OP_mul, (TileId[]){a, b}, 2), &scalar);
    Provision p = {.node = s->values.id, .value = emit_pin(e, s->values.id, sum)};
    for (uint32_t i = 0; i < result.rank; i++) p.index[i] = result.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &result, i, false);
}
