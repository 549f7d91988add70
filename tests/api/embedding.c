// What docs/embedding.md promises of tensors, threads, errors and ownership.
#include "tests/support/host.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static tcc_tensor strided(void *data, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    tcc_tensor t = host_matrix(data, rows, columns);
    t.strides[0] = row;
    t.strides[1] = column;
    return t;
}

static tcc_status run(const Host *h, tcc_tensor x, tcc_tensor y) {
    return h->api->run(h->session, &x, 1, &y, 1);
}

static const char twice[] = "dim N in 0..9\n"
                            "model twice(x: f32[N, 3]) -> (y: f32[N, 3]) { y = x + x }\n";

// ---- tensors ------------------------------------------------------------------------------------

static void test_strides(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
    const float transposed[6] = {2, 6, 10, 4, 8, 12}, backward[6] = {12, 10, 8, 6, 4, 2};
    const float repeated[6] = {2, 4, 6, 2, 4, 6};
    CHECK_INT(run(&h, strided(x, 2, 3, 1, 2), host_matrix(y, 2, 3)), TCC_OK);
    CHECK_MEM(y, transposed, sizeof y);
    CHECK_INT(run(&h, strided(x + 5, 2, 3, -3, -1), host_matrix(y, 2, 3)), TCC_OK);
    CHECK_MEM(y, backward, sizeof y);
    CHECK_INT(run(&h, strided(x, 2, 3, 0, 1), host_matrix(y, 2, 3)), TCC_OK);
    CHECK_MEM(y, repeated, sizeof y);
    host_close(&h);
}

// The stride of an axis of one element is never used, whatever it is; one that is used must lead
// somewhere.
static void test_extreme_strides(void) {
    static const int64_t strides[] = {INT64_MAX, INT64_MIN, -1, INT64_MAX / 8};
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        int64_t s = strides[i];
        memset(y, 0, sizeof y);
        CHECK_INT(run(&h, strided(x, 1, 3, s, 2), strided(y, 1, 3, s, 2)), TCC_OK);
        CHECK(y[0] == 2 && y[2] == 6 && y[4] == 10);
        CHECK_INT(run(&h, strided(NULL, 0, 3, s, s), strided(NULL, 0, 3, s, s)), TCC_OK);
        if (s == -1) continue;
        CHECK_INT(run(&h, strided(x, 2, 3, s, 1), host_matrix(y, 2, 3)), TCC_INVALID);
        CHECK_STR(h.api->session_message(h.session),
                  "input \"x\" has strides that reach beyond all memory [tensor-strides]");
        CHECK_INT(run(&h, host_matrix(x, 2, 3), strided(y, 2, 3, 1, s)), TCC_INVALID);
    }
    host_close(&h);
}

static void test_gaps_of_outputs_are_kept(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[12];
    for (int i = 0; i < 12; i++) y[i] = -1;
    CHECK_INT(run(&h, host_matrix(x, 2, 3), strided(y, 2, 3, 6, 2)), TCC_OK);
    for (int i = 0; i < 12; i++) CHECK(y[i] == (i % 2 ? -1 : 2 * x[i / 2]));
    host_close(&h);
}

static void test_bytes_of_offset(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    const float x[3] = {1, 2, 3}, want[3] = {2, 4, 6};
    char in[16], out[16];
    memcpy(in + 3, x, sizeof x);
    tcc_tensor a = host_matrix(in, 1, 3), b = host_matrix(out, 1, 3);
    a.byte_offset = 3;
    b.byte_offset = 1;
    CHECK_INT(run(&h, a, b), TCC_OK);
    CHECK_MEM(out + 1, want, sizeof want);
    host_close(&h);
}

// The output is the input shifted by a row; so each is written before it would be read.
static void test_shared_memory(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float want[12] = {1, 2, 3, 2, 4, 6, 8, 10, 12, 14, 16, 18};
    CHECK_INT(run(&h, host_matrix(x, 3, 3), host_matrix(x + 3, 3, 3)), TCC_OK);
    CHECK_MEM(x, want, sizeof want);
    host_close(&h);
}

