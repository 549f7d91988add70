// Models on the caller's own streams, with tensors in the device's memory: the host of these tests
// goes to the driver for its memory, its streams and its own work between the runs.
#include "tests/emulator/library.h"
#include "tests/support/device.h"
#include "tests/support/host.h"

enum { MOST = 64, WIDTH = 4 };

static const char sums[] = "dim N in 1..64 tune 8\n"
                           "model m(x: f32[N, 4], y: f32[N, 4]) -> (s: f32[N, 4], t: f32[N]) {\n"
                           "    s = x * 2.0 + y\n"
                           "    t = sum(s, axis=1)\n"
                           "}\n";
static const char picks[] = "model pick(x: f32[4], i: i64[2]) -> (y: f32[2]) {\n"
                            "    y = gather(x, i) * 2.0\n"
                            "}\n";
static const char nibbles[] = "model q(x: f32[5]) -> (y: i4[5]) { y = cast(x, i4) }\n";

static CUcontext context;
static CUstream stream;
static bool is_late; // the device does nothing before somebody waits for it, as the software GPU

// ---- the host -----------------------------------------------------------------------------------

static bool compile(Host *h, const char *text) {
    *h = (Host){0};
    tcc_open_options options = {.size = sizeof options, .threads = 1, .device = test_device()};
    return CHECK_INT(tcc_compiler_new(&h->compiler), TCC_OK) &&
           CHECK_INT(tcc_set_option(h->compiler, "target", "native,sm_80"), TCC_OK) &&
           CHECK_INT(tcc_compile_memory(h->compiler, "test.g", text, strlen(text), &h->unit),
                     TCC_OK) &&
           host_start(h, &options);
}

static tcc_stream *wrap(const Host *h, CUstream native) {
    tcc_stream_options options = {.size = sizeof options, .native = native};
    tcc_stream *made = NULL;
    CHECK_INT(h->api->stream_new(h->model, &options, &made), TCC_OK);
    return made;
}

// Memory that both sides see, which shows what the device has not done yet.
static float *managed(size_t count) {
    CUdeviceptr data = 0;
    CHECK_INT(cuda.cuMemAllocManaged(&data, count * sizeof(float), CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
    memset((void *)(uintptr_t)data, 0, count * sizeof(float));
    return (float *)(uintptr_t)data;
}

static void release(void *data) {
    CHECK_INT(cuda.cuMemFree_v2((CUdeviceptr)(uintptr_t)data), CUDA_SUCCESS);
}

static tcc_tensor on_device(tcc_tensor tensor) {
    tensor.device = TCC_CUDA;
    return tensor;
}

// ---- the model of sums --------------------------------------------------------------------------

typedef struct Tensors {
    float *x, *y, *s, *t;
} Tensors;

static Tensors new_tensors(void) {
    return (Tensors){managed(MOST * WIDTH), managed(MOST * WIDTH), managed(MOST * WIDTH),
                     managed(MOST)};
}

static void free_tensors(Tensors *v) {
    release(v->x);
    release(v->y);
    release(v->s);
    release(v->t);
}

static void fill(Tensors *v, int seed) {
    for (int i = 0; i < MOST * WIDTH; i++) {
        v->x[i] = (float)((i * 7 + seed) % 13) / 4;
        v->y[i] = (float)((i * 5 + seed) % 11) / 8;
        v->s[i] = -1;
    }
    for (int i = 0; i < MOST; i++) v->t[i] = -1;
}

// Of x and y as fill made them.
static bool is_right(const float *s, const float *t, int seed, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int64_t k = i * WIDTH; k < (i + 1) * WIDTH; k++) {
            float want = (float)((k * 7 + seed) % 13) / 4 * 2 + (float)((k * 5 + seed) % 11) / 8;
            if (s[k] != want) return false;
            sum += want;
        }
        if (t[i] != sum) return false; // quarters and eighths: exact in any order
    }
    return true;
}

