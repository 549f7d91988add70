// Models on the GPU under test through the public interface: the numbers of the CPU, sessions, runs
// again and again.
#include "emulator/driver/emu.h"
#include "tests/support/device.h"
#include "tests/support/host.h"

#include <dlfcn.h>

static const char text[] = "dim N in 1..64 tune 8\n"
                           "model m(x: f32[N, 4], y: f32[N, 4]) -> (s: f32[N, 4], t: f32[N]) {\n"
                           "    w = tensor([1.0, 2.0, 3.0, 4.0])\n"
                           "    s = x * w + y\n"
                           "    t = sum(s, axis=1)\n"
                           "}\n";

enum { MOST = 64, WIDTH = 4 };

typedef struct Tensors {
    float x[MOST * WIDTH], y[MOST * WIDTH], s[MOST * WIDTH], t[MOST];
} Tensors;

static Host h; // compiled once; each test opens models of its unit

static struct {
    uint64_t (*blocks)(void);
    uint64_t (*findings)(void);
} emu;

static bool compile(const char *source) {
    h = (Host){0};
    return CHECK_INT(tcc_compiler_new(&h.compiler), TCC_OK) &&
           CHECK_INT(tcc_set_option(h.compiler, "target", "native,sm_80"), TCC_OK) &&
           CHECK_INT(tcc_compile_memory(h.compiler, "test.g", source, strlen(source), &h.unit),
                     TCC_OK);
}

static tcc_status open_on(const char *device, tcc_model **out_model) {
    tcc_open_options options = {.size = sizeof options, .threads = 1, .device = device};
    return tcc_unit_open(h.unit, &options, &h.api, out_model);
}

static tcc_status run(tcc_session *session, Tensors *v, int64_t n) {
    tcc_tensor in[2] = {host_matrix(v->x, n, WIDTH), host_matrix(v->y, n, WIDTH)};
    tcc_tensor out[2] = {host_matrix(v->s, n, WIDTH), host_vector(v->t, TCC_F32, n)};
    return h.api->run(session, in, 2, out, 2);
}

static void fill(Tensors *v, int seed) {
    memset(v, 0, sizeof *v);
    for (int i = 0; i < MOST * WIDTH; i++) {
        v->x[i] = (float)((i * 7 + seed) % 13) / 4;
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
        if (v->t[i] != sum) return false; // quarters and eighths: exact in any order
    }
    return true;
}

static void test_numbers(void) {
    static const int64_t sizes[] = {8, 8, 8, 8, 1, 64, 64, 64, 7, 8};
    tcc_model *model;
    tcc_session *session;
    Tensors v;
    if (!CHECK_INT(open_on(test_device(), &model), TCC_OK))
        printf("    %s\n", tcc_message(h.compiler));
    CHECK_INT(h.api->session_new(model, &session), TCC_OK);
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        fill(&v, i);
        if (!CHECK_INT(run(session, &v, sizes[i]), TCC_OK))
            printf("    %s\n", h.api->session_message(session));
        CHECK(is_right(&v, sizes[i]));
    }
    h.api->session_free(session);
    h.api->close(model);
    CHECK_INT(emu.findings(), 0);
    CHECK_INT(emu.blocks(), 0);
}

static void count_kernels(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    CHECK(kernel != NULL && *kernel != 0 && threads > 0 && ns < 60000000000u);
    ++*(int *)user;
}

static void test_sessions(void) {
    tcc_model *model;
    tcc_session *sessions[3];
    Tensors v[3];
    int kernels = 0;
    CHECK_INT(open_on(test_device(), &model), TCC_OK);
    for (int i = 0; i < 3; i++) CHECK_INT(h.api->session_new(model, &sessions[i]), TCC_OK);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 3; i++) {
            fill(&v[i], i + 3 * round);
            CHECK_INT(run(sessions[i], &v[i], 5 + i), TCC_OK);
            CHECK(is_right(&v[i], 5 + i));
        }
    h.api->profile(sessions[0], count_kernels, &kernels);
    CHECK_INT(run(sessions[0], &v[0], 5), TCC_OK);
    CHECK(kernels > 0 && is_right(&v[0], 5));
    tcc_run_info info = {.size = sizeof info};
    CHECK_INT(h.api->run_info(sessions[0], &info), TCC_OK);
    CHECK_INT(info.launches, kernels);
    h.api->close(model); // sessions keep it alive
    for (int i = 0; i < 3; i++) h.api->session_free(sessions[i]);
    CHECK_INT(emu.blocks(), 0);
}