static void test_no_elements(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    CHECK_INT(run(&h, host_matrix(NULL, 0, 3), host_matrix(NULL, 0, 3)), TCC_OK);
    host_close(&h);
}

// A page that cannot be read follows the last element, where elements go on when strides are not
// honoured.
static void test_check_honours_strides(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    float *last = (float *)(void *)(memory + page) - 1;
    for (int i = 0; i < 12; i++) last[-i] = (float)i;
    tcc_tensor x = strided(last, 4, 3, -3, -1);
    CHECK_INT(tcc_unit_check(h.unit, &x, 1, NULL, NULL), TCC_OK);
    x.data = NULL;
    CHECK_INT(tcc_unit_check(h.unit, &x, 1, NULL, NULL), TCC_INVALID);
    CHECK_STR(tcc_message(h.compiler), "input 0 has no data");
    munmap(memory, 2 * page);
    host_close(&h);
}

// ---- errors -------------------------------------------------------------------------------------

static void check_refused(const Host *h, tcc_tensor x, tcc_tensor y, const char *message) {
    CHECK_INT(run(h, x, y), TCC_INVALID);
    CHECK_STR(h->api->session_message(h->session), message);
}

static void test_a_session_goes_on_after_errors(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[60] = {1, 2, 3}, y[60];
    check_refused(&h, host_matrix(x, 10, 3), host_matrix(y, 10, 3),
                  "input \"x\": dim N is 10, not in 0..9 [dim-range]");
    check_refused(&h, host_matrix(x, 1, 4), host_matrix(y, 1, 3),
                  "input \"x\": axis 1 has 4 elements, expected 3 [axis-size]");
    check_refused(&h, host_matrix(x, 2, 3), host_matrix(y, 1, 3),
                  "output \"y\": axis 0 has 1 elements, expected 2 [axis-size]");
    check_refused(&h, host_matrix(NULL, 2, 3), host_matrix(y, 2, 3),
                  "input \"x\" has no data [tensor-data]");
    CHECK_INT(run(&h, host_matrix(x, 1, 3), host_matrix(y, 1, 3)), TCC_OK);
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 6);
    host_close(&h);
}

static void keep_first(void *user, const tcc_diagnostic *diagnostic) {
    char *id = user;
    if (!*id) snprintf(id, 40, "%s %u:%u", diagnostic->id, diagnostic->line, diagnostic->column);
}

