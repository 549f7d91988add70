#include "codegen/skeleton/emit.h"

#include "base/guard.h"
#include "ir/tensor.h"

#include <math.h>
#include <stdarg.h>

/* ---- setting up ------------------------------------------------------------------------------ */

static void add_view(ValueEmitter *e, const char *prefix, uint32_t number, const Type *type,
                     bool written) {
    TileView view = {.name = str_format(e->arena, "%s%u", prefix, number),
                     .space = SPACE_global,
                     .dtype = type->dtype,
                     .rank = type->rank,
                     .argument = (uint32_t)e->program->views.count,
                     .alignment = (dtype_info(type->dtype)->bits + 7) / 8,
                     .written = written};
    for (uint32_t i = 0; i < type->rank; i++) view.dims[i] = type->dims[i];
    tile_add_view(e->program, &view);
}

static bool is_narrow(DType dtype) { return dtype_compute(dtype) != dtype; }

/* A node is pinned to its dtype when the user wrote the rounding, when a discontinuous op reads it,
 * or when it is stored and also used (all uses then read what was stored). */
static void find_rounded(ValueEmitter *e, bool round_everywhere) {
    const Graph *g = e->region;
    e->rounded = NEW_ARRAY(e->arena, bool, g->nodes.count);
    uint32_t *uses = graph_count_uses(g, e->arena);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        if (node->type->is_tuple) continue;
        bool four_bits = dtype_info(node->type->dtype)->bits == 4;
        bool user_cast = node->op == OP_cast && node_attr(node, "user").i != 0;
        if (round_everywhere || user_cast || four_bits) e->rounded[id] = true;
        bool to_int = node->op == OP_cast && !dtype_is_float(node->type->dtype);
        if ((op_info(node->op)->flags & FLAG_discontinuous) == 0 && !to_int) continue;
        if (node->op == OP_select) continue;
        for (uint32_t i = 0; i < node->arg_count; i++) e->rounded[node->args[i]] = true;
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        if (uses[g->outputs.data[i].node] > 1) e->rounded[g->outputs.data[i].node] = true;
}

void emit_init(ValueEmitter *e, IrContext *ctx, Arena *arena, const Graph *region, TileState state,
               Str name, bool round_everywhere) {
    *e = (ValueEmitter){.ctx = ctx, .arena = arena, .region = region};
    e->program = tile_program_new(ctx, arena, name, state);
    e->b = tile_builder(e->program);
    e->prover = (Prover){.ctx = ctx, .arena = arena};
    for (uint32_t i = 0; i < region->inputs.count; i++)
        add_view(e, "x", i, graph_type(region, region->inputs.data[i]), false);
    e->output_view = (uint32_t)e->program->views.count;
    for (uint32_t i = 0; i < region->outputs.count; i++)
        add_view(e, "y", i, graph_type(region, region->outputs.data[i].node), true);
    find_rounded(e, round_everywhere);
}

TileId emit_fail(ValueEmitter *e, const char *format, ...) {
    if (e->error != NULL) return TILE_none;
    va_list args;
    va_start(args, format);
    Buf buf = {.arena = e->arena};
    buf_vprint(&buf, format, args);
    va_end(args);
    e->error = buf.data;
    return TILE_none;
}

const Dim *emit_axis(ValueEmitter *e, uint32_t axis) {
    return dim_of_symbol(e->ctx, tile_axis_symbol(e->program, axis, e->shape.extents[axis]));
}

TileType emit_type(const ValueEmitter *e, DType dtype) {
    return tile_type(dtype, e->shape.rank, e->shape.extents, e->shape.lanes);
}

void emit_set_shape(ValueEmitter *e, TileShape shape) { e->shape = shape; }

/* ---- index arithmetic ------------------------------------------------------------------------ */

const Dim *emit_linear(IrContext *ctx, uint32_t rank, const Dim *const *dims,
                       const Dim *const *index) {
    const Dim *position = dim_const(ctx, 0);
    for (uint32_t i = 0; i < rank; i++)
        position = dim_add(ctx, dim_mul(ctx, position, dims[i]), index[i]);
    return position;
}

