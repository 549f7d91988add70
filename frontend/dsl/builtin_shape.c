/* Built-ins that move elements. */
#include "frontend/dsl/builtin.h"

/* ---- reshape --------------------------------------------------------------------------------- */

/* The product of x's dims without those that stand in `dims` too, which need no division. */
static const Dim *divide_out(IrContext *ctx, const Type *type, const Dim **dims, uint32_t rank,
                             uint32_t open, const Dim **out_rest) {
    bool used[TYPE_MAX_RANK] = {false};
    const Dim *product = dim_const(ctx, 1), *rest = product;
    for (uint32_t i = 0; i < type->rank; i++) {
        uint32_t k = 0;
        while (k < rank && (k == open || used[k] || dims[k] != type->dims[i])) k++;
        if (k < rank)
            used[k] = true;
        else
            product = dim_mul(ctx, product, type->dims[i]);
    }
    for (uint32_t k = 0; k < rank; k++) {
        if (k != open && !used[k]) rest = dim_mul(ctx, rest, dims[k]);
    }
    *out_rest = rest;
    return product;
}

/* The dim that -1 stands for: what is left of the elements. */
static const Dim *solve_open(const BuiltinCall *call, NodeId x, const Dim **dims, uint32_t rank,
                             uint32_t open) {
    Sema *s = call->s;
    const Dim *rest, *product = divide_out(s->ctx, sema_type(s, x), dims, rank, open, &rest);
    int64_t whole, part;
    bool constant = dim_is_const(product, &whole) && dim_is_const(rest, &part);
    if (rest->lo > 0 && !(constant && whole % part)) return dim_floordiv(s->ctx, product, rest);
    sema_error(s, call->args[1]->loc, MSG_RESHAPE_OPEN, sema_type_text(s, x),
               sema_dim_text(s, rest));
    return NULL;
}

/* Which dim is -1; rank when none is. False when there are two. */
static bool find_open(const BuiltinCall *call, const Dim *const *dims, uint32_t rank,
                      uint32_t *out_open) {
    *out_open = rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (!dim_equals_int(dims[i], -1)) continue;
        if (*out_open != rank) {
            sema_error(call->s, call->args[1]->loc, MSG_RESHAPE_TWICE);
            return false;
        }
        *out_open = i;
    }
    return true;
}

Value builtin_reshape(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank, open;
    if (x == NODE_none || !builtin_arg_dims(call, 1, dims, &rank)) return dsl_value_error();
    if (!find_open(call, dims, rank, &open)) return dsl_value_error();
    if (open < rank) dims[open] = solve_open(call, x, dims, rank, open);
    if (open < rank && !dims[open]) return dsl_value_error();
    return dsl_value_node(dsl_emit_reshape(call->s, call->loc, x, dims, rank));
}

/* ---- the others ------------------------------------------------------------------------------ */

Value builtin_permute(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count;
    if (!builtin_arg_axes(call, 1, x, axes, &count)) return dsl_value_error();
    Attr attr = {.ints = ir_ints(call->s->ctx, axes, count)};
    return dsl_value_node(dsl_emit(call->s, call->loc, OP_permute, &x, 1, &attr));
}

Value builtin_broadcast_to(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank;
    if (x == NODE_none || !builtin_arg_dims(call, 1, dims, &rank)) return dsl_value_error();
    return dsl_value_node(dsl_emit_broadcast(call->s, call->loc, x, dims, rank));
}

Value builtin_concat(const BuiltinCall *call) {
    Sema *s = call->s;
    const Argument *parts = call->args[0];
    if (parts->value.kind != VALUE_list || !parts->value.list.count) {
        sema_error(s, parts->loc, MSG_CONCAT_PARTS);
        return dsl_value_error();
    }
    uint32_t count = parts->value.list.count;
    NodeId *nodes = NEW_ARRAY(s->arena, NodeId, count);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = dsl_operand_tensor_only(s, parts->loc, &parts->value.list.items[i], "concat");
        if (nodes[i] == NODE_none) return dsl_value_error();
    }
    Attr attr;
    if (!builtin_arg_axis(call, 1, nodes[0], 0, &attr.i)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, call->loc, OP_concat, nodes, count, &attr));
}

/* One dim for every axis where lo or hi is not a list. */
static bool pad_dims(const BuiltinCall *call, uint32_t at, uint32_t rank, Attr *out) {
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t count;
    if (!builtin_arg_dims(call, at, dims, &count)) return false;
    if (call->args[at]->value.kind != VALUE_list) {
        for (count = 1; count < rank; count++) dims[count] = dims[0];
        count = rank;
    }
    out->dims = ir_dims(call->s->ctx, dims, count);
    return true;
}

Value builtin_pad(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId args[2] = {builtin_arg_tensor(call, 0), NODE_none};
    Value value = call->args[3] ? call->args[3]->value : dsl_value_int(0);
    Attr attrs[2];
    if (args[0] == NODE_none) return dsl_value_error();
    const Type *type = sema_type(s, args[0]);
    if (type->dtype == DT_bool && !call->args[3]) value = dsl_value_bool(false);
    if (!pad_dims(call, 1, type->rank, &attrs[0])) return dsl_value_error();
    if (!pad_dims(call, 2, type->rank, &attrs[1])) return dsl_value_error();
    args[1] =
        dsl_operand_tensor(s, call->args[3] ? call->args[3]->loc : call->loc, &value, type->dtype);
    return dsl_value_node(dsl_emit(s, call->loc, OP_pad, args, 2, attrs));
}

Value builtin_reverse(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count;
    if (!builtin_arg_axes(call, 1, x, axes, &count)) return dsl_value_error();
    Attr attr = {.ints = ir_ints(call->s->ctx, axes, count)};
    return dsl_value_node(dsl_emit(call->s, call->loc, OP_reverse, &x, 1, &attr));
}

Value builtin_len(const BuiltinCall *call) {
    const Argument *arg = call->args[0];
    if (arg->value.kind == VALUE_list) return dsl_value_int(arg->value.list.count);
    sema_error(call->s, arg->loc, MSG_ARGUMENT_KIND, "list", STR_ARG(call->row->name), "a list",
               sema_value_text(call->s, &arg->value));
    return dsl_value_error();
}

Value builtin_list_of(const BuiltinCall *call) {
    Sema *s = call->s;
    const Argument *arg = call->args[0];
    int64_t count;
    if (!builtin_arg_int(call, 1, 0, &count)) return dsl_value_error();
    if (arg->value.kind == VALUE_list) {
        if (arg->value.list.count == count) return arg->value;
        sema_error(s, arg->loc, MSG_LIST_COUNT, (long long)count, arg->value.list.count);
        return dsl_value_error();
    }
    if (count < 0 || count > TYPE_MAX_RANK) {
        sema_error(s, call->loc, MSG_RANK, (unsigned)TYPE_MAX_RANK + 1, TYPE_MAX_RANK);
        return dsl_value_error();
    }
    Value *items = NEW_ARRAY(s->arena, Value, (size_t)count);
    for (int64_t i = 0; i < count; i++) items[i] = arg->value;
    return dsl_list_value(s, call->loc, (uint32_t)count, items);
}
