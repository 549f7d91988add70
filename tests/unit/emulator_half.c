// f16 and bf16, alone and in pairs, and the approximate functions.
#include "tests/unit/emulator_scalar.h"

__extension__ typedef __float128 Exact;

typedef struct Format {
    int exponent_bits, fraction_bits, infinity;
} Format;
static const Format f16 = {5, 10, 0x7c00}, bf16 = {8, 7, 0x7f80}, f32 = {8, 23, 0x7f800000};

static double value(uint64_t bits, Format f) {
    uint64_t sign = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    int exponent = (int)(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
    uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    double v = ldexp((double)(fraction | (uint64_t)(exponent != 0) << f.fraction_bits),
                     (exponent ? exponent : 1) - bias - f.fraction_bits);
    if (exponent == 2 * bias + 1) v = fraction ? NAN : INFINITY;
    return sign ? -v : v;
}

// To nearest even, from the exact value: how many quanta is it?
static uint64_t rounded(Exact v, bool negative, Format f) {
    uint64_t sign = (uint64_t)negative << (f.exponent_bits + f.fraction_bits);
    if (v != v) return ((uint64_t)1 << (f.exponent_bits + f.fraction_bits)) - 1;
    if (v < 0) v = -v;
    if (v > (Exact)1e300) return sign | (uint64_t)f.infinity;
    int bias = (1 << (f.exponent_bits - 1)) - 1, exponent = 1 - bias;
    Exact unit = (Exact)ldexp(1, exponent);
    while (v >= 2 * unit) unit *= 2, exponent++;
    Exact quanta = v / unit * (Exact)ldexp(1, f.fraction_bits);
    uint64_t whole = (uint64_t)quanta;
    Exact rest = quanta - (Exact)whole;
    if (rest > (Exact)0.5 || (rest == (Exact)0.5 && whole & 1)) whole++;
    uint64_t bits = ((uint64_t)(exponent + bias - 1) << f.fraction_bits) + whole;
    return sign | (bits > (uint64_t)f.infinity ? (uint64_t)f.infinity : bits);
}

typedef enum Op { ADD, SUB, MUL, FMA } Op;
enum { FTZ = 1, SAT = 2, RELU = 4 };

static uint64_t flush(uint64_t x, Format f) { return x & (uint64_t)f.infinity ? x : x & 0x8000; }

static uint64_t compute(Op op, Format f, int options, uint64_t a, uint64_t b, uint64_t c) {
    a &= 0xffff, b &= 0xffff, c &= 0xffff;
    if (options & FTZ) a = flush(a, f), b = flush(b, f), c = flush(c, f);
    double x = value(a, f), y = value(b, f), z = value(c, f);
    double p = op == FMA ? x * y : x, q = op == FMA ? z : op == SUB ? -y : y;
    double plain = op == MUL ? x * y : p + q; // specials, and the sign of zero
    Exact v = op == MUL ? (Exact)x * (Exact)y : (Exact)p + (Exact)q; // p is exact in a double
    Exact back = v - (Exact)p, error = ((Exact)p - (v - back)) + ((Exact)q - back);
    if (op != MUL && isfinite(plain) && error != 0 && v == (Exact)(double)v)
        v += (error > 0 ? 1 : -1) * (v > 0 ? v : -v) * 0x1p-100;
    uint64_t r =
        isfinite(plain) ? rounded(v, signbit(plain), f) : rounded((Exact)plain, plain < 0, f);
    if (options & FTZ) r = flush(r, f);
    bool nan = (r & 0x7fff) > (uint64_t)f.infinity;
    if (options & SAT) return nan || r & 0x8000 ? 0 : r > 0x3c00 ? 0x3c00 : r;
    return options & RELU && !nan && r & 0x8000 ? 0 : r;
}

#define ONE(name, op, format, options)                                                             \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)d;                                                                                   \
        return compute(op, format, options, a, b, c);                                              \
    }                                                                                              \
    static uint64_t name##_x2(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                    \
        return name(a, b, c, d) | name(a >> 16, b >> 16, c >> 16, d) << 16;                        \
    }
