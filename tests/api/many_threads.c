// 16 threads at once, each a host of its own: they compile, most of them the same few models with
// one cache, open, run them and each other's model, write files, and free all handles in an order
// that is different each time. The numbers are right; a build with TCC_SANITIZE=thread finds races,
// one with =address what is used after it was freed.
#include "tests/support/host.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 16, ROUNDS = 5, ROWS = 300, HANDLES = 4 };

typedef struct Shared {
    tcc_cache *cache;
    const tcc_model_api *api; // of the model that all run
    tcc_model *model;
} Shared;

typedef struct Caller {
    const Shared *shared;
    uint32_t number, wrong;
    uint64_t state;
} Caller;

static uint32_t pick(Caller *c, uint32_t below) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->state >> 33) % below;
}

static void expect(Caller *c, bool good) { c->wrong += !good; }

// y = x * gain + sum(x), on rows of ones.
static const char format[] =
    "dim N in 1..4096 tune 300\n"
    "model m(x: f32[N, 3]) -> (y) { y = x * %u.0 + sum(x, axis=1, keep=true) }\n";

static void run(Caller *c, const tcc_model_api *api, tcc_session *session, uint32_t gain) {
    static _Thread_local float x[ROWS * 3], y[ROWS * 3];
    uint32_t rows = 1 + pick(c, ROWS);
    for (uint32_t i = 0; i < rows * 3; i++) x[i] = 1;
    tcc_tensor in = host_matrix(x, rows, 3), out = host_matrix(y, rows, 3);
    expect(c, api->run(session, &in, 1, &out, 1) == TCC_OK);
    expect(c, y[0] == (float)(gain + 3) && y[rows * 3 - 1] == (float)(gain + 3));
}

// Compiles a model of few kinds, or of this thread alone, at some level.
static bool compile(Caller *c, Host *h, uint32_t gain) {
    static const char *const levels[] = {"0", "1", "2", "3"};
    char text[sizeof format + 10];
    tcc_compiler_options options = {.size = sizeof options, .cache = c->shared->cache};
    snprintf(text, sizeof text, format, gain);
    return tcc_compiler_new_with(&options, &h->compiler) == TCC_OK &&
           tcc_set_option(h->compiler, "O", levels[pick(c, 4)]) == TCC_OK &&
           tcc_compile_memory(h->compiler, "m.g", text, strlen(text), &h->unit) == TCC_OK;
}

static void write_and_remove(Caller *c, tcc_unit *unit) {
    char path[100];
    snprintf(path, sizeof path, "/tmp/tcc-many-threads-%d-%u.o", (int)getpid(), c->number);
    expect(c, tcc_unit_write_object(unit, path) == TCC_OK);
    expect(c, unlink(path) == 0);
}

static void free_handle(Host *h, uint32_t which) {
    if (which == 0 && h->session) h->api->session_free(h->session);
    if (which == 1 && h->model) h->api->close(h->model);
    if (which == 2) tcc_unit_free(h->unit);
    if (which == 3) tcc_compiler_free(h->compiler);
}

static void free_all(Caller *c, Host *h) {
    uint32_t first = pick(c, HANDLES), step = pick(c, 2) ? 1 : HANDLES - 1;
    for (uint32_t i = 0; i < HANDLES; i++) free_handle(h, (first + i * step) % HANDLES);
}

static void live_once(Caller *c) {
    Host h = {0};
    uint32_t gain = 1 + (pick(c, 4) ? pick(c, 3) : c->number);
    tcc_open_options options = {.size = sizeof options, .threads = (int32_t)pick(c, 4)};
    bool good = compile(c, &h, gain) &&
                tcc_unit_open(h.unit, &options, &h.api, &h.model) == TCC_OK &&
                h.api->session_new(h.model, &h.session) == TCC_OK;
    expect(c, good);
    for (int i = 0; good && i < 20; i++) run(c, h.api, h.session, gain);
    if (good && pick(c, 4) == 0) write_and_remove(c, h.unit);
    free_all(c, &h);
}

static void *live(void *data) {
    Caller *c = data;
    tcc_session *session = NULL;
    expect(c, c->shared->api->session_new(c->shared->model, &session) == TCC_OK);
    for (int i = 0; session && i < (test_long() ? 20 * ROUNDS : ROUNDS); i++) {
        live_once(c);
        for (int k = 0; k < 20; k++) run(c, c->shared->api, session, 7);
    }
    if (session) c->shared->api->session_free(session);
    return NULL;
}

static void test_sixteen_hosts(void) {
    pthread_t threads[THREADS];
    Caller callers[THREADS];
    Host h;
    char text[sizeof format + 10];
    tcc_cache_options bounds = {.size = sizeof bounds, .units = 4};
    tcc_cache *cache = NULL;
    snprintf(text, sizeof text, format, 7u);
    if (!CHECK_INT(tcc_cache_new(&bounds, &cache), TCC_OK)) return;
    if (host_open(&h, text, NULL, NULL)) {
        Shared shared = {cache, h.api, h.model};
        for (uint32_t i = 0; i < THREADS; i++) {
            callers[i] = (Caller){.shared = &shared, .number = i, .state = i};
            CHECK_INT(pthread_create(&threads[i], NULL, live, &callers[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_INT(callers[i].wrong, 0);
        }
    }
    host_close(&h);
    tcc_cache_free(cache);
}

int main(void) {
    RUN(test_sixteen_hosts);
    return test_done();
}
