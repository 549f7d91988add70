// One application of an op: attributes at random, operands from the pool.
#include "tests/fuzz/maker.h"

#include <math.h>

static const Attr none[1];

static double larger(double a, double b) { return a > b ? a : b; }

static const IntList *some_ints(Maker *m, const int64_t *items, uint32_t count) {
    return ir_ints(m->ctx, items, count);
}

// ---- element by element

static void make_unary(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    bool is_int = !dtype_is_float(type_of(m, x)->dtype);
    double most = op == OP_not || (is_int && op == OP_neg) ? HUGE_VAL : x.most;
    if (put(m, op, &x, 1, none, most, &y)) keep(m, y);
}

static double most_of_binary(Op op, DType dtype, double x, double y) {
    bool is_unsigned = !dtype_is_float(dtype) && !dtype_is_signed(dtype);
    switch (op) {
    case OP_add: return x + y;
    case OP_sub: return is_unsigned ? HUGE_VAL : x + y;
    case OP_mul: return x * y;
    case OP_min:
    case OP_max: return larger(x, y);
    case OP_shr: return x;
    default: return HUGE_VAL;
    }
}

static void make_binary(Maker *m, Op op) {
    Value args[2], y;
    args[0] = pick_for(m, op);
    const Type *type = type_of(m, args[0]);
    args[1] = pick(m, 4) ? pick_like(m, args[0], type->dtype) : fill(m, type, pick(m, 4));
    if (pick(m, 2)) {
        Value t = args[0];
        args[0] = args[1];
        args[1] = t;
    }
    double most = op_info(op)->class == CLASS_COMPARE
                      ? 1
                      : most_of_binary(op, type->dtype, args[0].most, args[1].most);
    if (put(m, op, args, 2, none, most, &y)) keep(m, y);
}

static void make_select(Maker *m, Op op) {
    Value args[3], y;
    args[1] = pick_for(m, op);
    args[0] = pick_like(m, args[1], DT_bool);
    args[2] = pick_like(m, args[1], type_of(m, args[1])->dtype);
    if (put(m, op, args, 3, none, larger(args[1].most, args[2].most), &y)) keep(m, y);
}

static void make_cast(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    DType to = pick(m, 2) ? DT_f32 : (DType)pick(m, DT_count);
    DType from = type_of(m, x)->dtype;
    // What wraps or saturates may become as large as the dtype allows.
    bool fits = dtype_is_float(to) || (dtype_is_signed(to) && x.most <= dtype_info(to)->most);
    double most = to == DT_bool ? 1 : fits || from == DT_bool ? x.most : HUGE_VAL;
    Attr attrs[] = {{.dtype = to}, {.i = pick(m, 2)}};
    if (put(m, op, &x, 1, attrs, most, &y)) keep(m, y);
}

// ---- along axes

static double most_over(Op scalar, double most, double count) {
    return scalar == OP_add ? most * count : scalar == OP_mul ? pow(larger(most, 1), count) : most;
}

static void make_reduce(Maker *m, Op op) {
    Value x = pick_for(m, op), y, z;
    const Type *type = type_of(m, x);
    Op scalar = op_info(op)->scalar;
    int64_t axes[MAX_AXES + 1], back[MAX_AXES + 1];
    uint32_t count = 0, rest = 0, last = pick(m, 2);
    double terms = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        bool summed = last ? i + 1 == type->rank : pick(m, 2);
        if (summed) axes[count++] = i;
        if (summed) terms *= (double)axis_size(m, x, i);
        if (!summed) back[rest++] = i;
    }
    // An infinity is no integer.
    if (m->exact && terms == 0 && (scalar == OP_max || scalar == OP_min)) return;
    Attr attrs[] = {{.ints = some_ints(m, axes, count)}, {.dtype = type->dtype}};
    if (!put(m, op, &x, 1, attrs, most_over(scalar, x.most, terms), &y)) return;
    keep(m, y);
    // Often the rows are put in relation to it.
    Attr wide[] = {{.dims = ir_dims(m->ctx, type->dims, type->rank)},
                   {.ints = some_ints(m, back, rest)}};
    Op with = type->dtype == DT_bool ? OP_and : pick(m, 2) || m->exact ? OP_sub : OP_div;
    if (pick(m, 2) || !put(m, OP_broadcast, &y, 1, wide, y.most, &z)) return;
    double most = most_of_binary(with, type->dtype, x.most, z.most);
    if (put(m, with, (Value[]){x, z}, 2, none, most, &y)) keep(m, y);
}