void emit_delinear(ValueEmitter *e, uint32_t rank, const Dim *const *dims, const Dim *position,
                   const Dim **out_index) {
    const Dim *one = dim_const(e->ctx, 1);
    for (uint32_t i = rank; i-- > 0;) {
        const Dim *d = dims[i]->lo > 0 ? dims[i] : dim_max(e->ctx, dims[i], one);
        out_index[i] = i == 0 ? position : dim_mod(e->ctx, position, d);
        position = dim_floordiv(e->ctx, position, d);
        if (dims[i]->lo <= 0 && rank > 1)
            emit_push_guard(e, out_index[i], dim_const(e->ctx, 0), dims[i]);
    }
}

/* ---- guards, scopes, provisions -------------------------------------------------------------- */

void emit_push_guard(ValueEmitter *e, const Dim *value, const Dim *lo, const Dim *hi) {
    if (dim_proves_le(e->ctx, lo, value) && dim_proves_lt(e->ctx, value, hi)) return;
    for (size_t i = 0; i < e->guards.count; i++) {
        const TileGuard *g = &e->guards.data[i];
        if (g->value == value && g->lo == lo && g->hi == hi) return;
    }
    vec_push(e->arena, &e->guards, (TileGuard){value, lo, hi});
}

size_t emit_guard_mark(const ValueEmitter *e) { return e->guards.count; }

void emit_pop_guards(ValueEmitter *e, size_t mark) { e->guards.count = mark; }

TileId emit_test(ValueEmitter *e, size_t mark) {
    if (e->guards.count == mark) return TILE_none;
    return tile_test(&e->b, emit_type(e, DT_bool), e->guards.data + mark,
                     (uint32_t)(e->guards.count - mark));
}

size_t emit_scope(const ValueEmitter *e) { return e->memo.count; }

void emit_end_scope(ValueEmitter *e, size_t mark) { e->memo.count = mark; }

void emit_provide(ValueEmitter *e, const Provision *provision) {
    vec_push(e->arena, &e->provisions, *provision);
}

EmitLoop emit_begin_for(ValueEmitter *e, const char *name, const Dim *from, const Dim *to,
                        const TileId *initial, uint32_t count) {
    EmitLoop loop = {.scope = emit_scope(e), .facts = e->prover.facts.count};
    loop.loop = tile_begin_for(&e->b, name, from, to, 1, initial, count);
    loop.variable = dim_of_symbol(e->ctx, loop.loop->variable);
    prover_assume_range(&e->prover, from, loop.variable, to);
    return loop;
}

TileId emit_end_for(ValueEmitter *e, EmitLoop loop, const TileId *yields) {
    emit_end_scope(e, loop.scope);
    e->prover.facts.count = loop.facts;
    return tile_end_for(&e->b, loop.loop, yields);
}

EmitBranch emit_begin_if(ValueEmitter *e, const TileGuard *guards, uint32_t guard_count) {
    EmitBranch branch = {.scope = emit_scope(e), .facts = e->prover.facts.count};
    branch.branch = tile_begin_if(&e->b, guards, guard_count);
    for (uint32_t i = 0; i < guard_count; i++)
        prover_assume_range(&e->prover, guards[i].lo, guards[i].value, guards[i].hi);
    return branch;
}

void emit_else(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count) {
    emit_end_scope(e, branch.scope);
    e->prover.facts.count = branch.facts;
    tile_else(&e->b, branch.branch, yields, count);
}

TileId emit_end_if(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count) {
    emit_end_scope(e, branch.scope);
    return tile_end_if(&e->b, branch.branch, yields, count);
}

/* ---- remembering ----------------------------------------------------------------------------- */

static uint64_t context_hash(const ValueEmitter *e) {
    uint64_t hash = hash_word(e->shape.rank, e->shape.lanes);
    for (uint32_t i = 0; i < e->shape.rank; i++) hash = hash_word(hash, e->shape.extents[i]->id);
    for (size_t i = 0; i < e->guards.count; i++) {
        const TileGuard *g = &e->guards.data[i];
        hash = hash_word(hash_word(hash_word(hash, g->value->id), g->lo->id), g->hi->id);
    }
    return hash;
}

