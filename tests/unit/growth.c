// What the passes do grows at most with the program: rules tried, groups priced, regions that
// codegen is asked about, kernels made. Work is counted, not timed.
#include "codegen/skeleton/skeleton.h"
#include "passes/pass.h"
#include "tests/support/dsl_compile.h"
#include "tests/support/model_values.h"
#include "tests/support/programs.h"
#include "tests/unit/test.h"

typedef struct Counts {
    PassWork work;
    uint64_t dims; // symbols and kernels: what later steps walk over
    uint64_t kernels;
    bool good;
} Counts;

static void run_passes(DslRun *run, Counts *counts) {
    Graph *model = model_fill_params(run->module->models.data[0], run->arena);
    CostModel cost = skeleton_cost_model(run->ctx);
    PassContext ctx = {.ir = run->ctx,
                       .diags = run->diags,
                       .target = target_find(STR("x86-64-v3")),
                       .cost = &cost,
                       .options = {.level = 2, .rewrite_limit = -1},
                       .arena = run->arena,
                       .scratch = arena_new(NULL)};
    PassResult result;
    counts->good = CHECK(passes_run(&ctx, run->arena, model, &result));
    counts->work = ctx.work;
    counts->dims = dim_symbol_count(run->ctx);
    if (counts->good) counts->kernels = result.program->kernels.count;
    arena_free(ctx.scratch);
}

static Counts count_work(ProgramKind kind, int count) {
    Counts counts = {0};
    DslRun run;
    char *text = program_text(kind, count);
    if (!CHECK(text != NULL)) return counts;
    dsl_run(&run, "growth.g", str_from(text), &(DslOptions){.allow_missing = true});
    if (CHECK(run.module != NULL)) run_passes(&run, &counts);
    dsl_run_free(&run);
    free(text);
    return counts;
}

// Twice as much, and what begins and ends differ in.
static bool is_linear(uint64_t small, uint64_t large) {
    return (double)large <= 2.3 * (double)small + 16;
}

static void check_growth(ProgramKind kind, int count) {
    Counts a = count_work(kind, count), b = count_work(kind, 2 * count);
    if (!a.good || !b.good) return;
    const struct {
        const char *name;
        uint64_t small, large;
    } figures[] = {{"rules", a.work.rules, b.work.rules},
                   {"priced", a.work.priced, b.work.priced},
                   {"judged", a.work.judged, b.work.judged},
                   {"symbols", a.dims, b.dims},
                   {"kernels", a.kernels, b.kernels}};
    CHECK(b.work.rules > a.work.rules);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (CHECK(is_linear(figures[i].small, figures[i].large))) continue;
        printf("    %s of %d and %d: %s %llu and %llu\n", program_kind_name(kind), count, 2 * count,
               figures[i].name, (unsigned long long)figures[i].small,
               (unsigned long long)figures[i].large);
    }
}

static void test_growth(void) {
    static const int counts[PROGRAM_count] = {
        [PROGRAM_chain] = 300, [PROGRAM_outputs] = 300, [PROGRAM_steps] = 2000, [PROGRAM_dims] = 50,
        [PROGRAM_nest] = 60,   [PROGRAM_mixed] = 3000,  [PROGRAM_layers] = 20};
    int times = test_long() ? 4 : 1;
    for (ProgramKind kind = 0; kind < PROGRAM_count; kind++)
        check_growth(kind, kind == PROGRAM_nest ? counts[kind] : times * counts[kind]);
}

// A chain of equal ops is cut into equal kernels, of which one is compiled.
static void test_equal_kernels_are_one(void) {
    Counts counts = count_work(PROGRAM_chain, 1000);
    if (counts.good) CHECK(counts.kernels < 100);
}

int main(void) {
    RUN(test_growth);
    RUN(test_equal_kernels_are_one);
    return test_done();
}
