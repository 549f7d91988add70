/* Running graphs: values by node, each result in an arena of its own that is freed after its last
 * use. */
#include "ir/eval_rules.h"

static EvalRule *const rules[] = {
    [CLASS_LEAF] = eval_leaf,
    [CLASS_UNARY] = eval_unary,
    [CLASS_BINARY] = eval_binary,
    [CLASS_COMPARE] = eval_compare,
    [CLASS_SELECT] = eval_select,
    [CLASS_CAST] = eval_cast,
    [CLASS_REDUCE] = eval_reduce,
    [CLASS_ARGREDUCE] = eval_argreduce,
    [CLASS_CUMULATIVE] = eval_cumulative,
    [CLASS_RESHAPE] = eval_reshape,
    [CLASS_PERMUTE] = eval_permute,
    [CLASS_BROADCAST] = eval_broadcast,
    [CLASS_SLICE] = eval_slice,
    [CLASS_PAD] = eval_pad,
    [CLASS_REVERSE] = eval_reverse,
    [CLASS_CONCAT] = eval_concat,
    [CLASS_GATHER] = eval_gather,
    [CLASS_SCATTER] = eval_scatter,
    [CLASS_CONTRACT] = eval_contract,
    [CLASS_CONV] = eval_conv,
    [CLASS_WINDOW] = eval_window,
    [CLASS_SORT] = eval_sort,
    [CLASS_RANDOM] = eval_random,
    [CLASS_COND] = eval_cond,
    [CLASS_LOOP] = eval_loop,
    [CLASS_SCAN] = eval_scan,
    [CLASS_CALL] = eval_call,
    [CLASS_KERNEL] = eval_call,
};

/* ---- what rules need ------------------------------------------------------------------------- */

bool eval_fail(Eval *ev, const char *format, ...) {
    Buf text = {.arena = ev->messages};
    va_list args;
    va_start(args, format);
    buf_vprint(&text, format, args);
    va_end(args);
    ev->message = buf_str(&text).data;
    return false;
}

void eval_index_error(Eval *ev, int64_t index, int64_t bound) {
    if (ev->error->failed) return;
    *ev->error = (EvalError){.failed = true, .node = ev->id, .index = index, .bound = bound};
}

static const char *dim_text(const Eval *ev, const Dim *dim) {
    Buf text = {.arena = ev->messages};
    buf_dim(&text, dim);
    return buf_str(&text).data;
}

bool eval_dim(Eval *ev, const Dim *dim, int64_t *out_value) {
    if (dim_is_const(dim, out_value)) return true;
    const int64_t *symbols = ev->options->symbols;
    if (symbols && dim_evaluate(dim, symbols, out_value)) return true;
    return eval_fail(ev, "dim %s has no value", dim_text(ev, dim));
}

static bool check_limit(Eval *ev, int64_t count) {
    uint64_t limit = ev->options->element_limit;
    if (!limit || (uint64_t)count <= limit) return true;
    return eval_fail(ev, "a result of %s has %lld elements, more than the limit of %llu",
                     ev->info->name, (long long)count, (unsigned long long)limit);
}

bool eval_new_value(Eval *ev, const Type *type, EvalValue *out) {
    Tensor *t = &out->tensor;
    int64_t count = 1, bytes;
    bool fits = true;
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!eval_dim(ev, type->dims[i], &t->dims[i])) return false;
        if (t->dims[i] < 0) return eval_fail(ev, "dim %s is negative", dim_text(ev, type->dims[i]));
        fits = fits && !__builtin_mul_overflow(count, t->dims[i], &count);
    }
    if (!fits || !dtype_bytes(type->dtype, count, &bytes)) {
        return eval_fail(ev, "the size of a result of %s overflows", ev->info->name);
    }
    if (!check_limit(ev, count)) return false;
    t->data = arena_alloc(ev->results, (size_t)bytes);
    out->rounded = NULL;
    out->bound = ev->options->bounds ? NEW_ARRAY(ev->results, double, (size_t)count) : NULL;
    return true;
}

/* ---- one node -------------------------------------------------------------------------------- */

static uint32_t result_count(const Type *type) { return type->is_tuple ? type->item_count : 1; }

/* Regions write their results in full themselves. */
static bool allocate_results(Eval *ev, EvalValue *out) {
    const Type *type = ev->node->type;
    for (uint32_t i = 0; i < result_count(type); i++) {
        if (!eval_new_value(ev, type->is_tuple ? type->items[i] : type, &out[i])) return false;
    }
    return true;
}

