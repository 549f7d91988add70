/* Row kernels: reductions over one set of axes, with everything elementwise before, between and
 * after them, one row (one setting of the other axes) a grid point.
 *
 * Reductions are layered in stages: one of stage 1 depends on no other, one of stage s+1 on some of
 * stage s. Each stage is one sweep over the row, that makes all its reductions at once; a last
 * sweep stores what is as large as the row. Softmax: sweep 1 the maximum, sweep 2 exp and its sum,
 * sweep 3 the quotient. A value that is dear to compute (exp) and needed in a later sweep is kept
 * in scratch, so that it is computed once; the inputs are read again, from the cache that holds the
 * row.
 *
 * Where the last axis is reduced, vectors run along the row: `lanes` partial results an
 * accumulator, folded by halves at the end, so the order of the sum is fixed by the row's length
 * alone. Where it is not (column form), vectors run along the last axis, each lane has a row of its
 * own, and sums are in plain order. A row of at most SHORT_ROW elements is one tile in registers
 * and needs no loops.
 *
 * Float sums of many steps are made in blocks of SUM_BLOCK, each from zero and added up: equal
 * numbers round the same way step after step, and a plain sum of a long constant row leaves the
 * tolerance of the contract, which grows with the root of its length.
 */
#include "base/guard.h"
#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/facts.h"

enum { SHORT_ROW = 64, SUM_BLOCK = 64 };

typedef struct Row {
    const SkeletonRequest *request;
    ValueEmitter e;
    Domain domain; /* of the reductions' operands */
    Domain outer;  /* the axes that stay */
    bool reduced[TYPE_MAX_RANK];
    uint32_t tail; /* reduced axes from here on are merged into one position (row form) */
    bool column;
    uint32_t stage_count;
    bool *ignores_nan; /* by node: maxima that may, which costs one instruction instead of five */
    uint32_t *stage;   /* by node: how many layers of reductions it depends on */
    VEC(NodeId) reductions;
    uint32_t saved_count;
    bool streaming;
    bool pairs; /* a grid point is two neighbouring rows, along axis 0 of its tiles */
} Row;

/* ---- what is reduced over what --------------------------------------------------------------- */

static bool is_reduction(Op op) {
    OpClass class = op_info(op)->class;
    return class == CLASS_REDUCE || class == CLASS_ARGREDUCE;
}

static void mark_axes(const Node *node, bool *reduced) {
    if (op_info(node->op)->class == CLASS_ARGREDUCE) {
        reduced[node_attr(node, "axis").i] = true;
        return;
    }
    const IntList *axes = node_attr(node, "axes").ints;
    for (uint32_t i = 0; i < axes->count; i++) reduced[axes->items[i]] = true;
}

/* All reductions must be over the same axes of operands of the same dims. */
static void add_reduction(Row *s, NodeId id) {
    const Graph *g = s->request->region;
    const Node *node = graph_node(g, id);
    const Type *type = graph_type(g, node->args[0]);
    bool reduced[TYPE_MAX_RANK] = {0};
    mark_axes(node, reduced);
    if (s->reductions.count == 0) {
        s->domain.rank = type->rank;
        for (uint32_t i = 0; i < type->rank; i++) {
            s->domain.dims[i] = type->dims[i];
            s->reduced[i] = reduced[i];
        }
    }
    bool same = s->domain.rank == type->rank;
    for (uint32_t i = 0; same && i < type->rank; i++)
        same = s->domain.dims[i] == type->dims[i] && s->reduced[i] == reduced[i];
    if (!same) emit_fail(&s->e, "reductions over different axes or of different dims");
    vec_push(s->e.arena, &s->reductions, id);
}

