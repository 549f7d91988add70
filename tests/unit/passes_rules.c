// Every rule of fold by itself: on a graph that it answers, over all pairs of special values of
// each dtype it is for, its replacement gives what the node gave, to the last bit.
#include "passes/fold/fold.h"
#include "tests/unit/passes_support.h"

enum { MAX_VALUES = 32 };

typedef struct Case {
    Bench b;
    Graph *g;
    Fold f;
    DType dtype;
    NodeId x, y; // [n · n]: all pairs of special values
    int64_t n;
    NodeId p, q; // bools
} Case;

static NodeId number(Case *c, double value) {
    return build_fill(c->g, graph_type(c->g, c->x), value);
}
static NodeId un(Case *c, Op op, NodeId x) { return build_unary(c->g, op, x); }
static NodeId bin(Case *c, Op op, NodeId x, NodeId y) { return build_binary(c->g, op, x, y); }

// x as [n, n].
static NodeId square(Case *c) {
    const Dim *dims[] = {dim_const(c->b.ir, c->n), dim_const(c->b.ir, c->n)};
    return build_reshape(c->g, c->x, dims, 2);
}

static NodeId shaped(Case *c, NodeId x, uint32_t rank, const int64_t *dims) {
    return build_reshape(c->g, x, bench_type(&c->b, c->dtype, rank, dims)->dims, rank);
}

// ---- algebra

