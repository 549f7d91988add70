/* Binary ops, comparisons, select. The deviation of a float result follows from those of the
 * operands, a and b (ba and bb below): of a sum their sum, of a product |x|·bb + |y|·ba + ba·bb, of
 * a quotient the same to first order and exactly by the least |y'|; of functions that are monotone
 * in each operand the extremes at the four corners of the rectangle of operands. */
#include "ir/eval_rules.h"

#include <math.h>

/* An operand: its value and bound. */
typedef struct Operand {
    double x, b;
} Operand;

/* ---- the functions on doubles: right for f32; for f64 pow is in long double ------------------ */

/* The exact quotient rounded down: x - rem is a multiple of y. */
static double floor_divide(double x, double y) {
    double rem = fmod(x, y);
    if (y == 0 || isinf(x) || isinf(y) || isnan(rem)) return floor(x / y);
    double quotient = nearbyint((x - rem) / y);
    if (rem != 0 && (rem < 0) != (y < 0)) return quotient - 1;
    return quotient == 0 ? copysign(0, x / y) : quotient;
}

static double modulus(double x, double y) {
    double rem = fmod(x, y);
    return rem != 0 && (rem < 0) != (y < 0) ? rem + y : rem;
}

static double greater(double x, double y) {
    if (isnan(x) || isnan(y)) return (double)NAN;
    if (x == y) return signbit(x) ? y : x;
    return x > y ? x : y;
}

/* Where an operand is zero or no number there is nothing to round, and pow is right; glibc's powl
 * is not: it gives (-inf)^(-2^63) = inf. */
static double wide_power(double x, double y) {
    if (x == 0 || !isfinite(x) || !isfinite(y)) return pow(x, y);
    return (double)powl((long double)x, (long double)y);
}

static double apply(Op op, bool wide, double x, double y) {
    switch (op) {
    case OP_add: return x + y;
    case OP_sub: return x - y;
    case OP_mul: return x * y;
    case OP_div: return x / y;
    case OP_floordiv: return floor_divide(x, y);
    case OP_rem: return fmod(x, y);
    case OP_mod: return modulus(x, y);
    case OP_pow: return wide ? wide_power(x, y) : pow(x, y);
    case OP_min: return -greater(-x, -y);
    default: return greater(x, y);
    }
}

/* ---- deviations ------------------------------------------------------------------------------ */

static double product_deviation(Operand p, Operand q) {
    if (isinf(p.x) || isinf(q.x)) {
        bool signs_hold = (fabs(p.x) > p.b || p.b == 0) && (fabs(q.x) > q.b || q.b == 0);
        return signs_hold ? 0 : (double)INFINITY;
    }
    return eval_scale(p.x, q.b) + eval_scale(q.x, p.b) + p.b * q.b;
}

static double quotient_deviation(Operand p, Operand q) {
    if (q.x == 0 && q.b == 0) return fabs(p.x) > p.b || p.b == 0 ? 0 : (double)INFINITY;
    if (fabs(q.x) <= q.b) return (double)INFINITY;
    if (isinf(p.x) || isinf(q.x)) return 0;
    return (p.b + eval_scale(p.x / q.x, q.b)) / (fabs(q.x) - q.b);
}

/* Whether the quotient stays between the same two integers; `round` is floor or trunc. */
static bool same_quotient(Operand p, Operand q, double (*round)(double)) {
    if (fabs(q.x) <= q.b || !isfinite(p.x) || !isfinite(q.x)) return p.b == 0 && q.b == 0;
    double first = round((p.x - p.b) / (q.x - q.b));
    return round((p.x - p.b) / (q.x + q.b)) == first && round((p.x + p.b) / (q.x - q.b)) == first &&
           round((p.x + p.b) / (q.x + q.b)) == first;
}

static double remainder_deviation(Op op, Operand p, Operand q) {
    double (*round)(double) = op == OP_rem ? trunc : floor;
    if (!same_quotient(p, q, round)) return (double)INFINITY;
    return p.b + eval_scale(round(p.x / q.x), q.b);
}

/* The greatest spread of `op` over the corners of the operands' rectangle. */
static double corner_deviation(Op op, bool wide, Operand p, Operand q) {
    double v = apply(op, wide, p.x, q.x), most = 0;
    for (int corner = 0; corner < 4; corner++) {
        double x = corner & 1 ? p.x + p.b : p.x - p.b, y = corner & 2 ? q.x + q.b : q.x - q.b;
        double spread = eval_spread(v, apply(op, wide, x, y));
        if (spread > most) most = spread;
    }
    return most;
}

