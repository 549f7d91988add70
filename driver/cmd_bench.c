/* tcc bench: the latency of a model, its throughput, and where the time goes. */
#include "driver/arrays.h"
#include "driver/bench.h"
#include "driver/json.h"
#include "driver/report.h"

#include <inttypes.h>
#include <stdio.h>

/* Shares are of the medians' sum, so that they add up. */
static void print_kernels(const BenchReport *r) {
    double sum = 0;
    for (size_t i = 0; i < r->kernel_count; i++) sum += r->kernels[i].median;
    printf("\ntime in kernels, us a run over %" PRIu64 " runs\n", r->profiled_runs);
    printf("%-36s %10s %10s %7s %6s %8s\n", "kernel", "median", "min", "share", "calls", "threads");
    for (size_t i = 0; i < r->kernel_count; i++) {
        const KernelTime *k = &r->kernels[i];
        printf("%-36s %10.3f %10.3f %6.1f%% %6.0f %8" PRIu32 "\n", k->name, k->median * 1e6,
               k->min * 1e6, sum > 0 ? 100 * k->median / sum : 0,
               (double)k->calls / (double)r->profiled_runs, k->threads);
    }
    printf("%-36s %10.3f %10.3f\n", r->all.name, r->all.median * 1e6, r->all.min * 1e6);
}

static void print_report(const BenchReport *r) {
    printf("%" PRIu64 " runs\n", r->runs);
    printf("latency     min %.3f us, median %.3f us, mean %.3f us, p99 %.3f us\n", r->min * 1e6,
           r->median * 1e6, r->mean * 1e6, r->p99 * 1e6);
    printf("throughput  %.1f runs/s\n", 1 / r->mean);
    print_kernels(r);
}

static void print_json(const BenchReport *r) {
    printf("{\"runs\": %" PRIu64 ", \"min_s\": %.9g, \"median_s\": %.9g, \"mean_s\": %.9g, "
           "\"p99_s\": %.9g, \"runs_per_s\": %.9g, \"profiled_runs\": %" PRIu64 ", \"kernels\": [",
           r->runs, r->min, r->median, r->mean, r->p99, 1 / r->mean, r->profiled_runs);
    for (size_t i = 0; i < r->kernel_count; i++) {
        const KernelTime *k = &r->kernels[i];
        printf("%s\n  {\"name\": ", i ? "," : "");
        json_print_string(k->name);
        printf(", \"median_s\": %.9g, \"min_s\": %.9g, \"calls\": %.9g, \"threads\": %" PRIu32 "}",
               k->median, k->min, (double)k->calls / (double)r->profiled_runs, k->threads);
    }
    printf("\n]}\n");
}

static Exit bench_on(const Options *options, ModelSource *s, const Arrays *inputs,
                     const BenchLimits *limits) {
    Arrays outputs;
    BenchReport report = {0};
    Exit result = arrays_make_outputs(&outputs, s, inputs);
    if (result == EXIT_fine) result = bench_measure(&report, s, inputs, &outputs, limits);
    if (result == EXIT_fine) {
        if (options_has(options, OPTION_json))
            print_json(&report);
        else
            print_report(&report);
    }
    bench_free(&report);
    arrays_free(&outputs);
    return result;
}

static Exit bench(const Options *options, ModelSource *s, const BenchLimits *limits) {
    Arrays inputs;
    Exit result = arrays_make_inputs(&inputs, options, s, INPUT_random);
    if (result == EXIT_fine) result = bench_on(options, s, &inputs, limits);
    arrays_free(&inputs);
    return result;
}

/* Either limit may be given; with none it is a second. */
static Exit read_limits(const Options *options, BenchLimits *out) {
    int64_t iterations;
    bool counted = options_has(options, OPTION_iterations);
    Exit result = options_int(options, OPTION_iterations, 1, 0, &iterations);
    out->iterations = (uint64_t)iterations;
    if (result == EXIT_fine)
        result = options_seconds(options, OPTION_duration, counted ? 0 : 1, &out->seconds);
    return result;
}

Exit cmd_bench(const Options *options) {
    ModelSource s;
    BenchLimits limits;
    int64_t threads;
    Exit result = read_limits(options, &limits);
    if (result == EXIT_fine) result = options_int(options, OPTION_threads, 0, 0, &threads);
    if (result != EXIT_fine) return result;
    result = model_source_open(&s, options, (int32_t)threads);
    if (result == EXIT_fine) result = bench(options, &s, &limits);
    model_source_close(&s);
    return result;
}
