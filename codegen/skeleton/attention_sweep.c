/* The loops of an attention kernel, for one block of queries:
 *
 *     for each block of keys {
 *       for a column of queries {
 *         scores of each tile of keys, made to a; its maximum    -> weights, m
 *         exp(m_old - m), by which l and o are behind            -> factor
 *         w of each key, summed                                  -> weights, l }
 *       for SUM_BLOCK keys { o = o · factor + Σ w · v } }
 *     o and l at the queries -> what the region makes of them
 *
 * Vectors run along queries while weights are made, so that a row's maximum and sum need no
 * exchange between lanes, and along the values' columns while those are summed. The order of a sum
 * is that of the keys, in blocks, whatever the tiles. A maximum of -inf counts as 0 in exp(a - m);
 * in the end a row that has no other becomes NaN, as exp(-inf + inf) is. */
#include "codegen/skeleton/attention.h"

#include <math.h>

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct ValueTile {
    Attention *s;
    const Dim *from, *first; /* the block's first key; the first of the SUM_BLOCK at hand */
    const Dim *row, *column; /* of queries and of the values' columns */
} ValueTile;

static TileId add_value(const ValueTile *t, const Dim *key, TileId acc) {
    Attention *s = t->s;
    ValueEmitter *e = &s->e;
    TileId values = attention_load_values(s, t->from, key, t->column);
    attention_set_shape(s, 1, s->value_rows, 0, 1);
    TileId weights =
        attention_load(s, s->views.weights, key, dim_add(e->ctx, t->row, emit_axis(e, 0)));
    weights = attention_as(s, weights, attention_sum_dtype(s, &s->values));
    if (values == TILE_none || weights == TILE_none) return acc;
    return tile_dot(&e->b, acc, weights, values);
}

/* o = o · factor + Σ w · v of the keys first..end of the block. */
static void value_tile(const ValueTile *t, const Dim *end) {
    Attention *s = t->s;
    ValueEmitter *e = &s->e;
    uint32_t lanes = s->request->target->lanes;
    attention_set_shape(s, 2, s->value_rows, s->value_columns, lanes);
    TileId acc = emit_identity(e, attention_sum_dtype(s, &s->values), OP_add);
    EmitLoop loop = emit_begin_for(e, "k", t->first, end, &acc, 1);
    loop.loop->unroll = 8;
    acc = add_value(t, loop.variable, loop.loop->carried);
    acc = emit_end_for(e, loop, &acc);
    if (e->error != NULL) return;
    attention_set_shape(s, 2, s->value_rows, s->value_columns, lanes);
    TileType tile = emit_type(e, attention_sum_dtype(s, &s->values));
    const Dim *row = dim_add(e->ctx, t->row, emit_axis(e, 0));
    const Dim *column = dim_add(e->ctx, t->column, emit_axis(e, 1));
    TileId before = attention_load(s, s->views.result, row, column);
    if (s->maximum != NODE_none) {
        attention_set_shape(s, 1, s->value_rows, 0, 1);
        TileId factor = attention_load(s, s->views.factor, row, NULL);
        attention_set_shape(s, 2, s->value_rows, s->value_columns, lanes);
        before = attention_map2(s, OP_mul, before, tile_move(&e->b, tile, factor, (uint32_t[]){0}));
    }
    attention_store(s, attention_map2(s, OP_add, before, acc), s->views.result, row, column);
}

/* Whole vectors of a scratch row become a number. */
static void fill(Attention *s, uint32_t view, double value) {
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0),
                                   dim_const(e->ctx, s->queries / lanes), NULL, 0);
    attention_set_shape(s, 1, lanes, 0, lanes);
    const Dim *place = dim_add(e->ctx, dim_scale(e->ctx, loop.variable, lanes), emit_axis(e, 0));
    attention_store(s, attention_number(s, e->program->views.data[view].dtype, value), view, place,
                    NULL);
    emit_end_for(e, loop, NULL);
}

