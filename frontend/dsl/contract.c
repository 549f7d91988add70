/* The operator @: contraction of the last axis of one side with the last but one of the other, over
 * broadcast batch axes; a side of rank 1 is a row on the left and a column on the right. */
#include "frontend/dsl/builtin.h"

/* Labels of axes: batch axes count from 0, then these. */
enum { LABEL_m = TYPE_MAX_RANK, LABEL_n, LABEL_k };

static uint32_t batch_rank(const Type *type) { return type->rank > 2 ? type->rank - 2 : 0; }

static void report_matmul(Sema *s, Loc loc, const NodeId *nodes, const Loc *places) {
    const char *a = sema_type_text(s, nodes[0]), *b = sema_type_text(s, nodes[1]);
    if (!sema_error(s, loc, MSG_MATMUL_SHAPES, a, b) || s->frame->library) return;
    diag_note(s->diags, places[0], MSG_NOTE_IS, a);
    diag_note(s->diags, places[1], MSG_NOTE_IS, b);
}

/* The summed axes of both, where their dims cannot be equal. */
static bool inner_dims_differ(Sema *s, const Type *a, const Type *b) {
    const Dim *left = a->dims[a->rank - 1], *right = b->dims[b->rank > 1 ? b->rank - 2 : 0];
    Value equal = dsl_static_compare_dims(s, AST_eq, left, right);
    return equal.kind == VALUE_bool && !equal.flag;
}

/* Labels the axes of one side into `labels`: its batch axes align at the end of `batch` ones. A
 * batch axis that is 1 where the other side's is not gets dropped by a reshape first, so it has no
 * label. */
static const IntList *label_side(Sema *s, const Type *type, uint32_t batch, const bool *dropped,
                                 const int64_t last[2]) {
    int64_t labels[TYPE_MAX_RANK];
    uint32_t count = 0, own = batch_rank(type);
    for (uint32_t i = 0; i < own; i++) {
        if (!dropped[i]) labels[count++] = batch - own + i;
    }
    for (int i = 0; i < 2; i++) {
        if (last[i] >= 0) labels[count++] = last[i];
    }
    return ir_ints(s->ctx, labels, count);
}

/* Marks the batch axes of x that are 1 against another dim of y, and removes them from x. */
static NodeId drop_ones(Sema *s, Loc loc, NodeId x, const Type *other, bool *dropped) {
    const Type *type = sema_type(s, x);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t own = batch_rank(type), theirs = batch_rank(other), kept = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        uint32_t from_end = own - i; /* of a batch axis: 1 is the last one */
        bool facing = i < own && from_end <= theirs;
        dropped[i] = facing && dim_equals_int(type->dims[i], 1) &&
                     !dim_equals_int(other->dims[theirs - from_end], 1);
        if (!dropped[i]) dims[kept++] = type->dims[i];
    }
    return kept == type->rank ? x : dsl_emit_reshape(s, loc, x, dims, kept);
}

static const IntList *label_result(Sema *s, uint32_t batch, bool row, bool column) {
    int64_t labels[TYPE_MAX_RANK + 2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch; i++) labels[count++] = i;
    if (row) labels[count++] = LABEL_m;
    if (column) labels[count++] = LABEL_n;
    return ir_ints(s->ctx, labels, count);
}

static Value contract(Sema *s, Loc loc, NodeId nodes[2], DType sum) {
    const Type *a = sema_type(s, nodes[0]), *b = sema_type(s, nodes[1]);
    uint32_t batch = batch_rank(a) > batch_rank(b) ? batch_rank(a) : batch_rank(b);
    bool row = a->rank > 1, column = b->rank > 1, dropped[2][TYPE_MAX_RANK] = {{false}};
    NodeId left = drop_ones(s, loc, nodes[0], b, dropped[0]);
    NodeId right = drop_ones(s, loc, nodes[1], a, dropped[1]);
    int64_t a_last[2] = {row ? LABEL_m : -1, LABEL_k}, b_last[2] = {LABEL_k, column ? LABEL_n : -1};
    Attr attrs[4] = {{.ints = label_side(s, a, batch, dropped[0], a_last)},
                     {.ints = label_side(s, b, batch, dropped[1], b_last)},
                     {.ints = label_result(s, batch, row, column)},
                     {.dtype = sum}};
    return dsl_value_node(dsl_emit(s, loc, OP_contract, (NodeId[]){left, right}, 2, attrs));
}

Value dsl_matmul(Sema *s, Loc loc, const Value values[2], const Loc places[2], DType sum) {
    NodeId nodes[2];
    for (int i = 0; i < 2; i++) {
        nodes[i] = dsl_operand_tensor_only(s, places[i], &values[i], "a matrix product");
        if (nodes[i] == NODE_none) return dsl_value_error();
    }
    const Type *a = sema_type(s, nodes[0]), *b = sema_type(s, nodes[1]);
    if (a->dtype != b->dtype) {
        sema_error(s, loc, MSG_DTYPES_DISAGREE, dtype_name(a->dtype), dtype_name(b->dtype));
        return dsl_value_error();
    }
    if (!a->rank || !b->rank || inner_dims_differ(s, a, b)) {
        report_matmul(s, loc, nodes, places);
        return dsl_value_error();
    }
    return contract(s, loc, nodes, sum == DT_count ? dsl_sum_of_products_dtype(a->dtype) : sum);
}
