// Random graphs, compiled in several ways and compared with the evaluator.
//
//     fuzz-graphs [--seed=S] [--count=N] [--minutes=M] [--share=K/N] [--keep=FOLDER] [--device=emu]
//         graphs of the seeds S, S + 1, … (the K-th of N shares of them): N of them at most, for M
//         minutes at most; what fails is shrunk, printed and kept in FOLDER
//     fuzz-graphs --print=S
//         prints the pair of graphs of a seed
//     fuzz-graphs [--device=emu] FILE.tir…
//         replays cases, each in every way
//
// With a device the kernels are those of the software GPU; graphs are compiled in one way each.
#include "tests/fuzz/shrink.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 40, MAX_FAILURES = 10, MESSAGE = 4096, MAX_FILE = 1 << 24 };

typedef struct Options {
    uint64_t seed, count;
    double minutes;
    uint32_t share, shares;
    const char *keep;   // may be NULL
    const char *device; // NULL: the CPU
} Options;

// What a process that judges says of where it is and what it found.
typedef struct Report {
    uint64_t seed, graphs, compiled, threaded, repeated;
    uint32_t way;
    bool made, twisted, pair, failed;
    char why[MESSAGE];
} Report;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- one seed

static bool judge_one(FuzzJudge *judge, Arena *arena, const FuzzCase *c, bool twisted, uint32_t way,
                      Report *report) {
    report->way = way;
    report->twisted = twisted;
    report->compiled++;
    const char *why = fuzz_judge(judge, arena, c, way);
    report->threaded += fuzz_judge_was_threaded(judge);
    report->repeated += fuzz_judge_was_repeated(judge);
    if (why) snprintf(report->why, MESSAGE, "%s", why);
    report->failed = why != NULL;
    return !why;
}

// The plain graph at -O0, the other at -O2, and one of them in a way of the seed's choice.
static bool judge_on_cpu(FuzzJudge *judge, Arena *arena, const FuzzPair *pair, uint64_t seed,
                         Report *report) {
    uint64_t state = seed;
    uint32_t way = FUZZ_first_variant + fuzz_pick(&state, fuzz_way_count() - FUZZ_first_variant);
    bool twisted = fuzz_pick(&state, 2);
    return judge_one(judge, arena, &pair->plain, false, FUZZ_o0, report) &&
           judge_one(judge, arena, &pair->twisted, true, FUZZ_o2, report) &&
           judge_one(judge, arena, twisted ? &pair->twisted : &pair->plain, twisted, way, report);
}

// One graph in one way: every other at -O2. Of large ones the software device takes minutes.
static bool judge_on_device(FuzzJudge *judge, Arena *arena, const FuzzPair *pair, uint64_t seed,
                            Report *report) {
    uint64_t state = seed;
    uint32_t way = fuzz_pick(&state, 2) ? FUZZ_o2 : fuzz_pick(&state, fuzz_way_count());
    bool twisted = fuzz_pick(&state, 2);
    const FuzzCase *c = twisted ? &pair->twisted : &pair->plain;
    return c->large || judge_one(judge, arena, c, twisted, way, report);
}

static bool judge_seed(const Options *options, FuzzJudge *judge, uint64_t seed, Report *report) {
    Arena *arena = arena_new(NULL);
    FuzzPair pair;
    report->seed = seed;
    report->made = false;
    fuzz_judge_forget(judge);
    fuzz_make(seed, arena, &pair);
    report->made = report->pair = true;
    const char *why = fuzz_judge_pair(arena, &pair);
    if (why) snprintf(report->why, MESSAGE, "the evaluator on the pair: %s", why);
    report->failed = why != NULL;
    report->pair = report->failed;
    bool good = !why && (options->device ? judge_on_device : judge_on_cpu)(judge, arena, &pair,
                                                                           seed, report);
    report->graphs++;
    ir_context_free(pair.plain.ctx);
    arena_free(arena);
    return good;
}

// ---- failures

static void keep_text(const Options *options, Str name, Str text) {
    if (!options->keep) return;
    char path[512];
    snprintf(path, sizeof path, "%s/%.*s.tir", options->keep, STR_ARG(name));
    FILE *file = fopen(path, "w");
    if (!file) return;
    fwrite(text.data, 1, text.size, file);
    fclose(file);
}

static void show_failure(const Options *options, FuzzJudge *judge, const Report *report) {
    if (!report->made) {
        printf("FAILED seed %llu: making it %s\n", (unsigned long long)report->seed, report->why);
        return;
    }
    Arena *arena = arena_new(NULL);
    FuzzPair pair;
    fuzz_make(report->seed, arena, &pair);
    FuzzCase c = report->twisted ? pair.twisted : pair.plain;
    printf("FAILED seed %llu, %s: %s\n", (unsigned long long)report->seed,
           report->pair ? "both graphs" : fuzz_way_name(report->way), report->why);
    const char *why = report->pair ? NULL : fuzz_judge_apart(judge, arena, &c, report->way);
    if (why) {
        c = fuzz_shrink(judge, arena, &c, report->way, why);
        why = fuzz_judge_apart(judge, arena, &c, report->way);
    }
    Str text = fuzz_print(arena, &c);
    printf("# seed %llu, %s: %s\n%.*s", (unsigned long long)report->seed,
           fuzz_way_name(report->way), why ? why : report->why, STR_ARG(text));
    fflush(stdout);
    keep_text(options, str_format(arena, "seed-%llu", (unsigned long long)report->seed), text);
    ir_context_free(c.ctx);
    arena_free(arena);
}

