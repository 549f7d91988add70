/* Reductions, argmax and argmin, running folds: along axes of one operand. */
#include "ir/eval_rules.h"

#include <math.h>

static Fold make_fold(const Eval *ev, DType result) {
    DType operand = ev->args[0].tensor.dtype;
    return (Fold){.options = ev->options,
                  .scalar = ev->info->scalar,
                  .operand = operand,
                  .result = result,
                  .is_float = dtype_is_float(operand)};
}

/* Strides of the result along the operand's axes: 0 along reduced ones. */
static void result_strides(const Tensor *x, const Tensor *out, const IntList *axes,
                           int64_t *out_strides) {
    int64_t strides[TYPE_MAX_RANK];
    uint32_t kept = 0, mask = 0;
    eval_strides(out, strides);
    for (uint32_t i = 0; i < axes->count; i++) mask |= 1u << axes->items[i];
    for (uint32_t i = 0; i < x->rank; i++) out_strides[i] = mask >> i & 1 ? 0 : strides[kept++];
}

bool eval_reduce(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0];
    const Tensor *t = &x->tensor;
    Fold fold = make_fold(ev, out->tensor.dtype);
    int64_t strides[TYPE_MAX_RANK + 1] = {0}, index[TYPE_MAX_RANK] = {0};
    int64_t results = tensor_elements(&out->tensor), count = tensor_elements(t);
    result_strides(t, &out->tensor, ev->node->attrs[0].ints, strides);
    FoldState *states = NEW_ARRAY(ev->scratch, FoldState, (size_t)results);
    for (int64_t i = 0; i < results; i++) fold_start(&fold, &states[i]);
    uint32_t outer = t->rank ? t->rank - 1 : 0;
    int64_t row = t->rank ? t->dims[outer] : 1;
    for (int64_t at = 0; at < count; at += row) {
        int64_t to = 0;
        for (uint32_t i = 0; i < outer; i++) to += index[i] * strides[i];
        fold_add_run(&fold, x, at, row, states + to, strides[outer]);
        eval_next(outer, t->dims, index);
    }
    for (int64_t i = 0; i < results; i++) fold_finish(&fold, &states[i], out, i);
    return true;
}

/* ---- along one axis: element j of lane (o, i) stands at (o·n + j)·inner + i ------------------ */

typedef struct Lanes {
    int64_t outer, n, inner;
} Lanes;

static Lanes lanes_of(const Tensor *x, int64_t axis) {
    uint32_t a = (uint32_t)axis;
    return (Lanes){eval_product(x->dims, 0, a), x->dims[a], eval_product(x->dims, a + 1, x->rank)};
}

/* ---- argmax, argmin -------------------------------------------------------------------------- */

/* Whether candidate `w` beats the best so far, `v`, which comes first. */
static bool beats(bool max, double w, double v) {
    if (isnan(v)) return false;
    return isnan(w) || (max ? w > v : w < v);
}

static int64_t best_float(const EvalValue *x, bool max, Lanes l, int64_t first) {
    int64_t best = 0;
    double v = l.n ? tensor_get(&x->tensor, first) : 0;
    for (int64_t j = 1; j < l.n; j++) {
        double w = tensor_get(&x->tensor, first + j * l.inner);
        if (beats(max, w, v)) best = j, v = w;
    }
    return best;
}

static int64_t best_int(const EvalValue *x, bool max, Lanes l, int64_t first) {
    DType dtype = x->tensor.dtype;
    int64_t best = 0, v = l.n ? tensor_get_int(&x->tensor, first) : 0;
    for (int64_t j = 1; j < l.n; j++) {
        int64_t w = tensor_get_int(&x->tensor, first + j * l.inner);
        if (eval_int_binary(max ? OP_gt : OP_lt, dtype, w, v)) best = j, v = w;
    }
    return best;
}

/* +inf when an element that is not exact could take the place of the best. */
static double best_bound(const EvalValue *x, bool max, Lanes l, int64_t first, int64_t best) {
    if (!x->bound || l.n == 0) return 0;
    double sign = max ? 1 : -1;
    int64_t place = first + best * l.inner;
    double v = sign * tensor_get(&x->tensor, place), b = x->bound[place];
    for (int64_t j = 0; j < l.n; j++) {
        int64_t at = first + j * l.inner;
        double w = sign * tensor_get(&x->tensor, at), doubt = b + x->bound[at];
        if (isinf(doubt)) return (double)INFINITY;
        if (j != best && doubt > 0 && !isnan(v) && w + doubt >= v) return (double)INFINITY;
    }
    return 0;
}

bool eval_argreduce(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0];
    Lanes l = lanes_of(&x->tensor, ev->node->attrs[0].i);
    bool max = ev->info->scalar == OP_gt, is_float = dtype_is_float(x->tensor.dtype);
    for (int64_t lane = 0; lane < l.outer * l.inner; lane++) {
        int64_t first = lane / l.inner * l.n * l.inner + lane % l.inner;
        int64_t best = is_float ? best_float(x, max, l, first) : best_int(x, max, l, first);
        tensor_set_int(&out->tensor, lane, best);
        if (out->bound) out->bound[lane] = best_bound(x, max, l, first, best);
    }
    return true;
}

/* ---- cumulative ------------------------------------------------------------------------------ */

static void run_lane(const Fold *fold, const EvalValue *x, Lanes l, int64_t first, bool exclusive,
                     bool reverse, EvalValue *out) {
    FoldState state;
    fold_start(fold, &state);
    for (int64_t j = 0; j < l.n; j++) {
        int64_t at = first + (reverse ? l.n - 1 - j : j) * l.inner;
        if (exclusive) fold_finish(fold, &state, out, at);
        fold_add_run(fold, x, at, 1, &state, 1);
        if (!exclusive) fold_finish(fold, &state, out, at);
    }
}

bool eval_cumulative(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0];
    const Attr *attrs = ev->node->attrs;
    Lanes l = lanes_of(&x->tensor, attrs[0].i);
    Fold fold = make_fold(ev, out->tensor.dtype);
    for (int64_t lane = 0; lane < l.outer * l.inner; lane++) {
        int64_t first = lane / l.inner * l.n * l.inner + lane % l.inner;
        run_lane(&fold, x, l, first, attrs[1].i != 0, attrs[2].i != 0, out);
    }
    return true;
}
