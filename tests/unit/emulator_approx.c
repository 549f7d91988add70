// The approximate functions: within the manual's bounds whichever way they are made to err, special
// values exact, and as far off as the bounds allow where that is asked for.
#include "tests/unit/emulator_formats.h"
#include "tests/unit/emulator_scalar.h"

// Of one instruction in one run: the largest part of its bound that was used, upwards and
// downwards, and a number that depends on all results.
static struct {
    double up, down;
    uint64_t hash;
} seen;

static bool within(uint64_t got, double v, double want, double allowed) {
    double part = allowed > 0 ? (v - want) / allowed : 0;
    seen.hash = (seen.hash ^ got) * UINT64_C(0x9e3779b97f4a7c15);
    if (part > seen.up) seen.up = part;
    if (-part > seen.down) seen.down = -part;
    return fabs(v - want) <= allowed;
}

// A bound in three parts: relative to the value, absolute, in units of the last place.
typedef struct Bound {
    double relative, absolute, ulps;
} Bound;

static bool near(uint64_t got, double x, double want, Format f, Bound bound) {
    double v = value(got, f);
    if (isnan(want)) return isnan(v);
    bool exact = x == 0 || isinf(x) || isinf(want) || want == 0;
    if (exact) return v == want && signbit(v) == signbit(want);
    double most = ldexp(2 - ldexp(1, -f.fraction_bits), (1 << (f.exponent_bits - 1)) - 1);
    double least = ldexp(1, 2 - (1 << (f.exponent_bits - 1)));
    if (fabs(want) > most) return isinf(v) || fabs(v) >= most * (1 - bound.relative);
    double ulp = ldexp(1, ilogb(fabs(want) < least ? least : want) - f.fraction_bits);
    double allowed = bound.relative * fabs(want) + bound.absolute + bound.ulps * ulp;
    if (isinf(v)) return fabs(want) + allowed > most && (v > 0) == (want > 0);
    if (fabs(want) < least && allowed < ulp) return fabs(v - want) <= ulp; // the quantum is larger
    return within(got, v, want, allowed);
}

#define NEAR(name, format, expression, ...)                                                        \
    static bool name(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                           \
        double x = value(a, format);                                                               \
        (void)b, (void)c;                                                                          \
        return near(got, x, expression, format, (Bound){__VA_ARGS__});                             \
    }
static double flush(double x) { return fabs(x) < 0x1p-126 ? copysign(0, x) : x; }
NEAR(ex2, f32, exp2(x), .ulps = 2)
NEAR(rcp, f32, 1 / x, .ulps = 1)
NEAR(rsqrt, f32, 1 / sqrt(x), .relative = 0x1.12p-23)
NEAR(root, f32, sqrt(x), .relative = 0x1p-23)
NEAR(tanh_, f32, tanh(x), .relative = 0x1p-11)
NEAR(ex2_f16, f16, exp2(x), .relative = 0x1.12p-10)
NEAR(tanh_f16, f16, tanh(x), .absolute = 0x1.03p-11)

static bool near_brain(uint64_t got, uint64_t a, double (*function)(double), Bound bound) {
    double x = flush(value(a, bf16));
    return near(got, x, flush(function(x)), bf16, bound);
}
static bool ex2_bf16(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return near_brain(got, a, exp2, (Bound){.relative = 0x1p-7});
}
static bool tanh_bf16(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return near_brain(got, a, tanh, (Bound){.absolute = 0x1p-8});
}

#define NEAR_PAIR(name)                                                                            \
    static bool name##x2(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                       \
        return name(got & 0xffff, a & 0xffff, b, c) && name(got >> 16, a >> 16, b, c);             \
    }
NEAR_PAIR(ex2_f16)
NEAR_PAIR(ex2_bf16)
NEAR_PAIR(tanh_f16)
NEAR_PAIR(tanh_bf16)

static bool lg2(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    double x = value(a, f32);
    (void)b, (void)c;
    bool close = x > 0.5 && x < 2;
    if (x == 1) return within(got, value(got, f32), 0, 0x1p-22);
    return near(got, x, log2(x), f32,
                (Bound){.relative = close ? 0 : 0x1p-22, .absolute = close ? 0x1p-22 : 0});
}

static bool circle(uint64_t got, uint64_t a, double (*function)(double)) {
    double x = value(a, f32), bound = fabs(x) <= 6.2831853 ? 0x1.6a0ap-21 : 0x1.3b3p-15;
    if (!isfinite(x)) return isnan(value(got, f32));
    if (fabs(x) > 314) return true; // nothing is said of those
    return near(got, x, function(x), f32, (Bound){.absolute = bound});
}
static bool sine(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return circle(got, a, sin);
}
static bool cosine(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return circle(got, a, cos);
}

