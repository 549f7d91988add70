/* Operands: numbers known at compile time follow the dtype of the tensors they meet, and shapes are
 * broadcast as NumPy does, but that a symbolic dim never stands for 1. */
#include "frontend/dsl/sema.h"

static Op op_of_relation(AstOp op) {
    switch (op) {
    case AST_eq: return OP_eq;
    case AST_ne: return OP_ne;
    case AST_lt: return OP_lt;
    case AST_le: return OP_le;
    case AST_gt: return OP_gt;
    default: return OP_ge;
    }
}

static NodeId relation_tensor(Sema *s, Loc loc, const Value *value) {
    NodeId args[2] = {dsl_emit_dim(s, loc, value->relation.a),
                      dsl_emit_dim(s, loc, value->relation.b)};
    return dsl_emit(s, loc, op_of_relation(value->relation.op), args, 2, NULL);
}

static DType default_dtype(const Value *value) {
    return value->kind == VALUE_bool ? DT_bool : value->kind == VALUE_int ? DT_i64 : DT_f32;
}

NodeId dsl_operand_tensor(Sema *s, Loc loc, const Value *value, DType want) {
    switch (value->kind) {
    case VALUE_error: return NODE_none;
    case VALUE_tensor: return value->node;
    case VALUE_dim: return dsl_emit_dim(s, loc, value->dim);
    case VALUE_relation: return relation_tensor(s, loc, value);
    case VALUE_bool:
    case VALUE_int:
    case VALUE_float:
        return dsl_emit_number(s, loc, want == DT_count ? default_dtype(value) : want, value);
    case VALUE_none:
    case VALUE_string:
    case VALUE_dtype:
    case VALUE_list:
    case VALUE_tuple: sema_error(s, loc, MSG_NEEDS_TENSOR, sema_value_text(s, value)); break;
    }
    return NODE_none;
}

NodeId dsl_operand_tensor_only(Sema *s, Loc loc, const Value *value, const char *what) {
    if (dsl_value_is_runtime(value) || value->kind == VALUE_error) {
        return dsl_operand_tensor(s, loc, value, DT_count);
    }
    sema_error(s, loc, MSG_NEEDS_TENSOR_FOR, what, sema_value_text(s, value));
    return NODE_none;
}

/* ---- one dtype ------------------------------------------------------------------------------- */

static DType runtime_dtype(const Sema *s, const Value *value) {
    if (value->kind == VALUE_tensor) return sema_type(s, value->node)->dtype;
    return value->kind == VALUE_dim ? DT_i64 : DT_bool;
}

/* The dtype of the first tensor, and which one it is; without tensors f32 if any is a float. */
static DType common_dtype(const Sema *s, const Value *values, uint32_t count, uint32_t *out_first) {
    DType dtype = DT_bool;
    for (uint32_t i = 0; i < count; i++) {
        *out_first = i;
        if (dsl_value_is_runtime(&values[i])) return runtime_dtype(s, &values[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind == VALUE_int && dtype == DT_bool) dtype = DT_i64;
        if (values[i].kind == VALUE_float) dtype = DT_f32;
    }
    return dtype;
}

static void report_dtypes(Sema *s, Loc loc, const Value *values, const Loc *places, uint32_t first,
                          uint32_t other) {
    DType a = runtime_dtype(s, &values[first]), b = runtime_dtype(s, &values[other]);
    if (!sema_error(s, loc, MSG_DTYPES_DISAGREE, dtype_name(a), dtype_name(b))) return;
    if (s->frame->library) return;
    diag_note(s->diags, places[first], MSG_NOTE_IS, sema_value_text(s, &values[first]));
    diag_note(s->diags, places[other], MSG_NOTE_IS, sema_value_text(s, &values[other]));
    diag_note(s->diags, places[other], MSG_NOTE_CAST,
              dtype_name(dtype_is_float(b) && !dtype_is_float(a) ? b : a));
}

static bool unify_dtypes(Sema *s, Loc loc, const Value *values, const Loc *places, uint32_t count,
                         NodeId *out_nodes) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind == VALUE_error) return false;
    }
    DType dtype = common_dtype(s, values, count, &first);
    for (uint32_t i = 0; i < count; i++) {
        if (dsl_value_is_runtime(&values[i]) && runtime_dtype(s, &values[i]) != dtype) {
            report_dtypes(s, loc, values, places, first, i);
            return false;
        }
        out_nodes[i] = dsl_operand_tensor(s, places[i], &values[i], dtype);
        if (out_nodes[i] == NODE_none) return false;
        if (sema_type(s, out_nodes[i])->is_tuple) return false;
    }
    return true;
}

/* ---- one shape ------------------------------------------------------------------------------- */

static bool may_equal(Sema *s, const Dim *a, const Dim *b) {
    const Dim *difference = dim_sub(s->ctx, a, b);
    if (dim_is_overflow(difference)) return true;
    if (difference->lo > 0 || difference->hi < 0) return false;
    int64_t divisor = dim_offset(s->ctx, difference, -difference->constant)->divisor;
    return divisor == 0 || difference->constant % divisor == 0;
}

static void report_shapes(Sema *s, Loc loc, NodeId a, NodeId b, Loc a_place, Loc b_place) {
    const char *a_text = sema_type_text(s, a), *b_text = sema_type_text(s, b);
    if (!sema_error(s, loc, MSG_SHAPES_DISAGREE, a_text, b_text)) return;
    if (s->frame->library) return;
    diag_note(s->diags, a_place, MSG_NOTE_IS, a_text);
    diag_note(s->diags, b_place, MSG_NOTE_IS, b_text);
}

/* The dim that two aligned axes have together: 1 gives way, and of two that must be equal at run
 * time the constant is better known. NULL when they cannot be. */
static const Dim *join_dims(Sema *s, const Dim *a, const Dim *b) {
    if (a == b || dim_equals_int(b, 1)) return a;
    if (dim_equals_int(a, 1)) return b;
    if (!may_equal(s, a, b)) return NULL;
    return dim_is_const(b, NULL) ? b : a;
}

bool dsl_operands_broadcast(Sema *s, Loc loc, NodeId *nodes, const Loc *places, uint32_t count) {
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t owner[TYPE_MAX_RANK], rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] == NODE_none) return false;
        uint32_t own = sema_type(s, nodes[i])->rank;
        if (own > rank) rank = own;
    }
    for (uint32_t axis = 0; axis < rank; axis++) dims[axis] = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = sema_type(s, nodes[i]);
        for (uint32_t k = 0; k < type->rank; k++) {
            uint32_t axis = rank - type->rank + k;
            const Dim *joined =
                dims[axis] ? join_dims(s, dims[axis], type->dims[k]) : type->dims[k];
            if (!joined) {
                report_shapes(s, loc, nodes[owner[axis]], nodes[i], places[owner[axis]], places[i]);
                return false;
            }
            if (joined != dims[axis]) owner[axis] = i;
            dims[axis] = joined;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = dsl_emit_broadcast(s, loc, nodes[i], dims, rank);
        if (nodes[i] == NODE_none) return false;
    }
    return true;
}

bool dsl_operands_unify(Sema *s, Loc loc, const Value *values, const Loc *places, uint32_t count,
                        NodeId *out_nodes) {
    return unify_dtypes(s, loc, values, places, count, out_nodes) &&
           dsl_operands_broadcast(s, loc, out_nodes, places, count);
}
