/* Unary ops and casts. Each float function is a row: its double form for everything up to f32, its
 * long double form for f64, and how a deviation b of the operand spreads:
 *
 *   SAME        |f(x') - f(x)| = |x' - x|
 *   STEP        f is locally constant: 0, or +inf when a step lies within b
 *   MONOTONE    the greater of |f(x + b) - f(x)| and |f(x - b) - f(x)|
 *   LIPSCHITZ   at most b, and at most 2
 *   POLES       monotone between poles half a period around the multiples of pi; +inf across one
 */
#include "ir/eval_rules.h"

#include <math.h>

typedef enum Spread { SAME = 1, STEP, MONOTONE, LIPSCHITZ, POLES } Spread;

typedef struct Function {
    double (*narrow)(double);
    long double (*wide)(long double);
    Spread spread;
} Function;

static double negate(double x) { return -x; }
static long double negatel(long double x) { return -x; }
static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static long double signl(long double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static long double rsqrtl(long double x) { return 1 / sqrtl(x); }

static const Function functions[OP_count] = {
    [OP_neg] = {negate, negatel, SAME},
    [OP_abs] = {fabs, fabsl, SAME},
    [OP_sign] = {sign, signl, STEP},
    [OP_floor] = {floor, floorl, STEP},
    [OP_ceil] = {ceil, ceill, STEP},
    [OP_trunc] = {trunc, truncl, STEP},
    [OP_round] = {nearbyint, nearbyintl, STEP},
    [OP_sqrt] = {sqrt, sqrtl, MONOTONE},
    [OP_rsqrt] = {rsqrt, rsqrtl, MONOTONE},
    [OP_exp] = {exp, expl, MONOTONE},
    [OP_exp2] = {exp2, exp2l, MONOTONE},
    [OP_expm1] = {expm1, expm1l, MONOTONE},
    [OP_log] = {log, logl, MONOTONE},
    [OP_log2] = {log2, log2l, MONOTONE},
    [OP_log1p] = {log1p, log1pl, MONOTONE},
    [OP_sin] = {sin, sinl, LIPSCHITZ},
    [OP_cos] = {cos, cosl, LIPSCHITZ},
    [OP_tan] = {tan, tanl, POLES},
    [OP_atan] = {atan, atanl, MONOTONE},
    [OP_tanh] = {tanh, tanhl, MONOTONE},
    [OP_erf] = {erf, erfl, MONOTONE},
    [OP_erfc] = {erfc, erfcl, MONOTONE},
};

/* f(x); sqrt and the exact ops in double, where one rounding is the right one. */
static double apply(const Function *f, bool wide, double x) {
    return wide ? (double)f->wide((long double)x) : f->narrow(x);
}

/* ---- deviations ------------------------------------------------------------------------------ */

static double step_deviation(const Function *f, double x, double b) {
    bool flat = f->narrow(x - b) == f->narrow(x + b);
    return flat || isnan(x) ? 0 : (double)INFINITY;
}

/* |f(w) - f(x)|, where w = x + delta. */
static double difference(const Function *f, bool wide, double x, double delta) {
    if (!wide) return eval_spread(f->narrow(x), f->narrow(x + delta));
    long double v = f->wide((long double)x);
    long double w = f->wide((long double)x + (long double)delta);
    return isfinite(v) && isfinite(w) ? (double)fabsl(w - v) : eval_spread((double)v, (double)w);
}

static double monotone_deviation(const Function *f, bool wide, double x, double b) {
    double up = difference(f, wide, x, b), down = difference(f, wide, x, -b);
    return up > down ? up : down;
}

static double pole_deviation(const Function *f, bool wide, double x, double b) {
    const double pi = 3.14159265358979323846;
    bool crosses = !(b < 1) || floor((x + b) / pi + 0.5) != floor((x - b) / pi + 0.5);
    return crosses ? (double)INFINITY : monotone_deviation(f, wide, x, b);
}

static double deviation(const Function *f, bool wide, double x, double b) {
    if (b == 0) return 0;
    if (isinf(b)) return b;
    switch (f->spread) {
    case SAME: return b;
    case STEP: return step_deviation(f, x, b);
    case MONOTONE: return monotone_deviation(f, wide, x, b);
    case LIPSCHITZ: return b < 2 ? b : 2;
    default: return pole_deviation(f, wide, x, b);
    }
}

/* ---- unary ----------------------------------------------------------------------------------- */

static void float_run(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    const EvalValue *x = &ev->args[0];
    const Function *f = &functions[ev->node->op];
    bool wide = x->tensor.dtype == DT_f64;
    EvalRounding rounding = {.dtype = x->tensor.dtype, .ulps = ev->info->ulp};
    double values[EVAL_RUN], bounds[EVAL_RUN];
    tensor_load(&x->tensor, start, count, values);
    if (out->bound) eval_load_bounds(x, start, count, bounds);
    for (int64_t i = 0; i < count; i++) {
        double v = values[i];
        values[i] = apply(f, wide && rounding.ulps > 0, v);
        if (out->bound) bounds[i] = deviation(f, wide, v, bounds[i]);
    }
    eval_finish_run(&rounding, out, start, count, values, out->bound ? bounds : NULL);
}

static void int_run(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    const EvalValue *x = &ev->args[0];
    int64_t values[EVAL_RUN];
    tensor_load_ints(&x->tensor, start, count, values);
    for (int64_t i = 0; i < count; i++) {
        values[i] = eval_int_unary(ev->node->op, x->tensor.dtype, values[i]);
    }
    tensor_store_ints(&out->tensor, start, count, values);
    if (out->bound) eval_load_bounds(x, start, count, out->bound + start);
}

bool eval_unary(Eval *ev, EvalValue *out) {
    int64_t count = tensor_elements(&out->tensor);
    bool is_float = dtype_is_float(out->tensor.dtype);
    eval_new_rounded(ev, out);
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < EVAL_RUN ? count - i : EVAL_RUN;
        (is_float ? float_run : int_run)(ev, out, i, n);
    }
    return true;
}

