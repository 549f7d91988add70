/* Floating point of 32 and 64 bits. Rounding to nearest without options is what nearly every
 * kernel asks for and has loops of its own; .ftz alone has them as well; what remains (directed
 * rounding, saturation) is computed lane by lane under the host's rounding mode. */
#include "emulator/machine/floats.h"
#include "emulator/machine/lanes.h"

#include <fenv.h>
#include <math.h>

#define FLUSHED(x) emu_flush(x)
#define RESULT_32(x) emu_canonical(x)
#define RESULT_FTZ(x) emu_flush(emu_canonical(x))

#define ARITHMETIC_2(name, expression, x_, y_)                                                     \
    BINARY(name##_f64, f64, f64, f64, expression(x, y))                                            \
    BINARY(name##_f32, f32, f32, f32, RESULT_32(expression(x, y)))                                 \
    BINARY(name##_ftz, f32, f32, f32, RESULT_FTZ(expression(FLUSHED(x), FLUSHED(y))))
#define SUM(x, y) ((x) + (y))
#define DIFFERENCE(x, y) ((x) - (y))
#define PRODUCT(x, y) ((x) * (y))
#define QUOTIENT(x, y) ((x) / (y))
ARITHMETIC_2(add, SUM, x, y)
ARITHMETIC_2(sub, DIFFERENCE, x, y)
ARITHMETIC_2(mul, PRODUCT, x, y)
ARITHMETIC_2(div, QUOTIENT, x, y)
TERNARY(fma_f64, f64, f64, f64, f64, __builtin_fma(x, y, z))
TERNARY(fma_f32, f32, f32, f32, f32, RESULT_32(__builtin_fmaf(x, y, z)))
TERNARY(fma_ftz, f32, f32, f32, f32, RESULT_FTZ(__builtin_fmaf(FLUSHED(x), FLUSHED(y), FLUSHED(z))))
UNARY(rcp_f64, f64, f64, 1 / x)
UNARY(rcp_f32, f32, f32, RESULT_32(1 / x))
UNARY(rcp_ftz, f32, f32, RESULT_FTZ(1 / FLUSHED(x)))
UNARY(sqrt_f64, f64, f64, __builtin_sqrt(x))
UNARY(sqrt_f32, f32, f32, RESULT_32(__builtin_sqrtf(x)))
UNARY(sqrt_ftz, f32, f32, RESULT_FTZ(__builtin_sqrtf(FLUSHED(x))))

/* The operations under any rounding mode; `immediate` of a record says which. Volatile, so that
 * nothing is computed before the mode is set. */
typedef enum Operation {
    OPERATION_add,
    OPERATION_sub,
    OPERATION_mul,
    OPERATION_fma,
    OPERATION_div,
    OPERATION_rcp,
    OPERATION_sqrt
} Operation;

#define OPERATE(name, T, fused, root)                                                              \
    static T name(Operation operation, T left, T right, T third) {                                 \
        volatile T x = left, y = right, z = third, result = 0;                                     \
        switch (operation) {                                                                       \
        case OPERATION_add: result = x + y; break;                                                 \
        case OPERATION_sub: result = x - y; break;                                                 \
        case OPERATION_mul: result = x * y; break;                                                 \
        case OPERATION_fma: result = fused(x, y, z); break;                                        \
        case OPERATION_div: result = x / y; break;                                                 \
        case OPERATION_rcp: result = 1 / x; break;                                                 \
        case OPERATION_sqrt: result = root(x); break;                                              \
        }                                                                                          \
        return result;                                                                             \
    }
OPERATE(operate_32, float, fmaf, sqrtf)
OPERATE(operate_64, double, fma, sqrt)

static int host_rounding(const Record *record) {
    static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return modes[(record->options & OPTION_rounding) / 4];
}

/* Sources that an operation lacks are slot 1 again. */
PLAIN_HANDLER(general_f32) {
    TARGET(f32);
    SOURCE(a, f32, 1);
    SOURCE(b, f32, 2);
    SOURCE(c, f32, 3);
    bool ftz = record->options & OPTION_ftz, sat = record->options & OPTION_sat;
    int before = fegetround();
    fesetround(host_rounding(record));
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        float x = ftz ? emu_flush(a[i]) : a[i], y = ftz ? emu_flush(b[i]) : b[i];
        float z = ftz ? emu_flush(c[i]) : c[i];
        float v = emu_canonical(operate_32((Operation)record->immediate, x, y, z));
        if (ftz) v = emu_flush(v);
        d[i] = sat ? emu_saturate(v) : v;
    }
    fesetround(before);
    return STEP_next;
}

PLAIN_HANDLER(general_f64) {
    TARGET(f64);
    SOURCE(a, f64, 1);
    SOURCE(b, f64, 2);
    SOURCE(c, f64, 3);
    int before = fegetround();
    fesetround(host_rounding(record));
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = operate_64((Operation)record->immediate, a[i], b[i], c[i]);
    fesetround(before);
    return STEP_next;
}

static bool prepare_general(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    (void)decoder;
    for (int i = instruction->operand_count; i < 4; i++) record->slot[i] = record->slot[1];
    return true;
}

/* Least and greatest: a NaN loses against a number; -0 is less than +0. */
#define EQUAL_MIN_32(x, y) emu_float(emu_float_bits(x) | emu_float_bits(y))
#define EQUAL_MAX_32(x, y) emu_float(emu_float_bits(x) & emu_float_bits(y))
static inline float least_32(float x, float y) {
    float v = x < y ? x : x > y ? y : EQUAL_MIN_32(x, y);
    v = x == x ? v : y;
    return emu_canonical(y == y ? v : x);
}
static inline float greatest_32(float x, float y) {
    float v = x > y ? x : x < y ? y : EQUAL_MAX_32(x, y);
    v = x == x ? v : y;
    return emu_canonical(y == y ? v : x);
}
static inline double least_64(double x, double y) {
    double v = x < y || (x == y && signbit(x)) ? x : y;
    return x != x ? y : y != y ? x : v;
}
static inline double greatest_64(double x, double y) {
    double v = x > y || (x == y && signbit(y)) ? x : y;
    return x != x ? y : y != y ? x : v;
}
BINARY(min_f32, f32, f32, f32, least_32(x, y))
BINARY(max_f32, f32, f32, f32, greatest_32(x, y))
BINARY(min_f64, f64, f64, f64, least_64(x, y))
BINARY(max_f64, f64, f64, f64, greatest_64(x, y))

/* With .ftz, .NaN and .xorsign.abs: of magnitudes, with the product's sign. */
static inline float bound_32(float x, float y, bool greatest, uint32_t options) {
    if (options & OPTION_ftz) x = emu_flush(x), y = emu_flush(y);
    uint32_t sign = (emu_float_bits(x) ^ emu_float_bits(y)) & 0x80000000;
    bool invalid = options & OPTION_nan && (x != x || y != y);
    if (options & OPTION_xorsign) x = fabsf(x), y = fabsf(y);
    float v = greatest ? greatest_32(x, y) : least_32(x, y);
    if (invalid || v != v) return emu_float(0x7fffffff);
    return options & OPTION_xorsign ? emu_float(emu_float_bits(v) | sign) : v;
}
BINARY(bound_f32, f32, f32, f32, bound_32(x, y, record->immediate, record->options))

UNARY(abs_f32, u32, u32, x & 0x7fffffff)
UNARY(neg_f32, u32, u32, x ^ 0x80000000)
UNARY(abs_ftz, f32, f32, emu_float(emu_float_bits(emu_flush(x)) & 0x7fffffff))
UNARY(neg_ftz, f32, f32, emu_float(emu_float_bits(emu_flush(x)) ^ 0x80000000))
UNARY(abs_f64, u64, u64, x & ~(UINT64_C(1) << 63))
UNARY(neg_f64, u64, u64, x ^ UINT64_C(1) << 63)
/* The sign of the first source, the rest of the second. */
BINARY(copysign_f32, u32, u32, u32, (x & 0x80000000) | (y & 0x7fffffff))
BINARY(copysign_f64, u64, u64, u64, (x & UINT64_C(1) << 63) | (y & ~(UINT64_C(1) << 63)))

/* testp: classes by exponent and fraction. A number is what is no NaN; zero is neither normal nor
 * subnormal. */
typedef enum TestClass {
    TEST_finite,
    TEST_infinite,
    TEST_number,
    TEST_notanumber,
    TEST_normal,
    TEST_subnormal
} TestClass;

static bool test(TestClass class, double x, bool subnormal) {
    switch (class) {
    case TEST_finite: return isfinite(x);
    case TEST_infinite: return isinf(x);
    case TEST_number: return !isnan(x);
    case TEST_notanumber: return isnan(x);
    case TEST_normal: return isfinite(x) && x != 0 && !subnormal;
    case TEST_subnormal: return subnormal;
    }
    return false;
}

PLAIN_HANDLER(testp_f32) {
    SOURCE(a, f32, 1);
    uint32_t found = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        bool subnormal = a[i] != 0 && fabsf(a[i]) < 0x1p-126f;
        found |= (uint32_t)test((TestClass)record->immediate, a[i], subnormal) << i;
    }
    warp_predicate_set(warp, record->slot[0], lanes, found);
    return STEP_next;
}

PLAIN_HANDLER(testp_f64) {
    SOURCE(a, f64, 1);
    uint32_t found = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        bool subnormal = a[i] != 0 && fabs(a[i]) < 0x1p-1022;
        found |= (uint32_t)test((TestClass)record->immediate, a[i], subnormal) << i;
    }
    warp_predicate_set(warp, record->slot[0], lanes, found);
    return STEP_next;
}

