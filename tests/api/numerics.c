// docs/numerics.md on compiled code, bit by bit: the order in which sums are taken, written here a
// second time as plain loops, and what happens at the edges.
#include "tests/api/model_run.h"

enum { LANES = 16 };

// ---- reductions ---------------------------------------------------------------------------------

// Halves of x[0 .. n): element i takes in element i + n/2.
static float fold_halves(float *x, int n) {
    for (n /= 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++) x[i] += x[i + n];
    return x[0];
}

// `rows` rows of `count` elements, `step` apart, into the same 16 sums.
static float sum_interleaved(const float *x, int64_t rows, int64_t step, int64_t count) {
    float sums[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < count; i++) sums[i % LANES] += x[r * step + i];
    return fold_halves(sums, LANES);
}

static void test_rows(void) {
    static const char text[] = "model m(x: f32[5, 1000]) -> (y: f32[5]) { y = sum(x, axis=1) }\n";
    for (int level = 0; level < LEVELS; level++) {
        Run r;
        if (!run_text(&r, text, levels[level], 0)) return;
        for (int i = 0; i < 5; i++)
            check_bits(&r, 0, i, sum_interleaved(in_f32(&r, 0) + 1000 * i, 1, 0, 1000));
        run_close(&r);
    }
}

static void test_rows_of_any_length(void) {
    static const int64_t lengths[] = {0, 1, 7, 15, 16, 17, 48, 64, 65, 777};
    static const char text[] = "dim T in 0..1000 tune 100\n"
                               "model m(x: f32[3, T]) -> (y: f32[3]) { y = sum(x, axis=1) }\n";
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        Run r;
        int64_t n = lengths[k];
        if (!run_text(&r, text, "2", n)) return;
        for (int i = 0; i < 3; i++)
            check_bits(&r, 0, i, sum_interleaved(in_f32(&r, 0) + n * i, 1, 0, n));
        run_close(&r);
    }
}

// One block of the next multiple of 16. 48 is no power of two.
static float sum_block(const float *x, int count) {
    float block[64] = {0};
    int size = (count + LANES - 1) / LANES * LANES;
    memcpy(block, x, (size_t)count * sizeof *x);
    if (size != 48) return fold_halves(block, size);
    for (int i = 1; i < size; i++) block[0] += block[i];
    return block[0];
}

static void test_short_rows(void) {
    static const int lengths[] = {2, 7, 16, 17, 32, 33, 48, 49, 64};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        Run r;
        char text[200];
        int n = lengths[k];
        snprintf(text, sizeof text,
                 "model m(x: f32[3, %d]) -> (y: f32[3]) { y = sum(x, axis=1) }\n", n);
        if (!run_text(&r, text, "2", 0)) return;
        for (int i = 0; i < 3; i++) check_bits(&r, 0, i, sum_block(in_f32(&r, 0) + n * i, n));
        run_close(&r);
    }
}

static void test_two_axes(void) {
    Run r;
    static const char text[] = "model m(x: f32[3, 5, 50]) -> (y: f32[5]) {\n"
                               "    y = sum(x, axis=[0, 2])\n"
                               "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    for (int i = 0; i < 5; i++)
        check_bits(&r, 0, i, sum_interleaved(in_f32(&r, 0) + 50 * i, 3, 5 * 50, 50));
    run_close(&r);
}

static void test_columns(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[37, 21], z: f32[4, 9, 3, 5]) -> (y: f32[21], u: f32[9, 5]) {\n"
        "    y = sum(x, axis=0)\n"
        "    u = sum(z, axis=[0, 2])\n"
        "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    for (int j = 0; j < 21; j++) {
        float want = 0;
        for (int i = 0; i < 37; i++) want += in_f32(&r, 0)[21 * i + j];
        check_bits(&r, 0, j, want);
    }
    for (int j = 0; j < 9 * 5; j++) {
        float want = 0;
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 3; c++)
                want += in_f32(&r, 1)[((a * 9 + j / 5) * 3 + c) * 5 + j % 5];
        check_bits(&r, 1, j, want);
    }
    run_close(&r);
}

enum { BLOCK = 64 }; // steps of a sum that are added up by themselves

