// Bytes and operations of tile programs, counted against sums worked out here.
#include "tile_support.h"

static TileCounts count_text(const char *text, const TileDim *dims) {
    TileTest t;
    TileCounts counts = {0};
    tile_open(&t);
    TileProgram *program = tile_read(&t, text);
    if (program) counts = tile_count(program, tile_symbols(&t, dims));
    tile_close(&t);
    return counts;
}

// Guarded elements count once, wherever the tail falls.
static void test_elementwise(void) {
    static const char text[] =
        "tile 1\n"
        "dim N in 0..100000000 tune 1000\n"
        "kernel @add(%x: view<global f32 [N]>, %y: view<global f16 [N]> out) placed {\n"
        "  work %b in [(N + 4095) // 4096] {\n"
        "    for %i in 0..4096 step 8 {\n"
        "      %0 = load %x[4096*%b + %i + $0] where 0 <= 4096*%b + %i + $0 < N\n"
        "          : tile<f32 [8] lanes=8>\n"
        "      %1 = mul %0, %0\n"
        "      %2 = cast f16 %1\n"
        "      store %2, %y[4096*%b + %i + $0] where 0 <= 4096*%b + %i + $0 < N\n"
        "    }\n"
        "  }\n"
        "}\n";
    static const int64_t sizes[] = {0, 1, 7, 8, 4096, 4097, 10000, 99999999};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = sizes[i];
        TileCounts counts = count_text(text, (TileDim[]){{"N", n}, {NULL, 0}});
        CHECK_NEAR(counts.loaded_bytes, 4.0 * (double)n, 1e-6 * (double)n);
        CHECK_NEAR(counts.stored_bytes, 2.0 * (double)n, 1e-6 * (double)n);
        double blocks = ceil((double)n / 4096);
        CHECK_NEAR(counts.operations, 4096.0 * blocks, 1e-6 * (double)n);
    }
}

static void test_dot(void) {
    static const char text[] =
        "tile 1\n"
        "dim K in 0..4096 tune 32\n"
        "dim M in 0..4096 tune 32\n"
        "kernel @dot(%a: view<global f32 [6*M, K]>, %b: view<constant f32 [K, 16]>,\n"
        "            %c: view<global f32 [6*M, 16]> out) placed {\n"
        "  work %m in [M] {\n"
        "    %0 = const 0 : tile<f32 [6, 16] lanes=16>\n"
        "    %5 = for %k in 0..K iter (%1 = %0) {\n"
        "      %2 = load %a[6*%m + $0, %k] : tile<f32 [6]>\n"
        "      %3 = load %b[%k, $0] : tile<f32 [16] lanes=16>\n"
        "      %4 = dot %1, %2, %3\n"
        "      yield %4\n"
        "    }\n"
        "    store %5, %c[6*%m + $0, $1]\n"
        "  }\n"
        "}\n";
    TileCounts counts = count_text(text, (TileDim[]){{"K", 4000}, {"M", 3000}, {NULL, 0}});
    CHECK_NEAR(counts.operations, 2.0 * 18000 * 4000 * 16, 1);
    CHECK_NEAR(counts.loaded_bytes, 4.0 * 3000 * 4000 * 22, 1);
    CHECK_NEAR(counts.stored_bytes, 4.0 * 18000 * 16, 1);
}

// Triangles, borders on both sides, branches, periodic guards.
static void test_shapes_of_loops(void) {
    static const char triangle[] =
        "tile 1\n"
        "dim N in 0..5000 tune 32\n"
        "kernel @k(%x: view<global f32 [N]>, %s: view<global f32 [N]> out) placed {\n"
        "  work %i in [N] {\n"
        "    for %j in 0..%i + 1 {\n"
        "      %0 = load %x[%j] : tile<f32 []>\n"
        "      %1 = add %0, %0\n"
        "    }\n"
        "  }\n"
        "}\n";
    TileCounts counts = count_text(triangle, (TileDim[]){{"N", 5000}, {NULL, 0}});
    CHECK_NEAR(counts.operations, 5000.0 * 5001 / 2, 1e-3);
    static const char borders[] =
        "tile 1\n"
        "dim N in 8..5000 tune 32\n"
        "kernel @k(%x: view<global f32 [N]>, %y: view<global f32 [N]> out) placed {\n"
        "  work %i in [N] {\n"
        "    for %j in 0..7 {\n"
        "      %0 = load %x[%i + %j - 3] where 0 <= %i + %j - 3 < N : tile<f32 []>\n"
        "    }\n"
        "    if 1000 <= %i < 2000 {\n"
        "      %1 = const 1 : tile<f32 []>\n"
        "      store %1, %y[%i]\n"
        "    }\n"
        "  }\n"
        "}\n";
    counts = count_text(borders, (TileDim[]){{"N", 5000}, {NULL, 0}});
    CHECK_NEAR(counts.loaded_bytes, 4.0 * (7 * 5000 - 12), 1e-3);
    CHECK_NEAR(counts.stored_bytes, 4.0 * 1000, 1e-3);
    static const char periodic[] = "tile 1\n"
                                   "kernel @k(%y: view<global f32 [1000]> out) placed {\n"
                                   "  work %i in [1000] {\n"
                                   "    if 0 <= %i % 7 < 3 {\n"
                                   "      %1 = const 1 : tile<f32 []>\n"
                                   "      store %1, %y[%i]\n"
                                   "    }\n"
                                   "  }\n"
                                   "}\n";
    counts = count_text(periodic, NULL);
    CHECK_NEAR(counts.stored_bytes, 4.0 * 429, 4.0 * 43); // probes see it roughly
}

// One element for all of a tile is read once; scratch, combining stores and sorts have their own
// figures.
static void test_figures(void) {
    static const char text[] = "tile 1\n"
                               "kernel @k(%x: view<global f32 [8]>, %y: view<global f32 [8]> out,\n"
                               "          %i: view<global i64 [8]>) placed {\n"
                               "  %s = alloc scratch f32 [64]\n"
                               "  %si = alloc scratch i64 [64]\n"
                               "  %t = alloc scratch f32 [64]\n"
                               "  %ti = alloc scratch i64 [64]\n"
                               "  work {\n"
                               "    %0 = load %x[3] : tile<f32 [8] lanes=8>\n"
                               "    store %0, %s[$0]\n"
                               "    %1 = load %i[$0] : tile<i64 [8] lanes=8>\n"
                               "    %2 = check %1 bound=8\n"
                               "    store %0, %y[%2] combine=add\n"
                               "    sort %s, %si, %t, %ti count=64\n"
                               "    %3 = reduce add %0 axis=0\n"
                               "  }\n"
                               "}\n";
    TileCounts counts = count_text(text, NULL);
    CHECK_NEAR(counts.loaded_bytes, 4 + 64 + 32, 0);
    CHECK_NEAR(counts.stored_bytes, 32, 0);
    CHECK_NEAR(counts.scratch_bytes, 32 + 2 * 64 * 6 * 12, 0);
    CHECK_NEAR(counts.operations, 8 + 64 * 6 + 8, 0);
}

int main(void) {
    RUN(test_elementwise);
    RUN(test_dot);
    RUN(test_shapes_of_loops);
    RUN(test_figures);
    return test_done();
}
