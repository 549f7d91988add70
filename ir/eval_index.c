/* Gather and scatter. With the operand's dims read as [outer, mid, n, inner], where `outer` are the
 * batch axes and n the indexed one, and the indices as [outer, count], slice (o, m, k) of the
 * result is slice (o, m, index[o, k]) of the operand. An index out of range is recorded and
 * clamped. */
#include "ir/eval_rules.h"

#include <math.h>

typedef struct Slices {
    int64_t outer, mid, n, inner, count;
} Slices;

static Slices slices_of(const Eval *ev) {
    const Tensor *x = &ev->args[0].tensor, *index = &ev->args[1].tensor;
    uint32_t axis = (uint32_t)ev->node->attrs[0].i, batch = (uint32_t)ev->node->attrs[1].i;
    return (Slices){eval_product(x->dims, 0, batch), eval_product(x->dims, batch, axis),
                    x->dims[axis], eval_product(x->dims, axis + 1, x->rank),
                    eval_product(index->dims, batch, index->rank)};
}

/* The index in [0, n) at place `at`; -1 when there is nothing to index. */
static int64_t index_at(Eval *ev, int64_t at, int64_t n) {
    int64_t index = tensor_get_int(&ev->args[1].tensor, at);
    int64_t place = index < 0 && index >= -n ? index + n : index;
    if (place >= 0 && place < n) return place;
    eval_index_error(ev, index, n);
    return place < 0 && n ? 0 : n - 1;
}

static void mark_uncertain(EvalValue *out, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; i++) out->bound[start + i] = (double)INFINITY;
}

bool eval_gather(Eval *ev, EvalValue *out) {
    Slices s = slices_of(ev);
    int64_t to = 0;
    for (int64_t om = 0; om < s.outer * s.mid; om++) {
        for (int64_t k = 0; k < s.count; k++, to += s.inner) {
            int64_t at = om / s.mid * s.count + k, place = index_at(ev, at, s.n);
            if (place >= 0) {
                eval_copy(out, to, &ev->args[0], (om * s.n + place) * s.inner, s.inner);
            }
            if (out->bound && eval_bound_at(&ev->args[1], at) > 0) {
                mark_uncertain(out, to, s.inner);
            }
        }
    }
    return true;
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* Calls `use` for each slice of updates, in index order, with where it goes. */
typedef void SliceFn(void *user, int64_t to, int64_t from, int64_t count);

static void for_updates(Eval *ev, const Slices *s, SliceFn *use, void *user) {
    int64_t from = 0;
    for (int64_t om = 0; om < s->outer * s->mid; om++) {
        for (int64_t k = 0; k < s->count; k++, from += s->inner) {
            int64_t place = index_at(ev, om / s->mid * s->count + k, s->n);
            if (place >= 0) use(user, (om * s->n + place) * s->inner, from, s->inner);
        }
    }
}

typedef struct Scatter {
    Fold fold;
    FoldState *states;
    const EvalValue *updates;
    EvalValue *out;
} Scatter;

static void set_slice(void *user, int64_t to, int64_t from, int64_t count) {
    const Scatter *s = user;
    eval_copy(s->out, to, s->updates, from, count);
}

static void fold_slice(void *user, int64_t to, int64_t from, int64_t count) {
    const Scatter *s = user;
    fold_add_run(&s->fold, s->updates, from, count, s->states + to, 1);
}

static void fold_updates(Eval *ev, const Slices *slices, Scatter *s) {
    const EvalValue *x = &ev->args[0];
    DType dtype = x->tensor.dtype;
    int64_t count = tensor_elements(&x->tensor);
    s->fold =
        (Fold){ev->options, ev->info->scalar, dtype, dtype, dtype_is_float(dtype), SUM_in_order};
    s->states = NEW_ARRAY(ev->scratch, FoldState, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        fold_start(&s->fold, &s->states[i]);
        /* A sum starts from x itself, -0 as well. */
        if (s->fold.scalar == OP_add) s->states[i].value = -0.0L;
    }
    fold_add_run(&s->fold, x, 0, count, s->states, 1);
    for_updates(ev, slices, fold_slice, s);
    for (int64_t i = 0; i < count; i++) {
        if (s->states[i].count > 1) {
            fold_finish(&s->fold, &s->states[i], s->out, i);
        } else {
            eval_copy(s->out, i, x, i, 1); /* untouched: the same bits */
        }
    }
}

bool eval_scatter(Eval *ev, EvalValue *out) {
    Slices slices = slices_of(ev);
    Scatter s = {.updates = &ev->args[2], .out = out};
    if (ev->info->scalar == OP_none) {
        eval_copy(out, 0, &ev->args[0], 0, tensor_elements(&out->tensor));
        for_updates(ev, &slices, set_slice, &s);
    } else {
        fold_updates(ev, &slices, &s);
    }
    if (out->bound && !eval_is_exact(&ev->args[1])) eval_all_uncertain(out);
    return true;
}
