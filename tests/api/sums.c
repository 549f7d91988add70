// Every kind of sum on terms whose errors add up: equal ones, of alternating sign, small ones
// behind a large one. Compiled code is compared with sums made here in pairs of doubles, within the
// tolerance of docs/numerics.md, and with the evaluator by tcc_unit_check.
#include "tests/api/model_run.h"

// ---- sums in pairs of doubles -------------------------------------------------------------------

typedef struct Wide {
    double high, low;
} Wide;

// Knuth's exact sum of two numbers.
static void wide_add(Wide *sum, double x) {
    double s = sum->high + x, part = s - sum->high;
    sum->low += (sum->high - (s - part)) + (x - part);
    sum->high = s;
}

static double wide_value(const Wide *sum) { return sum->high + sum->low; }

typedef struct Expected {
    int64_t count;
    Wide sum, magnitudes;
} Expected;

static void expect_term(Expected *e, double term) {
    e->count++;
    wide_add(&e->sum, term);
    wide_add(&e->magnitudes, fabs(term));
}

static double longest_chain(int64_t n) {
    double chain = 0;
    for (; n > 1; n = (n + 63) / 64) chain += n < 64 ? (double)n : 64;
    return chain;
}

// (4 + max(2√n, c))·ε·Σ|terms| + ½ ulp.
static double tolerance(const Expected *e, bool in_order) {
    double chain = in_order ? (double)e->count : longest_chain(e->count);
    double share = expm1((4 + fmax(2 * sqrt((double)e->count), chain)) * 0x1p-24);
    return share * wide_value(&e->magnitudes) + fabs(wide_value(&e->sum)) * 0x1p-24;
}

// ---- terms --------------------------------------------------------------------------------------

typedef enum Terms {
    TERMS_equal,
    TERMS_thirds, // all rounded up by as much as can be
    TERMS_alternating,
    TERMS_large_first,
    TERMS_swallowed, // each nearly half a unit of the first
    TERMS_random,
    TERMS_count
} Terms;

static float term_at(Terms terms, int64_t k) {
    switch (terms) {
    case TERMS_equal: return 0.1F;
    case TERMS_thirds: return 0x1.555556p0F;
    case TERMS_alternating: return k % 2 ? -0.3F : 0.3F;
    case TERMS_large_first: return k ? 0.1F : 1e6F;
    case TERMS_swallowed: return k ? 0x1.fffp-25F : 1;
    default: return (float)((k * 7919 + 13) % 10007) / 10007 - 0.4F;
    }
}

// The term that element `at` of an operand is, when the summed axis has `count` elements, `inner`
// apart.
static void fill_terms(const Run *r, uint32_t input, Terms terms, int64_t count, int64_t inner) {
    int64_t size = 1;
    for (uint32_t a = 0; a < r->in[input].rank; a++) size *= r->in[input].dims[a];
    for (int64_t i = 0; i < size; i++)
        ((float *)r->in[input].data)[i] = term_at(terms, i / inner % count);
}

static void fill(const Run *r, uint32_t input, float value) {
    int64_t size = 1;
    for (uint32_t a = 0; a < r->in[input].rank; a++) size *= r->in[input].dims[a];
    for (int64_t i = 0; i < size; i++) ((float *)r->in[input].data)[i] = value;
}

static void remake_inputs(Run *r, int64_t n) {
    for (uint32_t i = 0; i < r->input_count; i++) {
        tcc_array_free(r->inputs[i]);
        make_input(r, i, n);
    }
}

static void count_mismatch(void *user, const tcc_check_result *result) {
    if (result->agrees) return;
    ++*(int *)user;
    printf("    %s %s: %d compared of %d, element %d is %.9g, not %.9g +- %.3g\n", result->kernel,
           result->output, (int)result->compared, (int)result->elements, (int)result->first_index,
           result->got, result->expected, result->tolerance);
}

