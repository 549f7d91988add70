/* What a row kernel accumulates: a value for each reduction of a stage, for argmax and argmin with
 * the index that holds it. */
#include "codegen/skeleton/row.h"

static DType accumulator_dtype(const Row *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    if (op_info(node->op)->class == CLASS_REDUCE) return emit_sum_dtype(&s->e, id);
    return dtype_compute(graph_type(s->request->region, node->args[0])->dtype);
}

/* The op whose neutral element starts the accumulator. */
static Op accumulator_op(Op op) {
    return op == OP_argmax ? OP_max : op == OP_argmin ? OP_min : op_info(op)->scalar;
}

Accumulators row_start(Row *s, uint32_t stage) {
    Accumulators acc = {.values = NEW_ARRAY(s->e.arena, TileId, 2 * s->reductions.count),
                        .sums = NEW_ARRAY(s->e.arena, DType, 2 * s->reductions.count)};
    for (size_t i = 0; i < s->reductions.count; i++) {
        NodeId id = s->reductions.data[i];
        const Node *node = graph_node(s->request->region, id);
        if (s->stage[id] != stage) continue;
        DType dtype = accumulator_dtype(s, id);
        bool sum = node->op == OP_reduce_sum && dtype_is_float(dtype);
        acc.sums[acc.count] = sum ? dtype : DT_count;
        acc.values[acc.count++] = emit_identity(&s->e, dtype, accumulator_op(node->op));
        if (op_info(node->op)->class != CLASS_ARGREDUCE) continue;
        acc.sums[acc.count] = DT_count;
        acc.values[acc.count++] = tile_const_int(&s->e.b, emit_type(&s->e, DT_i64), -1);
    }
    return acc;
}

static TileId map2(Row *s, Op op, TileId a, TileId b) {
    return tile_map(&s->e.b, op, (TileId[]){a, b}, 2);
}

static TileId select3(Row *s, TileId c, TileId a, TileId b) {
    return tile_map(&s->e.b, OP_select, (TileId[]){c, a, b}, 3);
}

static TileId operand_value(Row *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    TileId value = emit_value(&s->e, node->args[0], s->domain.index);
    DType dtype = accumulator_dtype(s, id);
    if (value == TILE_none || tile_value_type(s->e.program, value)->dtype == dtype) return value;
    return tile_cast(&s->e.b, value, dtype);
}

/* A value takes the place of the best so far when it is better, is the first NaN, or is the first
 * at all. */
static void step_arg(Row *s, const Node *node, TileId value, TileId mine, TileId *best,
                     TileId *where) {
    const Dim *position = s->domain.index[node_attr(node, "axis").i];
    TileId index = tile_index(&s->e.b, emit_type(&s->e, DT_i64), position);
    TileId none = map2(s, OP_lt, *where, tile_const_int(&s->e.b, emit_type(&s->e, DT_i64), 0));
    TileId better = map2(s, op_info(node->op)->scalar, value, *best);
    TileId nan = map2(s, OP_and, map2(s, OP_ne, value, value), map2(s, OP_eq, *best, *best));
    TileId take = map2(s, OP_or, none, map2(s, OP_or, better, nan));
    if (mine != TILE_none) take = map2(s, OP_and, take, mine);
    *best = select3(s, take, value, *best);
    *where = select3(s, take, index, *where);
}

void row_step(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
    uint32_t k = 0;
    TileId mine = emit_test(&s->e, mark);
    for (size_t i = 0; i < s->reductions.count; i++) {
        NodeId id = s->reductions.data[i];
        const Node *node = graph_node(s->request->region, id);
        if (s->stage[id] != stage) continue;
        TileId value = operand_value(s, id);
        if (value == TILE_none) return;
        if (op_info(node->op)->class == CLASS_ARGREDUCE) {
            step_arg(s, node, value, mine, &acc->values[k], &acc->values[k + 1]);
            k += 2;
            continue;
        }
        Op op = op_info(node->op)->scalar;
        if (s->ignores_nan[id]) {
            TileId greater = map2(s, OP_gt, value, acc->values[k]);
            if (mine != TILE_none) greater = map2(s, OP_and, greater, mine);
            acc->values[k] = select3(s, greater, value, acc->values[k]);
            k++;
            continue;
        }
        if (mine != TILE_none)
            value = select3(s, mine, value, emit_identity(&s->e, accumulator_dtype(s, id), op));
        acc->values[k] = map2(s, op, acc->values[k], value);
        k++;
    }
}

