// cvt between integers and floats: every pair of types and rounding, from the value alone.
#include "tests/unit/emulator_scalar.h"

__extension__ typedef __int128 Wide;
__extension__ typedef __float128 Exact;

typedef struct Type {
    const char *name;
    char kind; // of the register
    int bits;
    bool is_signed;
    int exponent_bits, fraction_bits; // of floats; else 0
} Type;

static const Type integers[] = {
    {"u8", 'h', 8, false, 0, 0},   {"s8", 'h', 8, true, 0, 0},    {"u16", 'h', 16, false, 0, 0},
    {"s16", 'h', 16, true, 0, 0},  {"u32", 'w', 32, false, 0, 0}, {"s32", 'w', 32, true, 0, 0},
    {"u64", 'l', 64, false, 0, 0}, {"s64", 'l', 64, true, 0, 0},
};
static const Type floats[] = {
    {"f16", 'h', 16, true, 5, 10},
    {"bf16", 'h', 16, true, 8, 7},
    {"f32", 'f', 32, true, 8, 23},
    {"f64", 'd', 64, true, 11, 52},
};
enum { INTEGERS = 8, FLOATS = 4 };

// The row under test; an oracle has no room for it.
static Type the_to, the_from;
static char the_mode; // n z m p: nearest, zero, down, up; 0: none
static bool the_sat;

static Wide integer_value(uint64_t bits, Type type) {
    Wide v = type.bits == 64 ? (Wide)bits : (Wide)(bits & ((UINT64_C(1) << type.bits) - 1));
    return type.is_signed && v >> (type.bits - 1) & 1 ? v - ((Wide)1 << type.bits) : v;
}
static Wide least_of(Type type) { return type.is_signed ? -((Wide)1 << (type.bits - 1)) : 0; }
static Wide most_of(Type type) { return ((Wide)1 << (type.bits - type.is_signed)) - 1; }
static Wide clamp(Wide v, Type type) {
    return v < least_of(type) ? least_of(type) : v > most_of(type) ? most_of(type) : v;
}

// A result in a register of the type: of narrow ones the extended value, as cvt.u64.u16 or .u32 of
// the register shows it.
static uint64_t in_register(Wide v, Type type) {
    uint64_t bits = (uint64_t)v;
    if (type.bits < 64) bits &= (UINT64_C(1) << type.bits) - 1;
    return type.bits == 8 && type.is_signed ? (uint64_t)(int64_t)(int8_t)bits : bits;
}

static uint64_t integer_to_integer(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)b, (void)c, (void)d;
    Wide v = integer_value(a, the_from);
    return in_register(the_sat ? clamp(v, the_to) : v, the_to);
}

// A float as a number; every format here is within a double.
static double float_value(uint64_t bits, Type type) {
    if (type.bits == 64) {
        double v;
        memcpy(&v, &bits, 8);
        return v;
    }
    int bias = (1 << (type.exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> type.fraction_bits) & (2 * bias + 1);
    uint64_t fraction = bits & ((UINT64_C(1) << type.fraction_bits) - 1);
    bool negative = bits >> (type.bits - 1) & 1;
    double v = ldexp((double)(fraction | (uint64_t)(exponent != 0) << type.fraction_bits),
                     (exponent ? exponent : 1) - bias - type.fraction_bits);
    if (exponent == 2 * bias + 1) v = fraction ? NAN : INFINITY;
    return negative ? -v : v;
}

static double integral(double v) {
    return the_mode == 'z'   ? trunc(v)
           : the_mode == 'm' ? floor(v)
           : the_mode == 'p' ? ceil(v)
                             : nearbyint(v);
}

static uint64_t float_to_integer(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)b, (void)c, (void)d;
    double v = integral(float_value(a, the_from));
    if (isnan(v)) {
        bool zero = the_from.bits != 64 && the_to.bits != 64;
        return zero ? 0 : in_register((Wide)1 << (the_to.bits - 1), the_to);
    }
    if (v >= 0x1p100 || v <= -0x1p100) v = v > 0 ? 0x1p100 : -0x1p100;
    return in_register(clamp((Wide)v, the_to), the_to);
}

// The exact value in a format, rounded by how far it lies between two neighbours.
static uint64_t to_float(Exact v, Type type, bool negative_zero) {
    uint64_t sign = (uint64_t)(v < 0 || negative_zero) << (type.bits - 1);
    int bias = (1 << (type.exponent_bits - 1)) - 1, exponent = 1 - bias;
    uint64_t infinity = (uint64_t)(2 * bias + 1) << type.fraction_bits;
    if (v < 0) v = -v;
    Exact unit = (Exact)ldexp(1, exponent);
    while (v >= 2 * unit && exponent <= bias) unit *= 2, exponent++;
    Exact quanta = v / unit * (Exact)ldexp(1, type.fraction_bits);
    uint64_t whole = exponent > bias ? 0 : (uint64_t)quanta;
    Exact rest = exponent > bias ? 0 : quanta - (Exact)whole;
    bool away = the_mode == (sign ? 'm' : 'p');
    bool nearest = the_mode == 'n' || the_mode == 0;
    if (exponent > bias) return sign | (away || nearest ? infinity : infinity - 1);
    if ((away && rest > 0) || (nearest && (rest > (Exact)0.5 || (rest == (Exact)0.5 && whole & 1))))
        whole++;
    return sign | (((uint64_t)(exponent + bias - 1) << type.fraction_bits) + whole);
}

