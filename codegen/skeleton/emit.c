#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/emit_internal.h"
#include "codegen/skeleton/facts.h"

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

/* Of the node that accumulates, or else of the first output that has one. */
static const Origin *region_origin(const Graph *region) {
    const Origin *origin = NULL;
    for (size_t i = region->outputs.count; i-- > 0;) {
        const Node *node = graph_node(region, region->outputs.data[i].node);
        if (node->origin != NULL) origin = node->origin;
    }
    for (NodeId id = 0; id < region->nodes.count; id++) {
        const Node *node = graph_node(region, id);
        if (domain_accumulates(node->op) && node->origin != NULL) origin = node->origin;
    }
    return origin;
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
    e->b.origin = region_origin(region);
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

/* ---- values ---------------------------------------------------------------------------------- */

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

TileId emit_broadcast(ValueEmitter *e, TileId value, bool leading) {
    const TileType *type = tile_value_type(e->program, value);
    if (type->rank == e->shape.rank) return value;
    uint32_t axes[TILE_MAX_RANK];
    uint32_t first = leading ? 0 : e->shape.rank - type->rank;
    for (uint32_t i = 0; i < type->rank; i++) axes[i] = first + i;
    return tile_move(&e->b, emit_type(e, type->dtype), value, axes);
}

/* A Dim over index variables as an i64 tile. */
static TileId emit_index(ValueEmitter *e, const Dim *value) {
    for (size_t d = 0; d < e->dynamics.count; d++) {
        if (!dim_mentions(value, e->dynamics.data[d].symbol)) continue;
        if (value == dim_of_symbol(e->ctx, e->dynamics.data[d].symbol))
            return emit_broadcast(e, e->dynamics.data[d].value, false);
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
        return value == TILE_none ? value
                                  : emit_cast(&e->b, value, dtype_compute(node->type->dtype));
    }
    case OP_dim: return emit_index(e, node_attr(node, "value").dim);
    default: return emit_fail(e, "%s cannot stand inside a kernel", op_info(node->op)->name);
    }
}

/* Whether a number of dtype `from` goes to `to` in one rounding by way of what `to` is computed in.
 */
static bool converts_by_compute(DType from, DType to) {
    bool wide = dtype_is_float(from) ? from == DT_f64 : dtype_info(from)->bits >= 32;
    return !wide || !is_narrow(to);
}

static TileId emit_conversion(ValueEmitter *e, TileId value, DType to) {
    if (!converts_by_compute(tile_value_type(e->program, value)->dtype, to))
        value = tile_cast(&e->b, value, to);
    return emit_cast(&e->b, value, dtype_compute(to));
}

static TileId emit_elementwise(ValueEmitter *e, const Node *node, const Dim *const *index) {
    TileId args[3];
    for (uint32_t i = 0; i < node->arg_count; i++) {
        args[i] = emit_value(e, node->args[i], index);
        if (args[i] == TILE_none) return TILE_none;
    }
    if (node->op == OP_cast) return emit_conversion(e, args[0], node->type->dtype);
    TileId value = tile_map(&e->b, node->op, args, node->arg_count);
    emit_last(e)->nonpositive = node->op == OP_exp && facts_nonpositive(e->region, node->args[0]);
    return value;
}

/* The key is one number for all elements: it is there whichever of them are, so the guards, which
 * name the tile's axes, do not hold for it. */
static TileId emit_random(ValueEmitter *e, const Node *node, const Dim *const *index) {
    const Dim *counter = emit_linear(e->ctx, node->type->rank, node->type->dims, index);
    TileId count = emit_index(e, counter);
    TileShape shape = e->shape;
    __typeof__(e->guards) guards = e->guards;
    emit_set_shape(e, (TileShape){.lanes = shape.lanes == 0 ? 0 : 1});
    e->guards = (__typeof__(e->guards)){0};
    TileId key = emit_value(e, node->args[0], NULL);
    e->guards = guards;
    emit_set_shape(e, shape);
    if (key == TILE_none || count == TILE_none) return TILE_none;
    return tile_random(&e->b, key, count, node_attr(node, "stream").i);
}

static TileId emit_provided(ValueEmitter *e, const Provision *p, const Dim *const *index) {
    if (p->value != TILE_none) return emit_broadcast(e, p->value, p->leading);
    const Type *type = graph_type(e->region, p->node);
    const Dim *position = dim_const(e->ctx, 0);
    for (uint32_t i = 0; i < type->rank; i++)
        if (p->index[i] == NULL)
            position = dim_add(e->ctx, dim_mul(e->ctx, position, type->dims[i]), index[i]);
    const Dim *at[] = {p->row, position};
    bool rows = p->row != NULL;
    return emit_load(e, p->view, e->program->views.data[p->view].dtype, rows ? at : at + 1,
                     1 + rows);
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
    if (dtype_is_float(dtype)) value = emit_cast(&e->b, value, dtype_compute(dtype));
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
    const Origin *around = e->b.origin, *own = graph_node(e->region, id)->origin;
    if (own != NULL) e->b.origin = own;
    value = provision != NULL ? emit_provided(e, provision, index) : emit_op(e, id, index);
    if (value != TILE_none && provision == NULL) value = emit_pin(e, id, value);
    e->b.origin = around;
    if (value == TILE_none) return value;
    remember(e, id, index, rank, context, value);
    return value;
}
