/* Contraction: both operands are brought to [batch, M, K] and [batch, K, N], where batch labels are
 * in both operands and the result, K labels in both operands only, multiplied, and the product
 * [batch, M, N] is brought to the result's order. */
#include "ir/eval_rules.h"

#include "ir/infer.h"

#include <string.h>

/* Which axis of a list has the label; -1: none. */
static int axis_of(const IntList *list, int64_t label) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i] == label) return (int)i;
    }
    return -1;
}

typedef enum Role { ROLE_batch, ROLE_m, ROLE_n, ROLE_k, ROLE_count } Role;

typedef struct Contraction {
    const IntList *a, *b, *out;
    int64_t sizes[CONTRACT_LABELS];
    int64_t labels[ROLE_count][TYPE_MAX_RANK];
    uint32_t counts[ROLE_count];
    int64_t extents[ROLE_count]; /* products of the sizes */
} Contraction;

static void add_label(Contraction *c, Role role, int64_t label, int64_t size) {
    c->labels[role][c->counts[role]++] = label;
    c->extents[role] *= size;
    c->sizes[label] = size;
}

static void classify(Contraction *c, const Tensor *a, const Tensor *b) {
    for (int role = 0; role < ROLE_count; role++) c->extents[role] = 1;
    for (uint32_t i = 0; i < c->a->count; i++) {
        int64_t label = c->a->items[i];
        bool kept = axis_of(c->out, label) >= 0, shared = axis_of(c->b, label) >= 0;
        Role role = !kept ? ROLE_k : shared ? ROLE_batch : ROLE_m;
        add_label(c, role, label, a->dims[i]);
    }
    for (uint32_t i = 0; i < c->b->count; i++) {
        int64_t label = c->b->items[i];
        if (axis_of(c->a, label) < 0) add_label(c, ROLE_n, label, b->dims[i]);
    }
}

/* A value with its axes in the order of three roles' labels. */
static Side arranged(Eval *ev, const Contraction *c, const EvalValue *value, const IntList *list,
                     const Role *roles) {
    Side from = side_load(ev, value);
    int64_t strides[TYPE_MAX_RANK], count = tensor_elements(&value->tensor);
    Side to = side_new(ev->scratch, from.x != NULL, from.b != NULL, count);
    Move move = {.rank = list->count};
    uint32_t axis = 0;
    eval_strides(&value->tensor, strides);
    for (int r = 0; r < 3; r++) {
        for (uint32_t i = 0; i < c->counts[roles[r]]; i++, axis++) {
            int64_t label = c->labels[roles[r]][i];
            move.dims[axis] = c->sizes[label];
            move.from[axis] = strides[axis_of(list, label)];
        }
    }
    int64_t stride = 1;
    for (uint32_t i = move.rank; i-- > 0; stride *= move.dims[i]) move.to[i] = stride;
    if (from.x) eval_move_bytes(to.x, from.x, sizeof(double), &move);
    if (to.b) eval_move_bytes(to.b, from.b, sizeof(double), &move);
    if (from.whole) eval_move_bytes(to.whole, from.whole, sizeof(int64_t), &move);
    return to;
}

/* The product [batch, M, N] into the result's order. */
static void place_result(const Contraction *c, const EvalValue *product, EvalValue *out) {
    const Role roles[3] = {ROLE_batch, ROLE_m, ROLE_n};
    int64_t strides[TYPE_MAX_RANK];
    Move move = {.rank = out->tensor.rank};
    uint32_t axis = move.rank;
    int64_t stride = 1;
    eval_strides(&out->tensor, strides);
    for (int r = 2; r >= 0; r--) {
        for (uint32_t i = c->counts[roles[r]]; i-- > 0;) {
            int64_t label = c->labels[roles[r]][i];
            move.dims[--axis] = c->sizes[label];
            move.to[axis] = strides[axis_of(c->out, label)];
            move.from[axis] = stride;
            stride *= c->sizes[label];
        }
    }
    eval_move(out, product, &move);
}

/* A value like `out` in scratch. */
static EvalValue scratch_like(Eval *ev, const EvalValue *out) {
    EvalValue value = *out;
    value.tensor.data = arena_alloc(ev->scratch, tensor_bytes(&out->tensor));
    if (out->bound) {
        value.bound = NEW_ARRAY(ev->scratch, double, (size_t)tensor_elements(&out->tensor));
    }
    return value;
}

bool eval_contract(Eval *ev, EvalValue *out) {
    const Attr *attrs = ev->node->attrs;
    const EvalValue *a = &ev->args[0], *b = &ev->args[1];
    Contraction c = {.a = attrs[0].ints, .b = attrs[1].ints, .out = attrs[2].ints};
    const Role a_roles[3] = {ROLE_batch, ROLE_m, ROLE_k}, b_roles[3] = {ROLE_batch, ROLE_k, ROLE_n};
    classify(&c, &a->tensor, &b->tensor);
    Side left = arranged(ev, &c, a, c.a, a_roles), right = arranged(ev, &c, b, c.b, b_roles);
    Matmul mm = {.ev = ev, .operand = a->tensor.dtype, .result = out->tensor.dtype};
    mm.is_float = dtype_is_float(mm.operand);
    mm.m = c.extents[ROLE_m];
    mm.n = c.extents[ROLE_n];
    mm.k = c.extents[ROLE_k];
    EvalValue product = scratch_like(ev, out);
    for (int64_t i = 0; i < c.extents[ROLE_batch]; i++) {
        Side l = side_at(&left, i * mm.m * mm.k), r = side_at(&right, i * mm.k * mm.n);
        matmul(&mm, &l, &r, &product, i * mm.m * mm.n, mm.n);
    }
    place_result(&c, &product, out);
    bool uncertain = !mm.is_float && out->bound && !(eval_is_exact(a) && eval_is_exact(b));
    if (uncertain) eval_all_uncertain(out);
    return true;
}
