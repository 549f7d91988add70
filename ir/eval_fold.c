/* Folds: what reduce, cumulative, window and scatter have in common. A state takes elements one by
 * one and keeps, beside the value in long double, what its bound needs:
 *
 *   add       terms = Σ|x|, bound = Σ b
 *   mul       terms = Π max(|x| + b, 1), low = Π min(|x| - b, 1) over the factors that are not 0,
 *             bound = Π (|x| + b): the product lies within bound - |value|, and no order of factors
 *             leaves the numbers from low to terms; doubt = Σ b; whether there were zeros,
 *             infinities and NaNs
 *   max, min  low and bound = the fold of x - b and of x + b, terms = the greatest b
 */
#include "ir/eval_rules.h"

#include <math.h>

static double identity(Op scalar) {
    switch (scalar) {
    case OP_mul: return 1;
    case OP_max: return (double)-INFINITY;
    case OP_min: return (double)INFINITY;
    default: return 0;
    }
}

/* The least or greatest integer (as the bits of tensor_load_ints) for max and min. */
static int64_t identity_int(Op scalar, DType dtype) {
    if (scalar != OP_max && scalar != OP_min) return scalar == OP_mul;
    const DTypeInfo *info = dtype_info(dtype);
    if (scalar == OP_max) return (int64_t)info->least;
    if (dtype == DT_u64) return -1;
    return dtype == DT_i64 ? INT64_MAX : (int64_t)info->most;
}

void fold_start(const Fold *fold, FoldState *out_state) {
    double start = identity(fold->scalar), bound = fold->scalar == OP_add ? 0 : start;
    *out_state = (FoldState){.terms = fold->scalar == OP_mul, .low = bound, .bound = bound};
    if (fold->is_float) {
        out_state->value = (long double)start;
    } else {
        out_state->whole = identity_int(fold->scalar, fold->operand);
        out_state->bound = 0;
    }
}

/* NaN wins, -0 < 0. */
static long double greater(long double x, long double y) {
    if (isnan(x) || isnan(y)) return isnan(x) ? x : y;
    if (x == y) return signbit(x) ? y : x;
    return x > y ? x : y;
}

static long double lesser(long double x, long double y) { return -greater(-x, -y); }

static void fold_extreme(FoldState *state, bool max, double value, double bound) {
    long double (*pick)(long double, long double) = max ? greater : lesser;
    state->value = pick(state->value, (long double)value);
    if (bound > state->terms) state->terms = bound;
    if (isnan(value)) return;
    state->low = (double)pick((long double)state->low, (long double)(value - bound));
    state->bound = (double)pick((long double)state->bound, (long double)(value + bound));
}

static void fold_factor(FoldState *state, double value, double bound) {
    double reach = fabs(value) + bound, least = fmax(fabs(value) - bound, 0);
    state->value *= (long double)value;
    state->doubt += bound;
    state->has_nan |= isnan(value);
    state->has_infinity |= isinf(value);
    state->has_zero |= value == 0;
    if (reach > 1) state->terms *= reach;
    if (reach > 0 && least < 1) state->low *= least;
    state->bound *= reach;
}

void fold_add(const Fold *fold, FoldState *state, double value, double bound) {
    state->count++;
    switch (fold->scalar) {
    case OP_add:
        state->value += (long double)value;
        state->terms += fabs(value);
        state->bound += bound;
        return;
    case OP_mul: fold_factor(state, value, bound); return;
    default: fold_extreme(state, fold->scalar == OP_max, value, bound);
    }
}

void fold_add_int(const Fold *fold, FoldState *state, int64_t value, double bound) {
    state->count++;
    state->bound += bound;
    state->whole = eval_int_binary(fold->scalar, fold->operand, state->whole, value);
}

static double extreme_deviation(const FoldState *state) {
    double v = (double)state->value;
    if (isinf(state->terms)) return (double)INFINITY;
    if (isnan(v)) return 0;
    double low = eval_spread(v, state->low), high = eval_spread(v, state->bound);
    return low > high ? low : high;
}

