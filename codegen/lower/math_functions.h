// The functions of one float format; private to the math files of this folder. Each takes and
// returns lanes of r->type.
#ifndef TCC_CODEGEN_LOWER_MATH_FUNCTIONS_H
#define TCC_CODEGEN_LOWER_MATH_FUNCTIONS_H

#include "codegen/lower/math_ir.h"

// math_exp.c. e^x, and factor * e^(hi + lo) with one rounding at the end, where e^x or the product
// is normal and finite; anything where it is not.
V exp_normal(const Real *r, V x);
V exp_times(const Real *r, V hi, V lo, V factor);
V real_exp(const Real *r, V x);
V real_exp_nonpositive(const Real *r, V x); // x of at most 0, or a little above
V real_exp2(const Real *r, V x);
V real_expm1(const Real *r, V x);
V real_tanh(const Real *r, V x);

// math_log.c. x = mantissa * 2^exponent with mantissa in [sqrt(1/2), sqrt(2)), for finite x > 0.
typedef struct Split {
    V mantissa, exponent; // the exponent as a float
} Split;
Split log_split(const Real *r, V x);
V real_log(const Real *r, V x);
V real_log2(const Real *r, V x);
V real_log1p(const Real *r, V x);

// math_reduce.c. |x| = quadrant * pi/2 + angle, |angle| <= pi/4, for every finite x; quadrant
// modulo 4 in lanes of r->bits (higher bits undefined).
typedef struct Reduced {
    Pair angle;
    V quadrant;
} Reduced;
Reduced reduce_angle(const Real *r, V magnitude);

// math_trig.c
V real_sin(const Real *r, V x);
V real_cos(const Real *r, V x);
V real_tan(const Real *r, V x);
V real_atan(const Real *r, V x);

// math_erf.c
V real_erf(const Real *r, V x);
V real_erfc(const Real *r, V x);

// math_pow.c
V real_pow(const Real *r, V x, V y);

// math_rem.c
V real_rem(const Real *r, V x, V y);
V real_mod(const Real *r, V x, V y);
V real_floordiv(const Real *r, V x, V y);

// math_small.c. Float lanes to storage form, rounded once; storage form to float lanes, exact.
V small_pack(const MathContext *m, DType dtype, V value);
V small_unpack(const MathContext *m, DType dtype, V bits);

// math_int.c: ops on integers in register form.
V int_unary(const MathContext *m, Op op, DType dtype, V a);
V int_binary(const MathContext *m, Op op, DType dtype, V a, V b);
V int_wrap(const MathContext *m, DType dtype, V a); // brings an i8 back into the range of i4 or u4

#endif
