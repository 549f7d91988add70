// Compilations one after the other in one process, with the host's allocator and without: nothing
// is left out there, and the process takes no more memory than it did. Models are small and all
// different; every eighth is refused, every third is also run, some come again. The long form
// makes 10,000 of them.
#include "tests/support/counted_memory.h"
#include "tests/unit/test.h"

#include <malloc.h>
#include <tcc/tcc.h>
#include <unistd.h>

enum { SHORT_COUNT = 200, LONG_COUNT = 10000, COLUMNS = 8 };

// Pages that the process has in memory, in bytes.
static double resident_bytes(void) {
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

// What malloc has handed out and not got back.
static double malloc_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

// ---- models -------------------------------------------------------------------------------------

static const char *const bodies[] = {
    "y = relu(x * %d.0 + v)",
    "y = softmax(x + %d.0) * v",
    "y = x @ w + %d.0",
    "y = (x - mean(x, axis=1, keep=true)) / %d.5 + v",
    "y = select(x > %d.0, x, -x)",
    "y = cum_sum(x, axis=1) - %d.0",
    "s, at = sort(x, axis=1); y = s + tanh(v) * %d.0",
    "y = x + %d.0 + missing", // refused
};
enum { BODIES = sizeof bodies / sizeof *bodies };

static bool is_refused(int number) { return number % BODIES == BODIES - 1; }

static void write_model(int number, char *out, size_t size) {
    char body[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(body, sizeof body, bodies[number % BODIES], number);
#pragma GCC diagnostic pop
    snprintf(out, size,
             "dim N in 1..%d tune 4\n"
             "model m%d(x: f32[N, 8], v: f32[8], w: f32[8, 8]) -> (y: f32[N, 8]) {\n"
             "    %s\n"
             "}\n",
             8 + number % 5, number, body);
}

static void run_unit(tcc_unit *unit) {
    static float x[2 * COLUMNS] = {1, -2, 3}, v[COLUMNS] = {1}, w[COLUMNS * COLUMNS] = {1};
    float y[2 * COLUMNS] = {0};
    tcc_open_options options = {.size = sizeof options, .threads = 1};
    tcc_tensor inputs[] = {
        {.size = sizeof(tcc_tensor), .dtype = TCC_F32, .rank = 2, .data = x, .dims = {2, COLUMNS}},
        {.size = sizeof(tcc_tensor), .dtype = TCC_F32, .rank = 1, .data = v, .dims = {COLUMNS}},
        {.size = sizeof(tcc_tensor),
         .dtype = TCC_F32,
         .rank = 2,
         .data = w,
         .dims = {COLUMNS, COLUMNS}}};
    tcc_tensor output = inputs[0];
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    output.data = y;
    if (!CHECK_INT(tcc_unit_open(unit, &options, &api, &model), TCC_OK)) return;
    CHECK_INT(api->session_new(model, &session), TCC_OK);
    CHECK_INT(api->run(session, inputs, 3, &output, 1), TCC_OK);
    api->session_free(session);
    api->close(model);
}

static void compile_one(tcc_compiler *compiler, int number) {
    char text[512];
    tcc_unit *unit;
    write_model(number, text, sizeof text);
    tcc_status status = tcc_compile_memory(compiler, "m.g", text, strlen(text), &unit);
    if (!CHECK_INT(status, is_refused(number) ? TCC_INVALID : TCC_OK))
        printf("    %s\n", tcc_message(compiler));
    if (status == TCC_OK && number % 3 == 0) run_unit(unit);
    tcc_unit_free(unit);
}

// ---- the process --------------------------------------------------------------------------------

// A compiler of their own; the last models come again, from its cache.
static void compile_some(const tcc_allocator *allocator, int begin, int count) {
    enum { AGAIN = 5 };
    tcc_compiler_options options = {.size = sizeof options, .allocator = allocator};
    tcc_compiler *compiler;
    if (!CHECK_INT(tcc_compiler_new_with(&options, &compiler), TCC_OK)) return;
    CHECK_INT(tcc_set_option(compiler, "threads", "1"), TCC_OK);
    for (int i = begin; i < begin + count - AGAIN; i++) compile_one(compiler, i);
    for (int i = 0; i < AGAIN; i++) compile_one(compiler, begin + count - 2 * AGAIN + i);
    tcc_compiler_free(compiler);
}

typedef struct Sample {
    double resident, malloced;
} Sample;

static Sample take_sample(void) {
    malloc_trim(0);
    return (Sample){resident_bytes(), malloc_bytes()};
}

// LLVM makes some tables once, and the first samples see them grow; from a fifth of the way on the
// line through the samples must not rise by more than what one model takes.
static void check_slope(const Sample *samples, int count) {
    int first = count / 5, last = count - 1;
    double resident = samples[last].resident - samples[first].resident;
    double malloced = samples[last].malloced - samples[first].malloced;
    printf("    from sample %d to %d: resident %+.0f KiB, malloc %+.0f KiB (at the end %.0f and "
           "%.0f KiB)\n",
           first, last, resident / 1024, malloced / 1024, samples[last].resident / 1024,
           samples[last].malloced / 1024);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(malloced < 64 << 10);
    CHECK(resident < 4 << 20);
#endif
}

static void test_many_compilations(void) {
    enum { STEP = 20, SAMPLES = LONG_COUNT / STEP };
    static Sample samples[SAMPLES];
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    int count = test_long() ? LONG_COUNT : SHORT_COUNT;
    for (int i = 0; i < count; i += STEP) {
        compile_some(i / STEP % 2 ? &allocator : NULL, i, STEP);
        CHECK_INT(atomic_load(&memory.blocks), 0);
        CHECK_INT(atomic_load(&memory.bytes), 0);
        samples[i / STEP] = take_sample();
    }
    CHECK_INT(atomic_load(&memory.wrong), 0);
    printf("    %d compilations\n", count);
    check_slope(samples, count / STEP);
}

int main(void) {
    RUN(test_many_compilations);
    return test_done();
}
