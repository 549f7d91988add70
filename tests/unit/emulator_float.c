// Floating point of 32 and 64 bits. What is right is decided by exact reasoning in 113 bits: a
// result is correctly rounded when no other float lies between it and the exact value.
#include "tests/unit/emulator_scalar.h"

__extension__ typedef __float128 Exact;

static float f32(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, 4);
    return value;
}
static uint64_t bits_32(float value) {
    uint32_t word;
    memcpy(&word, &value, 4);
    return word;
}
static double f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
static uint64_t bits_64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

typedef enum Mode { RN, RZ, RM, RP } Mode;

// The exact value rounded to f32: some float near it, moved until it is the right one. `sign` is
// that of a zero.
static float round_32(Exact v, Mode mode) {
    float r = (float)v;
    if (isinf(r) && v == (Exact)r) return r;
    if (isinf(r)) r = r > 0 ? 0x1.fffffep127f : -0x1.fffffep127f;
    while ((Exact)r > v) r = nextafterf(r, -INFINITY);
    while (nextafterf(r, INFINITY) < INFINITY && (Exact)nextafterf(r, INFINITY) <= v)
        r = nextafterf(r, INFINITY);
    if ((Exact)r == v) return r;
    float up = nextafterf(r, INFINITY); // r < v < up
    if (mode == RM || (mode == RZ && v > 0)) return r;
    if (mode == RP || mode == RZ) return up == 0 ? -0.0f : up;
    Exact above = isinf(up) ? (Exact)0x1p127f * 2 : (Exact)up;
    Exact below = isinf(r) ? (Exact)-0x1p127f * 2 : (Exact)r, middle = (above + below) / 2;
    if (v == middle) return bits_32(r) & 1 ? up : r;
    return v > middle ? (up == 0 ? -0.0f : up) : r;
}
static double round_64(Exact v, Mode mode) {
    double r = (double)v;
    if (isinf(r) && v == (Exact)r) return r;
    if (isinf(r)) r = r > 0 ? 0x1.fffffffffffffp1023 : -0x1.fffffffffffffp1023;
    while ((Exact)r > v) r = nextafter(r, -INFINITY);
    while (nextafter(r, INFINITY) < INFINITY && (Exact)nextafter(r, INFINITY) <= v)
        r = nextafter(r, INFINITY);
    if ((Exact)r == v) return r;
    double up = nextafter(r, INFINITY);
    if (mode == RM || (mode == RZ && v > 0)) return r;
    if (mode == RP || mode == RZ) return up == 0 ? -0.0 : up;
    Exact above = isinf(up) ? (Exact)0x1p1023 * 2 : (Exact)up;
    Exact below = isinf(r) ? (Exact)-0x1p1023 * 2 : (Exact)r, middle = (above + below) / 2;
    if (v == middle) return bits_64(r) & 1 ? up : r;
    return v > middle ? (up == 0 ? -0.0 : up) : r;
}

static float flush(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }
static float canonical(float x) { return isnan(x) ? f32(0x7fffffff) : x; }
static float saturate(float x) { return isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x; }

typedef enum Op { ADD, SUB, MUL, DIV, FMA, RCP, SQRT } Op;

// Zero, infinite and NaN results come from IEEE rules on the host's default arithmetic; a sum that
// is exactly zero has the sign of the rounding mode.
static float special_32(Op op, float x, float y, float z) {
    switch (op) {
    case ADD: return x + y;
    case SUB: return x - y;
    case MUL: return x * y;
    case DIV: return x / y;
    case FMA:
        if (isfinite(x) && isfinite(y) && !isfinite(z)) return z; // also where x * y overflows
        return x * y + z;
    case RCP: return 1 / x;
    case SQRT: return sqrtf(x);
    }
    return 0;
}

// Whether v is a double, or lies in the middle of two: where roundings decide.
static bool is_boundary(Exact v) {
    double near = (double)v;
    Exact rest = v > (Exact)near ? v - (Exact)near : (Exact)near - v;
    Exact above = (Exact)nextafter(near, INFINITY) - (Exact)near;
    Exact below = (Exact)near - (Exact)nextafter(near, -INFINITY);
    return rest == 0 || 2 * rest == above || 2 * rest == below;
}

// Exact when 113 bits hold it. Where they do not, the error matters only on a boundary, from which
// the value is moved in its direction.
static Exact sum(Exact a, Exact b) {
    Exact s = a + b, back = s - a, error = (a - (s - back)) + (b - back);
    Exact little = (s > 0 ? s : -s) * 0x1p-100;
    if (error == 0 || !is_boundary(s)) return s;
    return error > 0 ? s + little : s - little;
}

