// Every function of the driver that the runtime calls (runtime/cuda_symbols.def), each of its calls
// made to fail once: the failure is told in words that say what could not be done and how the
// driver calls it, nothing is left behind, and the next time all is well. And the device that is
// lost at each of them: the CPU goes on, and once the model is closed the device is there again.
#include "tests/emulator/library.h"
#include "tests/support/host.h"

enum { MOST = 64, WIDTH = 4, ILLEGAL_ADDRESS = 700 };

static const char text[] = "dim N in 1..64 tune 8\n"
                           "model m(x: f32[N, 4], y: f32[N, 4]) -> (s: f32[N, 4], t: f32[N],\n"
                           "                                        q: i4[N]) {\n"
                           "    w = tensor([1.0, 2.0, 3.0, 4.0])\n"
                           "    s = x * w + y\n"
                           "    t = sum(s, axis=1)\n"
                           "    q = cast(x[:, 0], i4)\n"
                           "}\n";

static tcc_compiler *compiler;
static tcc_unit *unit;
static const tcc_model_api *api;
static char message[2048]; // of the last life that failed

// ---- what a host does ---------------------------------------------------------------------------

typedef struct Tensors {
    float x[MOST * WIDTH], y[MOST * WIDTH], s[MOST * WIDTH], t[MOST];
    unsigned char q[MOST / 2];
} Tensors;

static void fill(Tensors *v, int seed) {
    memset(v, 0, sizeof *v);
    for (int i = 0; i < MOST * WIDTH; i++) {
        v->x[i] = (float)((i * 7 + seed) % 5);
        v->y[i] = (float)((i * 5 + seed) % 11) / 8;
    }
}

static bool is_right(const Tensors *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < WIDTH; k++) {
            float want = v->x[i * WIDTH + k] * (float)(k + 1) + v->y[i * WIDTH + k];
            if (v->s[i * WIDTH + k] != want) return false;
            sum += want;
        }
        if (v->t[i] != sum) return false; // eighths: exact in any order
        int nibble = v->q[i / 2] >> (i % 2 * 4) & 15;
        if (nibble != (int)v->x[i * WIDTH]) return false;
    }
    return true;
}

static void bind(Tensors *v, int64_t n, int32_t device, tcc_tensor *in, tcc_tensor *out) {
    in[0] = host_matrix(v->x, n, WIDTH);
    in[1] = host_matrix(v->y, n, WIDTH);
    out[0] = host_matrix(v->s, n, WIDTH);
    out[1] = host_vector(v->t, TCC_F32, n);
    out[2] = host_vector(v->q, TCC_I4, n);
    in[0].device = in[1].device = out[0].device = out[1].device = out[2].device = device;
}

static tcc_status run(tcc_session *session, Tensors *v, int64_t n) {
    tcc_tensor in[2], out[3];
    bind(v, n, TCC_CPU, in, out);
    return api->run(session, in, 2, out, 3);
}

static void on_kernel(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    (void)user, (void)kernel, (void)ns, (void)threads;
}

// Tensors in the host's memory: the first run, one that is recorded, one that is launched again,
// other dims, and a run with its kernels timed.
static tcc_status runs(tcc_session *session) {
    static const int64_t sizes[] = {8, 8, 8, 9, 9};
    tcc_status status = TCC_OK;
    for (int i = 0; i < 5 && status == TCC_OK; i++) {
        Tensors v;
        fill(&v, i);
        api->profile(session, i == 4 ? on_kernel : NULL, NULL);
        status = run(session, &v, sizes[i]);
        if (status == TCC_OK) CHECK(is_right(&v, sizes[i]));
    }
    api->profile(session, NULL, NULL);
    return status;
}

// Memory that both sides see, and streams: what the host has of the device.
static Tensors *shared;
static CUstream native[2];

static tcc_status put_on_streams(tcc_session *session, tcc_stream *const *streams) {
    tcc_tensor in[2], out[3];
    tcc_status status = TCC_OK;
    fill(shared, 1);
    bind(shared, 8, TCC_CUDA, in, out);
    for (int i = 0; i < 3 && status == TCC_OK; i++)
        status = api->enqueue(session, in, 2, out, 3, streams[i % 2]);
    tcc_status end = api->sync(session);
    if (status == TCC_OK) status = end;
    if (status == TCC_OK) CHECK(is_right(shared, 8));
    return status;
}

