/* Kernels that memory bounds, over arrays of 64 MB on all cores, against copies written by hand of
 * as many bytes: an array read and one written by a kernel are one array copied. */
#include "measure.h"
#include "peer.h"
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTES = 64, ROUNDS = 41 };

typedef enum PeerKind { PEER_stream, PEER_memcpy } PeerKind;

typedef struct Case {
    const char *name, *text;
    double copies; /* arrays read and written, halved */
    PeerKind peer;
    GoalKind kind;
    double goal;
} Case;

#define ONE "model m(x: f32[16384, 1024]) -> (y: f32[16384, 1024]) { y = "
#define TWO "model m(x: f32[16384, 1024], z: f32[16384, 1024]) -> (y: f32[16384, 1024]) { y = "
#define ROWS(r, c) "model m(x: f32[" #r ", " #c "]) -> (y: f32[" #r ", " #c "]) { y = "

static const Case cases[] = {
    {"elementwise: x * a + b, relu", ONE "relu(x * 1.5 + 0.25) }", 1, PEER_stream, GOAL_at_least,
     0.9},
    {"elementwise: abs, min, max, select, 8 ops",
     ONE "select(x > 0.5, minimum(abs(x) * 3.0, 2.0), maximum(x - 1.0, -2.0) * 0.5 + x) }", 1,
     PEER_stream, GOAL_at_least, 0.9},
    {"elementwise: two inputs, x * 0.5 + z, relu", TWO "relu(x * 0.5 + z) }", 1.5, PEER_stream,
     GOAL_at_least, 0.9},
    {"elementwise: by a row and a column, x * v + w",
     "fn f(x) { param v: f32[1024]\n param w: f32[16384, 1]\n return x * v + w }\n" ONE
     "f(x) as \"f\" }",
     1, PEER_stream, GOAL_at_least, 0.9},
    {"elementwise: sqrt(x * x + z * z)", TWO "sqrt(x * x + z * z) }", 1.5, PEER_stream,
     GOAL_at_least, 0.9},
    {"elementwise, bound by arithmetic: silu", ONE "silu(x) }", 1, PEER_stream, GOAL_none, 0},
    {"elementwise, bound by arithmetic: tanh", ONE "tanh(x) }", 1, PEER_stream, GOAL_none, 0},
    {"elementwise, bound by arithmetic: gelu (erfc)", ONE "gelu(x) }", 1, PEER_stream, GOAL_none,
     0},
    {"layer norm, rows of 256", ROWS(65536, 256) "layer_norm(x) as \"n\" }", 1, PEER_stream,
     GOAL_at_least, 0.7},
    {"layer norm, rows of 1024", ROWS(16384, 1024) "layer_norm(x) as \"n\" }", 1, PEER_stream,
     GOAL_at_least, 0.7},
    {"layer norm, rows of 4096", ROWS(4096, 4096) "layer_norm(x) as \"n\" }", 1, PEER_stream,
     GOAL_at_least, 0.7},
    {"softmax, rows of 256", ROWS(65536, 256) "softmax(x, axis=-1) }", 1, PEER_memcpy,
     GOAL_at_least, 0.8},
    {"softmax, rows of 1024", ROWS(16384, 1024) "softmax(x, axis=-1) }", 1, PEER_memcpy,
     GOAL_at_least, 0.8},
    {"softmax, rows of 4096", ROWS(4096, 4096) "softmax(x, axis=-1) }", 1, PEER_memcpy,
     GOAL_at_least, 0.8},
};

static void measure_case(const Case *c, Copy *copy, const char *only) {
    if (only && !strstr(c->name, only)) return;
    Subject subject = subject_new("memory.g", c->text, 0, 0);
    Contestant contestants[] = {
        {.run = c->peer == PEER_memcpy ? copy_by_memcpy : copy_past_caches, .user = copy},
        {.run = subject_run, .user = &subject},
    };
    measure_all(contestants, 2, rounds_wanted(ROUNDS));
    double peer = contestants[0].median * c->copies, own = contestants[1].median;
    print_figure(c->name, peer / own, c->peer == PEER_memcpy ? "memcpy" : "nt copy", c->kind,
                 c->goal);
    double moved = 2.0 * c->copies * MEGABYTES * 1.048576e-3;
    printf("    %.2f ms against %.2f; best %.2f against %.2f; %.1f GB/s\n", own * 1e3, peer * 1e3,
           contestants[1].least * 1e3, contestants[0].least * c->copies * 1e3, moved / own);
    subject_free(&subject);
}

typedef struct Peaks {
    double of[256];
} Peaks;

static void find_peak(void *user, int32_t i, int32_t threads) {
    (void)threads;
    ((Peaks *)user)->of[i] = fma_peak();
}

/* A virtual machine may have fewer cores than it says: then kernels that compute are slower on all
 * of its processors than on one, and copies are not. */
static void print_cores(Team *team) {
    Peaks peaks;
    double alone = fma_peak(), all = 0;
    int32_t threads = team_threads(team);
    expect(threads <= 256, "more than 256 threads");
    team_run(team, find_peak, &peaks);
    for (int32_t i = 0; i < threads; i++) all += peaks.of[i];
    printf("multiply-adds: %.1f GFLOP/s on one thread, %.1f on all %d: %.2f cores\n", alone, all,
           threads, all / alone);
}

int main(int argc, char **argv) {
    Copy copy = {.team = team_new(0), .bytes = (size_t)MEGABYTES << 20};
    char *memory = aligned_alloc(4096, 2 * copy.bytes);
    expect(memory != NULL, "out of memory");
    memset(memory, 1, 2 * copy.bytes);
    copy.from = memory;
    copy.to = memory + copy.bytes;
    printf("== %d MB arrays, %d threads; %u rounds in turn, medians\n", MEGABYTES,
           team_threads(copy.team), rounds_wanted(ROUNDS));
    print_cores(copy.team);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        measure_case(&cases[i], &copy, argc > 1 ? argv[1] : NULL);
    print_cores(copy.team);
    team_free(copy.team);
    free(memory);
    return 0;
}