static TileId fold_axes(Row *s, Op op, TileId value, bool ignores_nan) {
    uint32_t rank = tile_value_type(s->e.program, value)->rank;
    for (uint32_t kept = s->pairs ? 1 : 0; rank > kept; rank--) {
        value = tile_reduce(&s->e.b, op, value, rank - 1);
        emit_last(&s->e)->ignores_nan = ignores_nan;
    }
    return value;
}

/* Across the tile: the best of all, then the least index among those that hold it. */
static TileId fold_arg(Row *s, Op op, TileId best, TileId where) {
    TileType flags = *tile_value_type(s->e.program, best);
    TileId winner = fold_axes(s, accumulator_op(op), best, false);
    TileId everywhere = tile_move(&s->e.b, flags, winner, (uint32_t[]){0});
    TileId holds = map2(s, OP_or, map2(s, OP_eq, best, everywhere), map2(s, OP_ne, best, best));
    TileId seen = map2(s, OP_ge, where, tile_const_int(&s->e.b, emit_type(&s->e, DT_i64), 0));
    TileId never = tile_const_int(&s->e.b, emit_type(&s->e, DT_i64), INT64_MAX);
    return fold_axes(s, OP_min, select3(s, map2(s, OP_and, holds, seen), where, never), false);
}

/* 0 where nothing was reduced. */
static TileId known_index(Row *s, TileId index) {
    TileType type = *tile_value_type(s->e.program, index);
    TileId zero = tile_const_int(&s->e.b, type, 0);
    TileId never = tile_const_int(&s->e.b, type, INT64_MAX);
    TileId unknown = map2(s, OP_or, map2(s, OP_lt, index, zero), map2(s, OP_eq, index, never));
    return select3(s, unknown, zero, index);
}

void row_finish(Row *s, uint32_t stage, const Accumulators *acc) {
    uint32_t k = 0;
    if (s->e.error != NULL) return;
    for (size_t i = 0; i < s->reductions.count; i++) {
        NodeId id = s->reductions.data[i];
        const Node *node = graph_node(s->request->region, id);
        if (s->stage[id] != stage) continue;
        bool arg = op_info(node->op)->class == CLASS_ARGREDUCE;
        TileId value = acc->values[k];
        bool fold = !(s->column && s->request->state == TILE_placed);
        if (arg) {
            TileId where = acc->values[k + 1];
            value = known_index(s, fold ? fold_arg(s, node->op, value, where) : where);
        } else if (fold) {
            value = fold_axes(s, op_info(node->op)->scalar, value, s->ignores_nan[id]);
        }
        k += arg ? 2 : 1;
        Provision p = {.node = id, .value = emit_pin(&s->e, id, value), .leading = s->pairs};
        for (uint32_t a = 0; a < s->outer.rank; a++) p.index[a] = s->outer.index[a];
        emit_provide(&s->e, &p);
    }
}

/* ---- blocks of sums -------------------------------------------------------------------------- */

bool row_has_sums(const Accumulators *acc) {
    for (uint32_t i = 0; i < acc->count; i++)
        if (acc->sums[i] != DT_count) return true;
    return false;
}

Accumulators row_begin_block(Row *s, const Accumulators *acc) {
    Accumulators block = *acc;
    block.values = NEW_ARRAY(s->e.arena, TileId, acc->count);
    for (uint32_t i = 0; i < acc->count; i++)
        block.values[i] =
            acc->sums[i] == DT_count ? acc->values[i] : emit_identity(&s->e, acc->sums[i], OP_add);
    return block;
}

void row_end_block(Row *s, const Accumulators *block, Accumulators *acc) {
    for (uint32_t i = 0; i < acc->count; i++)
        acc->values[i] = acc->sums[i] == DT_count
                             ? block->values[i]
                             : map2(s, OP_add, acc->values[i], block->values[i]);
}