static void make_argreduce(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return;
    uint32_t axis = pick(m, rank);
    double most = (double)axis_size(m, x, axis);
    if (put(m, op, &x, 1, (Attr[]){{.i = axis}}, most, &y)) keep(m, y);
}

static void make_cumulative(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return;
    uint32_t axis = pick(m, rank);
    Op scalar = op_info(op)->scalar;
    bool extreme = scalar == OP_max || scalar == OP_min;
    Attr attrs[] = {{.i = axis}, {.i = m->exact && extreme ? 0 : pick(m, 2)}, {.i = pick(m, 2)}};
    double most = most_over(scalar, x.most, (double)axis_size(m, x, axis));
    if (put(m, op, &x, 1, attrs, most, &y)) keep(m, y);
}

static void make_sort(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return;
    uint32_t axis = pick(m, rank);
    int64_t size = axis_size(m, x, axis), k = size < 1 ? 0 : 1 + pick(m, (uint32_t)size);
    Attr sort[] = {{.i = axis}, {.i = pick(m, 2)}};
    Attr topk[] = {{.i = axis}, {.i = k}, {.i = pick(m, 2)}};
    double most = larger(x.most, (double)size);
    if (put(m, op, &x, 1, op == OP_topk ? topk : sort, most, &y)) keep(m, y);
}

// ---- movement

static void make_reshape(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    const Type *type = type_of(m, x);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = 0, at = type->rank ? pick(m, type->rank) : 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t by = 2 + pick(m, 2);
        bool merge = i == at && i + 1 < type->rank && pick(m, 2);
        bool split = i == at && !merge && dim_proves_divisible(type->dims[i], by);
        if (merge) {
            dims[rank++] = dim_mul(m->ctx, type->dims[i], type->dims[i + 1]);
            i++;
        } else if (split) {
            bool outer = pick(m, 2);
            const Dim *parts[] = {dim_floordiv(m->ctx, type->dims[i], dim_const(m->ctx, by)),
                                  dim_const(m->ctx, by)};
            dims[rank++] = parts[outer];
            dims[rank++] = parts[!outer];
        } else if (!dim_equals_int(type->dims[i], 1) || pick(m, 3)) {
            dims[rank++] = type->dims[i];
        }
    }
    if (rank < MAX_AXES && pick(m, 4) == 0) dims[rank++] = dim_const(m->ctx, 1);
    Attr attrs[] = {{.dims = ir_dims(m->ctx, dims, rank)}};
    if (put(m, op, &x, 1, attrs, x.most, &y)) keep(m, y);
}

static void make_permute(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    uint32_t rank = type_of(m, x)->rank;
    int64_t perm[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) perm[i] = i;
    for (uint32_t i = rank; i > 1; i--) {
        uint32_t k = pick(m, i);
        int64_t t = perm[i - 1];
        perm[i - 1] = perm[k];
        perm[k] = t;
    }
    if (put(m, op, &x, 1, (Attr[]){{.ints = some_ints(m, perm, rank)}}, x.most, &y)) keep(m, y);
}

// A new axis anywhere, and 1s that grow.
static void make_broadcast(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    const Type *type = type_of(m, x);
    const Dim *dims[TYPE_MAX_RANK];
    int64_t axes[TYPE_MAX_RANK];
    uint32_t at = pick(m, type->rank + 1), rank = 0;
    if (type->rank >= MAX_AXES) return;
    for (uint32_t i = 0; i <= type->rank; i++) {
        if (i == at) dims[rank++] = pick_dim(m);
        if (i == type->rank) break;
        axes[i] = rank;
        dims[rank++] = dim_equals_int(type->dims[i], 1) ? pick_dim(m) : type->dims[i];
    }
    Attr attrs[] = {{.dims = ir_dims(m->ctx, dims, rank)},
                    {.ints = some_ints(m, axes, type->rank)}};
    if (put(m, op, &x, 1, attrs, x.most, &y)) keep(m, y);
}

