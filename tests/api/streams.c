// Streams on the CPU: what is enqueued is done in order, beside the caller, by a thread of the
// stream or the host's; errors come with the sync.
#include "tests/support/host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static tcc_stream *stream_of(const Host *h, const tcc_stream_options *options) {
    tcc_stream *stream = NULL;
    CHECK_INT(h->api->stream_new(h->model, options, &stream), TCC_OK);
    return stream;
}

static const char step[] = "dim N in 1..100000\n"
                           "model step(x: f32[N]) -> (y: f32[N]) { y = x * 2.0 + 1.0 }\n";

static tcc_status enqueue_step(const Host *h, tcc_session *session, float *x, float *y,
                               int64_t count, tcc_stream *stream) {
    tcc_tensor in = host_vector(x, TCC_F32, count), out = host_vector(y, TCC_F32, count);
    return h->api->enqueue(session, &in, 1, &out, 1, stream);
}

// 2^n - 1 after n steps from 0, each of which reads what the one before wrote; sessions take turns.
static void check_order(const Host *h, tcc_stream *stream) {
    enum { STEPS = 20, COUNT = 5000 };
    static float values[STEPS + 1][COUNT];
    tcc_session *other;
    CHECK_INT(h->api->session_new(h->model, &other), TCC_OK);
    for (int i = 0; i < STEPS; i++) {
        tcc_session *session = i % 2 ? other : h->session;
        memset(values[i + 1], 0, sizeof values[i + 1]);
        CHECK_INT(enqueue_step(h, session, values[i], values[i + 1], COUNT, stream), TCC_OK);
    }
    CHECK_INT(h->api->stream_sync(stream), TCC_OK);
    for (int i = 0; i <= STEPS; i++) {
        float want = (float)((1 << i) - 1);
        CHECK(values[i][0] == want && values[i][COUNT - 1] == want);
    }
    CHECK_INT(h->api->sync(h->session), TCC_OK);
    CHECK_INT(h->api->sync(other), TCC_OK);
    h->api->session_free(other);
}

static void test_in_order(void) {
    Host h;
    if (!host_open(&h, step, NULL, NULL)) return;
    tcc_stream *stream = stream_of(&h, NULL);
    check_order(&h, stream);
    check_order(&h, stream);
    h.api->stream_free(stream);
    host_close(&h);
}

// ---- the host's threads -------------------------------------------------------------------------

// A host that keeps what was submitted, and does it when it likes.
typedef struct Later {
    void (*work)(void *data);
    void *data;
    int submitted;
} Later;

static void keep(void *user, void (*work)(void *data), void *data) {
    Later *later = user;
    CHECK(later->work == NULL);
    *later = (Later){work, data, later->submitted + 1};
}

static void do_it(Later *later) {
    void (*work)(void *data) = later->work;
    later->work = NULL;
    work(later->data);
}

static void test_the_host_decides_when(void) {
    Later later = {0};
    tcc_stream_options options = {.size = sizeof options, .submit = keep, .submit_user = &later};
    float x[4] = {1, 2, 3, 4}, y[4] = {0}, z[4] = {0};
    const float want[4] = {7, 11, 15, 19};
    Host h;
    if (!host_open(&h, step, NULL, NULL)) return;
    tcc_stream *stream = stream_of(&h, &options);
    CHECK_INT(enqueue_step(&h, h.session, x, y, 4, stream), TCC_OK);
    CHECK_INT(enqueue_step(&h, h.session, y, z, 4, stream), TCC_OK);
    CHECK_INT(later.submitted, 1); // for both
    CHECK(y[0] == 0);
    do_it(&later);
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    CHECK_MEM(z, want, sizeof z);
    CHECK_INT(enqueue_step(&h, h.session, x, y, 4, stream), TCC_OK);
    CHECK_INT(later.submitted, 2);
    do_it(&later);
    h.api->stream_free(stream);
    host_close(&h);
}

static void at_once(void *user, void (*work)(void *data), void *data) {
    ++*(int *)user;
    work(data);
}

static void test_the_host_does_it_at_once(void) {
    int calls = 0;
    tcc_stream_options options = {.size = sizeof options, .submit = at_once, .submit_user = &calls};
    Host h;
    if (!host_open(&h, step, NULL, NULL)) return;
    tcc_stream *stream = stream_of(&h, &options);
    check_order(&h, stream);
    CHECK_INT(calls, 20);
    h.api->stream_free(stream);
    host_close(&h);
}