// Against the evaluator, kernel by kernel and as a whole. The verdict is that of the lines.
static bool check_unit(Run *r) {
    int wrong = 0;
    tcc_status status = tcc_unit_check(r->host.unit, r->in, r->input_count, count_mismatch, &wrong);
    CHECK_INT(status, wrong ? TCC_MISMATCH : TCC_OK);
    return CHECK_INT(wrong, 0);
}

// ---- sums of all terms --------------------------------------------------------------------------

// A model whose output's elements are all the same sum: of input 0, times 0.7 where there is
// another.
typedef struct Total {
    const char *text;
    int64_t inner; /* between the summed elements of input 0 */
} Total;

#define SIZES "dim K in 1..100000 tune 4096\n"

static const Total totals[] = {
    {SIZES "model m(x: f32[2, K]) -> (y: f32[2]) { y = sum(x, axis=1) }\n", 1},
    {SIZES "model m(x: f32[K, 5]) -> (y: f32[5]) { y = sum(x, axis=0) }\n", 5},
    {SIZES "model m(x: f32[7, K], w: f32[K, 17]) -> (y: f32[7, 17]) { y = x @ w }\n", 1},
    {SIZES "model m(x: f32[K, 3], w: f32[K, 5]) -> (y: f32[3, 5]) {\n"
           "    y = einsum(\"ka,kb->ab\", x, w)\n"
           "}\n",
     3},
    {SIZES "model m(x: f32[K], v: f32[K]) -> (y: f32[]) { y = einsum(\"k,k->\", x, v) }\n", 1},
    {SIZES "model m(x: f32[3, K], v: f32[K]) -> (y: f32[3]) { y = einsum(\"mk,k->m\", x, v) }\n",
     1},
    {SIZES "model m(x: f32[2, K], w: f32[2, K, 9]) -> (y: f32[2, 9]) {\n"
           "    y = einsum(\"bk,bkn->bn\", x, w)\n"
           "}\n",
     1},
    {SIZES "model m(x: f32[K, 20], w: f32[K, 20]) -> (y: f32[20]) {\n"
           "    y = einsum(\"kn,kn->n\", x, w)\n"
           "}\n",
     20},
};

static const int64_t lengths[] = {1, 63, 64, 65, 500, 8191, 8192, 100000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void check_total(Run *r, const char *text, Terms terms, int64_t count, int64_t inner) {
    Expected e = {0};
    double factor = r->input_count > 1 ? (double)0.7F : 1;
    fill_terms(r, 0, terms, count, inner);
    if (r->input_count > 1) fill(r, 1, 0.7F);
    for (int64_t k = 0; k < count; k++) expect_term(&e, factor * (double)term_at(terms, k));
    if (!CHECK_INT(run_now(r), TCC_OK)) return;
    int64_t size = 1;
    bool good = true;
    for (uint32_t a = 0; a < r->out[0].rank; a++) size *= r->out[0].dims[a];
    for (int64_t i = 0; good && i < size; i++)
        good = CHECK_NEAR((double)out_f32(r, 0)[i], wide_value(&e.sum), tolerance(&e, false));
    if (!good) printf("    terms %d, %d of them: %s", (int)terms, (int)count, text);
}

static void test_totals_of_any_length(void) {
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        for (int level = 0; level < LEVELS; level += 2) {
            Run r;
            if (!run_open(&r, totals[t].text, levels[level], 1, 1)) return;
            for (int k = 0; k < LENGTHS; k++) {
                remake_inputs(&r, lengths[k]);
                for (Terms terms = 0; terms < TERMS_count; terms++)
                    check_total(&r, totals[t].text, terms, lengths[k], totals[t].inner);
            }
            run_close(&r);
        }
    }
}

// tcc check's view of the same, on a few lengths: the evaluator is slow.
static void test_totals_against_the_evaluator(void) {
    static const int64_t few[] = {64, 65, 8192};
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        Run r;
        if (!run_open(&r, totals[t].text, "2", 1, 1)) return;
        for (int k = 0; k < 3; k++) {
            remake_inputs(&r, few[k]);
            for (uint32_t i = 1; i < r.input_count; i++) fill(&r, i, 0.7F);
            for (Terms terms = 0; terms < TERMS_count; terms++) {
                fill_terms(&r, 0, terms, few[k], totals[t].inner);
                if (!check_unit(&r)) printf("    terms %d: %s", (int)terms, totals[t].text);
            }
        }
        run_close(&r);
    }
}