static bool same_index(const Dim *const *a, const Dim *const *b, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static TileId recall(const ValueEmitter *e, NodeId node, const Dim *const *index, uint32_t rank,
                     uint64_t context) {
    for (size_t i = e->memo.count; i-- > 0;) {
        const MemoEntry *entry = &e->memo.data[i];
        if (entry->node == node && entry->context == context &&
            same_index(entry->index, index, rank))
            return entry->value;
    }
    return TILE_none;
}

static void remember(ValueEmitter *e, NodeId node, const Dim *const *index, uint32_t rank,
                     uint64_t context, TileId value) {
    MemoEntry entry = {.node = node, .context = context, .value = value};
    for (uint32_t i = 0; i < rank; i++) entry.index[i] = index[i];
    vec_push(e->arena, &e->memo, entry);
}

/* ---- values
 * -----------------------------------------------------------------------------------------------
 */

TileId emit_number(ValueEmitter *e, DType dtype, double number) {
    DType compute = dtype_compute(dtype);
    TileType type = emit_type(e, compute);
    return dtype_is_float(compute) ? tile_const(&e->b, type, number)
                                   : tile_const_int(&e->b, type, (int64_t)number);
}

static int64_t integer_limit(DType dtype, bool greatest) {
    uint32_t bits = dtype == DT_bool ? 1 : dtype_info(dtype)->bits;
    if (!dtype_is_signed(dtype)) return greatest ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
    int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
    return greatest ? most : -most - 1;
}

TileId emit_identity(ValueEmitter *e, DType dtype, Op op) {
    if (op == OP_add || op == OP_mul) return emit_number(e, dtype, op == OP_mul);
    bool greatest = op == OP_min;
    if (dtype_is_float(dtype)) return emit_number(e, dtype, greatest ? INFINITY : -INFINITY);
    return tile_const_int(&e->b, emit_type(e, dtype_compute(dtype)),
                          integer_limit(dtype, greatest));
}

/* One number in memory form as a constant tile. */
static TileId emit_constant(ValueEmitter *e, const Node *node) {
    int64_t count;
    if (!type_is_static(node->type, &count) || count != 1)
        return emit_fail(e, "a constant of several elements must be an operand");
    const Blob *blob = node_attr(node, "value").blob;
    DType dtype = node->type->dtype;
    Tensor tensor = {.dtype = dtype, .data = (void *)(uintptr_t)blob->bytes};
    DType compute = dtype_compute(dtype);
    if (dtype_is_float(dtype))
        return tile_const(&e->b, emit_type(e, compute), tensor_get(&tensor, 0));
    return tile_const_int(&e->b, emit_type(e, compute), tensor_get_int(&tensor, 0));
}

static TileId cast_to(TileBuilder *b, TileId value, DType to) {
    return tile_value_type(b->program, value)->dtype == to ? value : tile_cast(b, value, to);
}

/* Whether a subscript is more than one vector access: for the choice of the vector axis. */
static void count_access(ValueEmitter *e, uint32_t view, const Dim *const *subscripts) {
    if (e->shape.rank == 0 || e->shape.lanes <= 1) return;
    const TileView *v = &e->program->views.data[view];
    const Dim *position = emit_linear(e->ctx, v->rank, v->dims, subscripts);
    uint32_t last = e->shape.rank - 1;
    const DimSymbol *lane = tile_axis_symbol(e->program, last, e->shape.extents[last]);
    const Dim *coefficient, *rest;
    bool affine = dim_split_affine(e->ctx, position, lane, &coefficient, &rest);
    if (affine && (dim_equals_int(coefficient, 0) || dim_equals_int(coefficient, 1))) return;
    e->slow_accesses++;
    bool near = e->near_symbol != NULL &&
                dim_split_affine(e->ctx, position, e->near_symbol, &coefficient, &rest);
    if (near && dim_equals_int(coefficient, 1)) e->near_accesses++;
}

/* Takes gathered symbols out of the subscripts into `at` tiles: each may occur in one subscript,
 * affinely. */
static bool split_dynamic(ValueEmitter *e, uint32_t rank, const Dim **subscripts, TileId *at,
                          bool *out_any) {
    for (uint32_t i = 0; i < rank; i++) at[i] = TILE_none;
    for (size_t d = 0; d < e->dynamics.count; d++) {
        const DynamicIndex *dynamic = &e->dynamics.data[d];
        for (uint32_t i = 0; i < rank; i++) {
            if (!dim_mentions(subscripts[i], dynamic->symbol)) continue;
            const Dim *coefficient, *rest;
            if (!dim_split_affine(e->ctx, subscripts[i], dynamic->symbol, &coefficient, &rest) ||
                !dim_equals_int(coefficient, 1) || at[i] != TILE_none)
                return false;
            subscripts[i] = rest;
            at[i] = dynamic->value;
            *out_any = true;
        }
    }
    return true;
}

/* Every element that is computed lies inside; where that does not follow from what is known here,
 * the access gets a guard of its own, which always holds. They are popped with the caller's mark.
 */
static void guard_access(ValueEmitter *e, uint32_t view, const Dim *const *subscripts,
                         const TileId *at) {
    const TileView *v = &e->program->views.data[view];
    size_t facts = e->prover.facts.count, given = e->guards.count;
    for (size_t i = 0; i < given; i++)
        prover_assume_range(&e->prover, e->guards.data[i].lo, e->guards.data[i].value,
                            e->guards.data[i].hi);
    const Dim *zero = dim_const(e->ctx, 0);
    for (uint32_t i = 0; i < v->rank; i++) {
        bool gathered = at != NULL && at[i] != TILE_none;
        if (gathered || (prover_nonnegative(&e->prover, subscripts[i]) &&
                         prover_less(&e->prover, subscripts[i], v->dims[i])))
            continue;
        emit_push_guard(e, subscripts[i], zero, v->dims[i]);
    }
    e->prover.facts.count = facts;
}

/* Whether each element of the tile has a gathered index of its own. */
static bool gathers_lanes(const ValueEmitter *e, uint32_t rank, const TileId *at) {
    for (uint32_t i = 0; i < rank; i++)
        if (at[i] != TILE_none && tile_value_type(e->program, at[i])->rank > 0) return true;
    return false;
}

static TileId emit_load(ValueEmitter *e, uint32_t view, DType dtype, const Dim *const *index,
                        uint32_t rank) {
    const Dim *subscripts[TYPE_MAX_RANK];
    TileId at[TYPE_MAX_RANK];
    bool any = false;
    for (uint32_t i = 0; i < rank; i++) subscripts[i] = index[i];
    if (!split_dynamic(e, rank, subscripts, at, &any))
        return emit_fail(e, "a gathered index is transformed before it is used");
    if (any && gathers_lanes(e, rank, at))
        e->slow_accesses++;
    else
        count_access(e, view, subscripts);
    size_t mark = emit_guard_mark(e);
    guard_access(e, view, subscripts, any ? at : NULL);
    TileId value = tile_load(&e->b, emit_type(e, dtype), view, subscripts, any ? at : NULL,
                             e->guards.data, (uint32_t)e->guards.count, 0);
    emit_pop_guards(e, mark);
    return cast_to(&e->b, value, dtype_compute(dtype));
}

/* A Dim over index variables as an i64 tile. */
static TileId emit_index(ValueEmitter *e, const Dim *value) {
    for (size_t d = 0; d < e->dynamics.count; d++) {
        if (!dim_mentions(value, e->dynamics.data[d].symbol)) continue;
        if (value == dim_of_symbol(e->ctx, e->dynamics.data[d].symbol))
            return e->dynamics.data[d].value;
        return emit_fail(e, "a gathered index is computed with");
    }
    return tile_index(&e->b, emit_type(e, DT_i64), value);
}

static TileId emit_leaf(ValueEmitter *e, const Node *node, const Dim *const *index) {
    switch (node->op) {
    case OP_input:
        return emit_load(e, (uint32_t)node_attr(node, "index").i, node->type->dtype, index,
                         node->type->rank);
    case OP_const: return emit_constant(e, node);
    case OP_iota: {
        TileId value = emit_index(e, index[node_attr(node, "axis").i]);
        return value == TILE_none ? value : cast_to(&e->b, value, dtype_compute(node->type->dtype));
    }
    case OP_dim: return emit_index(e, node_attr(node, "value").dim);
    default: return emit_fail(e, "%s cannot stand inside a kernel", op_info(node->op)->name);
    }
}

static TileId emit_elementwise(ValueEmitter *e, const Node *node, const Dim *const *index) {
    TileId args[3];
    for (uint32_t i = 0; i < node->arg_count; i++) {
        args[i] = emit_value(e, node->args[i], index);
        if (args[i] == TILE_none) return TILE_none;
    }
    if (node->op == OP_cast) return cast_to(&e->b, args[0], dtype_compute(node->type->dtype));
    return tile_map(&e->b, node->op, args, node->arg_count);
}

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

static TileId emit_pad(ValueEmitter *e, const Node *node, const Dim *const *index) {
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

/* Operands from the last to the first: each is chosen where the index lies before its end. */
static TileId emit_concat(ValueEmitter *e, const Node *node, const Dim *const *index) {
    int64_t axis = node_attr(node, "axis").i;
    if (mentions_dynamic(e, index[axis])) return emit_fail(e, "a concatenation is gathered from");
    const Dim *inner[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < node->type->rank; i++) inner[i] = index[i];
    const Dim *end = node->type->dims[axis];
    TileId result = TILE_none;
    for (uint32_t i = node->arg_count; i-- > 0;) {
        const Dim *extent = graph_type(e->region, node->args[i])->dims[axis];
        const Dim *start = dim_sub(e->ctx, end, extent);
        inner[axis] = dim_sub(e->ctx, index[axis], start);
        end = start;
        if (dim_proves_lt(e->ctx, index[axis], start)) continue;
        size_t mark = emit_guard_mark(e);
        emit_push_guard(e, inner[axis], dim_const(e->ctx, 0), extent);
        TileId value = emit_value(e, node->args[i], inner);
        if (value == TILE_none) return TILE_none;
        if (result == TILE_none) emit_pop_guards(e, mark);
        result = result == TILE_none ? value : choose(e, mark, value, result);
        if (dim_proves_le(e->ctx, start, index[axis])) break;
    }
    return result == TILE_none ? emit_number(e, node->type->dtype, 0) : result;
}

/* Movement with a single operand: where element `index` of the result comes from. */
static void operand_index(ValueEmitter *e, const Node *node, const Dim *const *index,
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
            bool repeats = type->dims[i] != node->type->dims[axis];
            inner[i] = repeats ? dim_const(e->ctx, 0) : index[axis];
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

static TileId emit_moved(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Dim *inner[TYPE_MAX_RANK];
    size_t mark = emit_guard_mark(e);
    operand_index(e, node, index, inner);
    TileId value = emit_value(e, node->args[0], inner);
    emit_pop_guards(e, mark);
    return value;
}

/* Whether all elements of the tile have this index. */
static bool is_uniform(ValueEmitter *e, const Dim *const *index, uint32_t rank) {
    for (uint32_t axis = 0; axis < e->shape.rank; axis++) {
        const DimSymbol *symbol = tile_axis_symbol(e->program, axis, e->shape.extents[axis]);
        for (uint32_t i = 0; i < rank; i++)
            if (dim_mentions(index[i], symbol)) return false;
        for (size_t i = 0; i < e->guards.count; i++)
            if (dim_mentions(e->guards.data[i].value, symbol)) return false;
    }
    return true;
}

/* An element of an index tensor, wrapped and checked; one for the whole tile where that will do. */
static TileId emit_safe_index(ValueEmitter *e, NodeId indices, const Dim *const *where,
                              const Dim *bound) {
    TileShape shape = e->shape;
    if (is_uniform(e, where, graph_type(e->region, indices)->rank))
        emit_set_shape(e, (TileShape){.lanes = shape.lanes == 0 ? 0 : 1});
    TileId raw = emit_value(e, indices, where), safe = TILE_none;
    if (raw != TILE_none)
        safe = tile_check(&e->b, cast_to(&e->b, raw, DT_i64), bound, e->guards.data,
                          (uint32_t)e->guards.count);
    emit_set_shape(e, shape);
    return safe;
}

/* x[…, i[…], …]: the index is read, made safe, and stands as a symbol in x's index. */
static TileId emit_gather(ValueEmitter *e, const Node *node, const Dim *const *index) {
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
    const DimSymbol *symbol = dim_new_symbol(e->ctx, SYMBOL_index, STR("at"), 0,
                                             table->dims[axis]->hi - 1, 0, table->dims[axis]);
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

static TileId emit_random(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Dim *counter = emit_linear(e->ctx, node->type->rank, node->type->dims, index);
    TileId count = emit_index(e, counter);
    TileShape shape = e->shape;
    emit_set_shape(e, (TileShape){.lanes = shape.lanes == 0 ? 0 : 1});
    TileId key = emit_value(e, node->args[0], NULL);
    emit_set_shape(e, shape);
    if (key == TILE_none || count == TILE_none) return TILE_none;
    return tile_random(&e->b, key, count, node_attr(node, "stream").i);
}

/* A smaller value along the leading axes that it lacks. */
static TileId emit_broadcast(ValueEmitter *e, TileId value) {
    const TileType *type = tile_value_type(e->program, value);
    if (type->rank == e->shape.rank) return value;
    uint32_t axes[TILE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) axes[i] = e->shape.rank - type->rank + i;
    return tile_move(&e->b, emit_type(e, type->dtype), value, axes);
}

static TileId emit_provided(ValueEmitter *e, const Provision *p, const Dim *const *index) {
    if (p->value != TILE_none) return emit_broadcast(e, p->value);
    const Type *type = graph_type(e->region, p->node);
    const Dim *position = dim_const(e->ctx, 0);
    for (uint32_t i = 0; i < type->rank; i++)
        if (p->index[i] == NULL)
            position = dim_add(e->ctx, dim_mul(e->ctx, position, type->dims[i]), index[i]);
    const TileView *view = &e->program->views.data[p->view];
    TileId value = tile_load(&e->b, emit_type(e, view->dtype), p->view, &position, NULL,
                             e->guards.data, (uint32_t)e->guards.count, 0);
    return cast_to(&e->b, value, dtype_compute(type->dtype));
}

static const Provision *find_provision(const ValueEmitter *e, NodeId node,
                                       const Dim *const *index) {
    uint32_t rank = graph_type(e->region, node)->rank;
    for (size_t i = e->provisions.count; i-- > 0;) {
        const Provision *p = &e->provisions.data[i];
        if (p->node != node) continue;
        bool fits = true;
        for (uint32_t k = 0; k < rank && fits; k++)
            fits = p->index[k] == NULL || p->index[k] == index[k];
        if (fits) return p;
    }
    return NULL;
}

static TileId emit_op(ValueEmitter *e, NodeId id, const Dim *const *index) {
    const Node *node = graph_node(e->region, id);
    if (op_is_elementwise(node->op)) return emit_elementwise(e, node, index);
    switch (op_info(node->op)->class) {
    case CLASS_LEAF: return emit_leaf(e, node, index);
    case CLASS_RESHAPE:
    case CLASS_PERMUTE:
    case CLASS_BROADCAST:
    case CLASS_SLICE:
    case CLASS_REVERSE: return emit_moved(e, node, index);
    case CLASS_PAD: return emit_pad(e, node, index);
    case CLASS_CONCAT: return emit_concat(e, node, index);
    case CLASS_GATHER: return emit_gather(e, node, index);
    case CLASS_RANDOM: return emit_random(e, node, index);
    default:
        return emit_fail(e, "%s is needed at an index that the kernel does not compute it at",
                         op_info(node->op)->name);
    }
}

DType emit_sum_dtype(const ValueEmitter *e, NodeId id) {
    const Node *node = graph_node(e->region, id);
    bool wide = graph_type(e->region, node->args[0])->dtype == DT_f64;
    return wide ? DT_f64 : dtype_compute(node->type->dtype);
}

/* Rounds to the node's dtype where that is pinned; loads and movement are exact already. */
TileId emit_pin(ValueEmitter *e, NodeId id, TileId value) {
    const Node *node = graph_node(e->region, id);
    DType dtype = node->type->dtype;
    if (dtype_is_float(dtype)) value = cast_to(&e->b, value, dtype_compute(dtype));
    bool exact =
        op_info(node->op)->class == CLASS_LEAF || (op_info(node->op)->flags & FLAG_movement);
    if (!e->rounded[id] || !is_narrow(dtype) || exact || node->op == OP_gather) return value;
    return tile_cast(&e->b, tile_cast(&e->b, value, dtype), dtype_compute(dtype));
}

TileId emit_value(ValueEmitter *e, NodeId id, const Dim *const *index) {
    if (e->error != NULL) return TILE_none;
    uint32_t rank = graph_type(e->region, id)->rank;
    uint64_t context = context_hash(e);
    TileId value = recall(e, id, index, rank, context);
    if (value != TILE_none) return value;
    const Provision *provision = find_provision(e, id, index);
    value = provision != NULL ? emit_provided(e, provision, index) : emit_op(e, id, index);
    if (value == TILE_none) return value;
    if (provision == NULL) value = emit_pin(e, id, value);
    remember(e, id, index, rank, context, value);
    return value;
}

void emit_store(ValueEmitter *e, uint32_t output, TileId value, const Dim *const *index,
                bool streaming) {
    if (value == TILE_none || e->error != NULL) return;
    const Type *type = graph_type(e->region, e->region->outputs.data[output].node);
    uint32_t view = e->output_view + output;
    count_access(e, view, index);
    size_t mark = emit_guard_mark(e);
    guard_access(e, view, index, NULL);
    TileInstr *store = tile_store(&e->b, cast_to(&e->b, value, type->dtype), view, index, NULL,
                                  e->guards.data, (uint32_t)e->guards.count, OP_none);
    store->streaming = streaming;
    emit_pop_guards(e, mark);
}