static bool quotient(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    double x = value(a, f32);
    (void)c;
    return near(got, x, x / value(b, f32), f32, (Bound){.ulps = 2});
}
// Divisors beyond 2^126 give 0, and NaN for infinite dividends.
static bool quotient_approx(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    double x = value(a, f32), y = value(b, f32), v = value(got, f32);
    if (fabs(y) > 0x1p126 && isfinite(y)) return isfinite(x) ? v == 0 : isnan(v);
    return quotient(got, a, b, c);
}

// Flushed results of flushed arguments: next to the least normal number either is right.
static bool flushed(uint64_t got, double x, double want, Bound bound) {
    if (fabs(want) < 0x1.00001p-126 && !(got & 0x7f800000)) return (got & 0x7fffffff) == 0;
    return near(got, x, want, f32, bound);
}
#define NEAR_FTZ(name, expression, ...)                                                            \
    static bool name(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {                           \
        double x = flush(value(a, f32)), y = flush(value(b, f32));                                 \
        (void)y, (void)c;                                                                          \
        return flushed(got, x, expression, (Bound){__VA_ARGS__});                                  \
    }
NEAR_FTZ(ex2_ftz, exp2(x), .ulps = 2)
NEAR_FTZ(root_ftz, sqrt(x), .relative = 0x1p-23)
NEAR_FTZ(rsqrt_ftz, 1 / sqrt(x), .relative = 0x1.12p-23)
NEAR_FTZ(rcp_ftz, 1 / x, .ulps = 1)
NEAR_FTZ(quotient_ftz, x / y, .ulps = 2)

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

static const ScalarRow seeds[] = {
    {"rcp.approx.ftz.f64", "ld", NULL, rcp_64},
    {"rsqrt.approx.ftz.f64", "ld", NULL, rsqrt_64},
};

static const ScalarRow functions[] = {
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
    {"ex2.approx.f16", "hh", NULL, ex2_f16},
    {"ex2.approx.ftz.bf16", "hh", NULL, ex2_bf16},
    {"tanh.approx.f16", "hh", NULL, tanh_f16},
    {"tanh.approx.bf16", "hh", NULL, tanh_bf16},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void run(const ScalarRow *row, EmuApproximation way, uint64_t seed_number) {
    EmuOptions options = {.workers = 1, .approximation = way, .seed = seed_number};
    memset(&seen, 0, sizeof seen);
    scalar_run(row, 1, "sm_90a", &options);
}

static void test_seeds(void) {
    EmuOptions options = {.workers = 1};
    scalar_run(seeds, sizeof seeds / sizeof *seeds, "sm_90a", &options);
}

static void test_best(void) {
    for (int i = 0; i < FUNCTIONS; i++) run(&functions[i], EMU_APPROXIMATION_best, 0);
}

// What is used of the bound, upwards and downwards; at least half where all should be.
static void check_reach(const ScalarRow *row, bool up, bool down) {
    const double most = 0.7, little = 0.6;
    if (!CHECK((seen.up > most) == up && (seen.down > most) == down)) goto show;
    if (CHECK((up || seen.up < little) && (down || seen.down < little))) return;
show:
    printf("    %s: %g of the bound upwards, %g downwards\n", row->text, seen.up, seen.down);
}

static void test_worst(void) {
    for (int i = 0; i < FUNCTIONS; i++) {
        run(&functions[i], EMU_APPROXIMATION_worst, 1);
        check_reach(&functions[i], true, true);
        run(&functions[i], EMU_APPROXIMATION_high, 1);
        check_reach(&functions[i], true, false);
        run(&functions[i], EMU_APPROXIMATION_low, 1);
        check_reach(&functions[i], false, true);
    }
}

// By the seed, and by nothing else.
static void test_random(void) {
    for (int i = 0; i < FUNCTIONS; i++) {
        run(&functions[i], EMU_APPROXIMATION_random, 1);
        uint64_t first = seen.hash;
        run(&functions[i], EMU_APPROXIMATION_random, 1);
        CHECK(seen.hash == first);
        run(&functions[i], EMU_APPROXIMATION_random, 2);
        CHECK(seen.hash != first);
    }
}

int main(void) {
    RUN(test_seeds);
    RUN(test_best);
    RUN(test_worst);
    RUN(test_random);
    return test_done();
}
