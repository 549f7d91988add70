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

static TileId map2(Attention *s, Op op, TileId a, TileId b) {
    if (a == TILE_none || b == TILE_none) return TILE_none;
    return tile_map(&s->e.b, op, (TileId[]){a, b}, 2);
}

static TileId select3(Attention *s, TileId c, TileId a, TileId b) {
    return tile_map(&s->e.b, OP_select, (TileId[]){c, a, b}, 3);
}

static TileId number(Attention *s, DType dtype, double value) {
    return emit_number(&s->e, dtype, value);
}

static DType kept_dtype(const Attention *s) {
    return dtype_compute(graph_type(s->request->region, s->kept)->dtype);
}

/* How many queries the block has, up to a multiple of the tiles of values. */
static const Dim *query_count(const Attention *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *left = dim_sub(ctx, s->domain.dims[s->query_axis], s->first_query);
    const Dim *tiles = dim_ceildiv(ctx, left, dim_const(ctx, s->value_rows));
    return dim_min(ctx, dim_scale(ctx, tiles, s->value_rows), dim_const(ctx, s->queries));
}

static EmitLoop begin_tiles(Attention *s, const char *name, const Dim *count, int64_t size) {
    IrContext *ctx = s->e.ctx;
    const Dim *tiles = dim_ceildiv(ctx, count, dim_const(ctx, size));
    return emit_begin_for(&s->e, name, dim_const(ctx, 0), tiles, NULL, 0);
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* A tile of scores: `rows` keys from `row` of the block on, by the queries from `column` on. */
typedef struct ScoreTile {
    Attention *s;
    const Dim *from, *row, *column; /* the block's first key; the tile's place in the block */
    int64_t rows;
} ScoreTile;

static TileId add_score(SumNest *n, TileId acc) {
    const ScoreTile *t = n->user;
    Attention *s = t->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    attention_set_shape(s, 1, s->score_columns, 0, s->request->target->lanes);
    const Dim *column = dim_add(e->ctx, t->column, emit_axis(e, 0));
    TileId queries = attention_load(s, s->views.queries, n->index[0], column);
    TileId keys = attention_load_keys(s, t->from, t->row, t->rows, n->index[0]);
    if (queries != TILE_none && keys != TILE_none) acc = tile_dot(&e->b, acc, keys, queries);
    emit_pop_guards(e, mark);
    return acc;
}

/* Where the domain is while tiles of a block are made. */
static void set_domain(Attention *s, const Dim *query, const Dim *key) {
    s->domain.index[s->query_axis] = attention_within(s, s->domain.dims[s->query_axis], query);
    s->domain.index[s->key_axis] = attention_within(s, s->domain.dims[s->key_axis], key);
}

static void provide(Attention *s, NodeId id, TileId value, uint32_t rank, bool leading) {
    Provision p = {.node = id, .value = value, .leading = leading};
    for (uint32_t i = 0, k = 0; i < s->domain.rank; i++)
        if (rank == s->domain.rank || i != s->key_axis) p.index[k++] = s->domain.index[i];
    emit_provide(&s->e, &p);
}

/* a at the tile, from its scores. */
static TileId mapped_scores(Attention *s, const ScoreTile *t, TileId acc) {
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e), provided = e->provisions.count;
    attention_set_shape(s, 2, t->rows, s->score_columns, s->request->target->lanes);
    const Dim *row = dim_add(e->ctx, t->row, emit_axis(e, 0));
    const Dim *query = dim_add(e->ctx, s->first_query, dim_add(e->ctx, t->column, emit_axis(e, 1)));
    set_domain(s, query, dim_add(e->ctx, t->from, row));
    emit_push_guard(e, query, dim_const(e->ctx, 0), s->domain.dims[s->query_axis]);
    provide(s, s->scores.id, emit_pin(e, s->scores.id, acc), s->domain.rank, false);
    TileId value = emit_value(e, s->kept, s->domain.index);
    emit_pop_guards(e, mark);
    e->provisions.count = provided;
    return value;
}