// Lengths known at compile time, which walk their blocks without tests; and what has only such.
static void check_fixed(const char *text, int64_t count) {
    for (int level = 0; level < LEVELS; level += 2) {
        Run r;
        if (!run_open(&r, text, levels[level], 1, 0)) return;
        for (Terms terms = 0; terms < TERMS_count; terms++) check_total(&r, text, terms, count, 1);
        run_close(&r);
    }
}

static void test_totals_of_fixed_length(void) {
    char text[300];
    for (int k = 0; k < LENGTHS; k++) {
        int n = (int)lengths[k];
        snprintf(text, sizeof text,
                 "model m(x: f32[7, %d], w: f32[%d, 17]) -> (y: f32[7, 17]) { y = x @ w }\n", n, n);
        check_fixed(text, n);
        snprintf(text, sizeof text,
                 "model m(x: f32[3, %d]) -> (y: f32[3]) { y = sum(x, axis=1) }\n", n);
        check_fixed(text, n);
        snprintf(text, sizeof text,
                 "model m(x: f32[%d]) -> (y: f32[1]) { y = window_sum(x, [%d]) }\n", n, n);
        check_fixed(text, n);
    }
    check_fixed("model m(x: f32[1, 1, 90, 95]) -> (y: f32[1, 1, 1, 1]) {\n"
                "    y = window_sum(x, [1, 1, 90, 95])\n"
                "}\n",
                90 * 95);
}

// One row of `channels` channels with three taps each: few outputs a group are made one by one.
static void test_convolutions(void) {
    static const int channels[] = {1, 21, 22, 64, 65, 2731}, outputs[] = {4, 16};
    char text[300];
    for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
        for (int o = 0; o < 2; o++) {
            snprintf(text, sizeof text,
                     "model m(x: f32[1, %d, 3], w: f32[%d, %d, 3]) -> (y: f32[1, %d, 1]) {\n"
                     "    y = conv(x, w)\n"
                     "}\n",
                     channels[c], outputs[o], channels[c], outputs[o]);
            check_fixed(text, (int64_t)channels[c] * 3);
        }
    }
    for (int o = 0; o < 2; o++) {
        snprintf(text, sizeof text,
                 "model m(x: f32[1, 3, 30, 31], w: f32[%d, 3, 30, 31]) -> (y: f32[1, %d, 1, 1]) {\n"
                 "    y = conv(x, w)\n"
                 "}\n",
                 outputs[o], outputs[o]);
        check_fixed(text, INT64_C(3) * 30 * 31);
    }
}

// ---- running sums -------------------------------------------------------------------------------

static void check_running(Run *r, Terms terms, int64_t count, int64_t inner) {
    Expected e = {0};
    bool good = true;
    fill_terms(r, 0, terms, count, inner);
    if (!CHECK_INT(run_now(r), TCC_OK)) return;
    const float *up = out_f32(r, 0), *before = out_f32(r, 1);
    for (int64_t k = 0; good && k < count; k++) {
        for (int64_t i = 0; good && i < inner; i++)
            good =
                CHECK_NEAR((double)before[k * inner + i], wide_value(&e.sum), tolerance(&e, false));
        expect_term(&e, (double)term_at(terms, k));
        for (int64_t i = 0; good && i < inner; i++)
            good = CHECK_NEAR((double)up[k * inner + i], wide_value(&e.sum), tolerance(&e, false));
    }
    if (!good) printf("    terms %d, %d of them, inner %d\n", (int)terms, (int)count, (int)inner);
}