ONE(add_f16, ADD, f16, 0)
ONE(sub_f16, SUB, f16, 0)
ONE(mul_f16, MUL, f16, 0)
ONE(fma_f16, FMA, f16, 0)
ONE(add_bf16, ADD, bf16, 0)
ONE(sub_bf16, SUB, bf16, 0)
ONE(mul_bf16, MUL, bf16, 0)
ONE(fma_bf16, FMA, bf16, 0)
ONE(add_ftz, ADD, f16, FTZ)
ONE(sub_sat, SUB, f16, SAT)
ONE(mul_both, MUL, f16, FTZ | SAT)
ONE(fma_ftz, FMA, f16, FTZ)
ONE(fma_relu, FMA, f16, RELU)
ONE(fma_brelu, FMA, bf16, RELU)

static uint64_t bound(uint64_t a, uint64_t b, Format f, bool least, bool nan, bool xorsign) {
    a &= 0xffff, b &= 0xffff;
    double x = value(a, f), y = value(b, f);
    uint64_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
    if ((isnan(x) && isnan(y)) || (nan && (isnan(x) || isnan(y)))) return 0x7fff;
    if (xorsign) a &= 0x7fff, b &= 0x7fff, x = fabs(x), y = fabs(y);
    bool first = x < y || (x == y && signbit(x) > signbit(y));
    return (isnan(x) ? b : isnan(y) ? a : first == least ? a : b) | sign;
}
#define BOUND(name, format, least, nan, xorsign)                                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)c, (void)d;                                                                          \
        return bound(a, b, format, least, nan, xorsign);                                           \
    }                                                                                              \
    static uint64_t name##_x2(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                    \
        return name(a, b, c, d) | name(a >> 16, b >> 16, c, d) << 16;                              \
    }
BOUND(min_f16, f16, true, false, false)
BOUND(max_f16, f16, false, false, false)
BOUND(min_nan, f16, true, true, false)
BOUND(max_xor, f16, false, false, true)
BOUND(min_bf16, bf16, true, false, false)
BOUND(max_bnan, bf16, false, true, true)

#define SIMPLE(name, expression)                                                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)b, (void)c, (void)d;                                                                 \
        return (expression);                                                                       \
    }
SIMPLE(abs_1, a & 0x7fff)
SIMPLE(abs_2, a & 0x7fff7fff)
SIMPLE(neg_1, a ^ 0x8000)
SIMPLE(neg_2, a ^ 0x80008000)
SIMPLE(abs_ftz, flush(a, f16) & 0x7fff)
SIMPLE(neg_ftz_2, (flush(a & 0xffff, f16) | flush(a >> 16, f16) << 16) ^ 0x80008000)

