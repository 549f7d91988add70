// Lowered loads and stores: every dtype, tails of every size, every way in which subscripts can
// depend on the lane, guards, gathers and scatters, 4-bit values.
#include "lower_run.h"

static const char *const dtypes[] = {"bool",   "i4",  "u4",   "i8",  "u8",  "i16",
                                     "u16",    "i32", "u32",  "i64", "u64", "f8e4m3",
                                     "f8e5m2", "f16", "bf16", "f32", "f64"};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

// Each size in memory once, the two that are no bytes, and all in the long form.
static int next_dtype(int t) {
    static const bool in_short[DTYPES] = {
        [0] = true, [1] = true, [4] = true, [9] = true, [13] = true, [15] = true};
    for (t++; t < DTYPES && !test_long() && !in_short[t];) t++;
    return t;
}

// Grid points must not share a byte, so programs whose points store odd numbers of elements leave
// them out.
static bool is_nibble(int t) { return dtypes[t][1] == '4' && dtypes[t][2] == 0; }

static const char *const lane_counts[] = {"8", "16", "32"};

static const char copy_tail[] =
    "tile 1\n"
    "dim N in 0..1000 tune 100\n"
    "kernel @copy(%x: view<global ~T [N]>, %y: view<global ~T [N]> out) placed {\n"
    "  work %i in [(N + 31) // 32] {\n"
    "    %0 = load %x[32*%i + $0] where 0 <= 32*%i + $0 < N : tile<~T [32] lanes=~L>\n"
    "    store %0, %y[32*%i + $0] where 0 <= 32*%i + $0 < N\n"
    "  }\n"
    "}\n";

static void test_tails(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        run_case(&(RunCase){.text = copy_tail,
                            .places = {{'T', dtypes[t]}, {'L', lane_counts[t % 3]}},
                            .dims = {{"N", 0}},
                            .sweep_to = 170,
                            .sweep_step = t % 2 ? 3 : 1,
                            .cpu_only = t % 3 != 2});
}

// A whole tile of whole registers, guarded rows, one scalar register.
static const char rows[] =
    "tile 1\n"
    "dim N in 1..100 tune 10\n"
    "kernel @rows(%x: view<global ~T [N, 64]>, %y: view<global ~T [64, N]> out,\n"
    "             %z: view<global ~T [N, 64]> out) placed {\n"
    "  work %i in [(N + 2) // 3] {\n"
    "    %0 = load %x[3*%i + $0, $1] where 0 <= 3*%i + $0 < N : tile<~T [3, 64] lanes=~L>\n"
    "    store %0, %z[3*%i + $0, $1] where 0 <= 3*%i + $0 < N ~S\n"
    "    store %0, %y[$1, 3*%i + $0] where 0 <= 3*%i + $0 < N\n"
    "  }\n"
    "}\n";

static void test_rows(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        run_case(&(RunCase){.text = rows,
                            .places = {{'T', dtypes[t]},
                                       {'L', lane_counts[t % 3]},
                                       {'S', t % 2 ? "streaming" : ""}},
                            .dims = {{"N", 1 + t % 7}},
                            .cpu_only = t % 3 != 2});
}

// Columns, strides, reversed, constant, a reshape that cancels and ones that do not.
static const char ways[] =
    "tile 1\n"
    "dim N in 1..40 tune 10\n"
    "dim M in 1..40 tune 10\n"
    "kernel @ways(%x: view<global ~T [M, N]>, %a: view<global ~T [N, M]> out, %b: view<global ~T "
    "[N*M]> out,\n"
    "   %c: view<global ~T [M, N]> out, %d: view<global ~T [M, N]> out, %e: view<global ~T [N*M + "
    "7]> out,\n"
    "   %f: view<global ~T [M*N]> out) placed {\n"
    "  work %n in [N] {\n"
    "    for %m in 0..M step ~L {\n"
    "      %0 = load %x[%m + $0, %n] where 0 <= %m + $0 < M : tile<~T [~L] lanes=~L>\n"
    "      store %0, %a[%n, %m + $0] where 0 <= %m + $0 < M\n"
    "      %1 = load %x[M - 1 - %m - $0, %n] where 0 <= %m + $0 < M : tile<~T [~L] lanes=~L>\n"
    "      store %1, %b[%n*M + %m + $0] where 0 <= %m + $0 < M\n"
    "      %2 = load %x[%m, %n] : tile<~T [~L] lanes=~L>\n"
    "      store %2, %c[%m + $0, N - 1 - %n] where 0 <= %m + $0 < M\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_ways(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        if (!is_nibble(t))
            run_case(&(RunCase){.text = ways,
                                .places = {{'T', dtypes[t]}, {'L', lane_counts[(t + 1) % 3]}},
                                .dims = {{"N", 1 + t}, {"M", 3 + 2 * t}},
                                .cpu_only = (t + 1) % 3 != 2});
}

