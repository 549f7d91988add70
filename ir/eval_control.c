/* Leaves, and the ops with regions. */
#include "ir/eval_rules.h"

#include <math.h>
#include <string.h>

/* ---- leaves ---------------------------------------------------------------------------------- */

static bool copy_blob(Eval *ev, const Blob *blob, EvalValue *out) {
    size_t bytes = tensor_bytes(&out->tensor);
    if (blob->size != bytes) {
        return eval_fail(ev, "a constant has %zu bytes instead of %zu", blob->size, bytes);
    }
    if (bytes) memcpy(out->tensor.data, blob->bytes, bytes);
    return true;
}

static void fill_iota(const EvalValue *out, int64_t axis) {
    Tensor t = out->tensor;
    int64_t count = tensor_elements(&t), inner = eval_product(t.dims, (uint32_t)axis + 1, t.rank);
    EvalRounding rounding = {.dtype = t.dtype, .direct = true};
    for (int64_t i = 0; i < count; i++) {
        int64_t index = i / inner % t.dims[axis];
        if (dtype_is_float(t.dtype) && out->bound) {
            eval_finish(&rounding, (double)index, 0, &out->bound[i]);
        }
        tensor_set_int(&t, i, index);
    }
}

bool eval_leaf(Eval *ev, EvalValue *out) {
    const Attr *attrs = ev->node->attrs;
    int64_t value;
    switch (ev->node->op) {
    case OP_const: return copy_blob(ev, attrs[0].blob, out);
    case OP_param:
        if (attrs[1].blob) return copy_blob(ev, attrs[1].blob, out);
        return eval_fail(ev, "parameter %.*s has no value", STR_ARG(*attrs[0].str));
    case OP_iota: fill_iota(out, attrs[0].i); return true;
    case OP_dim:
        if (!eval_dim(ev, attrs[0].dim, &value)) return false;
        tensor_set_int(&out->tensor, 0, value);
        return true;
    default: return eval_fail(ev, "an input has no value");
    }
}

/* ---- call, kernel, cond ---------------------------------------------------------------------- */

/* The alternatives of a kernel do the same: the first one speaks for all. */
bool eval_call(Eval *ev, EvalValue *out) {
    return eval_region(ev, ev->node->regions[0], ev->args, ev->results, out);
}

static void mark_results(EvalValue *out, size_t count) {
    for (size_t i = 0; i < count; i++) eval_all_uncertain(&out[i]);
}

bool eval_cond(Eval *ev, EvalValue *out) {
    bool taken = tensor_get_int(&ev->args[0].tensor, 0) != 0;
    const Graph *region = ev->node->regions[taken ? 0 : 1];
    if (!eval_region(ev, region, ev->args + 1, ev->results, out)) return false;
    if (eval_bound_at(&ev->args[0], 0) > 0) mark_results(out, region->outputs.count);
    return true;
}

/* ---- loop ------------------------------------------------------------------------------------ */

/* Values that live for two steps: the one that makes them and the one that uses them. */
typedef struct Carried {
    Arena *arenas[2];
    EvalValue *values[2];
    int now;
    GuardDefer defer;
} Carried;

static void carried_free(void *object) {
    Carried *carried = object;
    arena_free(carried->arenas[0]);
    arena_free(carried->arenas[1]);
}

/* `values[now]` begins as the operands; the others are room for as many. */
static void carried_start(Carried *carried, Eval *ev, const EvalValue *first, size_t count,
                          size_t room) {
    *carried = (Carried){.now = 0};
    for (int i = 0; i < 2; i++) carried->values[i] = NEW_ARRAY(ev->scratch, EvalValue, room);
    if (count) memcpy(carried->values[0], first, count * sizeof *first);
    guard_defer(&carried->defer, carried_free, carried);
}

static void carried_end(Carried *carried) {
    guard_undefer(&carried->defer);
    carried_free(carried);
}

/* Runs a step of the body from `inputs` into the other half. */
static bool carried_step(Carried *carried, Eval *ev, const Graph *body, const EvalValue *inputs) {
    int next = 1 - carried->now;
    arena_free(carried->arenas[next]);
    carried->arenas[next] = NULL;
    carried->arenas[next] = arena_new(NULL);
    if (!eval_region(ev, body, inputs, carried->arenas[next], carried->values[next])) return false;
    carried->now = next;
    return true;
}