static void analyse(Row *s) {
    const Graph *g = s->request->region;
    s->stage = NEW_ARRAY(s->e.arena, uint32_t, g->nodes.count);
    s->ignores_nan = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; i < node->arg_count; i++)
            if (s->stage[node->args[i]] > s->stage[id]) s->stage[id] = s->stage[node->args[i]];
        if (!is_reduction(node->op)) continue;
        add_reduction(s, id);
        s->ignores_nan[id] = node->op == OP_reduce_max && dtype_is_float(node->type->dtype) &&
                             facts_nan_returns(g, id, s->e.arena);
        s->stage[id]++;
        if (s->stage[id] > s->stage_count) s->stage_count = s->stage[id];
    }
    if (s->reductions.count == 0) emit_fail(&s->e, "there is no reduction");
    s->column = s->domain.rank > 0 && !s->reduced[s->domain.rank - 1];
    s->tail = s->domain.rank;
    while (s->tail > 0 && s->reduced[s->tail - 1]) s->tail--;
}

/* The last axis that stays; the rank when none does. */
static uint32_t last_kept(const Row *s) {
    for (uint32_t i = s->domain.rank; i-- > 0;)
        if (!s->reduced[i]) return i;
    return s->domain.rank;
}

static const Dim *lane_axis(Row *s) { return emit_axis(&s->e, s->pairs ? 1 : 0); }

/* The grid: all axes that stay, the last one in vectors in column form. Leaves the outer domain's
 * index. */
static void add_grid(Row *s) {
    IrContext *ctx = s->e.ctx;
    for (uint32_t i = 0; i < s->domain.rank; i++) {
        if (s->reduced[i]) continue;
        const Dim *extent = s->domain.dims[i];
        bool vectors = s->column && i + 1 == s->domain.rank && s->request->state == TILE_placed;
        if (vectors) extent = dim_ceildiv(ctx, extent, dim_const(ctx, s->request->target->lanes));
        if (s->pairs && i == last_kept(s)) extent = dim_floordiv(ctx, extent, dim_const(ctx, 2));
        const Dim *index = domain_add_work(&s->e, "r", extent);
        if (vectors)
            index =
                dim_add(ctx, dim_scale(ctx, index, s->request->target->lanes), emit_axis(&s->e, 0));
        if (s->pairs && i == last_kept(s))
            index = dim_add(ctx, dim_scale(ctx, index, 2), emit_axis(&s->e, 0));
        s->domain.index[i] = index;
        s->outer.dims[s->outer.rank] = s->domain.dims[i];
        s->outer.index[s->outer.rank++] = index;
    }
}

/* ---- accumulators ---------------------------------------------------------------------------- */

/* The running state of the reductions of one stage: a value for each, and an index for
 * argmax/argmin. */
typedef struct Accumulators {
    uint32_t count;
    TileId *values;
    DType *sums; /* the dtype of a float sum, else DT_count */
} Accumulators;

static DType accumulator_dtype(const Row *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    if (op_info(node->op)->class == CLASS_REDUCE) return emit_sum_dtype(&s->e, id);
    return dtype_compute(graph_type(s->request->region, node->args[0])->dtype);
}

/* The op whose neutral element starts the accumulator. */
static Op accumulator_op(Op op) {
    return op == OP_argmax ? OP_max : op == OP_argmin ? OP_min : op_info(op)->scalar;
}

