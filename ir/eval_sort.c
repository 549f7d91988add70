/* Sort and topk: a stable merge sort of each lane's indices. NaN counts as greatest, -0 equals 0.
 */
#include "ir/eval_rules.h"

#include <math.h>
#include <string.h>

/* One lane: element j stands at first + j·step. */
typedef struct Lane {
    DType dtype;
    bool descending;
    int64_t n;
    double *keys;    /* floats */
    int64_t *wholes; /* the rest */
    double *bounds;
    int64_t *order, *merged;
} Lane;

static int compare_floats(double x, double y) {
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* Whether element i must come before j, not being equal. */
static bool before(const Lane *lane, int64_t i, int64_t j) {
    if (lane->descending) {
        int64_t k = i;
        i = j;
        j = k;
    }
    if (lane->keys) return compare_floats(lane->keys[i], lane->keys[j]) < 0;
    return eval_int_binary(OP_lt, lane->dtype, lane->wholes[i], lane->wholes[j]) != 0;
}

/* Merges order[a..b) and order[b..c), both sorted; equals keep their order. */
static void merge(Lane *lane, int64_t a, int64_t b, int64_t c) {
    const int64_t *order = lane->order;
    int64_t left = a, right = b;
    for (int64_t i = a; i < c; i++) {
        bool take_right = left == b || (right < c && before(lane, order[right], order[left]));
        lane->merged[i] = take_right ? order[right++] : order[left++];
    }
}

static void sort_lane(Lane *lane) {
    for (int64_t i = 0; i < lane->n; i++) lane->order[i] = i;
    for (int64_t width = 1; width < lane->n; width *= 2) {
        for (int64_t a = 0; a < lane->n; a += 2 * width) {
            int64_t b = a + width < lane->n ? a + width : lane->n;
            int64_t c = b + width < lane->n ? b + width : lane->n;
            merge(lane, a, b, c);
        }
        int64_t *sorted = lane->merged;
        lane->merged = lane->order;
        lane->order = sorted;
    }
}

static void load_lane(Lane *lane, const EvalValue *x, int64_t first, int64_t step) {
    for (int64_t j = 0; j < lane->n; j++) {
        int64_t at = first + j * step;
        lane->bounds[j] = eval_bound_at(x, at);
        if (lane->keys) {
            lane->keys[j] = tensor_get(&x->tensor, at);
        } else {
            lane->wholes[j] = tensor_get_int(&x->tensor, at);
        }
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Sorted values move by at most the greatest bound. The element at place i is certain when no
 * element of another place can reach its interval: neither the greatest x + b before it nor the
 * least x - b after (the other way round when descending). Exact equals are certain. */
static double greatest_bound(const Lane *lane) {
    double most = 0;
    for (int64_t j = 0; j < lane->n; j++) {
        if (lane->bounds[j] > most) most = lane->bounds[j];
    }
    return most;
}

static bool may_swap(const Lane *lane, int64_t i, int64_t j) {
    double doubt = lane->bounds[i] + lane->bounds[j];
    if (doubt == 0) return false;
    if (isinf(doubt) || !lane->keys) return true;
    double x = lane->keys[i], y = lane->keys[j];
    if (isnan(x) || isnan(y)) return false;
    return eval_spread(x, y) <= doubt;
}

/* Whether the index at place i of the sorted lane is certain. Places further than the greatest
 * bound allows need not be looked at, because values are sorted. */
static bool index_is_certain(const Lane *lane, int64_t i, double most) {
    int64_t own = lane->order[i];
    for (int direction = -1; direction <= 1; direction += 2) {
        for (int64_t k = i + direction; k >= 0 && k < lane->n; k += direction) {
            int64_t other = lane->order[k];
            if (may_swap(lane, own, other)) return false;
            bool far = lane->keys && eval_spread(lane->keys[own], lane->keys[other]) > 2 * most;
            if (far) break;
        }
    }
    return true;
}

static void store_lane(const Lane *lane, const EvalValue *x, int64_t from, int64_t to, int64_t step,
                       int64_t count, EvalValue *out) {
    double most = greatest_bound(lane);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = to + i * step;
        eval_copy(&out[0], at, x, from + lane->order[i] * step, 1);
        tensor_set_int(&out[1].tensor, at, lane->order[i]);
        if (!out[0].bound) continue;
        out[0].bound[at] = most;
        out[1].bound[at] = most == 0 || index_is_certain(lane, i, most) ? 0 : (double)INFINITY;
    }
}

/* ---- the op ---------------------------------------------------------------------------------- */

bool eval_sort(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0];
    const Attr *attrs = ev->node->attrs;
    uint32_t axis = (uint32_t)attrs[0].i;
    int64_t n = x->tensor.dims[axis], count = out[0].tensor.dims[axis];
    size_t size = (size_t)n;
    Lane lane = {.dtype = x->tensor.dtype, .n = n};
    lane.descending = attrs[ev->node->op == OP_topk ? 2 : 1].i != 0;
    lane.bounds = NEW_ARRAY(ev->scratch, double, size);
    lane.order = NEW_ARRAY(ev->scratch, int64_t, size);
    lane.merged = NEW_ARRAY(ev->scratch, int64_t, size);
    if (dtype_is_float(lane.dtype))
        lane.keys = NEW_ARRAY(ev->scratch, double, size);
    else
        lane.wholes = NEW_ARRAY(ev->scratch, int64_t, size);
    int64_t outer = eval_product(x->tensor.dims, 0, axis);
    int64_t inner = eval_product(x->tensor.dims, axis + 1, x->tensor.rank);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < inner; i++) {
            int64_t from = o * n * inner + i, to = o * count * inner + i;
            load_lane(&lane, x, from, inner);
            sort_lane(&lane);
            store_lane(&lane, x, from, to, inner, count, out);
        }
    }
    return true;
}
