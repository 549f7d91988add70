// Lowered arithmetic, loops and branches, against the interpreter.
#include "lower_run.h"

static const char *const lane_counts[] = {"8", "16", "32"};

// ---- elementwise ----

static const char chain[] =
    "tile 1\n"
    "dim N in 0..1000 tune 100\n"
    "kernel @chain(%x: view<global ~T [N]>, %w: view<constant ~T [N]>, %y: view<global ~T [N]> "
    "out,\n"
    "              %c: view<global bool [N]> out) placed {\n"
    "  work %i in [(N + 63) // 64] {\n"
    "    %0 = load %x[64*%i + $0] where 0 <= 64*%i + $0 < N : tile<~T [64] lanes=~L>\n"
    "    %1 = load %w[64*%i + $0] where 0 <= 64*%i + $0 < N : tile<~T [64] lanes=~L>\n"
    "    %2 = const 3 : tile<~T [64] lanes=~L>\n"
    "    %3 = mul %0, %1\n"
    "    %4 = add %3, %2\n"
    "    %5 = lt %4, %0\n"
    "    %6 = max %4, %1\n"
    "    %7 = select %5, %6, %0\n"
    "    store %7, %y[64*%i + $0] where 0 <= 64*%i + $0 < N streaming\n"
    "    store %5, %c[64*%i + $0] where 0 <= 64*%i + $0 < N\n"
    "  }\n"
    "}\n";