static Accumulators start(Row *s, uint32_t stage) {
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

/* One step of all reductions of a stage at the current index; `mark` is where the guards of this
 * step begin: elements outside them count as the neutral element. */
static void step(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
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

/* The finished reductions of a stage are provided at the current outer index. */
static void finish(Row *s, uint32_t stage, const Accumulators *acc) {
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

/* ---- sweeps ---------------------------------------------------------------------------------- */

typedef void SweepBody(Row *s, uint32_t stage, size_t mark, Accumulators *acc);

static void set_position(Row *s, const Dim *position) {
    emit_delinear(&s->e, s->domain.rank - s->tail, s->domain.dims + s->tail, position,
                  s->domain.index + s->tail);
}

/* What one step of a loop over `k` does, with the accumulators as they are then. */
typedef struct Steps {
    void (*body)(Row *s, const struct Steps *steps, const Dim *k, Accumulators *acc);
    uint32_t axis, stage;
    SweepBody *sweep;
    uint32_t unroll;
} Steps;

static void loop_steps(Row *s, const Steps *steps, const Dim *from, const Dim *to,
                       Accumulators *acc) {
    EmitLoop loop = emit_begin_for(&s->e, "k", from, to, acc->values, acc->count);
    for (uint32_t i = 0; i < acc->count; i++) acc->values[i] = loop.loop->carried + i;
    steps->body(s, steps, loop.variable, acc);
    if (steps->unroll > 0) loop.loop->unroll = emit_unroll(&loop, steps->unroll);
    TileId first = emit_end_for(&s->e, loop, acc->values);
    for (uint32_t i = 0; i < acc->count; i++) acc->values[i] = first + i;
}

static bool has_sums(const Accumulators *acc) {
    for (uint32_t i = 0; i < acc->count; i++)
        if (acc->sums[i] != DT_count) return true;
    return false;
}

/* The same accumulators with sums that begin at zero. */
static Accumulators begin_block(Row *s, const Accumulators *acc) {
    Accumulators block = *acc;
    block.values = NEW_ARRAY(s->e.arena, TileId, acc->count);
    for (uint32_t i = 0; i < acc->count; i++)
        block.values[i] =
            acc->sums[i] == DT_count ? acc->values[i] : emit_identity(&s->e, acc->sums[i], OP_add);
    return block;
}

static void end_block(Row *s, const Accumulators *block, Accumulators *acc) {
    for (uint32_t i = 0; i < acc->count; i++)
        acc->values[i] = acc->sums[i] == DT_count
                             ? block->values[i]
                             : map2(s, OP_add, acc->values[i], block->values[i]);
}

/* A loop over 0..extent, in blocks where sums would be long. */
static void loop_in_blocks(Row *s, const Steps *steps, const Dim *extent, Accumulators *acc) {
    IrContext *ctx = s->e.ctx;
    const Dim *zero = dim_const(ctx, 0), *size = dim_const(ctx, SUM_BLOCK);
    if (extent->hi <= SUM_BLOCK || !has_sums(acc)) {
        loop_steps(s, steps, zero, extent, acc);
        return;
    }
    EmitLoop loop =
        emit_begin_for(&s->e, "b", zero, dim_ceildiv(ctx, extent, size), acc->values, acc->count);
    for (uint32_t i = 0; i < acc->count; i++) acc->values[i] = loop.loop->carried + i;
    Accumulators block = begin_block(s, acc);
    const Dim *from = dim_scale(ctx, loop.variable, SUM_BLOCK);
    loop_steps(s, steps, from, dim_min(ctx, dim_offset(ctx, from, SUM_BLOCK), extent), &block);
    end_block(s, &block, acc);
    TileId first = emit_end_for(&s->e, loop, acc->values);
    for (uint32_t i = 0; i < acc->count; i++) acc->values[i] = first + i;
}

static void step_vector(Row *s, const Steps *steps, const Dim *k, Accumulators *acc) {
    size_t mark = emit_guard_mark(&s->e);
    const Dim *first = dim_scale(s->e.ctx, k, s->request->target->lanes);
    set_position(s, dim_add(s->e.ctx, first, lane_axis(s)));
    steps->sweep(s, steps->stage, emit_guard_mark(&s->e), acc);
    emit_pop_guards(&s->e, mark);
}

/* The merged axes in vectors: whole ones, then the partial one under a guard. */
static void sweep_vectors(Row *s, uint32_t stage, SweepBody *body, Accumulators *acc) {
    ValueEmitter *e = &s->e;
    IrContext *ctx = e->ctx;
    int64_t lanes = s->request->target->lanes;
    const Dim *length = domain_extent(ctx, s->domain.dims, s->tail, s->domain.rank);
    const Dim *whole = dim_floordiv(ctx, length, dim_const(ctx, lanes));
    Steps steps = {.body = step_vector,
                   .stage = stage,
                   .sweep = body,
                   .unroll = (uint32_t)s->request->schedule.unroll};
    if (!dim_equals_int(whole, 0)) loop_in_blocks(s, &steps, whole, acc);
    const Dim *rest = dim_scale(ctx, whole, lanes);
    if (rest == length) return;
    size_t mark = emit_guard_mark(e), scope = emit_scope(e);
    const Dim *position = dim_add(ctx, rest, lane_axis(s));
    emit_push_guard(e, position, dim_const(ctx, 0), length);
    set_position(s, position);
    body(s, stage, mark, acc);
    emit_pop_guards(e, mark);
    emit_end_scope(e, scope);
}

static void sweep_axes(Row *s, uint32_t axis, uint32_t stage, SweepBody *body, Accumulators *acc);

/* Steps of the loops over the reduced axes from `axis` on, at most. */
static int64_t most_steps(const Row *s, uint32_t axis) {
    const Dim *steps = dim_const(s->e.ctx, 1);
    for (uint32_t i = axis; i < s->domain.rank; i++)
        if (s->reduced[i]) steps = dim_mul(s->e.ctx, steps, s->domain.dims[i]);
    return s->column ? steps->hi : steps->hi / s->request->target->lanes;
}

/* The axes inside, whose sums are a block of their own where there are many steps. */
static void step_axis(Row *s, const Steps *steps, const Dim *k, Accumulators *acc) {
    uint32_t axis = steps->axis;
    s->domain.index[axis] = k;
    bool innermost = most_steps(s, axis + 1) <= 1;
    if (innermost || most_steps(s, axis) <= SUM_BLOCK || !has_sums(acc)) {
        sweep_axes(s, axis + 1, steps->stage, steps->sweep, acc);
        return;
    }
    Accumulators block = begin_block(s, acc);
    sweep_axes(s, axis + 1, steps->stage, steps->sweep, &block);
    end_block(s, &block, acc);
}

/* Reduced axes from `axis` on, outermost first; the merged ones in vectors. */
static void sweep_axes(Row *s, uint32_t axis, uint32_t stage, SweepBody *body, Accumulators *acc) {
    uint32_t end = s->column ? s->domain.rank : s->tail;
    while (axis < end && !s->reduced[axis]) axis++;
    if (axis == end) {
        if (s->column)
            body(s, stage, emit_guard_mark(&s->e), acc);
        else
            sweep_vectors(s, stage, body, acc);
        return;
    }
    Steps steps = {.body = step_axis, .axis = axis, .stage = stage, .sweep = body};
    loop_in_blocks(s, &steps, s->domain.dims[axis], acc);
}

/* ---- values kept in scratch ------------------------------------------------------------------ */

static bool is_dear(const Node *node) {
    return op_info(node->op)->ulp > 0 || node->op == OP_gather || node->op == OP_random;
}

/* Whether something dear is computed between `id` and the inputs and finished reductions. */
static bool is_dear_cone(const Row *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    if (is_reduction(node->op)) return false;
    if (is_dear(node)) return true;
    for (uint32_t i = 0; i < node->arg_count; i++)
        if (is_dear_cone(s, node->args[i])) return true;
    return false;
}

static bool is_row_sized(const Row *s, NodeId id) {
    const Type *type = graph_type(s->request->region, id);
    bool same = type->rank == s->domain.rank;
    for (uint32_t i = 0; same && i < type->rank; i++) same = type->dims[i] == s->domain.dims[i];
    return same;
}

/* Nodes that the reductions of `stage` compute, are dear, and that later sweeps use. */
static bool *find_kept(Row *s, uint32_t stage) {
    const Graph *g = s->request->region;
    bool *computed = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    bool *kept = NEW_ARRAY(s->e.arena, bool, g->nodes.count);
    for (size_t i = 0; i < s->reductions.count; i++) {
        NodeId id = s->reductions.data[i];
        if (s->stage[id] == stage) computed[graph_node(g, id)->args[0]] = true;
    }
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        if (!computed[id] || is_reduction(node->op)) continue;
        for (uint32_t i = 0; i < node->arg_count; i++) computed[node->args[i]] = true;
    }
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; s->stage[id] >= stage && i < node->arg_count; i++) {
            NodeId arg = node->args[i];
            bool later = !is_reduction(node->op) || s->stage[id] > stage;
            if (later && computed[arg] && s->stage[arg] < stage && is_row_sized(s, arg) &&
                is_dear_cone(s, arg))
                kept[arg] = true;
        }
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        NodeId base = domain_base(g, g->outputs.data[i].node);
        if (computed[base] && s->stage[base] < stage && is_row_sized(s, base) &&
            is_dear_cone(s, base))
            kept[base] = true;
    }
    return kept;
}

