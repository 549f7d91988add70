/* Products of matrices, a few rows at a time. With bounds two more products are needed: Σ|a||b|,
 * and the operands' bounds carried through, Σ (|a| + ba)·bb + ba·|b|. */
#include "ir/eval_rules.h"

#include <math.h>
#include <string.h>

enum { ROWS = 4 };

Side side_new(Arena *arena, bool is_float, bool bounds, int64_t count) {
    Side side = {NULL, NULL, NULL};
    if (is_float) {
        side.x = NEW_ARRAY(arena, double, (size_t)count);
        if (bounds) side.b = NEW_ARRAY(arena, double, (size_t)count);
    } else {
        side.whole = NEW_ARRAY(arena, int64_t, (size_t)count);
    }
    return side;
}

static bool flushes(const Side *side, DType dtype, int64_t count) {
    double least = dtype_info(dtype)->least;
    bool any = false;
    for (int64_t i = 0; dtype == DT_bf16 && i < count && !any; i++) {
        any = side->x[i] != 0 && fabs(side->x[i]) < least;
    }
    return any;
}

Side side_load(const Eval *ev, const EvalValue *value) {
    DType dtype = value->tensor.dtype;
    int64_t count = tensor_elements(&value->tensor);
    Side side = side_new(ev->scratch, dtype_is_float(dtype), false, count);
    if (side.x)
        tensor_load(&value->tensor, 0, count, side.x);
    else
        tensor_load_ints(&value->tensor, 0, count, side.whole);
    bool flushed = ev->options->bounds && flushes(&side, dtype, count);
    if (!ev->options->bounds || (!flushed && eval_is_exact(value))) return side;
    side.b = NEW_ARRAY(ev->scratch, double, (size_t)count);
    eval_load_bounds(value, 0, count, side.b);
    double least = dtype_info(dtype)->least;
    for (int64_t i = 0; i < count && flushed; i++) {
        double magnitude = fabs(side.x[i]);
        if (magnitude < least && side.b[i] < magnitude) side.b[i] = magnitude;
    }
    return side;
}

void side_copy(const Side *to, int64_t to_at, const Side *from, int64_t from_at) {
    if (to->whole) to->whole[to_at] = from->whole[from_at];
    if (to->x) to->x[to_at] = from->x[from_at];
    if (to->b) to->b[to_at] = from->b ? from->b[from_at] : 0;
}

Side side_at(const Side *side, int64_t at) {
    return (Side){side->x ? side->x + at : NULL, side->b ? side->b + at : NULL,
                  side->whole ? side->whole + at : NULL};
}

/* ---- the loops: c[rows, n] += a[rows, k] · b[k, n], with n steps between rows of b and c ----- */

