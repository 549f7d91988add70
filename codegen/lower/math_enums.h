// The two enums that the emitters switch on.
#ifndef TCC_CODEGEN_LOWER_MATH_ENUMS_H
#define TCC_CODEGEN_LOWER_MATH_ENUMS_H

typedef enum DType {
    DT_bool, DT_i4, DT_u4, DT_i8, DT_u8, DT_i16, DT_u16, DT_i32, DT_u32, DT_i64, DT_u64,
    DT_f8e4m3, DT_f8e5m2, DT_f16, DT_bf16, DT_f32, DT_f64,
} DType;

typedef enum Op {
    OP_neg, OP_abs, OP_sign, OP_floor, OP_ceil, OP_trunc, OP_round, OP_not, OP_sqrt, OP_rsqrt, OP_exp, OP_exp2, OP_expm1,
    OP_log, OP_log2, OP_log1p, OP_sin, OP_cos, OP_tan, OP_atan, OP_tanh, OP_erf, OP_erfc,
    OP_add, OP_sub, OP_mul, OP_div, OP_floordiv, OP_rem, OP_mod, OP_pow, OP_min, OP_max, OP_and, OP_or, OP_xor, OP_shl,
    OP_shr, OP_eq, OP_ne, OP_lt, OP_le, OP_gt, OP_ge, OP_select,
} Op;

#endif
