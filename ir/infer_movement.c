/* Inference of the movement ops: index maps that only change the dims. */
#include "ir/infer_rules.h"

const Type *infer_reshape(const Infer *in) {
    const Type *x = in->types[0];
    const DimList *dims = in->attrs[0].dims;
    const Type *type = infer_tensor(in, x->dtype, dims->count, dims->items);
    if (!type) return NULL;
    const Dim *before = type_elements(in->ctx, x), *after = type_elements(in->ctx, type);
    if (!infer_may_equal(in, before, after)) {
        return REJECT(in, MSG_ELEMENT_COUNT, infer_type_text(in, x), infer_dims_text(in, dims));
    }
    return infer_same_dim(in, before, after) ? type : NULL;
}

const Type *infer_permute(const Infer *in) {
    const Type *x = in->types[0];
    const IntList *perm = in->attrs[0].ints;
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < perm->count && perm->count == x->rank; i++) {
        int64_t axis = perm->items[i];
        if (axis < 0 || axis >= (int64_t)x->rank) break;
        seen |= 1u << axis;
        dims[i] = x->dims[axis];
    }
    if (perm->count != x->rank || seen != (1u << x->rank) - 1) {
        return REJECT(in, MSG_PERMUTATION, infer_ints_text(in, perm), infer_type_text(in, x));
    }
    return type_tensor(in->ctx, x->dtype, x->rank, dims);
}

static bool check_broadcast_axes(const Infer *in, const Type *type, const IntList *axes) {
    uint32_t mask;
    if (!infer_numbers(in, 1, in->types[0]->rank, 0, in->types[0])) return false;
    if (!infer_axes(in, axes, type, &mask)) return false;
    for (uint32_t i = 1; i < axes->count; i++) {
        if (axes->items[i] <= axes->items[i - 1]) return infer_fail(in, MSG_AXES_ORDER);
    }
    return true;
}

/* A symbolic dim is never taken for 1: it must equal the result's. */
const Type *infer_broadcast(const Infer *in) {
    const Type *x = in->types[0];
    const DimList *dims = in->attrs[0].dims;
    const IntList *axes = in->attrs[1].ints;
    const Type *type = infer_tensor(in, x->dtype, dims->count, dims->items);
    if (!type || !check_broadcast_axes(in, type, axes)) return NULL;
    for (uint32_t i = 0; i < x->rank; i++) {
        const Dim *to = type->dims[axes->items[i]];
        if (dim_equals_int(x->dims[i], 1)) continue;
        if (!infer_may_equal(in, x->dims[i], to)) {
            return REJECT(in, MSG_BROADCAST, infer_dim_text(in, x->dims[i]), infer_type_text(in, x),
                          infer_type_text(in, type));
        }
        if (!infer_same_dim(in, x->dims[i], to)) return NULL;
    }
    return type;
}

/* Attribute `attr` lists a dim for each axis of `x`. */
static bool check_dim_count(const Infer *in, uint32_t attr, const Type *x) {
    uint32_t count = in->attrs[attr].dims->count;
    if (count == x->rank) return true;
    return infer_fail(in, MSG_ATTR_COUNT, in->info->attrs[attr].name, in->info->name, count,
                      x->rank, infer_type_text(in, x));
}

const Type *infer_slice(const Infer *in) {
    const Type *x = in->types[0];
    const Dim *zero = dim_const(in->ctx, 0), *dims[TYPE_MAX_RANK];
    if (!check_dim_count(in, 0, x) || !check_dim_count(in, 1, x)) return NULL;
    if (!infer_numbers(in, 2, x->rank, 1, x)) return NULL;
    for (uint32_t i = 0; i < x->rank; i++) {
        const Dim *start = in->attrs[0].dims->items[i], *limit = in->attrs[1].dims->items[i];
        const Dim *step = dim_const(in->ctx, in->attrs[2].ints->items[i]);
        if (!infer_at_most(in, zero, start) || !infer_at_most(in, start, limit) ||
            !infer_at_most(in, limit, x->dims[i])) {
            return REJECT(in, MSG_SLICE_BOUNDS, infer_dim_text(in, start),
                          infer_dim_text(in, limit), i, infer_type_text(in, x));
        }
        dims[i] = dim_ceildiv(in->ctx, dim_sub(in->ctx, limit, start), step);
    }
    return infer_tensor(in, x->dtype, x->rank, dims);
}

const Type *infer_pad(const Infer *in) {
    const Type *x = in->types[0], *value = in->types[1];
    const Dim *zero = dim_const(in->ctx, 0), *dims[TYPE_MAX_RANK];
    if (value->dtype != x->dtype) {
        return REJECT(in, MSG_DTYPES_DISAGREE, dtype_name(x->dtype), dtype_name(value->dtype));
    }
    if (value->rank != 0) {
        return REJECT(in, MSG_NOT_SCALAR, "the value", in->info->name, infer_type_text(in, value));
    }
    if (!check_dim_count(in, 0, x) || !check_dim_count(in, 1, x)) return NULL;
    for (uint32_t i = 0; i < x->rank; i++) {
        const Dim *ends[2] = {in->attrs[0].dims->items[i], in->attrs[1].dims->items[i]};
        for (int e = 0; e < 2; e++) {
            if (infer_at_most(in, zero, ends[e])) continue;
            return REJECT(in, MSG_DIM_NEGATIVE, infer_dim_text(in, ends[e]), in->info->name);
        }
        dims[i] = dim_add(in->ctx, dim_add(in->ctx, ends[0], x->dims[i]), ends[1]);
    }
    return infer_tensor(in, x->dtype, x->rank, dims);
}

const Type *infer_reverse(const Infer *in) {
    uint32_t mask;
    return infer_axes(in, in->attrs[0].ints, in->types[0], &mask) ? in->types[0] : NULL;
}

/* Dims of `type` but with `axis` taken from `other`, so that the rest can be compared. */
static const Type *with_axis(const Infer *in, const Type *type, int64_t axis, const Dim *dim) {
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = i == axis ? dim : type->dims[i];
    return type_tensor(in->ctx, type->dtype, type->rank, dims);
}

/* `type` extended along `axis` by `next`. */
static const Type *append(const Infer *in, const Type *type, const Type *next, int64_t axis) {
    if (type->dtype != next->dtype) {
        return REJECT(in, MSG_DTYPES_DISAGREE, dtype_name(type->dtype), dtype_name(next->dtype));
    }
    bool agree = type->rank == next->rank;
    for (uint32_t d = 0; agree && d < type->rank; d++) {
        agree = d == axis || infer_may_equal(in, type->dims[d], next->dims[d]);
    }
    if (!agree) {
        return REJECT(in, MSG_SHAPES_DISAGREE, infer_type_text(in, in->types[0]),
                      infer_type_text(in, next));
    }
    const Dim *sum = dim_add(in->ctx, type->dims[axis], next->dims[axis]);
    if (dim_is_overflow(sum)) return REJECT(in, MSG_DIM_OVERFLOW, in->info->name);
    return infer_same_shape(in, with_axis(in, type, axis, sum), with_axis(in, next, axis, sum));
}

const Type *infer_concat(const Infer *in) {
    if (in->arg_count == 0) return REJECT(in, MSG_OPERANDS_MISSING, in->info->name, 1u, 0u);
    int64_t axis = in->attrs[0].i;
    const Type *type = in->types[0];
    if (!infer_axis(in, axis, type)) return NULL;
    for (uint32_t i = 1; i < in->arg_count && type; i++) {
        type = append(in, type, in->types[i], axis);
    }
    return type ? infer_tensor(in, type->dtype, type->rank, type->dims) : NULL;
}
