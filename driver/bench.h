/* Measuring a model: many runs timed one by one, then some more with the kernels timed. */
#ifndef TCC_DRIVER_BENCH_H
#define TCC_DRIVER_BENCH_H

#include "driver/arrays.h"

/* Runs are measured until both are reached; 0 is no limit. At most MAX_RUNS in any case. */
typedef struct BenchLimits {
    uint64_t iterations;
    double seconds;
} BenchLimits;

typedef struct KernelTime {
    char *name;
    double seconds, calls; /* of one run, on average */
    uint32_t threads;      /* the most it ran on */
} KernelTime;

typedef struct BenchReport {
    uint64_t runs;
    double min, median, mean, p99; /* seconds */
    KernelTime *kernels;           /* the one that takes longest first */
    size_t kernel_count;
    double kernel_seconds; /* of all kernels, a run */
} BenchReport;

/* Released by bench_free in any case; `out_report` begins as zeros. */
Exit bench_measure(BenchReport *out_report, ModelSource *source, const Arrays *inputs,
                   const Arrays *outputs, const BenchLimits *limits);
void bench_free(BenchReport *report);

#endif
