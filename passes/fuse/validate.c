/* Validation of a cascade: its reductions one after the other against what was derived, on random
 * rows cut into random pieces that are merged. Numbers are doubles, leaves are drawn at random with
 * infinities, NaN and large values among them. */
#include "passes/fuse/cascade.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 64, MAX_LENGTH = 48 };

typedef struct Trial {
    const Cascade *cascade;
    Arena *arena;
    uint64_t state;
    uint32_t length;
    double (*leaves)[MAX_LENGTH]; /* by term */
    double *memo;                 /* by term, of one evaluation */
    bool *known;
    bool unknown_op;
    const double *results; /* of the reductions */
} Trial;

/* ---- drawing --------------------------------------------------------------------------------- */

static uint32_t draw(Trial *t, uint32_t below) {
    t->state = hash_word(t->state, 7);
    return (uint32_t)((t->state >> 32) % below);
}

static double draw_number(Trial *t, bool special) {
    static const double specials[] = {-INFINITY, NAN, INFINITY, 1e30, -1e30, 0, -INFINITY};
    if (special && draw(t, 12) == 0) return specials[draw(t, 7)];
    return (double)draw(t, 2001) / 250.0 - 4;
}

/* Rows are as long as the trial says, so constants that are the length, or 1 / length, follow. */
static double scaled(const Trial *t, double constant) {
    double length = t->cascade->length;
    if (constant == length) return t->length;
    return fabs(constant * length - 1) < 1e-6 ? 1.0 / t->length : constant;
}

/* A third of the trials is tame, a third has -inf alone, a third everything. */
static void draw_leaves(Trial *t, uint32_t number) {
    t->length = 1 + draw(t, MAX_LENGTH);
    for (uint32_t i = 0; i < t->cascade->term_count; i++) {
        const Term *term = t->cascade->terms[i];
        double fixed = isnan(term->constant) ? draw_number(t, false) : scaled(t, term->constant);
        for (uint32_t k = 0; k < t->length; k++) {
            double value = draw_number(t, number % 3 == 2);
            if (number % 3 == 1 && draw(t, 3) == 0) value = -INFINITY;
            t->leaves[i][k] = term->varies ? value : fixed;
        }
    }
}

/* ---- evaluating a term ----------------------------------------------------------------------- */

static double greater(double a, double b) {
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}
static double lesser(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b); }

static double apply(Trial *t, const Term *term, const double *x) {
    switch (term->op) {
    case OP_add: return x[0] + x[1];
    case OP_sub: return x[0] - x[1];
    case OP_mul: return x[0] * x[1];
    case OP_div: return x[0] / x[1];
    case OP_max: return greater(x[0], x[1]);
    case OP_min: return lesser(x[0], x[1]);
    case OP_neg: return -x[0];
    case OP_abs: return fabs(x[0]);
    case OP_exp: return exp(x[0]);
    case OP_log: return log(x[0]);
    case OP_sqrt: return sqrt(x[0]);
    case OP_rsqrt: return 1 / sqrt(x[0]);
    case OP_tanh: return tanh(x[0]);
    case OP_erf: return erf(x[0]);
    case OP_erfc: return erfc(x[0]);
    case OP_cast: return x[0];
    case OP_eq: return x[0] == x[1];
    case OP_ne: return x[0] != x[1];
    case OP_lt: return x[0] < x[1];
    case OP_le: return x[0] <= x[1];
    case OP_gt: return x[0] > x[1];
    case OP_ge: return x[0] >= x[1];
    case OP_select: return x[0] != 0 ? x[1] : x[2];
    default: t->unknown_op = true; return 0;
    }
}

/* The algebra looks into sums, products and casts; for anything else that depends on no reduction
 * any numbers stand. */
static bool is_drawn(const Term *term) {
    switch (term->op) {
    case OP_input: return true;
    case OP_add:
    case OP_sub:
    case OP_neg:
    case OP_mul:
    case OP_div:
    case OP_cast: return false;
    default: return term->varies && term->deps == 0;
    }
}

