/* Convolutions of known networks, layer by layer, channels-last, against the fastest of oneDNN's
 * ways to make them, on one and two threads.
 *
 * usage: conv [BATCH [THREADS [FILTER]]]: only that batch and so many threads (0: both of each),
 * only layers whose name contains FILTER. */
#include "measure.h"
#include "onednn_conv.h"
#include "peer.h"
#include "subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, NAME = 40 };

typedef struct Layer {
    const char *network;
    int c, size, out, kernel, stride, pad, groups;
} Layer;

static const Layer layers[] = {
    {"stem", 3, 224, 64, 7, 2, 3, 1},          {"resnet", 64, 56, 64, 1, 1, 0, 1},
    {"resnet", 64, 56, 64, 3, 1, 1, 1},        {"resnet", 64, 56, 256, 1, 1, 0, 1},
    {"resnet", 256, 56, 64, 1, 1, 0, 1},       {"resnet", 256, 56, 128, 1, 1, 0, 1},
    {"resnet", 128, 56, 128, 3, 2, 1, 1},      {"resnet", 128, 28, 512, 1, 1, 0, 1},
    {"resnet", 256, 56, 512, 1, 2, 0, 1},      {"resnet", 512, 28, 128, 1, 1, 0, 1},
    {"resnet", 128, 28, 128, 3, 1, 1, 1},      {"resnet", 512, 28, 256, 1, 1, 0, 1},
    {"resnet", 256, 28, 256, 3, 2, 1, 1},      {"resnet", 256, 14, 1024, 1, 1, 0, 1},
    {"resnet", 512, 28, 1024, 1, 2, 0, 1},     {"resnet", 1024, 14, 256, 1, 1, 0, 1},
    {"resnet", 256, 14, 256, 3, 1, 1, 1},      {"resnet", 1024, 14, 512, 1, 1, 0, 1},
    {"resnet", 512, 14, 512, 3, 2, 1, 1},      {"resnet", 512, 7, 2048, 1, 1, 0, 1},
    {"resnet", 1024, 14, 2048, 1, 2, 0, 1},    {"resnet", 2048, 7, 512, 1, 1, 0, 1},
    {"resnet", 512, 7, 512, 3, 1, 1, 1},       {"mobilenet", 32, 112, 32, 3, 1, 1, 32},
    {"mobilenet", 64, 112, 64, 3, 2, 1, 64},   {"mobilenet", 128, 56, 128, 3, 1, 1, 128},
    {"mobilenet", 128, 56, 128, 3, 2, 1, 128}, {"mobilenet", 256, 28, 256, 3, 1, 1, 256},
    {"mobilenet", 256, 28, 256, 3, 2, 1, 256}, {"mobilenet", 512, 14, 512, 3, 1, 1, 512},
    {"mobilenet", 512, 14, 512, 3, 2, 1, 512}, {"mobilenet", 1024, 7, 1024, 3, 1, 1, 1024},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static void name_layer(const Layer *l, char out[NAME]) {
    snprintf(out, NAME, "%s%s %dx%d/%d %d->%d @%d", l->network, l->groups > 1 ? " dw" : "",
             l->kernel, l->kernel, l->stride, l->c, l->out, l->size);
}

static int out_size(const Layer *l) { return (l->size + 2 * l->pad - l->kernel) / l->stride + 1; }

/* Images channels-last at the model's boundary, so that neither side moves them. */
static Subject compile_layer(const Layer *l, int n, int threads) {
    char text[512];
    snprintf(text, sizeof text,
             "model m(x: f32[%d, %d, %d, %d]) -> (y: f32[%d, %d, %d, %d]) {\n"
             " c = conv2d(permute(x, [0, 3, 1, 2]), out=%d, kernel=%d, stride=%d, pad=%d,"
             " groups=%d) as \"c\"\n"
             " y = permute(relu(c), [0, 2, 3, 1]) }",
             n, l->size, l->size, l->c, n, out_size(l), out_size(l), l->out, l->out, l->kernel,
             l->stride, l->pad, l->groups);
    return subject_new("conv.g", text, threads, 0);
}

typedef struct Repeat {
    void (*run)(void *user);
    void *user;
    int64_t times;
} Repeat;

static void run_repeat(void *user) {
    const Repeat *repeat = user;
    for (int64_t i = 0; i < repeat->times; i++) repeat->run(repeat->user);
}

/* The ratio of the peer's time to ours; 0 without a peer. */
static double measure_layer(const Layer *l, int n, int threads, double peak) {
    double flops =
        2.0 * n * l->out * out_size(l) * out_size(l) * (l->c / l->groups) * l->kernel * l->kernel;
    int64_t times = (int64_t)((l->groups > 1 ? 2e7 : 1e8) / flops) + 1;
    Subject subject = compile_layer(l, n, threads);
    Repeat repeats[1 + ONEDNN_WAYS] = {{subject_run, &subject, times}};
    Contestant contestants[1 + ONEDNN_WAYS] = {{.run = run_repeat, .user = &repeats[0]}};
    OnednnConv *convs[1 + ONEDNN_WAYS] = {0};
    ConvShape shape = {n, l->c, l->size, l->size, l->out, l->kernel, l->stride, l->pad, l->groups};
    uint32_t count = 1;
    onednn_set_threads(threads);
    for (int way = 0; way < ONEDNN_WAYS; way++) {
        OnednnConv *conv = onednn_conv_new(&shape, way);
        if (conv == NULL) continue;
        convs[count] = conv;
        repeats[count] = (Repeat){onednn_conv_run, conv, times};
        contestants[count] = (Contestant){.run = run_repeat, .user = &repeats[count]};
        count++;
    }
    measure_all(contestants, count, rounds_wanted(ROUNDS));
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (best == 0 || contestants[i].median < contestants[best].median) best = i;
    char name[NAME];
    name_layer(l, name);
    double mine = flops * (double)times / contestants[0].median * 1e-9, ratio = 0;
    printf("%-36s %2d %d %7.1f GF/s %4.2f of peak", name, n, threads, mine,
           mine / (peak * threads));
    if (best > 0) {
        ratio = contestants[best].median / contestants[0].median;
        double other = flops * (double)times / contestants[best].median * 1e-9;
        printf("  oneDNN %7.1f GF/s  ratio %5.2f %s (%s)", other, ratio,
               ratio < 0.8 ? "LOW" : "   ", onednn_conv_name(convs[best]));
    }
    putchar('\n');
    fflush(stdout);
    for (uint32_t i = 1; i < count; i++) onednn_conv_free(convs[i]);
    subject_free(&subject);
    return ratio;
}

static void measure_layers(int n, int threads, const char *filter, double peak) {
    double logs = 0, lowest = INFINITY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < LAYERS; i++) {
        char name[NAME];
        name_layer(&layers[i], name);
        if (!strstr(name, filter)) continue;
        double ratio = measure_layer(&layers[i], n, threads, peak);
        if (ratio > 0) {
            logs += log(ratio);
            lowest = fmin(lowest, ratio);
            count++;
        }
    }
    if (count == 0) return;
    char title[64];
    snprintf(title, sizeof title, "batch %d, threads %d: geometric mean of %u", n, threads, count);
    print_figure(title, exp(logs / count), "oneDNN", GOAL_at_least, 1);
    print_figure("    the lowest", lowest, "oneDNN", GOAL_at_least, 0.8);
}

int main(int argc, char **argv) {
    int batch = argc > 1 ? atoi(argv[1]) : 0, threads = argc > 2 ? atoi(argv[2]) : 0;
    const char *filter = argc > 3 ? argv[3] : "";
    double peak = fma_peak();
    printf("== convolutions, channels-last, bias and relu; peak %.1f GFLOP/s a core; oneDNN %s\n",
           peak, *onednn_version() ? onednn_version() : "is not there");
    for (int n = 1; n <= 8; n += 7)
        for (int t = 1; t <= 2; t++)
            if ((batch == 0 || batch == n) && (threads == 0 || threads == t))
                measure_layers(n, t, filter, peak);
    return 0;
}