/* The elements of a row, as scratch holds them: in row form the reduced axes; a vector each in
 * column form. */
static const Dim *row_length(const Row *s) {
    const Dim *length = dim_const(s->e.ctx, 1);
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) length = dim_mul(s->e.ctx, length, s->domain.dims[i]);
    return length;
}

static const Dim *row_position(const Row *s) {
    const Dim *position = dim_const(s->e.ctx, 0);
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i])
            position = dim_add(s->e.ctx, dim_mul(s->e.ctx, position, s->domain.dims[i]),
                               s->domain.index[i]);
    return position;
}

typedef struct Kept {
    NodeId node;
    uint32_t view;
} Kept;

typedef struct KeptList {
    VEC(Kept) items;
} KeptList;

static KeptList add_scratch(Row *s, uint32_t stage) {
    KeptList list = {0};
    const Dim *length = row_length(s);
    bool fits = length->hi <= s->request->target->l2_bytes / 8;
    if (s->column || !fits) return list;
    bool *kept = find_kept(s, stage);
    for (NodeId id = 0; id < s->request->region->nodes.count; id++) {
        if (!kept[id]) continue;
        TileView view = {.name = str_format(s->e.arena, "s%u", s->saved_count++),
                         .space = SPACE_scratch,
                         .dtype = dtype_compute(graph_type(s->request->region, id)->dtype),
                         .rank = 1,
                         .dims = {length},
                         .alignment = 64,
                         .written = true};
        vec_push(s->e.arena, &list.items, (Kept){id, tile_add_view(s->e.program, &view)});
    }
    return list;
}

