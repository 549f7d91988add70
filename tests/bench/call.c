/* What a run costs beyond its kernels, when threads are woken, and the memory between kernels. */
#include "measure.h"
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 201, BATCH = 1000 };

/* ---- the cost of a call ---------------------------------------------------------------------- */

static void run_batch(void *subject) {
    for (int i = 0; i < BATCH; i++) subject_run(subject);
}

/* The kernel of such a model does one addition: what is measured is all overhead. */
static void measure_call(const char *name, const char *text) {
    Subject subject = subject_new("call.g", text, 1, 1);
    Contestant contestant = {.run = run_batch, .user = &subject};
    measure_all(&contestant, 1, rounds_wanted(ROUNDS));
    print_figure(name, contestant.median / BATCH * 1e6, "us", GOAL_below, 2);
    subject_free(&subject);
}

static void add_kernel(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    (void)kernel, (void)threads;
    *(double *)user += (double)ns * 1e-9;
}

/* Whole runs against what a profile says of their kernels. The clock that the profile reads is in
 * its figures, so that this errs to the cost's disadvantage. */
static void measure_digits(const char *path) {
    enum { RUNS = 2001 };
    static double rests[RUNS];
    Subject s = subject_new(path, NULL, 1, 1);
    double kernels = 0;
    s.api->profile(s.session, add_kernel, &kernels);
    for (int i = 0; i < RUNS; i++) {
        kernels = 0;
        double begin = seconds_now();
        subject_run(&s);
        rests[i] = seconds_now() - begin - kernels;
    }
    print_figure("a run of digits, N = 1, beyond its 6 kernels", median(rests, RUNS) * 1e6, "us",
                 GOAL_below, 2);
    subject_free(&s);
}

/* ---- waking threads -------------------------------------------------------------------------- */

static void note_threads(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    (void)kernel, (void)ns;
    uint32_t *most = user;
    if (threads > *most) *most = threads;
}

/* Of a run that comes when the threads have gone to sleep: those that are awake share less. */
static uint32_t threads_of(Subject *s) {
    uint32_t most = 0;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    s->api->profile(s->session, note_threads, &most);
    subject_run(s);
    s->api->profile(s->session, NULL, NULL);
    return most;
}

static void set_size(Subject *s, int64_t size) {
    for (uint32_t i = 0; i < s->input_count; i++) s->inputs[i].dims[0] = size;
    for (uint32_t i = 0; i < s->output_count; i++) s->outputs[i].dims[0] = size;
}

/* The least size that more than one thread runs, by bisection. */
static int64_t least_shared(Subject *s, int64_t hi) {
    int64_t alone = 1, shared = hi;
    set_size(s, hi);
    if (threads_of(s) < 2) return 0;
    while (shared - alone > 1) {
        int64_t middle = alone + (shared - alone) / 2;
        set_size(s, middle);
        if (threads_of(s) > 1)
            shared = middle;
        else
            alone = middle;
    }
    return shared;
}

/* The time on one thread of the least work that is shared among threads. */
static void measure_wake(const char *name, const char *text, int64_t hi) {
    Subject many = subject_new("wake.g", text, 0, hi), one = subject_new("wake.g", text, 1, hi);
    int64_t size = least_shared(&many, hi);
    if (size == 0) {
        printf("%-58s one thread for all sizes\n", name);
    } else {
        set_size(&one, size);
        Contestant contestant = {.run = subject_run, .user = &one};
        measure_all(&contestant, 1, rounds_wanted(ROUNDS));
        print_figure(name, contestant.median * 1e6, "us", GOAL_at_least, 50);
        printf("    first shared at N = %lld\n", (long long)size);
    }
    subject_free(&many);
    subject_free(&one);
}

/* ---- memory between kernels ------------------------------------------------------------------ */

static void measure_arena(const char *path) {
    Subject s = subject_new(path, NULL, 1, 256);
    tcc_run_info info = {.size = sizeof info};
    uint64_t planned = 0, used = 0;
    for (int64_t size = 1; size <= 256; size++) {
        set_size(&s, size);
        subject_run(&s);
        expect(s.api->run_info(s.session, &info) == TCC_OK, "no run info");
        planned = info.planned_bytes;
        used = info.arena_bytes;
        expect(used <= planned, "N = %lld uses %llu bytes, %llu planned", (long long)size,
               (unsigned long long)used, (unsigned long long)planned);
    }
    print_figure("arena of digits, N = 256: used / planned", (double)used / (double)planned, "",
                 GOAL_at_least, 1);
    printf("    %llu bytes of %llu; never above the plan for N = 1..256\n",
           (unsigned long long)used, (unsigned long long)planned);
    subject_free(&s);
}

int main(int argc, char **argv) {
    expect(argc == 2, "usage: call DIGITS.g");
    printf("== calls on one thread\n");
    measure_call("a run of one kernel of one element",
                 "model m(x: f32[1]) -> (y: f32[1]) { y = x + 1.0 }");
    measure_call("the same with a dim that varies",
                 "dim N in 1..1000\nmodel m(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
    measure_digits(argv[1]);
    printf("== threads are woken for at least so much work (its time on one thread)\n");
#define WAKE(body) "dim N in 1..100000\nmodel m(x: f32[N, 64]) -> (y: f32[N, 64]) { y = " body " }"
    measure_wake("x + 1", WAKE("x + 1.0"), 100000);
    measure_wake("gelu", WAKE("gelu(x)"), 100000);
    measure_wake("sin", WAKE("sin(x)"), 100000);
    measure_wake("softmax", WAKE("softmax(x, axis=-1)"), 100000);
    measure_wake("matmul, 64 x 64",
                 "dim N in 1..100000\nfn f(x) { param w: f32[64, 64]\n return x @ w }\n"
                 "model m(x: f32[N, 64]) -> (y: f32[N, 64]) { y = f(x) as \"f\" }",
                 100000);
    printf("== memory between kernels\n");
    measure_arena(argv[1]);
    return 0;
}
