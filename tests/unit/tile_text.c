// Tile programs as text: what is printed reads back and prints the same.
#include "test.h"

#include "base/arena.h"
#include "codegen/tile/tile_tools.h"

static const char softmax[] =
    "tile 1\n"
    "dim N in 1..8192 tune 512\n"
    "dim R in 1..64 tune 8\n"
    "kernel @softmax(%x: view<global f32 [R, N]>, %y: view<global f32 [R, N]> out) placed {\n"
    "  work %r in [R] {\n"
    "    %0 = const -inf : tile<f32 [16] lanes=16>\n"
    "    %4 = for %c in 0..N step 16 iter (%1 = %0) {\n"
    "      %2 = load %x[%r, %c + $0] where 0 <= %c + $0 < N pad=-inf : tile<f32 [16] lanes=16>\n"
    "      %3 = max %1, %2\n"
    "      yield %3\n"
    "    }\n"
    "    %5 = reduce max %4 axis=0\n"
    "    %6 = move %5 axes=[] : tile<f32 [16] lanes=16>\n"
    "    for %d in 0..N step 16 unroll 4 {\n"
    "      %7 = load %x[%r, %d + $0] where 0 <= %d + $0 < N : tile<f32 [16] lanes=16>\n"
    "      %8 = sub %7, %6\n"
    "      %9 = exp %8\n"
    "      store %9, %y[%r, %d + $0] where 0 <= %d + $0 < N streaming\n"
    "    }\n"
    "  }\n"
    "}\n";

static void print_sink(void *user, const Diag *diag) {
    (void)user;
    printf("%s", diag->rendered);
}

static void check_round_trip(const char *text) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    Diags *diags = diags_new(arena, print_sink, NULL, 0);
    uint32_t file = diags_add_file(diags, STR("test"), str_from(text));
    TileProgram *program = tile_parse(ctx, arena, diags, file);
    if (CHECK(program != NULL)) {
        Buf buf = {.arena = arena};
        tile_print(&buf, program);
        CHECK_STR(buf.data, text);
    }
    ir_context_free(ctx);
    arena_free(arena);
}

static void test_softmax(void) { check_round_trip(softmax); }

int main(void) {
    RUN(test_softmax);
    return test_done();
}
