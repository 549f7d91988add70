/* What is told of a value: its type, or its text as the language writes it. */
#include "compiler/graph.h"
#include "ir/text.h"

#include <string.h>

static void put_value(Buf *buf, const Graph *graph, const Value *value);

static void put_items(Buf *buf, const Graph *graph, const Value *value) {
    bool list = value->kind == VALUE_list;
    buf_char(buf, list ? '[' : '(');
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (i > 0) buf_put(buf, STR(", "));
        put_value(buf, graph, &value->list.items[i]);
    }
    buf_char(buf, list ? ']' : ')');
}

/* As the language writes it; a tensor by its type. */
static void put_value(Buf *buf, const Graph *graph, const Value *value) {
    switch (value->kind) {
    case VALUE_none: buf_put(buf, STR("None")); break;
    case VALUE_bool: buf_put(buf, value->flag ? STR("true") : STR("false")); break;
    case VALUE_int: buf_print(buf, "%lld", (long long)value->integer); break;
    case VALUE_float: buf_double(buf, value->number); break;
    case VALUE_string: buf_quoted(buf, value->text); break;
    case VALUE_dtype: buf_print(buf, "%s", dtype_name(value->dtype)); break;
    case VALUE_dim: buf_dim(buf, value->dim); break;
    case VALUE_relation:
        buf_dim(buf, value->relation.a);
        buf_print(buf, " %s ", ast_op_name(value->relation.op));
        buf_dim(buf, value->relation.b);
        break;
    case VALUE_list:
    case VALUE_tuple: put_items(buf, graph, value); break;
    case VALUE_tensor: buf_type(buf, graph_type(graph, value->node)); break;
    case VALUE_error: break;
    }
}

static const char *slice_text(Buf *buf, const Graph *graph, const LiveSubscript *slice) {
    const Value *parts[] = {&slice->start.value, &slice->stop.value, &slice->step.value};
    for (int i = 0; i < 3; i++) {
        if (i > 0) buf_char(buf, ':');
        if (parts[i]->kind != VALUE_none) put_value(buf, graph, parts[i]);
    }
    return buf->data;
}

typedef struct InfoCall {
    tcc_graph *graph;
    tcc_value value;
    tcc_value_info info;
} InfoCall;

static void describe_tensor(tcc_value_info *info, const Type *type) {
    info->dtype = (int32_t)type->dtype;
    info->rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i], &info->dims[i])) info->dims[i] = -1;
}

static tcc_status info_body(void *data) {
    InfoCall *call = data;
    tcc_graph *graph = call->graph;
    const GraphValue *value = graph_value(graph, call->value);
    if (value == NULL)
        return compiler_fail(graph->compiler, TCC_INVALID, "a value is none of this graph");
    const Graph *nodes = live_graph_of(graph->live, value->operand.block);
    const Value *worth = &value->operand.value;
    Buf text = {.arena = graph->arena};
    Str label = str_copy(graph->arena, value->label);
    call->info = (tcc_value_info){.label = label.data, .dtype = -1};
    if (value->slice != NULL)
        slice_text(&text, nodes, value->slice);
    else
        put_value(&text, nodes, worth);
    call->info.text = text.data;
    if (worth->kind == VALUE_dtype) call->info.dtype = (int32_t)worth->dtype;
    if (worth->kind == VALUE_list || worth->kind == VALUE_tuple)
        call->info.rank = worth->list.count;
    if (worth->kind == VALUE_tensor) describe_tensor(&call->info, graph_type(nodes, worth->node));
    return TCC_OK;
}

tcc_status tcc_graph_info(tcc_graph *graph, tcc_value value, tcc_value_info *info) {
    InfoCall call = {.graph = graph, .value = value};
    if (graph == NULL) return TCC_INVALID;
    if (info == NULL) return compiler_refuse_null(graph->compiler, "info");
    if (info->size < sizeof *info)
        return compiler_fail(graph->compiler, TCC_INVALID, "info->size is too small");
    if (value == TCC_NO_VALUE) return TCC_INVALID;
    tcc_status status = graph_enter(graph, info_body, &call);
    call.info.size = info->size;
    if (status == TCC_OK) memcpy(info, &call.info, sizeof *info);
    return status;
}