static void test_chain(void) {
    static const char *const types[] = {"i8",  "u8",  "i16",  "u16",    "i32",    "u32", "i64",
                                        "u64", "f16", "bf16", "f8e4m3", "f8e5m2", "f32", "f64"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        run_case(&(RunCase){.text = chain,
                            .places = {{'T', types[t]}, {'L', lane_counts[t % 3]}},
                            .dims = {{"N", 0}},
                            .sweep_to = 300,
                            .sweep_step = 29,
                            .cpu_only = t % 3 != 2});
}

static const char casts[] =
    "tile 1\n"
    "kernel @casts(%x: view<global ~T [64]>, %y: view<global ~U [64]> out) placed {\n"
    "  work {\n"
    "    %0 = load %x[$0] : tile<~T [64] lanes=~L>\n"
    "    %1 = cast ~U %0\n"
    "    store %1, %y[$0]\n"
    "  }\n"
    "}\n";

static void test_casts(void) {
    static const char *const types[] = {"bool",   "u4",  "i8",   "u16", "i32", "u64",
                                        "f8e4m3", "f16", "bf16", "f32", "f64"};
    enum { COUNT = sizeof types / sizeof *types };
    for (int from = 0; from < COUNT; from++)
        for (int to = from % 2; to < COUNT; to += test_long() ? 1 : 2)
            run_case(&(RunCase){
                .text = casts,
                .places = {{'T', types[from]}, {'U', types[to]}, {'L', to % 2 ? "32" : "16"}},
                .cpu_only = to % 4 != 1});
}

// Too large to be emitted with and without guards: each access decides for itself.
static const char heavy[] =
    "tile 1\n"
    "dim N in 0..1000 tune 100\n"
    "kernel @heavy(%x: view<global ~T [N]>, %y: view<global ~T [N]> out) placed {\n"
    "  work %i in [(N + 63) // 64] {\n"
    "    %0 = load %x[64*%i + $0] where 0 <= 64*%i + $0 < N : tile<~T [64] lanes=16>\n"
    "    %1 = cast f32 %0\n"
    "    %2 = cos %1\n"
    "    %3 = pow %2, %1\n"
    "    %4 = cast ~T %3\n"
    "    store %4, %y[64*%i + $0] where 0 <= 64*%i + $0 < N streaming\n"
    "  }\n"
    "}\n";

static void test_heavy(void) {
    static const char *const types[] = {"f32", "f16", "u8"};
    for (int t = 0; t < 3; t++)
        run_case(&(RunCase){.text = heavy,
                            .places = {{'T', types[t]}},
                            .dims = {{"N", 0}},
                            .sweep_to = 200,
                            .sweep_step = 17,
                            .ulps = 3000,
                            .cpu_only = true});
}

// Index tiles and tests as data, broadcasts along every axis.
static const char indices[] =
    "tile 1\n"
    "dim N in 1..40 tune 10\n"
    "kernel @indices(%a: view<global i64 [N, 4, 32]> out, %b: view<global f32 [N, 4, 32]> out, %x: "
    "view<global f32 [N, 4]>,\n"
    "                %c: view<global f32 [N, 4, 32]> out, %d: view<global f32 [N, 4, 32]> out) "
    "placed {\n"
    "  work %n in [N] {\n"
    "    %0 = index (%n - 7)*($1 - 3) + $0*$0 + ($1 - 9) // 4 + min($1, 5)*max(%n - $0, 2) : "
    "tile<i64 [4, 32] lanes=~L>\n"
    "    store %0, %a[%n, $0, $1]\n"
    "    %1 = index (%n + 3)*1000000000 + $1 // 3 : tile<i64 [4, 32] lanes=~L>\n"
    "    %2 = cast f32 %1\n"
    "    store %2, %b[%n, $0, $1]\n"
    "    %3 = load %x[%n, $0] : tile<f32 [4]>\n"
    "    %4 = move %3 axes=[0] : tile<f32 [4, 32] lanes=~L>\n"
    "    %5 = test 2 <= $1 - $0 < N : tile<bool [4, 32] lanes=~L>\n"
    "    %6 = select %5, %4, %2\n"
    "    store %6, %c[%n, $0, $1]\n"
    "    %7 = index $0 : tile<i64 [32] lanes=~L>\n"
    "    %8 = cast f32 %7\n"
    "    %9 = move %8 axes=[1] : tile<f32 [4, 32] lanes=~L>\n"
    "    %10 = mul %9, %4\n"
    "    store %10, %d[%n, $0, $1]\n"
    "  }\n"
    "}\n";

static void test_indices(void) {
    for (int i = 0; i < 3; i++)
        run_case(&(RunCase){.text = indices,
                            .places = {{'L', lane_counts[i]}},
                            .dims = {{"N", 1}},
                            .sweep_to = 17,
                            .sweep_step = 5,
                            .cpu_only = i != 2});
}

// ---- reductions and scans ----

static const char reductions[] =
    "tile 1\n"
    "dim N in 1..40 tune 10\n"
    "kernel @reductions(%x: view<global ~T [N, 6, 96]>, %a: view<global ~T [N, 6]> out, %b: "
    "view<global ~T [N, 96]> out,\n"
    "                   %c: view<global ~T [N, 4]> out, %d: view<global ~T [N, 6, 8]> out, %e: "
    "view<global ~T [N, 5]> out) placed {\n"
    "  work %n in [N] {\n"
    "    %0 = load %x[%n, $0, $1] : tile<~T [6, 96] lanes=32>\n"
    "    %1 = reduce ~O %0 axis=1\n"
    "    store %1, %a[%n, $0]\n"
    "    %2 = reduce ~O %0 axis=0\n"
    "    store %2, %b[%n, $0]\n"
    "    %3 = load %x[%n, $0, $1] : tile<~T [4, 64] lanes=~L>\n"
    "    %4 = reduce ~O %3 axis=1\n"
    "    store %4, %c[%n, $0]\n"
    "    %5 = load %x[%n, $0, $1] : tile<~T [6, 8]>\n"
    "    %6 = scan ~O %5 axis=0 ~X\n"
    "    store %6, %d[%n, $0, $1]\n"
    "    %7 = load %x[%n, 2, $0] : tile<~T [5]>\n"
    "    %8 = scan ~O %7 axis=0 ~X\n"
    "    store %8, %e[%n, $0]\n"
    "  }\n"
    "}\n";

static void test_reductions(void) {
    static const RunPlace kinds[][3] = {
        {{'T', "f32"}, {'O', "add"}, {'X', ""}},
        {{'T', "f32"}, {'O', "max"}, {'X', "exclusive"}},
        {{'T', "f64"}, {'O', "mul"}, {'X', "reverse"}},
        {{'T', "i32"}, {'O', "add"}, {'X', "exclusive reverse"}},
        {{'T', "f16"}, {'O', "add"}, {'X', "exclusive"}},
        {{'T', "bool"}, {'O', "or"}, {'X', "exclusive"}},
        {{'T', "u8"}, {'O', "min"}, {'X', "exclusive"}},
        {{'T', "i64"}, {'O', "xor"}, {'X', "reverse"}},
        {{'T', "bf16"}, {'O', "min"}, {'X', ""}},
        {{'T', "bool"}, {'O', "and"}, {'X', "exclusive"}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        run_case(
            &(RunCase){.text = reductions,
                       .places = {kinds[i][0], kinds[i][1], kinds[i][2], {'L', lane_counts[i % 3]}},
                       .dims = {{"N", 3}},
                       .cpu_only = i % 3 != 2});
}

// ---- loops and branches ----

// A row: maximum, sum of exponentials, quotient. The loops have tails, unrolled bodies and carried
// tiles.
static const char softmax[] =
    "tile 1\n"
    "dim N in 1..8192 tune 512\n"
    "dim R in 1..64 tune 8\n"
    "kernel @softmax(%x: view<global f32 [R, N]>, %y: view<global f32 [R, N]> out) placed {\n"
    "  %s = alloc scratch f32 [N]\n"
    "  work %r in [R] {\n"
    "    %0 = const -inf : tile<f32 [~E] lanes=~L>\n"
    "    %4 = for %c in 0..N step ~E unroll ~U iter (%1 = %0) {\n"
    "      %2 = load %x[%r, %c + $0] where 0 <= %c + $0 < N pad=-inf : tile<f32 [~E] lanes=~L>\n"
    "      %3 = max %1, %2\n"
    "      yield %3\n"
    "    }\n"
    "    %5 = reduce max %4 axis=0\n"
    "    %6 = move %5 axes=[] : tile<f32 [~E] lanes=~L>\n"
    "    %7 = const 0.0 : tile<f32 [~E] lanes=~L>\n"
    "    %15 = for %d in 0..N step ~E unroll ~U iter (%8 = %7) {\n"
    "      %9 = load %x[%r, %d + $0] where 0 <= %d + $0 < N pad=-inf : tile<f32 [~E] lanes=~L>\n"
    "      %10 = sub %9, %6\n"
    "      %11 = exp %10\n"
    "      store %11, %s[%d + $0] where 0 <= %d + $0 < N\n"
    "      %13 = test 0 <= %d + $0 < N : tile<bool [~E] lanes=~L>\n"
    "      %14 = select %13, %11, %7\n"
    "      %12 = add %8, %14\n"
    "      yield %12\n"
    "    }\n"
    "    %16 = reduce add %15 axis=0\n"
    "    %17 = move %16 axes=[] : tile<f32 [~E] lanes=~L>\n"
    "    for %e in 0..N step ~E unroll 4 {\n"
    "      %18 = load %s[%e + $0] where 0 <= %e + $0 < N : tile<f32 [~E] lanes=~L>\n"
    "      %19 = div %18, %17\n"
    "      store %19, %y[%r, %e + $0] where 0 <= %e + $0 < N streaming\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_softmax(void) {
    static const char *const unrolls[] = {"1", "2", "4"};
    for (int i = 0; i < 3; i++)
        run_case(&(RunCase){
            .text = softmax,
            .places = {{'L', lane_counts[i]}, {'E', i == 0 ? "16" : "32"}, {'U', unrolls[i]}},
            .dims = {{"N", 1}, {"R", 3}},
            .sweep_to = 300,
            .sweep_step = 23,
            .ulps = 16,
            .cpu_only = i != 2});
}

static const char branches[] = "tile 1\n"
                               "dim N in 1..100 tune 10\n"
                               "dim K in 0..100 tune 10\n"
                               "kernel @branches(%x: view<global f32 [N, 16]>, %y: view<global f32 "
                               "[N, 16]> out, %z: view<global i32 [N]> out) placed {\n"
                               "  work %p, %q in [2, (N + 1) // 2] {\n"
                               "    if 0 <= 2*%q + %p < N {\n"
                               "      %0 = load %x[2*%q + %p, $0] : tile<f32 [16] lanes=~L>\n"
                               "      %1 = for %k in 1..K step 3 unroll 2 iter (%2 = %0) {\n"
                               "        %3, %4 = if 0 <= %k - %q < 9 and 2 <= %p + %k < 40 {\n"
                               "          %5 = add %2, %0\n"
                               "          yield %5, %0\n"
                               "        } else {\n"
                               "          %6 = mul %2, %2\n"
                               "          yield %2, %6\n"
                               "        }\n"
                               "        %7 = sub %3, %4\n"
                               "        yield %7\n"
                               "      }\n"
                               "      store %1, %y[2*%q + %p, $0]\n"
                               "      %8 = const 5 : tile<i32 []>\n"
                               "      store %8, %z[2*%q + %p] combine=add\n"
                               "    }\n"
                               "  }\n"
                               "}\n";

static void test_branches(void) {
    for (int64_t k = 0; k < 12; k += 3)
        run_case(&(RunCase){.text = branches,
                            .places = {{'L', "16"}},
                            .dims = {{"N", 1}, {"K", k}},
                            .sweep_to = 40,
                            .sweep_step = 6,
                            .cpu_only = true});
}

// ---- dots ----

static const char matmul[] =
    "tile 1\n"
    "dim M in 1..100 tune 10\n"
    "dim N in 1..100 tune 10\n"
    "dim K in 0..100 tune 10\n"
    "kernel @matmul(%a: view<global ~T [M, K]>, %b: view<global ~T [K, N]>, %c: view<global ~T [M, "
    "N]> out) placed {\n"
    "  work %i, %j in [(M + ~R - 1) // ~R, (N + ~E - 1) // ~E] {\n"
    "    %0 = const 0 : tile<~T [~R, ~E] lanes=~L>\n"
    "    %5 = for %k in 0..K unroll ~U iter (%1 = %0) {\n"
    "      %2 = load %a[~R*%i + $0, %k] where 0 <= ~R*%i + $0 < M : tile<~T [~R]>\n"
    "      %3 = load %b[%k, ~E*%j + $0] where 0 <= ~E*%j + $0 < N : tile<~T [~E] lanes=~L>\n"
    "      %4 = dot %1, %2, %3\n"
    "      yield %4\n"
    "    }\n"
    "    store %5, %c[~R*%i + $0, ~E*%j + $1] where 0 <= ~R*%i + $0 < M and 0 <= ~E*%j + $1 < N\n"
    "  }\n"
    "}\n";

static void test_matmul(void) {
    static const RunPlace kinds[][5] = {
        {{'T', "f32"}, {'R', "6"}, {'E', "16"}, {'L', "16"}, {'U', "4"}},
        {{'T', "f32"}, {'R', "4"}, {'E', "24"}, {'L', "8"}, {'U', "1"}},
        {{'T', "f64"}, {'R', "6"}, {'E', "8"}, {'L', "8"}, {'U', "2"}},
        {{'T', "i32"}, {'R', "4"}, {'E', "32"}, {'L', "32"}, {'U', "1"}},
        {{'T', "f32"}, {'R', "4"}, {'E', "64"}, {'L', "32"}, {'U', "4"}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        run_case(
            &(RunCase){.text = matmul,
                       .places = {kinds[i][0], kinds[i][1], kinds[i][2], kinds[i][3], kinds[i][4]},
                       .dims = {{"M", 1}, {"N", 37 + (int64_t)i}, {"K", 5 * (int64_t)i}},
                       .sweep_to = 20,
                       .sweep_step = 4,
                       .cpu_only = kinds[i][3].text[0] != '3'});
}

// ---- sort, random ----

static const char sorts[] =
    "tile 1\n"
    "dim N in 0..200 tune 10\n"
    "kernel @sorts(%x: view<global ~T [2, N]>, %y: view<global ~T [2, N]> out, %o: view<global i64 "
    "[2, N]> out) placed {\n"
    "  %k = alloc scratch ~T [N]\n"
    "  %s = alloc scratch i64 [N]\n"
    "  %kk = alloc scratch ~T [N]\n"
    "  %ss = alloc scratch i64 [N]\n"
    "  work %r in [2] {\n"
    "    for %i in 0..N {\n"
    "      %0 = load %x[%r, %i] : tile<~T []>\n"
    "      store %0, %k[%i]\n"
    "      %1 = index %i : tile<i64 []>\n"
    "      store %1, %s[%i]\n"
    "    }\n"
    "    sort %k, %s, %kk, %ss count=N ~D\n"
    "    for %j in 0..N step ~L {\n"
    "      %2 = load %k[%j + $0] where 0 <= %j + $0 < N : tile<~T [~L] lanes=~L>\n"
    "      store %2, %y[%r, %j + $0] where 0 <= %j + $0 < N\n"
    "      %3 = load %s[%j + $0] where 0 <= %j + $0 < N : tile<i64 [~L] lanes=~L>\n"
    "      store %3, %o[%r, %j + $0] where 0 <= %j + $0 < N\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_sorts(void) {
    static const char *const types[] = {"f32", "u8", "f16", "i64", "bool", "f8e5m2", "f64", "i8"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int down = 0; down < 2; down++)
            run_case(&(RunCase){.text = sorts,
                                .places = {{'T', types[t]},
                                           {'L', down ? "32" : "16"},
                                           {'D', down ? "descending" : ""}},
                                .dims = {{"N", 0}},
                                .sweep_to = 160,
                                .sweep_step = 13,
                                .cpu_only = !down || t > 2});
}

static const char randoms[] =
    "tile 1\n"
    "dim N in 1..200 tune 10\n"
    "kernel @randoms(%k: view<global u64 []>, %y: view<global u32 [N]> out) placed {\n"
    "  work %i in [(N + 31) // 32] {\n"
    "    %0 = load %k[] : tile<u64 []>\n"
    "    %1 = index 32*%i + $0 + 17179869180 : tile<i64 [32] lanes=~L>\n"
    "    %2 = random %0, %1 stream=~S\n"
    "    store %2, %y[32*%i + $0] where 0 <= 32*%i + $0 < N\n"
    "  }\n"
    "}\n";

static void test_randoms(void) {
    for (int i = 0; i < 3; i++)
        run_case(&(RunCase){.text = randoms,
                            .places = {{'L', lane_counts[i]}, {'S', i ? "-5" : "3"}},
                            .dims = {{"N", 90}},
                            .cpu_only = i != 2});
}

int main(void) {
    RUN(test_chain);
    RUN(test_casts);
    RUN(test_heavy);
    RUN(test_indices);
    RUN(test_reductions);
    RUN(test_softmax);
    RUN(test_branches);
    RUN(test_matmul);
    RUN(test_sorts);
    RUN(test_randoms);
    if (!run_ptxas()) printf("skipped: ptxas is not installed, PTX was emitted only\n");
    return test_done();
}