#define BOTH(text, type, kinds, pairs, name)                                                       \
    {text "." type, kinds, name, NULL}, { text "." type "x2", pairs, name##_x2, NULL }

static const ScalarRow rows[] = {
    BOTH("add", "f16", "hhh", "wxx", add_f16),
    BOTH("sub.rn", "f16", "hhh", "wxx", sub_f16),
    BOTH("mul", "f16", "hhh", "wxx", mul_f16),
    BOTH("fma.rn", "f16", "hhhh", "wxxx", fma_f16),
    BOTH("add", "bf16", "hhh", "wxx", add_bf16),
    BOTH("sub", "bf16", "hhh", "wxx", sub_bf16),
    BOTH("mul", "bf16", "hhh", "wxx", mul_bf16),
    BOTH("fma.rn", "bf16", "hhhh", "wxxx", fma_bf16),
    BOTH("add.ftz", "f16", "hhh", "wxx", add_ftz),
    BOTH("sub.sat", "f16", "hhh", "wxx", sub_sat),
    BOTH("mul.ftz.sat", "f16", "hhh", "wxx", mul_both),
    BOTH("fma.rn.ftz", "f16", "hhhh", "wxxx", fma_ftz),
    BOTH("fma.rn.relu", "f16", "hhhh", "wxxx", fma_relu),
    BOTH("fma.rn.relu", "bf16", "hhhh", "wxxx", fma_brelu),
    BOTH("min", "f16", "hhh", "wxx", min_f16),
    BOTH("max", "f16", "hhh", "wxx", max_f16),
    BOTH("min.NaN", "f16", "hhh", "wxx", min_nan),
    BOTH("max.xorsign.abs", "f16", "hhh", "wxx", max_xor),
    BOTH("min", "bf16", "hhh", "wxx", min_bf16),
    BOTH("max.NaN.xorsign.abs", "bf16", "hhh", "wxx", max_bnan),
    {"abs.f16", "hh", abs_1, NULL},
    {"abs.f16x2", "wx", abs_2, NULL},
    {"abs.bf16", "hh", abs_1, NULL},
    {"abs.bf16x2", "wx", abs_2, NULL},
    {"neg.f16", "hh", neg_1, NULL},
    {"neg.f16x2", "wx", neg_2, NULL},
    {"neg.bf16", "hh", neg_1, NULL},
    {"neg.bf16x2", "wx", neg_2, NULL},
    {"abs.ftz.f16", "hh", abs_ftz, NULL},
    {"neg.ftz.f16x2", "wx", neg_ftz_2, NULL},
};

static void test_half(void) {
    EmuOptions options = {.workers = 1};
    scalar_run(rows, sizeof rows / sizeof *rows, "sm_90a", &options);
}

// Approximate functions: the manual's bound, and exactly the special values. `relative` is of the
// true value, to which half a unit of the result's last place is added.
static bool near(uint64_t got, double want, Format f, double relative, double absolute) {
    double v = value(got, f);
    if (isnan(want)) return isnan(v);
    if (want == 0 && absolute > 0) return fabs(v) <= absolute;
    if (isinf(want) || want == 0) return v == want && signbit(v) == signbit(want);
    double most = ldexp(2 - ldexp(1, -f.fraction_bits), (1 << (f.exponent_bits - 1)) - 1);
    double least = ldexp(1, 2 - (1 << (f.exponent_bits - 1)));
    if (fabs(want) > most) return isinf(v) || fabs(v) >= most * (1 - relative);
    double ulp = ldexp(1, ilogb(fabs(want) < least ? least : want) - f.fraction_bits);
    return fabs(v - want) <= relative * fabs(want) + absolute + 0.5 * ulp;
}
static double near_flush(double x) { return fabs(x) < 0x1p-126 ? copysign(0, x) : x; }

#define NEAR(name, format, expression, relative, absolute)                                         \
    static bool name(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                           \
        double x = value(a, format), y = value(b, format);                                         \
        (void)y, (void)c;                                                                          \
        return near(got, expression, format, relative, absolute);                                  \
    }
NEAR(ex2, f32, exp2(x), 0x1p-22, 0)
NEAR(lg2, f32, log2(x), x > 0.5 && x < 2 ? 0 : 0x1p-22, x > 0.5 && x < 2 ? 0x1p-22 : 0)
NEAR(rcp, f32, 1 / x, 0x1p-23, 0)
NEAR(rsqrt, f32, 1 / sqrt(x), 0x1.12p-23, 0)
NEAR(root, f32, sqrt(x), 0x1p-23, 0)
NEAR(tanh_, f32, tanh(x), 0x1p-11, 0)
NEAR(quotient, f32, x / y, 0x1p-22, 0)
NEAR(ex2_f16, f16, exp2(x), 0x1.12p-10, 0)
NEAR(ex2_bf16, bf16, near_flush(exp2(near_flush(x))), 0x1p-7, 0)
NEAR(tanh_f16, f16, tanh(x), 0, 0x1.03p-11)
NEAR(tanh_bf16, bf16, near_flush(tanh(near_flush(x))), 0x1p-8, 0)

#define NEAR_PAIR(name)                                                                            \
    static bool name##x2(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                       \
        return name(got & 0xffff, a & 0xffff, b, c) && name(got >> 16, a >> 16, b, c);             \
    }
NEAR_PAIR(ex2_f16)
NEAR_PAIR(ex2_bf16)
NEAR_PAIR(tanh_f16)
NEAR_PAIR(tanh_bf16)

// Flushed results of flushed arguments: next to the least normal number either is right.
static bool flushed(uint64_t got, double want, double relative) {
    if (fabs(want) < 0x1.00001p-126 && !(got & 0x7f800000)) return (got & 0x7fffffff) == 0;
    return near(got, want, f32, relative, 0);
}
#define NEAR_FTZ(name, expression, relative)                                                       \
    static bool name(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                           \
        double x = near_flush(value(a, f32)), y = near_flush(value(b, f32));                       \
        (void)y, (void)c;                                                                          \
        return flushed(got, expression, relative);                                                 \
    }
