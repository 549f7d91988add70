/* Ops that only move: each rewrites the index and goes on with its operand. */
#include "codegen/skeleton/emit_internal.h"

/* The value of `inner` where the guards pushed since `mark` hold, `other` elsewhere. */
static TileId choose(ValueEmitter *e, size_t mark, TileId inner, TileId other) {
    TileId test = emit_test(e, mark);
    emit_pop_guards(e, mark);
    if (test == TILE_none) return inner;
    return tile_map(&e->b, OP_select, (TileId[]){test, inner, other}, 3);
}

static bool mentions_dynamic(const ValueEmitter *e, const Dim *value) {
    for (size_t d = 0; d < e->dynamics.count; d++)
        if (dim_mentions(value, e->dynamics.data[d].symbol)) return true;
    return false;
}

/* Whether a gathered index that each element of the tile has for itself stands in `value`. */
static bool gathers_lanes(const ValueEmitter *e, const Dim *value) {
    for (size_t d = 0; d < e->dynamics.count; d++)
        if (dim_mentions(value, e->dynamics.data[d].symbol) &&
            tile_value_type(e->program, e->dynamics.data[d].value)->rank > 0)
            return true;
    return false;
}

/* Whether all elements of the tile have this index. */
static bool is_uniform(ValueEmitter *e, const Dim *const *index, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        if (gathers_lanes(e, index[i])) return false;
    for (uint32_t axis = 0; axis < e->shape.rank; axis++) {
        const DimSymbol *symbol = tile_axis_symbol(e->program, axis, e->shape.extents[axis]);
        for (uint32_t i = 0; i < rank; i++)
            if (dim_mentions(index[i], symbol)) return false;
        for (size_t i = 0; i < e->guards.count; i++)
            if (dim_mentions(e->guards.data[i].value, symbol)) return false;
    }
    return true;
}

TileId emit_pad(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Type *inner_type = graph_type(e->region, node->args[0]);
    const DimList *lo = node_attr(node, "lo").dims;
    TileId fill = emit_value(e, node->args[1], NULL);
    size_t mark = emit_guard_mark(e);
    const Dim *inner[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < node->type->rank; i++) {
        inner[i] = dim_sub(e->ctx, index[i], lo->items[i]);
        if (node->type->dims[i] == inner_type->dims[i]) continue;
        if (mentions_dynamic(e, inner[i])) return emit_fail(e, "padding is gathered from");
        emit_push_guard(e, inner[i], dim_const(e->ctx, 0), inner_type->dims[i]);
    }
    TileId value = emit_value(e, node->args[0], inner);
    if (value == TILE_none || fill == TILE_none) return TILE_none;
    return choose(e, mark, value, fill);
}

/* ---- concat ---------------------------------------------------------------------------------- */

enum { MANY_PARTS = 4 };

typedef struct Concat {
    const Node *node;
    const Dim *const *index;
    int64_t axis;
    const Dim **starts; /* of each operand along the axis, and the end of the last */
} Concat;

static Concat concat_of(ValueEmitter *e, const Node *node, const Dim *const *index) {
    Concat c = {.node = node, .index = index, .axis = node_attr(node, "axis").i};
    c.starts = NEW_ARRAY(e->arena, const Dim *, node->arg_count + 1);
    c.starts[node->arg_count] = node->type->dims[c.axis];
    for (uint32_t i = node->arg_count; i-- > 0;) {
        const Dim *extent = graph_type(e->region, node->args[i])->dims[c.axis];
        c.starts[i] = dim_sub(e->ctx, c.starts[i + 1], extent);
    }
    return c;
}

static TileId emit_part(ValueEmitter *e, const Concat *c, uint32_t i) {
    const Dim *inner[TYPE_MAX_RANK];
    for (uint32_t k = 0; k < c->node->type->rank; k++) inner[k] = c->index[k];
    inner[c->axis] = dim_sub(e->ctx, inner[c->axis], c->starts[i]);
    return emit_value(e, c->node->args[i], inner);
}

/* Operands from the last to the first: each is chosen where the index lies before its end. */
static TileId choose_part(ValueEmitter *e, const Concat *c) {
    const Dim *at = c->index[c->axis];
    TileId result = TILE_none;
    for (uint32_t i = c->node->arg_count; i-- > 0;) {
        if (dim_proves_lt(e->ctx, at, c->starts[i])) continue;
        size_t mark = emit_guard_mark(e);
        emit_push_guard(e, dim_sub(e->ctx, at, c->starts[i]), dim_const(e->ctx, 0),
                        graph_type(e->region, c->node->args[i])->dims[c->axis]);
        TileId value = emit_part(e, c, i);
        if (value == TILE_none) return TILE_none;
        if (result == TILE_none) emit_pop_guards(e, mark);
        result = result == TILE_none ? value : choose(e, mark, value, result);
        if (dim_proves_le(e->ctx, c->starts[i], at)) break;
    }
    return result == TILE_none ? emit_number(e, c->node->type->dtype, 0) : result;
}

/* The whole tile lies in one of the operands first..end: branches halve them, so that no other is
 * looked at. */
