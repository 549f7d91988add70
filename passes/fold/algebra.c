/* Exact rules of elementwise ops. Each holds for NaN, infinities, -0 and denormals: that is why x +
 * 0, x · 0, x - x and log(exp x) are not among those for floats. */
#include "ir/build.h"
#include "passes/fold/fold.h"

#include <math.h>

static const Type *type_of(const Fold *f, NodeId id) { return graph_type(f->g, id); }
static bool is_float(const Fold *f, NodeId id) { return dtype_is_float(type_of(f, id)->dtype); }

static NodeId fill(Fold *f, NodeId like, double value) {
    return build_fill(f->g, type_of(f, like), value);
}

/* The operand of `id` when that is `op`, else NODE_none. */
static NodeId operand_of(const Fold *f, NodeId id, Op op) {
    return fold_is(f, id, op) ? fold_arg(f, id, 0) : NODE_none;
}

static bool is_commutative(Op op) { return op_info(op)->flags & FLAG_commutative; }

/* ---- all binary ops -------------------------------------------------------------------------- */

/* c ∘ x = x ∘ c */
NodeId fold_commute(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    bool wrong = is_commutative(node->op) && fold_is_constant(f, node->args[0]) &&
                 !fold_is_constant(f, node->args[1]);
    return wrong ? build_binary(f->g, node->op, node->args[1], node->args[0]) : NODE_none;
}

/* Whether (x ∘ y) ∘ z = x ∘ (y ∘ z) to the last bit. */
static bool is_associative(Op op, DType dtype) {
    switch (op) {
    case OP_min:
    case OP_max:
    case OP_and:
    case OP_or:
    case OP_xor: return true;
    case OP_add:
    case OP_mul: return !dtype_is_float(dtype);
    default: return false;
    }
}

/* (x ∘ c) ∘ d = x ∘ (c ∘ d) */
NodeId fold_reassociate(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    NodeId inner = node->args[0], d = node->args[1];
    if (!fold_is(f, inner, node->op) || !fold_is_constant(f, d)) return NODE_none;
    if (!is_associative(node->op, node->type->dtype)) return NODE_none;
    NodeId x = fold_arg(f, inner, 0), c = fold_arg(f, inner, 1);
    if (!fold_is_constant(f, c)) return NODE_none;
    return build_binary(f->g, node->op, x, fold_binary(f, node->op, c, d));
}

/* ---- unary ops ------------------------------------------------------------------------------- */

/* -(-x) = x */
NodeId fold_neg_neg(Fold *f, NodeId id) { return operand_of(f, fold_arg(f, id, 0), OP_neg); }

/* ~~x = x */
NodeId fold_not_not(Fold *f, NodeId id) { return operand_of(f, fold_arg(f, id, 0), OP_not); }

static Op opposite(Op compare) {
    switch (compare) {
    case OP_eq: return OP_ne;
    case OP_ne: return OP_eq;
    case OP_lt: return OP_ge;
    case OP_le: return OP_gt;
    case OP_gt: return OP_le;
    case OP_ge: return OP_lt;
    default: return OP_none;
    }
}

/* not (x == y) = (x != y), for NaN too; not (x < y) = (x >= y) only where there is no NaN */
NodeId fold_not_compare(Fold *f, NodeId id) {
    NodeId compare = fold_arg(f, id, 0);
    Op op = fold_node(f, compare)->op, other = opposite(op);
    if (!other) return NODE_none;
    NodeId x = fold_arg(f, compare, 0), y = fold_arg(f, compare, 1);
    bool exact = op == OP_eq || op == OP_ne || !is_float(f, x);
    return exact ? build_binary(f->g, other, x, y) : NODE_none;
}

/* ||x|| = |x|, and |-x| = |x| unless negation wraps to a positive number */
NodeId fold_abs_sign(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), inner = operand_of(f, x, OP_neg);
    if (inner != NODE_none && dtype_info(type_of(f, x)->dtype)->class != DTYPE_UNSIGNED) {
        return build_unary(f->g, OP_abs, inner);
    }
    return fold_is(f, x, OP_abs) ? x : NODE_none;
}

/* sgn sgn x = sgn x */
NodeId fold_sign_sign(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0);
    return fold_is(f, x, OP_sign) ? x : NODE_none;
}

/* Rounding an integral value (or NaN, or an infinity) changes nothing. */
static NodeId integral(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0);
    switch (fold_node(f, x)->op) {
    case OP_floor:
    case OP_ceil:
    case OP_trunc:
    case OP_round:
    case OP_sign: return x;
    default: return NODE_none;
    }
}

NodeId fold_floor_integral(Fold *f, NodeId id) { return integral(f, id); }
NodeId fold_ceil_integral(Fold *f, NodeId id) { return integral(f, id); }
NodeId fold_trunc_integral(Fold *f, NodeId id) { return integral(f, id); }
NodeId fold_round_integral(Fold *f, NodeId id) { return integral(f, id); }

/* ---- sums ------------------------------------------------------------------------------------ */