/* The greater, or NaN. */
static TileId greater(Attention *s, TileId a, TileId b) {
    if (!s->ignores_nan) return map2(s, OP_max, a, b);
    return select3(s, map2(s, OP_gt, a, b), a, b);
}

/* One tile; the maximum so far, with it. */
static TileId score_tile(Attention *s, const ScoreTile *t, TileId most) {
    ValueEmitter *e = &s->e;
    DType dtype = attention_sum_dtype(s, &s->scores);
    const Dim *depth = domain_extent(e->ctx, s->scores.extents, 0, s->scores.summed_count);
    SumNest nest = {.e = e,
                    .dtype = dtype,
                    .rank = 1,
                    .extents = {depth},
                    .names = {"d"},
                    .unroll = 8,
                    .body = add_score,
                    .user = (void *)(uintptr_t)t};
    attention_set_shape(s, 2, t->rows, s->score_columns, s->request->target->lanes);
    TileId acc = sum_nest(&nest, emit_identity(e, dtype, OP_add));
    if (e->error != NULL) return most;
    TileId value = mapped_scores(s, t, acc);
    if (value == TILE_none) return most;
    const Dim *row = dim_add(e->ctx, t->row, emit_axis(e, 0));
    attention_store(s, value, s->views.weights, row, dim_add(e->ctx, t->column, emit_axis(e, 1)));
    if (s->maximum == NODE_none) return most;
    TileId top = tile_reduce(&e->b, OP_max, value, 0);
    emit_last(e)->ignores_nan = s->ignores_nan;
    attention_set_shape(s, 1, s->score_columns, 0, s->request->target->lanes);
    return greater(s, top, most);
}

/* The scores of the block's `count` keys for the queries from `column` on: whole tiles, then key by
 * key. The maximum of `most` and all of them. */
static TileId score_keys(Attention *s, const Dim *from, const Dim *count, const Dim *column,
                         TileId most) {
    ValueEmitter *e = &s->e;
    const Dim *tiles = dim_floordiv(e->ctx, count, dim_const(e->ctx, s->score_rows));
    const Dim *done = dim_scale(e->ctx, tiles, s->score_rows);
    uint32_t carried = s->maximum == NODE_none ? 0 : 1;
    for (int part = 0; part < 2; part++) {
        if (part == 0 ? dim_equals_int(tiles, 0) : done == count) continue;
        const Dim *first = part == 0 ? dim_const(e->ctx, 0) : done;
        EmitLoop loop = emit_begin_for(e, "k", first, part == 0 ? tiles : count, &most, carried);
        ScoreTile t = {s, from, loop.variable, column, 1};
        if (part == 0) {
            t.row = dim_scale(e->ctx, loop.variable, s->score_rows);
            t.rows = s->score_rows;
        }
        TileId next = score_tile(s, &t, carried ? loop.loop->carried : most);
        TileId end = emit_end_for(e, loop, &next);
        if (carried) most = end;
    }
    return most;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* m as exp(a - m) takes it. */
static TileId measure(Attention *s, TileId maximum) {
    TileId none = number(s, kept_dtype(s), -INFINITY), zero = number(s, kept_dtype(s), 0);
    return select3(s, map2(s, OP_eq, maximum, none), zero, maximum);
}

static TileId exponential(Attention *s, TileId value) {
    TileId result = tile_map(&s->e.b, OP_exp, &value, 1);
    emit_last(&s->e)->nonpositive = true;
    return result;
}

/* The weights of the queries from `column` on, once their maximum is known. */
typedef struct WeightColumn {
    Attention *s;
    const Dim *from, *column;
    TileId measure; /* TILE_none where there is no maximum */
} WeightColumn;

static TileId add_weight(SumNest *n, TileId acc) {
    const WeightColumn *w = n->user;
    Attention *s = w->s;
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e), provided = e->provisions.count;
    const Dim *place = dim_add(e->ctx, w->column, emit_axis(e, 0));
    const Dim *query = dim_add(e->ctx, s->first_query, place);
    set_domain(s, query, dim_add(e->ctx, w->from, n->index[0]));
    emit_push_guard(e, query, dim_const(e->ctx, 0), s->domain.dims[s->query_axis]);
    TileId kept = attention_load(s, s->views.weights, n->index[0], place);
    provide(s, s->kept, kept, s->domain.rank, false);
    if (s->maximum != NODE_none) provide(s, s->maximum, w->measure, s->domain.rank - 1, false);
    if (s->weights != s->kept)
        attention_store(s, emit_value(e, s->weights, s->domain.index), s->views.weights,
                        n->index[0], place);
    if (s->sum != NODE_none) {
        NodeId operand = graph_node(s->request->region, s->sum)->args[0];
        TileId term = emit_value(e, operand, s->domain.index);
        if (term != TILE_none) acc = map2(s, OP_add, acc, attention_as(s, term, n->dtype));
    }
    emit_pop_guards(e, mark);
    e->provisions.count = provided;
    return acc;
}