// ---- batches: each in a process of its own, so that a crash is one seed's

static void judge_batch(const Options *options, uint64_t from, double end, Report *report) {
    Arena *arena = arena_new(NULL);
    FuzzJudge *judge = fuzz_judge_new(arena, options->device);
    for (uint64_t k = from; k < from + BATCH && k < options->count && now() < end; k++) {
        fuzz_limit_time();
        uint64_t seed = options->seed + k * options->shares + options->share;
        if (!judge_seed(options, judge, seed, report)) break;
    }
    fuzz_judge_free(judge);
    arena_free(arena);
}

static bool run_batch(const Options *options, uint64_t from, double end, Report *report) {
    report->failed = false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        judge_batch(options, from, end, report);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return false;
    if (WIFEXITED(status)) return true;
    report->failed = true;
    report->graphs++;
    snprintf(report->why, MESSAGE, "ends with signal %d", WTERMSIG(status));
    return true;
}

static int run_seeds(const Options *options) {
    Report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return 1;
    Arena *arena = arena_new(NULL);
    FuzzJudge *judge = fuzz_judge_new(arena, options->device);
    double end = now() + options->minutes * 60;
    uint32_t failures = 0;
    while (report->graphs < options->count && now() < end && failures < MAX_FAILURES) {
        if (!run_batch(options, report->graphs, end, report)) break;
        if (!report->failed) continue;
        failures++;
        show_failure(options, judge, report);
    }
    if (!options->device)
        printf("%llu of the compilations ran on several threads, %llu came to a program of "
               "before\n",
               (unsigned long long)report->threaded, (unsigned long long)report->repeated);
    printf("%llu graphs, %llu compilations, %u failed\n", (unsigned long long)report->graphs,
           (unsigned long long)report->compiled, failures);
    fuzz_judge_free(judge);
    arena_free(arena);
    return failures > 0 || report->graphs == 0;
}

// ---- the corpus

static bool replay(FuzzJudge *judge, const char *path) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    Str text;
    FuzzCase c;
    const char *why = "cannot be read";
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    bool good = file_read(arena, diags, (Loc){0}, str_from(path), MAX_FILE, &text) == STATUS_ok &&
                fuzz_read(arena, ctx, text, &c, &why);
    if (!good) printf("FAILED %s: %s\n", path, why);
    for (uint32_t way = 0; good && way < fuzz_way_count(); way++) {
        why = fuzz_judge_apart(judge, arena, &c, way);
        if (why) printf("FAILED %s, %s: %s\n", path, fuzz_way_name(way), why);
        good = !why;
    }
    ir_context_free(ctx);
    arena_free(arena);
    return good;
}

static int replay_all(const char *device, int count, char **paths) {
    Arena *arena = arena_new(NULL);
    FuzzJudge *judge = fuzz_judge_new(arena, device);
    int failures = 0;
    for (int i = 0; i < count; i++) failures += !replay(judge, paths[i]);
    printf("%d cases, %d failed\n", count, failures);
    fuzz_judge_free(judge);
    arena_free(arena);
    return failures > 0;
}

static int print_pair(uint64_t seed) {
    Arena *arena = arena_new(NULL);
    FuzzPair pair;
    fuzz_make(seed, arena, &pair);
    Str plain = fuzz_print(arena, &pair.plain), twisted = fuzz_print(arena, &pair.twisted);
    printf("%.*s\n# twisted\n%.*s", STR_ARG(plain), STR_ARG(twisted));
    ir_context_free(pair.plain.ctx);
    arena_free(arena);
    return 0;
}

static bool take(const char *word, Options *options) {
    unsigned long long number;
    if (sscanf(word, "--seed=%llu", &number) == 1)
        options->seed = number;
    else if (sscanf(word, "--count=%llu", &number) == 1)
        options->count = number;
    else if (sscanf(word, "--share=%u/%u", &options->share, &options->shares) == 2)
        return options->share < options->shares;
    else if (strncmp(word, "--minutes=", 10) == 0)
        options->minutes = strtod(word + 10, NULL);
    else if (strncmp(word, "--keep=", 7) == 0)
        options->keep = word + 7;
    else if (strncmp(word, "--device=", 9) == 0)
        options->device = word + 9;
    else
        return false;
    return true;
}

int main(int argc, char **argv) {
    Options options = {.seed = 1, .count = UINT64_MAX, .minutes = 1, .shares = 1};
    bool device = argc > 2 && strncmp(argv[1], "--device=", 9) == 0;
    if (device && argv[2][0] != '-') return replay_all(argv[1] + 9, argc - 2, argv + 2);
    if (argc > 1 && argv[1][0] != '-') return replay_all(NULL, argc - 1, argv + 1);
    if (argc == 2 && strncmp(argv[1], "--print=", 8) == 0)
        return print_pair(strtoull(argv[1] + 8, NULL, 10));
    for (int i = 1; i < argc; i++) {
        if (take(argv[i], &options)) continue;
        fprintf(stderr, "fuzz-graphs: what is %s?\n", argv[i]);
        return 2;
    }
    return run_seeds(&options);
}