/* The first operand when the second is exactly `number`. */
static NodeId without(const Fold *f, NodeId id, double number) {
    return fold_is_number(f, fold_arg(f, id, 1), number) ? fold_arg(f, id, 0) : NODE_none;
}

/* x + -0 = x for every x (0 + -0 = 0); x + 0 is not: -0 + 0 = 0 */
NodeId fold_add_zero(Fold *f, NodeId id) { return without(f, id, is_float(f, id) ? -0.0 : 0.0); }

/* x + -y = x - y */
NodeId fold_add_neg(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), y = fold_arg(f, id, 1);
    NodeId right = operand_of(f, y, OP_neg), left = operand_of(f, x, OP_neg);
    if (right != NODE_none) return build_binary(f->g, OP_sub, x, right);
    return left == NODE_none ? NODE_none : build_binary(f->g, OP_sub, y, left);
}

/* x - 0 = x for every x (-0 - 0 = -0) */
NodeId fold_sub_zero(Fold *f, NodeId id) { return without(f, id, 0.0); }

/* x - -y = x + y */
NodeId fold_sub_neg(Fold *f, NodeId id) {
    NodeId y = operand_of(f, fold_arg(f, id, 1), OP_neg);
    return y == NODE_none ? NODE_none : build_binary(f->g, OP_add, fold_arg(f, id, 0), y);
}

/* x - c = x + -c: one form for what is added */
NodeId fold_sub_const(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), c = fold_arg(f, id, 1);
    if (!fold_is_constant(f, c) || fold_is_constant(f, x)) return NODE_none;
    NodeId negated = fold_unary(f, OP_neg, c);
    return fold_is_constant(f, negated) ? build_binary(f->g, OP_add, x, negated) : NODE_none;
}

/* x - x = 0, but NaN for NaN and infinities */
NodeId fold_sub_self(Fold *f, NodeId id) {
    bool same = fold_arg(f, id, 0) == fold_arg(f, id, 1) && !is_float(f, id);
    return same ? fill(f, id, 0) : NODE_none;
}

/* ---- products -------------------------------------------------------------------------------- */

/* x · 1 = x */
NodeId fold_mul_one(Fold *f, NodeId id) { return without(f, id, 1); }

/* x · -1 = -x, for integers that wrap too */
NodeId fold_mul_minus_one(Fold *f, NodeId id) {
    NodeId x = without(f, id, -1);
    return x == NODE_none ? NODE_none : build_unary(f->g, OP_neg, x);
}

/* x · 0 = 0, but NaN for NaN and infinities, and -0 for negative x */
NodeId fold_mul_zero(Fold *f, NodeId id) {
    bool zero = !is_float(f, id) && without(f, id, 0) != NODE_none;
    return zero ? fill(f, id, 0) : NODE_none;
}

/* -x · -y = x · y */
NodeId fold_mul_neg_neg(Fold *f, NodeId id) {
    NodeId x = operand_of(f, fold_arg(f, id, 0), OP_neg);
    NodeId y = operand_of(f, fold_arg(f, id, 1), OP_neg);
    return x == NODE_none || y == NODE_none ? NODE_none : build_binary(f->g, OP_mul, x, y);
}

/* x / 1 = x */
NodeId fold_div_one(Fold *f, NodeId id) { return without(f, id, 1); }

/* x / 2^k = x · 2^-k: both round the same real number */
NodeId fold_div_power_of_two(Fold *f, NodeId id) {
    Tensor divisor;
    if (!is_float(f, id) || !fold_splat(f, fold_arg(f, id, 1), &divisor)) return NODE_none;
    double value = tensor_get(&divisor, 0);
    int exponent;
    if (!isfinite(value) || fabs(frexp(value, &exponent)) != 0.5) return NODE_none;
    const DTypeInfo *info = dtype_info(divisor.dtype);
    double inverse = 1 / value;
    if (!(fabs(inverse) >= info->least) || !(fabs(inverse) <= info->most)) return NODE_none;
    return build_binary(f->g, OP_mul, fold_arg(f, id, 0), fill(f, id, inverse));
}

/* x^0 = 1 (of NaN too), x^1 = x, x^2 = x · x, x^-1 = 1 / x of floats; integer powers wrap as
 * products do */
NodeId fold_pow_small(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), y = fold_arg(f, id, 1);
    if (fold_is_number(f, y, 0.0)) return fill(f, id, 1);
    if (fold_is_number(f, y, 1)) return x;
    if (fold_is_number(f, y, 2)) return build_binary(f->g, OP_mul, x, x);
    bool inverse = is_float(f, id) && fold_is_number(f, y, -1);
    return inverse ? build_binary(f->g, OP_div, fill(f, id, 1), x) : NODE_none;
}

/* ---- min, max, bits -------------------------------------------------------------------------- */

static NodeId self(const Fold *f, NodeId id) {
    return fold_arg(f, id, 0) == fold_arg(f, id, 1) ? fold_arg(f, id, 0) : NODE_none;
}

/* The first operand when the second is the end of the dtype's range that never wins. 64-bit
 * integers have ends that doubles cannot tell. */