static tcc_status enqueue(const Host *h, const Tensors *v, int64_t n, tcc_stream *on) {
    tcc_tensor in[2] = {on_device(host_matrix(v->x, n, WIDTH)),
                        on_device(host_matrix(v->y, n, WIDTH))};
    tcc_tensor out[2] = {on_device(host_matrix(v->s, n, WIDTH)),
                         on_device(host_vector(v->t, TCC_F32, n))};
    return h->api->enqueue(h->session, in, 2, out, 2, on);
}

// ---- tests --------------------------------------------------------------------------------------

// Nothing is done when enqueue returns, all is once the stream is: no other wait is needed. The
// same run again, which is recorded, other sizes, and other addresses.
static void test_asynchronous(void) {
    static const int64_t sizes[] = {8, 8, 8, 1, 64, 64, 64, 7};
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v[2] = {new_tensors(), new_tensors()};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        Tensors *now = &v[i / 4];
        fill(now, i);
        CHECK_INT(enqueue(&h, now, sizes[i], on), TCC_OK);
        if (is_late) CHECK(now->s[0] == -1 && now->t[0] == -1);
        CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
        CHECK(is_right(now->s, now->t, i, sizes[i]));
        if (i % 3 == 0) CHECK_INT(h.api->sync(h.session), TCC_OK);
    }
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    h.api->stream_free(on);
    host_close(&h);
    free_tensors(&v[0]);
    free_tensors(&v[1]);
}

// The host's own work on the stream, before a run and behind it; many runs without a wait between.
static void test_between_the_hosts_work(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    float *kept = managed(MOST * MOST);
    fill(&v, 3);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(cuda.cuMemsetD32Async((CUdeviceptr)(uintptr_t)v.x, 0, MOST * WIDTH, stream),
                  CUDA_SUCCESS);
        if (i % 2) // 2.0, in f32's bits
            CHECK_INT(cuda.cuMemsetD32Async((CUdeviceptr)(uintptr_t)v.x, 0x40000000, MOST * WIDTH,
                                            stream),
                      CUDA_SUCCESS);
        CHECK_INT(enqueue(&h, &v, MOST, on), TCC_OK);
        CHECK_INT(cuda.cuMemcpyDtoDAsync_v2((CUdeviceptr)(uintptr_t)(kept + i * MOST),
                                            (CUdeviceptr)(uintptr_t)v.t, MOST * sizeof(float),
                                            stream),
                  CUDA_SUCCESS);
    }
    if (is_late) CHECK(kept[0] == 0);
    CHECK_INT(h.api->stream_sync(on), TCC_OK);
    for (int i = 0; i < 6; i++)
        for (int r = 0; r < MOST; r++) {
            float want = i % 2 ? 16.0f : 0.0f;
            for (int k = r * WIDTH; k < (r + 1) * WIDTH; k++) want += v.y[k];
            CHECK(kept[i * MOST + r] == want);
        }
    h.api->stream_free(on);
    host_close(&h);
    release(kept);
    free_tensors(&v);
}

// A session on two streams in turn: its memory is not used by two runs at once.
static void test_two_streams(void) {
    Host h;
    CUstream other = NULL;
    if (!compile(&h, sums)) return;
    CHECK_INT(cuda.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    tcc_stream *on[3] = {wrap(&h, stream), wrap(&h, other), wrap(&h, CU_STREAM_LEGACY)};
    Tensors v[3] = {new_tensors(), new_tensors(), new_tensors()};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) fill(&v[i], i + round);
        for (int i = 0; i < 3; i++) CHECK_INT(enqueue(&h, &v[i], 8 + round, on[i]), TCC_OK);
        CHECK_INT(cuda.cuStreamSynchronize(CU_STREAM_LEGACY), CUDA_SUCCESS); // the last of them
        for (int i = 0; i < 3; i++) CHECK(is_right(v[i].s, v[i].t, i + round, 8 + round));
    }
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    for (int i = 0; i < 3; i++) h.api->stream_free(on[i]);
    CHECK_INT(cuda.cuStreamQuery(other), CUDA_SUCCESS); // the caller's still
    CHECK_INT(cuda.cuStreamDestroy_v2(other), CUDA_SUCCESS);
    host_close(&h);
    for (int i = 0; i < 3; i++) free_tensors(&v[i]);
}