// Of a dynamic dim the bounds need only hold in this run: the rest is for entry checks.
static void make_slice(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    const Type *type = type_of(m, x);
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t size = axis_size(m, x, i);
        int64_t from = pick(m, 2) ? 0 : pick(m, (uint32_t)size + 1);
        int64_t cut = pick(m, 2) ? 0 : pick(m, (uint32_t)(size - from) + 1);
        start[i] = dim_const(m->ctx, from);
        limit[i] = dim_offset(m->ctx, type->dims[i], -cut);
        step[i] = pick(m, 3) ? 1 : 2 + pick(m, 2);
    }
    Attr attrs[] = {{.dims = ir_dims(m->ctx, start, type->rank)},
                    {.dims = ir_dims(m->ctx, limit, type->rank)},
                    {.ints = some_ints(m, step, type->rank)}};
    if (put(m, op, &x, 1, attrs, x.most, &y)) keep(m, y);
}

static void make_pad(Maker *m, Op op) {
    Value args[2], y;
    args[0] = pick_for(m, op);
    const Type *type = type_of(m, args[0]);
    args[1] = fill(m, type_scalar(m->ctx, type->dtype), pick(m, 3));
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        lo[i] = dim_const(m->ctx, pick(m, 2) ? 0 : pick(m, 3));
        hi[i] = dim_const(m->ctx, pick(m, 2) ? 0 : pick(m, 10));
    }
    Attr attrs[] = {{.dims = ir_dims(m->ctx, lo, type->rank)},
                    {.dims = ir_dims(m->ctx, hi, type->rank)}};
    if (put(m, op, args, 2, attrs, larger(args[0].most, args[1].most), &y)) keep(m, y);
}

static void make_reverse(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < type_of(m, x)->rank; i++)
        if (pick(m, 2)) axes[count++] = i;
    if (put(m, op, &x, 1, (Attr[]){{.ints = some_ints(m, axes, count)}}, x.most, &y)) keep(m, y);
}

static void make_concat(Maker *m, Op op) {
    Value args[3], y;
    uint32_t count = 1 + pick(m, 3);
    args[0] = pick_for(m, op);
    const Type *type = type_of(m, args[0]);
    if (type->rank == 0) return;
    uint32_t axis = pick(m, type->rank);
    double most = args[0].most;
    for (uint32_t i = 1; i < count; i++) {
        const Dim *dims[TYPE_MAX_RANK];
        for (uint32_t a = 0; a < type->rank; a++) dims[a] = a == axis ? pick_dim(m) : type->dims[a];
        const Type *other = type_tensor(m->ctx, type->dtype, type->rank, dims);
        if (!is_small(m, other)) return;
        args[i] = pick(m, 2) ? pick_like(m, args[0], type->dtype) : new_input(m, other, 0);
        most = larger(most, args[i].most);
    }
    if (put(m, op, args, count, (Attr[]){{.i = axis}}, most, &y)) keep(m, y);
}

// ---- indices

static Value make_indices(Maker *m, Value x, uint32_t axis, uint32_t batch) {
    const Type *type = type_of(m, x);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = batch;
    for (uint32_t i = 0; i < batch; i++) dims[i] = type->dims[i];
    for (uint32_t own = pick(m, 3); own > 0; own--) dims[rank++] = pick_dim(m);
    DType dtype = pick(m, 2) ? DT_i64 : DT_i32;
    const Type *index = type_tensor(m->ctx, dtype, rank, dims);
    while (!is_small(m, index) && rank > batch) index = type_tensor(m->ctx, dtype, --rank, dims);
    return new_input(m, index, axis_size(m, x, axis));
}

static void make_gather(Maker *m, Op op) {
    Value args[3], y, z;
    args[0] = pick_for(m, op);
    uint32_t rank = type_of(m, args[0])->rank, count = 2;
    if (rank == 0 || rank > 3) return;
    uint32_t axis = pick(m, rank), batch = pick(m, axis + 1);
    int64_t size = axis_size(m, args[0], axis);
    if (size == 0) return;
    args[1] = make_indices(m, args[0], axis, batch);
    Attr attrs[] = {{.i = axis}, {.i = batch}};
    if (!put(m, OP_gather, args, 2, attrs, args[0].most, &y)) return;
    if (!is_small(m, type_of(m, y))) return;
    double most = args[0].most;
    if (op_info(op)->class == CLASS_SCATTER) {
        double hits = (double)fuzz_elements(type_of(m, args[1]), m->symbols);
        args[count++] = pick_like(m, y, type_of(m, args[0])->dtype);
        if (op_info(op)->scalar == OP_add)
            most += args[2].most * hits;
        else if (op_info(op)->scalar == OP_mul)
            most *= pow(larger(args[2].most, 1), hits);
        else
            most = larger(most, args[2].most);
    }
    if (put(m, op, args, count, attrs, most, &z)) keep(m, z);
}

