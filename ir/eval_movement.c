/* Movement ops: each is one rectangle copied between strides (concat and pad: several). Bounds move
 * with the elements. */
#include "ir/eval_rules.h"

#include <string.h>

void eval_strides(const Tensor *tensor, int64_t *out_strides) {
    int64_t stride = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        out_strides[i] = stride;
        stride *= tensor->dims[i];
    }
}

bool eval_next(uint32_t rank, const int64_t *dims, int64_t *index) {
    for (uint32_t i = rank; i-- > 0;) {
        if (++index[i] < dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

int64_t eval_product(const int64_t *dims, uint32_t from, uint32_t to) {
    int64_t product = 1;
    for (uint32_t i = from; i < to; i++) product *= dims[i];
    return product;
}

/* ---- copying rectangles ---------------------------------------------------------------------- */

/* Without axes of one element, and with neighbours joined that both sides step through as one. */
static Move joined(const Move *move) {
    Move out = {.to_offset = move->to_offset, .from_offset = move->from_offset};
    for (uint32_t i = 0; i < move->rank; i++) {
        int64_t n = move->dims[i], to = move->to[i], from = move->from[i];
        uint32_t last = out.rank - 1;
        if (n == 1) continue;
        if (out.rank && out.to[last] == n * to && out.from[last] == n * from) {
            out.dims[last] *= n;
            out.to[last] = to;
            out.from[last] = from;
        } else {
            out.dims[out.rank] = n;
            out.to[out.rank] = to;
            out.from[out.rank++] = from;
        }
    }
    return out;
}

typedef struct Wide {
    uint64_t words[2];
} Wide;

#define COPY_ROW(T)                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                              \
        T v;                                                                                       \
        memcpy(&v, from + i * from_step * (int64_t)sizeof v, sizeof v);                            \
        memcpy(to + i * to_step * (int64_t)sizeof v, &v, sizeof v);                                \
    }                                                                                              \
    break

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
                     int64_t n) {
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: COPY_ROW(uint8_t);
    case 2: COPY_ROW(uint16_t);
    case 4: COPY_ROW(uint32_t);
    case 8: COPY_ROW(uint64_t);
    default: COPY_ROW(Wide);
    }
}

/* Calls with the offsets of each row along the last axis; `use` gets the innermost steps and
 * length. */
typedef void RowFn(void *user, int64_t to, int64_t to_step, int64_t from, int64_t from_step,
                   int64_t n);

static void for_rows(const Move *move, RowFn *use, void *user) {
    Move m = joined(move);
    int64_t index[TYPE_MAX_RANK] = {0};
    if (eval_product(move->dims, 0, move->rank) == 0) return;
    uint32_t outer = m.rank ? m.rank - 1 : 0;
    int64_t n = m.rank ? m.dims[outer] : 1;
    do {
        int64_t to = m.to_offset, from = m.from_offset;
        for (uint32_t i = 0; i < outer; i++) {
            to += index[i] * m.to[i];
            from += index[i] * m.from[i];
        }
        use(user, to, m.rank ? m.to[outer] : 1, from, m.rank ? m.from[outer] : 1, n);
    } while (eval_next(outer, m.dims, index));
}

typedef struct Bytes {
    char *to;
    const char *from;
    size_t size;
} Bytes;

static void bytes_row(void *user, int64_t to, int64_t to_step, int64_t from, int64_t from_step,
                      int64_t n) {
    const Bytes *b = user;
    int64_t size = (int64_t)b->size;
    copy_row(b->to + to * size, to_step, b->from + from * size, from_step, b->size, n);
}

void eval_move_bytes(void *to, const void *from, size_t size, const Move *move) {
    Bytes bytes = {to, from, size};
    for_rows(move, bytes_row, &bytes);
}

typedef struct Nibbles {
    Tensor *to;
    const Tensor *from;
} Nibbles;

static void nibbles_row(void *user, int64_t to, int64_t to_step, int64_t from, int64_t from_step,
                        int64_t n) {
    const Nibbles *t = user;
    for (int64_t i = 0; i < n; i++) {
        tensor_set_int(t->to, to + i * to_step, tensor_get_int(t->from, from + i * from_step));
    }
}