static void sum_values(Attention *s, const Dim *from, const Dim *count) {
    ValueEmitter *e = &s->e;
    EmitLoop parts = attention_begin_tiles(s, "p", count, SUM_BLOCK);
    const Dim *first = dim_scale(e->ctx, parts.variable, SUM_BLOCK);
    const Dim *end = dim_min(e->ctx, dim_offset(e->ctx, first, SUM_BLOCK), count);
    EmitLoop rows = attention_begin_tiles(s, "i", attention_query_count(s), s->value_rows);
    EmitLoop columns = attention_begin_tiles(s, "n", s->columns, s->value_columns);
    ValueTile t = {s, from, first, dim_scale(e->ctx, rows.variable, s->value_rows),
                   dim_scale(e->ctx, columns.variable, s->value_columns)};
    value_tile(&t, end);
    emit_end_for(e, columns, NULL);
    emit_end_for(e, rows, NULL);
    if (s->maximum != NODE_none) fill(s, s->views.factor, 1);
    emit_end_for(e, parts, NULL);
}

/* ---- results --------------------------------------------------------------------------------- */

/* 1, or NaN where no finite maximum was: what exp(a - m) would have been there. */
static void finish_rows(Attention *s) {
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    if (s->maximum == NODE_none || s->zero_unit) return;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0),
                                   dim_const(e->ctx, s->queries / lanes), NULL, 0);
    attention_set_shape(s, 1, lanes, 0, lanes);
    const Dim *place = dim_add(e->ctx, dim_scale(e->ctx, loop.variable, lanes), emit_axis(e, 0));
    TileId top = attention_load(s, s->views.maximum, place, NULL);
    TileId one = attention_exp(s, attention_map2(s, OP_sub, top, top));
    attention_store(s, one, s->views.factor, place, NULL);
    if (s->sum != NODE_none)
        attention_add_sum(s, attention_number(s, emit_sum_dtype(e, s->sum), 0), place);
    emit_end_for(e, loop, NULL);
}

/* The result's index at the queries and columns of a tile. */
static void set_result(Attention *s, Domain *out_domain, const Dim *column) {
    const Product *p = &s->values;
    const IntList *weights = p->labels[p->outer];
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    uint32_t count = 0, next = 0;
    out_domain->rank = p->out->count;
    for (uint32_t i = 0; i < p->out->count; i++) {
        out_domain->dims[i] = p->node->type->dims[i];
        out_domain->index[i] = NULL;
        for (uint32_t k = 0; k < weights->count; k++)
            if (weights->items[k] == p->out->items[i]) out_domain->index[i] = s->domain.index[k];
        if (out_domain->index[i] == NULL) dims[count++] = out_domain->dims[i];
    }
    emit_delinear(&s->e, count, dims, column, index);
    for (uint32_t i = 0; i < p->out->count; i++)
        if (out_domain->index[i] == NULL)
            out_domain->index[i] = attention_within(s, out_domain->dims[i], index[next++]);
}

static TileId factor_of_rows(Attention *s, uint32_t view, const Dim *row) {
    TileShape shape = s->e.shape;
    attention_set_shape(s, 1, s->value_rows, 0, 1);
    TileId value = attention_load(s, view, row, NULL);
    emit_set_shape(&s->e, shape);
    return value;
}

/* The finished sums of a tile, of the current shape, for what comes behind them. */
static void provide_results(Attention *s, const Domain *result, const Dim *row, const Dim *column) {
    ValueEmitter *e = &s->e;
    TileId value = attention_load(s, s->views.result, row, column);
    if (s->maximum != NODE_none && !s->zero_unit) {
        TileType tile = emit_type(e, attention_sum_dtype(s, &s->values));
        TileId factor = factor_of_rows(s, s->views.factor, row);
        value = attention_map2(s, OP_mul, value, tile_move(&e->b, tile, factor, (uint32_t[]){0}));
    }
    Provision p = {.node = s->values.id, .value = emit_pin(e, s->values.id, value)};
    for (uint32_t i = 0; i < result->rank; i++) p.index[i] = result->index[i];
    emit_provide(e, &p);
    if (s->sum != NODE_none)
        attention_provide(s, s->sum, emit_pin(e, s->sum, factor_of_rows(s, s->views.sum, row)),
                          s->domain.rank - 1, true);
    if (s->maximum != NODE_none)
        attention_provide(s, s->maximum,
                          emit_pin(e, s->maximum, factor_of_rows(s, s->views.maximum, row)),
                          s->domain.rank - 1, true);
}