// `count` elements `step` apart, in blocks.
static float sum_in_blocks(const float *x, int64_t count, int64_t step) {
    float total = 0, block = 0;
    for (int64_t i = 0; i < count; i++) {
        block += x[i * step];
        if (i % BLOCK != BLOCK - 1 && i + 1 != count) continue;
        total += block;
        block = 0;
    }
    return total;
}

// The same of a row: a step is 16 elements, and what is left over goes to the totals.
static float sum_row_in_blocks(const float *x, int64_t count) {
    float totals[LANES];
    int64_t whole = count / LANES * LANES;
    for (int64_t j = 0; j < LANES; j++) {
        totals[j] = sum_in_blocks(x + j, whole / LANES, LANES);
        if (whole + j < count) totals[j] += x[whole + j];
    }
    return fold_halves(totals, LANES);
}

static void test_long_sums(void) {
    Run r;
    static const char text[] = "model m(x: f32[300, 7], r: f32[2, 3000], z: f32[70, 3, 90, 5]) -> "
                               "(y: f32[7], u: f32[2], v: f32[3, 5]) {\n"
                               "    y = sum(x, axis=0)\n"
                               "    u = sum(r, axis=1)\n"
                               "    v = sum(z, axis=[0, 2])\n"
                               "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    for (int j = 0; j < 7; j++) check_bits(&r, 0, j, sum_in_blocks(in_f32(&r, 0) + j, 300, 7));
    for (int i = 0; i < 2; i++)
        check_bits(&r, 1, i, sum_row_in_blocks(in_f32(&r, 1) + 3000 * i, 3000));
    for (int j = 0; j < 3 * 5; j++) {
        float inner[70];
        for (int a = 0; a < 70; a++)
            inner[a] = sum_in_blocks(in_f32(&r, 2) + (a * 3 + j / 5) * 90 * 5 + j % 5, 90, 5);
        check_bits(&r, 2, j, sum_in_blocks(inner, 70, 1));
    }
    run_close(&r);
}

// Equal numbers are rounded the same way step after step: a plain sum of so many is far off.
static void test_sums_of_equal_numbers(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[5000, 3], y: f32[2, 80000]) -> (u: f32[3], v: f32[2]) {\n"
        "    u = sum(x, axis=0)\n"
        "    v = sum(y, axis=1)\n"
        "}\n";
    if (!run_open(&r, text, "2", 1, 0)) return;
    for (int i = 0; i < 15000; i++) ((float *)r.in[0].data)[i] = 0.1F;
    for (int i = 0; i < 160000; i++) ((float *)r.in[1].data)[i] = 0.1F;
    CHECK_INT(run_now(&r), TCC_OK);
    double x = (double)0.1F;
    for (int i = 0; i < 3; i++)
        CHECK_NEAR((double)out_f32(&r, 0)[i], 5000 * x, (4 + 2 * sqrt(5000)) * 0x1p-24 * 5000 * x);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR((double)out_f32(&r, 1)[i], 80000 * x,
                   (4 + 2 * sqrt(80000)) * 0x1p-24 * 80000 * x);
    run_close(&r);
}

static void test_sums_of_f64(void) {
    Run r;
    static const char text[] =
        "model m(x: f64[3, 100], w: f64[100, 2]) -> (y: f32[3], z: f32[3, 2]) {\n"
        "    y = sum(x, axis=1, dtype=f32)\n"
        "    z = matmul(x, w, dtype=f32)\n"
        "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    const double *x = r.in[0].data, *w = r.in[1].data;
    for (int i = 0; i < 3; i++) {
        double sums[3] = {0};
        for (int k = 0; k < 100; k++) {
            sums[0] += x[100 * i + k];
            for (int j = 0; j < 2; j++) sums[1 + j] += x[100 * i + k] * w[2 * k + j];
        }
        check_bits(&r, 0, i, (float)sums[0]);
        for (int j = 0; j < 2; j++) check_bits(&r, 1, 2 * i + j, (float)sums[1 + j]);
    }
    run_close(&r);
}

// ---- products -----------------------------------------------------------------------------------

