/* The elementwise core ops on single numbers. Floats are computed in double and rounded to the
 * dtype: for
 * +, -, ·, / and the square root of f32 and smaller this equals rounding the exact result once,
 * because 53 >= 2 · 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995). */
#include "codegen/tile/cell.h"

#include <math.h>

/* ---- floats ---------------------------------------------------------------------------------- */

typedef double Unary(double);
typedef double Binary(double, double);

static double f_neg(double x) { return -x; }
static double f_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double f_rsqrt(double x) { return 1 / sqrt(x); }
static double f_add(double x, double y) { return x + y; }
static double f_sub(double x, double y) { return x - y; }
static double f_mul(double x, double y) { return x * y; }
static double f_div(double x, double y) { return x / y; }

static double f_mod(double x, double y) {
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static double f_min(double x, double y) {
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return signbit(x) ? x : y;
    return x < y ? x : y;
}

static double f_max(double x, double y) {
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return signbit(x) ? y : x;
    return x > y ? x : y;
}

static Unary *const float_unary[OP_count] = {
    [OP_neg] = f_neg,     [OP_abs] = fabs,    [OP_sign] = f_sign, [OP_floor] = floor,
    [OP_ceil] = ceil,     [OP_trunc] = trunc, [OP_round] = rint,  [OP_sqrt] = sqrt,
    [OP_rsqrt] = f_rsqrt, [OP_exp] = exp,     [OP_exp2] = exp2,   [OP_expm1] = expm1,
    [OP_log] = log,       [OP_log2] = log2,   [OP_log1p] = log1p, [OP_sin] = sin,
    [OP_cos] = cos,       [OP_tan] = tan,     [OP_atan] = atan,   [OP_tanh] = tanh,
    [OP_erf] = erf,       [OP_erfc] = erfc,
};

static Binary *const float_binary[OP_count] = {
    [OP_add] = f_add, [OP_sub] = f_sub, [OP_mul] = f_mul, [OP_div] = f_div, [OP_rem] = fmod,
    [OP_mod] = f_mod, [OP_pow] = pow,   [OP_min] = f_min, [OP_max] = f_max,
};

/* The exact quotient rounded down: where x / y was rounded up to an integer, the rest is on the
 * wrong side of 0. */
static double f_floordiv(DType dtype, double x, double y) {
    DType compute = dtype_compute(dtype);
    double n = floor(cell_round(compute, x / y)), rest = fma(-n, y, x);
    bool above = (rest < 0 && y > 0) || (rest > 0 && y < 0);
    return above ? cell_round(compute, n - 1) : n;
}

static bool apply_float(Op op, DType dtype, const TileCell *args, TileCell *out) {
    if (float_unary[op]) {
        out->f = cell_round(dtype, float_unary[op](args[0].f));
    } else if (float_binary[op]) {
        out->f = cell_round(dtype, float_binary[op](args[0].f, args[1].f));
    } else if (op == OP_floordiv) {
        out->f = cell_round(dtype, f_floordiv(dtype, args[0].f, args[1].f));
    } else {
        return false;
    }
    return true;
}

/* ---- integers -------------------------------------------------------------------------------- */

static bool is_less(DType dtype, int64_t x, int64_t y) {
    return dtype == DT_u64 ? (uint64_t)x < (uint64_t)y : x < y;
}

/* Toward zero. The quotient of the least integer by -1 wraps; u64 alone needs unsigned division. */
static int64_t i_div(DType dtype, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (dtype == DT_u64) return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t i_rem(DType dtype, int64_t x, int64_t y) {
    if (y == 0 || (y == -1 && dtype != DT_u64)) return 0;
    return dtype == DT_u64 ? (int64_t)((uint64_t)x % (uint64_t)y) : x % y;
}

static bool rounds_up(DType dtype, int64_t x, int64_t y) {
    return dtype_is_signed(dtype) && i_rem(dtype, x, y) != 0 && (x < 0) != (y < 0);
}

static int64_t i_floordiv(DType dtype, int64_t x, int64_t y) {
    return i_div(dtype, x, y) - (rounds_up(dtype, x, y) ? 1 : 0);
}

static int64_t i_mod(DType dtype, int64_t x, int64_t y) {
    return i_rem(dtype, x, y) + (rounds_up(dtype, x, y) ? y : 0);
}

static int64_t i_pow(DType dtype, int64_t x, int64_t y) {
    if (dtype_is_signed(dtype) && y < 0) {
        if (x == -1) return y % 2 ? -1 : 1;
        return x == 1;
    }
    uint64_t result = 1, power = (uint64_t)x;
    for (uint64_t n = (uint64_t)y; n > 0; n >>= 1) {
        if (n & 1) result *= power;
        power *= power;
    }
    return (int64_t)result;
}

static int64_t i_shl(DType dtype, int64_t x, int64_t y) {
    return (uint64_t)y < dtype_info(dtype)->bits ? (int64_t)((uint64_t)x << y) : 0;
}

static int64_t i_shr(DType dtype, int64_t x, int64_t y) {
    bool fits = (uint64_t)y < dtype_info(dtype)->bits;
    if (!dtype_is_signed(dtype)) return fits ? (int64_t)((uint64_t)x >> y) : 0;
    return x >> (fits ? y : 63);
}

static int64_t i_add(DType dtype, int64_t x, int64_t y) {
    (void)dtype;
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t i_sub(DType dtype, int64_t x, int64_t y) {
    (void)dtype;
    return (int64_t)((uint64_t)x - (uint64_t)y);
}

static int64_t i_mul(DType dtype, int64_t x, int64_t y) {
    (void)dtype;
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

static int64_t i_min(DType dtype, int64_t x, int64_t y) { return is_less(dtype, y, x) ? y : x; }
static int64_t i_max(DType dtype, int64_t x, int64_t y) { return is_less(dtype, x, y) ? y : x; }
static int64_t i_and(DType dtype, int64_t x, int64_t y) { return (void)dtype, x & y; }
static int64_t i_or(DType dtype, int64_t x, int64_t y) { return (void)dtype, x | y; }
static int64_t i_xor(DType dtype, int64_t x, int64_t y) { return (void)dtype, x ^ y; }

typedef int64_t IntBinary(DType dtype, int64_t x, int64_t y);

static IntBinary *const int_binary[OP_count] = {
    [OP_add] = i_add, [OP_sub] = i_sub,           [OP_mul] = i_mul, [OP_div] = i_div,
    [OP_rem] = i_rem, [OP_floordiv] = i_floordiv, [OP_mod] = i_mod, [OP_pow] = i_pow,
    [OP_min] = i_min, [OP_max] = i_max,           [OP_and] = i_and, [OP_or] = i_or,
    [OP_xor] = i_xor, [OP_shl] = i_shl,           [OP_shr] = i_shr,
};

static bool int_unary(Op op, DType dtype, int64_t x, int64_t *out) {
    bool negative = dtype_is_signed(dtype) && x < 0;
    switch (op) {
    case OP_neg: *out = i_sub(dtype, 0, x); return true;
    case OP_abs: *out = negative ? i_sub(dtype, 0, x) : x; return true;
    case OP_sign: *out = negative ? -1 : x != 0; return true;
    case OP_not: *out = dtype == DT_bool ? !x : ~x; return true;
    default: return false;
    }
}

static bool apply_int(Op op, DType dtype, const TileCell *args, TileCell *out) {
    int64_t value = 0;
    if (int_binary[op])
        value = int_binary[op](dtype, args[0].i, args[1].i);
    else if (!int_unary(op, dtype, args[0].i, &value))
        return false;
    out->i = cell_wrap(dtype, value);
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool compare(Op op, DType dtype, TileCell x, TileCell y) {
    bool floats = dtype_is_float(dtype);
    bool less = floats ? x.f < y.f : is_less(dtype, x.i, y.i);
    bool greater = floats ? x.f > y.f : is_less(dtype, y.i, x.i);
    bool equal = floats ? x.f == y.f : x.i == y.i;
    switch (op) {
    case OP_eq: return equal;
    case OP_ne: return !equal;
    case OP_lt: return less;
    case OP_le: return less || equal;
    case OP_gt: return greater;
    default: return greater || equal;
    }
}

bool cell_apply(Op op, DType dtype, const TileCell *args, TileCell *out) {
    if (op == OP_select) {
        *out = args[0].i ? args[1] : args[2];
        return true;
    }
    if (op_info(op)->class == CLASS_COMPARE) {
        out->i = compare(op, dtype, args[0], args[1]);
        return true;
    }
    return dtype_is_float(dtype) ? apply_float(op, dtype, args, out)
                                 : apply_int(op, dtype, args, out);
}

TileCell cell_multiply_add(DType dtype, TileCell a, TileCell b, TileCell c) {
    if (dtype == DT_f32) return (TileCell){.f = fmaf((float)a.f, (float)b.f, (float)c.f)};
    if (dtype == DT_f64) return (TileCell){.f = fma(a.f, b.f, c.f)};
    TileCell product, sum = c;
    cell_apply(OP_mul, dtype, (TileCell[]){a, b}, &product);
    cell_apply(OP_add, dtype, (TileCell[]){product, c}, &sum);
    return sum;
}

/* The least or greatest value: infinite for floats (e4m3 has none, and saturates). */
static TileCell extreme(DType dtype, bool greatest) {
    const DTypeInfo *info = dtype_info(dtype);
    double limit = greatest ? (double)INFINITY : (double)-INFINITY;
    if (dtype_is_float(dtype)) return (TileCell){.f = cell_round(dtype, limit)};
    uint64_t ones = UINT64_MAX >> (64 - info->bits);
    if (dtype == DT_bool) return (TileCell){.i = greatest};
    if (!dtype_is_signed(dtype)) return (TileCell){.i = greatest ? (int64_t)ones : 0};
    return (TileCell){.i = greatest ? (int64_t)(ones >> 1) : -(int64_t)(ones >> 1) - 1};
}

bool cell_unit(Op op, DType dtype, TileCell *out) {
    bool floats = dtype_is_float(dtype);
    switch (op) {
    case OP_or:
    case OP_xor: out->i = 0; return !floats;
    case OP_and: out->i = cell_wrap(dtype, -1); return !floats;
    case OP_max: *out = extreme(dtype, false); return true;
    case OP_min: *out = extreme(dtype, true); return true;
    case OP_add:
    case OP_mul:
        if (floats)
            out->f = op == OP_mul;
        else
            out->i = op == OP_mul;
        return true;
    default: return false;
    }
}

bool cell_sorts_before(DType dtype, TileCell a, TileCell b) {
    if (!dtype_is_float(dtype)) return is_less(dtype, a.i, b.i);
    if (isnan(a.f)) return false;
    return isnan(b.f) || a.f < b.f;
}
