/* Reductions of much into little, in two steps: a kernel makes each result on one thread, and few
 * results leave the other threads idle. Parts of a size that is fixed by the shape are reduced
 * first, then their results, so that the order does not depend on the number of threads.
 *
 * Where several axes are reduced, the inner ones make the parts. An axis that is alone is cut into
 * runs, after padding it with the neutral element to a whole number of them. */
#include "ir/build.h"
#include "passes/fold/fold.h"

#include <math.h>

/* When it pays, by the kind of target. */
typedef struct Sizes {
    double least_elements; /* below, the first worker is done before a second one has begun */
    double least_length;   /* of what is reduced into one result */
    double few_points;     /* of a kernel's grid */
    double lanes;
    double part_elements;
} Sizes;

/* A GPU's points are blocks where rows are long, of which it runs hundreds at the same time. */
static const Sizes sizes_of[] = {
    [TARGET_cpu] = {.least_elements = 1 << 18,
                    .few_points = 32,
                    .lanes = 16,
                    .part_elements = 1 << 14},
    [TARGET_gpu] = {.least_elements = 1 << 17,
                    .least_length = 1 << 15,
                    .few_points = 128,
                    .lanes = 32,
                    .part_elements = 1 << 13},
};

typedef struct Reduction {
    const Sizes *sizes;
    NodeId operand;
    const Type *type; /* of the operand */
    DType dtype;      /* of the result */
    Op op;
    bool reduced[TYPE_MAX_RANK];
    uint32_t first; /* the outermost axis that is reduced */
    uint32_t count; /* how many are */
} Reduction;

static Reduction read_reduction(const Fold *f, NodeId id) {
    const IntList *axes = node_attr(fold_node(f, id), "axes").ints;
    Reduction r = {.operand = fold_arg(f, id, 0), .op = fold_node(f, id)->op, .count = axes->count};
    r.sizes = &sizes_of[f->ctx->target ? f->ctx->target->kind : TARGET_cpu];
    r.type = graph_type(f->g, r.operand);
    r.dtype = fold_node(f, id)->type->dtype;
    for (uint32_t i = 0; i < axes->count; i++) r.reduced[axes->items[i]] = true;
    while (r.first < r.type->rank && !r.reduced[r.first]) r.first++;
    return r;
}

/* The elements that are reduced together; `inner` leaves the outermost axis out. */
static double length_of(const Reduction *r, bool inner) {
    double length = 1;
    for (uint32_t i = r->first + inner; i < r->type->rank; i++)
        if (r->reduced[i]) length *= (double)dim_tune_value(r->type->dims[i]);
    return length;
}

/* The points of a kernel's grid: of results that lie side by side it makes a vector at a time. */
static double points_of(const Reduction *r) {
    double points = 1;
    for (uint32_t i = 0; i < r->type->rank; i++) {
        if (r->reduced[i]) continue;
        double extent = (double)dim_tune_value(r->type->dims[i]);
        points *= i + 1 == r->type->rank ? ceil(extent / r->sizes->lanes) : extent;
    }
    return points;
}

static double results_of(const Reduction *r) {
    double results = 1;
    for (uint32_t i = 0; i < r->type->rank; i++)
        if (!r->reduced[i]) results *= (double)dim_tune_value(r->type->dims[i]);
    return results;
}

/* One step of the two, with what accumulates as its result. */
static NodeId reduce(Fold *f, const Reduction *r, NodeId x, const int64_t *axes, uint32_t count) {
    DType dtype = dtype_is_float(r->dtype) ? dtype_compute(r->dtype) : r->dtype;
    bool keeps = r->op == OP_reduce_max || r->op == OP_reduce_min;
    Attr attrs[] = {{.ints = ir_ints(f->g->ctx, axes, count)}, {.dtype = keeps ? r->dtype : dtype}};
    return build_op(f->g, r->op, &x, 1, attrs);
}

/* Reduces the inner axes, then the outermost one. */
static NodeId by_axes(Fold *f, const Reduction *r) {
    int64_t inner[TYPE_MAX_RANK], outer = r->first;
    uint32_t count = 0;
    for (uint32_t i = r->first + 1; i < r->type->rank; i++)
        if (r->reduced[i]) inner[count++] = i;
    return reduce(f, r, reduce(f, r, r->operand, inner, count), &outer, 1);
}