static void store_results(Attention *s) {
    ValueEmitter *e = &s->e;
    Domain result = {0};
    EmitLoop rows = attention_begin_tiles(s, "i", attention_query_count(s), s->value_rows);
    EmitLoop columns = attention_begin_tiles(s, "n", s->columns, s->value_columns);
    size_t mark = emit_guard_mark(e), provided = e->provisions.count;
    attention_set_shape(s, 2, s->value_rows, s->value_columns, s->request->target->lanes);
    const Dim *zero = dim_const(e->ctx, 0);
    const Dim *row =
        dim_add(e->ctx, dim_scale(e->ctx, rows.variable, s->value_rows), emit_axis(e, 0));
    const Dim *column =
        dim_add(e->ctx, dim_scale(e->ctx, columns.variable, s->value_columns), emit_axis(e, 1));
    const Dim *query = dim_add(e->ctx, s->first_query, row);
    attention_set_domain(s, query, zero);
    emit_push_guard(e, query, zero, s->domain.dims[s->query_axis]);
    emit_push_guard(e, column, zero, s->columns);
    set_result(s, &result, column);
    provide_results(s, &result, row, column);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) {
        const Type *type =
            graph_type(e->region, domain_base(e->region, e->region->outputs.data[i].node));
        if (domain_fits(e->ctx, &result, type))
            domain_store(e, &result, i, false);
        else
            emit_fail(e, "an output is not as large as the sums of values");
    }
    emit_pop_guards(e, mark);
    e->provisions.count = provided;
    emit_end_for(e, columns, NULL);
    emit_end_for(e, rows, NULL);
}

/* ---- all keys -------------------------------------------------------------------------------- */

static void clear_result(Attention *s) {
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    EmitLoop rows =
        emit_begin_for(e, "i", dim_const(e->ctx, 0), dim_const(e->ctx, s->queries), NULL, 0);
    EmitLoop columns = attention_begin_tiles(s, "n", s->columns, lanes);
    attention_set_shape(s, 1, lanes, 0, lanes);
    TileId zero = attention_number(s, attention_sum_dtype(s, &s->values), 0);
    attention_store(s, zero, s->views.result, rows.variable,
                    dim_add(e->ctx, dim_scale(e->ctx, columns.variable, lanes), emit_axis(e, 0)));
    emit_end_for(e, columns, NULL);
    emit_end_for(e, rows, NULL);
}

void attention_sweep(Attention *s) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    attention_copy_queries(s);
    clear_result(s);
    if (s->maximum != NODE_none) fill(s, s->views.maximum, -INFINITY);
    if (s->sum != NODE_none) fill(s, s->views.sum, 0);
    const Dim *left = dim_max(ctx, dim_sub(ctx, s->end_key, s->first_key), dim_const(ctx, 0));
    EmitLoop loop = attention_begin_tiles(s, "j", left, s->keys);
    const Dim *done = dim_scale(ctx, loop.variable, s->keys);
    const Dim *from = dim_add(ctx, s->first_key, done);
    const Dim *count = dim_min(ctx, dim_sub(ctx, s->end_key, from), dim_const(ctx, s->keys));
    count = dim_max(ctx, count, dim_const(ctx, 0));
    attention_copy_keys(s, from, count);
    attention_make_weights(s, from, count);
    attention_copy_values(s, from, count);
    if (e->error == NULL) sum_values(s, from, count);
    emit_end_for(e, loop, NULL);
    if (e->error != NULL) return;
    finish_rows(s);
    store_results(s);
}
