/* Built-ins along axes: reductions, running sums, sorting. */
#include "frontend/dsl/builtin.h"

/* The reduced value with its axes back as 1, where keep= asks for it. */
static NodeId keep_axes(const BuiltinCall *call, NodeId x, NodeId reduced, const int64_t *axes,
                        uint32_t count) {
    int64_t keep;
    if (reduced == NODE_none || !builtin_arg_flag(call, 2, false, &keep)) return NODE_none;
    if (!keep) return reduced;
    const Type *type = sema_type(call->s, x);
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = type->dims[i];
    for (uint32_t i = 0; i < count; i++) dims[axes[i]] = dim_const(call->s->ctx, 1);
    return dsl_emit_reshape(call->s, call->loc, reduced, dims, type->rank);
}

static void sort_axes(int64_t *axes, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t k = i; k && axes[k - 1] > axes[k]; k--) {
            int64_t axis = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = axis;
        }
    }
}

static NodeId reduce(const BuiltinCall *call, Op op, NodeId x, DType dtype, const int64_t *axes,
                     uint32_t count) {
    if (count == 0 && dtype == sema_type(call->s, x)->dtype) return x;
    Attr attrs[2] = {{.ints = ir_ints(call->s->ctx, axes, count)}, {.dtype = dtype}};
    return dsl_emit(call->s, call->loc, op, &x, 1, attrs);
}

static Value reduce_over(const BuiltinCall *call, NodeId x, DType dtype) {
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count;
    if (!builtin_arg_axes(call, 1, x, axes, &count)) return dsl_value_error();
    sort_axes(axes, count);
    NodeId reduced = reduce(call, call->op, x, dtype, axes, count);
    return dsl_value_node(keep_axes(call, x, reduced, axes, count));
}

Value builtin_reduce(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    DType dtype;
    if (x == NODE_none || !builtin_arg_dtype(call, 3, sema_type(call->s, x)->dtype, &dtype))
        return dsl_value_error();
    return reduce_over(call, x, dtype);
}

Value builtin_reduce_bool(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    if (x == NODE_none) return dsl_value_error();
    DType dtype = sema_type(call->s, x)->dtype;
    if (dtype == DT_bool) return reduce_over(call, x, dtype);
    sema_error(call->s, call->args[0]->loc, MSG_NEEDS_BOOL, call->row->name.data,
               dtype_name(dtype));
    return dsl_value_error();
}

/* ---- mean ------------------------------------------------------------------------------------ */

/* How many elements a mean is taken over, as a scalar of dtype. */
static NodeId element_count(const BuiltinCall *call, NodeId x, DType dtype, const int64_t *axes,
                            uint32_t count) {
    Sema *s = call->s;
    const Dim *elements = dim_const(s->ctx, 1);
    for (uint32_t i = 0; i < count; i++) {
        elements = dim_mul(s->ctx, elements, sema_type(s, x)->dims[axes[i]]);
    }
    int64_t constant;
    if (!dim_is_const(elements, &constant)) {
        Attr attrs[2] = {{.dtype = dtype}, {.i = 0}};
        NodeId number = dsl_emit_dim(s, call->loc, elements);
        return dsl_emit(s, call->loc, OP_cast, &number, 1, attrs);
    }
    Value number = dsl_value_int(constant);
    return dsl_emit_number(s, call->loc, dtype, &number);
}

static NodeId cast_inside(const BuiltinCall *call, NodeId x, DType to) {
    if (x == NODE_none || sema_type(call->s, x)->dtype == to) return x;
    Attr attrs[2] = {{.dtype = to}, {.i = 0}};
    return dsl_emit(call->s, call->loc, OP_cast, &x, 1, attrs);
}