// ---- sums of products

// Labels: those of x, some of them summed or shared with w, which may have two of its own.
static void make_contract(Maker *m, Op op) {
    Value args[2], y;
    args[0] = pick_for(m, op);
    const Type *type = type_of(m, args[0]);
    if (type->rank > 3) return;
    int64_t a[TYPE_MAX_RANK], b[TYPE_MAX_RANK], out[2 * TYPE_MAX_RANK];
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t shared = 0, outs = 0;
    double terms = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        uint32_t role = pick(m, i + 1 == type->rank ? 2 : 4); // summed, batch, x's alone
        a[i] = i;
        if (role < 2) dims[shared] = type->dims[i];
        if (role < 2) b[shared++] = i;
        if (role == 0) terms *= (double)axis_size(m, args[0], i);
        if (role != 0) out[outs++] = i;
    }
    for (uint32_t own = pick(m, 3); own > 0; own--) {
        dims[shared] = pick_dim(m);
        out[outs++] = b[shared++] = 20 + own;
    }
    for (uint32_t i = outs; i > 1; i--) {
        uint32_t k = pick(m, i);
        int64_t t = out[i - 1];
        out[i - 1] = out[k];
        out[k] = t;
    }
    const Type *other = type_tensor(m->ctx, type->dtype, shared, dims);
    if (!is_small(m, other)) return;
    args[1] = new_input(m, other, 0);
    Attr attrs[] = {{.ints = some_ints(m, a, type->rank)},
                    {.ints = some_ints(m, b, shared)},
                    {.ints = some_ints(m, out, outs)},
                    {.dtype = type->dtype}};
    if (put(m, op, args, 2, attrs, args[0].most * args[1].most * terms, &y)) keep(m, y);
}

static void make_conv(Maker *m, Op op) {
    Value args[2], y;
    args[0] = pick_for(m, op);
    const Type *type = type_of(m, args[0]);
    int64_t n[4][3], channels, kernel = 1;
    if (type->rank < 3 || !dim_is_const(type->dims[1], &channels) || channels == 0) return;
    int64_t groups = pick(m, 3) ? 1 : channels % 2 ? channels : 2;
    const Dim *dims[TYPE_MAX_RANK] = {dim_const(m->ctx, groups * (1 + pick(m, 5))),
                                      dim_const(m->ctx, channels / groups)};
    for (uint32_t i = 0; i + 2 < type->rank; i++) {
        int64_t window = 1 + pick(m, 3);
        dims[i + 2] = dim_const(m->ctx, window);
        kernel *= window;
        n[0][i] = 1 + pick(m, 2), n[1][i] = 1 + pick(m, 2);
        n[2][i] = pick(m, 3), n[3][i] = pick(m, 3);
    }
    const Type *weights = type_tensor(m->ctx, type->dtype, type->rank, dims);
    if (!is_small(m, weights)) return;
    args[1] = new_input(m, weights, 0);
    Attr attrs[6] = {0};
    for (int k = 0; k < 4; k++) attrs[k].ints = some_ints(m, n[k], type->rank - 2);
    attrs[4].i = groups;
    attrs[5].dtype = type->dtype;
    double terms = (double)(kernel * (channels / groups));
    if (put(m, op, args, 2, attrs, args[0].most * args[1].most * terms, &y)) keep(m, y);
}