static void provide_kept(Row *s, const KeptList *list) {
    for (size_t i = 0; i < list->items.count; i++) {
        Provision p = {
            .node = list->items.data[i].node, .value = TILE_none, .view = list->items.data[i].view};
        for (uint32_t a = 0; a < s->domain.rank; a++)
            p.index[a] = s->reduced[a] ? NULL : s->domain.index[a];
        emit_provide(&s->e, &p);
    }
}

/* What the sweep of the current stage keeps, for its body. */
typedef struct StageSweep {
    Row row;
    KeptList kept;
} StageSweep;

static void reduce_body(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
    const KeptList *kept = &((StageSweep *)s)->kept;
    step(s, stage, mark, acc);
    const Dim *position = row_position(s);
    for (size_t i = 0; i < kept->items.count; i++) {
        TileId value = emit_value(&s->e, kept->items.data[i].node, s->domain.index);
        if (value == TILE_none) return;
        tile_store(&s->e.b, value, kept->items.data[i].view, &position, NULL, s->e.guards.data,
                   (uint32_t)s->e.guards.count, OP_none);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void store_body(Row *s, uint32_t stage, size_t mark, Accumulators *acc) {
    (void)stage, (void)mark, (void)acc;
    for (uint32_t i = 0; i < s->request->region->outputs.count; i++) {
        NodeId base = domain_base(s->request->region, s->request->region->outputs.data[i].node);
        if (!domain_fits(s->e.ctx, &s->outer, graph_type(s->request->region, base)))
            domain_store(&s->e, &s->domain, i, s->streaming);
    }
}

/* Outputs with one element a row; whether there are any as large as the row. */
static bool store_small_outputs(Row *s, const TileShape *small) {
    const Graph *g = s->request->region;
    bool any_large = false;
    TileShape shape = s->e.shape;
    size_t guards = s->e.guards.count;
    emit_set_shape(&s->e, *small);
    if (small->rank == 0) s->e.guards.count = 0; /* they are about the row's elements */
    for (uint32_t i = 0; i < g->outputs.count; i++) {
        const Type *type = graph_type(g, domain_base(g, g->outputs.data[i].node));
        if (domain_fits(s->e.ctx, &s->outer, type))
            domain_store(&s->e, &s->outer, i, false);
        else if (domain_fits(s->e.ctx, &s->domain, type))
            any_large = true;
        else
            emit_fail(&s->e, "an output is neither as large as the row nor one element of it");
    }
    emit_set_shape(&s->e, shape);
    s->e.guards.count = guards;
    return any_large;
}

/* ---- the forms ------------------------------------------------------------------------------- */

/* The indices of all reduced axes from one position over them. */
static void set_reduced(Row *s, const Dim *position) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) dims[count++] = s->domain.dims[i];
    emit_delinear(&s->e, count, dims, position, index);
    count = 0;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (s->reduced[i]) s->domain.index[i] = index[count++];
}