// ---- errors -------------------------------------------------------------------------------------

static const char pick[] =
    "model pick(x: f32[4], i: i64[3]) -> (y: f32[3]) { y = gather(x, i, axis=0) }\n";

static tcc_status enqueue_pick(const Host *h, float *x, int64_t *i, float *y, void *stream) {
    tcc_tensor in[] = {host_vector(x, TCC_F32, 4), host_vector(i, TCC_I64, 3)},
               out = host_vector(y, TCC_F32, 3);
    return h->api->enqueue(h->session, in, 2, &out, 1, stream);
}

// On a stream and without one: what follows an error is left out until sync has told it.
static void check_errors(const Host *h, tcc_stream *stream) {
    float x[4] = {1, 2, 3, 4}, y[3], z[3] = {-1, -1, -1};
    int64_t good[3] = {3, 0, 1}, bad[3] = {0, 9, 0};
    const float want[3] = {4, 1, 2};
    CHECK_INT(enqueue_pick(h, x, bad, y, stream), TCC_OK);
    CHECK_INT(enqueue_pick(h, x, good, z, stream), TCC_OK);
    CHECK_INT(h->api->sync(h->session), TCC_INDEX);
    CHECK(strstr(h->api->session_message(h->session), "index 9 is not in -4..3") != NULL);
    CHECK(z[0] == -1);
    CHECK_INT(h->api->sync(h->session), TCC_OK);
    CHECK_INT(enqueue_pick(h, x, good, z, stream), TCC_OK);
    CHECK_INT(h->api->sync(h->session), TCC_OK);
    CHECK_MEM(z, want, sizeof z);
}

static void test_errors_come_with_the_sync(void) {
    Host h;
    if (!host_open(&h, pick, NULL, NULL)) return;
    tcc_stream *stream = stream_of(&h, NULL);
    check_errors(&h, stream);
    check_errors(&h, NULL);
    h.api->stream_free(stream);
    host_close(&h);
}

static void test_wrong_calls(void) {
    static const char nothing[64];
    Host h;
    if (!host_open(&h, step, NULL, NULL)) return;
    float x[4] = {0}, y[4];
    tcc_tensor in = host_vector(x, TCC_F32, 4), out = host_vector(y, TCC_F32, 4);
    tcc_stream *stream = stream_of(&h, NULL);
    tcc_status none = h.api->enqueue(h.session, &in, 1, &out, 1, (void *)(uintptr_t)nothing);
    CHECK_INT(none, TCC_INVALID);
    CHECK_STR(h.api->session_message(h.session), "the stream is none of tcc's [stream]");
    CHECK_INT(h.api->enqueue(h.session, &in, 2, &out, 1, stream), TCC_INVALID);
    CHECK_INT(h.api->enqueue(h.session, &in, 1, &out, 0, stream), TCC_INVALID);
    CHECK_INT(h.api->enqueue(h.session, NULL, 1, &out, 1, stream), TCC_INVALID);
    CHECK_INT(h.api->enqueue(h.session, &in, 1, NULL, 1, stream), TCC_INVALID);
    in.dims[0] = 3; // which only a run finds out
    CHECK_INT(h.api->enqueue(h.session, &in, 1, &out, 1, stream), TCC_OK);
    CHECK_INT(h.api->sync(h.session), TCC_INVALID);
    CHECK_STR(h.api->session_message(h.session),
              "output \"y\": axis 0 has 4 elements, expected 3 [axis-size]");
    h.api->stream_free(stream);
    h.api->stream_free(NULL);
    CHECK_INT(h.api->stream_sync(NULL), TCC_INVALID);
    CHECK_INT(h.api->stream_new(h.model, NULL, NULL), TCC_INVALID);
    CHECK_INT(h.api->stream_new(NULL, NULL, &stream), TCC_INVALID);
    CHECK(stream == NULL);
    host_close(&h);
}

// ---- handles ------------------------------------------------------------------------------------

