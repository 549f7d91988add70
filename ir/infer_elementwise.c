/* Inference of the element-wise ops and of reductions along axes. */
#include "ir/infer_rules.h"

const Type *infer_dim(const Infer *in) {
    if (dim_is_overflow(in->attrs[0].dim)) return REJECT(in, MSG_DIM_OVERFLOW, in->info->name);
    return type_scalar(in->ctx, DT_i64);
}

const Type *infer_unary(const Infer *in) { return in->types[0]; }

/* The common type of operands i and j: equal dtypes, equal shapes. */
static const Type *same_type(const Infer *in, uint32_t i, uint32_t j) {
    const Type *a = in->types[i], *b = in->types[j];
    if (a == b) return a;
    if (a->dtype != b->dtype) {
        return REJECT(in, MSG_DTYPES_DISAGREE, dtype_name(a->dtype), dtype_name(b->dtype));
    }
    return infer_same_shape(in, a, b);
}

const Type *infer_binary(const Infer *in) { return same_type(in, 0, 1); }

const Type *infer_compare(const Infer *in) {
    const Type *type = same_type(in, 0, 1);
    return type ? type_with_dtype(in->ctx, type, DT_bool) : NULL;
}

const Type *infer_select(const Infer *in) {
    DType condition = in->types[0]->dtype;
    if (condition != DT_bool) {
        return REJECT(in, MSG_DTYPE_CONDITION, in->info->name, dtype_name(condition));
    }
    const Type *type = same_type(in, 1, 2);
    return type ? infer_same_shape(in, type, in->types[0]) : NULL;
}

const Type *infer_cast(const Infer *in) {
    if (!infer_flag(in, 1)) return NULL;
    return type_with_dtype(in->ctx, in->types[0], in->attrs[0].dtype);
}

/* ---- along axes ------------------------------------------------------------------------------ */

/* The operand's dims without those of the mask, as a tensor of `dtype`. */
static const Type *without_axes(const Infer *in, uint32_t mask, DType dtype) {
    const Type *x = in->types[0];
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!(mask >> i & 1)) dims[rank++] = x->dims[i];
    }
    return type_tensor(in->ctx, dtype, rank, dims);
}

const Type *infer_reduce(const Infer *in) {
    DType operand = in->types[0]->dtype, result = in->attrs[1].dtype;
    uint32_t mask;
    if (!infer_axes(in, in->attrs[0].ints, in->types[0], &mask)) return NULL;
    bool sums = in->op == OP_reduce_sum || in->op == OP_reduce_prod;
    if (!sums && operand != result) {
        return REJECT(in, MSG_DTYPE_RESULT, in->info->name, dtype_name(operand),
                      dtype_name(result));
    }
    if (sums && !infer_result_dtype(in, operand, result)) return NULL;
    return without_axes(in, mask, result);
}

const Type *infer_argreduce(const Infer *in) {
    if (!infer_axis(in, in->attrs[0].i, in->types[0])) return NULL;
    return without_axes(in, 1u << in->attrs[0].i, DT_i64);
}

const Type *infer_cumulative(const Infer *in) {
    bool good =
        infer_axis(in, in->attrs[0].i, in->types[0]) && infer_flag(in, 1) && infer_flag(in, 2);
    return good ? in->types[0] : NULL;
}