static NodeId case_commute(Case *c) { return bin(c, OP_mul, number(c, 3), c->x); }
static NodeId case_reassociate(Case *c) {
    return bin(c, OP_max, bin(c, OP_max, c->x, number(c, 2)), number(c, 1));
}
static NodeId case_neg_neg(Case *c) { return un(c, OP_neg, un(c, OP_neg, c->x)); }
static NodeId case_not_not(Case *c) { return un(c, OP_not, un(c, OP_not, c->p)); }
static NodeId case_not_compare(Case *c) { return un(c, OP_not, bin(c, OP_eq, c->x, c->y)); }
static NodeId case_not_order(Case *c) { return un(c, OP_not, bin(c, OP_lt, c->x, c->y)); }
static NodeId case_abs_sign(Case *c) { return un(c, OP_abs, un(c, OP_neg, c->x)); }
static NodeId case_abs_abs(Case *c) { return un(c, OP_abs, un(c, OP_abs, c->x)); }
static NodeId case_sign_sign(Case *c) { return un(c, OP_sign, un(c, OP_sign, c->x)); }
static NodeId case_floor_integral(Case *c) { return un(c, OP_floor, un(c, OP_round, c->x)); }
static NodeId case_ceil_integral(Case *c) { return un(c, OP_ceil, un(c, OP_floor, c->x)); }
static NodeId case_trunc_integral(Case *c) { return un(c, OP_trunc, un(c, OP_ceil, c->x)); }
static NodeId case_round_integral(Case *c) { return un(c, OP_round, un(c, OP_trunc, c->x)); }
static NodeId case_add_minus_zero(Case *c) { return bin(c, OP_add, c->x, number(c, -0.0)); }
static NodeId case_add_zero(Case *c) { return bin(c, OP_add, c->x, number(c, 0)); }
static NodeId case_add_neg(Case *c) { return bin(c, OP_add, c->x, un(c, OP_neg, c->y)); }
static NodeId case_neg_add(Case *c) { return bin(c, OP_add, un(c, OP_neg, c->x), c->y); }
static NodeId case_sub_zero(Case *c) { return bin(c, OP_sub, c->x, number(c, 0)); }
static NodeId case_sub_neg(Case *c) { return bin(c, OP_sub, c->x, un(c, OP_neg, c->y)); }
static NodeId case_sub_const(Case *c) { return bin(c, OP_sub, c->x, number(c, 3)); }
static NodeId case_sub_const_zero(Case *c) { return bin(c, OP_sub, c->x, number(c, -0.0)); }
static NodeId case_sub_self(Case *c) { return bin(c, OP_sub, c->x, c->x); }
static NodeId case_mul_one(Case *c) { return bin(c, OP_mul, c->x, number(c, 1)); }
static NodeId case_mul_minus_one(Case *c) { return bin(c, OP_mul, c->x, number(c, -1)); }
static NodeId case_mul_zero(Case *c) { return bin(c, OP_mul, c->x, number(c, 0)); }
static NodeId case_mul_neg_neg(Case *c) {
    return bin(c, OP_mul, un(c, OP_neg, c->x), un(c, OP_neg, c->y));
}
static NodeId case_div_one(Case *c) { return bin(c, OP_div, c->x, number(c, 1)); }
static NodeId case_div_power(Case *c) { return bin(c, OP_div, c->x, number(c, -8)); }
static NodeId case_div_fraction(Case *c) { return bin(c, OP_div, c->x, number(c, 0.25)); }
static NodeId case_pow_0(Case *c) { return bin(c, OP_pow, c->x, number(c, 0)); }
static NodeId case_pow_1(Case *c) { return bin(c, OP_pow, c->x, number(c, 1)); }
static NodeId case_pow_2(Case *c) { return bin(c, OP_pow, c->x, number(c, 2)); }
static NodeId case_pow_minus_1(Case *c) { return bin(c, OP_pow, c->x, number(c, -1)); }
static NodeId case_min_self(Case *c) { return bin(c, OP_min, c->x, c->x); }
static NodeId case_min_most(Case *c) {
    const DTypeInfo *info = dtype_info(c->dtype);
    return bin(c, OP_min, c->x, number(c, dtype_is_float(c->dtype) ? INFINITY : info->most));
}
static NodeId case_max_self(Case *c) { return bin(c, OP_max, c->x, c->x); }
static NodeId case_max_least(Case *c) {
    const DTypeInfo *info = dtype_info(c->dtype);
    return bin(c, OP_max, c->x, number(c, dtype_is_float(c->dtype) ? -INFINITY : info->least));
}
static NodeId ones(Case *c) { return un(c, OP_not, number(c, 0)); }
static NodeId case_and_self(Case *c) { return bin(c, OP_and, c->x, c->x); }
static NodeId case_and_ones(Case *c) { return bin(c, OP_and, c->x, fold_simplify(&c->f, ones(c))); }
static NodeId case_and_zero(Case *c) { return bin(c, OP_and, c->x, number(c, 0)); }
static NodeId case_or_self(Case *c) { return bin(c, OP_or, c->x, c->x); }
static NodeId case_or_ones(Case *c) { return bin(c, OP_or, c->x, fold_simplify(&c->f, ones(c))); }
static NodeId case_or_zero(Case *c) { return bin(c, OP_or, c->x, number(c, 0)); }
static NodeId case_xor_self(Case *c) { return bin(c, OP_xor, c->x, c->x); }
static NodeId case_xor_zero(Case *c) { return bin(c, OP_xor, c->x, number(c, 0)); }
static NodeId case_select_same(Case *c) { return build_select(c->g, c->p, c->x, c->x); }
static NodeId truth(Case *c, double value) {
    return build_fill(c->g, graph_type(c->g, c->p), value);
}
static NodeId case_select_true(Case *c) { return build_select(c->g, truth(c, 1), c->x, c->y); }
static NodeId case_select_false(Case *c) { return build_select(c->g, truth(c, 0), c->x, c->y); }
static NodeId case_select_not(Case *c) {
    return build_select(c->g, un(c, OP_not, c->p), c->x, c->y);
}
static NodeId case_cast_same(Case *c) { return build_cast(c->g, c->x, c->dtype); }

// x to a dtype that holds it, then to another.
static NodeId cast_through(Case *c, DType wide, DType last) {
    return build_cast(c->g, build_cast(c->g, c->x, wide), last);
}
static NodeId case_cast_float(Case *c) { return cast_through(c, DT_f64, DT_f16); }
static NodeId case_cast_saturating(Case *c) { return cast_through(c, DT_f64, DT_i8); }
static NodeId case_cast_wrapping(Case *c) { return cast_through(c, DT_i64, DT_u8); }
static NodeId case_cast_back(Case *c) { return cast_through(c, DT_f64, c->dtype); }
static NodeId case_cast_bool(Case *c) { return cast_through(c, DT_f64, DT_bool); }

// ---- movement

static const int64_t swap_axes[] = {1, 0};

static NodeId spread(Case *c, NodeId x) { // [n·n] to [3, n·n]
    int64_t dims[] = {3, c->n * c->n};
    return build_broadcast(c->g, x, bench_type(&c->b, c->dtype, 2, dims)->dims, 2, (int64_t[]){1});
}

