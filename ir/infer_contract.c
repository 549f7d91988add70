/* Inference of contractions, convolutions and sliding windows. */
#include "ir/infer_rules.h"

/* ---- contract: each label has one dim -------------------------------------------------------- */

/* Dims by label; NULL where no operand has the label. */
typedef struct Labels {
    const Dim *dims[CONTRACT_LABELS];
} Labels;

/* Checks the labels of one list and gives their set. */
static bool read_labels(const Infer *in, uint32_t attr, uint64_t *out_set) {
    const IntList *labels = in->attrs[attr].ints;
    *out_set = 0;
    for (uint32_t i = 0; i < labels->count; i++) {
        int64_t label = labels->items[i];
        if (label < 0 || label >= CONTRACT_LABELS) {
            return infer_fail(in, MSG_LABEL_RANGE, (long long)label, CONTRACT_LABELS - 1);
        }
        if (*out_set >> label & 1) {
            return infer_fail(in, MSG_LABEL_REPEATED, (long long)label, in->info->attrs[attr].name);
        }
        *out_set |= UINT64_C(1) << label;
    }
    return true;
}

static bool bind_labels(const Infer *in, uint32_t operand, Labels *labels) {
    const IntList *list = in->attrs[operand].ints;
    const Type *type = in->types[operand];
    for (uint32_t i = 0; i < list->count; i++) {
        const Dim **dim = &labels->dims[list->items[i]];
        if (*dim && !infer_may_equal(in, *dim, type->dims[i])) {
            return infer_fail(in, MSG_DIMS_DISAGREE, infer_dim_text(in, *dim),
                              infer_dim_text(in, type->dims[i]), infer_type_text(in, in->types[0]),
                              infer_type_text(in, type));
        }
        *dim = *dim ? infer_same_dim(in, *dim, type->dims[i]) : type->dims[i];
        if (!*dim) return false;
    }
    return true;
}

static bool check_label_sets(const Infer *in, uint64_t a, uint64_t b, uint64_t out) {
    uint64_t unknown = out & ~(a | b), dangling = (a ^ b) & ~out;
    if (unknown) return infer_fail(in, MSG_LABEL_UNKNOWN, (long long)__builtin_ctzll(unknown));
    if (dangling) return infer_fail(in, MSG_LABEL_DANGLING, (long long)__builtin_ctzll(dangling));
    return true;
}

static bool check_sum_dtypes(const Infer *in, DType result) {
    DType a = in->types[0]->dtype, b = in->types[1]->dtype;
    if (a != b) return infer_fail(in, MSG_DTYPES_DISAGREE, dtype_name(a), dtype_name(b));
    return infer_result_dtype(in, a, result);
}

const Type *infer_contract(const Infer *in) {
    uint64_t sets[3];
    for (uint32_t i = 0; i < 3; i++) {
        if (i < 2 && !infer_numbers(in, i, in->types[i]->rank, 0, in->types[i])) return NULL;
        if (!read_labels(in, i, &sets[i])) return NULL;
    }
    Labels labels = {{NULL}};
    bool good = check_sum_dtypes(in, in->attrs[3].dtype) &&
                check_label_sets(in, sets[0], sets[1], sets[2]) && bind_labels(in, 0, &labels) &&
                bind_labels(in, 1, &labels);
    if (!good) return NULL;
    const IntList *out = in->attrs[2].ints;
    const Dim *dims[2 * TYPE_MAX_RANK];
    for (uint32_t i = 0; i < out->count; i++) dims[i] = labels.dims[out->items[i]];
    return infer_tensor(in, in->attrs[3].dtype, out->count, dims);
}

/* ---- windows --------------------------------------------------------------------------------- */

