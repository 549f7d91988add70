/* The approximate functions. Their results are rounded from values computed in double precision,
 * which lies within every bound that PTX states; so that nobody relies on that, the option
 * approximate_worst displaces each result by the whole error that is allowed, up or down by the
 * bits of the argument.
 *
 * ex2 and lg2 are polynomials without a branch, for kernels live on them; the others call libm. */
#include "emulator/machine/floats.h"
#include "emulator/machine/lanes.h"

#include <math.h>

static inline uint64_t double_bits(double x) {
    union {
        double value;
        uint64_t bits;
    } both = {.value = x};
    return both.bits;
}
static inline double double_of(uint64_t bits) {
    union {
        uint64_t bits;
        double value;
    } both = {.bits = bits};
    return both.value;
}

/* 2^x: x = n + f with f in [-1/2, 1/2]; the series of e^(f ln 2) to the 9th power errs by less than
 * 2^-40; n goes into the exponent. Beyond what an f32 holds the argument is cut off. */
static inline double power_of_two(double x) {
    double cut = x > 130 ? 130 : x < -160 ? -160 : x;
    double n = (cut + 0x1.8p52) - 0x1.8p52, f = (cut - n) * 0x1.62e42fefa39efp-1;
    double p = 1 + f * (1.0 / 9);
    p = 1 + f * (1.0 / 8) * p;
    p = 1 + f * (1.0 / 7) * p;
    p = 1 + f * (1.0 / 6) * p;
    p = 1 + f * (1.0 / 5) * p;
    p = 1 + f * (1.0 / 4) * p;
    p = 1 + f * (1.0 / 3) * p;
    p = 1 + f * (1.0 / 2) * p;
    p = 1 + f * p;
    double scaled =
        p *
        double_of(
            (uint64_t)((int64_t)double_bits(n + 0x1.8p52) - (int64_t)double_bits(0x1.8p52) + 1023)
            << 52);
    return x == x ? scaled : x;
}

/* log2 x of x > 0: x = 2^n m with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh s, s = (m - 1)/(m +
 * 1). */