// Σ a·b with fused multiply-adds, in blocks.
static float chain_products(const float *a, const float *b, int64_t b_step, int64_t count) {
    float total = 0, block = 0;
    for (int64_t k = 0; k < count; k++) {
        block = fmaf(a[k], b[k * b_step], block);
        if (k % BLOCK != BLOCK - 1 && k + 1 != count) continue;
        total += block;
        block = 0;
    }
    return total;
}

static void test_contractions(void) {
    static const char text[] = "model m(x: f32[7, 100], w: f32[100, 33]) -> (y: f32[7, 33]) {\n"
                               "    y = x @ w\n"
                               "}\n";
    for (int level = 0; level < LEVELS; level++) {
        Run r;
        if (!run_text(&r, text, levels[level], 0)) return;
        const float *x = in_f32(&r, 0), *w = in_f32(&r, 1);
        for (int i = 0; i < 7 * 33; i++) {
            check_bits(&r, 0, i, chain_products(x + 100 * (i / 33), w + i % 33, 33, 100));
        }
        run_close(&r);
    }
}

// A matrix by a vector is one contraction at -O0, and rows of rounded products above.
static void test_matrix_by_vector(void) {
    static const char text[] =
        "model m(x: f32[7, 100], v: f32[100]) -> (y: f32[7]) { y = einsum(\"mk,k->m\", x, v) }\n";
    for (int level = 0; level < LEVELS; level++) {
        Run r;
        if (!run_text(&r, text, levels[level], 0)) return;
        for (int i = 0; i < 7; i++) {
            float products[100];
            const float *x = in_f32(&r, 0) + 100 * i, *v = in_f32(&r, 1);
            for (int k = 0; k < 100; k++) products[k] = x[k] * v[k];
            float chain = chain_products(x, v, 1, 100);
            check_bits(&r, 0, i, level == 0 ? chain : sum_interleaved(products, 1, 0, 100));
        }
        run_close(&r);
    }
}

// x[channels, 6, 6] with w[outputs, channels, 3, 3] and padding of 1.
typedef struct Conv {
    const float *x, *w;
    int channels;
} Conv;

static float conv_at(const Conv *c, int output, int row, int column) {
    float sum = 0;
    for (int tap = 0; tap < 9; tap++) {
        int y = row + tap / 3 - 1, x = column + tap % 3 - 1;
        if (y < 0 || y >= 6 || x < 0 || x >= 6) continue;
        for (int k = 0; k < c->channels; k++) {
            float a = c->x[(k * 6 + y) * 6 + x], b = c->w[(output * c->channels + k) * 9 + tap];
            sum = fmaf(a, b, sum);
        }
    }
    return sum;
}

static void check_conv(int outputs) {
    Run r;
    char text[300];
    snprintf(text, sizeof text,
             "model m(x: f32[1, 5, 6, 6], w: f32[%d, 5, 3, 3]) -> (y: f32[1, %d, 6, 6]) {\n"
             "    y = conv(x, w, lo=1, hi=1)\n"
             "}\n",
             outputs, outputs);
    if (!run_text(&r, text, "2", 0)) return;
    Conv c = {in_f32(&r, 0), in_f32(&r, 1), 5};
    for (int i = 0; i < outputs * 36; i++)
        check_bits(&r, 0, i, conv_at(&c, i / 36, i / 6 % 6, i % 6));
    run_close(&r);
}

static void test_convolutions(void) {
    check_conv(8);
    check_conv(24);
    check_conv(4);
}

// ---- windows, running sums, scatter -------------------------------------------------------------

static void test_windows(void) {
    Run r;
    static const char text[] = "model m(x: f32[1, 1, 9, 9]) -> (y: f32[1, 1, 7, 7]) {\n"
                               "    y = window_sum(x, [1, 1, 3, 3])\n"
                               "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    for (int i = 0; i < 49; i++) {
        float want = 0;
        for (int tap = 0; tap < 9; tap++)
            want += in_f32(&r, 0)[9 * (i / 7 + tap / 3) + i % 7 + tap % 3];
        check_bits(&r, 0, i, want);
    }
    run_close(&r);
}