/* All axes of the row as one tile: free programs, and short rows in registers. */
static void build_whole(Row *s, uint32_t lanes) {
    TileShape shape = {.lanes = lanes}, small = {.lanes = lanes == 0 ? 0 : 1};
    ValueEmitter *e = &s->e;
    size_t mark = emit_guard_mark(e);
    const Dim *length = row_length(s);
    shape.rank = 1;
    shape.extents[0] = length;
    if (lanes > 0)
        shape.extents[0] =
            dim_scale(e->ctx, dim_ceildiv(e->ctx, length, dim_const(e->ctx, lanes)), lanes);
    emit_set_shape(e, shape);
    const Dim *position = emit_axis(e, 0);
    emit_push_guard(e, position, dim_const(e->ctx, 0), length);
    set_reduced(s, position);
    for (uint32_t stage = 1; stage <= s->stage_count && e->error == NULL; stage++) {
        Accumulators acc = start(s, stage);
        step(s, stage, mark, &acc);
        finish(s, stage, &acc);
    }
    if (e->error == NULL && store_small_outputs(s, &small)) store_body(s, 0, mark, NULL);
    emit_pop_guards(e, mark);
}

/* The last sweep that stores nothing asks for the next rows: while the stores of the sweep behind
 * it leave the caches, reading would only be in their way. */
static int64_t bytes_ahead(const Row *s, uint32_t stage) {
    enum { LONGEST = 1 << 17 };
    int64_t wanted = s->request->schedule.ahead;
    if (wanted == 0 || s->column || stage != s->stage_count) return 0;
    int64_t row = 4 * dim_tune_value(row_length(s));
    if (row <= 0 || row > LONGEST) return wanted;
    return (wanted + row - 1) / row * row;
}

static void build_sweeps(StageSweep *sweep) {
    Row *s = &sweep->row;
    TileShape small = {.lanes = 1};
    if (s->column) small = s->e.shape;
    if (s->pairs) small = (TileShape){.rank = 1, .lanes = 1, .extents = {s->e.shape.extents[0]}};
    for (uint32_t stage = 1; stage <= s->stage_count && s->e.error == NULL; stage++) {
        sweep->kept = add_scratch(s, stage);
        Accumulators acc = start(s, stage);
        s->e.ahead = bytes_ahead(s, stage);
        sweep_axes(s, 0, stage, reduce_body, &acc);
        s->e.ahead = 0;
        finish(s, stage, &acc);
        provide_kept(s, &sweep->kept);
    }
    Accumulators none = {0};
    if (s->e.error == NULL && store_small_outputs(s, &small))
        sweep_axes(s, 0, 0, store_body, &none);
}