static const char reshapes[] =
    "tile 1\n"
    "dim N in 1..40 tune 10\n"
    "kernel @reshapes(%x: view<global ~T [N, 6, 5]>, %a: view<global ~T [N*30]> out,\n"
    "                 %b: view<global ~T [N*30]> out, %c: view<global ~T [N, 5, 6]> out) placed {\n"
    "  work %i in [(30*N + 31) // 32] {\n"
    "    %0 = load %x[(32*%i + $0) // 30, (32*%i + $0) // 5 % 6, (32*%i + $0) % 5]\n"
    "      where 0 <= 32*%i + $0 < 30*N : tile<~T [32] lanes=~L>\n"
    "    store %0, %a[32*%i + $0] where 0 <= 32*%i + $0 < 30*N\n"
    "    %1 = load %x[(32*%i + $0) // 30, (32*%i + $0) % 6, (32*%i + $0) // 6 % 5]\n"
    "      where 0 <= 32*%i + $0 < 30*N : tile<~T [32] lanes=~L>\n"
    "    store %1, %b[32*%i + $0] where 0 <= 32*%i + $0 < 30*N\n"
    "    store %1, %c[(32*%i + $0) // 30, (32*%i + $0) % 5, (32*%i + $0) // 5 % 6]\n"
    "      where 0 <= 32*%i + $0 < 30*N\n"
    "  }\n"
    "}\n";

static void test_reshapes(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        if (!is_nibble(t))
            run_case(&(RunCase){.text = reshapes,
                                .places = {{'T', dtypes[t]}, {'L', lane_counts[t % 3]}},
                                .dims = {{"N", 1 + t % 6}},
                                .cpu_only = t % 3 != 2});
}

// Padding on both sides, and two guards of which one is of the row.
static const char padded[] =
    "tile 1\n"
    "dim N in 1..100 tune 10\n"
    "dim H in 1..100 tune 10\n"
    "kernel @padded(%x: view<global ~T [H, N]>, %y: view<global ~T [H + 4, N + 6]> out) placed {\n"
    "  work %h in [H + 4] {\n"
    "    for %c in 0..N + 6 step ~L {\n"
    "      %0 = load %x[%h - 2, %c + $0 - 3] where 0 <= %h - 2 < H and 0 <= %c + $0 - 3 < N\n"
    "        pad=~P : tile<~T [~L] lanes=~L>\n"
    "      store %0, %y[%h, %c + $0] where 0 <= %c + $0 < N + 6\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_padded(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        if (!is_nibble(t))
            run_case(&(RunCase){
                .text = padded,
                .places = {{'T', dtypes[t]}, {'L', lane_counts[t % 3]}, {'P', t == 0 ? "1" : "7"}},
                .dims = {{"N", 1}, {"H", 1 + t % 4}},
                .sweep_to = 40,
                .sweep_step = 3,
                .cpu_only = t % 3 != 2});
}

// An interval of lanes cut on both sides by the same guard, and a guard that is no interval.
static const char odd_guards[] =
    "tile 1\n"
    "dim A in 0..100 tune 10\n"
    "dim B in 0..100 tune 10\n"
    "kernel @odd(%x: view<global ~T [100]>, %y: view<global ~T [100]> out, %z: view<global bool "
    "[100]> out) placed {\n"
    "  work %i in [3] {\n"
    "    %0 = load %x[32*%i + $0] where A <= 32*%i + $0 < B : tile<~T [32] lanes=~L>\n"
    "    store %0, %y[32*%i + $0] where 0 <= (32*%i + $0) % 3 < 2\n"
    "    %1 = load %x[32*%i + $0] where 0 <= ($0 + A) % 5 < 3 and A <= 3*$0 < B pad=5 : tile<~T "
    "[32] lanes=~L>\n"
    "    store %1, %y[32*%i + $0] where 1 <= (32*%i + $0) % 3 < 3 and 0 <= $0 - A < 100\n"
    "    %2 = test A <= 32*%i + $0 < B and 0 <= B - 2*$0 < 50 : tile<bool [32] lanes=~L>\n"
    "    store %2, %z[32*%i + $0]\n"
    "  }\n"
    "}\n";