/* Whether the operand's dtype has the neutral element among its floats. */
static bool can_pad(const Reduction *r) {
    bool sums = r->op == OP_reduce_sum || r->op == OP_reduce_prod;
    return sums || (dtype_is_float(r->type->dtype) && dtype_info(r->type->dtype)->bits >= 16);
}

static double neutral_of(Op op) {
    switch (op) {
    case OP_reduce_prod: return 1;
    case OP_reduce_max: return -INFINITY;
    case OP_reduce_min: return INFINITY;
    default: return 0;
    }
}

/* `x` with its axis made longer by neutral elements. */
static NodeId padded(Fold *f, NodeId x, const Reduction *r, const Dim *more) {
    IrContext *ctx = f->g->ctx;
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < r->type->rank; i++) lo[i] = hi[i] = dim_const(ctx, 0);
    hi[r->first] = more;
    NodeId value = build_scalar(f->g, graph_type(f->g, x)->dtype, neutral_of(r->op));
    return build_pad(f->g, x, value, lo, hi);
}

/* Cuts the axis into runs of `size`, reduces each, then their results. */
static NodeId by_runs(Fold *f, const Reduction *r, int64_t size) {
    IrContext *ctx = f->g->ctx;
    const Dim *run = dim_const(ctx, size), *dims[TYPE_MAX_RANK + 1];
    const Dim *extent = r->type->dims[r->first], *runs = dim_ceildiv(ctx, extent, run);
    const Dim *more = dim_sub(ctx, dim_mul(ctx, runs, run), extent);
    bool whole = dim_equals_int(more, 0);
    if (dim_is_overflow(more) || r->type->rank == TYPE_MAX_RANK || !(whole || can_pad(r)))
        return NODE_none;
    NodeId x = whole ? r->operand : padded(f, r->operand, r, more);
    for (uint32_t i = 0; i < r->type->rank; i++) dims[i + (i > r->first)] = r->type->dims[i];
    dims[r->first] = runs;
    dims[r->first + 1] = run;
    NodeId cut = build_reshape(f->g, x, dims, r->type->rank + 1);
    int64_t inner = (int64_t)r->first + 1, outer = r->first;
    return reduce(f, r, reduce(f, r, cut, &inner, 1), &outer, 1);
}

/* A power of two of elements along the axis that makes parts of the size wanted. */
static int64_t run_length(const Reduction *r) {
    int64_t size = 64;
    while ((double)size * results_of(r) < r->sizes->part_elements) size *= 2;
    return size;
}

/* Whether to reduce by axes: the inner ones make parts, of which there are enough. */
static bool has_parts(const Reduction *r) {
    double part = length_of(r, true);
    return r->count > 1 && part >= r->sizes->lanes &&
           part * r->sizes->few_points <= length_of(r, false);
}

static NodeId split(Fold *f, NodeId id) {
    Reduction r = read_reduction(f, id);
    double length = length_of(&r, false), elements = length * results_of(&r);
    bool wide = dtype_info(r.type->dtype)->bits >= 8 && r.type->dtype != DT_bool;
    if (!wide || r.count == 0 || length < r.sizes->least_length ||
        elements < r.sizes->least_elements || points_of(&r) >= r.sizes->few_points)
        return NODE_none;
    NodeId result = NODE_none;
    if (has_parts(&r))
        result = by_axes(f, &r);
    else if (r.count == 1)
        result = by_runs(f, &r, run_length(&r));
    if (result == NODE_none) return NODE_none;
    return graph_type(f->g, result)->dtype == r.dtype ? result : build_cast(f->g, result, r.dtype);
}

NodeId fold_split_sum(Fold *f, NodeId id) { return split(f, id); }
NodeId fold_split_prod(Fold *f, NodeId id) { return split(f, id); }
NodeId fold_split_max(Fold *f, NodeId id) { return split(f, id); }
NodeId fold_split_min(Fold *f, NodeId id) { return split(f, id); }