static TileId branch_to_part(ValueEmitter *e, const Concat *c, uint32_t first, uint32_t end) {
    if (end - first == 1) {
        TileId value = emit_part(e, c, first);
        return value == TILE_none ? value : emit_broadcast(e, value, false);
    }
    const Dim *at = c->index[c->axis];
    uint32_t middle = first + (end - first) / 2;
    TileGuard before = {at, c->starts[first], c->starts[middle]};
    EmitBranch branch = emit_begin_if(e, &before, 1);
    TileId value = branch_to_part(e, c, first, middle);
    if (value == TILE_none) return TILE_none;
    emit_else(e, branch, &value, 1);
    prover_assume_range(&e->prover, c->starts[middle], at, c->starts[end]);
    value = branch_to_part(e, c, middle, end);
    if (value == TILE_none) return TILE_none;
    e->prover.facts.count = branch.facts;
    return emit_end_if(e, branch, &value, 1);
}

TileId emit_concat(ValueEmitter *e, const Node *node, const Dim *const *index) {
    Concat c = concat_of(e, node, index);
    if (mentions_dynamic(e, index[c.axis])) return emit_fail(e, "a concatenation is gathered from");
    bool one_part = e->branches && is_uniform(e, &index[c.axis], 1);
    return one_part && node->arg_count >= MANY_PARTS ? branch_to_part(e, &c, 0, node->arg_count)
                                                     : choose_part(e, &c);
}

/* ---- indices --------------------------------------------------------------------------------- */

void emit_operand_index(ValueEmitter *e, const Node *node, const Dim *const *index,
                        const Dim **inner) {
    const Type *type = graph_type(e->region, node->args[0]);
    switch (node->op) {
    case OP_reshape:
        emit_delinear(e, type->rank, type->dims,
                      emit_linear(e->ctx, node->type->rank, node->type->dims, index), inner);
        break;
    case OP_permute:
        for (uint32_t i = 0; i < type->rank; i++)
            inner[node_attr(node, "perm").ints->items[i]] = index[i];
        break;
    case OP_broadcast:
        for (uint32_t i = 0; i < type->rank; i++) {
            int64_t axis = node_attr(node, "axes").ints->items[i];
            inner[i] = dim_equals_int(type->dims[i], 1) ? dim_const(e->ctx, 0) : index[axis];
        }
        break;
    case OP_slice:
        for (uint32_t i = 0; i < type->rank; i++)
            inner[i] = dim_add(e->ctx, node_attr(node, "start").dims->items[i],
                               dim_scale(e->ctx, index[i], node_attr(node, "step").ints->items[i]));
        break;
    default: { /* reverse */
        const IntList *axes = node_attr(node, "axes").ints;
        for (uint32_t i = 0; i < type->rank; i++) inner[i] = index[i];
        for (uint32_t i = 0; i < axes->count; i++) {
            int64_t axis = axes->items[i];
            inner[axis] = dim_sub(e->ctx, dim_offset(e->ctx, type->dims[axis], -1), index[axis]);
        }
    }
    }
}

TileId emit_moved(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Dim *inner[TYPE_MAX_RANK];
    size_t mark = emit_guard_mark(e);
    emit_operand_index(e, node, index, inner);
    TileId value = emit_value(e, node->args[0], inner);
    emit_pop_guards(e, mark);
    return value;
}

/* An element of an index tensor, wrapped and checked; one for the whole tile where that will do. */
static TileId emit_safe_index(ValueEmitter *e, NodeId indices, const Dim *const *where,
                              const Dim *bound) {
    TileShape shape = e->shape;
    if (is_uniform(e, where, graph_type(e->region, indices)->rank))
        emit_set_shape(e, (TileShape){.lanes = shape.lanes == 0 ? 0 : 1});
    TileId raw = emit_value(e, indices, where), safe = TILE_none;
    if (raw != TILE_none)
        safe = tile_check(&e->b, emit_cast(&e->b, raw, DT_i64), bound, e->guards.data,
                          (uint32_t)e->guards.count);
    emit_set_shape(e, shape);
    return safe;
}

/* x[…, i[…], …]: the index is read, made safe, and stands as a symbol in x's index. */
TileId emit_gather(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Type *table = graph_type(e->region, node->args[0]);
    const Type *indices = graph_type(e->region, node->args[1]);
    uint32_t axis = (uint32_t)node_attr(node, "axis").i,
             batch = (uint32_t)node_attr(node, "batch").i;
    uint32_t middle = indices->rank - batch;
    const Dim *where[TYPE_MAX_RANK], *inner[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < indices->rank; i++)
        where[i] = i < batch ? index[i] : index[axis + i - batch];
    TileId safe = emit_safe_index(e, node->args[1], where, table->dims[axis]);
    if (safe == TILE_none) return TILE_none;
    const Dim *extent = table->dims[axis];
    int64_t last = extent->hi > 0 ? extent->hi - 1 : 0; /* of none, the check refuses all */
    const DimSymbol *symbol = dim_new_symbol(e->ctx, SYMBOL_index, STR("at"), 0, last, 0, extent);
    vec_push(e->arena, &e->dynamics, (DynamicIndex){symbol, safe});
    for (uint32_t i = 0; i < table->rank; i++)
        inner[i] = i < axis    ? index[i]
                   : i == axis ? dim_of_symbol(e->ctx, symbol)
                               : index[i - 1 + middle];
    size_t mark = emit_guard_mark(e);
    emit_push_guard(e, dim_const(e->ctx, 0), dim_const(e->ctx, 0), table->dims[axis]);
    TileId value = emit_value(e, node->args[0], inner);
    emit_pop_guards(e, mark);
    e->dynamics.count--;
    return value;
}
