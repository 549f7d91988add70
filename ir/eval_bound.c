/* Rounding results and deriving how far a correct implementation may be from them.
 *
 * Write e for the exact result on the evaluator's operands, v for e rounded to the dtype, and e'
 * for the result on the operands of the implementation, which differ from ours by at most their
 * bounds, so that |e' - e| <= d, the deviation. Then
 *
 *   - an op that is correctly rounded in f32 or f64 gives round(e'): the same as v when d = 0,
 * otherwise within d and two half units in the last place of it;
 *   - an op of U ulp gives e' within U ulp: d + (U + ½) ulp from v;
 *   - a sum has its roundings in d already: d + ½ ulp;
 *   - a result of 16 or 8 bits is computed in f32 and then rounded, or, inside a fused group, left
 * as it is: at most d + 1 ulp of the dtype, or d + |f32(e) - v| + 1 ulp of f32;
 *   - near the largest number the two sides may overflow differently: nothing can be said, unless
 * both surely overflow.
 *
 * An op with a jump reads 8- and 16-bit floats rounded. Rounding is monotone, so the rounded number
 * lies between what both ends of e' -+ d round to: most often that is one number.
 */
#include "ir/eval_rules.h"

#include <math.h>
#include <string.h>

/* ---- runs of values -------------------------------------------------------------------------- */

bool eval_is_exact(const EvalValue *value) {
    if (!value->bound) return true;
    int64_t count = tensor_elements(&value->tensor);
    for (int64_t i = 0; i < count; i++) {
        if (value->bound[i] != 0) return false;
    }
    return true;
}

void eval_load_bounds(const EvalValue *value, int64_t start, int64_t count, double *out_bounds) {
    if (value->bound) {
        memcpy(out_bounds, value->bound + start, (size_t)count * sizeof(double));
    } else {
        memset(out_bounds, 0, (size_t)count * sizeof(double));
    }
}

static void copy_nibbles(Tensor *to, int64_t to_start, const Tensor *from, int64_t from_start,
                         int64_t count) {
    int64_t values[EVAL_RUN];
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < EVAL_RUN ? count - i : EVAL_RUN;
        tensor_load_ints(from, from_start + i, n, values);
        tensor_store_ints(to, to_start + i, n, values);
    }
}

void eval_copy(EvalValue *to, int64_t to_start, const EvalValue *from, int64_t from_start,
               int64_t count) {
    size_t bits = dtype_info(to->tensor.dtype)->bits, size = bits / 8;
    if (bits < 8) {
        copy_nibbles(&to->tensor, to_start, &from->tensor, from_start, count);
    } else {
        memcpy((char *)to->tensor.data + (size_t)to_start * size,
               (const char *)from->tensor.data + (size_t)from_start * size, (size_t)count * size);
    }
    if (to->bound) eval_load_bounds(from, from_start, count, to->bound + to_start);
}

void eval_new_rounded(Eval *ev, EvalValue *out) {
    DType dtype = out->tensor.dtype;
    bool small = dtype_is_float(dtype) && dtype_compute(dtype) != dtype;
    if (!small || !out->bound) return;
    out->rounded = NEW_ARRAY(ev->results, double, (size_t)tensor_elements(&out->tensor));
}

void eval_all_uncertain(EvalValue *value) {
    int64_t count = value->bound ? tensor_elements(&value->tensor) : 0;
    for (int64_t i = 0; i < count; i++) value->bound[i] = (double)INFINITY;
}

/* ---- deviations ------------------------------------------------------------------------------ */

double eval_spread(double v, double w) {
    if (v == w || (isnan(v) && isnan(w))) return 0;
    double spread = fabs(w - v);
    return isnan(spread) ? (double)INFINITY : spread;
}

double eval_scale(double x, double bound) { return bound == 0 ? 0 : fabs(x) * bound; }

DType eval_accumulator(DType operand, DType result) {
    return operand == DT_f64 || result == DT_f64 ? DT_f64 : DT_f32;
}

/* How many additions a term goes through at most: all in plain order, else those of its block of
 * 64, of the 64 blocks that this is one of, and so on. */
static double longest_chain(SumOrder order, int64_t count) {
    enum { BLOCK = 64 };
    double chain = 0;
    if (order == SUM_in_order) return (double)count;
    for (int64_t n = count; n > 1; n = (n + BLOCK - 1) / BLOCK)
        chain += (double)(n < BLOCK ? n : BLOCK);
    return chain;
}

/* Each addition is off by a factor of 1 + epsilon at most, a chain of c of them by e^(c epsilon).
 * Roundings go either way and a sum has sqrt(n) of them to spare: but equal terms, or many behind a
 * large one, are rounded the same way all along their chain.
 *
 * One term is itself. More of them may overflow in part, though the whole does not; a sum that
 * holds a NaN does so in any order, one that is infinite may become NaN where a finite term of the
 * other sign overflows. */