/* ---- cast ------------------------------------------------------------------------------------ */

static void cast_to_float(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    const EvalValue *x = &ev->args[0];
    bool pinned = ev->node->attrs[1].i != 0;
    EvalRounding rounding = {.dtype = out->tensor.dtype, .direct = true, .pinned = pinned};
    double values[EVAL_RUN], bounds[EVAL_RUN];
    tensor_load(&x->tensor, start, count, values);
    eval_load_bounds(x, start, count, bounds);
    eval_finish_run(&rounding, out, start, count, values, bounds);
}

/* Rounded once from the integer, which a double may not hold. */
static void cast_int_to_float(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    const Tensor *x = &ev->args[0].tensor;
    EvalRounding rounding = {.dtype = out->tensor.dtype, .direct = true};
    rounding.pinned = ev->node->attrs[1].i != 0;
    int64_t values[EVAL_RUN];
    tensor_load_ints(x, start, count, values);
    for (int64_t i = 0; i < count; i++) {
        double v = number_round_int(rounding.dtype, values[i], x->dtype == DT_u64);
        double wide = number_round_int(DT_f64, values[i], x->dtype == DT_u64);
        double *bound = out->bound ? &out->bound[start + i] : NULL;
        eval_finish(&rounding, wide, eval_bound_at(&ev->args[0], start + i), bound);
        tensor_set(&out->tensor, start + i, v);
    }
}

static void cast_to_int(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    const EvalValue *x = &ev->args[0];
    DType to = out->tensor.dtype;
    double values[EVAL_RUN];
    int64_t wholes[EVAL_RUN];
    tensor_load(&x->tensor, start, count, values);
    for (int64_t i = 0; i < count; i++) {
        double b = eval_bound_at(x, start + i), v = values[i];
        wholes[i] = number_to_int(to, v);
        bool flat = b == 0 || (number_to_int(to, v - b) == number_to_int(to, v + b) &&
                               (to != DT_bool || fabs(v) > b));
        if (out->bound) out->bound[start + i] = flat ? 0 : (double)INFINITY;
    }
    tensor_store_ints(&out->tensor, start, count, wholes);
}

static void cast_int_to_int(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    int64_t wholes[EVAL_RUN];
    tensor_load_ints(&ev->args[0].tensor, start, count, wholes);
    for (int64_t i = 0; i < count; i++) wholes[i] = number_wrap(out->tensor.dtype, wholes[i]);
    tensor_store_ints(&out->tensor, start, count, wholes);
    if (out->bound) eval_load_bounds(&ev->args[0], start, count, out->bound + start);
}

bool eval_cast(Eval *ev, EvalValue *out) {
    bool from = dtype_is_float(ev->args[0].tensor.dtype), to = dtype_is_float(out->tensor.dtype);
    int64_t count = tensor_elements(&out->tensor);
    if (from && to) eval_new_rounded(ev, out);
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < EVAL_RUN ? count - i : EVAL_RUN;
        if (to) {
            (from ? cast_to_float : cast_int_to_float)(ev, out, i, n);
        } else {
            (from ? cast_to_int : cast_int_to_int)(ev, out, i, n);
        }
    }
    return true;
}
