/* Sums of products on one thread against the most multiply-adds that this core does. */
#include "measure.h"
#include "peer.h"
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21, KERNELS = 32 };

/* Runs as often as makes a millisecond of work, so that a small product is measured as well. */
typedef struct Repeat {
    Subject *subject;
    int64_t times;
} Repeat;

static void run_repeat(void *user) {
    Repeat *repeat = user;
    for (int64_t i = 0; i < repeat->times; i++) subject_run(repeat->subject);
}

static double measure_gflops(Subject *s, double flops) {
    Repeat repeat = {s, (int64_t)(5e7 / flops) + 1};
    Contestant contestant = {.run = run_repeat, .user = &repeat};
    measure_all(&contestant, 1, rounds_wanted(ROUNDS));
    return flops * (double)repeat.times / contestant.median * 1e-9;
}

static void measure_matmul(int m, int k, int n, double peak, double goal) {
    char text[512], name[64];
    snprintf(text, sizeof text,
             "fn f(x) { param w: f32[%d, %d]\n return x @ w }\n"
             "model m(x: f32[%d, %d]) -> (y: f32[%d, %d]) { y = f(x) as \"f\" }",
             k, n, m, k, m, n);
    snprintf(name, sizeof name, "matmul %d x %d x %d, packed weights", m, k, n);
    Subject s = subject_new("matmul.g", text, 1, 0);
    double gflops = measure_gflops(&s, 2.0 * m * k * n);
    print_figure(name, gflops / peak, "of peak", goal > 0 ? GOAL_at_least : GOAL_none, goal);
    printf("    %.1f GFLOP/s\n", gflops);
    subject_free(&s);
}

/* ---- the kernels of a model ------------------------------------------------------------------ */

typedef struct KernelTimes {
    uint32_t count;
    struct {
        char name[64];
        double ns[ROUNDS];
        uint32_t runs;
    } kernels[KERNELS];
} KernelTimes;

static void add_time(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    (void)threads;
    KernelTimes *times = user;
    uint32_t i = 0;
    while (i < times->count && strcmp(times->kernels[i].name, kernel) != 0) i++;
    if (i == KERNELS) return;
    if (i == times->count) {
        times->count++;
        snprintf(times->kernels[i].name, sizeof times->kernels[i].name, "%s", kernel);
    }
    if (times->kernels[i].runs < ROUNDS)
        times->kernels[i].ns[times->kernels[i].runs++] = (double)ns;
}

static void measure_kernels(const char *path, int64_t size) {
    static KernelTimes times;
    Subject s = subject_new(path, NULL, 1, size);
    memset(&times, 0, sizeof times);
    subject_run(&s);
    s.api->profile(s.session, add_time, &times);
    for (int i = 0; i < ROUNDS; i++) subject_run(&s);
    printf("kernels of digits, N = %lld:\n", (long long)size);
    for (uint32_t i = 0; i < times.count; i++)
        printf("    %-24s %9.1f us\n", times.kernels[i].name,
               median(times.kernels[i].ns, times.kernels[i].runs) * 1e-3);
    subject_free(&s);
}

/* A convolution of digits alone: its multiply-adds are known here. */
static void measure_conv(const char *name, int n, int c, int out, double peak) {
    char text[512];
    snprintf(text, sizeof text,
             "model m(x: f32[%d, %d, 8, 8]) -> (y: f32[%d, %d, 8, 8]) {\n"
             " y = relu(conv2d(x, out=%d, kernel=3, pad=1) as \"c\") }",
             n, c, n, out, out);
    Subject s = subject_new("conv.g", text, 1, 0);
    double gflops = measure_gflops(&s, 2.0 * n * out * 64 * c * 9);
    print_figure(name, gflops / peak, "of peak", GOAL_none, 0);
    printf("    %.1f GFLOP/s\n", gflops);
    subject_free(&s);
}

int main(int argc, char **argv) {
    expect(argc == 2, "usage: contract DIGITS.g");
    double peak = fma_peak();
    printf("== sums of products on one thread; peak %.1f GFLOP/s\n", peak);
    measure_matmul(64, 64, 64, peak, 0.6);
    measure_matmul(128, 128, 128, peak, 0.6);
    measure_matmul(256, 256, 256, peak, 0.6);
    measure_matmul(384, 384, 384, peak, 0);
    measure_matmul(512, 512, 512, peak, 0);
    measure_matmul(1024, 1024, 1024, peak, 0);
    measure_matmul(1, 1024, 1024, peak, 0);
    measure_conv("conv 3 x 3, 1 -> 16 channels of 8 x 8, N = 32", 32, 1, 16, peak);
    measure_conv("conv 3 x 3, 16 -> 32 channels of 8 x 8, N = 32", 32, 16, 32, peak);
    measure_conv("conv 3 x 3, 64 -> 64 channels of 8 x 8, N = 32", 32, 64, 64, peak);
    measure_kernels(argv[1], 1);
    measure_kernels(argv[1], 32);
    return 0;
}
