// Models in the language: every computation of tests/models/fusion is one kernel in each of its
// spellings, that reads what the model reads and writes what it writes; and the examples fuse as
// they should.
#include "tests/support/dsl_compile.h"
#include "tests/support/fuse_check.h"
#include "tests/support/model_values.h"
#include "tests/unit/test.h"

// ---- what is expected

// All passes of -O2 up to fuse, or those without layouts.
static const char *const pipelines[] = {"inline,decompose,fold,hoist",
                                        "inline,decompose,fold,hoist,plan,pack"};

// Batch norms that fold into a convolution, quotients that hoist moves behind the second of two
// contractions.
static bool regroups_sums(const Graph *graph) {
    uint32_t contractions = 0, convolutions = 0;
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        contractions += graph_node(graph, id)->op == OP_contract;
        convolutions += graph_node(graph, id)->op == OP_conv;
    }
    return convolutions > 0 || contractions > 1;
}

static void check_graph(const Graph *graph, uint32_t kernels, FuseKernels how) {
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        for (ModelSize size = SIZE_least; size <= SIZE_odd; size++) {
            Arena *arena = arena_new(NULL);
            const int64_t *symbols = model_symbols(graph->ctx, arena, size);
            FuseCheck check = {.ctx = graph->ctx,
                               .graph = graph,
                               .passes = str_from(pipelines[pipeline]),
                               .regroups = regroups_sums(graph),
                               .symbols = symbols,
                               .inputs = model_inputs(graph, arena, symbols),
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

static bool open_file(DslRun *run, const char *path, Str text) {
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
    Str text = dsl_read_file(path);
    if (!open_file(&run, path, text)) return;
    for (size_t i = 0; i < run.module->models.count; i++) {
        const Graph *graph = model_fill_params(run.module->models.data[i], run.arena);
        check_graph(graph, 1, test_long() ? FUSE_kernels_compiled : FUSE_kernels_interpreted);
    }
    dsl_run_free(&run);
    free((void *)(uintptr_t)text.data);
}

static void test_rows(void) { check_single_kernels("tests/models/fusion/rows.g"); }
static void test_epilogues(void) { check_single_kernels("tests/models/fusion/epilogues.g"); }
static void test_products(void) { check_single_kernels("tests/models/fusion/products.g"); }

// The kernels of each model of the file after the passes, in the file's order; of contractions
// alone where `skeleton` says so. Passes before fuse change no bits, unless they regroup sums.
static void check_kernels(const char *path, const char *passes, const char *skeleton, bool regroups,
                          const uint32_t *expected) {
    DslRun run;
    Str text = dsl_read_file(path);
    if (!open_file(&run, path, text)) return;
    for (size_t i = 0; i < run.module->models.count; i++) {
        Arena *arena = arena_new(NULL);
        const Graph *graph = model_fill_params(run.module->models.data[i], run.arena);
        const int64_t *symbols = model_symbols(graph->ctx, arena, SIZE_odd);
        FuseCheck check = {.ctx = graph->ctx,
                           .graph = graph,
                           .passes = str_from(passes),
                           .regroups = regroups,
                           .symbols = symbols,
                           .inputs = model_inputs(graph, arena, symbols),
                           .kernels = FUSE_kernels_built};
        FuseResult result;
        const char *fault = fuse_check(&check, arena, &result);
        if (!CHECK(fault == NULL)) printf("    %.*s: %.2000s\n", STR_ARG(*graph->name), fault);
        uint32_t kernels = 0;
        for (NodeId id = 0; fault == NULL && id < result.fused->nodes.count; id++) {
            const Node *node = graph_node(result.fused, id);
            kernels +=
                node->op == OP_kernel &&
                (!skeleton || str_equal(*node_attr(node, "skeleton").str, str_from(skeleton)));
        }
        if (fault == NULL && !CHECK_INT(kernels, expected[i]))
            printf("    kernels of %.*s\n", STR_ARG(*graph->name));
        arena_free(arena);
    }
    dsl_run_free(&run);
    free((void *)(uintptr_t)text.data);
}

// One product for all steps, and one a step.
static void test_steps(void) {
    check_kernels("tests/models/fusion/steps.g", "inline,decompose,fold,steps", "contract", false,
                  (const uint32_t[]){6, 6});
}

// One product for all siblings, and nothing that copies its parts.
static void test_siblings(void) {
    const uint32_t kernels[] = {2, 5, 2, 2, 5};
    check_kernels("tests/models/fusion/siblings.g", "inline,decompose,fold,steps,siblings,hoist",
                  NULL, true, kernels);
    check_kernels("tests/models/fusion/siblings.g",
                  "inline,decompose,fold,steps,siblings,hoist,plan,pack", NULL, true, kernels);
}

static void test_bands(void) { check_single_kernels("tests/models/fusion/bands.g"); }

static void test_attention(void) { check_single_kernels("tests/models/fusion/attention.g"); }

int main(void) {
    RUN(test_rows);
    RUN(test_epilogues);
    RUN(test_products);
    RUN(test_attention);
    RUN(test_steps);
    RUN(test_siblings);
    RUN(test_bands);
    return test_done();
}
