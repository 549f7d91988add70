#include "tests/fuzz/judge.h"

#include "ir/eval.h"
#include "ir/text.h"
#include "tests/support/library_case.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, MESSAGE = 4096 };

// Level, option and its value, or none.
static const struct {
    int level;
    const char *option, *value;
} ways[] = {
    [FUZZ_o0] = {0, NULL, NULL},
    [FUZZ_o2] = {2, NULL, NULL},
    [FUZZ_first_variant] = {1, NULL, NULL},
    {2, "skip", "fold"},
    {2, "skip", "plan"},
    {2, "skip", "pack"},
    {2, "skip", "schedule"},
    {2, "passes", "inline,decompose,fold,plan,pack,single,schedule,memory"},
    {2, "passes", "inline,plan,decompose,fold,pack,fuse,schedule,memory"},
    {2, "passes", "inline,decompose,plan,fold,pack,fuse,schedule,memory"},
    {2, "passes", "inline,decompose,decompose,fold,fold,plan,pack,fuse,schedule,memory"},
    {2, "fexcess-precision", "none"},
    {2, "fstrict-sums", NULL},
};
enum { WAYS = sizeof ways / sizeof *ways };

struct FuzzJudge {
    LibraryHost hosts[WAYS];
    bool open[WAYS], threaded, repeated;
    LibrarySeen seen; // programs of this graph
    const char *device;
};

uint32_t fuzz_way_count(void) { return WAYS; }

const char *fuzz_way_name(uint32_t way) {
    static const char *const names[] = {"-O0",
                                        "-O2",
                                        "-O1",
                                        "-O2 --skip=fold",
                                        "-O2 --skip=plan",
                                        "-O2 --skip=pack",
                                        "-O2 --skip=schedule",
                                        "-O2 --passes with single for fuse",
                                        "-O2 --passes with plan before decompose",
                                        "-O2 --passes with plan before fold",
                                        "-O2 --passes with decompose and fold twice",
                                        "-O2 -fexcess-precision=none",
                                        "-O2 -fstrict-sums"};
    _Static_assert(sizeof names / sizeof *names == WAYS, "a name for each way");
    return names[way];
}

FuzzJudge *fuzz_judge_new(Arena *arena, const char *device) {
    FuzzJudge *judge = NEW(arena, FuzzJudge);
    judge->device = device;
    return judge;
}

void fuzz_judge_free(FuzzJudge *judge) {
    for (uint32_t i = 0; i < WAYS; i++)
        if (judge->open[i]) library_host_close(&judge->hosts[i]);
}

static LibraryHost *host_of(FuzzJudge *judge, uint32_t way) {
    LibraryHost *host = &judge->hosts[way];
    if (judge->open[way]) return host;
    judge->open[way] = true;
    library_host_open(host, ways[way].level, judge->device);
    if (ways[way].option) tcc_set_option(host->compiler, ways[way].option, ways[way].value);
    return host;
}

// ---- bits

static bool same_bits(const Tensor *a, const Tensor *b, int64_t i) {
    if (!dtype_is_float(a->dtype)) return tensor_get_int(a, i) == tensor_get_int(b, i);
    double x = tensor_get(a, i), y = tensor_get(b, i);
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

// NULL, or the first element that differs.
static const char *compare(Arena *arena, uint32_t output, const Tensor *got, const Tensor *want) {
    for (int64_t i = 0; i < tensor_elements(want); i++) {
        if (same_bits(got, want, i)) continue;
        return str_format(arena, "exact output %u: element %lld is %.17g, expected %.17g", output,
                          (long long)i, tensor_get(got, i), tensor_get(want, i))
            .data;
    }
    return NULL;
}

// The evaluator's outputs; NULL with *out_why where there are none.
static EvalValue *evaluate(Arena *arena, const FuzzCase *c, const char **out_why) {
    EvalValue *inputs = NEW_ARRAY(arena, EvalValue, c->graph->inputs.count + 1);
    EvalValue *results = NEW_ARRAY(arena, EvalValue, c->graph->outputs.count);
    EvalOptions options = {.symbols = c->symbols};
    EvalError error;
    for (size_t i = 0; i < c->graph->inputs.count; i++) inputs[i].tensor = c->inputs[i];
    if (!eval_graph(c->graph, inputs, &options, arena, results, &error, out_why)) return NULL;
    *out_why = "an index is out of range";
    return error.failed ? NULL : results;
}

const char *fuzz_judge_pair(Arena *arena, const FuzzPair *pair) {
    const char *why = NULL;
    EvalValue *a = evaluate(arena, &pair->plain, &why), *b = evaluate(arena, &pair->twisted, &why);
    if (!a || !b) return str_format(arena, "the evaluator: %s", why).data;
    for (size_t i = 0; i < pair->plain.graph->outputs.count; i++) {
        why = compare(arena, (uint32_t)i, &a[i].tensor, &b[i].tensor);
        if (why) return why;
    }
    return NULL;
}

// ---- judging

static Str text_of(Arena *arena, const FuzzCase *c) {
    Module module = {.ctx = c->ctx, .arena = arena};
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, graph_copy(arena, c->graph));
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

void fuzz_judge_forget(FuzzJudge *judge) { judge->seen.count = 0; }
bool fuzz_judge_was_repeated(const FuzzJudge *judge) { return judge->repeated; }

const char *fuzz_judge(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way) {
    LibraryCase test = {.host = host_of(judge, way),
                        .text = text_of(arena, c),
                        .inputs = c->inputs,
                        .input_count = (uint32_t)c->graph->inputs.count,
                        .unchecked = c->large,
                        .seen = way == FUZZ_o0 ? NULL : &judge->seen};
    LibraryResult result;
    const char *why = library_case_run(&test, arena, &result);
    judge->threaded = result.threads > 1;
    judge->repeated = result.repeated;
    if (why || !c->exact || result.repeated) return why;
    EvalValue *want = evaluate(arena, c, &why);
    if (!want) return why;
    for (uint32_t i = 0; i < result.output_count && want; i++) {
        why = compare(arena, i, &result.outputs[i], &want[i].tensor);
        if (why) return why;
    }
    return NULL;
}

bool fuzz_judge_was_threaded(const FuzzJudge *judge) { return judge->threaded; }

void fuzz_limit_time(void) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = SECONDS}}, NULL);
}

const char *fuzz_judge_apart(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way) {
    char *shared = mmap(NULL, MESSAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return "no memory to share";
    *shared = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fuzz_limit_time();
        fuzz_judge_forget(judge);
        const char *why = fuzz_judge(judge, arena, c, way);
        if (why) snprintf(shared, MESSAGE, "%s", why);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const char *why = *shared ? str_copy(arena, str_from(shared)).data : NULL;
    munmap(shared, MESSAGE);
    if (child < 0) return "no process";
    if (WIFEXITED(status)) return why;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGPROF ? "takes too long"
                             : str_format(arena, "crashes with signal %d", number).data;
}