static tcc_status streams(tcc_model *model, tcc_session *session) {
    tcc_stream *both[2] = {NULL, NULL};
    tcc_status status = TCC_OK;
    for (int i = 0; i < 2 && status == TCC_OK; i++) {
        tcc_stream_options options = {.size = sizeof options, .native = native[i]};
        status = api->stream_new(model, &options, &both[i]);
    }
    if (status == TCC_OK) status = put_on_streams(session, both);
    for (int i = 0; i < 2; i++) api->stream_free(both[i]);
    return status;
}

static tcc_status open_on(const char *device, tcc_model **out_model) {
    tcc_open_options options = {.size = sizeof options, .threads = 1, .device = device};
    const tcc_model_api *opened;
    tcc_status status = tcc_unit_open(unit, &options, &opened, out_model);
    if (status == TCC_OK) api = opened; // of all models of the unit
    return status;
}

// All that a host does with a model on the device; what failed is in `message`.
static tcc_status whole_life(void) {
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    tcc_status status = open_on("emu", &model);
    if (status != TCC_OK) snprintf(message, sizeof message, "%s", tcc_message(compiler));
    if (status != TCC_OK) return status;
    CHECK_INT(api->session_new(model, &session), TCC_OK);
    status = runs(session);
    if (status == TCC_OK && shared != NULL) status = streams(model, session);
    if (status != TCC_OK) snprintf(message, sizeof message, "%s", api->session_message(session));
    api->session_free(session);
    api->close(model);
    return status;
}