// Other calls on the session wait for its work, and so does freeing.
static void test_other_calls_wait(void) {
    enum { COUNT = 100000, RUNS = 50 };
    static float x[COUNT], y[COUNT];
    int64_t dims[TCC_MAX_RANK] = {0};
    tcc_run_info info = {.size = sizeof info};
    Host h;
    if (!host_open(&h, step, NULL, NULL)) return;
    tcc_stream *stream = stream_of(&h, NULL), *other = stream_of(&h, NULL);
    tcc_tensor in = host_vector(x, TCC_F32, COUNT), out = host_vector(y, TCC_F32, COUNT);
    for (int i = 0; i < RUNS; i++)
        CHECK_INT(enqueue_step(&h, h.session, x, y, COUNT, stream), TCC_OK);
    CHECK_INT(h.api->output_dims(h.session, &in, 1, 0, dims), TCC_OK);
    CHECK_INT(dims[0], COUNT);
    CHECK_INT(enqueue_step(&h, h.session, x, y, COUNT, stream), TCC_OK);
    CHECK_INT(h.api->run_info(h.session, &info), TCC_OK);
    CHECK_INT(enqueue_step(&h, h.session, x, y, COUNT, stream), TCC_OK);
    CHECK_INT(h.api->run(h.session, &in, 1, &out, 1), TCC_OK);
    CHECK_INT(enqueue_step(&h, h.session, x, y, COUNT, stream), TCC_OK);
    CHECK_INT(enqueue_step(&h, h.session, y, x, COUNT, other), TCC_OK); // waits for the first
    for (int i = 0; i < RUNS; i++)
        CHECK_INT(enqueue_step(&h, h.session, x, y, COUNT, other), TCC_OK);
    h.api->session_free(h.session);
    h.session = NULL;
    h.api->close(h.model);
    tcc_unit_free(h.unit);
    tcc_compiler_free(h.compiler);
    h.api->stream_free(other);
    h.api->stream_free(stream); // the last to hold the model
}

typedef struct Caller {
    const Host *host;
    tcc_stream *stream;
    tcc_status status;
    float sum;
} Caller;

static void *call_often(void *data) {
    Caller *c = data;
    tcc_session *session;
    float x[4] = {0}, y[4];
    c->status = c->host->api->session_new(c->host->model, &session);
    for (int i = 0; i < 100 && c->status == TCC_OK; i++) {
        c->status = enqueue_step(c->host, session, x, y, 4, c->stream);
        if (c->status == TCC_OK) c->status = enqueue_step(c->host, session, y, x, 4, c->stream);
        if (c->status == TCC_OK) c->status = c->host->api->sync(session);
        c->sum += x[3];
        memset(x, 0, sizeof x);
    }
    c->host->api->session_free(session);
    return NULL;
}

// Sixteen threads, each with its session, on two streams.
static void test_many_threads(void) {
    enum { CALLERS = 16 };
    Host h;
    pthread_t threads[CALLERS];
    Caller callers[CALLERS];
    if (!host_open(&h, step, NULL, NULL)) return;
    tcc_stream *streams[] = {stream_of(&h, NULL), stream_of(&h, NULL)};
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (Caller){.host = &h, .stream = streams[i % 2]};
        CHECK_INT(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(callers[i].status, TCC_OK);
        CHECK(callers[i].sum == 300);
    }
    h.api->stream_free(streams[0]);
    h.api->stream_free(streams[1]);
    host_close(&h);
}

// A model opened by one library has its streams used by another: here two units, two models.
static void test_a_stream_for_several_models(void) {
    Host a, b;
    if (!host_open(&a, step, NULL, NULL) || !host_open(&b, pick, NULL, NULL)) return;
    float x[4] = {1, 2, 3, 4}, y[4], z[3];
    int64_t at[3] = {3, 3, 0};
    tcc_stream *stream = stream_of(&a, NULL);
    CHECK_INT(enqueue_step(&a, a.session, x, y, 4, stream), TCC_OK);
    CHECK_INT(enqueue_pick(&b, y, at, z, stream), TCC_OK);
    CHECK_INT(b.api->sync(b.session), TCC_OK);
    CHECK(z[0] == 9 && z[1] == 9 && z[2] == 3);
    host_close(&a); // the stream keeps its model
    CHECK_INT(enqueue_pick(&b, y, at, z, stream), TCC_OK);
    CHECK_INT(b.api->stream_sync(stream), TCC_OK);
    b.api->stream_free(stream);
    host_close(&b);
}

int main(void) {
    RUN(test_in_order);
    RUN(test_the_host_decides_when);
    RUN(test_the_host_does_it_at_once);
    RUN(test_errors_come_with_the_sync);
    RUN(test_wrong_calls);
    RUN(test_other_calls_wait);
    RUN(test_many_threads);
    RUN(test_a_stream_for_several_models);
    return test_done();
}
