/* Matrix products against other libraries: one process, contestants in turn, medians.
 * The libraries are found at run time: OPENBLAS and ONEDNN name them. */
#include "measure.h"
#include "onednn.h"
#include "subject.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, MOST_PEERS = 2 };

typedef void Sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha,
                   const float *a, int a_row, const float *b, int b_row, float beta, float *c,
                   int c_row);

typedef struct Peers {
    Sgemm *sgemm;
    OneDnn *onednn;
    int threads;
} Peers;

typedef struct Shape {
    int m, k, n;
    const char *what;
} Shape;

static const Shape shapes[] = {
    {64, 64, 64, "cube"},        {128, 128, 128, "cube"},     {256, 256, 256, "cube"},
    {384, 384, 384, "cube"},     {512, 512, 512, "cube"},     {1024, 1024, 1024, "cube"},
    {2048, 2048, 2048, "cube"},  {16, 384, 384, "encoder"},   {128, 384, 384, "encoder"},
    {128, 384, 1536, "encoder"}, {128, 1536, 384, "encoder"}, {128, 768, 768, "encoder"},
    {128, 768, 3072, "encoder"}, {128, 3072, 768, "encoder"}, {512, 1024, 4096, "encoder"},
    {32, 784, 256, "mlp"},       {32, 256, 10, "mlp"},        {256, 784, 128, "mlp"},
    {4096, 64, 64, "tall"},      {2048, 256, 32, "tall"},     {16, 256, 4096, "flat"},
    {8, 1024, 1024, "flat"},     {101, 103, 107, "primes"},   {257, 509, 251, "primes"},
    {7, 997, 1009, "primes"},    {1, 1024, 1024, "row"},      {1, 4096, 1024, "row"},
    {1, 384, 1536, "row"}};

/* ---- contestants ----------------------------------------------------------------------------- */

typedef struct Entry {
    void (*run)(void *user);
    void *user;
    int64_t times; /* that make about half a millisecond of work */
} Entry;

static void run_entry(void *user) {
    Entry *entry = user;
    for (int64_t i = 0; i < entry->times; i++) entry->run(entry->user);
}

typedef struct Product {
    const Peers *peers;
    const Shape *shape;
    float *a, *b, *c;
} Product;

static void run_sgemm(void *user) {
    enum { ROW_MAJOR = 101, AS_IT_IS = 111 };
    Product *p = user;
    const Shape *s = p->shape;
    p->peers->sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, s->m, s->n, s->k, 1, p->a, s->k, p->b, s->n, 0,
                    p->c, s->n);
}

/* What is measured: operands of a dtype, weights that are constant or not. */
typedef struct Kind {
    const char *dtype, *result;
    OneDnnType type;
    bool constant;
    double goal;
} Kind;

static Subject compile(const Shape *s, const Kind *kind, int threads) {
    const char *dtype = kind->dtype, *result = kind->result;
    char text[512];
    if (kind->constant)
        snprintf(text, sizeof text,
                 "fn f(x) { param w: %s[%d, %d]\n return x @ w }\n"
                 "model m(x: %s[%d, %d]) -> (y: %s[%d, %d]) { y = f(x) as \"f\" }",
                 dtype, s->k, s->n, dtype, s->m, s->k, result, s->m, s->n);
    else
        snprintf(text, sizeof text,
                 "model m(x: %s[%d, %d], w: %s[%d, %d]) -> (y: %s[%d, %d]) { y = x @ w }", dtype,
                 s->m, s->k, dtype, s->k, s->n, result, s->m, s->n);
    return subject_new("product.g", text, threads, 0);
}

static float *matrix(int64_t rows, int64_t columns, const void *contents) {
    size_t bytes = ((size_t)(rows * columns) * 4 + 4095) / 4096 * 4096;
    float *data = aligned_alloc(4096, bytes);
    expect(data != NULL, "out of memory");
    memset(data, 0, bytes);
    if (contents) memcpy(data, contents, (size_t)(rows * columns) * 4);
    return data;
}

/* That a model and a library agree: the bound of the numeric contract, for operands below 1. */
static void check(const Product *p, const float *y) {
    const Shape *s = p->shape;
    double most = 0;
    run_sgemm((void *)(uintptr_t)p);
    for (int64_t i = 0; i < (int64_t)s->m * s->n; i++) most = fmax(most, fabs(y[i] - p->c[i]));
    expect(most <= 1e-6 * (8 + 4 * sqrt(s->k)) * s->k, "%d x %d x %d is off by %g", s->m, s->k,
           s->n, most);
}

typedef struct Score {
    double logs, least;
    int count;
} Score;