/* A positive base: monotone in each operand. An exact positive integer power of any base: monotone
 * on both sides of 0. */
static double power_deviation(bool wide, Operand p, Operand q) {
    if (p.x - p.b > 0) return corner_deviation(OP_pow, wide, p, q);
    if (q.b > 0 || q.x != trunc(q.x) || q.x < 0) return (double)INFINITY;
    double through_zero = fabs(apply(OP_pow, wide, p.x, q.x)) + (q.x == 0);
    double corners = corner_deviation(OP_pow, wide, p, q);
    if (q.x == 0) return 0;
    return corners > through_zero ? corners : through_zero;
}

static double deviation(Op op, bool wide, Operand p, Operand q) {
    if (p.b == 0 && q.b == 0) return 0;
    if (isinf(p.b) || isinf(q.b)) return (double)INFINITY;
    if (op != OP_pow && (isnan(p.x) || isnan(q.x))) return 0;
    switch (op) {
    case OP_add:
    case OP_sub: return isinf(p.x) || isinf(q.x) ? 0 : p.b + q.b;
    case OP_mul: return product_deviation(p, q);
    case OP_div: return quotient_deviation(p, q);
    case OP_floordiv: return same_quotient(p, q, floor) ? 0 : (double)INFINITY;
    case OP_rem:
    case OP_mod: return remainder_deviation(op, p, q);
    case OP_pow: return power_deviation(wide, p, q);
    default: return corner_deviation(op, wide, p, q);
    }
}

/* The rounded quotient may be an integer that the exact one only comes near: then floor of either
 * is a right answer of floordiv. Where quotients have no fraction bits left, one unit in the last
 * place is allowed. */
static double either_quotient(DType dtype, double x, double y) {
    DType compute = dtype_compute(dtype);
    double exact = number_round(compute, floor_divide(x, y));
    double large = ldexp(1, (int)dtype_info(compute)->precision);
    if (fabs(exact) >= large) return isinf(exact) ? 0 : number_ulp(compute, exact);
    return eval_spread(exact, floor(number_round(compute, x / y)));
}

/* ---- binary ---------------------------------------------------------------------------------- */

static void float_run(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    Op op = ev->node->op;
    DType dtype = out->tensor.dtype;
    bool wide = dtype == DT_f64;
    EvalRounding rounding = {.dtype = dtype, .ulps = ev->info->ulp};
    double x[EVAL_RUN], y[EVAL_RUN], deviations[EVAL_RUN];
    tensor_load(&ev->args[0].tensor, start, count, x);
    tensor_load(&ev->args[1].tensor, start, count, y);
    for (int64_t i = 0; i < count; i++) {
        if (out->bound) {
            Operand p = {x[i], eval_bound_at(&ev->args[0], start + i)};
            Operand q = {y[i], eval_bound_at(&ev->args[1], start + i)};
            deviations[i] = deviation(op, wide, p, q);
            if (op == OP_floordiv) deviations[i] += either_quotient(dtype, x[i], y[i]);
        }
        x[i] = apply(op, wide, x[i], y[i]);
    }
    eval_finish_run(&rounding, out, start, count, x, out->bound ? deviations : NULL);
}

/* A bool `and` with a certain false, an `or` with a certain true, is certain. */
static bool decides(Op op, DType dtype, int64_t value, double bound) {
    return dtype == DT_bool && bound == 0 && ((op == OP_and && !value) || (op == OP_or && value));
}

static double int_bound(const Eval *ev, int64_t i, int64_t x, int64_t y) {
    double bx = eval_bound_at(&ev->args[0], i), by = eval_bound_at(&ev->args[1], i);
    DType dtype = ev->args[0].tensor.dtype;
    if (bx == 0 && by == 0) return 0;
    bool decided = decides(ev->node->op, dtype, x, bx) || decides(ev->node->op, dtype, y, by);
    return decided ? 0 : (double)INFINITY;
}