/* A product with infinities or NaNs: an order in which the other factors underflow first makes NaN
 * of an infinity. */
static double special_deviation(const FoldState *state, const DTypeInfo *accumulator) {
    if (state->doubt > 0) return (double)INFINITY;
    bool surely_nan = state->has_nan || state->has_zero;
    return surely_nan || state->low >= accumulator->least ? 0 : (double)INFINITY;
}

/* n roundings of n - 1 products, and factors that underflow on the way. Where some order overflows
 * on the way, another may not, or may meet a zero and give NaN: nothing can be said, unless no
 * factor is below 1 and all orders do. */
static double product_deviation(const FoldState *state, const DTypeInfo *accumulator) {
    double v = fabs((double)state->value), n = (double)state->count;
    double roundings = n * ldexp(1, 1 - (int)accumulator->precision);
    if (state->has_nan || state->has_infinity) return special_deviation(state, accumulator);
    if (state->count <= 1) return state->doubt;
    if (!(state->terms <= accumulator->most)) {
        if (state->has_zero || state->low < 1) return (double)INFINITY;
        long double most = (long double)accumulator->most * (1 + (long double)roundings);
        if (isinf(v))
            return state->doubt > 0 || !(fabsl(state->value) > most) ? (double)INFINITY : 0;
    }
    if (state->has_zero && state->doubt == 0) return 0;
    double d = state->bound > v ? state->bound - v : 0;
    d += roundings * state->bound;
    if (state->low < accumulator->least) d += accumulator->least * state->terms;
    return d;
}

static double sum_deviation(const Fold *fold, const FoldState *state, DType accumulator) {
    SumTerms sum = {fold->order, state->count, (double)state->value, state->terms, state->bound};
    return eval_sum_deviation(fold->options, accumulator, &sum);
}

static double deviation_of(const Fold *fold, const FoldState *state) {
    DType accumulator = eval_accumulator(fold->operand, fold->result);
    switch (fold->scalar) {
    case OP_add: return sum_deviation(fold, state, accumulator);
    case OP_mul: return product_deviation(state, dtype_info(accumulator));
    default: return extreme_deviation(state);
    }
}

void fold_finish(const Fold *fold, const FoldState *state, EvalValue *out, int64_t i) {
    if (!fold->is_float) {
        tensor_set_int(&out->tensor, i, state->whole);
        if (out->bound) out->bound[i] = state->bound;
        return;
    }
    bool folded = state->count > 1 && (fold->scalar == OP_add || fold->scalar == OP_mul);
    DType accumulator = eval_accumulator(fold->operand, fold->result);
    EvalRounding rounding = {.dtype = fold->result};
    rounding.sum = folded && fold->result == accumulator;
    double d = out->bound ? deviation_of(fold, state) : 0;
    double v = eval_finish(&rounding, (double)state->value, d, out->bound ? &out->bound[i] : NULL);
    tensor_set(&out->tensor, i, v);
}

void fold_add_run(const Fold *fold, const EvalValue *x, int64_t start, int64_t count,
                  FoldState *states, int64_t step) {
    double values[EVAL_RUN], bounds[EVAL_RUN];
    int64_t wholes[EVAL_RUN];
    for (int64_t at = 0, n; at < count; at += n) {
        n = count - at < EVAL_RUN ? count - at : EVAL_RUN;
        eval_load_bounds(x, start + at, n, bounds);
        FoldState *state = states + at * step;
        if (fold->is_float) {
            tensor_load(&x->tensor, start + at, n, values);
            for (int64_t i = 0; i < n; i++) fold_add(fold, state + i * step, values[i], bounds[i]);
        } else {
            tensor_load_ints(&x->tensor, start + at, n, wholes);
            for (int64_t i = 0; i < n; i++) {
                fold_add_int(fold, state + i * step, wholes[i], bounds[i]);
            }
        }
    }
}