const Dim *infer_window_extent(IrContext *ctx, const Dim *size, const Dim *window, int64_t stride,
                               int64_t dilation, int64_t lo, int64_t hi) {
    const Dim *padded = dim_offset(ctx, dim_offset(ctx, size, lo), hi);
    const Dim *reach = dim_scale(ctx, dim_offset(ctx, window, -1), dilation);
    const Dim *room = dim_offset(ctx, dim_sub(ctx, padded, reach), -1);
    const Dim *steps = dim_floordiv(ctx, room, dim_const(ctx, stride));
    return dim_max(ctx, dim_offset(ctx, steps, 1), dim_const(ctx, 0));
}

const Type *infer_window(const Infer *in) {
    static const int least[] = {1, 1, 1, 0, 0};
    const Type *x = in->types[0];
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < 5; i++) {
        if (!infer_numbers(in, i, x->rank, least[i], x)) return NULL;
    }
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t n[5];
        for (uint32_t k = 0; k < 5; k++) n[k] = in->attrs[k].ints->items[i];
        const Dim *window = dim_const(in->ctx, n[0]);
        dims[i] = infer_window_extent(in->ctx, x->dims[i], window, n[1], n[2], n[3], n[4]);
    }
    return infer_tensor(in, x->dtype, x->rank, dims);
}

/* ---- conv ------------------------------------------------------------------------------------ */

static bool check_channels(const Infer *in, int64_t groups) {
    const Type *x = in->types[0], *w = in->types[1];
    if (groups < 1) {
        return infer_fail(in, MSG_ATTR_LEAST, "groups", in->info->name, (long long)groups, 1);
    }
    const Dim *channels = dim_scale(in->ctx, w->dims[1], groups);
    if (!infer_may_equal(in, x->dims[1], channels)) {
        return infer_fail(in, MSG_CONV_CHANNELS, infer_dim_text(in, x->dims[1]),
                          infer_type_text(in, x), (long long)groups, infer_dim_text(in, w->dims[1]),
                          infer_type_text(in, w));
    }
    if (!infer_same_dim(in, x->dims[1], channels)) return false;
    const Dim *left = dim_mod(in->ctx, w->dims[0], dim_const(in->ctx, groups));
    const Dim *zero = dim_const(in->ctx, 0);
    if (!infer_may_equal(in, left, zero)) {
        return infer_fail(in, MSG_CONV_GROUPS, infer_dim_text(in, w->dims[0]),
                          infer_type_text(in, w), (long long)groups);
    }
    return infer_same_dim(in, left, zero) != NULL;
}

static bool check_conv(const Infer *in) {
    static const int least[] = {1, 1, 0, 0};
    const Type *x = in->types[0], *w = in->types[1];
    if (x->rank < 3 || x->rank > 5) {
        return infer_fail(in, MSG_CONV_RANK, infer_type_text(in, x), (int)x->rank - 2);
    }
    if (x->rank != w->rank) {
        return infer_fail(in, MSG_RANK_EQUAL, infer_type_text(in, x), infer_type_text(in, w));
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (!infer_numbers(in, i, x->rank - 2, least[i], x)) return false;
    }
    return check_sum_dtypes(in, in->attrs[5].dtype) && check_channels(in, in->attrs[4].i);
}

const Type *infer_conv(const Infer *in) {
    if (!check_conv(in)) return NULL;
    const Type *x = in->types[0], *w = in->types[1];
    const Dim *dims[TYPE_MAX_RANK] = {x->dims[0], w->dims[0]}, *one = dim_const(in->ctx, 1);
    for (uint32_t i = 2; i < x->rank; i++) {
        int64_t n[4];
        for (uint32_t k = 0; k < 4; k++) n[k] = in->attrs[k].ints->items[i - 2];
        if (!infer_at_most(in, one, w->dims[i])) {
            return REJECT(in, MSG_ATTR_LEAST, "kernel size", in->info->name,
                          (long long)w->dims[i]->hi, 1);
        }
        dims[i] = infer_window_extent(in->ctx, x->dims[i], w->dims[i], n[0], n[1], n[2], n[3]);
    }
    return infer_tensor(in, in->attrs[5].dtype, x->rank, dims);
}