static double evaluate_known(Trial *t, const Term *term, uint32_t k) {
    if (t->known[term->id]) return t->memo[term->id];
    double x[3] = {0}, value;
    for (uint32_t i = 0; i < term->arg_count && !is_drawn(term); i++)
        x[i] = evaluate_known(t, term->args[i], k);
    if (term->reduction >= 0)
        value = t->results[term->reduction];
    else
        value = is_drawn(term) ? t->leaves[term->id][k] : apply(t, term, x);
    t->known[term->id] = true;
    t->memo[term->id] = value;
    return value;
}

static double evaluate(Trial *t, const Term *term, uint32_t k, const double *results) {
    t->results = results;
    memset(t->known, 0, t->cascade->term_count * sizeof *t->known);
    return evaluate_known(t, term, k);
}

/* ---- one after the other --------------------------------------------------------------------- */

static double identity(Op op) {
    switch (op) {
    case OP_mul: return 1;
    case OP_max: return -INFINITY;
    case OP_min: return INFINITY;
    default: return 0;
    }
}

static double combine(Op op, double a, double b) {
    switch (op) {
    case OP_mul: return a * b;
    case OP_max: return greater(a, b);
    case OP_min: return lesser(a, b);
    default: return a + b;
    }
}

/* The results, and Σ|terms| of each sum. Arguments of extremes are nothing that others use. */
static void run_in_order(Trial *t, double *results, double *scales) {
    for (uint32_t i = 0; i < t->cascade->count; i++) {
        const CascadeSum *sum = &t->cascade->sums[i];
        results[i] = identity(sum->scalar);
        scales[i] = 0;
        for (uint32_t k = 0; k < t->length; k++) {
            double value = evaluate(t, sum->operand, k, results);
            results[i] = combine(sum->scalar, results[i], value);
            scales[i] += fabs(value);
        }
    }
}

/* ---- as derived ------------------------------------------------------------------------------ */

/* The running state of all reductions over a piece of the row. */
typedef struct State {
    double count;
    double values[CASCADE_MAX_SUMS]; /* sums without what is hoisted; centred: Σ (a - mean)² */
} State;

/* A maximum as a point to measure from: where there is none yet, 0, so that exp(-inf - 0) is 0. */
static double measure(double maximum) { return maximum == -INFINITY ? 0 : maximum; }

/* The product (sum) of a step's factors that are accumulated. */
static double step_value(Trial *t, const CascadeSum *sum, uint32_t k, const double *piece) {
    bool adds = sum->scalar != OP_add; /* addends of an extreme */
    double value = adds ? 0 : 1;
    for (uint32_t i = 0; i < sum->factor_count; i++) {
        const Factor *f = &sum->factors[i];
        if (f->form == CASCADE_hoisted) continue;
        double x = evaluate(t, f->term, k, piece);
        if (adds)
            value += f->inverse ? -x : x;
        else
            value = f->inverse ? value / x : value * x;
    }
    return value;
}

/* What a reference looks like inside a piece: a maximum so far, or the piece's own sum scaled to
 * the length of the row. */
static void piece_references(const Trial *t, const State *s, double *out) {
    const Cascade *c = t->cascade;
    for (uint32_t i = 0; i < c->count; i++) out[i] = s->values[i];
    for (uint32_t k = 0; k < c->count; k++) {
        int at = c->sums[k].reference;
        if (c->sums[k].form == CASCADE_corrected) out[at] = measure(s->values[at]);
        if (c->sums[k].form == CASCADE_centred) out[at] = s->values[at] * t->length / s->count;
    }
}

static State run_piece(Trial *t, uint32_t from, uint32_t to) {
    State s = {.count = to - from};
    for (uint32_t i = 0; i < t->cascade->count; i++) {
        const CascadeSum *sum = &t->cascade->sums[i];
        double piece[CASCADE_MAX_SUMS];
        s.values[i] = identity(sum->scalar);
        piece_references(t, &s, piece);
        for (uint32_t k = from; k < to; k++)
            s.values[i] = combine(sum->scalar, s.values[i], step_value(t, sum, k, piece));
    }
    return s;
}

