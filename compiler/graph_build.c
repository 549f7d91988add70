/* The calls that add to a graph: each names what the front end's live.h is to do. */
#include "base/messages.h"
#include "compiler/graph.h"

#include <string.h>

static tcc_value refuse(tcc_graph *graph, const char *name) {
    if (graph != NULL) compiler_refuse_null(graph->compiler, name);
    return TCC_NO_VALUE;
}

static tcc_status refuse_status(tcc_graph *graph, const char *name) {
    refuse(graph, name);
    return TCC_INVALID;
}

static bool is_dtype(int64_t dtype) { return dtype >= 0 && dtype < DT_count; }

/* ---- what is known while the graph is built -------------------------------------------------- */

static Value make_known(GraphCall *call) {
    const Value *value = call->more;
    if (value->kind != VALUE_string) return *value;
    return dsl_value_string(str_copy(call->graph->arena, value->text));
}

static tcc_value known(tcc_graph *graph, Value value) {
    GraphCall call = {.graph = graph, .make = make_known, .more = &value};
    return graph_make(&call);
}

tcc_value tcc_graph_int(tcc_graph *graph, int64_t number) {
    return known(graph, dsl_value_int(number));
}

tcc_value tcc_graph_float(tcc_graph *graph, double number) {
    return known(graph, dsl_value_float(number));
}

tcc_value tcc_graph_bool(tcc_graph *graph, int truth) {
    return known(graph, dsl_value_bool(truth != 0));
}

tcc_value tcc_graph_none(tcc_graph *graph) { return known(graph, dsl_value_none()); }

tcc_value tcc_graph_string(tcc_graph *graph, const char *text) {
    if (text == NULL) return refuse(graph, "text");
    return known(graph, dsl_value_string(str_from(text)));
}

tcc_value tcc_graph_dtype(tcc_graph *graph, tcc_dtype dtype) {
    if (is_dtype(dtype)) return known(graph, dsl_value_dtype((DType)dtype));
    if (graph != NULL)
        compiler_fail(graph->compiler, TCC_INVALID, "there is no dtype %d", (int)dtype);
    return TCC_NO_VALUE;
}

static Value make_list(GraphCall *call) {
    return live_list(call->graph->live, call->operands, call->value_count);
}

tcc_value tcc_graph_list(tcc_graph *graph, const tcc_value *items, uint32_t count) {
    GraphCall call = {.graph = graph, .make = make_list, .values = items, .value_count = count};
    if (items == NULL && count > 0) return refuse(graph, "items");
    return graph_make(&call);
}

static Value make_ints(GraphCall *call) {
    const int64_t *numbers = call->more;
    LiveOperand *items = NEW_ARRAY(call->graph->arena, LiveOperand, call->inner_count);
    for (uint32_t i = 0; i < call->inner_count; i++)
        items[i] = (LiveOperand){.value = dsl_value_int(numbers[i]),
                                 .block = live_block(call->graph->live)};
    uint32_t count = call->inner_count;
    call->inner_count = 0;
    return live_list(call->graph->live, items, count);
}

tcc_value tcc_graph_ints(tcc_graph *graph, const int64_t *numbers, uint32_t count) {
    GraphCall call = {.graph = graph, .make = make_ints, .more = numbers, .inner_count = count};
    if (numbers == NULL && count > 0) return refuse(graph, "numbers");
    return graph_make(&call);
}

/* ---- what a model is made of ----------------------------------------------------------------- */

static Value make_dim(GraphCall *call) {
    const int64_t *range = call->more;
    return live_dim(call->graph->live, str_copy(call->graph->arena, str_from(call->what)), range[0],
                    range[1], range[2]);
}

tcc_value tcc_graph_dim(tcc_graph *graph, const char *name, int64_t lo, int64_t hi, int64_t tune) {
    int64_t range[] = {lo, hi, tune};
    GraphCall call = {
        .graph = graph, .make = make_dim, .what = name, .is_named = true, .more = range};
    if (name == NULL) return refuse(graph, "name");
    return graph_make(&call);
}

typedef struct Declared {
    DType dtype;
    uint32_t rank;
    const int64_t *dims;
} Declared;

static Value make_input(GraphCall *call) {
    const Declared *declared = call->more;
    return live_input(call->graph->live, str_from(call->what), declared->dtype, call->operands,
                      call->value_count);
}

tcc_value tcc_graph_input(tcc_graph *graph, const char *name, tcc_dtype dtype,
                          const tcc_value *dims, uint32_t rank) {
    Declared declared = {.dtype = (DType)dtype};
    GraphCall call = {.graph = graph,
                      .make = make_input,
                      .what = name,
                      .is_named = true,
                      .values = dims,
                      .value_count = rank,
                      .more = &declared};
    if (name == NULL) return refuse(graph, "name");
    if (dims == NULL && rank > 0) return refuse(graph, "dims");
    if (!is_dtype(dtype)) return tcc_graph_dtype(graph, dtype);
    return graph_make(&call);
}