static void test_running_sums(void) {
    Run r;
    static const char text[] = "model m(x: f32[50]) -> (y: f32[50], z: f32[50]) {\n"
                               "    y = cum_sum(x, axis=0)\n"
                               "    z = cum_sum(x, axis=0, reverse=true)\n"
                               "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    float up = 0, down = 0;
    for (int i = 0; i < 50; i++) {
        up += in_f32(&r, 0)[i];
        down += in_f32(&r, 0)[49 - i];
        check_bits(&r, 0, i, up);
        check_bits(&r, 1, 49 - i, down);
    }
    run_close(&r);
}

static void test_scatter(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[7, 3], i: i64[40], u: f32[40, 3]) -> (a: f32[7, 3], s: f32[7, 3]) {\n"
        "    a = scatter_add(x, i, u)\n"
        "    s = scatter_set(x, i, u)\n"
        "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    float add[21], set[21];
    const int64_t *index = r.in[1].data;
    memcpy(add, in_f32(&r, 0), sizeof add);
    memcpy(set, in_f32(&r, 0), sizeof set);
    for (int k = 0; k < 40 * 3; k++) {
        add[3 * index[k / 3] + k % 3] += in_f32(&r, 2)[k];
        set[3 * index[k / 3] + k % 3] = in_f32(&r, 2)[k];
    }
    CHECK_MEM(out_f32(&r, 0), add, sizeof add);
    CHECK_MEM(out_f32(&r, 1), set, sizeof set);
    run_close(&r);
}

// ---- threads ------------------------------------------------------------------------------------

static void test_threads(void) {
    static const int32_t threads[] = {1, 2, 7};
    static const char text[] =
        "model m(x: f32[256, 700], w: f32[700, 64]) -> (y: f32[256, 700], z: f32[256, 64]) {\n"
        "    y = softmax(x) * sum(x, axis=-1, keep=true)\n"
        "    z = tanh(x @ w)\n"
        "}\n";
    Run runs[3];
    for (int k = 0; k < 3; k++) {
        if (!run_open(&runs[k], text, "2", threads[k], 0)) return;
        CHECK_INT(run_now(&runs[k]), TCC_OK);
        CHECK_MEM(out_f32(&runs[k], 0), out_f32(&runs[0], 0), 256 * 700 * sizeof(float));
        CHECK_MEM(out_f32(&runs[k], 1), out_f32(&runs[0], 1), 256 * 64 * sizeof(float));
    }
    for (int k = 0; k < 3; k++) run_close(&runs[k]);
}

// ---- edges --------------------------------------------------------------------------------------

// The text run on these elements of its inputs.
static bool run_given(Run *r, const char *text, const void *first, const void *second) {
    const void *given[] = {first, second};
    static const size_t sizes[] = {
        [TCC_BOOL] = 1, [TCC_I32] = sizeof(int32_t), [TCC_I64] = 8, [TCC_F32] = sizeof(float)};
    if (!run_open(r, text, "2", 1, 0)) return false;
    for (uint32_t i = 0; i < r->input_count && given[i] != NULL; i++) {
        size_t count = 1;
        for (uint32_t a = 0; a < r->in[i].rank; a++) count *= (size_t)r->in[i].dims[a];
        memcpy(r->in[i].data, given[i], count * sizes[r->in[i].dtype]);
    }
    return CHECK_INT(run_now(r), TCC_OK);
}

static void test_empty_axes(void) {
    Run r;
    static const char text[] =
        "dim T in 0..9\n"
        "model m(x: f32[2, T]) -> (s: f32[2], g: f32[2], p: f32[2], i: i64[2]) {\n"
        "    s = mean(x, axis=1)\n"
        "    g = max(x, axis=1)\n"
        "    p = prod(x, axis=1) + 2.0 * sum(x, axis=1)\n"
        "    i = argmax(x, axis=1)\n"
        "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    CHECK(isnan(out_f32(&r, 0)[0]));
    CHECK(out_f32(&r, 1)[0] == -INFINITY);
    CHECK(out_f32(&r, 2)[1] == 1);
    CHECK_INT(((const int64_t *)r.out[3].data)[1], 0);
    run_close(&r);
}