static void test_running_sums(void) {
    static const char *const texts[] = {
        SIZES "model m(x: f32[K, 1]) -> (y: f32[K, 1], z: f32[K, 1]) {\n"
              "    y = cum_sum(x, axis=0)\n"
              "    z = cum_sum(x, axis=0, exclusive=true)\n"
              "}\n",
        SIZES "model m(x: f32[K, 9]) -> (y: f32[K, 9], z: f32[K, 9]) {\n"
              "    y = cum_sum(x, axis=0)\n"
              "    z = cum_sum(x, axis=0, exclusive=true)\n"
              "}\n",
        SIZES "model m(x: f32[K]) -> (y: f32[K], z: f32[K]) {\n"
              "    y = cum_sum(x, axis=0)\n"
              "    z = cum_sum(x, axis=0, exclusive=true)\n"
              "}\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        Run r;
        if (!run_open(&r, texts[t], "2", 1, 1)) return;
        for (int k = 0; k < LENGTHS; k++) {
            remake_inputs(&r, lengths[k]);
            for (Terms terms = 0; terms < TERMS_count; terms++)
                check_running(&r, terms, lengths[k], t == 1 ? 9 : 1);
            if (lengths[k] <= 8192) check_unit(&r);
        }
        run_close(&r);
    }
}

// Blocks of blocks, bit by bit.
static void test_order_of_running_sums(void) {
    enum { N = 5000 };
    Run r;
    static const char text[] = "model m(x: f32[5000]) -> (y: f32[5000]) {\n"
                               "    y = cum_sum(x, axis=0, reverse=true)\n"
                               "}\n";
    if (!run_text(&r, text, "2", 0)) return;
    float outer = 0, middle = 0, inner = 0;
    for (int k = 0; k < N; k++) {
        inner += in_f32(&r, 0)[N - 1 - k];
        check_bits(&r, 0, N - 1 - k, outer + (middle + inner));
        if (k % 64 != 63) continue;
        middle += inner;
        inner = 0;
        if (k % 4096 != 4095) continue;
        outer += middle;
        middle = 0;
    }
    run_close(&r);
}

// ---- scatter ------------------------------------------------------------------------------------

static void test_scatter(void) {
    static const char text[] = SIZES
        "model m(x: f32[2], i: i64[K], u: f32[K]) -> (y: f32[2]) { y = scatter_add(x, i, u) }\n";
    Run r;
    if (!run_open(&r, text, "2", 1, 1)) return;
    for (int k = 0; k < LENGTHS; k++) {
        remake_inputs(&r, lengths[k]);
        memset(r.in[1].data, 0, (size_t)lengths[k] * sizeof(int64_t));
        fill(&r, 0, 3);
        for (Terms terms = 0; terms < TERMS_count; terms++) {
            Expected e = {0};
            fill_terms(&r, 2, terms, lengths[k], 1);
            expect_term(&e, 3);
            for (int64_t i = 0; i < lengths[k]; i++) expect_term(&e, (double)term_at(terms, i));
            CHECK_INT(run_now(&r), TCC_OK);
            CHECK_NEAR((double)out_f32(&r, 0)[0], wide_value(&e.sum), tolerance(&e, true));
            check_bits(&r, 0, 1, 3);
            check_unit(&r);
        }
    }
    run_close(&r);
}

// ---- softmax and layer norm ---------------------------------------------------------------------

// exp is within 2 ulp, its operand and the quotient are rounded, and the sum is a sum.
static void check_softmax(Run *r, Terms terms, int64_t count) {
    Wide sum = {0};
    double most = -INFINITY, least = INFINITY;
    fill_terms(r, 0, terms, count, 1);
    if (!CHECK_INT(run_now(r), TCC_OK)) return;
    for (int64_t k = 0; k < count; k++) most = fmax(most, (double)term_at(terms, k));
    for (int64_t k = 0; k < count; k++) least = fmin(least, (double)term_at(terms, k));
    for (int64_t k = 0; k < count; k++) wide_add(&sum, exp((double)term_at(terms, k) - most));
    double roundings = 4 + fmax(2 * sqrt((double)count), longest_chain(count)) + 2 * (most - least);
    for (int64_t k = 0; k < count; k++) {
        double want = exp((double)term_at(terms, k) - most) / wide_value(&sum);
        if (!CHECK_NEAR((double)out_f32(r, 0)[k], want, (roundings + 8) * 0x1p-24 * want + 1e-38)) {
            printf("    terms %d, %d of them\n", (int)terms, (int)count);
            return;
        }
    }
}

