// Models in the language: every computation of tests/models/fusion is one kernel in each of its
// spellings, that reads what the model reads and writes what it writes; and the examples fuse as
// they should.
#include "tests/support/dsl_compile.h"
#include "tests/support/fuse_check.h"
#include "tests/support/op_cases.h"
#include "tests/unit/test.h"

// ---- a model with values

// Parameters get values in [0.5, 1.5), so that variances are positive and constants fold.
static const Blob *random_blob(IrContext *ctx, Arena *arena, const Type *type, uint64_t seed) {
    Tensor t = {.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_is_const(type->dims[i], &t.dims[i]);
    t.data = arena_alloc(arena, tensor_bytes(&t));
    for (int64_t i = 0; i < tensor_elements(&t); i++) {
        seed = hash_word(seed, (uint64_t)i);
        tensor_set(&t, i, 0.5 + (double)(seed >> 40) * 0x1p-24);
    }
    return ir_blob(ctx, t.data, tensor_bytes(&t));
}

static Graph *with_values(const Graph *from, Arena *arena) {
    Graph *to = graph_new(from->ctx, arena, *from->name);
    NodeId *map = NEW_ARRAY(arena, NodeId, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        const Node *node = graph_node(from, id);
        if (node->op != OP_param || node_attr(node, "value").blob) {
            map[id] = graph_copy_node(to, from, id, map);
            continue;
        }
        Attr attrs[] = {node_attr(node, "name"),
                        {.blob = random_blob(from->ctx, arena, node->type, id)}};
        map[id] = graph_add(to, OP_param, node->type, NULL, 0, attrs, NULL, 0, NULL);
    }
    for (size_t i = 0; i < from->outputs.count; i++)
        graph_add_output(to, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    graph_copy_checks(to, from);
    return to;
}

// Which number a dim stands for.
typedef enum Setting { SETTING_least, SETTING_one, SETTING_odd } Setting;

static int64_t *settings_of(IrContext *ctx, Arena *arena, Setting setting) {
    uint32_t count = dim_symbol_count(ctx);
    int64_t *values = NEW_ARRAY(arena, int64_t, count + 4096);
    for (uint32_t i = 0; i < count; i++) {
        const DimSymbol *s = dim_symbol_at(ctx, i);
        int64_t wanted = setting == SETTING_least ? s->lo : setting == SETTING_one ? 1 : 7;
        values[i] = wanted < s->lo ? s->lo : wanted > s->hi ? s->hi : wanted;
    }
    return values;
}

static EvalValue *inputs_of(const Graph *graph, Arena *arena, const int64_t *symbols) {
    EvalValue *inputs = NEW_ARRAY(arena, EvalValue, graph->inputs.count);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const Type *type = graph_type(graph, graph->inputs.data[i]);
        int64_t limit = dtype_is_float(type->dtype) || type->dtype == DT_bool ? 0 : 100;
        op_case_tensor(arena, type, symbols, 17 * i + 1, limit, &inputs[i].tensor);
    }
    return inputs;
}

// ---- what is expected

// All passes of -O2 up to fuse, or those without layouts.
static const char *const pipelines[] = {"inline,decompose,fold", "inline,decompose,fold,plan,pack"};

static bool folds_weights(const Graph *graph) {
    for (NodeId id = 0; id < graph->nodes.count; id++)
        if (graph_node(graph, id)->op == OP_conv) return true;
    return false;
}

static void check_graph(const Graph *graph, uint32_t kernels, FuseKernels how) {
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        for (Setting setting = SETTING_least; setting <= SETTING_odd; setting++) {
            Arena *arena = arena_new(NULL);
            const int64_t *symbols = settings_of(graph->ctx, arena, setting);
            FuseCheck check = {.ctx = graph->ctx,
                               .graph = graph,
                               .passes = str_from(pipelines[pipeline]),
                               .regroups = folds_weights(graph),
                               .symbols = symbols,
                               .inputs = inputs_of(graph, arena, symbols),
                               .kernels = how};
            FuseResult result;
            const char *fault = fuse_check(&check, arena, &result);
            bool good = CHECK(fault == NULL);
            if (!good) printf("    %.*s: %.3000s\n", STR_ARG(*graph->name), fault);
            if (good && !CHECK_INT(result.kernels, kernels))
                printf("    kernels of %.*s\n", STR_ARG(*graph->name));
            arena_free(arena);
        }
    }
}

static bool open_file(DslRun *run, const char *path) {
    Str text = dsl_read_file(path);
    if (!CHECK(text.data != NULL)) return false;
    DslOptions options = {.allow_missing = true};
    dsl_run(run, path, text, &options);
    if (!CHECK(run->module != NULL)) {
        printf("    %s\n", dsl_run_first(run) ? dsl_run_first(run)->rendered : path);
        return false;
    }
    return true;
}

// Each model of the file is one kernel.
static void check_single_kernels(const char *path) {
    DslRun run;
    if (!open_file(&run, path)) return;
    for (size_t i = 0; i < run.module->models.count; i++) {
        const Graph *graph = with_values(run.module->models.data[i], run.arena);
        check_graph(graph, 1, test_long() ? FUSE_kernels_compiled : FUSE_kernels_interpreted);
    }
    dsl_run_free(&run);
}

static void test_rows(void) { check_single_kernels("tests/models/fusion/rows.g"); }
static void test_epilogues(void) { check_single_kernels("tests/models/fusion/epilogues.g"); }
static void test_products(void) { check_single_kernels("tests/models/fusion/products.g"); }

int main(void) {
    RUN(test_rows);
    RUN(test_epilogues);
    RUN(test_products);
    return test_done();
}