static uint64_t saturated(uint64_t bits, Type type) {
    double v = float_value(bits, type);
    if (isnan(v) || v <= 0) return 0;
    return v > 1 ? (uint64_t)((1 << (type.exponent_bits - 1)) - 1) << type.fraction_bits : bits;
}

static uint64_t integer_to_float(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)b, (void)c, (void)d;
    uint64_t bits = to_float((Exact)integer_value(a, the_from), the_to, false);
    return the_sat ? saturated(bits, the_to) : bits;
}

static bool float_to_float(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    double v = float_value(a, the_from);
    uint64_t infinity = ((UINT64_C(1) << the_to.exponent_bits) - 1) << the_to.fraction_bits;
    if (the_sat && isnan(v)) return got == 0;
    if (isnan(v)) return isnan(float_value(got, the_to));
    uint64_t want = isinf(v) ? (uint64_t)signbit(v) << (the_to.bits - 1) | infinity
                             : to_float((Exact)v, the_to, signbit(v));
    return got == (the_sat ? saturated(want, the_to) : want);
}

static bool integral_float(uint64_t got, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    double v = integral(float_value(a, the_from)), r = float_value(got, the_to);
    return isnan(v) ? isnan(r) : v == r && signbit(v) == signbit(r);
}

static void run_one(Type to, Type from, char mode, bool integer_mode, bool sat, Oracle *oracle,
                    Judge *judge) {
    char text[64], kinds[3] = {to.kind == 'f' ? 'w' : to.kind == 'd' ? 'l' : to.kind, from.kind, 0};
    char rounding[8] = "";
    if (mode) snprintf(rounding, sizeof rounding, ".r%c%s", mode, integer_mode ? "i" : "");
    snprintf(text, sizeof text, "cvt%s%s.%s.%s", rounding, sat ? ".sat" : "", to.name, from.name);
    const ScalarRow row = {text, kinds, oracle, judge};
    EmuOptions options = {.workers = 1};
    the_to = to, the_from = from, the_mode = mode, the_sat = sat;
    scalar_run(&row, 1, "sm_90a", &options);
}

// .sat is taken where it can make a difference.
static bool can_clamp(Type to, Type from) {
    return least_of(from) < least_of(to) || most_of(from) > most_of(to);
}

static void test_integers(void) {
    for (int to = 0; to < INTEGERS; to++)
        for (int from = 0; from < INTEGERS; from++)
            for (int sat = 0; sat <= can_clamp(integers[to], integers[from]); sat++)
                run_one(integers[to], integers[from], 0, false, sat, integer_to_integer, NULL);
}

// PTX has no conversion between bf16 and 8-bit integers.
static bool is_missing(Type real, Type integer) {
    return real.exponent_bits == 8 && real.bits == 16 && integer.bits == 8;
}

static void test_floats_to_integers(void) {
    for (int to = 0; to < INTEGERS; to++)
        for (int from = 0; from < FLOATS; from++)
            for (const char *mode = "nzmp"; *mode && !is_missing(floats[from], integers[to]);
                 mode++)
                run_one(integers[to], floats[from], *mode, true, false, float_to_integer, NULL);
}

static void test_integers_to_floats(void) {
    for (int to = 0; to < FLOATS; to++)
        for (int from = 0; from < INTEGERS; from++)
            for (const char *mode = "nzmp"; *mode && !is_missing(floats[to], integers[from]);
                 mode++)
                run_one(floats[to], integers[from], *mode, false, *mode == 'z' && to != 1,
                        integer_to_float, NULL);
}

static void test_floats(void) {
    const Type f16 = floats[0], bf16 = floats[1], f32 = floats[2], f64 = floats[3];
    for (const char *mode = "nzmp"; *mode; mode++) {
        run_one(f32, f64, *mode, false, false, NULL, float_to_float);
        run_one(f16, f32, *mode, false, false, NULL, float_to_float);
        run_one(bf16, f32, *mode, false, false, NULL, float_to_float);
        run_one(f16, f64, *mode, false, true, NULL, float_to_float);
        run_one(f32, f32, *mode, true, false, NULL, integral_float);
        run_one(f64, f64, *mode, true, false, NULL, integral_float);
        run_one(f16, f16, *mode, true, false, NULL, integral_float);
    }
    run_one(f64, f32, 0, false, false, NULL, float_to_float);
    run_one(f32, f16, 0, false, true, NULL, float_to_float);
    run_one(f64, f16, 0, false, false, NULL, float_to_float);
    run_one(f32, bf16, 0, false, false, NULL, float_to_float);
    run_one(f32, f32, 0, false, true, NULL, float_to_float);
}

int main(void) {
    RUN(test_integers);
    RUN(test_floats_to_integers);
    RUN(test_integers_to_floats);
    RUN(test_floats);
    return test_done();
}
