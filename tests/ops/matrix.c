// Every op that is lowered × each dtype of its row × awkward shapes, at -O0 to -O2, through the
// public library: compiled, checked against the evaluator, run with 1, 2 and 7 threads and from
// awkward memory, with indices out of range where there are indices. Large cases, which threads
// share in fact, are among them.
//
//     ops-matrix sample K/N    every op and dtype at each level; the K-th of N shares
//     ops-matrix all K/N       all cases at all levels
//     ops-matrix OP DTYPE CASE LEVEL [large]    one of them; its text is printed
//
// With --device=emu before these words the kernels are those of the software GPU.
#include "tests/support/library_case.h"
#include "tests/support/op_cases.h"
#include "tests/unit/test.h"

#include "ir/text.h"

#include <signal.h>
#include <unistd.h>

enum { LEVELS = 3, MAX_REPORTS = 40, LARGE_STEP = 9 };

static const char *device; // where they run; NULL: on the CPU
static LibraryHost hosts[LEVELS];
static long cases, repeated_cases, large_cases, threaded_cases;
static uint64_t elements, compared;
static char running[128]; // the case, for a crash

typedef struct Job {
    Op op;
    DType dtype;
    uint32_t number;
    int level;
    bool large, unchecked, show;
} Job;

static void report_crash(int number) {
    (void)number;
    static const char text[] = "crashed in ";
    if (write(1, text, sizeof text - 1) > 0 && write(1, running, strlen(running)) > 0)
        _exit(write(1, "\n", 1) == 1 ? 1 : 2);
    _exit(2);
}

static Str print_case(Arena *arena, IrContext *ctx, Graph *graph) {
    Module module = {.ctx = ctx, .arena = arena};
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, graph);
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

// An index out of range: one too far at either end, or of 64 bits and right if half of them were
// lost.
static int64_t bad_index(DType dtype, int64_t limit, uint32_t number) {
    bool far = dtype == DT_i64 && number / 2 % 2;
    if (number % 2) return far ? (1ll << 32) + limit - 1 : limit;
    return far ? -(1ll << 32) : -limit - 1;
}

// None where no access is made with them.
static int64_t *bad_indices(Arena *arena, const OpCase *c, const Tensor *inputs, uint32_t number) {
    size_t count = c->graph->inputs.count;
    int64_t *bad = NEW_ARRAY(arena, int64_t, count);
    bool used = true;
    for (size_t i = 0; i < count; i++) used = used && tensor_elements(&inputs[i]) > 0;
    for (size_t i = 0; i < count && used; i++)
        if (c->index_limits[i] > 0)
            bad[i] = bad_index(inputs[i].dtype, c->index_limits[i], number + (uint32_t)i);
    return bad;
}

static void run_built(const Job *job, Arena *arena, IrContext *ctx, const OpCase *c,
                      LibrarySeen *seen) {
    size_t count = c->graph->inputs.count;
    Tensor *inputs = NEW_ARRAY(arena, Tensor, count), *tame = NEW_ARRAY(arena, Tensor, count);
    for (size_t i = 0; i < count; i++) {
        const Type *type = graph_type(c->graph, c->graph->inputs.data[i]);
        uint64_t seed = job->number * 31 + i;
        op_case_tensor(arena, type, c->symbols, seed, c->index_limits[i], &inputs[i]);
        op_case_tensor(arena, type, c->symbols, seed, c->index_limits[i], &tame[i]);
        op_case_fill(&tame[i], VALUES_tame, seed, c->index_limits[i]);
    }
    LibraryCase test = {.host = &hosts[job->level],
                        .text = print_case(arena, ctx, c->graph),
                        .inputs = inputs,
                        .tame = tame,
                        .input_count = (uint32_t)count,
                        .bad_indices = bad_indices(arena, c, inputs, job->number),
                        .layouts = !job->large,
                        .unchecked = job->unchecked,
                        .seen = seen};
    LibraryResult result;
    if (job->show) printf("%.*s", STR_ARG(test.text));
    const char *fault = library_case_run(&test, arena, &result);
    cases++;
    repeated_cases += result.repeated;
    large_cases += job->large && !result.repeated;
    threaded_cases += job->large && result.threads > 1;
    elements += result.elements;
    compared += result.compared;
    if (!CHECK(fault == NULL)) printf("    %s: %s\n", running, fault);
}

// Whether there is such a case. What it became at lower levels is in `seen`, if that is wanted.
static bool run_job(const Job *job, Arena *arena, LibrarySeen *seen) {
    IrContext *ctx = ir_context_new(arena);
    OpCase c;
    snprintf(running, sizeof running, "%s %s %u %d%s", op_info(job->op)->name,
             dtype_name(job->dtype), job->number, job->level, job->large ? " large" : "");
    OpLarge size = device ? LARGE_for_grids : LARGE_for_threads;
    bool known = job->large
                     ? op_case_build_large(ctx, arena, job->op, job->dtype, job->number, size, &c)
                     : op_case_build(ctx, arena, job->op, job->dtype, job->number, &c);
    known = known && c.graph;
    if (known) run_built(job, arena, ctx, &c, seen);
    ir_context_free(ctx);
    return known;
}