/* `results` receives what the node gives, `messages` why it could not. */
static bool run_node(const Graph *graph, NodeId id, const EvalValue *args,
                     const EvalOptions *options, Arena *results, Arena *messages, EvalValue *out,
                     EvalError *error, const char **out_message) {
    const Node *node = graph_node(graph, id);
    const OpInfo *info = op_info(node->op);
    Scratch scratch;
    scratch_open(&scratch);
    Eval ev = {.graph = graph, .node = node, .id = id, .info = info, .options = options};
    ev.args = args;
    ev.results = results;
    ev.messages = messages;
    ev.scratch = scratch.arena;
    ev.error = error;
    bool own_results = info->class == CLASS_COND || info->class == CLASS_LOOP ||
                       info->class == CLASS_CALL || info->class == CLASS_KERNEL;
    bool good = (own_results || allocate_results(&ev, out)) && rules[info->class](&ev, out);
    *out_message = ev.message;
    scratch_close(&scratch);
    return good;
}

bool eval_node(const Graph *graph, NodeId id, const EvalValue *args, const EvalOptions *options,
               Arena *arena, EvalValue *out_results, EvalError *out_error,
               const char **out_message) {
    const Node *node = graph_node(graph, id);
    *out_error = (EvalError){0};
    *out_message = NULL;
    if (node->op == OP_item) {
        out_results[0] = args[node_attr(node, "index").i];
        return true;
    }
    return run_node(graph, id, args, options, arena, arena, out_results, out_error, out_message);
}

/* ---- a graph --------------------------------------------------------------------------------- */

/* What is live while a graph runs. */
typedef struct Run {
    const Graph *graph;
    const EvalOptions *options;
    const EvalValue *inputs;
    Arena *messages;
    EvalError *error;
    const char *message;
    EvalValue **values; /* by node: its results */
    Arena **arenas;     /* by node: where they are; NULL when freed or in another's */
    uint32_t *uses;     /* left, by node */
    Arena *arena;       /* of this struct's arrays */
    GuardDefer defer;
} Run;

static void run_free(void *object) {
    Run *run = object;
    for (size_t i = 0; i < run->graph->nodes.count; i++) arena_free(run->arenas[i]);
    arena_free(run->arena);
}

static void run_start(Run *run) {
    size_t count = run->graph->nodes.count;
    Scratch scratch; /* until there is something else to free */
    run->arena = scratch_open(&scratch);
    run->values = NEW_ARRAY(run->arena, EvalValue *, count);
    run->arenas = NEW_ARRAY(run->arena, Arena *, count);
    run->uses = graph_count_uses(run->graph, run->arena);
    guard_undefer(&scratch.defer);
    guard_defer(&run->defer, run_free, run);
}

static void run_end(Run *run) {
    guard_undefer(&run->defer);
    run_free(run);
}

/* Frees what this was the last use of. An item lies in its operand's arena, so it counts as a use
 * of the operand until the item itself is done with. */
static void release(Run *run, NodeId id) {
    const Node *node = graph_node(run->graph, id);
    if (--run->uses[id] > 0) return;
    if (node->op == OP_item) {
        release(run, node->args[0]);
    } else {
        arena_free(run->arenas[id]);
        run->arenas[id] = NULL;
    }
}

bool eval_has_jump(const Node *node) {
    OpClass class = op_info(node->op)->class;
    switch (node->op) {
    case OP_sign:
    case OP_floor:
    case OP_ceil:
    case OP_trunc:
    case OP_round:
    case OP_floordiv:
    case OP_rem:
    case OP_mod: return true;
    case OP_cast: return !dtype_is_float(node->type->dtype);
    default: return class == CLASS_COMPARE || class == CLASS_ARGREDUCE || class == CLASS_SORT;
    }
}

static EvalValue *gather_args(Run *run, const Node *node, Arena *arena) {
    EvalValue *args = NEW_ARRAY(arena, EvalValue, node->arg_count);
    bool jump = eval_has_jump(node);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        args[i] = *run->values[node->args[i]];
        if (jump && args[i].rounded) args[i].bound = args[i].rounded;
    }
    return args;
}

static bool run_item(Run *run, NodeId id) {
    const Node *node = graph_node(run->graph, id);
    run->values[id] = run->values[node->args[0]] + node_attr(node, "index").i;
    return true;
}

static bool run_input(Run *run, NodeId id) {
    const Node *node = graph_node(run->graph, id);
    run->values[id] = NEW(run->arena, EvalValue);
    *run->values[id] = run->inputs[node_attr(node, "index").i];
    return true;
}