static void test_odd_guards(void) {
    for (int t = 1; t < DTYPES; t = next_dtype(t))
        run_case(&(RunCase){.text = odd_guards,
                            .places = {{'T', dtypes[t]}, {'L', lane_counts[t % 3]}},
                            .dims = {{"A", t}, {"B", 5 * t}},
                            .cpu_only = t % 3 != 2});
}

// Rows by an index of rank 0, elements by an index tile, and its errors.
static const char gathers[] =
    "tile 1\n"
    "dim N in 1..40 tune 10\n"
    "dim V in ~V..40 tune 10\n"
    "kernel @gathers(%x: view<global ~T [V, 64]>, %i: view<global i64 [N]>, %r: view<global ~T [N, "
    "64]> out,\n"
    "                %e: view<global ~T [N, 64]> out) placed {\n"
    "  work %n in [N] {\n"
    "    %0 = load %i[%n] : tile<i64 []>\n"
    "    %1 = check %0 bound=V\n"
    "    %2 = load %x[%1, $0] where 0 <= 0 < V : tile<~T [64] lanes=~L>\n"
    "    store %2, %r[%n, $0]\n"
    "    for %c in 0..N step ~L {\n"
    "      %3 = load %i[%c + $0] where 0 <= %c + $0 < N : tile<i64 [~L] lanes=~L>\n"
    "      %4 = check %3 bound=V where 0 <= %c + $0 < N\n"
    "      %5 = load %x[%4, %n] where 0 <= %c + $0 < N and 0 <= 0 < V : tile<~T [~L] lanes=~L>\n"
    "      store %5, %e[%c + $0, %n] where 0 <= %c + $0 < N\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_gathers(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t)) {
        if (is_nibble(t)) continue;
        for (int bad = 0; bad < 3; bad++)
            run_case(&(RunCase){.text = gathers,
                                .places = {{'T', dtypes[t]},
                                           {'L', lane_counts[t % 3]},
                                           {'V', bad == 2 ? "0" : "1"}},
                                .dims = {{"N", 7 + t}, {"V", bad == 2 ? 0 : 5}},
                                .index_limit = bad == 1 ? 9 : 5,
                                .index_error = bad > 0,
                                .cpu_only = t % 3 != 2 || bad});
    }
}

// In index order: later ones win or add up.
static const char scatters[] =
    "tile 1\n"
    "dim N in 1..400 tune 10\n"
    "kernel @scatters(%u: view<global ~T [N]>, %i: view<global i64 [N]>, %y: view<global ~T [9]> "
    "out,\n"
    "                 %z: view<global ~T [9]> out, %q: view<global ~T [N]> out) placed {\n"
    "  work %w in [1] {\n"
    "    for %n in 0..N step ~L {\n"
    "      %0 = load %u[%n + $0] where 0 <= %n + $0 < N : tile<~T [~L] lanes=~L>\n"
    "      %1 = load %i[%n + $0] where 0 <= %n + $0 < N : tile<i64 [~L] lanes=~L>\n"
    "      %2 = check %1 bound=9 where 0 <= %n + $0 < N\n"
    "      store %0, %y[%2] where 0 <= %n + $0 < N\n"
    "      store %0, %z[%2] where 0 <= %n + $0 < N combine=~O\n"
    "      store %0, %q[%n + $0] where 0 <= %n + $0 < N combine=~O\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_scatters(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        if (!is_nibble(t))
            run_case(&(RunCase){.text = scatters,
                                .places = {{'T', dtypes[t]},
                                           {'L', lane_counts[t % 3]},
                                           {'O', t == 0  ? "max"
                                                 : t % 2 ? "add"
                                                         : "min"}},
                                .dims = {{"N", 1 + 11 * t}},
                                .index_limit = 9,
                                .cpu_only = t % 3 != 2});
}