typedef enum Extent { RUN_sample, RUN_all } Extent;

// One op and dtype, the row-th of all.
typedef struct Row {
    Op op;
    DType dtype;
    uint32_t number;
} Row;

// One case at one level; at several it is compiled for each and run if it became another program.
static bool run(const Row *row, uint32_t number, int level, bool large, Arena *arena,
                LibrarySeen *seen) {
    if (test_counts.failures >= MAX_REPORTS) return true;
    // The evaluator takes its time over a million elements; on the CPU the runs say something
    // without it, since threads share the work in different ways.
    Job job = {.op = row->op, .dtype = row->dtype, .number = number, .level = level};
    job.large = large;
    job.unchecked = large && level > 0 && !device;
    return run_job(&job, arena, seen);
}

static void run_levels(const Row *row, uint32_t number, bool large) {
    Arena *arena = arena_new(NULL);
    LibrarySeen seen = {.count = 0};
    for (int level = 0; level < LEVELS; level++)
        if (!run(row, number, level, large, arena, &seen)) break;
    arena_free(arena);
}

// The cases of the share. Every number is a case or none at all levels.
static void run_share(const Row *row, uint32_t share, uint32_t shares) {
    for (uint32_t number = share; number < op_case_count(); number += shares)
        run_levels(row, number, false);
    for (uint32_t number = 0; number < op_case_count(); number++)
        if ((row->number + number) % shares == share) run_levels(row, number, true);
}

// A case a level, from a place of its own in the row's list; of every few rows a large one. The
// software GPU takes its time: there it is small ones at -O0 and -O2.
static void run_sample(const Row *row) {
    Arena *arena = arena_new(NULL);
    uint32_t count = op_case_count(), number = (row->op * 131 + row->dtype * 37) % count;
    for (int level = 0; level < LEVELS; level += device ? 2 : 1) {
        bool ran = false;
        for (uint32_t tries = 0; tries < count && !ran; tries++) {
            ran = run(row, number, level, false, arena, NULL);
            number = (number + 7) % count;
        }
    }
    if (row->number % LARGE_STEP == 0 && !device) run(row, 0, 2, true, arena, NULL);
    arena_free(arena);
}

static void run_rows(Extent extent, uint32_t share, uint32_t shares) {
    Row row = {.number = 0};
    for (row.op = OP_none + 1; row.op < OP_count; row.op++) {
        if (!op_case_is_lowered(row.op)) continue;
        for (row.dtype = 0; row.dtype < DT_count; row.dtype++) {
            if (!op_accepts(row.op, row.dtype)) continue;
            if (extent == RUN_all)
                run_share(&row, share, shares);
            else if (row.number % shares == share)
                run_sample(&row);
            row.number++;
        }
    }
}

static void run_one(int count, char **words) {
    Arena *arena = arena_new(NULL);
    Job job = {.number = (uint32_t)strtoul(words[2], NULL, 10), .show = true};
    job.level = atoi(words[3]);
    job.large = count > 4;
    bool known =
        op_parse(str_from(words[0]), &job.op) && dtype_parse(str_from(words[1]), &job.dtype);
    if (CHECK(known && job.level >= 0 && job.level < LEVELS)) CHECK(run_job(&job, arena, NULL));
    arena_free(arena);
}

int main(int argc, char **argv) {
    uint32_t share, shares;
    signal(SIGSEGV, report_crash);
    signal(SIGILL, report_crash);
    signal(SIGFPE, report_crash);
    if (argc > 1 && strncmp(argv[1], "--device=", 9) == 0) {
        device = argv[1] + 9;
        argc--, argv++;
    }
    for (int level = 0; level < LEVELS; level++) library_host_open(&hosts[level], level, device);
    if (argc > 4)
        run_one(argc - 1, argv + 1);
    else if (CHECK(argc == 3 && sscanf(argv[2], "%u/%u", &share, &shares) == 2 && share < shares))
        run_rows(strcmp(argv[1], "all") == 0 ? RUN_all : RUN_sample, share, shares);
    for (int level = 0; level < LEVELS; level++) library_host_close(&hosts[level]);
    printf("       %ld cases, %ld the program of a lower level, %ld large ones, %ld of them on "
           "several "
           "threads\n",
           cases, repeated_cases, large_cases, threaded_cases);
    printf("       %llu elements, %llu of them compared\n", (unsigned long long)elements,
           (unsigned long long)compared);
    CHECK(cases > 0 && (argc > 4 || (double)compared >= 0.9 * (double)elements));
    return test_done();
}