static NodeId without_end(const Fold *f, NodeId id, bool most) {
    const DTypeInfo *info = dtype_info(type_of(f, id)->dtype);
    if (info->class == DTYPE_FLOAT) return without(f, id, most ? INFINITY : -INFINITY);
    if (info->bits == 64) return NODE_none;
    return without(f, id, most ? info->most : info->least);
}

/* min(x, x) = x, min(x, inf) = x */
NodeId fold_min_self(Fold *f, NodeId id) {
    NodeId same = self(f, id);
    return same != NODE_none ? same : without_end(f, id, true);
}

/* max(x, x) = x, max(x, -inf) = x */
NodeId fold_max_self(Fold *f, NodeId id) {
    NodeId same = self(f, id);
    return same != NODE_none ? same : without_end(f, id, false);
}

/* Whether the node is a constant with all bits set. */
static bool is_ones(const Fold *f, NodeId id) {
    const DTypeInfo *info = dtype_info(type_of(f, id)->dtype);
    if (info->class == DTYPE_BOOL) return fold_is_number(f, id, 1);
    if (info->class == DTYPE_SIGNED) return fold_is_number(f, id, -1);
    return info->bits < 64 && fold_is_number(f, id, info->most);
}

/* x & x = x, x & ones = x, x & 0 = 0 */
NodeId fold_and_self(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), y = fold_arg(f, id, 1);
    if (fold_is_number(f, y, 0.0)) return y;
    return is_ones(f, y) ? x : self(f, id);
}

/* x | x = x, x | 0 = x, x | ones = ones */
NodeId fold_or_self(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0), y = fold_arg(f, id, 1);
    if (is_ones(f, y)) return y;
    return fold_is_number(f, y, 0.0) ? x : self(f, id);
}

/* x ^ x = 0, x ^ 0 = x */
NodeId fold_xor_self(Fold *f, NodeId id) {
    if (self(f, id) != NODE_none) return fill(f, id, 0);
    return without(f, id, 0.0);
}

/* ---- select ---------------------------------------------------------------------------------- */

/* c ? x : x = x */
NodeId fold_select_known(Fold *f, NodeId id) {
    NodeId c = fold_arg(f, id, 0), x = fold_arg(f, id, 1), y = fold_arg(f, id, 2);
    if (x == y || fold_is_number(f, c, 1)) return x;
    return fold_is_number(f, c, 0.0) ? y : NODE_none;
}

/* not c ? x : y = c ? y : x */
NodeId fold_select_not(Fold *f, NodeId id) {
    NodeId c = operand_of(f, fold_arg(f, id, 0), OP_not);
    if (c == NODE_none) return NODE_none;
    return build_select(f->g, c, fold_arg(f, id, 2), fold_arg(f, id, 1));
}

/* ---- cast ------------------------------------------------------------------------------------ */

static bool is_user_cast(const Node *node) { return node_attr(node, "user").i != 0; }

/* A user's cast to a 16- or 8-bit float pins the rounding of its operand, which may otherwise be
 * kept in f32. */
NodeId fold_cast_same(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    NodeId x = node->args[0];
    DType dtype = node->type->dtype;
    if (type_of(f, x)->dtype != dtype) return NODE_none;
    bool pins = is_user_cast(node) && dtype_compute(dtype) != dtype;
    return pins ? NODE_none : x;
}

/* The least positive number, denormals included. */
static double least_step(const DTypeInfo *info) {
    return ldexp(info->least, 1 - (int)info->precision);
}

/* Whether every value of `from` is one of `to`. */
static bool holds_all(DType to_dtype, DType from_dtype) {
    const DTypeInfo *to = dtype_info(to_dtype), *from = dtype_info(from_dtype);
    if (from->class == DTYPE_BOOL) return true;
    if (to->class == DTYPE_BOOL) return false;
    if (from->class == DTYPE_FLOAT) {
        return to->class == DTYPE_FLOAT && to->precision >= from->precision &&
               to->most >= from->most && least_step(to) <= least_step(from);
    }
    if (to->class == DTYPE_FLOAT) {
        return from->most <= ldexp(1, (int)to->precision) && from->most <= to->most;
    }
    bool sign = from->class == DTYPE_SIGNED;
    return to->class == DTYPE_SIGNED ? to->bits >= from->bits + !sign
                                     : !sign && to->bits >= from->bits;
}

/* to C(to B(x)) = to C(x). Through a float, what is too large for an integer C saturates; directly
 * it would wrap. */
NodeId fold_cast_cast(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    const Node *inner = fold_node(f, node->args[0]);
    if (inner->op != OP_cast) return NODE_none;
    NodeId x = inner->args[0];
    DType a = type_of(f, x)->dtype, b = inner->type->dtype, c = node->type->dtype;
    if (!holds_all(b, a)) return NODE_none;
    bool through_float = !dtype_is_float(a) && dtype_is_float(b) && dtype_is_int(c);
    if (through_float && !holds_all(c, a)) return NODE_none;
    return build_op(f->g, OP_cast, &x, 1, node->attrs);
}
