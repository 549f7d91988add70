/* Sliding windows: for each place in the window one pass over the results whose element there is
 * not padding. Result o takes element o·stride + place·dilation - lo along each axis. */
#include "ir/eval_rules.h"

/* The attributes of one axis, and the results [first, last) that a place in the window has elements
 * for. */
typedef struct Axis {
    int64_t window, stride, dilation, lo, size, results;
    int64_t first, last, offset; /* of the element of result 0 */
} Axis;

static int64_t ceil_divide(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

static void set_place(Axis *axis, int64_t place) {
    axis->offset = place * axis->dilation - axis->lo;
    int64_t first = ceil_divide(-axis->offset, axis->stride);
    int64_t last = ceil_divide(axis->size - axis->offset, axis->stride);
    axis->first = first < 0 ? 0 : first;
    axis->last = last > axis->results ? axis->results : last;
}

static void read_axes(const Eval *ev, const EvalValue *out, Axis *axes, int64_t *windows) {
    const Attr *attrs = ev->node->attrs;
    for (uint32_t i = 0; i < out->tensor.rank; i++) {
        axes[i] = (Axis){.window = attrs[0].ints->items[i],
                         .stride = attrs[1].ints->items[i],
                         .dilation = attrs[2].ints->items[i],
                         .lo = attrs[3].ints->items[i],
                         .size = ev->args[0].tensor.dims[i],
                         .results = out->tensor.dims[i]};
        windows[i] = axes[i].window;
    }
}

/* Adds `n` elements, `stride` apart, to the states of neighbouring results. */
static void add_row(const Fold *fold, const Side *x, int64_t at, int64_t stride, int64_t n,
                    FoldState *states) {
    for (int64_t i = 0; i < n; i++, at += stride) {
        double bound = x->b ? x->b[at] : 0;
        if (x->x)
            fold_add(fold, &states[i], x->x[at], bound);
        else
            fold_add_int(fold, &states[i], x->whole[at], bound);
    }
}

/* Adds one place's element to each result's state. */
static void add_place(const Fold *fold, const Side *x, const int64_t *from, const EvalValue *out,
                      const Axis *axes, FoldState *states) {
    uint32_t rank = out->tensor.rank, outer = rank ? rank - 1 : 0;
    int64_t to[TYPE_MAX_RANK], dims[TYPE_MAX_RANK], index[TYPE_MAX_RANK] = {0};
    eval_strides(&out->tensor, to);
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = axes[i].last - axes[i].first;
        if (dims[i] <= 0) return;
    }
    do {
        int64_t at = 0, result = 0;
        for (uint32_t i = 0; i < rank; i++) {
            int64_t o = axes[i].first + (i < outer ? index[i] : 0);
            at += (o * axes[i].stride + axes[i].offset) * from[i];
            result += o * to[i];
        }
        add_row(fold, x, at, rank ? axes[outer].stride : 1, rank ? dims[outer] : 1,
                states + result);
    } while (eval_next(outer, dims, index));
}

bool eval_window(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0];
    DType dtype = x->tensor.dtype;
    Fold fold = {ev->options, ev->info->scalar, dtype, dtype, dtype_is_float(dtype), SUM_in_blocks};
    Axis axes[TYPE_MAX_RANK];
    int64_t windows[TYPE_MAX_RANK], place[TYPE_MAX_RANK] = {0}, from[TYPE_MAX_RANK];
    Side side = side_load(ev, x);
    int64_t count = tensor_elements(&out->tensor);
    FoldState *states = NEW_ARRAY(ev->scratch, FoldState, (size_t)count);
    for (int64_t i = 0; i < count; i++) fold_start(&fold, &states[i]);
    read_axes(ev, out, axes, windows);
    eval_strides(&x->tensor, from);
    do {
        for (uint32_t i = 0; i < out->tensor.rank; i++) set_place(&axes[i], place[i]);
        add_place(&fold, &side, from, out, axes, states);
    } while (eval_next(out->tensor.rank, windows, place));
    for (int64_t i = 0; i < count; i++) fold_finish(&fold, &states[i], out, i);
    return true;
}
