#include "driver/bench.h"

#include "driver/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 1000000, MIN_RUNS = 10, PROFILED_RUNS = 100 };

/* Before anything is measured: caches, pages, threads and the clock settle. */
static const double WARM_UP_SECONDS = 0.1;
/* No more runs are profiled than fit. */
static const double PROFILE_SECONDS = 1;

typedef struct Bench {
    ModelSource *source;
    const Arrays *inputs, *outputs;
    BenchReport *report;
    uint64_t run;       /* that is profiled */
    bool out_of_memory; /* in the profile's callback */
} Bench;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static Exit run_once(const Bench *b) {
    const ModelSource *s = b->source;
    return model_source_result(s, s->api->run(s->session, b->inputs->tensors, b->inputs->count,
                                              b->outputs->tensors, b->outputs->count));
}

static Exit warm_up(const Bench *b) {
    Exit result = EXIT_fine;
    for (double start = now(); result == EXIT_fine;) {
        result = run_once(b);
        if (now() - start > WARM_UP_SECONDS) break;
    }
    return result;
}

/* ---- latency --------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(BenchReport *r, double *times) {
    double sum = 0;
    qsort(times, r->runs, sizeof *times, compare_times);
    for (uint64_t i = 0; i < r->runs; i++) sum += times[i];
    r->min = times[0];
    r->median = times[r->runs / 2];
    r->mean = sum / (double)r->runs;
    r->p99 = times[(r->runs - 1) * 99 / 100];
}

static bool has_enough(uint64_t runs, double seconds, const BenchLimits *limits) {
    if (runs == MAX_RUNS) return true;
    if (limits->iterations) return runs >= limits->iterations && seconds >= limits->seconds;
    return runs >= MIN_RUNS && seconds >= limits->seconds;
}

static Exit measure_latency(const Bench *b, const BenchLimits *limits) {
    double *times = malloc(MAX_RUNS * sizeof *times);
    if (!times) return report_memory();
    Exit result = EXIT_fine;
    uint64_t runs = 0;
    for (double start = now(), last = start; !has_enough(runs, last - start, limits); runs++) {
        double begin = now();
        result = run_once(b);
        last = now();
        if (result != EXIT_fine) break;
        times[runs] = last - begin;
    }
    b->report->runs = runs;
    if (result == EXIT_fine) summarise(b->report, times);
    free(times);
    return result;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static bool kernel_new(KernelTime *out, const char *name) {
    *out = (KernelTime){.name = strdup(name), .times = calloc(PROFILED_RUNS, sizeof(double))};
    if (out->name && out->times) return true;
    free(out->name);
    free(out->times);
    *out = (KernelTime){0};
    return false;
}

static KernelTime *find_kernel(BenchReport *r, const char *name) {
    for (size_t i = 0; i < r->kernel_count; i++)
        if (strcmp(r->kernels[i].name, name) == 0) return &r->kernels[i];
    KernelTime *larger = realloc(r->kernels, (r->kernel_count + 1) * sizeof *larger);
    if (!larger) return NULL;
    r->kernels = larger;
    if (!kernel_new(&larger[r->kernel_count], name)) return NULL;
    return &larger[r->kernel_count++];
}

static void add_kernel(void *user, const char *name, uint64_t ns, uint32_t threads) {
    Bench *b = user;
    KernelTime *kernel = find_kernel(b->report, name);
    if (!kernel) {
        b->out_of_memory = true;
        return;
    }
    kernel->times[b->run] += 1e-9 * (double)ns;
    b->report->all.times[b->run] += 1e-9 * (double)ns;
    kernel->calls += 1;
    if (threads > kernel->threads) kernel->threads = threads;
}

static int compare_kernels(const void *a, const void *b) {
    double x = ((const KernelTime *)a)->median, y = ((const KernelTime *)b)->median;
    return (x < y) - (x > y);
}

static void summarise_kernel(KernelTime *kernel, uint64_t runs) {
    qsort(kernel->times, runs, sizeof *kernel->times, compare_times);
    kernel->min = kernel->times[0];
    kernel->median = kernel->times[runs / 2];
}

/* At least one run, and no more than fit the time. */
static Exit profile_runs(Bench *b) {
    const ModelSource *s = b->source;
    Exit result = EXIT_fine;
    s->api->profile(s->session, add_kernel, b);
    for (double start = now(); result == EXIT_fine && b->run < PROFILED_RUNS; b->run++) {
        if (b->run > 0 && now() - start > PROFILE_SECONDS) break;
        result = run_once(b);
    }
    s->api->profile(s->session, NULL, NULL);
    return b->out_of_memory ? report_memory() : result;
}

static Exit measure_kernels(Bench *b) {
    BenchReport *r = b->report;
    if (!kernel_new(&r->all, "all kernels")) return report_memory();
    Exit result = profile_runs(b);
    if (result != EXIT_fine) return result;
    r->profiled_runs = b->run;
    for (size_t i = 0; i < r->kernel_count; i++) summarise_kernel(&r->kernels[i], b->run);
    summarise_kernel(&r->all, b->run);
    if (r->kernel_count) qsort(r->kernels, r->kernel_count, sizeof *r->kernels, compare_kernels);
    return EXIT_fine;
}

Exit bench_measure(BenchReport *out_report, ModelSource *source, const Arrays *inputs,
                   const Arrays *outputs, const BenchLimits *limits) {
    Bench b = {.source = source, .inputs = inputs, .outputs = outputs, .report = out_report};
    Exit result = warm_up(&b);
    if (result == EXIT_fine) result = measure_latency(&b, limits);
    if (result == EXIT_fine) result = measure_kernels(&b);
    return result;
}

static void kernel_free(KernelTime *kernel) {
    free(kernel->name);
    free(kernel->times);
}

void bench_free(BenchReport *report) {
    for (size_t i = 0; i < report->kernel_count; i++) kernel_free(&report->kernels[i]);
    kernel_free(&report->all);
    free(report->kernels);
}