/* Makes the weights of the block; the sum of them, in order. */
static TileId weigh_keys(Attention *s, const Dim *from, const Dim *count, const Dim *column,
                         TileId measured) {
    WeightColumn w = {s, from, column, measured};
    DType dtype = s->sum == NODE_none ? kept_dtype(s) : emit_sum_dtype(&s->e, s->sum);
    SumNest nest = {.e = &s->e,
                    .dtype = dtype,
                    .rank = 1,
                    .extents = {count},
                    .names = {"k"},
                    .body = add_weight,
                    .user = &w};
    return sum_nest(&nest, emit_identity(&s->e, dtype, OP_add));
}

/* Corrects what is there by the maximum's growth; m as exp takes it. */
static TileId grow_maximum(Attention *s, TileId most, const Dim *place) {
    TileId before = attention_load(s, s->views.maximum, place, NULL);
    TileId top = greater(s, most, before), measured = measure(s, top);
    attention_store(s, top, s->views.maximum, place, NULL);
    attention_store(s, exponential(s, map2(s, OP_sub, before, measured)), s->views.factor, place,
                    NULL);
    return measured;
}

static void add_sum(Attention *s, TileId sum, const Dim *place) {
    TileId before = attention_load(s, s->views.sum, place, NULL);
    if (s->maximum != NODE_none) {
        TileId factor = attention_load(s, s->views.factor, place, NULL);
        before = map2(s, OP_mul, before,
                      attention_as(s, factor, s->e.program->views.data[s->views.sum].dtype));
    }
    attention_store(s, map2(s, OP_add, before, sum), s->views.sum, place, NULL);
}

static void make_weights(Attention *s, const Dim *from, const Dim *count) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = begin_tiles(s, "c", query_count(s), s->score_columns);
    const Dim *column = dim_scale(e->ctx, loop.variable, s->score_columns);
    attention_set_shape(s, 1, s->score_columns, 0, s->request->target->lanes);
    TileId most = emit_identity(e, kept_dtype(s), OP_max), measured = TILE_none;
    most = score_keys(s, from, count, column, most);
    attention_set_shape(s, 1, s->score_columns, 0, s->request->target->lanes);
    const Dim *place = dim_add(e->ctx, column, emit_axis(e, 0));
    if (e->error == NULL && s->maximum != NODE_none) measured = grow_maximum(s, most, place);
    if (e->error == NULL && (s->sum != NODE_none || s->weights != s->kept)) {
        TileId sum = weigh_keys(s, from, count, column, measured);
        attention_set_shape(s, 1, s->score_columns, 0, s->request->target->lanes);
        if (e->error == NULL && s->sum != NODE_none) add_sum(s, sum, place);
    }
    emit_end_for(e, loop, NULL);
}

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
        before = map2(s, OP_mul, before, tile_move(&e->b, tile, factor, (uint32_t[]){0}));
    }
    attention_store(s, map2(s, OP_add, before, acc), s->views.result, row, column);
}

