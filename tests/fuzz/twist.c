// Chains of ops that give back the bits they are given. Each is one idea in a row of the table.
#include "tests/fuzz/case.h"

#include "ir/build.h"

typedef struct Twist {
    Graph *graph;
    NodeId x;
    const Type *type;
    const int64_t *symbols;
    uint64_t *state;
} Twist;

typedef NodeId Chain(const Twist *);

static uint32_t any(const Twist *t, uint32_t below) { return fuzz_pick(t->state, below); }
static IrContext *ctx_of(const Twist *t) { return t->graph->ctx; }
static const Dim *constant(const Twist *t, int64_t value) { return dim_const(ctx_of(t), value); }

static NodeId transposed_twice(const Twist *t) {
    int64_t perm[TYPE_MAX_RANK], back[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < t->type->rank; i++) perm[i] = i;
    for (uint32_t i = t->type->rank; i > 1; i--) {
        uint32_t k = any(t, i);
        int64_t p = perm[i - 1];
        perm[i - 1] = perm[k];
        perm[k] = p;
    }
    for (uint32_t i = 0; i < t->type->rank; i++) back[perm[i]] = i;
    return build_permute(t->graph, build_permute(t->graph, t->x, perm), back);
}

static NodeId flattened_and_back(const Twist *t) {
    const Dim *flat = type_elements(ctx_of(t), t->type);
    return build_reshape(t->graph, build_reshape(t->graph, t->x, &flat, 1), t->type->dims,
                         t->type->rank);
}

static NodeId with_a_new_axis_and_back(const Twist *t) {
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = t->type->rank;
    if (rank + 1 > TYPE_MAX_RANK) return t->x;
    for (uint32_t i = 0; i < rank; i++) dims[i + 1] = t->type->dims[i];
    dims[0] = constant(t, 1);
    NodeId wide = build_reshape(t->graph, t->x, dims, rank + 1);
    return build_reshape(t->graph, wide, t->type->dims, rank);
}

static NodeId reversed_twice(const Twist *t) {
    if (t->type->rank == 0) return t->x;
    int64_t axis = any(t, t->type->rank);
    Attr attrs[] = {{.ints = ir_ints(ctx_of(t), &axis, 1)}};
    NodeId once = build_op(t->graph, OP_reverse, &t->x, 1, attrs);
    return build_op(t->graph, OP_reverse, &once, 1, attrs);
}

// The part along `axis` between two bounds.
static NodeId part(const Twist *t, NodeId x, uint32_t axis, const Dim *from, const Dim *to) {
    const Type *type = graph_type(t->graph, x);
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        start[i] = i == axis ? from : constant(t, 0);
        limit[i] = i == axis ? to : type->dims[i];
        step[i] = 1;
    }
    return build_slice(t->graph, x, start, limit, step);
}

static NodeId split_and_joined(const Twist *t) {
    if (t->type->rank == 0) return t->x;
    uint32_t axis = any(t, t->type->rank);
    const Dim *size = t->type->dims[axis];
    const Dim *at = constant(t, any(t, (uint32_t)fuzz_size(size, t->symbols) + 1));
    NodeId parts[] = {part(t, t->x, axis, constant(t, 0), at), part(t, t->x, axis, at, size)};
    return build_op(t->graph, OP_concat, parts, 2, (Attr[]){{.i = axis}});
}

static NodeId joined_and_cut(const Twist *t) {
    if (t->type->rank == 0) return t->x;
    uint32_t axis = any(t, t->type->rank);
    const Dim *size = t->type->dims[axis], *twice = dim_scale(ctx_of(t), size, 2);
    NodeId both = build_op(t->graph, OP_concat, (NodeId[]){t->x, t->x}, 2, (Attr[]){{.i = axis}});
    return any(t, 2) ? part(t, both, axis, size, twice) : part(t, both, axis, constant(t, 0), size);
}

static NodeId padded_and_cut(const Twist *t) {
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK], *end[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < t->type->rank; i++) {
        lo[i] = constant(t, any(t, 3));
        hi[i] = constant(t, any(t, 3));
        end[i] = dim_add(ctx_of(t), lo[i], t->type->dims[i]);
        step[i] = 1;
    }
    NodeId value = build_scalar(t->graph, t->type->dtype, any(t, 3));
    return build_slice(t->graph, build_pad(t->graph, t->x, value, lo, hi), lo, end, step);
}

static NodeId repeated_and_cut(const Twist *t) {
    const Dim *dims[TYPE_MAX_RANK];
    int64_t axes[TYPE_MAX_RANK];
    uint32_t rank = t->type->rank;
    if (rank + 1 > TYPE_MAX_RANK) return t->x;
    int64_t copies = 1 + any(t, 3);
    dims[0] = constant(t, copies);
    for (uint32_t i = 0; i < rank; i++) axes[i] = i + 1, dims[i + 1] = t->type->dims[i];
    NodeId all = build_broadcast(t->graph, t->x, dims, rank + 1, axes);
    NodeId last = part(t, all, 0, constant(t, copies - 1), constant(t, copies));
    return build_reshape(t->graph, last, t->type->dims, rank);
}

// The indices of an axis in their order.
static NodeId in_order(const Twist *t, uint32_t axis) {
    const Type *type = type_tensor(ctx_of(t), DT_i64, 1, &t->type->dims[axis]);
    return build_iota(t->graph, type, 0);
}

