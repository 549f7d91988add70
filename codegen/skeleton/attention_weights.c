/* The weights of a block of keys, a column of queries at a time: scores of each tile of keys, made
 * to a; their maximum, and what it makes of the sums so far; w of each key, summed. */
#include "codegen/skeleton/attention.h"

#include <math.h>

static TileId select3(Attention *s, TileId c, TileId a, TileId b) {
    return tile_map(&s->e.b, OP_select, (TileId[]){c, a, b}, 3);
}

static DType kept_dtype(const Attention *s) {
    return dtype_compute(graph_type(s->request->region, s->kept)->dtype);
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

void attention_set_domain(Attention *s, const Dim *query, const Dim *key) {
    s->domain.index[s->query_axis] = attention_within(s, s->domain.dims[s->query_axis], query);
    s->domain.index[s->key_axis] = attention_within(s, s->domain.dims[s->key_axis], key);
}

void attention_provide(Attention *s, NodeId id, TileId value, uint32_t rank, bool leading) {
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
    attention_set_domain(s, query, dim_add(e->ctx, t->from, row));
    emit_push_guard(e, query, dim_const(e->ctx, 0), s->domain.dims[s->query_axis]);
    attention_provide(s, s->scores.id, emit_pin(e, s->scores.id, acc), s->domain.rank, false);
    TileId value = emit_value(e, s->kept, s->domain.index);
    emit_pop_guards(e, mark);
    e->provisions.count = provided;
    return value;
}

/* The greater, or NaN. */
static TileId greater(Attention *s, TileId a, TileId b) {
    if (!s->ignores_nan) return attention_map2(s, OP_max, a, b);
    return select3(s, attention_map2(s, OP_gt, a, b), a, b);
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
    TileId none = attention_number(s, kept_dtype(s), -INFINITY),
           zero = attention_number(s, kept_dtype(s), 0);
    return select3(s, attention_map2(s, OP_eq, maximum, none), zero, maximum);
}

TileId attention_exp(Attention *s, TileId value) {
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
    attention_set_domain(s, query, dim_add(e->ctx, w->from, n->index[0]));
    emit_push_guard(e, query, dim_const(e->ctx, 0), s->domain.dims[s->query_axis]);
    TileId kept = attention_load(s, s->views.weights, n->index[0], place);
    attention_provide(s, s->kept, kept, s->domain.rank, false);
    if (s->maximum != NODE_none)
        attention_provide(s, s->maximum, w->measure, s->domain.rank - 1, false);
    if (s->weights != s->kept)
        attention_store(s, emit_value(e, s->weights, s->domain.index), s->views.weights,
                        n->index[0], place);
    if (s->sum != NODE_none) {
        NodeId operand = graph_node(s->request->region, s->sum)->args[0];
        TileId term = emit_value(e, operand, s->domain.index);
        if (term != TILE_none)
            acc = attention_map2(s, OP_add, acc, attention_as(s, term, n->dtype));
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
    attention_store(s, attention_exp(s, attention_map2(s, OP_sub, before, measured)),
                    s->views.factor, place, NULL);
    return measured;
}

void attention_add_sum(Attention *s, TileId sum, const Dim *place) {
    TileId before = attention_load(s, s->views.sum, place, NULL);
    if (s->maximum != NODE_none) {
        TileId factor = attention_load(s, s->views.factor, place, NULL);
        before =
            attention_map2(s, OP_mul, before,
                           attention_as(s, factor, s->e.program->views.data[s->views.sum].dtype));
    }
    attention_store(s, attention_map2(s, OP_add, before, sum), s->views.sum, place, NULL);
}

void attention_make_weights(Attention *s, const Dim *from, const Dim *count) {
    ValueEmitter *e = &s->e;
    EmitLoop loop = attention_begin_tiles(s, "c", attention_query_count(s), s->score_columns);
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
        if (e->error == NULL && s->sum != NODE_none) attention_add_sum(s, sum, place);
    }
    emit_end_for(e, loop, NULL);
}