static bool run_op(Run *run, NodeId id) {
    const Node *node = graph_node(run->graph, id);
    run->arenas[id] = arena_new(NULL);
    run->values[id] = NEW_ARRAY(run->arenas[id], EvalValue, result_count(node->type));
    EvalValue *args = gather_args(run, node, run->arenas[id]);
    bool good = run_node(run->graph, id, args, run->options, run->arenas[id], run->messages,
                         run->values[id], run->error, &run->message);
    for (uint32_t i = 0; i < node->arg_count; i++) release(run, node->args[i]);
    return good;
}

/* Nodes without a use are not run. */
static bool run_nodes(Run *run) {
    const bool *live = graph_find_live(run->graph, run->arena);
    for (size_t i = 0; i < run->graph->nodes.count; i++) {
        NodeId id = (NodeId)i;
        Op op = graph_node(run->graph, id)->op;
        if (!live[i]) continue;
        bool good = op == OP_input  ? run_input(run, id)
                    : op == OP_item ? run_item(run, id)
                                    : run_op(run, id);
        if (!good) return false;
    }
    return true;
}

/* A copy of a value in another arena. */
static EvalValue copy_value(Arena *arena, const EvalValue *value) {
    EvalValue copy = {.tensor = value->tensor};
    copy.tensor.data = arena_copy(arena, value->tensor.data, tensor_bytes(&value->tensor));
    if (value->bound) {
        size_t bytes = (size_t)tensor_elements(&value->tensor) * sizeof(double);
        copy.bound = arena_copy(arena, value->bound, bytes);
    }
    return copy;
}

static bool run_graph(Run *run, Arena *arena, EvalValue *out_results) {
    run_start(run);
    bool good = run_nodes(run);
    for (size_t i = 0; good && i < run->graph->outputs.count; i++) {
        out_results[i] = copy_value(arena, run->values[run->graph->outputs.data[i].node]);
    }
    run_end(run);
    return good;
}

bool eval_region(Eval *ev, const Graph *region, const EvalValue *inputs, Arena *arena,
                 EvalValue *out_results) {
    EvalError error = {0};
    Run run = {.graph = region, .options = ev->options, .inputs = inputs, .error = &error};
    run.messages = ev->messages;
    bool good = run_graph(&run, arena, out_results);
    if (error.failed) eval_index_error(ev, error.index, error.bound);
    ev->message = run.message;
    return good;
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool check_input(Eval *ev, const EvalValue *input, uint32_t index) {
    const Type *type = ev->node->type;
    const Tensor *t = &input->tensor;
    bool fits = t->dtype == type->dtype && t->rank == type->rank;
    for (uint32_t i = 0; fits && i < type->rank; i++) {
        int64_t want;
        if (!eval_dim(ev, type->dims[i], &want)) return false;
        fits = t->dims[i] == want;
    }
    Buf text = {.arena = ev->messages};
    buf_type(&text, type);
    return fits || eval_fail(ev, "input %u is not of type %s", index, buf_str(&text).data);
}

static bool check_relations(Eval *ev) {
    for (size_t i = 0; i < ev->graph->checks.count; i++) {
        const EntryCheck *check = &ev->graph->checks.data[i];
        int64_t a, b;
        if (!eval_dim(ev, check->a, &a) || !eval_dim(ev, check->b, &b)) return false;
        bool equal = check->kind == CHECK_equal;
        if (equal ? a == b : a <= b) continue;
        return eval_fail(ev, "%s must be %s %s, but they are %lld and %lld", dim_text(ev, check->a),
                         equal ? "equal to" : "at most", dim_text(ev, check->b), (long long)a,
                         (long long)b);
    }
    return true;
}

static bool check_entry(Eval *ev, const EvalValue *inputs) {
    for (size_t i = 0; i < ev->graph->inputs.count; i++) {
        ev->id = ev->graph->inputs.data[i];
        ev->node = graph_node(ev->graph, ev->id);
        ev->info = op_info(ev->node->op);
        if (!check_input(ev, &inputs[i], (uint32_t)i)) return false;
    }
    return check_relations(ev);
}

bool eval_graph(const Graph *graph, const EvalValue *inputs, const EvalOptions *options,
                Arena *arena, EvalValue *out_results, EvalError *out_error,
                const char **out_message) {
    *out_error = (EvalError){0};
    Eval ev = {.graph = graph, .options = options, .messages = arena, .error = out_error};
    bool good = check_entry(&ev, inputs);
    *out_message = ev.message;
    if (!good) return false;
    Run run = {.graph = graph, .options = options, .inputs = inputs, .error = out_error};
    run.messages = arena;
    good = run_graph(&run, arena, out_results);
    *out_message = run.message;
    return good;
}
