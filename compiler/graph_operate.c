/* The calls that compute: operators, functions, members, subscripts. Each names what the front
 * end's live.h is to do. */
#include "base/messages.h"
#include "compiler/graph.h"

#include <string.h>

/* ---- operators, functions -------------------------------------------------------------------- */

/* The operator that the language writes so, of one value or two. */
static bool find_operator(Str text, uint32_t count, AstOp *out_op) {
    for (AstOp op = AST_add; op <= AST_neg; op++) {
        bool unary = op == AST_neg || op == AST_not;
        *out_op = op;
        if (unary == (count == 1) && str_equal(text, str_from(ast_op_name(op)))) return true;
    }
    return false;
}

static Value make_operator(GraphCall *call) {
    Live *live = call->graph->live;
    AstOp op;
    if (!find_operator(str_from(call->what), call->value_count, &op)) {
        diag_error(call->graph->diags, live_place(live), MSG_HOST_OPERATOR,
                   STR_ARG(str_from(call->what)), call->value_count);
        return dsl_value_error();
    }
    if (call->value_count == 1) return live_unary(live, op, &call->operands[0]);
    return live_binary(live, op, &call->operands[0], &call->operands[1]);
}

static tcc_value operate(tcc_graph *graph, const char *op, const tcc_value *values,
                         uint32_t count) {
    GraphCall call = {
        .graph = graph, .make = make_operator, .what = op, .values = values, .value_count = count};
    if (op == NULL) return graph_refuse_value(graph, "op");
    return graph_make(&call);
}

tcc_value tcc_graph_unary(tcc_graph *graph, const char *op, tcc_value a) {
    return operate(graph, op, &a, 1);
}

tcc_value tcc_graph_binary(tcc_graph *graph, const char *op, tcc_value a, tcc_value b) {
    tcc_value values[] = {a, b};
    return operate(graph, op, values, 2);
}

static Value make_call(GraphCall *call) {
    tcc_graph *graph = call->graph;
    const tcc_call *asked = call->more;
    LiveArgument *arguments = NEW_ARRAY(graph->arena, LiveArgument, call->value_count);
    for (uint32_t i = 0; i < call->value_count; i++) {
        const char *name = asked->names == NULL ? NULL : asked->names[i];
        arguments[i].operand = call->operands[i];
        if (name != NULL) arguments[i].name = str_copy(graph->arena, str_from(name));
    }
    Str scope = {0};
    if (asked->scope != NULL) scope = str_copy(graph->arena, str_from(asked->scope));
    return live_call(graph->live, str_from(asked->function), arguments, call->value_count, scope);
}

static tcc_value refuse_size(tcc_graph *graph) {
    if (graph != NULL) compiler_fail(graph->compiler, TCC_INVALID, "tcc_call.size is wrong");
    return TCC_NO_VALUE;
}

tcc_value tcc_graph_call(tcc_graph *graph, const tcc_call *asked) {
    if (asked == NULL) return graph_refuse_value(graph, "call");
    if (asked->size < sizeof *asked) return refuse_size(graph);
    GraphCall call = {.graph = graph,
                      .make = make_call,
                      .what = asked->function,
                      .values = asked->args,
                      .value_count = asked->arg_count,
                      .more = asked};
    if (asked->function == NULL) return graph_refuse_value(graph, "function");
    if (asked->args == NULL && asked->arg_count > 0) return graph_refuse_value(graph, "args");
    return graph_make(&call);
}

tcc_value tcc_graph_apply(tcc_graph *graph, const char *function, const tcc_value *args,
                          uint32_t count) {
    tcc_call call = {.size = sizeof call, .function = function, .args = args, .arg_count = count};
    return tcc_graph_call(graph, &call);
}

/* ---- members, subscripts --------------------------------------------------------------------- */

static Value make_item(GraphCall *call) {
    const uint32_t *index = call->more;
    return live_item(call->graph->live, &call->operands[0], *index);
}

tcc_value tcc_graph_item(tcc_graph *graph, tcc_value of, uint32_t index) {
    GraphCall call = {.graph = graph,
                      .make = make_item,
                      .what = "item",
                      .values = &of,
                      .value_count = 1,
                      .more = &index};
    return graph_make(&call);
}

static Value make_member(GraphCall *call) {
    return live_member(call->graph->live, &call->operands[0], str_from(call->what));
}

tcc_value tcc_graph_member(tcc_graph *graph, tcc_value of, const char *name) {
    GraphCall call = {
        .graph = graph, .make = make_member, .what = name, .values = &of, .value_count = 1};
    if (name == NULL) return graph_refuse_value(graph, "name");
    return graph_make(&call);
}

static Value make_slice(GraphCall *call) {
    LiveSubscript *slice = NEW(call->graph->arena, LiveSubscript);
    *slice = (LiveSubscript){true, call->operands[0], call->operands[1], call->operands[2]};
    call->slice = slice;
    return dsl_value_none();
}

tcc_value tcc_graph_slice(tcc_graph *graph, tcc_value start, tcc_value stop, tcc_value step) {
    tcc_value values[] = {start, stop, step};
    GraphCall call = {.graph = graph, .make = make_slice, .values = values, .value_count = 3};
    return graph_make(&call);
}

static Value make_index(GraphCall *call) {
    tcc_graph *graph = call->graph;
    uint32_t count = call->value_count - 1;
    LiveSubscript *subscripts = NEW_ARRAY(graph->arena, LiveSubscript, count);
    for (uint32_t i = 0; i < count; i++) {
        const GraphValue *value = graph_value(graph, call->values[i + 1]);
        if (value->slice != NULL)
            subscripts[i] = *value->slice;
        else
            subscripts[i].start = value->operand;
    }
    return live_index(graph->live, &call->operands[0], subscripts, count);
}

enum { MAX_SUBSCRIPTS = 64 };

tcc_value tcc_graph_index(tcc_graph *graph, tcc_value of, const tcc_value *subscripts,
                          uint32_t count) {
    tcc_value values[MAX_SUBSCRIPTS + 1] = {of};
    GraphCall call = {.graph = graph,
                      .make = make_index,
                      .what = "index",
                      .takes_slices = true,
                      .values = values,
                      .value_count = count + 1};
    if (subscripts == NULL && count > 0) return graph_refuse_value(graph, "subscripts");
    if (count > MAX_SUBSCRIPTS && graph != NULL)
        compiler_fail(graph->compiler, TCC_INVALID, "%u subscripts are too many", count);
    if (count > MAX_SUBSCRIPTS) return TCC_NO_VALUE;
    if (count > 0) memcpy(values + 1, subscripts, count * sizeof *values);
    return graph_make(&call);
}