static void measure_shape(const Shape *s, const Peers *peers, const Kind *kind, Score *score) {
    Subject subject = compile(s, kind, peers->threads);
    bool constant = kind->constant, f32 = kind->type == ONEDNN_f32;
    Product p = {peers, s, NULL, NULL, NULL};
    p.a = matrix(s->m, s->k, f32 ? subject.inputs[0].data : NULL);
    p.b = matrix(s->k, s->n, constant || !f32 ? NULL : subject.inputs[1].data);
    for (int64_t i = 0; constant && f32 && i < (int64_t)s->k * s->n; i++)
        p.b[i] = (float)(i % 17) / 17;
    p.c = matrix(s->m, s->n, NULL);
    double flops = 2.0 * s->m * s->k * s->n;
    int64_t times = (int64_t)(1e8 / flops) + 1;
    OneDnnMatmul *matmul = NULL;
    Entry entries[1 + MOST_PEERS] = {{subject_run, &subject, times}};
    const char *names[1 + MOST_PEERS] = {"tcc"};
    uint32_t count = 1;
    if (f32 && peers->sgemm)
        names[count] = "OpenBLAS", entries[count++] = (Entry){run_sgemm, &p, times};
    if (peers->onednn) {
        matmul =
            onednn_matmul(peers->onednn, kind->type, s->m, s->k, s->n, constant, p.a, p.b, p.c);
        names[count] = "oneDNN", entries[count++] = (Entry){onednn_run, matmul, times};
    }
    subject_run(&subject);
    if (!constant && f32 && peers->sgemm) check(&p, subject.outputs[0].data);
    Contestant contestants[1 + MOST_PEERS] = {0};
    for (uint32_t i = 0; i < count; i++)
        contestants[i] = (Contestant){.run = run_entry, .user = &entries[i]};
    measure_all(contestants, count, rounds_wanted(ROUNDS));
    printf("%5d x %4d x %4d %-8s", s->m, s->k, s->n, s->what);
    double best = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        printf(" %s %7.1f", names[i], flops * (double)times / contestants[i].median * 1e-9);
        if (i > 0) best = fmin(best, contestants[i].median);
    }
    if (count > 1) {
        double ratio = best / contestants[0].median;
        printf("   ratio %.3f", ratio);
        score->logs += log(ratio);
        score->least = fmin(score->least, ratio);
        score->count++;
    }
    putchar('\n');
    fflush(stdout);
    onednn_free(matmul);
    subject_free(&subject);
    free(p.a), free(p.b), free(p.c);
}

static void measure_shapes(const Peers *peers, const Kind *kind, const char *only) {
    Score score = {.least = INFINITY};
    printf("== %s, %s, %d thread%s: GFLOP/s\n", kind->dtype,
           kind->constant ? "constant weights" : "both operands vary", peers->threads,
           peers->threads > 1 ? "s" : "");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!only || strcmp(only, shapes[i].what) == 0)
            measure_shape(&shapes[i], peers, kind, &score);
    if (score.count == 0) return;
    print_figure("geometric mean against the better of the others", exp(score.logs / score.count),
                 "", GOAL_at_least, kind->goal);
    print_figure("least", score.least, "", GOAL_at_least, 0.85);
}

static Peers find_peers(int threads) {
    Peers peers = {.threads = threads};
    const char *path = getenv("OPENBLAS");
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (handle) {
        void (*set_threads)(int);
        char *(*config)(void);
        *(void **)&peers.sgemm = dlsym(handle, "scipy_cblas_sgemm");
        *(void **)&set_threads = dlsym(handle, "scipy_openblas_set_num_threads");
        *(void **)&config = dlsym(handle, "scipy_openblas_get_config");
        expect(peers.sgemm && set_threads && config, "%s is another OpenBLAS", path);
        set_threads(threads);
        printf("OpenBLAS: %s\n", config());
    } else {
        printf("OpenBLAS: skipped, OPENBLAS names no library\n");
    }
    int version[3];
    peers.onednn = onednn_open(getenv("ONEDNN"), version);
    if (peers.onednn)
        printf("oneDNN: %d.%d.%d\n", version[0], version[1], version[2]);
    else
        printf("oneDNN: skipped, ONEDNN names no library\n");
    return peers;
}

static const struct {
    const char *name;
    Kind kind;
} kinds[] = {{"constant", {"f32", "f32", ONEDNN_f32, true, 1.08}},
             {"variable", {"f32", "f32", ONEDNN_f32, false, 1.03}},
             {"bf16", {"bf16", "bf16", ONEDNN_bf16, true, 1.2}},
             {"i8", {"i8", "i32", ONEDNN_i8, true, 1.2}}};

int main(int argc, char **argv) {
    expect(argc >= 2, "usage: products THREADS [constant|variable|bf16|i8 [SHAPES]]");
    Peers peers = find_peers(atoi(argv[1]));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc < 3 || strcmp(argv[2], kinds[i].name) == 0)
            measure_shapes(&peers, &kinds[i].kind, argc > 3 ? argv[3] : NULL);
    return 0;
}
