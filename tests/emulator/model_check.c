// tcc_unit_check_on on the software GPU: what it says of right models, of a device that lies, of
// indices out of range, and when calls of the driver fail.
#include "emulator/driver/emu.h"
#include "tests/support/host.h"

#include <dlfcn.h>
#include <unistd.h>

static const char text[] = "dim N in 1..64 tune 8\n"
                           "model m(x: f32[N, 4], i: i32[N]) -> (y: f32[N, 4], z: f32[N]) {\n"
                           "    y = gather(x * 3.0, i)\n"
                           "    z = sum(y, axis=1)\n"
                           "}\n";

enum { ROWS = 7, WIDTH = 4 };

static struct {
    int (*fail)(const char *failure);
    uint64_t (*blocks)(void);
    uint64_t (*findings)(void);
} emu;

static Host h;
static float x[ROWS * WIDTH];
static int32_t rows[ROWS];

typedef struct Seen {
    int results, wrong, errors;
} Seen;

static void note(void *user, const tcc_check_result *result) {
    Seen *seen = user;
    seen->results++;
    seen->wrong += !result->agrees;
    seen->errors += result->error != NULL;
}

static tcc_status check_on(const char *device, int32_t first_row, Seen *seen) {
    tcc_tensor in[2] = {host_matrix(x, ROWS, WIDTH), host_vector(rows, TCC_I32, ROWS)};
    for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)(i * 5 % 9) / 4;
    for (int i = 0; i < ROWS; i++) rows[i] = i * 3 % ROWS;
    rows[0] = first_row;
    *seen = (Seen){0};
    return tcc_unit_check_on(h.unit, device, in, 2, note, seen);
}

static void test_right(void) {
    Seen seen, cpu;
    CHECK_INT(check_on(NULL, 1, &cpu), TCC_OK);
    if (!CHECK_INT(check_on("emu", 1, &seen), TCC_OK)) printf("    %s\n", tcc_message(h.compiler));
    CHECK(seen.results > 2 && seen.results == cpu.results && seen.wrong == 0);
    CHECK_INT(check_on("cpu", 1, &seen), TCC_OK);
    CHECK_INT(emu.findings(), 0);
    CHECK_INT(emu.blocks(), 0);
}

// Both the kernel and the run say so.
static void test_index(void) {
    Seen seen;
    if (!CHECK_INT(check_on("emu", ROWS, &seen), TCC_OK))
        printf("    %s\n", tcc_message(h.compiler));
    CHECK(seen.errors > 0 && seen.wrong == 0);
}

static void test_devices(void) {
    Seen seen;
    CHECK_INT(check_on("gpu", 1, &seen), TCC_INVALID);
    CHECK(strstr(tcc_message(h.compiler), "there is no device \"gpu\"") != NULL);
    setenv("TCC_CUDA_LIBRARY", "/no/such/library.so", 1);
    CHECK_INT(check_on("cuda", 1, &seen), TCC_ENVIRONMENT);
    CHECK_INT(check_on("auto", 1, &seen), TCC_OK); // on the CPU
    unsetenv("TCC_CUDA_LIBRARY");
    CHECK_INT(seen.wrong, 0);
}

static void test_lies(void) {
    static const struct {
        const char *when, *words;
        bool wrong; // results
    } lies[] = {{"kernels", "differs from the evaluator", true},
                {"odd", "gives other bits when its buffers are not aligned", false},
                {"runs", "of a run has other bits than its kernels one by one", false}};
    Seen seen;
    setenv("TCC_CUDA_LIBRARY", TCC_LIAR_BUILT, 1);
    CHECK_INT(check_on("cuda", 1, &seen), TCC_OK);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        setenv("LIAR", lies[i].when, 1);
        CHECK_INT(check_on("cuda", 1, &seen), TCC_MISMATCH);
        if (!CHECK(strstr(tcc_message(h.compiler), lies[i].words) != NULL))
            printf("    %s: %s\n", lies[i].when, tcc_message(h.compiler));
        CHECK_INT(seen.wrong > 0, lies[i].wrong);
    }
    unsetenv("LIAR");
    unsetenv("TCC_CUDA_LIBRARY");
    CHECK_INT(emu.blocks(), 0);
}

// Each call fails once: told, and nothing left behind. The last ones give memory back.
static void test_each_call_fails(void) {
    int told = 0, silent = 0, n = 1;
    for (; n < 1000 && silent < 20; n++) {
        Seen seen;
        char fault[32];
        snprintf(fault, sizeof fault, "*:%d", n);
        CHECK_INT(emu.fail(fault), 0);
        tcc_status status = check_on("emu", 1, &seen);
        CHECK_INT(emu.fail(NULL), 0);
        if (status != TCC_OK) CHECK(strlen(tcc_message(h.compiler)) > 10);
        CHECK(status == TCC_OK || status == TCC_MEMORY || status == TCC_ENVIRONMENT);
        told += status != TCC_OK;
        silent = status == TCC_OK ? silent + 1 : 0;
    }
    printf("    %d calls, of which %d were told\n", n - 1, told);
    CHECK(told > 40);
}

static bool find(void *out_pointer, void *library, const char *name) {
    void *address = dlsym(library, name);
    memcpy(out_pointer, &address, sizeof address);
    return CHECK(address != NULL);
}

static bool compile(void) {
    return CHECK_INT(tcc_compiler_new(&h.compiler), TCC_OK) &&
           CHECK_INT(tcc_set_option(h.compiler, "target", "native,sm_80"), TCC_OK) &&
           CHECK_INT(tcc_compile_memory(h.compiler, "test.g", text, strlen(text), &h.unit), TCC_OK);
}

int main(void) {
    void *library = dlopen(TCC_EMU_BUILT, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(library != NULL) || !find(&emu.fail, library, "emuFail") ||
        !find(&emu.blocks, library, "emuMemoryBlocks") ||
        !find(&emu.findings, library, "emuFindingCount") || !compile())
        return test_done();
    RUN(test_right);
    RUN(test_index);
    RUN(test_devices);
    RUN(test_lies);
    RUN(test_each_call_fails);
    host_close(&h);
    return test_done();
}