static void make_window(Maker *m, Op op) {
    Value x = pick_for(m, op), y;
    uint32_t rank = type_of(m, x)->rank;
    int64_t n[5][TYPE_MAX_RANK];
    double terms = 1;
    for (uint32_t i = 0; i < rank; i++) {
        bool slides = pick(m, 2);
        // A window that sees nothing but padding has no greatest integer.
        bool extreme = m->exact && op != OP_window_sum;
        n[0][i] = slides ? 1 + pick(m, 3) : 1;
        n[1][i] = slides ? 1 + pick(m, 2) : 1;
        n[2][i] = slides ? 1 + pick(m, 2) : 1;
        n[3][i] = slides && !extreme ? pick(m, 3) : 0;
        n[4][i] = slides && !extreme ? pick(m, 3) : 0;
        terms *= (double)n[0][i];
    }
    Attr attrs[5];
    for (int k = 0; k < 5; k++) attrs[k].ints = some_ints(m, n[k], rank);
    double most = op == OP_window_sum ? x.most * terms : x.most;
    if (put(m, op, &x, 1, attrs, most, &y)) keep(m, y);
}

// ---- without operands

static void make_random(Maker *m, Op op) {
    Value key = new_input(m, type_scalar(m->ctx, DT_u64), 0), y;
    const Dim *dims[] = {pick_dim(m), pick_dim(m)};
    Attr attrs[] = {{.i = pick(m, 4)}, {.dims = ir_dims(m->ctx, dims, pick(m, 3))}};
    if (put(m, op, &key, 1, attrs, HUGE_VAL, &y)) keep(m, y);
}

// An expression of two dims that may be negative.
static const Dim *dim_of(Maker *m, const Dim *const *dims) {
    const Dim *difference = dim_sub(m->ctx, dims[0], dims[1]);
    switch (pick(m, 4)) {
    case 0: return dim_floordiv(m->ctx, difference, dim_const(m->ctx, 2 + pick(m, 6)));
    case 1: return dim_max(m->ctx, difference, dim_const(m->ctx, pick(m, 3)));
    default: return dim_offset(m->ctx, dims[0], pick(m, 3));
    }
}

static void make_leaf(Maker *m, Op op) {
    Value y = {.most = 0};
    const Dim *dims[] = {pick_dim(m), pick_dim(m)};
    const Type *type = NULL;
    Attr attr = {.i = pick(m, 2)};
    if (op == OP_dim) {
        attr = (Attr){.dim = dim_of(m, dims)};
        if (put(m, op, NULL, 0, &attr, fabs((double)size_of(m, attr.dim)), &y)) keep(m, y);
        return;
    }
    DType dtype;
    do dtype = (DType)pick(m, DT_count);
    while (!op_accepts(op, dtype));
    type = type_tensor(m->ctx, dtype, 2, dims);
    y.most = (double)size_of(m, dims[attr.i]);
    for (int g = 0; g < 2; g++)
        y.ids[g] = graph_add(m->graphs[g], op, type, NULL, 0, &attr, NULL, 0, NULL);
    keep(m, y);
}

void make_op(Maker *m, Op op) {
    switch (op_info(op)->class) {
    case CLASS_LEAF: make_leaf(m, op); return;
    case CLASS_UNARY: make_unary(m, op); return;
    case CLASS_BINARY:
    case CLASS_COMPARE: make_binary(m, op); return;
    case CLASS_SELECT: make_select(m, op); return;
    case CLASS_CAST: make_cast(m, op); return;
    case CLASS_REDUCE: make_reduce(m, op); return;
    case CLASS_ARGREDUCE: make_argreduce(m, op); return;
    case CLASS_CUMULATIVE: make_cumulative(m, op); return;
    case CLASS_RESHAPE: make_reshape(m, op); return;
    case CLASS_PERMUTE: make_permute(m, op); return;
    case CLASS_BROADCAST: make_broadcast(m, op); return;
    case CLASS_SLICE: make_slice(m, op); return;
    case CLASS_PAD: make_pad(m, op); return;
    case CLASS_REVERSE: make_reverse(m, op); return;
    case CLASS_CONCAT: make_concat(m, op); return;
    case CLASS_GATHER:
    case CLASS_SCATTER: make_gather(m, op); return;
    case CLASS_CONTRACT: make_contract(m, op); return;
    case CLASS_CONV: make_conv(m, op); return;
    case CLASS_WINDOW: make_window(m, op); return;
    case CLASS_SORT: make_sort(m, op); return;
    case CLASS_RANDOM: make_random(m, op); return;
    default: return;
    }
}
