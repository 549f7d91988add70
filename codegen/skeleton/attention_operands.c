/* Operands of attention: a block's queries are turned round in scratch, so that vectors run along
 * them; keys and values are read where they lie, or copied where an element takes more than a
 * load. */
#include "codegen/skeleton/attention.h"

static TileId operand_at(Attention *s, const Product *p, uint32_t which) {
    const Dim *index[TYPE_MAX_RANK];
    attention_operand_index(p, which, index);
    TileId value = emit_value(&s->e, p->operands[which], index);
    return attention_as(s, value, attention_sum_dtype(s, p));
}

static const Dim *depth_of(const Attention *s) {
    return domain_extent(s->e.ctx, s->scores.extents, 0, s->scores.summed_count);
}

/* Sets the scores' index and their position along the summed axes. */
static void set_scores(Attention *s, const Dim *query, const Dim *key, const Dim *depth) {
    Product *p = &s->scores;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        p->result[i] = attention_within(s, s->domain.dims[i],
                                        i == s->key_axis     ? key
                                        : i == s->query_axis ? query
                                                             : s->domain.index[i]);
    emit_delinear(&s->e, p->summed_count, p->extents, depth, p->position);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Rows depth.. of the copy, for a vector of queries. */
static void copy_query_tile(Attention *s, const Dim *column, const Dim *depth, int64_t rows) {
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    attention_set_shape(s, 2, rows, s->request->target->lanes, s->request->target->lanes);
    const Dim *place = dim_add(e->ctx, column, emit_axis(e, 1));
    const Dim *query = dim_add(e->ctx, s->first_query, place);
    depth = dim_add(e->ctx, depth, emit_axis(e, 0));
    emit_push_guard(e, query, dim_const(e->ctx, 0), s->domain.dims[s->query_axis]);
    set_scores(s, query, dim_const(e->ctx, 0), depth);
    TileId value = operand_at(s, &s->scores, s->scores.outer);
    emit_pop_guards(e, mark);
    attention_store(s, value, s->views.queries, depth, place);
}

void attention_copy_queries(Attention *s) {
    enum { ROWS = 16 };
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    const Dim *depth = depth_of(s), *zero = dim_const(e->ctx, 0);
    const Dim *tiles = dim_floordiv(e->ctx, depth, dim_const(e->ctx, ROWS));
    const Dim *vectors = dim_const(e->ctx, s->queries / lanes),
              *done = dim_scale(e->ctx, tiles, ROWS);
    EmitLoop columns = emit_begin_for(e, "c", zero, vectors, NULL, 0);
    const Dim *column = dim_scale(e->ctx, columns.variable, lanes);
    if (!dim_equals_int(tiles, 0)) {
        EmitLoop loop = emit_begin_for(e, "d", zero, tiles, NULL, 0);
        copy_query_tile(s, column, dim_scale(e->ctx, loop.variable, ROWS), ROWS);
        emit_end_for(e, loop, NULL);
    }
    if (done != depth) {
        EmitLoop loop = emit_begin_for(e, "d", done, depth, NULL, 0);
        copy_query_tile(s, column, loop.variable, 1);
        emit_end_for(e, loop, NULL);
    }
    emit_end_for(e, columns, NULL);
}

/* ---- keys and values ------------------------------------------------------------------------- */

/* Key from + row at the columns of one vector. */
typedef TileId LoadVector(Attention *s, const Dim *key, const Dim *column);

static TileId key_vector(Attention *s, const Dim *key, const Dim *column) {
    set_scores(s, dim_const(s->e.ctx, 0), key, column);
    return operand_at(s, &s->scores, 1 - s->scores.outer);
}

/* Sets the values' index: labels of the weights as in the scores, the others from one position. */
static void set_values(Attention *s, const Dim *key, const Dim *column) {
    Product *p = &s->values;
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    const IntList *weights = p->labels[p->outer];
    uint32_t count = 0, next = 0;
    bool own[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < p->out->count; i++) {
        own[i] = true;
        for (uint32_t k = 0; k < weights->count; k++)
            if (weights->items[k] == p->out->items[i]) {
                own[i] = false;
                p->result[i] = s->domain.index[k];
            }
        if (own[i]) dims[count++] = p->node->type->dims[i];
    }
    emit_delinear(&s->e, count, dims, column, index);
    for (uint32_t i = 0; i < p->out->count; i++)
        if (own[i]) p->result[i] = attention_within(s, p->node->type->dims[i], index[next++]);
    p->position[0] = attention_within(s, s->domain.dims[s->key_axis], key);
}

static TileId value_vector(Attention *s, const Dim *key, const Dim *column) {
    set_values(s, key, column);
    return operand_at(s, &s->values, 1 - s->values.outer);
}

static void copy_rows(Attention *s, uint32_t view, const Dim *from, const Dim *count,
                      const Dim *columns, LoadVector *load) {
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    const Dim *zero = dim_const(e->ctx, 0);
    const Dim *vectors = dim_ceildiv(e->ctx, columns, dim_const(e->ctx, lanes));
    EmitLoop rows = emit_begin_for(e, "r", zero, count, NULL, 0);
    EmitLoop loop = emit_begin_for(e, "c", zero, vectors, NULL, 0);
    size_t mark = emit_guard_mark(e);
    attention_set_shape(s, 1, lanes, 0, lanes);
    const Dim *column = dim_add(e->ctx, dim_scale(e->ctx, loop.variable, lanes), emit_axis(e, 0));
    emit_push_guard(e, column, zero, columns);
    TileId value = load(s, dim_add(e->ctx, from, rows.variable), column);
    emit_pop_guards(e, mark);
    attention_store(s, value, view, rows.variable, column);
    emit_end_for(e, loop, NULL);
    emit_end_for(e, rows, NULL);
}

void attention_copy_keys(Attention *s, const Dim *from, const Dim *count) {
    if (s->copies_keys) copy_rows(s, s->views.keys, from, count, depth_of(s), key_vector);
}

void attention_copy_values(Attention *s, const Dim *from, const Dim *count) {
    if (s->copies_values) copy_rows(s, s->views.values, from, count, s->columns, value_vector);
}

TileId attention_load_keys(Attention *s, const Dim *from, const Dim *row, int64_t rows,
                           const Dim *depth) {
    ValueEmitter *e = &s->e;
    attention_set_shape(s, 1, rows, 0, 1);
    row = dim_add(e->ctx, row, emit_axis(e, 0));
    if (s->copies_keys) return attention_load(s, s->views.keys, row, depth);
    return key_vector(s, dim_add(e->ctx, from, row), depth);
}

TileId attention_load_values(Attention *s, const Dim *from, const Dim *row, const Dim *column) {
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    attention_set_shape(s, 1, s->value_columns, 0, s->request->target->lanes);
    column = dim_add(e->ctx, column, emit_axis(e, 0));
    if (s->copies_values) return attention_load(s, s->views.values, row, column);
    emit_push_guard(e, column, dim_const(e->ctx, 0), s->columns);
    TileId value = value_vector(s, dim_add(e->ctx, from, row), column);
    emit_pop_guards(e, mark);
    return value;
}