// Rows of x that lie 6 apart, and s in columns.
static void test_strides(void) {
    tcc_model *model;
    tcc_session *session;
    Tensors v;
    float wide[8 * 6], columns[8 * WIDTH];
    fill(&v, 1);
    CHECK_INT(open_on(test_device(), &model), TCC_OK);
    CHECK_INT(h.api->session_new(model, &session), TCC_OK);
    for (int i = 0; i < 8; i++) memcpy(wide + i * 6, v.x + i * WIDTH, WIDTH * sizeof(float));
    tcc_tensor in[2] = {host_matrix(wide, 8, WIDTH), host_matrix(v.y, 8, WIDTH)};
    tcc_tensor out[2] = {host_matrix(columns, 8, WIDTH), host_vector(v.t, TCC_F32, 8)};
    in[0].strides[0] = 6;
    in[0].strides[1] = 1;
    out[0].strides[0] = 1;
    out[0].strides[1] = 8;
    CHECK_INT(h.api->run(session, in, 2, out, 2), TCC_OK);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < WIDTH; k++) v.s[i * WIDTH + k] = columns[k * 8 + i];
    CHECK(is_right(&v, 8));
    h.api->session_free(session);
    h.api->close(model);
}

static void test_devices(void) {
    tcc_model *model;
    CHECK_INT(open_on("gpu", &model), TCC_INVALID);
    CHECK(strstr(tcc_message(h.compiler), "there is no device \"gpu\"") != NULL);
    CHECK_INT(open_on("emu:sm_12", &model), TCC_INVALID);
    static const char *const bad[] = {"cuda:x", "cuda:", "cuda:1x", "cuda:-1", "cuda:123456789"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(open_on(bad[i], &model), TCC_INVALID);
        CHECK(strstr(tcc_message(h.compiler), "there is no device \"cuda:") != NULL);
    }
    CHECK_INT(open_on("cpu", &model), TCC_OK);
    h.api->close(model);
    setenv("TCC_CUDA_LIBRARY", "/no/such/library.so", 1);
    CHECK_INT(open_on("cuda", &model), TCC_ENVIRONMENT);
    CHECK(strstr(tcc_message(h.compiler), "could not load /no/such/library.so") != NULL);
    CHECK_INT(open_on("auto", &model), TCC_OK); // on the CPU
    h.api->close(model);
    setenv("TCC_CUDA_LIBRARY", "libm.so.6", 1);
    CHECK_INT(open_on("cuda", &model), TCC_ENVIRONMENT);
    CHECK(strstr(tcc_message(h.compiler), "libm.so.6 has no function cuInit") != NULL);
    setenv("TCC_CUDA_LIBRARY", TCC_EMU_BUILT, 1);
    CHECK_INT(open_on("cuda", &model), TCC_OK);
    h.api->close(model);
    CHECK_INT(open_on("cuda:7", &model), TCC_ENVIRONMENT);
    unsetenv("TCC_CUDA_LIBRARY");
    CHECK_INT(emu.blocks(), 0);
}

static void test_not_compiled_for_it(void) {
    tcc_compiler *compiler;
    tcc_unit *unit;
    tcc_model *model;
    const tcc_model_api *api;
    tcc_open_options options = {.size = sizeof options, .device = test_device()};
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    CHECK_INT(tcc_compile_memory(compiler, "test.g", text, strlen(text), &unit), TCC_OK);
    CHECK_INT(tcc_unit_open(unit, &options, &api, &model), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "was not compiled for a GPU") != NULL);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

static uint64_t nothing(void) { return 0; }

// What only the software GPU tells; another finds nothing, and keeps what it has to itself.
static void find(uint64_t (**out_function)(void), void *library, const char *name) {
    void *address = dlsym(library, name);
    *out_function = nothing;
    if (address != NULL) memcpy(out_function, &address, sizeof address);
}

int main(void) {
    void *library = dlopen(test_driver(), RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(library != NULL) || !compile(text)) return test_done();
    find(&emu.blocks, library, "emuMemoryBlocks");
    find(&emu.findings, library, "emuFindingCount");
    RUN(test_numbers);
    RUN(test_sessions);
    RUN(test_strides);
    RUN(test_devices);
    RUN(test_not_compiled_for_it);
    host_close(&h);
    return test_done();
}