static NodeId case_unary_broadcast(Case *c) { return un(c, OP_neg, spread(c, c->x)); }
static NodeId case_cast_broadcast(Case *c) { return build_cast(c->g, spread(c, c->x), DT_f32); }
static NodeId case_binary_broadcast(Case *c) {
    return bin(c, OP_mul, spread(c, c->x), spread(c, c->y));
}
static NodeId case_binary_splat(Case *c) {
    NodeId x = spread(c, c->x);
    return bin(c, OP_sub, build_fill(c->g, graph_type(c->g, x), 3), x);
}
static NodeId case_reshape_splat(Case *c) {
    return shaped(c, number(c, 3), 2, (int64_t[]){c->n, c->n});
}
static NodeId case_permute_splat(Case *c) {
    return build_permute(c->g, build_fill(c->g, graph_type(c->g, square(c)), 3), swap_axes);
}
static NodeId sliced(Case *c, NodeId x, int64_t start, int64_t limit, int64_t step) {
    const Dim *from = dim_const(c->b.ir, start), *to = dim_const(c->b.ir, limit);
    return build_slice(c->g, x, &from, &to, &step);
}
static NodeId case_slice_splat(Case *c) { return sliced(c, number(c, 3), 1, 5, 2); }
static NodeId reversed(Case *c, NodeId x, uint32_t count, const int64_t *axes) {
    return build_op(c->g, OP_reverse, &x, 1, (Attr[]){{.ints = ir_ints(c->b.ir, axes, count)}});
}
static NodeId case_reverse_splat(Case *c) { return reversed(c, number(c, 3), 1, (int64_t[]){0}); }
static NodeId case_reshape_same(Case *c) { return shaped(c, c->x, 1, (int64_t[]){c->n * c->n}); }
static NodeId case_reshape_reshape(Case *c) {
    return shaped(c, square(c), 3, (int64_t[]){c->n, 1, c->n});
}
static NodeId case_permute_same(Case *c) {
    return build_permute(c->g, square(c), (int64_t[]){0, 1});
}
static NodeId cube(Case *c) { return shaped(c, c->x, 3, (int64_t[]){1, c->n, c->n}); }
static NodeId case_permute_permute(Case *c) {
    return build_permute(c->g, build_permute(c->g, cube(c), (int64_t[]){2, 0, 1}),
                         (int64_t[]){0, 2, 1});
}
static NodeId case_permute_broadcast(Case *c) {
    int64_t dims[] = {c->n, 2, c->n};
    NodeId wide = build_broadcast(c->g, square(c), bench_type(&c->b, c->dtype, 3, dims)->dims, 3,
                                  (int64_t[]){0, 2});
    return build_permute(c->g, wide, (int64_t[]){2, 1, 0});
}
static NodeId case_broadcast_same(Case *c) {
    const Type *type = graph_type(c->g, c->x);
    return build_broadcast(c->g, c->x, type->dims, 1, (int64_t[]){0});
}
static NodeId case_broadcast_units(Case *c) {
    int64_t dims[] = {4, c->n, c->n};
    return build_broadcast(c->g, cube(c), bench_type(&c->b, c->dtype, 3, dims)->dims, 3,
                           (int64_t[]){0, 1, 2});
}
static NodeId case_broadcast_broadcast(Case *c) {
    int64_t dims[] = {3, 2, c->n * c->n};
    return build_broadcast(c->g, spread(c, c->x), bench_type(&c->b, c->dtype, 3, dims)->dims, 3,
                           (int64_t[]){0, 2});
}
static NodeId case_slice_all(Case *c) { return sliced(c, c->x, 0, c->n * c->n, 1); }
static NodeId case_slice_slice(Case *c) { return sliced(c, sliced(c, c->x, 1, 60, 3), 2, 17, 4); }
static NodeId case_slice_slice_plain(Case *c) {
    return sliced(c, sliced(c, c->x, 5, 60, 1), 2, 17, 4);
}
static NodeId joined(Case *c, const NodeId *parts, uint32_t count) {
    return build_op(c->g, OP_concat, parts, count, (Attr[]){{.i = 0}});
}
static NodeId case_slice_concat(Case *c) {
    NodeId all = joined(c, (NodeId[]){c->x, c->y, c->x}, 3);
    return sliced(c, all, c->n * c->n + 1, 2 * c->n * c->n - 1, 2);
}
static NodeId case_reverse_none(Case *c) { return reversed(c, cube(c), 1, (int64_t[]){0}); }
static NodeId case_reverse_some(Case *c) { return reversed(c, cube(c), 2, (int64_t[]){0, 2}); }
static NodeId case_reverse_reverse(Case *c) {
    return reversed(c, reversed(c, cube(c), 2, (int64_t[]){1, 2}), 1, (int64_t[]){2});
}
static NodeId case_concat_one(Case *c) { return joined(c, &c->x, 1); }
static NodeId case_concat_nested(Case *c) {
    NodeId inner = joined(c, (NodeId[]){c->y, sliced(c, c->x, 2, 2, 1)}, 2);
    return joined(c, (NodeId[]){c->x, inner, c->y}, 3);
}
static NodeId padded(Case *c, NodeId x, double value, int64_t lo, int64_t hi) {
    const Dim *before = dim_const(c->b.ir, lo), *after = dim_const(c->b.ir, hi);
    return build_pad(c->g, x, build_scalar(c->g, c->dtype, value), &before, &after);
}
static NodeId case_pad_none(Case *c) { return padded(c, c->x, 3, 0, 0); }
static NodeId case_pad_pad(Case *c) { return padded(c, padded(c, c->x, 3, 1, 2), 3, 4, 0); }