static bool exact_value(Op op, Exact x, Exact y, Exact z, Exact *out) {
    switch (op) {
    case ADD: *out = sum(x, y); return true;
    case SUB: *out = sum(x, -y); return true;
    case MUL: *out = x * y; return true;
    case FMA: *out = sum(x * y, z); return true;
    case DIV:
    case RCP: {
        Exact a = op == RCP ? 1 : x, b = op == RCP ? x : y, q = a / b;
        *out = q; // 113 bits of a quotient of shorter numbers never look like a boundary
        return true;
    }
    case SQRT: {
        Exact root = (Exact)sqrt((double)x);
        for (int i = 0; i < 3; i++) root = (root + x / root) / 2;
        *out = root;
        return true;
    }
    }
    return false;
}

static bool is_plain(Op op, double x, double y, double z) {
    bool finite =
        isfinite(x) && (op == RCP || op == SQRT || isfinite(y)) && (op != FMA || isfinite(z));
    if (!finite) return false;
    if (op == DIV) return y != 0 && x != 0;
    if (op == RCP) return x != 0;
    if (op == SQRT) return x > 0;
    if (op == MUL) return x != 0 && y != 0;
    return op != FMA || (x != 0 && y != 0);
}

static float compute_32(Op op, Mode mode, bool ftz, bool sat, uint64_t a, uint64_t b, uint64_t c) {
    float x = f32(a), y = f32(b), z = f32(c), r;
    if (ftz) x = flush(x), y = flush(y), z = flush(z);
    Exact v = 0;
    if (is_plain(op, (double)x, (double)y, (double)z) &&
        exact_value(op, (Exact)x, (Exact)y, (Exact)z, &v) && v != 0)
        r = round_32(v, mode);
    else {
        r = special_32(op, x, y, z);
        bool sums = op == ADD || op == SUB || op == FMA;
        if (sums && r == 0 && mode == RM && v == 0) {
            float p = op == FMA ? x * y : x, q = op == FMA ? z : op == SUB ? -y : y;
            if (!(p == 0 && q == 0 && !signbit(p) && !signbit(q))) r = -0.0f;
        }
    }
    r = canonical(r);
    if (ftz) r = flush(r);
    return sat ? saturate(r) : r;
}

static double compute_64(Op op, Mode mode, uint64_t a, uint64_t b, uint64_t c) {
    double x = f64(a), y = f64(b), z = f64(c);
    Exact v = 0;
    if (is_plain(op, x, y, z) && exact_value(op, (Exact)x, (Exact)y, (Exact)z, &v) && v != 0)
        return round_64(v, mode);
    double r = op == ADD   ? x + y
               : op == SUB ? x - y
               : op == MUL ? x * y
               : op == DIV ? x / y
               : op == FMA ? fma(x, y, z)
               : op == RCP ? 1 / x
                           : sqrt(x);
    if ((op == ADD || op == SUB || op == FMA) && r == 0 && mode == RM) {
        double p = op == FMA ? x * y : x, q = op == FMA ? z : op == SUB ? -y : y;
        if (!(p == 0 && q == 0 && !signbit(p) && !signbit(q))) r = -0.0;
    }
    return r;
}

#define ROUND_32(name, op, mode, ftz, sat)                                                         \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)d;                                                                                   \
        return bits_32(compute_32(op, mode, ftz, sat, a, b, c));                                   \
    }
