// f16 and bf16, alone and in pairs.
#include "tests/unit/emulator_formats.h"
#include "tests/unit/emulator_scalar.h"

__extension__ typedef __float128 Exact;

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

int main(void) {
    RUN(test_half);
    return test_done();
}