static void test_softmax(void) {
    static const char text[] = SIZES "model m(x: f32[2, K]) -> (y: f32[2, K]) { y = softmax(x) }\n";
    Run r;
    if (!run_open(&r, text, "2", 1, 1)) return;
    for (int k = 0; k < LENGTHS; k++) {
        remake_inputs(&r, lengths[k]);
        for (Terms terms = 0; terms < TERMS_count; terms++) {
            check_softmax(&r, terms, lengths[k]);
            if (lengths[k] <= 8192) check_unit(&r);
        }
    }
    run_close(&r);
}

// Numbers near 1000 that differ by about 1. The error of the mean is that of its sum, and every
// difference has it; the mean of their squares has it once more.
static void test_layer_norm(void) {
    static const int64_t widths[] = {63, 64, 65, 8192, 100000};
    char text[300];
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        int64_t n = widths[k];
        snprintf(text, sizeof text,
                 "model m(x: f32[2, %d]) -> (y: f32[2, %d]) {\n"
                 "    d = x - mean(x, axis=-1, keep=true)\n"
                 "    y = d * rsqrt(mean(d * d, axis=-1, keep=true) + 1e-5)\n"
                 "}\n",
                 (int)n, (int)n);
        Run r;
        if (!run_open(&r, text, "2", 1, 0)) return;
        float *x = r.in[0].data;
        for (int64_t i = 0; i < 2 * n; i++) x[i] = 1000 + 3 * term_at(TERMS_random, i % n);
        CHECK_INT(run_now(&r), TCC_OK);
        Expected e = {0}, squares = {0};
        for (int64_t i = 0; i < n; i++) expect_term(&e, (double)x[i]);
        double mean = wide_value(&e.sum) / (double)n, off = tolerance(&e, false) / (double)n;
        for (int64_t i = 0; i < n; i++) expect_term(&squares, pow((double)x[i] - mean, 2));
        double variance = wide_value(&squares.sum) / (double)n, scale = 1 / sqrt(variance + 1e-5);
        off += 1000 * 0x1p-24;
        double share = tolerance(&squares, false) / wide_value(&squares.sum) + off * off / variance;
        bool good = true;
        for (int64_t i = 0; good && i < 2 * n; i++) {
            double want = ((double)x[i] - mean) * scale;
            good = CHECK_NEAR((double)out_f32(&r, 0)[i], want,
                              off * scale + (share + 8 * 0x1p-24) * fabs(want));
        }
        if (n <= 8192) check_unit(&r);
        run_close(&r);
    }
}

// ---- products and zeros -------------------------------------------------------------------------

static void check_levels(const char *text, const float *x, const float *y) {
    const float *given[] = {x, y};
    for (int level = 0; level < LEVELS; level++) {
        Run r;
        if (!run_open(&r, text, levels[level], 1, 0)) return;
        for (uint32_t i = 0; i < r.input_count; i++) {
            size_t count = 1;
            for (uint32_t a = 0; a < r.in[i].rank; a++) count *= (size_t)r.in[i].dims[a];
            memcpy(r.in[i].data, given[i], count * sizeof(float));
        }
        if (!check_unit(&r)) printf("    -O%s: %s", levels[level], text);
        run_close(&r);
    }
}

// Large and small factors in turn: what the evaluator holds for certain must be so. Of a single
// output one element may be left out.
static void test_products(void) {
    enum { N = 200 };
    static const float ends[][2] = {{1e30F, 1e-30F}, {1e30F, 1e30F},  {1e-30F, 1e-30F},
                                    {1e30F, 0},      {1.1F, 0.9F},    {INFINITY, 1e-30F},
                                    {INFINITY, 0},   {NAN, 1e-30F},   {-1e30F, 1e-30F},
                                    {-0.5F, 0},      {INFINITY, 1.5F}};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        float x[N];
        for (int i = 0; i < N; i++) x[i] = ends[k][i % 2];
        check_levels("model m(x: f32[200]) -> (y: f32[]) { y = prod(x, axis=0) }\n", x, NULL);
        check_levels("model m(x: f32[200, 1]) -> (y: f32[1]) { y = prod(x, axis=0) }\n", x, NULL);
    }
}

