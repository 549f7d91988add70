// 4-bit elements on the software GPU: rows of an odd number, so that threads meet in bytes; between
// kernels and as outputs; over dims that shrink and grow. The half byte behind the last is zero,
// and no atomic operation is on memory that nobody cleared.
#include "emulator/driver/emu.h"
#include "tests/support/host.h"

#include <dlfcn.h>

// At -O0 each op is a kernel, so that `a` and its turned rows lie in the arena.
static const char text[] = "dim N in 1..64 tune 8\n"
                           "model m(x: f32[N, 5]) -> (a: i4[N, 5], b: u4[N, 3]) {\n"
                           "    a = i4(x)[:, ::-1]\n"
                           "    b = u4(x[:, 1:4] + 8.0)\n"
                           "}\n";

enum { MOST = 64, WIDTH = 5, PART = 3 };

static Host h;
static float x[MOST * WIDTH];
static uint8_t a[MOST * WIDTH], b[MOST * PART];

static int nibble(const uint8_t *bytes, int64_t i) { return bytes[i / 2] >> i % 2 * 4 & 15; }

static tcc_tensor packed(uint8_t *data, tcc_dtype dtype, int64_t rows, int64_t columns) {
    tcc_tensor t = host_vector(data, dtype, rows);
    t.rank = 2;
    t.dims[1] = columns;
    return t;
}

static void check_values(int64_t n) {
    int wrong = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < WIDTH; k++)
            wrong += nibble(a, i * WIDTH + WIDTH - 1 - k) != ((int)x[i * WIDTH + k] & 15);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < PART; k++)
            wrong += nibble(b, i * PART + k) != ((int)x[i * WIDTH + k + 1] + 8);
    if (n % 2) wrong += nibble(a, n * WIDTH) != 0 || nibble(b, n * PART) != 0;
    if (!CHECK_INT(wrong, 0)) printf("    N = %d\n", (int)n);
}

static void test_runs(void) {
    static const int64_t sizes[] = {7, 7, 7, 64, 63, 63, 1, 9, 8, 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = sizes[i];
        for (int64_t k = 0; k < n * WIDTH; k++) x[k] = (float)((k * 5 + (int64_t)i) % 16 - 8);
        memset(a, 0xA5, sizeof a);
        memset(b, 0xA5, sizeof b);
        tcc_tensor in = host_matrix(x, n, WIDTH);
        tcc_tensor out[2] = {packed(a, TCC_I4, n, WIDTH), packed(b, TCC_U4, n, PART)};
        if (!CHECK_INT(h.api->run(h.session, &in, 1, out, 2), TCC_OK))
            printf("    %s\n", h.api->session_message(h.session));
        check_values(n);
        CHECK(a[(n * WIDTH + 1) / 2] == 0xA5 && b[(n * PART + 1) / 2] == 0xA5);
    }
}

static void test_nothing_was_found(void) {
    uint64_t (*count)(void);
    void *library = dlopen(TCC_EMU_BUILT, RTLD_NOW | RTLD_LOCAL);
    void *address = library != NULL ? dlsym(library, "emuFindingCount") : NULL;
    if (!CHECK(address != NULL)) return;
    memcpy(&count, &address, sizeof count);
    CHECK_INT(count(), 0);
}

static bool compile(const char *level) {
    tcc_open_options options = {.size = sizeof options, .threads = 1, .device = "emu"};
    h = (Host){0};
    return CHECK_INT(tcc_compiler_new(&h.compiler), TCC_OK) &&
           CHECK_INT(tcc_set_option(h.compiler, "target", "native,sm_80"), TCC_OK) &&
           CHECK_INT(tcc_set_option(h.compiler, "O", level), TCC_OK) &&
           CHECK_INT(tcc_compile_memory(h.compiler, "test.g", text, strlen(text), &h.unit),
                     TCC_OK) &&
           host_start(&h, &options);
}

int main(void) {
    for (int level = 0; level <= 2; level += 2) {
        if (compile(level == 0 ? "0" : "2")) RUN(test_runs);
        host_close(&h);
    }
    RUN(test_nothing_was_found);
    return test_done();
}