#define MODES(name, op)                                                                            \
    ROUND_32(name##_rn, op, RN, false, false)                                                      \
    ROUND_32(name##_rz, op, RZ, false, false)                                                      \
    ROUND_32(name##_rm, op, RM, false, false)                                                      \
    ROUND_32(name##_rp, op, RP, false, false)                                                      \
    ROUND_32(name##_ftz, op, RN, true, false)                                                      \
    ROUND_32(name##_rz_ftz, op, RZ, true, false)
MODES(add, ADD)
MODES(sub, SUB)
MODES(mul, MUL)
MODES(div, DIV)
MODES(fma, FMA)
MODES(rcp, RCP)
MODES(sqrt, SQRT)
ROUND_32(add_sat, ADD, RN, false, true)
ROUND_32(sub_sat, SUB, RN, false, true)
ROUND_32(mul_sat, MUL, RN, true, true)
ROUND_32(fma_sat, FMA, RP, true, true)

// f64 keeps the payload of a NaN: any NaN will do.
#define ROUND_64(name, op, mode)                                                                   \
    static bool name(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                           \
        double want = compute_64(op, mode, a, b, c);                                               \
        return isnan(want) ? isnan(f64(got)) : got == bits_64(want);                               \
    }
#define MODES_64(name, op)                                                                         \
    ROUND_64(name##_rn, op, RN)                                                                    \
    ROUND_64(name##_rz, op, RZ)                                                                    \
    ROUND_64(name##_rm, op, RM)                                                                    \
    ROUND_64(name##_rp, op, RP)
MODES_64(dadd, ADD)
MODES_64(dsub, SUB)
MODES_64(dmul, MUL)
MODES_64(ddiv, DIV)
MODES_64(dfma, FMA)
MODES_64(drcp, RCP)
MODES_64(dsqrt, SQRT)

#define SIMPLE(name, expression)                                                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (expression);                                                                       \
    }
// Order of bits as sign and magnitude: -0 is below +0.
static int64_t rank(uint64_t bits, int width) {
    int64_t magnitude = (int64_t)(bits & ((UINT64_C(1) << (width - 1)) - 1));
    return bits >> (width - 1) & 1 ? -magnitude - 1 : magnitude;
}
static uint64_t bound_32(uint64_t a, uint64_t b, bool least, bool ftz, bool nan, bool xorsign) {
    if (ftz) a = bits_32(flush(f32(a))), b = bits_32(flush(f32(b)));
    bool x = isnan(f32(a)), y = isnan(f32(b));
    uint64_t sign = xorsign ? (a ^ b) & 0x80000000 : 0;
    if ((x && y) || (nan && (x || y))) return 0x7fffffff;
    if (xorsign) a &= 0x7fffffff, b &= 0x7fffffff;
    uint64_t v = x ? b : y ? a : (rank(a, 32) < rank(b, 32)) == least ? a : b;
    return v | sign;
}
SIMPLE(min_f32, bound_32(a, b, true, false, false, false))
SIMPLE(max_f32, bound_32(a, b, false, false, false, false))
SIMPLE(min_ftz, bound_32(a, b, true, true, false, false))
SIMPLE(max_nan, bound_32(a, b, false, false, true, false))
SIMPLE(min_nan_ftz, bound_32(a, b, true, true, true, false))
SIMPLE(max_ftz, bound_32(a, b, false, true, false, false))
SIMPLE(min_nan, bound_32(a, b, true, false, true, false))
SIMPLE(max_nan_ftz, bound_32(a, b, false, true, true, false))
SIMPLE(min_xor, bound_32(a, b, true, false, false, true))
SIMPLE(max_ftz_xor, bound_32(a, b, false, true, false, true))
SIMPLE(min_all, bound_32(a, b, true, true, true, true))
SIMPLE(max_xor, bound_32(a, b, false, false, false, true))
SIMPLE(min_nan_xor, bound_32(a, b, true, false, true, true))
static bool bound_64(uint64_t got, uint64_t a, uint64_t b, bool least) {
    bool x = isnan(f64(a)), y = isnan(f64(b));
    if (x && y) return isnan(f64(got));
    return got == (x ? b : y ? a : (rank(a, 64) < rank(b, 64)) == least ? a : b);
}
static bool min_f64(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bound_64(got, a, b, true);
}
static bool max_f64(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bound_64(got, a, b, false);
}
SIMPLE(abs_32, a & 0x7fffffff)
SIMPLE(neg_32, a ^ 0x80000000)
SIMPLE(abs_ftz, bits_32(flush(f32(a))) & 0x7fffffff)
SIMPLE(neg_ftz, bits_32(flush(f32(a))) ^ 0x80000000)
SIMPLE(abs_64, a << 1 >> 1)
SIMPLE(neg_64, a ^ UINT64_C(1) << 63)
SIMPLE(copysign_32, (a & 0x80000000) | (b & 0x7fffffff))
SIMPLE(copysign_64, a >> 63 << 63 | b << 1 >> 1)
#define CLASS(name, test)                                                                          \
    static bool is_##name(int k) { return test; }                                                  \
    SIMPLE(name##_32, is_##name(fpclassify(f32(a))))                                               \
    SIMPLE(name##_64, is_##name(fpclassify(f64(a))))
CLASS(finite, k != FP_NAN && k != FP_INFINITE)
CLASS(infinite, k == FP_INFINITE)
CLASS(number, k != FP_NAN)
CLASS(notanumber, k == FP_NAN)
CLASS(normal, k == FP_NORMAL)
CLASS(subnormal, k == FP_SUBNORMAL)

#define ROWS_32(text, kinds, name)                                                                 \
    {text ".rn.f32", kinds, name##_rn, NULL}, {text ".rz.f32", kinds, name##_rz, NULL},            \
        {text ".rm.f32", kinds, name##_rm, NULL}, {text ".rp.f32", kinds, name##_rp, NULL},        \
        {text ".rn.ftz.f32", kinds, name##_ftz, NULL}, {                                           \
        text ".rz.ftz.f32", kinds, name##_rz_ftz, NULL                                             \
    }
#define ROWS_64(text, kinds, name)                                                                 \
    {text ".rn.f64", kinds, NULL, name##_rn}, {text ".rz.f64", kinds, NULL, name##_rz},            \
        {text ".rm.f64", kinds, NULL, name##_rm}, {                                                \
        text ".rp.f64", kinds, NULL, name##_rp                                                     \
    }
#define TESTP(name)                                                                                \
    {"testp." #name ".f32", "pf", name##_32, NULL}, { "testp." #name ".f64", "pd", name##_64, NULL }

static const ScalarRow rows[] = {
    ROWS_32("add", "wff", add),
    ROWS_32("sub", "wff", sub),
    ROWS_32("mul", "wff", mul),
    ROWS_32("div", "wff", div),
    ROWS_32("fma", "wfff", fma),
    ROWS_32("mad", "wfff", fma),
    ROWS_32("rcp", "wf", rcp),
    ROWS_32("sqrt", "wf", sqrt),
    {"add.f32", "wff", add_rn, NULL},
    {"sub.ftz.f32", "wff", sub_ftz, NULL},
    {"mul.f32", "wff", mul_rn, NULL},
    {"mul.ftz.f32", "wff", mul_ftz, NULL},
    {"add.ftz.f32", "wff", add_ftz, NULL},
    {"add.sat.f32", "wff", add_sat, NULL},
    {"sub.sat.f32", "wff", sub_sat, NULL},
    {"mul.ftz.sat.f32", "wff", mul_sat, NULL},
    {"fma.rp.ftz.sat.f32", "wfff", fma_sat, NULL},
    ROWS_64("add", "ldd", dadd),
    ROWS_64("sub", "ldd", dsub),
    ROWS_64("mul", "ldd", dmul),
    ROWS_64("div", "ldd", ddiv),
    ROWS_64("fma", "lddd", dfma),
    ROWS_64("mad", "lddd", dfma),
    ROWS_64("rcp", "ld", drcp),
    ROWS_64("sqrt", "ld", dsqrt),
    {"add.f64", "ldd", NULL, dadd_rn},
    {"min.f32", "wff", min_f32, NULL},
    {"max.f32", "wff", max_f32, NULL},
    {"min.ftz.f32", "wff", min_ftz, NULL},
    {"max.NaN.f32", "wff", max_nan, NULL},
    {"min.ftz.NaN.f32", "wff", min_nan_ftz, NULL},
    {"max.xorsign.abs.f32", "wff", max_xor, NULL},
    {"min.NaN.xorsign.abs.f32", "wff", min_nan_xor, NULL},
    {"max.ftz.f32", "wff", max_ftz, NULL},
    {"min.NaN.f32", "wff", min_nan, NULL},
    {"max.ftz.NaN.f32", "wff", max_nan_ftz, NULL},
    {"min.xorsign.abs.f32", "wff", min_xor, NULL},
    {"max.ftz.xorsign.abs.f32", "wff", max_ftz_xor, NULL},
    {"min.ftz.NaN.xorsign.abs.f32", "wff", min_all, NULL},
    {"min.f64", "ldd", NULL, min_f64},
    {"max.f64", "ldd", NULL, max_f64},
    {"abs.f32", "wf", abs_32, NULL},
    {"neg.f32", "wf", neg_32, NULL},
    {"abs.ftz.f32", "wf", abs_ftz, NULL},
    {"neg.ftz.f32", "wf", neg_ftz, NULL},
    {"abs.f64", "ld", abs_64, NULL},
    {"neg.f64", "ld", neg_64, NULL},
    {"copysign.f32", "wff", copysign_32, NULL},
    {"copysign.f64", "ldd", copysign_64, NULL},
    TESTP(finite),
    TESTP(infinite),
    TESTP(number),
    TESTP(notanumber),
    TESTP(normal),
    TESTP(subnormal),
};

static void test_float(void) {
    EmuOptions options = {.workers = 1};
    scalar_run(rows, sizeof rows / sizeof *rows, "sm_90a", &options);
}

int main(void) {
    RUN(test_float);
    return test_done();
}