double eval_sum_deviation(const EvalOptions *options, DType accumulator, const SumTerms *sum) {
    const DTypeInfo *info = dtype_info(accumulator);
    double bounds = sum->bounds;
    if (isnan(bounds) || isinf(bounds)) return (double)INFINITY;
    if (sum->count <= 1 || isnan(sum->value)) return bounds;
    if (isinf(sum->value)) return (double)INFINITY;
    if (!(sum->magnitudes + bounds <= info->most)) return (double)INFINITY;
    double relax = options->relax > 0 ? options->relax : 1;
    double roundings = fmax(2 * sqrt((double)sum->count), longest_chain(sum->order, sum->count));
    double share = expm1((4 + roundings) * ldexp(1, -(int)info->precision));
    return bounds + relax * share * (sum->magnitudes + bounds);
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* Whether a number of this size rounds to infinity, in the direction of doubt. */
static bool overflows(DType dtype, double magnitude) {
    return isinf(number_round(dtype == DT_f8e4m3 ? DT_f32 : dtype, magnitude));
}

/* The bound for f32 and f64, given the deviation with the op's own error in it. */
static double wide_bound(const EvalRounding *r, double reach, double deviation) {
    if (deviation == 0) return 0;
    bool half = r->sum || r->ulps > 0;
    return deviation + (half ? 0.5 + 0x1p-10 : 1) * number_ulp(r->dtype, reach);
}

static double small_bound(const EvalRounding *r, double exact, double v, double reach,
                          double deviation) {
    double kept = r->pinned ? 0 : fabs(number_round(DT_f32, exact) - v); /* when left in f32 */
    double bound = kept;
    if (isinf(v)) return r->pinned || !isfinite(exact) ? 0 : (double)INFINITY;
    if (deviation > 0) {
        double left = kept + number_ulp(DT_f32, reach), rounded = number_ulp(r->dtype, reach);
        bound = deviation + (left > rounded ? left : rounded);
        if (overflows(r->dtype, reach)) return (double)INFINITY;
    }
    bool flushed = r->dtype == DT_bf16 && fabs(v) < dtype_info(DT_bf16)->least;
    return flushed && bound < fabs(v) ? fabs(v) : bound;
}

/* The deviation with the op's own error in it. */
static double with_ulps(const EvalRounding *r, double magnitude, double deviation) {
    DType compute = dtype_compute(r->dtype);
    double least = dtype_info(compute)->least;
    if (r->ulps <= 0) return deviation;
    deviation += r->ulps * number_ulp(compute, magnitude + deviation);
    return magnitude < least ? deviation + least : deviation; /* such ops may flush */
}

static double bound_of(const EvalRounding *r, double exact, double v, double deviation) {
    DType compute = dtype_compute(r->dtype);
    if (deviation == 0 && r->ulps == 0 && compute == r->dtype) return 0;
    if (isnan(deviation) || isinf(deviation)) return (double)INFINITY;
    /* An infinity that f8e4m3 does not have may be kept. */
    if (!isfinite(exact)) return r->pinned || v == exact || isnan(exact) ? 0 : (double)INFINITY;
    double magnitude = fabs(exact);
    deviation = with_ulps(r, magnitude, deviation);
    double reach = magnitude + deviation;
    if (overflows(compute, reach)) {
        bool surely = overflows(compute, magnitude - deviation) && v == exact * (double)INFINITY;
        return surely ? 0 : (double)INFINITY;
    }
    return compute == r->dtype ? wide_bound(r, reach, deviation)
                               : small_bound(r, exact, v, reach, deviation);
}

static double round_to(const EvalRounding *r, double exact) {
    bool twice = dtype_compute(r->dtype) != r->dtype && !r->direct;
    return number_round(r->dtype, twice ? number_round(DT_f32, exact) : exact);
}

/* Rounding is monotone: what lies within the deviation rounds to between its ends. */
static double rounded_bound(const EvalRounding *r, double exact, double deviation) {
    double v = round_to(r, exact), least = dtype_info(r->dtype)->least;
    if (isnan(deviation) || isinf(deviation)) return (double)INFINITY;
    if (!isfinite(exact)) return 0;
    deviation = with_ulps(r, fabs(exact), deviation);
    double up = eval_spread(v, round_to(r, exact + deviation));
    double down = eval_spread(v, round_to(r, exact - deviation));
    double bound = up > down ? up : down;
    bool flushed = r->dtype == DT_bf16 && fabs(v) < least;
    return flushed && bound < fabs(v) ? fabs(v) : bound;
}

/* The small floats are computed in f32 and rounded once from there; a cast goes directly. */
double eval_finish(const EvalRounding *r, double exact, double deviation, double *out_bound) {
    double v = round_to(r, exact);
    if (out_bound) *out_bound = bound_of(r, exact, v, deviation);
    return v;
}

void eval_finish_run(const EvalRounding *r, EvalValue *out, int64_t start, int64_t count,
                     double *exact, const double *deviations) {
    bool twice = dtype_compute(r->dtype) != r->dtype && !r->direct;
    for (int64_t i = 0; i < count && out->rounded; i++) {
        out->rounded[start + i] = rounded_bound(r, exact[i], deviations ? deviations[i] : 0);
    }
    for (int64_t i = 0; i < count && out->bound; i++) {
        exact[i] = eval_finish(r, exact[i], deviations ? deviations[i] : 0, &out->bound[start + i]);
    }
    for (int64_t i = 0; i < count && !out->bound && twice; i++) exact[i] = (double)(float)exact[i];
    tensor_store(&out->tensor, start, count, exact);
}
