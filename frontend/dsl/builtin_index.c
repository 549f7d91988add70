/* Built-ins that read and write by indices. Indices known at compile time are checked here. */
#include "frontend/dsl/builtin.h"

static bool index_fits(const BuiltinCall *call, const Value *value, const Type *type,
                       int64_t axis) {
    int64_t extent;
    if (value->kind != VALUE_int) {
        sema_error(call->s, call->args[1]->loc, MSG_NEEDS_INT, "an index",
                   sema_value_text(call->s, value));
        return false;
    }
    if (!dim_is_const(type->dims[axis], &extent)) return true;
    if (value->integer >= -extent && value->integer < extent) return true;
    sema_error(call->s, call->args[1]->loc, MSG_INDEX_RANGE, (long long)value->integer,
               (long long)extent);
    return false;
}

/* A list of indices as a constant. */
static NodeId index_list(const BuiltinCall *call, const Type *type, int64_t axis) {
    Sema *s = call->s;
    const ValueList *list = &call->args[1]->value.list;
    int64_t *indices = NEW_ARRAY(s->arena, int64_t, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        if (!index_fits(call, &list->items[i], type, axis)) return NODE_none;
        indices[i] = list->items[i].integer;
    }
    const Dim *count = dim_const(s->ctx, list->count);
    Attr value = {.blob = ir_blob(s->ctx, indices, list->count * sizeof *indices)};
    return graph_add(s->graph, OP_const, type_tensor(s->ctx, DT_i64, 1, &count), NULL, 0, &value,
                     NULL, 0, dsl_emit_origin(s, call->loc));
}

static NodeId indices_of(const BuiltinCall *call, NodeId x, int64_t axis) {
    const Value *value = &call->args[1]->value;
    const Type *type = sema_type(call->s, x);
    if (value->kind == VALUE_list) return index_list(call, type, axis);
    if (value->kind == VALUE_int && !index_fits(call, value, type, axis)) return NODE_none;
    return builtin_arg_tensor(call, 1);
}

Value builtin_gather(const BuiltinCall *call) {
    NodeId args[2] = {builtin_arg_tensor(call, 0)};
    Attr attrs[2];
    if (!builtin_arg_axis(call, 2, args[0], 0, &attrs[0].i) ||
        !builtin_arg_int(call, 3, 0, &attrs[1].i)) {
        return dsl_value_error();
    }
    args[1] = indices_of(call, args[0], attrs[0].i);
    return dsl_value_node(dsl_emit(call->s, call->loc, OP_gather, args, 2, attrs));
}

/* Values are broadcast to what gather would give. */
static NodeId scatter_values(const BuiltinCall *call, NodeId x, NodeId indices, int64_t axis,
                             int64_t batch) {
    Sema *s = call->s;
    const Type *type = sema_type(s, x), *index_type = sema_type(s, indices);
    const Dim *dims[2 * TYPE_MAX_RANK];
    uint32_t rank = 0;
    for (int64_t i = 0; i < axis; i++) dims[rank++] = type->dims[i];
    for (int64_t i = batch < 0 ? 0 : batch; i < index_type->rank; i++)
        dims[rank++] = index_type->dims[i];
    for (int64_t i = axis + 1; i < type->rank; i++) dims[rank++] = type->dims[i];
    NodeId values = dsl_operand_tensor(s, call->args[2]->loc, &call->args[2]->value, type->dtype);
    return rank <= TYPE_MAX_RANK ? dsl_emit_broadcast(s, call->args[2]->loc, values, dims, rank)
                                 : values;
}

Value builtin_scatter(const BuiltinCall *call) {
    NodeId args[3] = {builtin_arg_tensor(call, 0)};
    Attr attrs[2];
    if (!builtin_arg_axis(call, 3, args[0], 0, &attrs[0].i) ||
        !builtin_arg_int(call, 4, 0, &attrs[1].i)) {
        return dsl_value_error();
    }
    args[1] = indices_of(call, args[0], attrs[0].i);
    if (args[1] == NODE_none) return dsl_value_error();
    args[2] = scatter_values(call, args[0], args[1], attrs[0].i, attrs[1].i);
    return dsl_value_node(dsl_emit(call->s, call->loc, call->op, args, 3, attrs));
}