NEAR_FTZ(ex2_ftz, exp2(x), 0x1p-22)
NEAR_FTZ(root_ftz, sqrt(x), 0x1p-23)
NEAR_FTZ(rsqrt_ftz, 1 / sqrt(x), 0x1.12p-23)
NEAR_FTZ(rcp_ftz, 1 / x, 0x1p-23)
NEAR_FTZ(quotient_ftz, x / y, 0x1p-22)

static bool circle(uint64_t got, uint64_t a, double (*function)(double)) {
    double x = value(a, f32);
    if (!isfinite(x)) return isnan(value(got, f32));
    double bound = fabs(x) <= 6.2831853 ? 0x1.6ap-21 : 0x1.3bp-15;
    return fabs(x) > 314 || fabs(value(got, f32) - function(x)) <= bound + 0x1p-25;
}
static bool sine(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return circle(got, a, sin);
}
static bool cosine(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return circle(got, a, cos);
}
// Divisors beyond 2^126 give 0, and NaN for infinite dividends.
static bool quotient_approx(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    double x = value(a, f32), y = value(b, f32), v = value(got, f32);
    if (fabs(y) > 0x1p126 && isfinite(y)) return isfinite(x) ? v == 0 : isnan(v);
    return quotient(got, a, b, c);
}
// Seeds of f64: 20 bits, and the lower word is zero.
static bool seed(uint64_t got, double want) {
    double v;
    memcpy(&v, &got, 8);
    if (isnan(want)) return isnan(v);
    if (got & 0xffffffff) return false;
    if (fabs(want) < 0x1.00002p-1022 && v == 0) return true;
    return want == v || fabs(v - want) <= 0x1p-20 * fabs(want);
}
static double flush_64(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
}
static bool rcp_64(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return seed(got, 1 / flush_64(a));
}
static bool rsqrt_64(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return seed(got, 1 / sqrt(flush_64(a)));
}

static const ScalarRow approximate[] = {
    {"ex2.approx.f32", "wf", NULL, ex2},
    {"lg2.approx.f32", "wf", NULL, lg2},
    {"rcp.approx.f32", "wf", NULL, rcp},
    {"sqrt.approx.f32", "wf", NULL, root},
    {"rsqrt.approx.f32", "wf", NULL, rsqrt},
    {"sin.approx.f32", "wf", NULL, sine},
    {"cos.approx.f32", "wf", NULL, cosine},
    {"tanh.approx.f32", "wf", NULL, tanh_},
    {"div.approx.f32", "wff", NULL, quotient_approx},
    {"div.full.f32", "wff", NULL, quotient},
    {"ex2.approx.ftz.f32", "wf", NULL, ex2_ftz},
    {"rcp.approx.ftz.f32", "wf", NULL, rcp_ftz},
    {"div.full.ftz.f32", "wff", NULL, quotient_ftz},
    {"sqrt.approx.ftz.f32", "wf", NULL, root_ftz},
    {"rsqrt.approx.ftz.f32", "wf", NULL, rsqrt_ftz},
    {"ex2.approx.f16x2", "wx", NULL, ex2_f16x2},
    {"ex2.approx.ftz.bf16x2", "wx", NULL, ex2_bf16x2},
    {"tanh.approx.f16x2", "wx", NULL, tanh_f16x2},
    {"tanh.approx.bf16x2", "wx", NULL, tanh_bf16x2},
    {"rcp.approx.ftz.f64", "ld", NULL, rcp_64},
    {"rsqrt.approx.ftz.f64", "ld", NULL, rsqrt_64},
    {"ex2.approx.f16", "hh", NULL, ex2_f16},
    {"ex2.approx.ftz.bf16", "hh", NULL, ex2_bf16},
    {"tanh.approx.f16", "hh", NULL, tanh_f16},
    {"tanh.approx.bf16", "hh", NULL, tanh_bf16},
};

static void test_approximate(void) {
    EmuOptions options = {.workers = 1};
    scalar_run(approximate, sizeof approximate / sizeof *approximate, "sm_90a", &options);
    options.approximate_worst = true;
    scalar_run(approximate, sizeof approximate / sizeof *approximate, "sm_90a", &options);
}

int main(void) {
    RUN(test_half);
    RUN(test_approximate);
    return test_done();
}