// What `tcc devices` asks.
static tcc_status list_devices(void) {
    tcc_device_info info = {.size = sizeof info};
    for (uint32_t i = 0; tcc_device_at(i, &info) == TCC_OK; i++)
        if (strcmp(info.device, "emu") == 0) {
            snprintf(message, sizeof message, "%s", info.text);
            return info.usable ? TCC_OK : TCC_ENVIRONMENT;
        }
    return TCC_INTERNAL;
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct Row {
    const char *name, *symbol, *words;
} Row;

static const Row rows[] = {
#define SYMBOL(name, symbol, words, parameters) {#name, symbol, words},
#include "runtime/cuda_symbols.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_among(const char *name, const char *const *names) {
    while (*names != NULL && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

// They give something back, so their failure leaves that behind and is nothing that a host could do
// anything about.
static const char *const releases[] = {
    "context_release", "context_pop",   "module_unload", "release",      "host_release",
    "stream_destroy",  "event_destroy", "graph_destroy", "exec_destroy", NULL};

// Fails when something is used, which is told, and when everything is given back, which is not.
static const char *const either[] = {"context_push", "stream_sync", NULL};

// They describe other failures.
static const char *const describe[] = {"error_name", "error_string", NULL};

// What no model of today needs: more shared memory than a block has without asking for it.
static const char *const unneeded[] = {"function_set", NULL};

// How a function fails whose own failure would spoil the context, which test_lost is about, or has
// another meaning: that a tensor is not the device's.
static const char other_error[] = "OPERATING_SYSTEM", other_number[] = "304";

// What the driver calls the error of a function that fails (emulator/driver/functions.def).
static const char *error_of(const char *symbol) {
    const char *error = "?";
#define FUNCTION(name, row, body, since, need, failure, parameters, arguments)                     \
    if (strcmp(#row, symbol) == 0) error = #failure;
#include "emulator/driver/functions.def"
    bool other =
        strcmp(error, "LAUNCH_FAILED") == 0 || strcmp(symbol, "cuPointerGetAttribute") == 0;
    return other ? other_error : error;
}

static void check_told(const Row *row, tcc_status status) {
    char words[128], error[64];
    bool memory = strcmp(error_of(row->symbol), "OUT_OF_MEMORY") == 0;
    snprintf(words, sizeof words, "could not %s", row->words);
    snprintf(error, sizeof error, "(CUDA_ERROR_%s)", error_of(row->symbol));
    bool told = CHECK_INT(status, memory ? TCC_MEMORY : TCC_ENVIRONMENT);
    told = told && CHECK(strstr(message, words) != NULL) && CHECK(strstr(message, error) != NULL);
    if (!told) printf("    %s: %s\n", row->symbol, message);
}

// One call of a function fails in a life of the host; false when the life has no such call.
static bool fail_call(const Row *row, long number, tcc_status (*life)(void)) {
    char fault[96];
    uint64_t blocks = cuda.emuMemoryBlocks(), handles = cuda.emuHandles();
    bool other = error_of(row->symbol) == other_error;
    snprintf(fault, sizeof fault, "%s:%ld%s%s", row->symbol, number, other ? ":" : "",
             other ? other_number : "");
    CHECK_INT(cuda.emuFail(fault), 0);
    tcc_status status = life();
    bool happened = cuda.emuFailures() > 0;
    CHECK_INT(cuda.emuFail(NULL), 0);
    if (!happened) {
        CHECK_INT(status, TCC_OK);
        return false;
    }
    if (is_among(row->name, releases)) {
        CHECK_INT(status, TCC_OK);
        return true;
    }
    if (is_among(row->name, either) && status == TCC_OK) return true;
    check_told(row, status);
    bool clean = CHECK_INT(cuda.emuMemoryBlocks(), blocks) && CHECK_INT(cuda.emuHandles(), handles);
    if (!clean) printf("    %s, call %ld\n", row->symbol, number);
    return true;
}

static long fail_each_call(const Row *row, tcc_status (*life)(void)) {
    long number = 1;
    while (number < 200 && fail_call(row, number, life)) {
        if (!CHECK_INT(life(), TCC_OK)) printf("    after %s: %s\n", row->symbol, message);
        number++;
    }
    return number - 1;
}

static bool begin_host(void) {
    CUcontext context;
    CUdeviceptr memory = 0;
    if (!CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS) ||
        !CHECK_INT(cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS) ||
        !CHECK_INT(cuda.cuCtxSetCurrent(context), CUDA_SUCCESS))
        return false;
    for (int i = 0; i < 2; i++)
        CHECK_INT(cuda.cuStreamCreate(&native[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAllocManaged(&memory, sizeof(Tensors), CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    shared = (Tensors *)(uintptr_t)memory;
    return memory != 0;
}

static void end_host(void) {
    cuda.cuMemFree_v2((CUdeviceptr)(uintptr_t)shared);
    for (int i = 0; i < 2; i++) cuda.cuStreamDestroy_v2(native[i]);
    cuda.cuCtxSetCurrent(NULL);
    cuda.cuDevicePrimaryCtxRelease_v2(0);
    shared = NULL;
}

static void test_each_call(void) {
    long calls = 0;
    if (!begin_host()) return;
    CHECK_INT(whole_life(), TCC_OK);
    for (int r = 0; r < ROWS; r++) {
        if (is_among(rows[r].name, describe)) continue;
        long found = fail_each_call(&rows[r], whole_life) + fail_each_call(&rows[r], list_devices);
        if (!is_among(rows[r].name, unneeded) && !CHECK(found > 0))
            printf("    %s is never called\n", rows[r].symbol);
        calls += found;
    }
    end_host();
    printf("    %ld calls of %d functions\n", calls, ROWS);
}

// A failure that the driver cannot name or describe is told all the same.
static void test_without_words(void) {
    CHECK_INT(cuda.emuFail("cuModuleLoadDataEx:1,cuGetErrorName:1,cuGetErrorString:1"), 0);
    CHECK_INT(whole_life(), TCC_MEMORY);
    CHECK(strstr(message, "could not load the kernels: unknown error (?)") != NULL);
    CHECK_INT(cuda.emuFailures(), 3);
    CHECK_INT(cuda.emuFail(NULL), 0);
    CHECK_INT(whole_life(), TCC_OK);
}

// Memory runs out, in every call that takes some: of the device, pinned, of the driver itself.
static void test_out_of_memory(void) {
    int hit = 0;
    uint64_t blocks = cuda.emuMemoryBlocks();
    for (long n = 1; n < 100; n++) {
        char fault[32];
        snprintf(fault, sizeof fault, "*:%ld:2", n);
        CHECK_INT(cuda.emuFail(fault), 0);
        tcc_status status = whole_life();
        CHECK(status == TCC_OK || status == TCC_MEMORY);
        if (status == TCC_MEMORY) CHECK(strstr(message, "out of memory") != NULL);
        hit += status == TCC_MEMORY;
        bool happened = cuda.emuFailures() > 0;
        CHECK_INT(cuda.emuFail(NULL), 0);
        if (status != TCC_OK) CHECK_INT(cuda.emuMemoryBlocks(), blocks);
        blocks = cuda.emuMemoryBlocks(); // with what a free that failed has left
        CHECK_INT(whole_life(), TCC_OK);
        if (!happened) break;
    }
    CHECK(hit > 20);
}

// ---- a device that is lost ----------------------------------------------------------------------

// When it fails, the context is held for ever.
static const char *const keeps[] = {"context_release", NULL};

static bool cpu_goes_on(tcc_session *cpu) {
    Tensors v;
    fill(&v, 3);
    return run(cpu, &v, 12) == TCC_OK && is_right(&v, 12);
}

// At the first call of a function the context is spoiled: every later call of any says so too,
// until the context is gone.
static void lose_at(const Row *row, tcc_session *cpu) {
    char fault[96];
    snprintf(fault, sizeof fault, "%s:1:%d", row->symbol, ILLEGAL_ADDRESS);
    CHECK_INT(cuda.emuFail(fault), 0);
    tcc_status status = whole_life();
    bool happened = cuda.emuFailures() > 0;
    CHECK_INT(cuda.emuFail(NULL), 0);
    if (happened && status != TCC_OK) {
        CHECK_INT(status, TCC_ENVIRONMENT);
        if (!CHECK(strstr(message, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL))
            printf("    %s: %s\n", row->symbol, message);
    }
    if (!CHECK(cpu_goes_on(cpu))) printf("    the CPU after %s\n", row->symbol);
    if (!CHECK_INT(whole_life(), TCC_OK)) printf("    after %s: %s\n", row->symbol, message);
    CHECK_INT(cuda.emuMemoryBlocks(), 0);
}

static void test_lost(void) {
    tcc_model *model = NULL;
    tcc_session *cpu = NULL;
    CHECK_INT(open_on("cpu", &model), TCC_OK);
    CHECK_INT(api->session_new(model, &cpu), TCC_OK);
    for (int r = 0; r < ROWS; r++)
        if (!is_among(rows[r].name, describe) && !is_among(rows[r].name, keeps))
            lose_at(&rows[r], cpu);
    api->session_free(cpu);
    api->close(model);
}

// Every run on a lost device says so, as long as the model is open.
static void test_stays_lost(void) {
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    Tensors v;
    fill(&v, 1);
    CHECK_INT(open_on("emu", &model), TCC_OK);
    CHECK_INT(api->session_new(model, &session), TCC_OK);
    CHECK_INT(run(session, &v, 8), TCC_OK);
    CHECK_INT(cuda.emuFail("cuStreamSynchronize:1:700"), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(run(session, &v, 8), TCC_ENVIRONMENT);
        CHECK(strstr(api->session_message(session), "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL);
    }
    api->session_free(session);
    api->close(model);
    CHECK_INT(cuda.emuFail(NULL), 0);
    CHECK_INT(whole_life(), TCC_OK);
}

int main(void) {
    if (!library_open() || !CHECK_INT(tcc_compiler_new(&compiler), TCC_OK) ||
        !CHECK_INT(tcc_set_option(compiler, "target", "native,sm_80"), TCC_OK) ||
        !CHECK_INT(tcc_compile_memory(compiler, "test.g", text, strlen(text), &unit), TCC_OK))
        return test_done();
    RUN(test_without_words);
    RUN(test_lost);
    RUN(test_stays_lost);
    RUN(test_each_call);
    RUN(test_out_of_memory);
    CHECK_INT(cuda.emuFindingCount(), 0);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    return test_done();
}
