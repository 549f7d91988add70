/* Built-ins that make tensors. */
#include "frontend/dsl/builtin.h"

#include "ir/tensor.h"

/* The type of dims from argument `at`; NULL after a report. */
static const Type *arg_type(const BuiltinCall *call, uint32_t at, DType dtype) {
    Sema *s = call->s;
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank;
    if (!builtin_arg_dims(call, at, dims, &rank)) return NULL;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i]->lo >= 0) continue;
        if (dim_is_overflow(dims[i]))
            sema_error(s, call->args[at]->loc, MSG_DIM_TOO_LARGE);
        else
            sema_error(s, call->args[at]->loc, MSG_NEGATIVE_DIM, sema_dim_text(s, dims[i]));
        return NULL;
    }
    const Type *type = type_tensor(s->ctx, dtype, rank, dims);
    if (!dim_is_overflow(type_bytes(s->ctx, type))) return type;
    sema_error(s, call->args[at]->loc, MSG_TYPE_TOO_LARGE);
    return NULL;
}

static Value filled(const BuiltinCall *call, const Type *type, Loc loc, const Value *number) {
    if (!type) return dsl_value_error();
    NodeId one = dsl_operand_tensor(call->s, loc, number, type->dtype);
    if (one == NODE_none) return dsl_value_error();
    if (sema_type(call->s, one)->dtype != type->dtype) {
        sema_error(call->s, loc, MSG_DTYPES_DISAGREE, dtype_name(sema_type(call->s, one)->dtype),
                   dtype_name(type->dtype));
        return dsl_value_error();
    }
    return dsl_value_node(dsl_emit_broadcast(call->s, call->loc, one, type->dims, type->rank));
}

static DType dtype_of(const BuiltinCall *call, const Value *value) {
    if (value->kind == VALUE_tensor) return sema_type(call->s, value->node)->dtype;
    if (value->kind == VALUE_bool || value->kind == VALUE_relation) return DT_bool;
    return value->kind == VALUE_float ? DT_f32 : DT_i64;
}

Value builtin_full(const BuiltinCall *call) {
    const Argument *value = call->args[1];
    DType dtype;
    if (!builtin_arg_dtype(call, 2, dtype_of(call, &value->value), &dtype))
        return dsl_value_error();
    return filled(call, arg_type(call, 0, dtype), value->loc, &value->value);
}

static Value fill_with(const BuiltinCall *call, int64_t number) {
    DType dtype;
    if (!builtin_arg_dtype(call, 1, DT_f32, &dtype)) return dsl_value_error();
    Value value = dtype == DT_bool ? dsl_value_bool(number != 0) : dsl_value_int(number);
    return filled(call, arg_type(call, 0, dtype), call->loc, &value);
}

Value builtin_zeros(const BuiltinCall *call) { return fill_with(call, 0); }

Value builtin_ones(const BuiltinCall *call) { return fill_with(call, 1); }

static Value count_up(const BuiltinCall *call, const Type *type, int64_t axis) {
    if (!type) return dsl_value_error();
    if (!op_accepts(OP_iota, type->dtype)) {
        sema_error(call->s, call->loc, MSG_DTYPE_REFUSED, call->row->name.data,
                   dtype_name(type->dtype));
        return dsl_value_error();
    }
    Attr attr = {.i = axis};
    return dsl_value_node(graph_add(call->s->graph, OP_iota, type, NULL, 0, &attr, NULL, 0,
                                    dsl_emit_origin(call->s, call->loc)));
}

Value builtin_iota(const BuiltinCall *call) {
    DType dtype;
    int64_t axis;
    if (!builtin_arg_dtype(call, 2, DT_i64, &dtype) || !builtin_arg_int(call, 1, 0, &axis))
        return dsl_value_error();
    const Type *type = arg_type(call, 0, dtype);
    if (!type) return dsl_value_error();
    int64_t rank = type->rank;
    if (axis >= -rank && axis < rank) return count_up(call, type, axis < 0 ? axis + rank : axis);
    Buf text = {.arena = call->s->arena};
    buf_type(&text, type);
    Loc loc = call->args[1] ? call->args[1]->loc : call->loc;
    sema_error(call->s, loc, MSG_AXIS_RANGE, (long long)axis, text.data);
    return dsl_value_error();
}

Value builtin_arange(const BuiltinCall *call) {
    DType dtype;
    if (!builtin_arg_dtype(call, 1, DT_i64, &dtype)) return dsl_value_error();
    if (call->args[0]->value.kind == VALUE_list) {
        sema_error(call->s, call->args[0]->loc, MSG_NEEDS_INT, "the length", "a list");
        return dsl_value_error();
    }
    return count_up(call, arg_type(call, 0, dtype), 0);
}

