// Which emitter an op and a dtype take.
#include "base/guard.h"
#include "codegen/lower/math_functions.h"

static LLVMTypeRef int_scalar(const MathContext *m, DType dtype) {
    unsigned bits = dtype_info(dtype)->bits;
    return LLVMIntTypeInContext(m->context, bits < 8 ? 8 : bits);
}

LLVMTypeRef math_type(const MathContext *m, DType dtype) {
    if (dtype == DT_bool) return int_lanes(m, 1);
    if (dtype_is_float(dtype)) return real_of(m, dtype).type;
    return lanes_of(m, int_scalar(m, dtype));
}

LLVMTypeRef math_storage_type(const MathContext *m, DType dtype) {
    bool wide = dtype == DT_f32 || dtype == DT_f64;
    return wide ? math_type(m, dtype) : lanes_of(m, int_scalar(m, dtype));
}

V math_splat(const MathContext *m, V scalar) {
    if (!m->lanes) return scalar;
    LLVMTypeRef index = LLVMInt32TypeInContext(m->context);
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), m->lanes);
    V one = LLVMBuildInsertElement(m->builder, LLVMGetPoison(type), scalar,
                                   LLVMConstInt(index, 0, 0), "");
    V zeros = LLVMConstNull(LLVMVectorType(index, m->lanes));
    return LLVMBuildShuffleVector(m->builder, one, LLVMGetPoison(type), zeros, "");
}

V math_select(const MathContext *m, V condition, V a, V b) { return choose(m, condition, a, b); }

// 0 and NaN are kept as they are.
static V real_sign(const Real *r, V x) {
    V nonzero = r_test(r, LLVMRealONE, x, 0);
    return choose(r->m, nonzero, r_copysign(r, r_const(r, 1), x), x);
}

static V real_rsqrt(const Real *r, V x) { return r_div(r, r_const(r, 1), r_sqrt(r, x)); }

typedef struct UnaryRow {
    Op op;
    bool
        closed; // an f16, bf16 or f8 operand gives a result that the format represents: no rounding
    V (*emit)(const Real *r, V x);
} UnaryRow;

static const UnaryRow unary_rows[] = {
    {OP_neg, true, r_neg},       {OP_abs, true, r_abs},       {OP_sign, true, real_sign},
    {OP_floor, true, r_floor},   {OP_ceil, true, r_ceil},     {OP_trunc, true, r_trunc},
    {OP_round, true, r_round},   {OP_sqrt, false, r_sqrt},    {OP_rsqrt, false, real_rsqrt},
    {OP_exp, false, real_exp},   {OP_exp2, false, real_exp2}, {OP_expm1, false, real_expm1},
    {OP_log, false, real_log},   {OP_log2, false, real_log2}, {OP_log1p, false, real_log1p},
    {OP_sin, false, real_sin},   {OP_cos, false, real_cos},   {OP_tan, false, real_tan},
    {OP_atan, false, real_atan}, {OP_tanh, false, real_tanh}, {OP_erf, false, real_erf},
    {OP_erfc, false, real_erfc},
};

typedef struct BinaryRow {
    Op op;
    bool closed;
    V (*emit)(const Real *r, V x, V y);
} BinaryRow;

static const BinaryRow binary_rows[] = {
    {OP_add, false, r_add},    {OP_sub, false, r_sub},
    {OP_mul, false, r_mul},    {OP_div, false, r_div},
    {OP_rem, true, real_rem},  {OP_mod, false, real_mod},
    {OP_pow, false, real_pow}, {OP_min, true, r_min},
    {OP_max, true, r_max},     {OP_floordiv, false, real_floordiv},
};

_Noreturn static void no_lowering(Op op, DType dtype) {
    bug("op %s has no lowering for %s", op_info(op)->name, dtype_name(dtype));
}

V math_unary(const MathContext *m, Op op, DType dtype, V a) {
    if (!dtype_is_float(dtype)) return int_unary(m, op, dtype, a);
    Real r = real_of(m, dtype);
    for (size_t i = 0; i < sizeof unary_rows / sizeof *unary_rows; i++) {
        const UnaryRow *row = &unary_rows[i];
        if (row->op == op)
            return row->closed ? row->emit(&r, a) : math_round(m, dtype, row->emit(&r, a));
    }
    no_lowering(op, dtype);
}

V math_exp_nonpositive(const MathContext *m, DType dtype, V a) {
    Real r = real_of(m, dtype);
    return math_round(m, dtype, real_exp_nonpositive(&r, a));
}

V math_binary(const MathContext *m, Op op, DType dtype, V a, V b) {
    if (!dtype_is_float(dtype)) return int_binary(m, op, dtype, a, b);
    Real r = real_of(m, dtype);
    for (size_t i = 0; i < sizeof binary_rows / sizeof *binary_rows; i++) {
        const BinaryRow *row = &binary_rows[i];
        if (row->op == op)
            return row->closed ? row->emit(&r, a, b) : math_round(m, dtype, row->emit(&r, a, b));
    }
    no_lowering(op, dtype);
}

typedef struct CompareRow {
    Op op;
    LLVMRealPredicate real;
    LLVMIntPredicate with_sign, without;
} CompareRow;

static const CompareRow compare_rows[] = {
    {OP_eq, LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},   {OP_ne, LLVMRealUNE, LLVMIntNE, LLVMIntNE},
    {OP_lt, LLVMRealOLT, LLVMIntSLT, LLVMIntULT}, {OP_le, LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
    {OP_gt, LLVMRealOGT, LLVMIntSGT, LLVMIntUGT}, {OP_ge, LLVMRealOGE, LLVMIntSGE, LLVMIntUGE},
};

V math_compare(const MathContext *m, Op op, DType dtype, V a, V b) {
    for (size_t i = 0; i < sizeof compare_rows / sizeof *compare_rows; i++) {
        const CompareRow *row = &compare_rows[i];
        if (row->op != op) continue;
        if (dtype_is_float(dtype)) return LLVMBuildFCmp(m->builder, row->real, a, b, "");
        return i_compare(m, dtype_is_signed(dtype) ? row->with_sign : row->without, a, b);
    }
    no_lowering(op, dtype);
}