static NodeId contracted(Case *c, NodeId a, NodeId b) {
    const IntList *ik = ir_ints(c->b.ir, (int64_t[]){0, 2}, 2);
    const IntList *kj = ir_ints(c->b.ir, (int64_t[]){2, 1}, 2);
    const IntList *ij = ir_ints(c->b.ir, (int64_t[]){0, 1}, 2);
    Attr attrs[] = {{.ints = ik}, {.ints = kj}, {.ints = ij}, {.dtype = c->dtype}};
    return build_op(c->g, OP_contract, (NodeId[]){a, b}, 2, attrs);
}
static NodeId case_contract_permute(Case *c) {
    return contracted(c, build_permute(c->g, square(c), swap_axes), square(c));
}

// ---- constants

static NodeId constant(Case *c, uint32_t rank, const int64_t *dims, bool same) {
    uint64_t seed = 77;
    const Type *type = bench_type(&c->b, c->dtype, rank, dims);
    Tensor t = test_tensor(c->b.arena, type, NULL, &seed);
    for (int64_t i = 0; same && i < tensor_elements(&t); i++) tensor_set(&t, i, 3);
    return build_const(c->g, type, t.data, tensor_bytes(&t));
}
static NodeId case_const_splat(Case *c) { return constant(c, 2, (int64_t[]){3, 5}, true); }
static NodeId case_param_splat(Case *c) {
    const Node *same = graph_node(c->g, constant(c, 1, (int64_t[]){4}, true));
    Attr attrs[] = {{.str = ir_string(c->b.ir, STR("p"))}, same->attrs[0]};
    return graph_add(c->g, OP_param, same->type, NULL, 0, attrs, NULL, 0, NULL);
}
static NodeId case_evaluate(Case *c) {
    NodeId x = constant(c, 1, (int64_t[]){6}, false);
    return bin(c, OP_mul, x, fold_binary(&c->f, OP_add, x, x));
}
static NodeId case_evaluate_iota(Case *c) {
    NodeId iota = build_iota(c->g, bench_type(&c->b, c->dtype, 1, (int64_t[]){9}), 0);
    return bin(c, OP_mul, iota, iota);
}

// ---- sums: [n, n]·w, then factors and shifts along the result's last axis

