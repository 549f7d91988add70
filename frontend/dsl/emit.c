/* Adding nodes to the model's graph. */
#include "frontend/dsl/sema.h"

#include "ir/tensor.h"

#include <math.h>

static bool is_origin(const Origin *origin, const Frame *frame, Loc loc) {
    return origin && origin->caller == frame->origin && origin->library == frame->library &&
           origin->loc.file == loc.file && origin->loc.line == loc.line &&
           origin->loc.column == loc.column && origin->loc.width == loc.width;
}

/* A loop makes nodes at the same few places again and again: they share their origins. */
const Origin *dsl_emit_origin(Sema *s, Loc loc) {
    uint64_t hash = hash_word((uintptr_t)s->frame->origin, (uint64_t)loc.line << 32 | loc.column);
    const Origin **known = &s->origins[hash % SEMA_ORIGINS];
    if (is_origin(*known, s->frame, loc)) return *known;
    Origin *origin = NEW(s->arena, Origin);
    *origin = (Origin){.loc = loc, .caller = s->frame->origin, .library = s->frame->library};
    return *known = origin;
}

NodeId dsl_emit(Sema *s, Loc loc, Op op, const NodeId *args, uint32_t count, const Attr *attrs) {
    if (s->stopped) return NODE_none;
    for (uint32_t i = 0; i < count; i++) {
        if (args[i] == NODE_none) return NODE_none;
    }
    const Origin *origin = dsl_emit_origin(s, loc);
    NodeId node = graph_build(s->graph, NULL, origin, op, args, count, attrs, NULL, 0);
    if (node == NODE_none) {
        if (sema_may_report(s, loc))
            infer_type(s->graph, s->diags, origin, op, args, count, attrs, NULL, 0);
        return NODE_none;
    }
    if (s->graph->nodes.count > DSL_MAX_NODES) {
        sema_limit(s, loc, MSG_GRAPH_SIZE, DSL_MAX_NODES);
        return NODE_none;
    }
    return node;
}

/* ---- constants ------------------------------------------------------------------------------- */

static bool int_fits(DType dtype, int64_t value) {
    const DTypeInfo *info = dtype_info(dtype);
    if (dtype == DT_i64) return true;
    if (dtype == DT_u64) return value >= 0;
    if (dtype_is_float(dtype)) return fabs((double)value) <= info->most;
    return (double)value >= info->least && (double)value <= info->most;
}

/* Infinities and NaN fit all floats but the one that has no infinity. */
static bool float_fits(DType dtype, double value) {
    if (!dtype_is_float(dtype)) return false;
    if (isnan(value)) return true;
    if (isinf(value)) return dtype != DT_f8e4m3;
    return fabs(value) <= dtype_info(dtype)->most;
}

static bool number_fits(DType dtype, const Value *number) {
    if (number->kind == VALUE_bool) return dtype == DT_bool;
    if (dtype == DT_bool) return false;
    return number->kind == VALUE_int ? int_fits(dtype, number->integer)
                                     : float_fits(dtype, number->number);
}

static void report_misfit(Sema *s, Loc loc, DType dtype, const Value *number) {
    Buf text = {.arena = s->arena};
    if (number->kind == VALUE_bool)
        buf_put(&text, number->flag ? STR("true") : STR("false"));
    else if (number->kind == VALUE_int)
        buf_print(&text, "%lld", (long long)number->integer);
    else
        buf_double(&text, number->number);
    sema_error(s, loc, MSG_LITERAL_RANGE, text.data, dtype_name(dtype));
}

NodeId dsl_emit_number(Sema *s, Loc loc, DType dtype, const Value *number) {
    if (!number_fits(dtype, number)) {
        report_misfit(s, loc, dtype, number);
        return NODE_none;
    }
    uint64_t bits = 0;
    Tensor tensor = {.dtype = dtype, .data = &bits};
    if (number->kind == VALUE_float)
        tensor_set(&tensor, 0, number->number);
    else if (number->kind == VALUE_bool)
        tensor_set_int(&tensor, 0, number->flag);
    else if (dtype_is_float(dtype))
        tensor_set(&tensor, 0, (double)number->integer);
    else
        tensor_set_int(&tensor, 0, number->integer);
    Attr value = {.blob = ir_blob(s->ctx, &bits, tensor_bytes(&tensor))};
    return graph_add(s->graph, OP_const, type_scalar(s->ctx, dtype), NULL, 0, &value, NULL, 0,
                     dsl_emit_origin(s, loc));
}

NodeId dsl_emit_dim(Sema *s, Loc loc, const Dim *dim) {
    Attr value = {.dim = dim};
    return dsl_emit(s, loc, OP_dim, NULL, 0, &value);
}

/* ---- conversion and movement ----------------------------------------------------------------- */

NodeId dsl_emit_cast(Sema *s, Loc loc, NodeId x, DType to) {
    if (x == NODE_none || sema_type(s, x)->dtype == to) return x;
    Attr attrs[2] = {{.dtype = to}, {.i = !s->frame->library}};
    return dsl_emit(s, loc, OP_cast, &x, 1, attrs);
}

NodeId dsl_emit_reshape(Sema *s, Loc loc, NodeId x, const Dim *const *dims, uint32_t rank) {
    if (rank > TYPE_MAX_RANK) {
        sema_error(s, loc, MSG_RANK, rank, TYPE_MAX_RANK);
        return NODE_none;
    }
    Attr attr = {.dims = ir_dims(s->ctx, dims, rank)};
    return dsl_emit(s, loc, OP_reshape, &x, 1, &attr);
}

NodeId dsl_emit_permute(Sema *s, Loc loc, NodeId x, const int64_t *perm) {
    if (x == NODE_none) return x;
    Attr attr = {.ints = ir_ints(s->ctx, perm, sema_type(s, x)->rank)};
    return dsl_emit(s, loc, OP_permute, &x, 1, &attr);
}

static bool has_dims(const Type *type, const Dim *const *dims, uint32_t rank) {
    if (type->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (type->dims[i] != dims[i]) return false;
    }
    return true;
}

NodeId dsl_emit_broadcast(Sema *s, Loc loc, NodeId x, const Dim *const *dims, uint32_t rank) {
    if (x == NODE_none || has_dims(sema_type(s, x), dims, rank)) return x;
    int64_t axes[TYPE_MAX_RANK];
    uint32_t own = sema_type(s, x)->rank;
    if (own > rank || rank > TYPE_MAX_RANK) {
        sema_error(s, loc, MSG_BROADCAST_RANK, sema_type_text(s, x), rank);
        return NODE_none;
    }
    for (uint32_t i = 0; i < own; i++) axes[i] = rank - own + i;
    Attr attrs[2] = {{.dims = ir_dims(s->ctx, dims, rank)}, {.ints = ir_ints(s->ctx, axes, own)}};
    return dsl_emit(s, loc, OP_broadcast, &x, 1, attrs);
}