// Some tensors in the host's memory: inputs are read at once, outputs are there behind sync.
static void test_mixed(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    float x[MOST * WIDTH], t[MOST];
    for (int i = 0; i < 4; i++) {
        int64_t n = i == 2 ? 5 : 9;
        fill(&v, i);
        memcpy(x, v.x, sizeof x);
        t[0] = -1;
        tcc_tensor in[2] = {host_matrix(x, n, WIDTH), on_device(host_matrix(v.y, n, WIDTH))};
        tcc_tensor out[2] = {on_device(host_matrix(v.s, n, WIDTH)), host_vector(t, TCC_F32, n)};
        CHECK_INT(h.api->enqueue(h.session, in, 2, out, 2, on), TCC_OK);
        CHECK(t[0] == -1);
        memset(x, 0, sizeof x);
        CHECK_INT(h.api->sync(h.session), TCC_OK);
        CHECK(is_right(v.s, t, i, n));
    }
    h.api->stream_free(on);
    host_close(&h);
    free_tensors(&v);
}

// Behind a run with outputs in the host's memory comes another: the first one's are not lost.
static void test_outputs_in_turn(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    float s[3][MOST * WIDTH], t[3][MOST];
    for (int i = 0; i < 3; i++) {
        fill(&v, i);
        tcc_tensor in[2] = {host_matrix(v.x, 6, WIDTH), host_matrix(v.y, 6, WIDTH)};
        tcc_tensor out[2] = {host_matrix(s[i], 6, WIDTH), host_vector(t[i], TCC_F32, 6)};
        CHECK_INT(h.api->enqueue(h.session, in, 2, out, 2, on), TCC_OK);
    }
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    for (int i = 0; i < 3; i++) CHECK(is_right(s[i], t[i], i, 6));
    h.api->stream_free(on);
    host_close(&h);
    free_tensors(&v);
}

// An output over an input, and tensors at odd addresses: as kernels cannot use them.
static void test_staged(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    float *odd = managed(MOST * WIDTH + 1);
    for (int i = 0; i < 3; i++) {
        fill(&v, i);
        memcpy((char *)odd + 1, v.y, MOST * WIDTH * sizeof(float));
        tcc_tensor in[2] = {on_device(host_matrix(v.x, 7, WIDTH)),
                            on_device(host_matrix(odd, 7, WIDTH))};
        tcc_tensor out[2] = {on_device(host_matrix(v.x, 7, WIDTH)),
                             on_device(host_vector(v.t, TCC_F32, 7))};
        in[1].byte_offset = 1;
        CHECK_INT(h.api->enqueue(h.session, in, 2, out, 2, on), TCC_OK);
        CHECK_INT(h.api->sync(h.session), TCC_OK);
        CHECK(is_right(v.x, v.t, i, 7));
    }
    h.api->stream_free(on);
    host_close(&h);
    release(odd);
    free_tensors(&v);
}

// run, and runs on one of tcc's own streams, take tensors in the device's memory as well.
static void test_without_a_native_stream(void) {
    Host h;
    tcc_stream *own;
    if (!compile(&h, sums)) return;
    CHECK_INT(h.api->stream_new(h.model, NULL, &own), TCC_OK);
    Tensors v = new_tensors();
    fill(&v, 5);
    CHECK_INT(enqueue(&h, &v, 11, NULL), TCC_OK);
    CHECK(is_right(v.s, v.t, 5, 11));
    fill(&v, 6);
    CHECK_INT(enqueue(&h, &v, 12, own), TCC_OK);
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    CHECK(is_right(v.s, v.t, 6, 12));
    h.api->stream_free(own);
    host_close(&h);
    free_tensors(&v);
}