static Value make_param(GraphCall *call) {
    const Declared *declared = call->more;
    LiveOperand *dims = NEW_ARRAY(call->graph->arena, LiveOperand, declared->rank);
    for (uint32_t i = 0; i < declared->rank; i++)
        dims[i] = (LiveOperand){.value = dsl_value_int(declared->dims[i]),
                                .block = live_block(call->graph->live)};
    return live_param(call->graph->live, str_from(call->what), declared->dtype, dims,
                      declared->rank);
}

tcc_value tcc_graph_param(tcc_graph *graph, const char *name, tcc_dtype dtype, const int64_t *dims,
                          uint32_t rank) {
    Declared declared = {(DType)dtype, rank, dims};
    GraphCall call = {
        .graph = graph, .make = make_param, .what = name, .is_named = true, .more = &declared};
    if (name == NULL) return refuse(graph, "name");
    if (dims == NULL && rank > 0) return refuse(graph, "dims");
    if (!is_dtype(dtype)) return tcc_graph_dtype(graph, dtype);
    return graph_make(&call);
}

static Value make_constant(GraphCall *call) {
    tcc_graph *graph = call->graph;
    Weight *weight = graph_take_tensor(graph, live_place(graph->live), (Str){0}, call->more);
    return weight == NULL ? dsl_value_error() : live_constant(graph->live, weight);
}

tcc_value tcc_graph_constant(tcc_graph *graph, const tcc_tensor *tensor) {
    GraphCall call = {.graph = graph, .make = make_constant, .what = "constant", .more = tensor};
    if (tensor == NULL) return refuse(graph, "tensor");
    return graph_make(&call);
}

static Value make_output(GraphCall *call) {
    bool good = live_output(call->graph->live, str_from(call->what), &call->operands[0]);
    return good ? dsl_value_none() : dsl_value_error();
}

/* What is said when the graph is compiled: why its first output is not there. */
static tcc_status lack_output(tcc_graph *graph, const char *name, tcc_value value,
                              tcc_status status) {
    tcc_compiler *compiler = graph->compiler;
    if (value == TCC_NO_VALUE && compiler->message[0] == 0)
        compiler_fail(compiler, status, "output \"%s\" has no value", name);
    if (!graph->lacks_output) memcpy(graph->first, compiler->message, sizeof graph->first);
    graph->lacks_output = true;
    return status;
}

tcc_status tcc_graph_output(tcc_graph *graph, const char *name, tcc_value value) {
    GraphCall call = {.graph = graph,
                      .make = make_output,
                      .what = name,
                      .is_named = true,
                      .makes_nothing = true,
                      .values = &value,
                      .value_count = 1};
    if (graph == NULL) return TCC_INVALID;
    if (name == NULL) return refuse_status(graph, "name");
    tcc_status status = graph_do(&call);
    return status == TCC_OK ? status : lack_output(graph, name, value, status);
}

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
    if (op == NULL) return refuse(graph, "op");
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