static NodeId product(Case *c) {
    return contracted(c, square(c), constant(c, 2, (int64_t[]){c->n, 4}, false));
}
static NodeId along(Case *c, NodeId like, bool same) {
    NodeId v = constant(c, 1, (int64_t[]){4}, same);
    return build_broadcast(c->g, v, graph_type(c->g, like)->dims, 2, (int64_t[]){1});
}
static NodeId shifted(Case *c) {
    NodeId u = product(c);
    return bin(c, OP_add, u, along(c, u, false));
}
static NodeId case_scale_mul(Case *c) {
    NodeId u = product(c);
    return bin(c, OP_mul, u, along(c, u, false));
}
static NodeId case_scale_shifted(Case *c) {
    NodeId u = shifted(c);
    return bin(c, OP_mul, u, along(c, u, false));
}
static NodeId case_scale_div(Case *c) {
    NodeId u = shifted(c);
    return bin(c, OP_div, u, along(c, u, false));
}
static NodeId case_scale_neg(Case *c) { return un(c, OP_neg, shifted(c)); }
static NodeId case_scale_add(Case *c) {
    NodeId u = shifted(c);
    return bin(c, OP_add, u, build_fill(c->g, graph_type(c->g, u), 3));
}
static NodeId case_scale_sub(Case *c) {
    NodeId u = product(c);
    return bin(c, OP_sub, along(c, u, false), u);
}
static NodeId case_scale_conv(Case *c) {
    NodeId x = shaped(c, c->x, 4, (int64_t[]){1, 1, c->n, c->n});
    NodeId w = constant(c, 4, (int64_t[]){2, 1, 3, 3}, false);
    const IntList *one = ir_ints(c->b.ir, (int64_t[]){1, 1}, 2);
    Attr attrs[] = {{.ints = one}, {.ints = one}, {.ints = one},
                    {.ints = one}, {.i = 1},      {.dtype = c->dtype}};
    NodeId u = build_op(c->g, OP_conv, (NodeId[]){x, w}, 2, attrs);
    NodeId v = constant(c, 1, (int64_t[]){2}, false);
    return bin(c, OP_mul, u,
               build_broadcast(c->g, v, graph_type(c->g, u)->dims, 4, (int64_t[]){1}));
}

// ---- long reductions: all of it, over both axes, and down the columns

static NodeId reduced(Case *c, NodeId x, Op op, int64_t first, uint32_t count) {
    return build_reduce(c->g, op, x, (int64_t[]){first, first + 1}, count);
}
static int64_t rows(const Case *c) { return 2 * ((1 << 17) / (c->n * c->n) + 1); }
static NodeId tall(Case *c) {
    const Dim *dims[] = {dim_const(c->b.ir, rows(c)), dim_const(c->b.ir, c->n * c->n)};
    return build_broadcast(c->g, c->x, dims, 2, (int64_t[]){1});
}
static NodeId flat(Case *c) { return shaped(c, tall(c), 1, (int64_t[]){rows(c) * c->n * c->n}); }
static NodeId columns(Case *c) {
    return shaped(c, tall(c), 2, (int64_t[]){rows(c) / 2 * c->n * c->n, 2});
}
static NodeId case_split_sum(Case *c) { return reduced(c, flat(c), OP_reduce_sum, 0, 1); }
static NodeId case_split_both(Case *c) { return reduced(c, tall(c), OP_reduce_sum, 0, 2); }
static NodeId case_split_columns(Case *c) { return reduced(c, columns(c), OP_reduce_sum, 0, 1); }
static NodeId case_split_prod(Case *c) { return reduced(c, tall(c), OP_reduce_prod, 0, 2); }
static NodeId case_split_max(Case *c) { return reduced(c, tall(c), OP_reduce_max, 0, 2); }
static NodeId case_split_run(Case *c) { return reduced(c, flat(c), OP_reduce_max, 0, 1); }
static NodeId case_split_min(Case *c) { return reduced(c, columns(c), OP_reduce_min, 0, 1); }

// ---- the table

enum {
    FLOATS = 1u << DT_f8e4m3 | 1u << DT_f8e5m2 | 1u << DT_f16 | 1u << DT_bf16 | 1u << DT_f32 |
             1u << DT_f64,
    WIDE_FLOATS = 1u << DT_f16 | 1u << DT_bf16 | 1u << DT_f32 | 1u << DT_f64,
    SIGNED = 1u << DT_i8 | 1u << DT_i16 | 1u << DT_i32 | 1u << DT_i64,
    UNSIGNED = 1u << DT_u8 | 1u << DT_u16 | 1u << DT_u32 | 1u << DT_u64,
    INTS = SIGNED | UNSIGNED,
    NARROW_INTS = INTS & ~(1u << DT_i64 | 1u << DT_u64),
    NUMBERS = FLOATS | INTS,
    SUMS = 1u << DT_f32 | 1u << DT_f64
};