// A contraction starts from +0 at every level, whatever kernel it becomes.
static void test_zeros(void) {
    static const char *const texts[] = {
        "model m(x: f32[2, 3, 5], y: f32[2]) -> (z: f32[5, 2, 3]) {\n"
        "    z = einsum(\"abc,a->cab\", x, y)\n"
        "}\n",
        "model m(x: f32[30], y: f32[30]) -> (z: f32[30]) { z = einsum(\"a,a->a\", x, y) }\n",
        "model m(x: f32[30], y: f32[2]) -> (z: f32[30, 2]) { z = einsum(\"a,b->ab\", x, y) }\n",
        "model m(x: f32[30, 1], y: f32[1, 2]) -> (z: f32[30, 2]) { z = x @ y }\n",
        "model m(x: f32[2, 15], y: f32[15]) -> (z: f32[2]) { z = einsum(\"mk,k->m\", x, y) }\n",
        "model m(x: f32[1, 1, 30], y: f32[8, 1, 1]) -> (z: f32[1, 8, 30]) { z = conv(x, y) }\n",
        "model m(x: f32[1, 1, 30], y: f32[1, 1, 1]) -> (z: f32[1, 1, 30]) { z = conv(x, y) }\n",
        "model m(x: f32[2, 15], y: f32[2]) -> (z: f32[2]) { z = sum(x, axis=1) + y }\n",
        "model m(x: f32[15, 2]) -> (z: f32[2]) { z = sum(x, axis=0) }\n",
        "model m(x: f32[30, 1]) -> (z: f32[30]) { z = sum(x, axis=1) }\n",
        "model m(x: f32[30]) -> (z: f32[30]) { z = cum_sum(x, axis=0) }\n",
        "model m(x: f32[30]) -> (z: f32[29]) { z = window_sum(x, [2]) }\n",
        "model m(x: f32[30]) -> (z: f32[30]) { z = window_sum(x, [1]) }\n",
        "model m(x: f32[2, 15]) -> (z: f32[2]) { z = mean(x, axis=1) }\n",
    };
    float x[30], y[30];
    for (int i = 0; i < 30; i++) x[i] = -0.0F;
    for (int i = 0; i < 30; i++) y[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : -0.0F;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) check_levels(texts[t], x, y);
}

// The same, bit by bit and without the evaluator.
static void test_sign_of_products_not_summed(void) {
    for (int level = 0; level < LEVELS; level++) {
        Run r;
        if (!run_open(&r,
                      "model m(x: f32[4], y: f32[4]) -> (z: f32[4]) {\n"
                      "    z = einsum(\"a,a->a\", x, y)\n"
                      "}\n",
                      levels[level], 1, 0))
            return;
        memcpy(r.in[0].data, (float[]){-0.0F, 0, 2, -3}, 16);
        memcpy(r.in[1].data, (float[]){1, -5, -0.0F, 2}, 16);
        CHECK_INT(run_now(&r), TCC_OK);
        for (int i = 0; i < 3; i++) check_bits(&r, 0, i, 0);
        check_bits(&r, 0, 3, -6);
        run_close(&r);
    }
}

int main(void) {
    RUN(test_totals_of_any_length);
    RUN(test_totals_against_the_evaluator);
    RUN(test_totals_of_fixed_length);
    RUN(test_convolutions);
    RUN(test_running_sums);
    RUN(test_order_of_running_sums);
    RUN(test_scatter);
    RUN(test_softmax);
    RUN(test_layer_norm);
    RUN(test_products);
    RUN(test_zeros);
    RUN(test_sign_of_products_not_summed);
    return test_done();
}