tcc_value tcc_graph_call(tcc_graph *graph, const tcc_call *asked) {
    if (asked == NULL) return refuse(graph, "call");
    if (asked->size < sizeof *asked) return refuse(graph, "call->size");
    GraphCall call = {.graph = graph,
                      .make = make_call,
                      .what = asked->function,
                      .values = asked->args,
                      .value_count = asked->arg_count,
                      .more = asked};
    if (asked->function == NULL) return refuse(graph, "function");
    if (asked->args == NULL && asked->arg_count > 0) return refuse(graph, "args");
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
    if (name == NULL) return refuse(graph, "name");
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
    if (subscripts == NULL && count > 0) return refuse(graph, "subscripts");
    if (count > MAX_SUBSCRIPTS && graph != NULL)
        compiler_fail(graph->compiler, TCC_INVALID, "%u subscripts are too many", count);
    if (count > MAX_SUBSCRIPTS) return TCC_NO_VALUE;
    if (count > 0) memcpy(values + 1, subscripts, count * sizeof *values);
    return graph_make(&call);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static Value whether(bool good) { return good ? dsl_value_none() : dsl_value_error(); }

static Value begin_cond(GraphCall *call) {
    return whether(live_begin_cond(call->graph->live, &call->operands[0]));
}

tcc_status tcc_graph_begin_cond(tcc_graph *graph, tcc_value condition) {
    GraphCall call = {.graph = graph,
                      .make = begin_cond,
                      .what = "cond",
                      .makes_nothing = true,
                      .values = &condition,
                      .value_count = 1};
    return graph_do(&call);
}

/* Values within the block that is opened: as many as are carried. */
static void make_room(GraphCall *call, uint32_t count) {
    call->inner = NEW_ARRAY(call->graph->arena, Value, count);
    call->inner_count = count;
}

static Value next_block(GraphCall *call) {
    Live *live = call->graph->live;
    make_room(call, live_carried(live));
    return whether(live_next_block(live, call->operands, call->value_count, call->inner));
}

static tcc_status go_on(GraphCall *call) {
    call->make = next_block;
    call->makes_nothing = true;
    return graph_do(call);
}

tcc_status tcc_graph_else(tcc_graph *graph, const tcc_value *results, uint32_t count) {
    GraphCall call = {.graph = graph, .what = "else", .values = results, .value_count = count};
    if (results == NULL && count > 0) return refuse_status(graph, "results");
    if (graph != NULL && live_carried(graph->live) > 0)
        return compiler_fail(graph->compiler, TCC_INVALID, "the block that is open is no cond");
    return go_on(&call);
}

tcc_status tcc_graph_do(tcc_graph *graph, tcc_value condition, tcc_value *out_carried) {
    GraphCall call = {.graph = graph,
                      .what = "do",
                      .values = &condition,
                      .value_count = 1,
                      .out_inner = out_carried};
    if (out_carried == NULL) return refuse_status(graph, "out_carried");
    if (graph != NULL && live_carried(graph->live) == 0)
        return compiler_fail(graph->compiler, TCC_INVALID, "the block that is open is no loop");
    return go_on(&call);
}

static Value begin_loop(GraphCall *call) {
    const int64_t *limit = call->more;
    make_room(call, call->value_count);
    return whether(
        live_begin_loop(call->graph->live, call->operands, call->value_count, *limit, call->inner));
}

tcc_status tcc_graph_begin_loop(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                int64_t limit, tcc_value *out_carried) {
    GraphCall call = {.graph = graph,
                      .make = begin_loop,
                      .what = "loop",
                      .makes_nothing = true,
                      .values = carried,
                      .value_count = count,
                      .more = &limit,
                      .out_inner = out_carried};
    if (carried == NULL && count > 0) return refuse_status(graph, "carried");
    if (out_carried == NULL && count > 0) return refuse_status(graph, "out_carried");
    return graph_do(&call);
}

typedef struct ScanParts {
    uint32_t carried;
    bool reverse;
} ScanParts;

static Value begin_scan(GraphCall *call) {
    const ScanParts *parts = call->more;
    uint32_t carried = parts->carried, sequences = call->value_count - carried;
    make_room(call, call->value_count);
    return whether(live_begin_scan(call->graph->live, call->operands, carried,
                                   call->operands + carried, sequences, parts->reverse,
                                   call->inner));
}

enum { MAX_SCAN = 256 };

tcc_status tcc_graph_begin_scan(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                const tcc_value *sequences, uint32_t sequence_count, int reverse,
                                tcc_value *out_carried, tcc_value *out_slices) {
    tcc_value values[MAX_SCAN], inner[MAX_SCAN];
    ScanParts parts = {count, reverse != 0};
    GraphCall call = {.graph = graph,
                      .make = begin_scan,
                      .what = "scan",
                      .makes_nothing = true,
                      .values = values,
                      .value_count = count + sequence_count,
                      .more = &parts,
                      .out_inner = inner};
    if (graph == NULL) return TCC_INVALID;
    if (count > 0 && carried == NULL) return refuse_status(graph, "carried");
    if (count > 0 && out_carried == NULL) return refuse_status(graph, "out_carried");
    if (sequence_count > 0 && sequences == NULL) return refuse_status(graph, "sequences");
    if (sequence_count > 0 && out_slices == NULL) return refuse_status(graph, "out_slices");
    if (count > MAX_SCAN || sequence_count > MAX_SCAN - count)
        return compiler_fail(graph->compiler, TCC_INVALID, "a scan takes at most %d values",
                             MAX_SCAN);
    if (count > 0) memcpy(values, carried, count * sizeof *values);
    if (sequence_count > 0) memcpy(values + count, sequences, sequence_count * sizeof *values);
    tcc_status status = graph_do(&call);
    for (uint32_t i = 0; status == TCC_OK && i < count + sequence_count; i++)
        *(i < count ? &out_carried[i] : &out_slices[i - count]) = inner[i];
    return status;
}

static Value end_block(GraphCall *call) {
    return live_end_block(call->graph->live, call->operands, call->value_count);
}

tcc_value tcc_graph_end(tcc_graph *graph, const tcc_value *results, uint32_t count) {
    GraphCall call = {
        .graph = graph, .make = end_block, .what = "end", .values = results, .value_count = count};
    if (results == NULL && count > 0) return refuse(graph, "results");
    return graph_make(&call);
}