static void test_nibbles(void) {
    Host h;
    if (!compile(&h, nibbles)) return;
    tcc_stream *on = wrap(&h, stream);
    float *x = managed(5);
    unsigned char *y = (unsigned char *)managed(1);
    for (int i = 0; i < 5; i++) x[i] = (float)(i - 2);
    memset(y, 0xEE, 4);
    tcc_tensor in = on_device(host_vector(x, TCC_F32, 5));
    tcc_tensor out = on_device(host_vector(y, TCC_I4, 5));
    CHECK_INT(h.api->enqueue(h.session, &in, 1, &out, 1, on), TCC_OK);
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    CHECK_INT(y[0], 0xFE);
    CHECK_INT(y[1], 0x10);
    CHECK_INT(y[2], 0x02);
    CHECK_INT(y[3], 0xEE); // behind the last
    h.api->stream_free(on);
    host_close(&h);
    release(x);
    release(y);
}

// An index out of range is told by sync, whatever was enqueued behind it; then all is well again.
static void test_index(void) {
    Host h;
    if (!compile(&h, picks)) return;
    tcc_stream *on = wrap(&h, stream);
    float *x = managed(4), *y = managed(2);
    int64_t *i = (int64_t *)(void *)managed(4);
    for (int k = 0; k < 4; k++) x[k] = (float)k;
    tcc_tensor in[2] = {on_device(host_vector(x, TCC_F32, 4)),
                        on_device(host_vector(i, TCC_I64, 2))};
    tcc_tensor out = on_device(host_vector(y, TCC_F32, 2));
    for (int round = 0; round < 3; round++) {
        i[0] = 9;
        CHECK_INT(h.api->enqueue(h.session, in, 2, &out, 1, on), TCC_OK);
        CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
        i[0] = 3;
        CHECK_INT(h.api->enqueue(h.session, in, 2, &out, 1, on), TCC_OK);
        CHECK_INT(h.api->sync(h.session), TCC_INDEX);
        CHECK(strstr(h.api->session_message(h.session), "index 9 is not in -4..3") != NULL);
        CHECK_INT(h.api->enqueue(h.session, in, 2, &out, 1, on), TCC_OK);
        CHECK_INT(h.api->sync(h.session), TCC_OK);
        CHECK(y[0] == 6 && y[1] == 0);
    }
    h.api->stream_free(on);
    host_close(&h);
    release(x);
    release(y);
    release(i);
}

// ---- what is wrong ------------------------------------------------------------------------------

static void refused(const Host *h, const tcc_tensor *in, const tcc_tensor *out, tcc_stream *on,
                    const char *words) {
    CHECK_INT(h->api->enqueue(h->session, in, 2, out, 2, on), TCC_INVALID);
    if (!CHECK(strstr(h->api->session_message(h->session), words) != NULL))
        printf("    %s\n", h->api->session_message(h->session));
}

static void test_wrong_tensors(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    fill(&v, 1);
    tcc_tensor in[2] = {on_device(host_matrix(v.x, 4, WIDTH)),
                        on_device(host_matrix(v.y, 4, WIDTH))};
    tcc_tensor out[2] = {on_device(host_matrix(v.s, 4, WIDTH)),
                         on_device(host_vector(v.t, TCC_F32, 4))};
    tcc_tensor bad[2] = {in[0], in[1]};
    bad[1].strides[0] = 8;
    bad[1].strides[1] = 1;
    refused(&h, bad, out, on, "input \"y\" is in the device's memory and must be dense");
    bad[1] = in[1];
    bad[1].data = bad;
    refused(&h, bad, out, on, "input \"y\" is in no memory of the device ");
    bad[1].data = NULL;
    refused(&h, bad, out, on, "input \"y\" has no data");
    bad[1] = in[1];
    bad[1].device = 7;
    refused(&h, bad, out, on, "input \"y\": tcc_tensor.device is wrong");
    out[1].data = bad;
    refused(&h, in, out, on, "output \"t\" is in no memory of the device ");
    CHECK_INT(enqueue(&h, &v, 4, on), TCC_OK);
    CHECK_INT(h.api->sync(h.session), TCC_OK);
    CHECK(is_right(v.s, v.t, 1, 4));
    h.api->stream_free(on);
    host_close(&h);
    free_tensors(&v);
}