static const struct {
    const char *rule;
    NodeId (*build)(Case *c);
    uint32_t dtypes;
} cases[] = {
    {"commute", case_commute, NUMBERS},
    {"reassociate", case_reassociate, NUMBERS},
    {"neg_neg", case_neg_neg, NUMBERS},
    {"not_not", case_not_not, 1u << DT_f32},
    {"not_compare", case_not_compare, NUMBERS},
    {"not_compare", case_not_order, INTS},
    {"abs_sign", case_abs_sign, FLOATS | SIGNED},
    {"abs_sign", case_abs_abs, NUMBERS},
    {"sign_sign", case_sign_sign, NUMBERS},
    {"floor_integral", case_floor_integral, FLOATS},
    {"ceil_integral", case_ceil_integral, FLOATS},
    {"trunc_integral", case_trunc_integral, FLOATS},
    {"round_integral", case_round_integral, FLOATS},
    {"add_zero", case_add_minus_zero, NUMBERS},
    {"add_zero", case_add_zero, INTS},
    {"add_neg", case_add_neg, NUMBERS},
    {"add_neg", case_neg_add, NUMBERS},
    {"sub_zero", case_sub_zero, NUMBERS},
    {"sub_neg", case_sub_neg, NUMBERS},
    {"sub_const", case_sub_const, NUMBERS},
    {"sub_const", case_sub_const_zero, FLOATS},
    {"sub_self", case_sub_self, INTS},
    {"mul_one", case_mul_one, NUMBERS},
    {"mul_minus_one", case_mul_minus_one, FLOATS | SIGNED},
    {"mul_zero", case_mul_zero, INTS},
    {"mul_neg_neg", case_mul_neg_neg, NUMBERS},
    {"div_one", case_div_one, NUMBERS},
    {"div_power_of_two", case_div_power, WIDE_FLOATS},
    {"div_power_of_two", case_div_fraction, WIDE_FLOATS},
    {"pow_small", case_pow_0, NUMBERS},
    {"pow_small", case_pow_1, NUMBERS},
    {"pow_small", case_pow_2, NUMBERS},
    {"pow_small", case_pow_minus_1, FLOATS},
    {"min_self", case_min_self, NUMBERS},
    {"min_self", case_min_most, (FLOATS & ~(1u << DT_f8e4m3)) | NARROW_INTS},
    {"max_self", case_max_self, NUMBERS},
    {"max_self", case_max_least, (FLOATS & ~(1u << DT_f8e4m3)) | NARROW_INTS},
    {"and_self", case_and_self, INTS},
    {"and_self", case_and_ones, SIGNED | NARROW_INTS},
    {"and_self", case_and_zero, INTS},
    {"or_self", case_or_self, INTS},
    {"or_self", case_or_ones, SIGNED | NARROW_INTS},
    {"or_self", case_or_zero, INTS},
    {"xor_self", case_xor_self, INTS},
    {"xor_self", case_xor_zero, INTS},
    {"select_known", case_select_same, NUMBERS},
    {"select_known", case_select_true, NUMBERS},
    {"select_known", case_select_false, NUMBERS},
    {"select_not", case_select_not, NUMBERS},
    {"cast_same", case_cast_same, NUMBERS},
    {"cast_cast", case_cast_float, FLOATS & ~(1u << DT_f64)},
    {"cast_cast", case_cast_back, NUMBERS & ~(1u << DT_i64 | 1u << DT_u64)},
    {"cast_cast", case_cast_bool, NUMBERS & ~(1u << DT_i64 | 1u << DT_u64)},
    {"cast_cast", case_cast_saturating, FLOATS},
    {"cast_cast", case_cast_wrapping, NARROW_INTS},
    {"unary_broadcast", case_unary_broadcast, NUMBERS},
    {"cast_broadcast", case_cast_broadcast, NUMBERS},
    {"binary_broadcast", case_binary_broadcast, NUMBERS},
    {"binary_broadcast", case_binary_splat, NUMBERS},
    {"reshape_splat", case_reshape_splat, NUMBERS},
    {"permute_splat", case_permute_splat, NUMBERS},
    {"slice_splat", case_slice_splat, NUMBERS},
    {"reverse_splat", case_reverse_splat, NUMBERS},
    {"reshape_same", case_reshape_same, NUMBERS},
    {"reshape_reshape", case_reshape_reshape, NUMBERS},
    {"permute_same", case_permute_same, NUMBERS},
    {"permute_permute", case_permute_permute, NUMBERS},
    {"permute_broadcast", case_permute_broadcast, NUMBERS},
    {"broadcast_same", case_broadcast_same, NUMBERS},
    {"broadcast_units", case_broadcast_units, NUMBERS},
    {"broadcast_broadcast", case_broadcast_broadcast, NUMBERS},
    {"slice_all", case_slice_all, NUMBERS},
    {"slice_slice", case_slice_slice, NUMBERS},
    {"slice_slice", case_slice_slice_plain, NUMBERS},
    {"slice_concat", case_slice_concat, NUMBERS},
    {"reverse_none", case_reverse_none, NUMBERS},
    {"reverse_none", case_reverse_some, NUMBERS},
    {"reverse_reverse", case_reverse_reverse, NUMBERS},
    {"concat_parts", case_concat_one, NUMBERS},
    {"concat_parts", case_concat_nested, NUMBERS},
    {"pad_none", case_pad_none, NUMBERS},
    {"pad_pad", case_pad_pad, NUMBERS},
    {"contract_permute", case_contract_permute, NUMBERS},
    {"const_splat", case_const_splat, NUMBERS},
    {"param_splat", case_param_splat, NUMBERS},
    {"evaluate", case_evaluate, NUMBERS},
    {"evaluate", case_evaluate_iota, NUMBERS},
    {"scale_mul", case_scale_mul, SUMS},
    {"scale_mul", case_scale_shifted, SUMS},
    {"scale_mul", case_scale_conv, SUMS},
    {"split_sum", case_split_sum, SUMS},
    {"split_sum", case_split_both, SUMS | INTS},
    {"split_sum", case_split_columns, SUMS},
    {"split_prod", case_split_prod, INTS},
    {"split_max", case_split_max, NUMBERS},
    {"split_max", case_split_run, WIDE_FLOATS},
    {"split_min", case_split_min, WIDE_FLOATS},
    {"scale_div", case_scale_div, SUMS},
    {"scale_neg", case_scale_neg, SUMS},
    {"scale_add", case_scale_add, SUMS},
    {"scale_sub", case_scale_sub, SUMS},
};