/* Whole vectors of a scratch row become a number. */
static void fill(Attention *s, uint32_t view, double value) {
    ValueEmitter *e = &s->e;
    int64_t lanes = s->request->target->lanes;
    EmitLoop loop = emit_begin_for(e, "c", dim_const(e->ctx, 0),
                                   dim_const(e->ctx, s->queries / lanes), NULL, 0);
    attention_set_shape(s, 1, lanes, 0, lanes);
    const Dim *place = dim_add(e->ctx, dim_scale(e->ctx, loop.variable, lanes), emit_axis(e, 0));
    attention_store(s, number(s, e->program->views.data[view].dtype, value), view, place, NULL);
    emit_end_for(e, loop, NULL);
}

static void sum_values(Attention *s, const Dim *from, const Dim *count) {
    ValueEmitter *e = &s->e;
    EmitLoop parts = begin_tiles(s, "p", count, SUM_BLOCK);
    const Dim *first = dim_scale(e->ctx, parts.variable, SUM_BLOCK);
    const Dim *end = dim_min(e->ctx, dim_offset(e->ctx, first, SUM_BLOCK), count);
    EmitLoop rows = begin_tiles(s, "i", query_count(s), s->value_rows);
    EmitLoop columns = begin_tiles(s, "n", s->columns, s->value_columns);
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
    TileId one = exponential(s, map2(s, OP_sub, top, top));
    attention_store(s, one, s->views.factor, place, NULL);
    if (s->sum != NODE_none) add_sum(s, number(s, emit_sum_dtype(e, s->sum), 0), place);
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
        value = map2(s, OP_mul, value, tile_move(&e->b, tile, factor, (uint32_t[]){0}));
    }
    Provision p = {.node = s->values.id, .value = emit_pin(e, s->values.id, value)};
    for (uint32_t i = 0; i < result->rank; i++) p.index[i] = result->index[i];
    emit_provide(e, &p);
    if (s->sum != NODE_none)
        provide(s, s->sum, emit_pin(e, s->sum, factor_of_rows(s, s->views.sum, row)),
                s->domain.rank - 1, true);
    if (s->maximum != NODE_none)
        provide(s, s->maximum, emit_pin(e, s->maximum, factor_of_rows(s, s->views.maximum, row)),
                s->domain.rank - 1, true);
}

static void store_results(Attention *s) {
    ValueEmitter *e = &s->e;
    Domain result = {0};
    EmitLoop rows = begin_tiles(s, "i", query_count(s), s->value_rows);
    EmitLoop columns = begin_tiles(s, "n", s->columns, s->value_columns);
    size_t mark = emit_guard_mark(e), provided = e->provisions.count;
    attention_set_shape(s, 2, s->value_rows, s->value_columns, s->request->target->lanes);
    const Dim *zero = dim_const(e->ctx, 0);
    const Dim *row =
        dim_add(e->ctx, dim_scale(e->ctx, rows.variable, s->value_rows), emit_axis(e, 0));
    const Dim *column =
        dim_add(e->ctx, dim_scale(e->ctx, columns.variable, s->value_columns), emit_axis(e, 1));
    const Dim *query = dim_add(e->ctx, s->first_query, row);
    set_domain(s, query, zero);
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
    EmitLoop columns = begin_tiles(s, "n", s->columns, lanes);
    attention_set_shape(s, 1, lanes, 0, lanes);
    TileId zero = number(s, attention_sum_dtype(s, &s->values), 0);
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
    EmitLoop loop = begin_tiles(s, "j", left, s->keys);
    const Dim *done = dim_scale(ctx, loop.variable, s->keys);
    const Dim *from = dim_add(ctx, s->first_key, done);
    const Dim *count = dim_min(ctx, dim_sub(ctx, s->end_key, from), dim_const(ctx, s->keys));
    count = dim_max(ctx, count, dim_const(ctx, 0));
    attention_copy_keys(s, from, count);
    make_weights(s, from, count);
    attention_copy_values(s, from, count);
    if (e->error == NULL) sum_values(s, from, count);
    emit_end_for(e, loop, NULL);
    if (e->error != NULL) return;
    finish_rows(s);
    store_results(s);
}