/* sum / count, computed wide and rounded once. */
Value builtin_mean(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId x = builtin_arg_tensor(call, 0);
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count;
    if (!builtin_arg_axes(call, 1, x, axes, &count)) return dsl_value_error();
    sort_axes(axes, count);
    DType dtype = sema_type(s, x)->dtype, wide = dtype_compute(dtype);
    if (!dtype_is_float(dtype)) {
        sema_error(s, call->args[0]->loc, MSG_MEAN_DTYPE, dtype_name(dtype));
        return dsl_value_error();
    }
    NodeId sum = reduce(call, OP_reduce_sum, cast_inside(call, x, wide), wide, axes, count);
    NodeId args[2] = {sum, element_count(call, x, wide, axes, count)};
    if (sum == NODE_none || args[1] == NODE_none) return dsl_value_error();
    const Type *type = sema_type(s, sum);
    args[1] = dsl_emit_broadcast(s, call->loc, args[1], type->dims, type->rank);
    NodeId quotient = cast_inside(call, dsl_emit(s, call->loc, OP_div, args, 2, NULL), dtype);
    return dsl_value_node(keep_axes(call, x, quotient, axes, count));
}

/* ---- one axis -------------------------------------------------------------------------------- */

/* Without an axis the index counts all elements in row-major order. */
Value builtin_arg_reduce(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId x = builtin_arg_tensor(call, 0), source = x;
    int64_t axis;
    if (x == NODE_none) return dsl_value_error();
    if (!call->args[1]) {
        const Dim *elements = type_elements(s->ctx, sema_type(s, x));
        source = dsl_emit_reshape(s, call->loc, x, &elements, 1);
        if (source == NODE_none) return dsl_value_error();
    }
    if (!builtin_arg_axis(call, 1, source, 0, &axis)) return dsl_value_error();
    Attr attr = {.i = axis};
    NodeId index = dsl_emit(s, call->loc, call->op, &source, 1, &attr);
    int64_t axes[TYPE_MAX_RANK] = {axis};
    uint32_t count = 1;
    if (!call->args[1] && !builtin_arg_axes(call, 1, x, axes, &count)) return dsl_value_error();
    return dsl_value_node(keep_axes(call, x, index, axes, count));
}

Value builtin_cumulative(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    Attr attrs[3];
    if (!builtin_arg_axis(call, 1, x, 0, &attrs[0].i) ||
        !builtin_arg_flag(call, 2, false, &attrs[1].i) ||
        !builtin_arg_flag(call, 3, false, &attrs[2].i)) {
        return dsl_value_error();
    }
    return dsl_value_node(dsl_emit(call->s, call->loc, call->op, &x, 1, attrs));
}

/* ---- sorting --------------------------------------------------------------------------------- */

static Value both_items(const BuiltinCall *call, NodeId tuple) {
    if (tuple == NODE_none) return dsl_value_error();
    Value *items = NEW_ARRAY(call->s->arena, Value, 2);
    for (int i = 0; i < 2; i++) {
        Attr attr = {.i = i};
        items[i] = dsl_value_node(dsl_emit(call->s, call->loc, OP_item, &tuple, 1, &attr));
    }
    return (Value){.kind = VALUE_tuple, .list = {2, 1, items}};
}

Value builtin_sort(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    Attr attrs[2];
    if (!builtin_arg_axis(call, 1, x, -1, &attrs[0].i) ||
        !builtin_arg_flag(call, 2, false, &attrs[1].i)) {
        return dsl_value_error();
    }
    return both_items(call, dsl_emit(call->s, call->loc, OP_sort, &x, 1, attrs));
}

Value builtin_topk(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    Attr attrs[3];
    if (!builtin_arg_axis(call, 2, x, -1, &attrs[0].i) ||
        !builtin_arg_int(call, 1, 0, &attrs[1].i) ||
        !builtin_arg_flag(call, 3, true, &attrs[2].i)) {
        return dsl_value_error();
    }
    return both_items(call, dsl_emit(call->s, call->loc, OP_topk, &x, 1, attrs));
}