#define DEFINE_ROWS(name, A, C)                                                                    \
    static void name(int64_t rows, int64_t n, int64_t k, const A *restrict a, const A *restrict b, \
                     C *restrict c) {                                                              \
        for (int64_t p = 0; p < k; p++, b += n) {                                                  \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                C x = (C)a[i * k + p];                                                             \
                for (int64_t j = 0; j < n; j++) c[i * n + j] += x * (C)b[j];                       \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_ROWS(rows_few, double, double)
DEFINE_ROWS(rows_wide, double, long double)
DEFINE_ROWS(rows_int, int64_t, uint64_t)

/* Most of the evaluator's time goes here: two columns and two steps of k at once, each sum still in
 * the order of k. */
typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

static void add_step(int64_t n, int64_t k, int64_t columns, const double *a, const double *b,
                     double *c) {
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < columns; j++) c[i * n + j] += a[i * k] * b[j];
}

static void add_two_steps(int64_t n, int64_t k, int64_t columns, const double *a, const double *b,
                          double *c) {
    double first[ROWS], second[ROWS];
    int64_t even = columns / 2 * 2;
    for (int64_t i = 0; i < ROWS; i++) first[i] = a[i * k], second[i] = a[i * k + 1];
    for (int64_t j = 0; j < even; j += 2) {
        Pair x = *(const Pair *)(b + j), y = *(const Pair *)(b + n + j);
        for (int64_t i = 0; i < ROWS; i++) {
            Pair *sum = (Pair *)(c + i * n + j);
            *sum = *sum + first[i] * x + second[i] * y;
        }
    }
    if (even == columns) return;
    add_step(n, k, 1, a, b + even, c + even);
    add_step(n, k, 1, a + 1, b + n + even, c + even);
}

/* A stretch of columns at a time, whose sums stay in the first cache. */
static void rows_narrow(int64_t rows, int64_t n, int64_t k, const double *a, const double *b,
                        double *c) {
    enum { STRETCH = 256 };
    if (rows != ROWS) {
        rows_few(rows, n, k, a, b, c);
        return;
    }
    for (int64_t j = 0; j < n; j += STRETCH) {
        int64_t columns = n - j < STRETCH ? n - j : STRETCH, p = 0;
        for (; p + 1 < k; p += 2) add_two_steps(n, k, columns, a + p, b + p * n + j, c + j);
        if (p < k) add_step(n, k, columns, a + p, b + p * n + j, c + j);
    }
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* Operands of the products for the bounds: |x|, b, and |x| + b; the latter two NULL when exact. */
typedef struct Magnitudes {
    double *x, *b, *reach;
} Magnitudes;

static Magnitudes magnitudes(Arena *arena, const Side *side, int64_t count) {
    Magnitudes m = {NEW_ARRAY(arena, double, (size_t)count), side->b, NULL};
    for (int64_t i = 0; i < count; i++) m.x[i] = fabs(side->x[i]);
    if (!side->b) return m;
    m.reach = NEW_ARRAY(arena, double, (size_t)count);
    for (int64_t i = 0; i < count; i++) m.reach[i] = m.x[i] + m.b[i];
    return m;
}

/* What the terms for the bounds are the products of: |x|, or lengths over `transformed` steps. */
typedef struct Terms {
    const double *a, *b;
    int64_t k;
} Terms;

/* By Winograd's F(2x2, 3x3) the magnitudes that are added up for a result come to at most ‖G‖²·‖B‖²
 * times Σ ‖w‖·‖x‖ over the channels, of nine weights and the nine pixels under them: ‖G‖² = 2, and
 * ‖B‖² = 2 + √2 of the three rows of Bᵀ that a result takes. */
static const double TRANSFORM_GROWTH = 6.83;

static double length_of(const double *x, int64_t count, int64_t step) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += x[i * step] * x[i * step];
    return sqrt(squares);
}

/* Transforms of weights are rounded, denormal ones by as much as those of the least normal. Those
 * of pixels are sums of four, and may overflow where no product does. */
static Terms transformed_terms(const Matmul *mm, const Side *a, const Side *b) {
    int64_t run = mm->transformed, k = mm->k / run;
    double *rows = NEW_ARRAY(mm->scratch, double, (size_t)(mm->m * k));
    double *columns = NEW_ARRAY(mm->scratch, double, (size_t)(k * mm->n));
    double least = dtype_info(mm->operand)->least;
    for (int64_t i = 0; i < mm->m * k; i++)
        rows[i] = TRANSFORM_GROWTH * (length_of(a->x + i * run, run, 1) + least);
    for (int64_t i = 0; i < k * mm->n; i++) {
        double length = length_of(b->x + i / mm->n * run * mm->n + i % mm->n, run, mm->n);
        columns[i] = 4 * length <= dtype_info(mm->operand)->most ? length : (double)INFINITY;
    }
    return (Terms){rows, columns, k};
}

/* Sums of some rows: values, Σ|terms| and bounds. */
typedef struct Sums {
    double *value, *terms, *bounds;
    long double *wide;
} Sums;

static void finish_rows(const Matmul *mm, int64_t rows, const Sums *s, EvalValue *out,
                        int64_t first, int64_t row) {
    DType accumulator = eval_accumulator(mm->operand, mm->result);
    EvalRounding rounding = {.dtype = mm->result, .sum = accumulator == mm->result};
    /* Even a single product may be rounded or not. */
    int64_t count = mm->k == 1 ? 2 : mm->k;
    for (int64_t i = 0; i < rows * mm->n; i++) {
        int64_t at = first + i / mm->n * row + i % mm->n;
        double v = s->wide ? (double)s->wide[i] : s->value[i], d = 0;
        if (out->bound) {
            SumTerms sum = {SUM_in_blocks, count, v, s->terms[i], s->bounds[i]};
            d = eval_sum_deviation(mm->ev->options, accumulator, &sum);
        }
        double *bound = out->bound ? &out->bound[at] : NULL;
        tensor_set(&out->tensor, at, eval_finish(&rounding, v, d, bound));
    }
}

static void bound_rows(const Matmul *mm, int64_t rows, int64_t i, const Magnitudes *a,
                       const Magnitudes *b, const Terms *terms, const Sums *s) {
    int64_t at = i * mm->k;
    rows_narrow(rows, mm->n, terms->k, terms->a + i * terms->k, terms->b, s->terms);
    if (b->b) rows_narrow(rows, mm->n, mm->k, (a->b ? a->reach : a->x) + at, b->b, s->bounds);
    if (a->b) rows_narrow(rows, mm->n, mm->k, a->b + at, b->x, s->bounds);
}

static Sums sums_new(const Matmul *mm, bool wide, bool bounds) {
    size_t count = (size_t)(ROWS * mm->n);
    Arena *arena = mm->scratch;
    Sums s = {.value = NEW_ARRAY(arena, double, count)};
    if (wide) s.wide = NEW_ARRAY(arena, long double, count);
    if (bounds) s.terms = NEW_ARRAY(arena, double, count);
    if (bounds) s.bounds = NEW_ARRAY(arena, double, count);
    return s;
}

static void clear_sums(const Sums *s, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        s->value[i] = 0;
        if (s->wide) s->wide[i] = 0;
        if (s->terms) s->terms[i] = s->bounds[i] = 0;
    }
}