/* ---- constants ------------------------------------------------------------------------------- */

typedef struct Literal {
    const BuiltinCall *call;
    Tensor tensor;
    int64_t filled;
    DType dtype;
} Literal;

/* The dims by the first element of each level; false when the nesting is too deep or empty. */
static bool literal_dims(const Value *value, Tensor *tensor) {
    for (; value->kind == VALUE_list; value = &value->list.items[0]) {
        if (tensor->rank == TYPE_MAX_RANK || !value->list.count) return false;
        tensor->dims[tensor->rank++] = value->list.count;
    }
    return true;
}

/* Whether any number in the nest is a float; *out_bool whether all are truth values. */
static bool has_float(const Value *value, bool *out_bool) {
    if (value->kind != VALUE_list) {
        *out_bool &= value->kind == VALUE_bool;
        return value->kind == VALUE_float;
    }
    bool found = false;
    for (uint32_t i = 0; i < value->list.count; i++)
        found |= has_float(&value->list.items[i], out_bool);
    return found;
}

static bool store_number(Literal *literal, const Value *value) {
    Sema *s = literal->call->s;
    const Argument *arg = literal->call->args[0];
    if (!dsl_value_is_number(value) && value->kind != VALUE_bool) {
        sema_error(s, arg->loc, MSG_TENSOR_ELEMENT, sema_value_text(s, value));
        return false;
    }
    NodeId node = dsl_emit_number(s, arg->loc, literal->dtype, value);
    if (node == NODE_none) return false;
    Tensor one = {.dtype = literal->dtype,
                  .data = (void *)(uintptr_t)graph_node(s->graph, node)->attrs[0].blob->bytes};
    if (dtype_is_float(literal->dtype))
        tensor_set(&literal->tensor, literal->filled++, tensor_get(&one, 0));
    else
        tensor_set_int(&literal->tensor, literal->filled++, tensor_get_int(&one, 0));
    return true;
}

static bool store_nest(Literal *literal, const Value *value, uint32_t level) {
    bool leaf = level == literal->tensor.rank;
    if (leaf && value->kind != VALUE_list) return store_number(literal, value);
    if (leaf || value->kind != VALUE_list || value->list.count != literal->tensor.dims[level]) {
        sema_error(literal->call->s, literal->call->args[0]->loc, MSG_TENSOR_RAGGED);
        return false;
    }
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (!store_nest(literal, &value->list.items[i], level + 1)) return false;
    }
    return true;
}

Value builtin_tensor(const BuiltinCall *call) {
    Sema *s = call->s;
    const Value *value = &call->args[0]->value;
    Literal literal = {.call = call};
    bool all_bool = true, any_float;
    if (!literal_dims(value, &literal.tensor)) {
        sema_error(s, call->args[0]->loc, MSG_TENSOR_RAGGED);
        return dsl_value_error();
    }
    any_float = has_float(value, &all_bool);
    DType dtype = all_bool ? DT_bool : any_float ? DT_f32 : DT_i64;
    if (!builtin_arg_dtype(call, 1, dtype, &literal.dtype)) return dsl_value_error();
    literal.tensor.dtype = literal.dtype;
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < literal.tensor.rank; i++)
        dims[i] = dim_const(s->ctx, literal.tensor.dims[i]);
    literal.tensor.data = arena_alloc(s->arena, tensor_bytes(&literal.tensor));
    if (!store_nest(&literal, value, 0)) return dsl_value_error();
    Attr attr = {.blob = ir_blob(s->ctx, literal.tensor.data, tensor_bytes(&literal.tensor))};
    const Type *type = type_tensor(s->ctx, literal.dtype, literal.tensor.rank, dims);
    return dsl_value_node(graph_add(s->graph, OP_const, type, NULL, 0, &attr, NULL, 0,
                                    dsl_emit_origin(s, call->loc)));
}

/* ---- random ---------------------------------------------------------------------------------- */

/* Each call draws from a stream of its own, numbered in the order in which the model is built. */
Value builtin_random_bits(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId key = dsl_operand_tensor(s, call->args[0]->loc, &call->args[0]->value, DT_u64);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank;
    if (key == NODE_none || !builtin_arg_dims(call, 1, dims, &rank)) return dsl_value_error();
    s->frame->impure = true;
    Attr attrs[2] = {{.i = s->streams++}, {.dims = ir_dims(s->ctx, dims, rank)}};
    return dsl_value_node(dsl_emit(s, call->loc, OP_random, &key, 1, attrs));
}
