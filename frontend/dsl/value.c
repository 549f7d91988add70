/* Values of the compile-time evaluation (value.h). */
#include "frontend/dsl/value.h"

Value dsl_value_dim(const Dim *dim) {
    int64_t constant;
    if (dim_is_const(dim, &constant)) return dsl_value_int(constant);
    return (Value){.kind = VALUE_dim, .dim = dim};
}

Value dsl_value_node(NodeId node) {
    return node == NODE_none ? dsl_value_error() : (Value){.kind = VALUE_tensor, .node = node};
}

const Dim *dsl_value_as_dim(IrContext *ctx, const Value *value) {
    if (value->kind == VALUE_int) return dim_const(ctx, value->integer);
    return value->kind == VALUE_dim ? value->dim : NULL;
}

static void put_list_key(Buf *buf, const ValueList *list) {
    buf_print(buf, "%u", list->count);
    for (uint32_t i = 0; i < list->count; i++) dsl_value_key(buf, &list->items[i]);
}

void dsl_value_key(Buf *buf, const Value *value) {
    buf_char(buf, (char)('a' + (int)value->kind));
    switch (value->kind) {
    case VALUE_error:
    case VALUE_none: break;
    case VALUE_bool: buf_print(buf, "%d", value->flag); break;
    case VALUE_int: buf_print(buf, "%lld", (long long)value->integer); break;
    case VALUE_float: buf_bytes(buf, &value->number, sizeof value->number); break;
    case VALUE_string: buf_quoted(buf, value->text); break;
    case VALUE_dtype: buf_print(buf, "%d", (int)value->dtype); break;
    case VALUE_dim: buf_print(buf, "%u", value->dim->id); break;
    case VALUE_relation:
        buf_print(buf, "%d,%u,%u", (int)value->relation.op, value->relation.a->id,
                  value->relation.b->id);
        break;
    case VALUE_list:
    case VALUE_tuple: put_list_key(buf, &value->list); break;
    case VALUE_tensor: buf_print(buf, "%u", value->node); break;
    }
    buf_char(buf, ';');
}

const char *dsl_value_text(Arena *arena, const Graph *graph, const Value *value) {
    static const char *const names[] = {
        [VALUE_error] = "nothing",         [VALUE_none] = "None",
        [VALUE_bool] = "a truth value",    [VALUE_int] = "a whole number",
        [VALUE_float] = "a number",        [VALUE_string] = "a string",
        [VALUE_dtype] = "a dtype",         [VALUE_dim] = "a dim",
        [VALUE_relation] = "a comparison", [VALUE_list] = "a list",
        [VALUE_tuple] = "several results", [VALUE_tensor] = "a tensor"};
    Buf buf = {.arena = arena};
    if (value->kind == VALUE_tensor)
        buf_type(&buf, graph_type(graph, value->node));
    else
        buf_put(&buf, str_from(names[value->kind]));
    return buf.data;
}