// A stream that is captured takes no run, before the first and behind others, and the host's
// capture and the session are none the worse for it.
static void test_captured(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    fill(&v, 1);
    for (int runs = 0; runs < 4; runs++)
        for (int mode = 0; mode < 3; mode++) {
            CUgraph graph = NULL;
            CHECK_INT(cuda.cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode),
                      CUDA_SUCCESS);
            CHECK_INT(enqueue(&h, &v, 8, on), TCC_INVALID);
            CHECK(strstr(h.api->session_message(h.session), "captured") != NULL);
            CHECK_INT(cuda.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
            CHECK_INT(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);
            if (mode < 2) continue;
            CHECK_INT(enqueue(&h, &v, 8, on), TCC_OK);
            CHECK_INT(h.api->sync(h.session), TCC_OK);
            CHECK(is_right(v.s, v.t, 1, 8));
        }
    h.api->stream_free(on);
    free_tensors(&v);
    host_close(&h);
}

static void test_wrong_streams(void) {
    Host h, cpu = {0};
    if (!compile(&h, sums)) return;
    tcc_open_options options = {.size = sizeof options, .device = "cpu"};
    tcc_stream_options both = {.size = sizeof both, .native = stream};
    tcc_stream *on = wrap(&h, stream), *none = NULL;
    CHECK_INT(tcc_unit_open(h.unit, &options, &cpu.api, &cpu.model), TCC_OK);
    CHECK_INT(cpu.api->session_new(cpu.model, &cpu.session), TCC_OK);
    Tensors v = new_tensors();
    fill(&v, 1);
    CHECK_INT(cpu.api->stream_new(cpu.model, &both, &none), TCC_INVALID);
    CHECK(none == NULL);
    CHECK_INT(enqueue(&cpu, &v, 4, on), TCC_INVALID);
    CHECK(strstr(cpu.api->session_message(cpu.session), "one of another device") != NULL);
    CHECK_INT(enqueue(&cpu, &v, 4, NULL), TCC_INVALID);
    CHECK(strstr(cpu.api->session_message(cpu.session), "is not in the CPU's memory") != NULL);
    cpu.api->session_free(cpu.session);
    cpu.api->close(cpu.model);
    h.api->stream_free(on);
    host_close(&h);
    free_tensors(&v);
}

// Handles may go in any order, with work under way.
static void test_ends(void) {
    Host h;
    if (!compile(&h, sums)) return;
    tcc_stream *on = wrap(&h, stream);
    Tensors v = new_tensors();
    fill(&v, 2);
    CHECK_INT(enqueue(&h, &v, 9, on), TCC_OK);
    host_close(&h);
    CHECK(is_right(v.s, v.t, 2, 9));
    h.api->stream_free(on);
    free_tensors(&v);
}

// ---- all ----------------------------------------------------------------------------------------

static bool begin(void) {
    bool opened = library_open_driver(test_driver());
    is_late = cuda.emuFindingCount != library_none && getenv("TCC_EMU_STREAMS") == NULL;
    return CHECK(opened) && CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS) &&
           CHECK_INT(cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS) &&
           CHECK_INT(cuda.cuCtxSetCurrent(context), CUDA_SUCCESS) &&
           CHECK_INT(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
}

int main(void) {
    if (!begin()) return test_done();
    RUN(test_asynchronous);
    RUN(test_between_the_hosts_work);
    RUN(test_two_streams);
    RUN(test_mixed);
    RUN(test_outputs_in_turn);
    RUN(test_staged);
    RUN(test_without_a_native_stream);
    RUN(test_nibbles);
    RUN(test_index);
    RUN(test_wrong_tensors);
    RUN(test_captured);
    RUN(test_wrong_streams);
    RUN(test_ends);
    CHECK_INT(cuda.emuFindingCount(), 0);
    CHECK_INT(cuda.emuMemoryBlocks(), 0);
    CHECK_INT(cuda.cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    return test_done();
}