static void test_rows_with_specials(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[4, 4]) -> (a: f32[4, 4], b: f32[4, 4], i: i64[4], g: f32[4]) {\n"
        "    a = softmax(x)\n"
        "    b = safe_softmax(x)\n"
        "    i = argmax(x, axis=1)\n"
        "    g = max(x, axis=1)\n"
        "}\n";
    const float none = -INFINITY, nan = NAN;
    const float rows[4][4] = {
        {none, none, none, none}, {1, nan, 3, nan}, {2, 5, 5, none}, {-0.0F, 0, -0.0F, 0}};
    if (!run_given(&r, text, rows, NULL)) return;
    const float *a = out_f32(&r, 0), *b = out_f32(&r, 1), *g = out_f32(&r, 3);
    const int64_t *i = r.out[2].data;
    for (int j = 0; j < 4; j++) {
        CHECK(isnan(a[j]) && b[j] == 0);
        CHECK(isnan(a[4 + j]) && isnan(b[4 + j]));
        CHECK(a[12 + j] == 0.25F);
    }
    CHECK(a[11] == 0 && a[9] == a[10]);
    CHECK(i[0] == 0 && i[1] == 1 && i[2] == 1 && i[3] == 0);
    CHECK(g[0] == none && isnan(g[1]) && g[2] == 5 && g[3] == 0 && !signbit(g[3]));
    run_close(&r);
}

static void test_casts(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[6]) -> (i: i8[6], u: u8[6], e: f32[6], t: bool[6]) {\n"
        "    i = cast(x, to=i8)\n"
        "    u = cast(x, to=u8)\n"
        "    e = cast(cast(x, to=f8e4m3), to=f32)\n"
        "    t = cast(x, to=bool)\n"
        "}\n";
    const float x[6] = {NAN, INFINITY, -300, 2.9F, -2.9F, 0};
    const int8_t i[6] = {0, 127, -128, 2, -2, 0};
    const uint8_t u[6] = {0, 255, 0, 2, 0, 0}, t[6] = {1, 1, 1, 1, 1, 0};
    const float e[6] = {NAN, 448, -288, 3, -3, 0};
    if (!run_given(&r, text, x, NULL)) return;
    CHECK_MEM(r.out[0].data, i, sizeof i);
    CHECK_MEM(r.out[1].data, u, sizeof u);
    for (int k = 0; k < 6; k++) CHECK_NEAR((double)out_f32(&r, 2)[k], (double)e[k], 0.0);
    CHECK_MEM(r.out[3].data, t, sizeof t);
    run_close(&r);
}

static void test_integers(void) {
    Run r;
    static const char text[] =
        "model m(x: i32[8], y: i32[8]) -> (q: i32[8], f: i32[8], m: i32[8], s: i32[8]) {\n"
        "    q = x / y\n"
        "    f = x // y\n"
        "    m = x % y\n"
        "    s = shift_right(x, y)\n"
        "}\n";
    const int32_t x[8] = {7, -7, 7, -7, 5, INT32_MIN, INT32_MIN, 0};
    const int32_t y[8] = {2, 2, -2, -2, 0, -1, 40, 0};
    const int32_t q[8] = {3, -3, -3, 3, 0, INT32_MIN, INT32_MIN / 40, 0};
    const int32_t f[8] = {3, -4, -4, 3, 0, INT32_MIN, INT32_MIN / 40 - 1, 0};
    const int32_t m[8] = {1, 1, -1, -1, 0, 0, 40 + INT32_MIN % 40, 0};
    const int32_t s[8] = {1, -2, 0, -1, 5, -1, -1, 0};
    if (!run_given(&r, text, x, y)) return;
    CHECK_MEM(r.out[0].data, q, sizeof q);
    CHECK_MEM(r.out[1].data, f, sizeof f);
    CHECK_MEM(r.out[2].data, m, sizeof m);
    CHECK_MEM(r.out[3].data, s, sizeof s);
    run_close(&r);
}