void eval_move(EvalValue *to, const EvalValue *from, const Move *move) {
    uint32_t bits = dtype_info(to->tensor.dtype)->bits;
    if (bits < 8) {
        Nibbles nibbles = {&to->tensor, &from->tensor};
        for_rows(move, nibbles_row, &nibbles);
    } else {
        eval_move_bytes(to->tensor.data, from->tensor.data, bits / 8, move);
    }
    if (to->bound && from->bound) {
        eval_move_bytes(to->bound, from->bound, sizeof(double), move);
    }
}

/* All of `out`, from the operand's element at offset 0 with steps still to be set. */
static Move whole(const EvalValue *out) {
    Move move = {.rank = out->tensor.rank};
    memcpy(move.dims, out->tensor.dims, sizeof move.dims);
    eval_strides(&out->tensor, move.to);
    return move;
}

/* All of `x`, into a rectangle of `out`. */
static Move part(const EvalValue *x, const EvalValue *out) {
    Move move = {.rank = x->tensor.rank};
    memcpy(move.dims, x->tensor.dims, sizeof move.dims);
    eval_strides(&out->tensor, move.to);
    eval_strides(&x->tensor, move.from);
    return move;
}

/* ---- the ops --------------------------------------------------------------------------------- */

bool eval_reshape(Eval *ev, EvalValue *out) {
    eval_copy(out, 0, &ev->args[0], 0, tensor_elements(&out->tensor));
    return true;
}

bool eval_permute(Eval *ev, EvalValue *out) {
    const IntList *perm = ev->node->attrs[0].ints;
    Move move = whole(out);
    int64_t strides[TYPE_MAX_RANK];
    eval_strides(&ev->args[0].tensor, strides);
    for (uint32_t i = 0; i < perm->count; i++) move.from[i] = strides[perm->items[i]];
    eval_move(out, &ev->args[0], &move);
    return true;
}

bool eval_broadcast(Eval *ev, EvalValue *out) {
    const Tensor *x = &ev->args[0].tensor;
    const IntList *axes = ev->node->attrs[1].ints;
    Move move = whole(out);
    int64_t strides[TYPE_MAX_RANK];
    eval_strides(x, strides);
    for (uint32_t i = 0; i < axes->count; i++) {
        move.from[axes->items[i]] = x->dims[i] == 1 ? 0 : strides[i];
    }
    eval_move(out, &ev->args[0], &move);
    return true;
}

bool eval_slice(Eval *ev, EvalValue *out) {
    const Attr *attrs = ev->node->attrs;
    Move move = whole(out);
    eval_strides(&ev->args[0].tensor, move.from);
    for (uint32_t i = 0; i < move.rank; i++) {
        int64_t start;
        if (!eval_dim(ev, attrs[0].dims->items[i], &start)) return false;
        move.from_offset += start * move.from[i];
        move.from[i] *= attrs[2].ints->items[i];
    }
    eval_move(out, &ev->args[0], &move);
    return true;
}

bool eval_reverse(Eval *ev, EvalValue *out) {
    const IntList *axes = ev->node->attrs[0].ints;
    Move move = whole(out);
    eval_strides(&ev->args[0].tensor, move.from);
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis = axes->items[i];
        move.from_offset += (move.dims[axis] - 1) * move.from[axis];
        move.from[axis] = -move.from[axis];
    }
    eval_move(out, &ev->args[0], &move);
    return true;
}

bool eval_pad(Eval *ev, EvalValue *out) {
    const DimList *lo = ev->node->attrs[0].dims;
    Move fill = whole(out), move = part(&ev->args[0], out);
    eval_move(out, &ev->args[1], &fill);
    for (uint32_t i = 0; i < move.rank; i++) {
        int64_t before;
        if (!eval_dim(ev, lo->items[i], &before)) return false;
        move.to_offset += before * move.to[i];
    }
    if (out->bound &&
        !ev->args[0].bound) { /* the padding's bound must not stay under the operand */
        double exact = 0;
        Move clear = move;
        memset(clear.from, 0, sizeof clear.from);
        eval_move_bytes(out->bound, &exact, sizeof exact, &clear);
    }
    eval_move(out, &ev->args[0], &move);
    return true;
}

bool eval_concat(Eval *ev, EvalValue *out) {
    int64_t axis = ev->node->attrs[0].i;
    int64_t at = 0;
    for (uint32_t i = 0; i < ev->node->arg_count; i++) {
        Move move = part(&ev->args[i], out);
        move.to_offset = at * move.to[axis];
        eval_move(out, &ev->args[i], &move);
        at += ev->args[i].tensor.dims[axis];
    }
    return true;
}
