// 4-bit outputs whose grid points meet in bytes, run by two threads: one takes the even points, the
// other the odd ones, so that every byte on a border is stored to by both.
#include "test.h"

#include "base/guard.h"
#include "codegen/lower/emit.h"
#include "codegen/lower/jit.h"
#include "codegen/tile/tile_tools.h"
#include "ir/tensor.h"

#include <pthread.h>
#include <stdatomic.h>

enum { POINTS = 4096, MOST_ROW = 5, TURNS = 60 };

// A row a point: of one element, and of five under a guard that cuts a register.
static const char *const texts[] = {
    "tile 1\n"
    "kernel @k(%x0: view<global i8 [4096, 1]>, %y0: view<global i4 [4096, 1]> out) placed {\n"
    "  work %i in [4096] {\n"
    "    %0 = load %x0[%i, 0] : tile<i8 []>\n"
    "    %1 = cast i4 %0\n"
    "    store %1, %y0[%i, 0]\n"
    "  }\n"
    "}\n",
    "tile 1\n"
    "kernel @k(%x0: view<global i8 [4096, 5]>, %y0: view<global i4 [4096, 5]> out) placed {\n"
    "  work %i in [4096] {\n"
    "    %0 = load %x0[%i, $0] where 0 <= $0 < 5 : tile<i8 [8] lanes=8>\n"
    "    %1 = cast i4 %0\n"
    "    store %1, %y0[%i, $0] where 0 <= $0 < 5\n"
    "  }\n"
    "}\n",
};
static const int64_t rows[] = {1, MOST_ROW};

typedef struct Work {
    TccKernel *kernel;
    TccKernelArgs *args;
    int64_t first;
    atomic_int *started;
} Work;

// Both go on at the same time, as far as there are two processors.
static void *run_every_other(void *data) {
    const Work *work = data;
    atomic_fetch_add(work->started, 1);
    for (int spin = 0; spin < 1 << 20 && atomic_load(work->started) < 2; spin++) continue;
    for (int64_t point = work->first; point < POINTS; point += 2)
        work->kernel(work->args, point, point + 1);
    return NULL;
}

static void run_in_two(TccKernel *kernel, TccKernelArgs *args) {
    atomic_int started = 0;
    Work work[2] = {{kernel, args, 0, &started}, {kernel, args, 1, &started}};
    pthread_t other;
    bool made = pthread_create(&other, NULL, run_every_other, &work[1]) == 0;
    CHECK(made);
    run_every_other(&work[0]);
    if (made) pthread_join(other, NULL);
}

static void run_text(const char *text, int64_t row, const char *target) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    uint32_t file = diags_add_file(diags, STR("test"), str_from(text));
    TileProgram *program = tile_parse(ctx, arena, diags, file);
    LowerOptions options = {.target = target_find(str_from(target)), .symbol = STR("k")};
    const char *message = NULL;
    Str object, assembly;
    if (!CHECK(program != NULL && options.target != NULL)) return;
    Emitter *emitter = emitter_new(arena, options.target, EMIT_full);
    CHECK_INT(emit_program(emitter, program, &options, EMIT_object, arena, &object, &message), 0);
    CHECK_INT(emit_program(emitter, program, &options, EMIT_assembly, arena, &assembly, &message),
              0);
    emitter_free(emitter);
    // What a race does not always show: the stores are atomic.
    CHECK(strstr(str_terminated(arena, assembly), "lock") != NULL);
    Jit *jit = jit_new(arena, &message);
    TccKernel *kernel = NULL;
    if (CHECK(jit != NULL) && CHECK_INT(jit_add(jit, object, &message), 0))
        kernel = jit_find(jit, "k", &message);
    static int8_t in[POINTS * MOST_ROW];
    static uint8_t out[POINTS * MOST_ROW];
    int64_t count = POINTS * row;
    TccErrorWord error = {0};
    void *buffers[2] = {in, out};
    TccKernelArgs args = {.buffers = buffers, .error = &error};
    for (int turn = 0; turn < TURNS && kernel != NULL; turn++) {
        for (int64_t i = 0; i < count; i++) in[i] = (int8_t)(i * 7 + turn);
        memset(out, turn, sizeof out);
        run_in_two(kernel, &args);
        int64_t wrong = 0;
        for (int64_t i = 0; i < count; i++) wrong += (out[i / 2] >> i % 2 * 4 & 15) != (in[i] & 15);
        CHECK_INT(wrong, 0);
    }
    CHECK(kernel != NULL);
    jit_free(jit);
    ir_context_free(ctx);
    arena_free(arena);
}

static void test_rows(void) {
    for (int i = 0; i < 2; i++) run_text(texts[i], rows[i], "x86-64-v3");
}

int main(void) {
    RUN(test_rows);
    return test_done();
}