/* By what a sum measured from one maximum comes to be measured from a greater one. Where there was
 * none, the sum is 0 or NaN and stays so. */
static double correction(double from, double to) {
    return from == -INFINITY ? 1 : exp(from - measure(to));
}

static double merge_corrected(const CascadeSum *sum, const State *a, const State *b, uint32_t i) {
    double x = a->values[sum->reference], y = b->values[sum->reference], top = greater(x, y);
    return a->values[i] * correction(x, top) + b->values[i] * correction(y, top);
}

/* Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample
 * variances. */
static double merge_centred(const CascadeSum *sum, const State *a, const State *b, uint32_t i) {
    double x = a->values[sum->reference] / a->count, y = b->values[sum->reference] / b->count;
    double apart = (y - x) * (y - x) * a->count * b->count / (a->count + b->count);
    return a->values[i] + b->values[i] + apart;
}

static State merge(const Cascade *c, const State *a, const State *b) {
    State s = {.count = a->count + b->count};
    for (uint32_t i = 0; i < c->count; i++) {
        const CascadeSum *sum = &c->sums[i];
        if (sum->form == CASCADE_corrected)
            s.values[i] = merge_corrected(sum, a, b, i);
        else if (sum->form == CASCADE_centred)
            s.values[i] = merge_centred(sum, a, b, i);
        else
            s.values[i] = combine(sum->scalar, a->values[i], b->values[i]);
    }
    return s;
}

/* Hoisted factors come back; a maximum that was never finite makes exp(inf - inf), unless the model
 * measures from 0 then. */
static void project(Trial *t, const State *s, double *results) {
    for (uint32_t i = 0; i < t->cascade->count; i++) {
        const CascadeSum *sum = &t->cascade->sums[i];
        double value = s->values[i];
        if (sum->form == CASCADE_corrected && !sum->zero_unit)
            value += results[sum->reference] - results[sum->reference];
        for (uint32_t n = 0; n < sum->factor_count; n++) {
            const Factor *f = &sum->factors[n];
            if (f->form != CASCADE_hoisted) continue;
            double x = evaluate(t, f->term, 0, results);
            if (sum->scalar != OP_add)
                value += f->inverse ? -x : x;
            else
                value = f->inverse ? value / x : value * x;
        }
        results[i] = value;
    }
}

static void run_derived(Trial *t, double *results) {
    uint32_t end = 1 + draw(t, t->length);
    State s = run_piece(t, 0, end);
    while (end < t->length) {
        uint32_t next = end + 1 + draw(t, t->length - end);
        State piece = run_piece(t, end, next);
        s = merge(t->cascade, &s, &piece);
        end = next;
    }
    project(t, &s, results);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* What is not finite stays so; else within rounding of the terms. */
static bool agrees(double want, double got, double scale) {
    if (!isfinite(want) || !isfinite(scale)) return !isfinite(got) || !isfinite(scale);
    return fabs(want - got) <= 1e-9 * (scale + fabs(want));
}

static bool run_trial(Trial *t, uint32_t number) {
    double want[CASCADE_MAX_SUMS], got[CASCADE_MAX_SUMS] = {0}, scales[CASCADE_MAX_SUMS];
    draw_leaves(t, number);
    run_in_order(t, want, scales);
    run_derived(t, got);
    for (uint32_t i = 0; i < t->cascade->count; i++)
        if (!agrees(want[i], got[i], scales[i])) return false;
    return true;
}

bool cascade_is_valid(const Cascade *c, Arena *arena) {
    Trial t = {.cascade = c, .arena = arena, .state = 1};
    for (uint32_t i = 0; i < c->count; i++)
        if (c->sums[i].form == CASCADE_dependent) return false;
    t.leaves = arena_alloc_array(arena, c->term_count, sizeof *t.leaves);
    t.memo = NEW_ARRAY(arena, double, c->term_count);
    t.known = NEW_ARRAY(arena, bool, c->term_count);
    for (uint32_t number = 0; number < TRIALS && !t.unknown_op; number++)
        if (!run_trial(&t, number)) return false;
    return !t.unknown_op;
}