static void test_pooling(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[1, 1, 4, 4]) -> (g: f32[1, 1, 3, 3], a: f32[1, 1, 3, 3]) {\n"
        "    g = max_pool2d(x, kernel=2, pad=1)\n"
        "    a = avg_pool2d(x, kernel=2, pad=1, count_include_pad=false)\n"
        "}\n";
    const float x[16] = {-1, -2, -3, -4, -5, NAN, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16};
    const float g[9] = {-1, -2, -4, -5, NAN, -8, -13, -14, -16};
    if (!run_given(&r, text, x, NULL)) return;
    for (int k = 0; k < 9; k++) CHECK_NEAR((double)out_f32(&r, 0)[k], (double)g[k], 0.0);
    CHECK(out_f32(&r, 1)[0] == -1 && out_f32(&r, 1)[1] == -2.5F && isnan(out_f32(&r, 1)[4]));
    run_close(&r);
}

static void test_padding_of_convolutions(void) {
    static const int outputs[] = {1, 8};
    for (int k = 0; k < 2; k++) {
        Run r;
        char text[200];
        snprintf(text, sizeof text,
                 "model m(x: f32[1, 1, 3], w: f32[%d, 1, 2]) -> (y: f32[1, %d, 4]) {\n"
                 "    y = conv(x, w, lo=1, hi=1)\n"
                 "}\n",
                 outputs[k], outputs[k]);
        const float x[3] = {1, 2, 3}, w[16] = {INFINITY, 1};
        if (!run_given(&r, text, x, w)) return;
        CHECK(isnan(out_f32(&r, 0)[0]));
        for (int i = 1; i < 4; i++) CHECK(out_f32(&r, 0)[i] == INFINITY);
        run_close(&r);
    }
}

static void test_indices(void) {
    Run r;
    static const char text[] =
        "model m(x: f32[5], i: i64[3]) -> (y: f32[3]) { y = gather(x, i) }\n";
    const float x[5] = {10, 11, 12, 13, 14};
    const int64_t good[3] = {-1, 0, 4}, bad[3] = {0, 5, -6};
    if (!run_given(&r, text, x, good)) return;
    CHECK(out_f32(&r, 0)[0] == 14 && out_f32(&r, 0)[1] == 10 && out_f32(&r, 0)[2] == 14);
    memcpy(r.in[1].data, bad, sizeof bad);
    CHECK_INT(run_now(&r), TCC_INDEX);
    CHECK(strstr(r.host.api->session_message(r.host.session), "index 5 is not in -5..4") != NULL);
    run_close(&r);
}

// Nothing can be gathered from an axis of no elements, whose size may be known or not.
static void test_indices_into_nothing(void) {
    static const char *const texts[] = {
        "model m(x: f32[0, 4], i: i64[3]) -> (y: f32[3, 4]) { y = gather(x, i) }\n",
        "dim N in 0..9\n"
        "model m(x: f32[N, 4], i: i64[3]) -> (y: f32[3, 4]) { y = gather(x, i) }\n",
        "model m(x: f32[4, 0], i: i64[3]) -> (y: f32[4]) { y = sum(gather(x, i, axis=1), axis=1) "
        "}\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        for (int level = 0; level < LEVELS; level++) {
            Run r;
            if (!run_open(&r, texts[k], levels[level], 1, 0)) return;
            CHECK_INT(run_now(&r), TCC_INDEX);
            run_close(&r);
        }
    }
}

int main(void) {
    RUN(test_rows);
    RUN(test_rows_of_any_length);
    RUN(test_short_rows);
    RUN(test_two_axes);
    RUN(test_columns);
    RUN(test_long_sums);
    RUN(test_sums_of_equal_numbers);
    RUN(test_sums_of_f64);
    RUN(test_contractions);
    RUN(test_matrix_by_vector);
    RUN(test_convolutions);
    RUN(test_windows);
    RUN(test_running_sums);
    RUN(test_scatter);
    RUN(test_threads);
    RUN(test_empty_axes);
    RUN(test_rows_with_specials);
    RUN(test_casts);
    RUN(test_integers);
    RUN(test_pooling);
    RUN(test_padding_of_convolutions);
    RUN(test_indices);
    RUN(test_indices_into_nothing);
    return test_done();
}