static void matmul_float(const Matmul *mm, const Side *a, const Side *b, EvalValue *out,
                         int64_t first, int64_t row) {
    bool wide = eval_accumulator(mm->operand, mm->result) == DT_f64;
    Magnitudes am = {NULL, NULL, NULL}, bm = am;
    Terms terms = {0};
    if (out->bound) {
        am = magnitudes(mm->scratch, a, mm->m * mm->k);
        bm = magnitudes(mm->scratch, b, mm->k * mm->n);
        terms = mm->transformed ? transformed_terms(mm, a, b) : (Terms){am.x, bm.x, mm->k};
    }
    Sums s = sums_new(mm, wide, out->bound != NULL);
    for (int64_t i = 0; i < mm->m; i += ROWS) {
        int64_t rows = mm->m - i < ROWS ? mm->m - i : ROWS;
        clear_sums(&s, rows * mm->n);
        if (wide)
            rows_wide(rows, mm->n, mm->k, a->x + i * mm->k, b->x, s.wide);
        else
            rows_narrow(rows, mm->n, mm->k, a->x + i * mm->k, b->x, s.value);
        if (out->bound) bound_rows(mm, rows, i, &am, &bm, &terms, &s);
        finish_rows(mm, rows, &s, out, first + i * row, row);
    }
}

/* ---- integers: exact modulo 2^64, wrapped to the result -------------------------------------- */

static void matmul_int(const Matmul *mm, const Side *a, const Side *b, EvalValue *out,
                       int64_t first, int64_t row) {
    uint64_t *sums = NEW_ARRAY(mm->scratch, uint64_t, (size_t)(ROWS * mm->n));
    for (int64_t i = 0; i < mm->m; i += ROWS) {
        int64_t rows = mm->m - i < ROWS ? mm->m - i : ROWS;
        memset(sums, 0, (size_t)(rows * mm->n) * sizeof *sums);
        rows_int(rows, mm->n, mm->k, a->whole + i * mm->k, b->whole, sums);
        for (int64_t j = 0; j < rows * mm->n; j++) {
            int64_t at = first + (i + j / mm->n) * row + j % mm->n;
            tensor_set_int(&out->tensor, at, (int64_t)sums[j]);
        }
    }
}

void matmul(const Matmul *mm, const Side *a, const Side *b, EvalValue *out, int64_t first,
            int64_t row) {
    Scratch scratch;
    scratch_open(&scratch);
    Matmul inner = *mm;
    inner.scratch = scratch.arena;
    (mm->is_float ? matmul_float : matmul_int)(&inner, a, b, out, first, row);
    scratch_close(&scratch);
}