// Blocks whose columns are rows in memory, whole and cut.
static const char transposed[] =
    "tile 1\n"
    "dim N in 1..100 tune 10\n"
    "dim M in 1..100 tune 10\n"
    "kernel @transposed(%x: view<global ~T [M, N]>, %y: view<global ~T [N, M]> out) placed {\n"
    "  work %i, %j in [(N + ~R - 1) // ~R, (M + ~E - 1) // ~E] {\n"
    "    %0 = load %x[~E*%j + $1, ~R*%i + $0] where 0 <= ~E*%j + $1 < M and 0 <= ~R*%i + $0 < N\n"
    "      : tile<~T [~R, ~E] lanes=~L>\n"
    "    store %0, %y[~R*%i + $0, ~E*%j + $1] where 0 <= ~E*%j + $1 < M and 0 <= ~R*%i + $0 < N\n"
    "  }\n"
    "}\n";

static void test_transposed(void) {
    static const RunPlace shapes[][3] = {{{'R', "16"}, {'E', "16"}, {'L', "16"}},
                                         {{'R', "4"}, {'E', "32"}, {'L', "8"}},
                                         {{'R', "8"}, {'E', "64"}, {'L', "32"}}};
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        if (!is_nibble(t))
            run_case(&(RunCase){
                .text = transposed,
                .places = {{'T', dtypes[t]}, shapes[t % 3][0], shapes[t % 3][1], shapes[t % 3][2]},
                .dims = {{"N", 1}, {"M", 67}},
                .sweep_to = 50,
                .sweep_step = 7,
                .cpu_only = true});
}

// Scratch, read back along other axes.
static const char scratch[] = "tile 1\n"
                              "dim N in 1..40 tune 10\n"
                              "kernel @scratch(%x: view<global ~T [N, 16, 32]>, %y: view<global ~T "
                              "[N, 32, 16]> out) placed {\n"
                              "  %s = alloc scratch ~T [16, 32]\n"
                              "  %t = alloc scratch ~T [N]\n"
                              "  work %n in [N] {\n"
                              "    %0 = load %x[%n, $0, $1] : tile<~T [16, 32] lanes=32>\n"
                              "    store %0, %s[$0, $1]\n"
                              "    for %r in 0..32 {\n"
                              "      %1 = load %s[$0, %r] : tile<~T [16]>\n"
                              "      store %1, %y[%n, %r, $0]\n"
                              "      store %1, %t[0]\n"
                              "    }\n"
                              "  }\n"
                              "}\n";

static void test_scratch(void) {
    for (int t = 0; t < DTYPES; t = next_dtype(t))
        run_case(
            &(RunCase){.text = scratch, .places = {{'T', dtypes[t]}}, .dims = {{"N", 1 + t % 3}}});
}

static const char nibbles[] =
    "tile 1\n"
    "dim N in 1..100 tune 10\n"
    "dim M in 1..100 tune 10\n"
    "kernel @nibbles(%x: view<global ~T [N, M]>, %y: view<global ~T [M, N]> out, %z: view<global "
    "~T [N, M]> out,\n"
    "   %w: view<global ~T [N, 32]> out) placed {\n"
    "  work %i in [1] {\n"
    "    for %n in 0..N {\n"
    "      for %m in 0..M step ~L unroll 2 {\n"
    "        %0 = load %x[%n, %m + $0] where 0 <= %m + $0 < M pad=3 : tile<~T [~L] lanes=~L>\n"
    "        store %0, %z[%n, %m + $0] where 0 <= %m + $0 < M\n"
    "        store %0, %y[%m + $0, %n] where 0 <= %m + $0 < M\n"
    "        %1 = load %x[%n, M - 1 - $0] where 0 <= M - 1 - $0 < M : tile<~T [32] lanes=~L>\n"
    "        store %1, %w[%n, $0]\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_nibbles(void) {
    for (int t = 1; t < 3; t++)
        for (int i = 0; i < 3; i++)
            run_case(&(RunCase){.text = nibbles,
                                .places = {{'T', dtypes[t]}, {'L', lane_counts[i]}},
                                .dims = {{"N", 1}, {"M", 10 * i + 7}},
                                .sweep_to = 50,
                                .sweep_step = 9,
                                .cpu_only = i != 2});
}

int main(void) {
    RUN(test_tails);
    RUN(test_rows);
    RUN(test_ways);
    RUN(test_reshapes);
    RUN(test_padded);
    RUN(test_odd_guards);
    RUN(test_gathers);
    RUN(test_scatters);
    RUN(test_transposed);
    RUN(test_scratch);
    RUN(test_nibbles);
    if (!run_ptxas()) printf("skipped: ptxas is not installed, PTX was emitted only\n");
    return test_done();
}
