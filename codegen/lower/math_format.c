// The two float formats in which everything is computed.
#include "base/guard.h"
#include "codegen/lower/math_coefficients.h"
#include "codegen/lower/math_ir.h"

#define POLY(table)                                                                                \
    { table, (int)(sizeof table / sizeof *table) }

static const MathFormat format_f32 = {
    .width = 32,
    .mantissa = 23,
    .bias = 127,
    .magic = 0x1.8p23,
    .least_normal = 0x1p-126,
    .tanh_end = 10,
    .expm1_end = 18,
    .erf_edge = 0.92,
    .erf_end = 3.95,
    .erfc_centre = 2,
    .exp = POLY(exp_f32),
    .exp2 = POLY(exp2_f32),
    .log = POLY(log_f32),
    .pow = POLY(pow_f32),
    .sin = POLY(sin_f32),
    .cos = POLY(cos_f32),
    .tan = POLY(tan_f32),
    .atan = POLY(atan_f32),
    .tanh = POLY(tanh_f32),
    .erf = POLY(erf_f32),
    .erf_tail = POLY(erf_tail_f32),
    .erfc = POLY(erfc_f32),
    .limits = limits_f32,
    .ln2 = ln2_f32,
    .log2e = log2e_f32,
    .two_log2e = two_log2e_f32,
    .third = third_f32,
    .half_pi = half_pi_f32,
    .quarter_pi = quarter_pi_f32,
};

// Without erf_tail: f64's erf goes through erfc.
static const MathFormat format_f64 = {
    .width = 64,
    .mantissa = 52,
    .bias = 1023,
    .magic = 0x1.8p52,
    .least_normal = 0x1p-1022,
    .tanh_end = 22,
    .expm1_end = 40,
    .erf_edge = 1,
    .erf_end = 6,
    .erfc_centre = 4,
    .exp = POLY(exp_f64),
    .exp2 = POLY(exp2_f64),
    .log = POLY(log_f64),
    .pow = POLY(pow_f64),
    .sin = POLY(sin_f64),
    .cos = POLY(cos_f64),
    .tan = POLY(tan_f64),
    .atan = POLY(atan_f64),
    .tanh = POLY(tanh_f64),
    .erf = POLY(erf_f64),
    .erfc = POLY(erfc_f64),
    .limits = limits_f64,
    .ln2 = ln2_f64,
    .log2e = log2e_f64,
    .two_log2e = two_log2e_f64,
    .third = third_f64,
    .half_pi = half_pi_f64,
    .quarter_pi = quarter_pi_f64,
};

Real real_of(const MathContext *m, DType dtype) {
    bool wide = dtype == DT_f64;
    require(wide || dtype_is_float(dtype));
    LLVMTypeRef scalar =
        wide ? LLVMDoubleTypeInContext(m->context) : LLVMFloatTypeInContext(m->context);
    return (Real){m, wide ? &format_f64 : &format_f32, lanes_of(m, scalar),
                  int_lanes(m, wide ? 64 : 32)};
}