static inline double log_of_positive(double x) {
    uint64_t bits = double_bits(x) + 0x00095f619980c433; /* carries into n from sqrt 2 on */
    double n = (double)(int32_t)((uint32_t)(bits >> 52) - 1023);
    double m = double_of((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1;
    return n + 2 * s * p * 0x1.71547652b82fep0;
}
static inline double logarithm(double x) {
    double v = log_of_positive(x > 0 ? x : 1);
    v = x == INFINITY ? x : v;
    v = x > 0 ? v : x == 0 ? -INFINITY : NAN;
    return v;
}

/* The value moved by `bound`, upwards for half of all arguments: relative to the value, in units of
 * the last place of an f32, or as it is. Zeros, infinities and NaN stay. The bounds are those of
 * the manual less what the rounding that follows takes. */
static inline double displace_absolute(double v, double bound, uint32_t argument) {
    bool up = (argument * 0x9e3779b1u) >> 31;
    return v - v == 0 && bound != 0 ? v + (up ? bound : -bound) : v;
}
static inline double displace(double v, double bound, uint32_t argument) {
    return displace_absolute(v, bound * fabs(v), argument);
}
static inline double displace_ulps(double v, double ulps, uint32_t argument) {
    double power = double_of(double_bits(v) & 0x7ff0000000000000); /* the ulp is 2^-23 of it */
    return displace_absolute(v, v != 0 ? ulps * 0x1p-23 * power : 0, argument);
}

static inline bool is_worst(const Warp *warp) {
    return warp->cta->launch->options.approximate_worst;
}

#define FLUSH_IF(x) (record->options & OPTION_ftz ? emu_flush(x) : (x))
#define FINISH(v) FLUSH_IF(emu_canonical((float)(v)))

/* One source; `how` displaces by `bound`. */
#define APPROXIMATE(name, value, how, bound)                                                       \
    UNARY(name##_best, f32, f32, FINISH(value((double)FLUSH_IF(x))))                               \
    UNARY(name##_worst, f32, f32,                                                                  \
          FINISH(how(value((double)FLUSH_IF(x)), bound, emu_float_bits(x))))                       \
    PLAIN_HANDLER(name) {                                                                          \
        return is_worst(warp) ? name##_worst(warp, record, lanes)                                  \
                              : name##_best(warp, record, lanes);                                  \
    }

static inline double reciprocal(double x) { return 1 / x; }
static inline double reciprocal_root(double x) { return 1 / sqrt(x); }
static inline double root(double x) { return sqrt(x); }
APPROXIMATE(ex2, power_of_two, displace_ulps, 1.5)
APPROXIMATE(rcp, reciprocal, displace_ulps, 0.5)
APPROXIMATE(root_f32, root, displace, 0x1p-24)
APPROXIMATE(rsqrt, reciprocal_root, displace, 0x1.24p-24)
APPROXIMATE(tanh_f32, tanh, displace, 0x1.ffp-12)

/* Of lg2 the bound is absolute near 1; of sin and cos everywhere, and wider far from 0. */
static double worst_lg2(double x, uint32_t bits) {
    double v = logarithm(x);
    return x > 0.5 && x < 2 ? displace_absolute(v, 0x1.cp-23, bits) : displace(v, 0x1.8p-23, bits);
}
static double circle(double v, double x, uint32_t bits, bool worst) {
    double bound = fabs(x) <= 6.2831853 ? 0x1.4ap-21 : 0x1.3ap-15;
    return worst ? displace_absolute(v, bound, bits) : v;
}
UNARY(lg2_best, f32, f32, FINISH(logarithm((double)FLUSH_IF(x))))
PLAIN_HANDLER(lg2) {
    if (!is_worst(warp)) return lg2_best(warp, record, lanes);
    LaneF32 *d = warp_slot(warp, record->slot[0]);
    const LaneF32 *a = warp_slot(warp, record->slot[1]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = FINISH(worst_lg2((double)FLUSH_IF(a[i]), emu_float_bits(a[i])));
    return STEP_next;
}
#define CIRCLE(name, function)                                                                     \
    PLAIN_HANDLER(name) {                                                                          \
        LaneF32 *d = warp_slot(warp, record->slot[0]);                                             \
        const LaneF32 *a = warp_slot(warp, record->slot[1]);                                       \
        bool worst = is_worst(warp);                                                               \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            if (!(lanes >> i & 1)) continue;                                                       \
            double x = (double)FLUSH_IF(a[i]);                                                     \
            d[i] = FINISH(circle(function(x), x, emu_float_bits(a[i]), worst));                    \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
CIRCLE(sine, sin)
CIRCLE(cosine, cos)

/* Quotients within 2 ulp. div.approx multiplies by a reciprocal, which is 0 for divisors beyond
 * 2^126; div.full has no such range. */
static float quotient(float x, float y, bool full, bool worst) {
    float size = fabsf(y);
    if (!full && size > 0x1p126f && size < INFINITY) return isinf(x) ? NAN : 0 * x * y;
    double v = (double)x / (double)y;
    return (float)(worst ? displace_ulps(v, 1.5, emu_float_bits(x) ^ emu_float_bits(y)) : v);
}
PLAIN_HANDLER(quotient_f32) {
    LaneF32 *d = warp_slot(warp, record->slot[0]);
    const LaneF32 *a = warp_slot(warp, record->slot[1]), *b = warp_slot(warp, record->slot[2]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1)
            d[i] =
                FINISH(quotient(FLUSH_IF(a[i]), FLUSH_IF(b[i]), record->immediate, is_worst(warp)));
    return STEP_next;
}

/* f64 seeds: 20 bits of fraction, the lower word of the result is 0; subnormals are flushed. */
static double seed(double v) {
    if (v != v) return double_of(0x7fffffff00000000);
    return double_of(double_bits(v) & 0xffffffff00000000);
}
static double flush_f64(double x) { return fabs(x) < 0x1p-1022 ? copysign(0, x) : x; }
#define SEED(name, expression)                                                                     \
    PLAIN_HANDLER(name) {                                                                          \
        LaneF64 *d = warp_slot(warp, record->slot[0]);                                             \
        const LaneF64 *a = warp_slot(warp, record->slot[1]);                                       \
        bool ftz = record->immediate || record->options & OPTION_ftz;                              \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            double x = ftz ? flush_f64(a[i]) : a[i];                                               \
            if (lanes >> i & 1) d[i] = expression;                                                 \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
SEED(rcp_f64, flush_f64(seed(1 / x)))
SEED(rsqrt_f64, seed(1 / sqrt(x)))

/* f16 and bf16, alone and in pairs: in f32, rounded once. Immediate: of bf16. */
static uint16_t half_value(uint16_t x, double (*function)(double), bool brain, bool worst) {
    float a = brain ? emu_bf16_to_f32(x) : emu_f16_to_f32(x);
    if (brain) a = emu_flush(a);
    double v = function((double)a);
    double bound = function == tanh ? (brain ? 0x1p-8 : 0x1.02p-11) : brain ? 0x1p-7 : 0x1.12p-10;
    if (worst) v = displace(v, bound / 4, x); /* and half an ulp by rounding */
    uint16_t result = brain ? emu_f64_to_bf16(v) : emu_f64_to_f16(v);
    return brain && !(result & 0x7f80) ? result & 0x8000 : result;
}
static double ex2_of(double x) { return exp2(x); }
static void half_lanes(Warp *warp, const Record *record, uint32_t lanes, bool pair,
                       double (*function)(double)) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *a = warp_slot(warp, record->slot[1]);
    bool worst = is_worst(warp), brain = record->immediate;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t low = half_value((uint16_t)a[i], function, brain, worst), high = 0;
        if (pair) high = half_value((uint16_t)(a[i] >> 16), function, brain, worst);
        d[i] = low | high << 16;
    }
}
#define HALF(name, pair, function)                                                                 \
    PLAIN_HANDLER(name) {                                                                          \
        half_lanes(warp, record, lanes, pair, function);                                           \
        return STEP_next;                                                                          \
    }
HALF(ex2_one, false, ex2_of)
HALF(ex2_two, true, ex2_of)
HALF(tanh_one, false, tanh)
HALF(tanh_two, true, tanh)

#define APPROX(row, handler) FORM(row, "Ww", handler, T(f32), M(approx), .accepts = ACCEPT_ftz)

static const Form emu_forms_approx_forms[] = {
    APPROX(ex2, ex2),
    APPROX(lg2, lg2),
    APPROX(rcp, rcp),
    APPROX(sqrt, root_f32),
    APPROX(rsqrt, rsqrt),
    APPROX(sin, sine),
    APPROX(cos, cosine),
    APPROX(tanh, tanh_f32),
    FORM(div, "Www", quotient_f32, T(f32), M(approx), .accepts = ACCEPT_ftz),
    FORM(div, "Www", quotient_f32, T(f32), M(full), .accepts = ACCEPT_ftz, .immediate = 1),
    FORM(rcp, "Ll", rcp_f64, T(f64), M(approx, ftz), .immediate = 1),
    FORM(rsqrt, "Ll", rsqrt_f64, T(f64), M(approx), .accepts = ACCEPT_ftz),
    FORM(ex2, "Ww", ex2_one, T(f16), M(approx)),
    FORM(ex2, "Ww", ex2_two, T(f16x2), M(approx)),
    FORM(ex2, "Ww", ex2_one, T(bf16), M(approx, ftz), .immediate = 1),
    FORM(ex2, "Ww", ex2_two, T(bf16x2), M(approx, ftz), .immediate = 1),
    FORM(tanh, "Ww", tanh_one, T(f16), M(approx)),
    FORM(tanh, "Ww", tanh_two, T(f16x2), M(approx)),
    FORM(tanh, "Ww", tanh_one, T(bf16), M(approx), .immediate = 1),
    FORM(tanh, "Ww", tanh_two, T(bf16x2), M(approx), .immediate = 1),
};
FORM_TABLE(emu_forms_approx);
