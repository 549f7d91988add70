/* Measuring a model: many runs timed one by one, then some more with the kernels timed. */
#ifndef TCC_DRIVER_BENCH_H
#define TCC_DRIVER_BENCH_H

#include "driver/arrays.h"

/* Runs are measured until both are reached; 0 is no limit. At most MAX_RUNS in any case. */
typedef struct BenchLimits {
    uint64_t iterations;
    double seconds;
} BenchLimits;

/* A kernel in the profiled runs: the time of a run is that of all its calls in it. */
typedef struct KernelTime {
    char *name;
    double *times;      /* seconds, a run each */
    double median, min; /* of them */
    uint64_t calls;     /* in all profiled runs */
    uint32_t threads;   /* the most it ran on */
} KernelTime;

typedef struct BenchReport {
    uint64_t runs;
    double min, median, mean, p99; /* seconds */
    uint64_t profiled_runs;
    KernelTime *kernels; /* the one that takes longest first */
    size_t kernel_count;
    KernelTime all; /* all kernels of a run */
} BenchReport;

/* Released by bench_free in any case; `out_report` begins as zeros. */
Exit bench_measure(BenchReport *out_report, ModelSource *source, const Arrays *inputs,
                   const Arrays *outputs, const BenchLimits *limits);
void bench_free(BenchReport *report);

#endif