static bool run_condition(Eval *ev, const EvalValue *values, bool *out_go, bool *uncertain) {
    EvalValue result;
    Scratch scratch;
    scratch_open(&scratch);
    bool good = eval_region(ev, ev->node->regions[0], values, scratch.arena, &result);
    *out_go = good && tensor_get_int(&result.tensor, 0) != 0;
    if (good && eval_bound_at(&result, 0) > 0) *uncertain = true;
    scratch_close(&scratch);
    return good;
}

static bool run_loop(Eval *ev, Carried *carried, bool *uncertain) {
    int64_t limit = ev->node->attrs[0].i;
    for (int64_t step = 0;; step++) {
        bool go;
        if (!run_condition(ev, carried->values[carried->now], &go, uncertain)) return false;
        if (!go) return true;
        if (step == limit) {
            return eval_fail(ev, "a loop did not end after %lld steps", (long long)limit);
        }
        const EvalValue *inputs = carried->values[carried->now];
        if (!carried_step(carried, ev, ev->node->regions[1], inputs)) return false;
    }
}

/* Fresh results with the contents of `values`. */
static bool copy_results(Eval *ev, const EvalValue *values, uint32_t count, EvalValue *out) {
    const Type *type = ev->node->type;
    for (uint32_t i = 0; i < count; i++) {
        const Type *item = type->is_tuple ? type->items[i] : type;
        if (!eval_new_value(ev, item, &out[i])) return false;
        eval_copy(&out[i], 0, &values[i], 0, tensor_elements(&out[i].tensor));
    }
    return true;
}

bool eval_loop(Eval *ev, EvalValue *out) {
    uint32_t count = ev->node->arg_count;
    bool uncertain = false;
    Carried carried;
    carried_start(&carried, ev, ev->args, count, count);
    bool good = run_loop(ev, &carried, &uncertain) &&
                copy_results(ev, carried.values[carried.now], count, out);
    carried_end(&carried);
    if (good && uncertain) mark_results(out, count);
    return good;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Slice `at` along axis 0. */
static EvalValue slice_of(Arena *arena, const EvalValue *sequence, int64_t at, bool bounds) {
    EvalValue slice = {.tensor = sequence->tensor};
    Tensor *t = &slice.tensor;
    t->rank--;
    memmove(t->dims, t->dims + 1, t->rank * sizeof *t->dims);
    int64_t count = tensor_elements(t);
    t->data = arena_alloc(arena, tensor_bytes(t));
    if (bounds) slice.bound = NEW_ARRAY(arena, double, (size_t)count);
    eval_copy(&slice, 0, sequence, at * count, count);
    return slice;
}

/* One step: the body on the carried values and the slices `at`; stacked results go to their place.
 */
static bool scan_step(Eval *ev, Carried *carried, uint32_t kept, int64_t at, EvalValue *out) {
    const Graph *body = ev->node->regions[0];
    Scratch scratch;
    scratch_open(&scratch);
    EvalValue *inputs = NEW_ARRAY(scratch.arena, EvalValue, ev->node->arg_count);
    for (uint32_t i = 0; i < ev->node->arg_count; i++) {
        inputs[i] = i < kept ? carried->values[carried->now][i]
                             : slice_of(scratch.arena, &ev->args[i], at, ev->options->bounds);
    }
    bool good = carried_step(carried, ev, body, inputs);
    scratch_close(&scratch);
    for (size_t i = kept; good && i < body->outputs.count; i++) {
        const EvalValue *piece = &carried->values[carried->now][i];
        int64_t count = tensor_elements(&piece->tensor);
        eval_copy(&out[i], at * count, piece, 0, count);
    }
    return good;
}

bool eval_scan(Eval *ev, EvalValue *out) {
    const Attr *attrs = ev->node->attrs;
    uint32_t kept = (uint32_t)attrs[0].i;
    int64_t steps = ev->args[kept].tensor.dims[0];
    size_t room = ev->node->regions[0]->outputs.count;
    bool good = true;
    Carried carried;
    carried_start(&carried, ev, ev->args, kept, room > kept ? room : kept);
    for (int64_t step = 0; good && step < steps; step++) {
        good = scan_step(ev, &carried, kept, attrs[1].i ? steps - 1 - step : step, out);
    }
    for (uint32_t i = 0; good && i < kept; i++) {
        const EvalValue *last = &carried.values[carried.now][i];
        eval_copy(&out[i], 0, last, 0, tensor_elements(&out[i].tensor));
    }
    carried_end(&carried);
    return good;
}