enum { CASE_COUNT = sizeof cases / sizeof *cases };

static const FoldRow *find_row(const char *name) {
    for (uint32_t i = 0; fold_row(i); i++) {
        if (!strcmp(fold_row(i)->name, name)) return fold_row(i);
    }
    return NULL;
}

static void open_case(Case *c, DType dtype) {
    double values[MAX_VALUES];
    *c = (Case){.dtype = dtype, .n = test_specials(dtype, values)};
    bench_open(&c->b);
    c->g = bench_graph(&c->b);
    c->f = (Fold){.ctx = &c->b.ctx, .g = c->g, .top = true};
    const Type *type = TYPE(&c->b, dtype, c->n * c->n);
    c->x = graph_add_input(c->g, STR("x"), type, NULL);
    c->y = graph_add_input(c->g, STR("y"), type, NULL);
    c->p = graph_add_input(c->g, STR("p"), type_with_dtype(c->b.ir, type, DT_bool), NULL);
}

typedef enum Numbers { NUMBERS_special, NUMBERS_ordinary, NUMBERS_negative } Numbers;

// All pairs of special values; sums get ordinary ones, since their rounding may differ. Those that
// are all negative lie on one side of what a wrong start or padding of a reduction would be.
static void make_inputs(Case *c, Numbers numbers, Tensor *inputs) {
    double values[MAX_VALUES];
    int64_t n = test_specials(c->dtype, values);
    uint64_t seed = 5;
    for (int k = 0; k < 3; k++) {
        inputs[k] = test_tensor(c->b.arena, graph_type(c->g, c->g->inputs.data[k]), NULL, &seed);
    }
    for (int64_t i = 0; i < n * n && numbers == NUMBERS_special; i++) {
        tensor_set(&inputs[0], i, values[i / n]);
        tensor_set(&inputs[1], i, values[i % n]);
    }
    for (int64_t i = 0; i < n * n && numbers == NUMBERS_negative; i++)
        for (int k = 0; k < 2; k++) tensor_set(&inputs[k], i, -1 - (double)((i * 5 + k) % 7));
}