static void test_a_compiler_goes_on_after_errors(void) {
    static const char wrong[] = "model m(x: f32) -> (y: f32) { y = z }\n";
    static const char good[] = "model m(x: f32) -> (y: f32) { y = x }\n";
    tcc_compiler *compiler;
    tcc_unit *unit;
    char first[40] = "";
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return;
    tcc_on_diagnostic(compiler, keep_first, first);
    CHECK_INT(tcc_compile_memory(compiler, "m.g", wrong, sizeof wrong - 1, &unit), TCC_INVALID);
    CHECK(unit == NULL);
    CHECK_STR(first, "unknown-name 1:35");
    CHECK_STR(tcc_message(compiler), "there is no 'z'");
    CHECK_INT(tcc_compile_memory(compiler, "m.g", good, sizeof good - 1, &unit), TCC_OK);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

// ---- ownership ----------------------------------------------------------------------------------

static void test_handles_are_freed_in_any_order(void) {
    Host h;
    if (!host_open(&h, twice, NULL, NULL)) return;
    float x[3] = {1, 2, 3}, y[3];
    tcc_compiler_free(h.compiler); // the unit keeps it
    h.api->close(h.model);         // the session keeps it
    CHECK_INT(run(&h, host_matrix(x, 1, 3), host_matrix(y, 1, 3)), TCC_OK);
    CHECK(y[2] == 6);
    h.api->session_free(h.session);
    h.api->session_free(NULL);
    h.api->close(NULL);
    tcc_unit_free(h.unit);
    tcc_unit_free(NULL);
    tcc_compiler_free(NULL);
    tcc_array_free(NULL);
}

// ---- threads ------------------------------------------------------------------------------------

static const char rows[] =
    "model rows(x: f32[512, 1024]) -> (y: f32[512, 1024]) { y = softmax(tanh(x)) }\n";
enum { ROWS = 512, COLUMNS = 1024 };

typedef struct Calls {
    int32_t calls, most;
} Calls;

// From the last to the first, on one thread.
static void backward(void *user, int32_t count, void (*body)(void *data, int32_t i), void *data) {
    Calls *calls = user;
    calls->calls++;
    if (count > calls->most) calls->most = count;
    for (int32_t i = count; i-- > 0;) body(data, i);
}

static float *run_rows(const Host *h) {
    float *x = malloc(sizeof(float) * ROWS * COLUMNS), *y = malloc(sizeof(float) * ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (float)(i % 1013) / 500 - 1;
    CHECK_INT(run(h, host_matrix(x, ROWS, COLUMNS), host_matrix(y, ROWS, COLUMNS)), TCC_OK);
    free(x);
    return y;
}

static void test_threads_of_the_caller(void) {
    Calls calls = {0};
    tcc_open_options own = {
        .size = sizeof own, .threads = 5, .parallel_for = backward, .parallel_user = &calls};
    tcc_open_options alone = {.size = sizeof alone, .threads = 1};
    Host h, one;
    if (!host_open(&h, rows, NULL, &own) || !host_open(&one, rows, NULL, &alone)) return;
    float *y = run_rows(&h), *want = run_rows(&one);
    CHECK(calls.calls > 0 && calls.most > 1 && calls.most <= 5);
    CHECK_MEM(y, want, sizeof(float) * ROWS * COLUMNS);
    free(y);
    free(want);
    host_close(&h);
    host_close(&one);
}

static volatile sig_atomic_t handled;
static void on_signal(int number) { handled = number; }

// Our threads leave the host's signals alone: one that no thread of the host takes stays pending.
static void test_signals_are_the_hosts(void) {
    tcc_open_options options = {.size = sizeof options, .threads = 3};
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigset_t set, old, pending;
    Host h;
    if (!host_open(&h, rows, NULL, &options)) return;
    sigaction(SIGUSR1, &action, &before);
    free(run_rows(&h));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    kill(getpid(), SIGUSR1);
    usleep(20000);
    CHECK_INT(handled, 0);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    CHECK_INT(handled, SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    host_close(&h);
}

#ifndef __SANITIZE_THREAD__
static bool gives_the_same(const Host *h, const float *want) {
    float *y = run_rows(h);
    bool same = memcmp(y, want, sizeof(float) * ROWS * COLUMNS) == 0;
    free(y);
    return same;
}

// The workers of a forked process stay behind in its parent: the child starts its own. (The thread
// sanitizer ends a child that does.)
static void test_a_fork_runs_on(void) {
    tcc_open_options options = {.size = sizeof options, .threads = 3};
    Host h;
    int status;
    if (!host_open(&h, rows, NULL, &options)) return;
    float *want = run_rows(&h);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        bool same = gives_the_same(&h, want) && gives_the_same(&h, want);
        host_close(&h);
        _exit(same ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(gives_the_same(&h, want));
    free(want);
    host_close(&h);
}
#endif

typedef struct Caller {
    const Host *host;
    tcc_session *session;
    float y[3];
    tcc_status status;
} Caller;

static void *call_often(void *data) {
    Caller *c = data;
    float x[3] = {1, 2, 3};
    tcc_tensor in = host_matrix(x, 1, 3), out = host_matrix(c->y, 1, 3);
    for (int i = 0; i < 200 && c->status == TCC_OK; i++)
        c->status = c->host->api->run(c->session, &in, 1, &out, 1);
    return NULL;
}

static void test_a_session_for_each_thread(void) {
    enum { CALLERS = 4 };
    Host h;
    Caller callers[CALLERS] = {0};
    pthread_t threads[CALLERS];
    if (!host_open(&h, twice, NULL, NULL)) return;
    for (int i = 0; i < CALLERS; i++) {
        callers[i].host = &h;
        CHECK_INT(h.api->session_new(h.model, &callers[i].session), TCC_OK);
        CHECK_INT(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(callers[i].status, TCC_OK);
        CHECK(callers[i].y[0] == 2 && callers[i].y[2] == 6);
        h.api->session_free(callers[i].session);
    }
    host_close(&h);
}

// ---- what a run tells ---------------------------------------------------------------------------

static void count_call(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    (void)ns;
    CHECK(kernel != NULL && threads >= 1);
    ++*(uint32_t *)user;
}

static void test_profile_and_info(void) {
    static const char text[] =
        "dim N in 1..64\n"
        "model m(x: f32[N, 3], w: f32[3, 8], v: f32[8, 3]) -> (y: f32[N, 3]) {\n"
        "    y = softmax(relu(x @ w) @ v)\n"
        "}\n";
    Host h;
    if (!host_open(&h, text, NULL, NULL)) return;
    float x[30] = {1}, w[24] = {1}, v[24] = {1}, y[30];
    tcc_tensor inputs[] = {host_matrix(x, 10, 3), host_matrix(w, 3, 8), host_matrix(v, 8, 3)};
    tcc_tensor output = host_matrix(y, 10, 3);
    tcc_run_info info = {.size = sizeof info};
    uint32_t calls = 0;
    CHECK_INT(h.api->run_info(h.session, &info), TCC_INVALID); // nothing ran yet
    h.api->profile(h.session, count_call, &calls);
    CHECK_INT(h.api->run(h.session, inputs, 3, &output, 1), TCC_OK);
    CHECK_INT(h.api->run_info(h.session, &info), TCC_OK);
    CHECK(info.launches > 0 && calls == info.launches);
    CHECK(info.arena_bytes > 0 && info.arena_bytes <= info.planned_bytes);
    host_close(&h);
}

// More inputs and dims than any table of fixed size would hold.
static void test_many_dims(void) {
    enum { COUNT = 300 };
    static char text[COUNT * 48];
    size_t used = 0;
    for (int i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "dim D%d in 1..9\n", i);
    used += (size_t)snprintf(text + used, sizeof text - used, "model m(");
    for (int i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "x%d: f32[D%d, 1], ", i, i);
    snprintf(text + used, sizeof text - used,
             "z: f32) -> (y: f32[D299, 1]) { y = x299 + x298[0, 0] + z }");
    Host h;
    if (!host_open(&h, text, NULL, NULL)) return;
    float x[9], y[9], z = 100;
    static tcc_tensor all[COUNT + 1];
    int64_t dims[TCC_MAX_RANK] = {0};
    for (int i = 0; i < 9; i++) x[i] = (float)i;
    for (int i = 0; i < COUNT; i++) all[i] = host_matrix(x, 1 + i % 9, 1);
    all[COUNT] = (tcc_tensor){.size = sizeof *all, .data = &z, .dtype = TCC_F32};
    tcc_tensor output = host_matrix(y, 1 + 299 % 9, 1);
    CHECK_INT(h.api->output_dims(h.session, all, COUNT + 1, 0, dims), TCC_OK);
    CHECK_INT(dims[0], 1 + 299 % 9);
    CHECK_INT(h.api->run(h.session, all, COUNT + 1, &output, 1), TCC_OK);
    for (int i = 0; i < 1 + 299 % 9; i++) CHECK(y[i] == (float)(i + 100));
    all[270].dims[0] = 10;
    CHECK_INT(h.api->run(h.session, all, COUNT + 1, &output, 1), TCC_INVALID);
    CHECK(strstr(h.api->session_message(h.session), "D270") != NULL);
    host_close(&h);
}

int main(void) {
    RUN(test_many_dims);
    RUN(test_strides);
    RUN(test_extreme_strides);
    RUN(test_gaps_of_outputs_are_kept);
    RUN(test_bytes_of_offset);
    RUN(test_shared_memory);
    RUN(test_no_elements);
    RUN(test_check_honours_strides);
    RUN(test_a_session_goes_on_after_errors);
    RUN(test_a_compiler_goes_on_after_errors);
    RUN(test_handles_are_freed_in_any_order);
    RUN(test_threads_of_the_caller);
    RUN(test_signals_are_the_hosts);
#ifndef __SANITIZE_THREAD__
    RUN(test_a_fork_runs_on);
#endif
    RUN(test_a_session_for_each_thread);
    RUN(test_profile_and_info);
    return test_done();
}
