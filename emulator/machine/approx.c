/* The approximate functions. Their results are rounded from values computed in double precision,
 * which lies within every bound that PTX states; so that nobody relies on that, the option
 * `approximation` displaces each result by the error that is allowed: by all of it upwards or
 * downwards, by all of it in a direction of the argument's own, or by any part of it. The same
 * argument gives the same result, as on a device. What the manual states exactly stays exact:
 * results that are zero, infinite or NaN, and those of arguments that are.
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

/* From 0 to 2^32 - 1, another number for every argument and seed. */
static inline uint32_t scatter(uint32_t argument, uint64_t seed) {
    uint64_t z = (argument + seed * UINT64_C(0x2545f4914f6cdd1d)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)((z ^ z >> 29) * UINT64_C(0x94d049bb133111eb) >> 32);
}

/* The error that is made of the one allowed, from -1 to 1. */
static inline double part_of_error(const EmuOptions *options, uint32_t argument) {
    uint32_t number = scatter(argument, options->seed);
    switch (options->approximation) {
    case EMU_APPROXIMATION_best: return 0;
    case EMU_APPROXIMATION_high: return 1;
    case EMU_APPROXIMATION_low: return -1;
    case EMU_APPROXIMATION_worst: return number >> 31 ? 1 : -1;
    case EMU_APPROXIMATION_random: return number * 0x1p-31 - 1;
    }
    return 0;
}

/* The value moved by a part of `bound`: as it is, relative to the value, in units of the last place
 * of an f32. The bounds are those of the manual less what the rounding that follows takes. */
static inline double displace_absolute(double v, double bound, double part) {
    return v - v == 0 && v != 0 ? v + bound * part : v;
}
static inline double displace(double v, double bound, double part) {
    return displace_absolute(v, bound * fabs(v), part);
}
/* Not beyond the next power of two, from which on the last place is worth more. */
static inline double displace_ulps(double v, double ulps, double part) {
    double power = double_of(double_bits(v) & 0x7ff0000000000000); /* the ulp is 2^-23 of it */
    double moved = displace_absolute(v, ulps * 0x1p-23 * power, part);
    return fabs(moved) > 2 * power ? copysign(2 * power, v) : moved;
}

static inline const EmuOptions *options_of(const Warp *warp) { return &warp->cta->launch->options; }
static inline bool is_best(const Warp *warp) {
    return options_of(warp)->approximation == EMU_APPROXIMATION_best;
}
/* Of an argument x: 0 where the result is stated exactly. */
static inline double part_for(const Warp *warp, double x, uint32_t bits) {
    return x == 0 || x - x != 0 ? 0 : part_of_error(options_of(warp), bits);
}

#define FLUSH_IF(x) (record->options & OPTION_ftz ? emu_flush(x) : (x))
#define FINISH(v) FLUSH_IF(emu_canonical((float)(v)))

/* One source; `displaced` is of the value v of the argument x. */
#define APPROXIMATE(name, value, displaced)                                                        \
    UNARY(name##_best, f32, f32, FINISH(value((double)FLUSH_IF(x))))                               \
    PLAIN_HANDLER(name) {                                                                          \
        if (is_best(warp)) return name##_best(warp, record, lanes);                                \
        LaneF32 *d = warp_slot(warp, record->slot[0]);                                             \
        const LaneF32 *a = warp_slot(warp, record->slot[1]);                                       \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            if (!(lanes >> i & 1)) continue;                                                       \
            double x = (double)FLUSH_IF(a[i]), v = value(x);                                       \
            double part = part_for(warp, x, emu_float_bits(a[i]));                                 \
            d[i] = FINISH(displaced);                                                              \
        }                                                                                          \
        return STEP_next;                                                                          \
    }

static inline double reciprocal(double x) { return 1 / x; }
static inline double reciprocal_root(double x) { return 1 / sqrt(x); }
static inline double root(double x) { return sqrt(x); }
/* Of lg2 the bound is absolute near 1; of sin and cos everywhere, and wider far from 0; beyond 100
 * pi the manual has none. */
static double displace_lg2(double v, double x, double part) {
    return x > 0.5 && x < 2 ? displace_absolute(v, 0x1.cp-23, part) : displace(v, 0x1.8p-23, part);
}
static double displace_circle(double v, double x, double part) {
    return displace_absolute(v, fabs(x) <= 6.2831853 ? 0x1.48p-21 : 0x1.3ap-15, part);
}
APPROXIMATE(ex2, power_of_two, displace_ulps(v, 1.5, part))
APPROXIMATE(lg2, logarithm, displace_lg2(v, x, part))
APPROXIMATE(rcp, reciprocal, displace_ulps(v, 0.5, part))
APPROXIMATE(root_f32, root, displace(v, 0x1p-24, part))
APPROXIMATE(rsqrt, reciprocal_root, displace(v, 0x1.24p-24, part))
APPROXIMATE(sine, sin, displace_circle(v, x, part))
APPROXIMATE(cosine, cos, displace_circle(v, x, part))
APPROXIMATE(tanh_f32, tanh, displace(v, 0x1.ffp-12, part))

/* Quotients within 2 ulp. div.approx multiplies by a reciprocal, which is 0 for divisors beyond
 * 2^126; div.full has no such range. */
static float quotient(const Warp *warp, float x, float y, bool full) {
    float size = fabsf(y);
    if (!full && size > 0x1p126f && size < INFINITY) return isinf(x) ? NAN : 0 * x * y;
    uint32_t bits = emu_float_bits(x) ^ emu_float_bits(y) << 7;
    return (float)displace_ulps((double)x / (double)y, 1.5, part_for(warp, (double)x, bits));
}
PLAIN_HANDLER(quotient_f32) {
    LaneF32 *d = warp_slot(warp, record->slot[0]);
    const LaneF32 *a = warp_slot(warp, record->slot[1]), *b = warp_slot(warp, record->slot[2]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1)
            d[i] = FINISH(quotient(warp, FLUSH_IF(a[i]), FLUSH_IF(b[i]), record->immediate));
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

/* f16 and bf16, alone and in pairs: in f32, rounded once. Immediate: of bf16. The bounds, relative
 * of ex2 and absolute of tanh, are less half a unit in the last place. */
static uint16_t half_value(const Warp *warp, uint16_t x, double (*function)(double), bool brain) {
    double a = (double)(brain ? emu_flush(emu_bf16_to_f32(x)) : emu_f16_to_f32(x));
    double v = function(a), part = part_for(warp, a, x);
    if (function == tanh)
        v = displace_absolute(v, brain ? 0x1p-9 : 0x.82p-11, part);
    else
        v = displace(v, brain ? 0x1p-8 : 0x.92p-10, part);
    uint16_t result = brain ? emu_f64_to_bf16(v) : emu_f64_to_f16(v);
    return brain && !(result & 0x7f80) ? result & 0x8000 : result;
}
static double ex2_of(double x) { return exp2(x); }
static void half_lanes(Warp *warp, const Record *record, uint32_t lanes, bool pair,
                       double (*function)(double)) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *a = warp_slot(warp, record->slot[1]);
    bool brain = record->immediate;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t low = half_value(warp, (uint16_t)a[i], function, brain), high = 0;
        if (pair) high = half_value(warp, (uint16_t)(a[i] >> 16), function, brain);
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