#define GENERAL_32(row, name, words, ...)                                                          \
    FORM(row, words, general_f32, T(f32), .accepts = ACCEPT_ftz | ACCEPT_sat | ACCEPT_rounding,    \
         .prepare = prepare_general, .immediate = OPERATION_##name, __VA_ARGS__)
#define ROUNDED(row, name, words, longs)                                                           \
    FORM(row, words, name##_f32, T(f32)), FORM(row, words, name##_ftz, T(f32), M(ftz)),            \
        FORM(row, longs, name##_f64, T(f64)), GENERAL_32(row, name, words, ),                      \
        FORM(row, longs, general_f64, T(f64), .accepts = ACCEPT_rounding,                          \
             .prepare = prepare_general, .immediate = OPERATION_##name)
#define BOUND(row, greatest)                                                                       \
    FORM(row, "Www", row##_f32, T(f32)), FORM(row, "Lll", row##_f64, T(f64)),                      \
        FORM(row, "Www", bound_f32, T(f32), .accepts = ACCEPT_ftz | ACCEPT_nan | ACCEPT_xorsign,   \
             .immediate = greatest)
#define TESTP(name)                                                                                \
    FORM(testp, "Pw", testp_f32, T(f32), M(name), .immediate = TEST_##name),                       \
        FORM(testp, "Pl", testp_f64, T(f64), M(name), .immediate = TEST_##name)

static const Form emu_forms_float_forms[] = {
    ROUNDED(add, add, "Www", "Lll"),
    ROUNDED(sub, sub, "Www", "Lll"),
    ROUNDED(mul, mul, "Www", "Lll"),
    ROUNDED(fma, fma, "Wwww", "Llll"),
    ROUNDED(mad, fma, "Wwww", "Llll"),
    ROUNDED(div, div, "Www", "Lll"),
    ROUNDED(rcp, rcp, "Ww", "Ll"),
    ROUNDED(sqrt, sqrt, "Ww", "Ll"),
    BOUND(min, 0),
    BOUND(max, 1),
    FORM(abs, "Ww", abs_f32, T(f32)),
    FORM(neg, "Ww", neg_f32, T(f32)),
    FORM(abs, "Ww", abs_ftz, T(f32), M(ftz)),
    FORM(neg, "Ww", neg_ftz, T(f32), M(ftz)),
    FORM(abs, "Ll", abs_f64, T(f64)),
    FORM(neg, "Ll", neg_f64, T(f64)),
    FORM(copysign, "Www", copysign_f32, T(f32)),
    FORM(copysign, "Lll", copysign_f64, T(f64)),
    TESTP(finite),
    TESTP(infinite),
    TESTP(number),
    TESTP(notanumber),
    TESTP(normal),
    TESTP(subnormal),
};
FORM_TABLE(emu_forms_float);