/* Column form in vectors: whole ones without guards, the last partial one with them. */
static void build_column(StageSweep *sweep) {
    Row *s = &sweep->row;
    ValueEmitter *e = &s->e;
    const Dim *length = s->domain.dims[s->domain.rank - 1];
    const Dim *position = s->domain.index[s->domain.rank - 1];
    if (dim_proves_lt(e->ctx, position, length)) {
        build_sweeps(sweep);
        return;
    }
    const Dim *base = dim_sub(e->ctx, position, emit_axis(e, 0));
    const Dim *last = dim_offset(e->ctx, base, s->request->target->lanes - 1);
    TileGuard whole = {last, dim_const(e->ctx, 0), length};
    size_t provided = e->provisions.count, mark = emit_guard_mark(e);
    EmitBranch branch = emit_begin_if(e, &whole, 1);
    build_sweeps(sweep);
    e->provisions.count = provided;
    emit_else(e, branch, NULL, 0);
    emit_push_guard(e, position, dim_const(e->ctx, 0), length);
    build_sweeps(sweep);
    emit_pop_guards(e, mark);
    emit_end_if(e, branch, NULL, 0);
}

static bool is_short(const Row *s) {
    int64_t length;
    return dim_is_const(row_length(s), &length) && length <= SHORT_ROW && length > 0 &&
           s->tail + 1 <= s->domain.rank;
}

/* Two rows at once are two sums that do not wait for each other. It pays where little else is done
 * and while both rows stay in the second cache, but not where stores bypass the caches: those would
 * go back and forth between places that are near. */
static bool takes_pairs(const Row *s) {
    enum { LEAST_ROWS = 32 };
    const SkeletonRequest *request = s->request;
    bool in_rows = request->state == TILE_placed && !s->streaming &&
                   request->target->kind == TARGET_cpu && !s->column && !is_short(s) &&
                   last_kept(s) < s->domain.rank;
    if (!in_rows) return false;
    const Dim *rows = s->domain.dims[last_kept(s)];
    if (!dim_proves_divisible(rows, 2) || dim_tune_value(rows) < LEAST_ROWS) return false;
    if (16 * dim_tune_value(row_length(s)) > request->target->l2_bytes) return false;
    for (NodeId id = 0; id < request->region->nodes.count; id++) {
        const Node *node = graph_node(request->region, id);
        if (op_info(node->op)->class == CLASS_ARGREDUCE) return false;
        if (is_dear(node) && is_row_sized(s, id)) return false;
    }
    return true;
}

/* What tiles are made of while the row is swept. */
static TileShape sweep_shape(const Row *s) {
    const Dim *lanes = dim_const(s->e.ctx, s->request->target->lanes);
    TileShape shape = {.rank = 1, .lanes = s->request->target->lanes, .extents = {lanes}};
    if (s->pairs) {
        shape.rank = 2;
        shape.extents[0] = dim_const(s->e.ctx, 2);
        shape.extents[1] = lanes;
    }
    return shape;
}

TileProgram *skeleton_build_row(const SkeletonRequest *request, const char **out_why) {
    StageSweep sweep = {.row = {.request = request}};
    Row *s = &sweep.row;
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    s->streaming = request->schedule.streaming == 2;
    analyse(s);
    if (s->e.error == NULL) {
        bool placed = request->state == TILE_placed;
        s->pairs = takes_pairs(s);
        if (placed) emit_set_shape(&s->e, sweep_shape(s));
        add_grid(s);
        if (!placed)
            build_whole(s, 0);
        else if (s->column)
            build_column(&sweep);
        else if (is_short(s))
            build_whole(s, request->target->lanes);
        else
            build_sweeps(&sweep);
    }
    *out_why = s->e.error;
    return s->e.error == NULL ? s->e.program : NULL;
}
