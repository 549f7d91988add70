/* Scalar ops on integers and bools. Values come sign- or zero-extended to 64 bits (u64 as the same
 * bits); what goes out is right modulo 2^bits and wrapped by the caller. */
#include "ir/eval_rules.h"

#include "base/guard.h"

int64_t eval_int_unary(Op op, DType dtype, int64_t x) {
    bool negative = dtype_is_signed(dtype) && x < 0;
    switch (op) {
    case OP_neg: return (int64_t)(-(uint64_t)x);
    case OP_abs: return negative ? (int64_t)(-(uint64_t)x) : x;
    case OP_sign: return negative ? -1 : x != 0;
    case OP_not: return dtype == DT_bool ? !x : ~x;
    default: bug("%s is no op on integers", op_info(op)->name);
    }
}

/* ---- division: by 0 gives 0, least / -1 wraps ------------------------------------------------ */

static int64_t divide(bool is_signed, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (!is_signed) return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? (int64_t)(-(uint64_t)x) : x / y;
}

static int64_t remainder_of(bool is_signed, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (!is_signed) return (int64_t)((uint64_t)x % (uint64_t)y);
    return y == -1 ? 0 : x % y;
}

static bool rounds_down(bool is_signed, int64_t x, int64_t y) {
    return is_signed && remainder_of(is_signed, x, y) != 0 && (x < 0) != (y < 0);
}

/* ---- powers and shifts ----------------------------------------------------------------------- */

static int64_t power_of(bool is_signed, int64_t base, int64_t exponent) {
    if (is_signed && exponent < 0) {
        if (base == 1) return 1;
        return base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    }
    uint64_t result = 1, square = (uint64_t)base;
    for (uint64_t left = (uint64_t)exponent; left; left >>= 1) {
        if (left & 1) result *= square;
        square *= square;
    }
    return (int64_t)result;
}

static int64_t shift_left(DType dtype, int64_t x, int64_t count) {
    bool inside = count >= 0 && count < (int64_t)dtype_info(dtype)->bits;
    return inside ? (int64_t)((uint64_t)x << count) : 0;
}

static int64_t shift_right(DType dtype, int64_t x, int64_t count) {
    bool inside = count >= 0 && count < (int64_t)dtype_info(dtype)->bits;
    if (dtype_is_signed(dtype)) return inside ? x >> count : (x < 0 ? -1 : 0);
    return inside ? (int64_t)((uint64_t)x >> count) : 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool less(bool is_signed, int64_t x, int64_t y) {
    return is_signed ? x < y : (uint64_t)x < (uint64_t)y;
}

static int64_t compare_or_bits(Op op, bool is_signed, int64_t x, int64_t y) {
    switch (op) {
    case OP_eq: return x == y;
    case OP_ne: return x != y;
    case OP_lt: return less(is_signed, x, y);
    case OP_gt: return less(is_signed, y, x);
    case OP_le: return !less(is_signed, y, x);
    case OP_ge: return !less(is_signed, x, y);
    case OP_and: return x & y;
    case OP_or: return x | y;
    case OP_xor: return x ^ y;
    default: bug("%s is no op on integers", op_info(op)->name);
    }
}

int64_t eval_int_binary(Op op, DType dtype, int64_t x, int64_t y) {
    bool is_signed = dtype_is_signed(dtype);
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch (op) {
    case OP_add: return (int64_t)(a + b);
    case OP_sub: return (int64_t)(a - b);
    case OP_mul: return (int64_t)(a * b);
    case OP_div: return divide(is_signed, x, y);
    case OP_floordiv: return divide(is_signed, x, y) - rounds_down(is_signed, x, y);
    case OP_rem: return remainder_of(is_signed, x, y);
    case OP_mod: return remainder_of(is_signed, x, y) + (rounds_down(is_signed, x, y) ? y : 0);
    case OP_pow: return power_of(is_signed, x, y);
    case OP_min: return less(is_signed, y, x) ? y : x;
    case OP_max: return less(is_signed, x, y) ? y : x;
    case OP_shl: return shift_left(dtype, x, y);
    case OP_shr: return shift_right(dtype, x, y);
    default: return compare_or_bits(op, is_signed, x, y);
    }
}