// A sum-class rewrite may be twice as far off as a sum in f32 (f64) of the terms as they were:
// twice the bound that the evaluator derives for it. The first element that is farther off; -1:
// none.
static int64_t first_outside(Case *c, const Tensor *inputs, Tensor *out_results) {
    EvalValue *values = NEW_ARRAY(c->b.arena, EvalValue, c->g->inputs.count), results[2];
    for (size_t i = 0; i < c->g->inputs.count; i++) values[i].tensor = inputs[i];
    EvalError error = {.failed = false};
    const char *message = "";
    EvalOptions options = {.bounds = true};
    bool good = eval_graph(c->g, values, &options, c->b.arena, results, &error, &message);
    if (!CHECK(good)) return INT64_MAX;
    for (int k = 0; k < 2; k++) out_results[k] = results[k].tensor;
    for (int64_t i = 0; i < tensor_elements(&out_results[0]); i++) {
        double off = fabs(tensor_get(&out_results[0], i) - tensor_get(&out_results[1], i));
        if (!CHECK(isfinite(results[0].bound[i])) || !(off <= 2 * results[0].bound[i])) return i;
    }
    return -1;
}

static void check_case(size_t at, DType dtype, Numbers numbers) {
    Case c;
    open_case(&c, dtype);
    const FoldRow *row = find_row(cases[at].rule);
    NodeId before = cases[at].build(&c);
    NodeId after = row->rule(&c.f, before);
    if (!CHECK(after != NODE_none && after != before)) {
        printf("    case %zu: %s does not answer for %s\n", at, row->name, dtype_name(dtype));
        bench_close(&c.b);
        return;
    }
    CHECK(graph_type(c.g, before) == graph_type(c.g, after));
    graph_add_output(c.g, STR("before"), before);
    graph_add_output(c.g, STR("after"), after);
    Tensor inputs[3];
    make_inputs(&c, numbers == NUMBERS_special && row->sum_class ? NUMBERS_ordinary : numbers,
                inputs);
    Tensor sums[2], *results = sums;
    int64_t wrong;
    if (row->sum_class) {
        wrong = first_outside(&c, inputs, sums);
    } else {
        results = test_eval(c.b.arena, c.g, inputs, NULL);
        wrong = first_difference(&results[0], &results[1], 0);
    }
    if (!CHECK_INT(wrong, -1) && wrong != INT64_MAX) {
        printf("    case %zu: %s of %s: %a is not %a (of %a, %a)\n", at, row->name,
               dtype_name(dtype), tensor_get(&results[1], wrong), tensor_get(&results[0], wrong),
               tensor_get(&inputs[0], wrong), tensor_get(&inputs[1], wrong));
    }
    bench_close(&c.b);
}

static void test_every_rule(void) {
    for (size_t i = 0; i < CASE_COUNT; i++) {
        for (DType dtype = 0; dtype < DT_count; dtype++) {
            if (!(cases[i].dtypes & 1u << dtype)) continue;
            check_case(i, dtype, NUMBERS_special);
            check_case(i, dtype, NUMBERS_negative);
        }
    }
}

static void test_all_rules_have_cases(void) {
    for (uint32_t i = 0; fold_row(i); i++) {
        bool found = false;
        for (size_t k = 0; k < CASE_COUNT; k++) found |= !strcmp(cases[k].rule, fold_row(i)->name);
        if (!CHECK(found)) printf("    no case for the rule %s\n", fold_row(i)->name);
    }
}

// What must not be folded: the answers would differ for the special values.
static void check_refused(const char *rule, NodeId (*build)(Case *c), DType dtype) {
    Case c;
    open_case(&c, dtype);
    CHECK_INT(find_row(rule)->rule(&c.f, build(&c)), NODE_none);
    bench_close(&c.b);
}

static void test_what_is_not_exact_is_refused(void) {
    check_refused("add_zero", case_add_zero, DT_f32);
    check_refused("mul_zero", case_mul_zero, DT_f32);
    check_refused("sub_self", case_sub_self, DT_f32);
    check_refused("not_compare", case_not_order, DT_f32);
    check_refused("cast_cast", case_cast_saturating, DT_i32);
    check_refused("abs_sign", case_abs_sign, DT_u8);
    check_refused("mul_minus_one", case_mul_minus_one, DT_u8);
}

int main(void) {
    RUN(test_all_rules_have_cases);
    RUN(test_every_rule);
    RUN(test_what_is_not_exact_is_refused);
    return test_done();
}
