/* Inference of the ops that work with indices: gather, scatter, sort, and of random numbers. */
#include "ir/infer_rules.h"

static bool check_indices(const Infer *in) {
    const Type *x = in->types[0], *index = in->types[1];
    int64_t axis = in->attrs[0].i, batch = in->attrs[1].i;
    if (index->dtype != DT_i32 && index->dtype != DT_i64) {
        return infer_fail(in, MSG_DTYPE_INDEX, dtype_name(index->dtype));
    }
    if (!infer_axis(in, axis, x)) return false;
    bool good = batch >= 0 && batch <= axis && batch <= (int64_t)index->rank;
    for (int64_t i = 0; good && i < batch; i++) {
        good = infer_may_equal(in, x->dims[i], index->dims[i]);
    }
    if (!good) {
        return infer_fail(in, MSG_BATCH, (long long)batch, (long long)axis, infer_type_text(in, x),
                          infer_type_text(in, index));
    }
    for (int64_t i = 0; i < batch; i++) {
        if (!infer_same_dim(in, x->dims[i], index->dims[i])) return false;
    }
    return true;
}

/* x[:axis] + i[batch:] + x[axis+1:] */
static const Type *gathered(const Infer *in) {
    const Type *x = in->types[0], *index = in->types[1];
    const Dim *dims[2 * TYPE_MAX_RANK];
    uint32_t rank = 0, axis = (uint32_t)in->attrs[0].i, batch = (uint32_t)in->attrs[1].i;
    for (uint32_t i = 0; i < axis; i++) dims[rank++] = x->dims[i];
    for (uint32_t i = batch; i < index->rank; i++) dims[rank++] = index->dims[i];
    for (uint32_t i = axis + 1; i < x->rank; i++) dims[rank++] = x->dims[i];
    return infer_tensor(in, x->dtype, rank, dims);
}

const Type *infer_gather(const Infer *in) { return check_indices(in) ? gathered(in) : NULL; }

const Type *infer_scatter(const Infer *in) {
    const Type *x = in->types[0], *updates = in->types[2];
    if (!check_indices(in)) return NULL;
    if (updates->dtype != x->dtype) {
        return REJECT(in, MSG_DTYPES_DISAGREE, dtype_name(x->dtype), dtype_name(updates->dtype));
    }
    const Type *want = gathered(in);
    return want && infer_same_shape(in, want, updates) ? x : NULL;
}

/* sort(axis, descending), topk(axis, k, largest). */
const Type *infer_sort(const Infer *in) {
    const Type *x = in->types[0], *values = x;
    int64_t axis = in->attrs[0].i;
    bool topk = in->op == OP_topk;
    if (!infer_axis(in, axis, x) || !infer_flag(in, topk ? 2 : 1)) return NULL;
    if (topk) {
        int64_t k = in->attrs[1].i;
        if (k < 0) return REJECT(in, MSG_ATTR_LEAST, "k", in->info->name, (long long)k, 0);
        const Dim *dims[TYPE_MAX_RANK], *count = dim_const(in->ctx, k);
        for (uint32_t i = 0; i < x->rank; i++) dims[i] = i == axis ? count : x->dims[i];
        if (!infer_at_most(in, count, x->dims[axis])) {
            return REJECT(in, MSG_TOPK, (long long)k, (long long)axis, infer_type_text(in, x));
        }
        values = infer_tensor(in, x->dtype, x->rank, dims);
        if (!values) return NULL;
    }
    const Type *items[2] = {values, type_with_dtype(in->ctx, values, DT_i64)};
    return type_tuple(in->ctx, 2, items);
}

const Type *infer_random(const Infer *in) {
    const Type *key = in->types[0];
    if (key->rank != 0) return REJECT(in, MSG_DTYPE_KEY, infer_type_text(in, key));
    return infer_tensor(in, DT_u32, in->attrs[1].dims->count, in->attrs[1].dims->items);
}