/* Compare ops too. */
static void int_run(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    DType dtype = ev->args[0].tensor.dtype;
    int64_t x[EVAL_RUN], y[EVAL_RUN];
    tensor_load_ints(&ev->args[0].tensor, start, count, x);
    tensor_load_ints(&ev->args[1].tensor, start, count, y);
    for (int64_t i = 0; i < count; i++) {
        if (out->bound) out->bound[start + i] = int_bound(ev, start + i, x[i], y[i]);
        x[i] = eval_int_binary(ev->node->op, dtype, x[i], y[i]);
    }
    tensor_store_ints(&out->tensor, start, count, x);
}

typedef void RunFn(const Eval *ev, EvalValue *out, int64_t start, int64_t count);

static bool in_runs(const Eval *ev, EvalValue *out, RunFn *run) {
    int64_t count = tensor_elements(&out->tensor);
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < EVAL_RUN ? count - i : EVAL_RUN;
        run(ev, out, i, n);
    }
    return true;
}

bool eval_binary(Eval *ev, EvalValue *out) {
    eval_new_rounded(ev, out);
    return in_runs(ev, out, dtype_is_float(out->tensor.dtype) ? float_run : int_run);
}

/* ---- compare --------------------------------------------------------------------------------- */

static int64_t compare(Op op, double x, double y) {
    switch (op) {
    case OP_eq: return x == y;
    case OP_ne: return x != y;
    case OP_lt: return x < y;
    case OP_le: return x <= y;
    case OP_gt: return x > y;
    default: return x >= y;
    }
}

/* +inf where the operands' intervals meet. */
static double compare_bound(Operand p, Operand q) {
    double doubt = p.b + q.b;
    if (doubt == 0) return 0;
    if (isinf(doubt)) return doubt;
    bool apart = isnan(p.x) || isnan(q.x) || eval_spread(p.x, q.x) > doubt;
    return apart ? 0 : (double)INFINITY;
}

static void compare_run(const Eval *ev, EvalValue *out, int64_t start, int64_t count) {
    double x[EVAL_RUN], y[EVAL_RUN];
    int64_t results[EVAL_RUN];
    tensor_load(&ev->args[0].tensor, start, count, x);
    tensor_load(&ev->args[1].tensor, start, count, y);
    for (int64_t i = 0; i < count; i++) {
        Operand p = {x[i], eval_bound_at(&ev->args[0], start + i)};
        Operand q = {y[i], eval_bound_at(&ev->args[1], start + i)};
        results[i] = compare(ev->node->op, x[i], y[i]);
        if (out->bound) out->bound[start + i] = compare_bound(p, q);
    }
    tensor_store_ints(&out->tensor, start, count, results);
}

bool eval_compare(Eval *ev, EvalValue *out) {
    return in_runs(ev, out, dtype_is_float(ev->args[0].tensor.dtype) ? compare_run : int_run);
}

/* ---- select ---------------------------------------------------------------------------------- */

/* With an uncertain condition either side may be taken. */
static double select_bound(const Eval *ev, bool first, int64_t i) {
    const EvalValue *taken = &ev->args[first ? 1 : 2], *other = &ev->args[first ? 2 : 1];
    double bound = eval_bound_at(taken, i);
    if (eval_bound_at(&ev->args[0], i) == 0) return bound;
    if (!dtype_is_float(taken->tensor.dtype)) {
        bool same = tensor_get_int(&taken->tensor, i) == tensor_get_int(&other->tensor, i);
        return same && bound == 0 && eval_bound_at(other, i) == 0 ? 0 : (double)INFINITY;
    }
    double spread = eval_spread(tensor_get(&taken->tensor, i), tensor_get(&other->tensor, i));
    spread += eval_bound_at(other, i);
    return spread > bound ? spread : bound;
}

bool eval_select(Eval *ev, EvalValue *out) {
    int64_t count = tensor_elements(&out->tensor), conditions[EVAL_RUN];
    for (int64_t i = 0, n; i < count; i += n) {
        n = count - i < EVAL_RUN ? count - i : EVAL_RUN;
        tensor_load_ints(&ev->args[0].tensor, i, n, conditions);
        for (int64_t j = 0; j < n; j++) {
            bool first = conditions[j] != 0;
            eval_copy(out, i + j, &ev->args[first ? 1 : 2], i + j, 1);
            if (out->bound) out->bound[i + j] = select_bound(ev, first, i + j);
        }
    }
    return true;
}