static NodeId gathered_in_order(const Twist *t) {
    if (t->type->rank == 0) return t->x;
    uint32_t axis = any(t, t->type->rank);
    Attr attrs[] = {{.i = axis}, {.i = 0}};
    return build_op(t->graph, OP_gather, (NodeId[]){t->x, in_order(t, axis)}, 2, attrs);
}

static NodeId scattered_onto_itself(const Twist *t) {
    if (t->type->rank == 0) return t->x;
    uint32_t axis = any(t, t->type->rank);
    Attr attrs[] = {{.i = axis}, {.i = 0}};
    return build_op(t->graph, OP_scatter_set, (NodeId[]){t->x, in_order(t, axis), t->x}, 3, attrs);
}

static NodeId negated_twice(const Twist *t) {
    if (!op_accepts(OP_neg, t->type->dtype)) return t->x;
    return build_unary(t->graph, OP_neg, build_unary(t->graph, OP_neg, t->x));
}

static NodeId complemented_twice(const Twist *t) {
    if (!op_accepts(OP_not, t->type->dtype)) return t->x;
    return build_unary(t->graph, OP_not, build_unary(t->graph, OP_not, t->x));
}

// -0 changes no number, 0 makes 0 of -0.
static NodeId plus_nothing(const Twist *t) {
    if (!op_accepts(OP_add, t->type->dtype)) return t->x;
    NodeId nothing = build_fill(t->graph, t->type, dtype_is_float(t->type->dtype) ? -0.0 : 0);
    return build_binary(t->graph, OP_add, t->x, nothing);
}

static NodeId minus_nothing(const Twist *t) {
    if (!op_accepts(OP_sub, t->type->dtype)) return t->x;
    return build_binary(t->graph, OP_sub, t->x, build_fill(t->graph, t->type, 0));
}

static NodeId times_one(const Twist *t) {
    if (!op_accepts(OP_mul, t->type->dtype)) return t->x;
    NodeId one = build_fill(t->graph, t->type, 1);
    return build_binary(t->graph, any(t, 2) ? OP_mul : OP_div, t->x, one);
}

static NodeId the_greater_of_itself(const Twist *t) {
    static const Op ops[] = {OP_max, OP_min, OP_and, OP_or};
    Op op = ops[any(t, 4)];
    if (!op_accepts(op, t->type->dtype)) return t->x;
    return build_binary(t->graph, op, t->x, t->x);
}

static NodeId chosen_from_itself(const Twist *t) {
    const Type *type = type_with_dtype(ctx_of(t), t->type, DT_bool);
    NodeId condition = build_fill(t->graph, type, any(t, 2));
    if (op_accepts(OP_lt, t->type->dtype))
        condition = build_binary(t->graph, OP_lt, t->x, build_fill(t->graph, t->type, 1));
    return build_select(t->graph, condition, t->x, t->x);
}

static NodeId through_a_wider_type(const Twist *t) {
    DType from = t->type->dtype;
    uint32_t bits = dtype_info(from)->bits;
    DType to = dtype_is_float(from) ? (bits < 32 && any(t, 2) ? DT_f32 : DT_f64)
                                    : (bits < 32 && any(t, 2) ? DT_i32 : DT_i64);
    return build_cast(t->graph, build_cast(t->graph, t->x, to), from);
}

// The greatest of one element, in each of the forms that ops have for it.
static NodeId the_greatest_of_one(const Twist *t) {
    uint32_t rank = t->type->rank;
    const Dim *dims[TYPE_MAX_RANK];
    int64_t axis = 0;
    if (!op_accepts(OP_reduce_max, t->type->dtype) || rank + 1 > TYPE_MAX_RANK) return t->x;
    dims[0] = constant(t, 1);
    for (uint32_t i = 0; i < rank; i++) dims[i + 1] = t->type->dims[i];
    NodeId wide = build_reshape(t->graph, t->x, dims, rank + 1);
    if (any(t, 2)) return build_reduce(t->graph, OP_reduce_max, wide, &axis, 1);
    Attr attrs[] = {{.i = 0}, {.i = 0}, {.i = any(t, 2)}};
    NodeId same = build_op(t->graph, OP_cum_min, &wide, 1, attrs);
    return build_reshape(t->graph, same, t->type->dims, rank);
}

static Chain *const chains[] = {
    transposed_twice,   flattened_and_back,    reversed_twice,     with_a_new_axis_and_back,
    split_and_joined,   joined_and_cut,        padded_and_cut,     repeated_and_cut,
    gathered_in_order,  scattered_onto_itself, negated_twice,      complemented_twice,
    plus_nothing,       minus_nothing,         times_one,          the_greater_of_itself,
    chosen_from_itself, through_a_wider_type,  the_greatest_of_one};
enum { CHAINS = sizeof chains / sizeof *chains };

NodeId fuzz_twist(Graph *graph, NodeId x, const int64_t *symbols, uint64_t *state) {
    const Type *type = graph_type(graph, x);
    if (type->is_tuple) return x;
    Twist t = {.graph = graph, .x = x, .type = type, .symbols = symbols, .state = state};
    for (uint32_t length = 1 + any(&t, 2); length > 0; length--) {
        NodeId next = chains[any(&t, CHAINS)](&t);
        if (graph_type(graph, next) == type) t.x = next;
    }
    return t.x;
}
