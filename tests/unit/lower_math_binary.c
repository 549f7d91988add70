// Binary ops and comparisons of floats, compiled and run here, against C in a wider format.
#include "tests/unit/lower_math.h"
#include "tests/unit/lower_math_values.h"

enum { BLOCK = 4096 };

static const Op arithmetic[] = {OP_add, OP_sub,      OP_mul, OP_div, OP_rem,
                                OP_mod, OP_floordiv, OP_min, OP_max, OP_pow};
enum { ARITHMETIC = sizeof arithmetic / sizeof *arithmetic };

static Wide rem_wide(Wide x, Wide y) { return fmodl(x, y); }

static Wide mod_wide(Wide x, Wide y) {
    Wide rest = fmodl(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// The quotient in long double is off by less than one there, and fma tells on which side.
static Wide floordiv_wide(Wide x, Wide y) {
    Wide n = floorl(x / y), rest = fmal(-n, y, x);
    return !isnan(rest) && rest != 0 && (rest < 0) != (y < 0) ? n - 1 : n;
}

static Wide least_wide(Wide x, Wide y) {
    if (isnan(x) || isnan(y)) return (Wide)NAN;
    if (x == y) return signbit(x) ? x : y;
    return x < y ? x : y;
}

// glibc's powl is wrong for -inf and -2^63.
static Wide power(DType dtype, Wide x, Wide y) {
    bool rounds = x != 0 && isfinite(x) && isfinite(y);
    return dtype == DT_f64 && rounds ? powl(x, y) : (Wide)pow((double)x, (double)y);
}

static Wide reference(Op op, DType dtype, Wide x, Wide y) {
    switch (op) {
    case OP_add: return x + y;
    case OP_sub: return x - y;
    case OP_mul: return x * y;
    case OP_div: return x / y;
    case OP_rem: return rem_wide(x, y);
    case OP_mod: return mod_wide(x, y);
    case OP_floordiv: return floordiv_wide(x, y);
    case OP_min: return least_wide(x, y);
    case OP_max: return -least_wide(-x, -y);
    default: return power(dtype, x, y);
    }
}

// pow by its bound. All else is the exact result rounded once; for add to div of f64 that is what C
// computes, as a long double of 64 bits would round twice.
static bool agrees(Op op, DType dtype, Wide x, Wide y, Wide got) {
    Wide want = reference(op, dtype, x, y);
    if (op == OP_pow && x != 0 && want != 0 && !isinf(x) && !isinf(y)) {
        double bound = is_small_float(dtype) ? 0.51 : bound_of(op, dtype);
        return ulps(dtype, got, want) <= bound;
    }
    if (op == OP_floordiv && fabsl(want) >= (dtype == DT_f64 ? 0x1p53L : 0x1p24L))
        return ulps(dtype, got, want) <= 1;
    if (dtype != DT_f64) return same_value(got, round_value(dtype, want));
    double a = (double)x, b = (double)y;
    switch (op) {
    case OP_add: return same_value(got, a + b);
    case OP_sub: return same_value(got, a - b);
    case OP_mul: return same_value(got, a * b);
    case OP_div: return same_value(got, a / b);
    case OP_mod: return ulps(dtype, got, want) <= 0.5005;
    default: return same_value(got, round_value(dtype, want));
    }
}

static void complain(Op op, DType dtype, Wide x, Wide y, Wide got) {
    printf("    %s of %s: %La, %La (%.9Lg, %.9Lg) gives %La, want %La\n", op_info(op)->name,
           dtype_name(dtype), x, y, x, y, got, reference(op, dtype, x, y));
}

static void check_block(Op op, DType dtype, const void *a, const void *b, const void *out,
                        int count) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        Wide x = load_value(dtype, a, i), y = load_value(dtype, b, i),
             got = load_value(dtype, out, i);
        if (agrees(op, dtype, x, y, got)) continue;
        if (wrong++ < 3) complain(op, dtype, x, y, got);
    }
    CHECK_INT(wrong, 0);
}

// ---- f32 and f64 -------------------------------------------------------------------------------

static const double special[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    2.5,
    -2.5,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1p-1074,
    0x1p-1022,
    0x1.fffffep127,
    -0x1.fffffep127,
    0x1p-60,
    0x1p23,
    0x1.000002p24,
    0x1p53,
    -0x1p53,
    0x1.8p31,
    0.1,
    1e10,
    -1e-10,
    0x1.fffffffffffffp1023,
    0x1.fffffep-1,
    0x1.000002p0,
    (double)INFINITY,
    -(double)INFINITY,
    (double)NAN,
};
enum { SPECIALS = sizeof special / sizeof *special };

static double uniform(uint64_t *state, double low, double high) {
    return low + (high - low) * ((double)(bench_random(state) >> 11) * 0x1p-53);
}

static double pattern(DType dtype, uint64_t *state) {
    uint64_t bits = bench_random(state);
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &bits, sizeof f);
    return dtype == DT_f64 ? d : (double)f;
}

static void put(DType dtype, void *array, int i, double value) {
    if (dtype == DT_f64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

// Pairs of four kinds by turns: all patterns; near exponents; bases near 1 with large exponents;
// integers.
static void draw_pair(DType dtype, uint64_t *state, int i, double *x, double *y) {
    switch (i % 4) {
    case 0: *x = pattern(dtype, state), *y = pattern(dtype, state); break;
    case 1: *x = uniform(state, -30, 30), *y = uniform(state, -12, 12); break;
    case 2: *x = 1 + uniform(state, -1e-3, 1e-3), *y = uniform(state, -7e5, 7e5); break;
    default:
        *x = nearbyint(uniform(state, -40, 40)), *y = nearbyint(uniform(state, -20, 20));
        break;
    }
    if (i % 8 == 1) *x = fabs(*x);
}

static void fill_special(DType dtype, void *a, void *b) {
    for (int i = 0; i < BLOCK; i++) {
        put(dtype, a, i, special[i / SPECIALS % SPECIALS]);
        put(dtype, b, i, special[i % SPECIALS]);
    }
}

static void check_op(Bench *bench, int first, Op op, DType dtype) {
    static double a[BLOCK], b[BLOCK], out[BLOCK], other[BLOCK];
    uint64_t state = 7;
    Kernel scalar = bench_kernel(bench, first), narrow = bench_kernel(bench, first + 1),
           wide = bench_kernel(bench, first + 2);
    for (int block = 0; block < (test_long() ? 4000 : 40); block++) {
        for (int i = 0; i < BLOCK && block; i++) {
            double x, y;
            draw_pair(dtype, &state, i, &x, &y);
            put(dtype, a, i, x);
            put(dtype, b, i, y);
        }
        if (!block) fill_special(dtype, a, b);
        narrow(a, b, out, BLOCK);
        check_block(op, dtype, a, b, out, BLOCK);
        (block % 2 ? scalar : wide)(a, b, other, BLOCK);
        check_block(op, dtype, a, b, other, BLOCK);
    }
}

static void check_real(DType dtype) {
    Bench bench = bench_open();
    for (int i = 0; i < ARITHMETIC; i++)
        for (unsigned lanes = 0; lanes <= 16; lanes += 8)
            bench_add(&bench, (KernelSpec){arithmetic[i], dtype, dtype, lanes, MATH_F16C});
    bench_compile(&bench);
    for (int i = 0; i < ARITHMETIC; i++) check_op(&bench, 3 * i, arithmetic[i], dtype);
    bench_close(&bench);
}

static void test_f32(void) { check_real(DT_f32); }
static void test_f64(void) { check_real(DT_f64); }

// ---- small floats ------------------------------------------------------------------------------

// All pairs of f8; for 16 bits random pairs of codes.
static void fill_codes(DType dtype, uint64_t *state, void *a, void *b, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t random = bench_random(state);
        bool all = dtype_info(dtype)->bits == 8;
        store_bits(dtype, a, i, all ? (uint64_t)i >> 8 & 255 : random & 65535);
        store_bits(dtype, b, i, all ? (uint64_t)i & 255 : random >> 16 & 65535);
    }
}

static void test_small(void) {
    enum { COUNT = 65536 };
    static const DType dtypes[] = {DT_f16, DT_bf16, DT_f8e4m3, DT_f8e5m2};
    static uint16_t a[COUNT], b[COUNT], out[COUNT];
    Bench bench = bench_open();
    uint64_t state = 3;
    for (int i = 0; i < ARITHMETIC; i++)
        for (int d = 0; d < 4; d++)
            bench_add(&bench,
                      (KernelSpec){arithmetic[i], dtypes[d], dtypes[d], 8, i % 2 ? MATH_F16C : 0});
    bench_compile(&bench);
    for (int i = 0; i < ARITHMETIC; i++) {
        for (int d = 0; d < 4; d++) {
            fill_codes(dtypes[d], &state, a, b, COUNT);
            bench_kernel(&bench, 4 * i + d)(a, b, out, COUNT);
            check_block(arithmetic[i], dtypes[d], a, b, out, COUNT);
        }
    }
    bench_close(&bench);
}

// ---- neg, abs, sign, comparisons, select
// -----------------------------------------------------------

static bool holds(Op op, Wide x, Wide y) {
    switch (op) {
    case OP_eq: return x == y;
    case OP_ne: return x != y;
    case OP_lt: return x < y;
    case OP_le: return x <= y;
    case OP_gt: return x > y;
    default: return x >= y;
    }
}

static void check_compare(Op op, DType dtype, const void *a, const void *b, const uint8_t *out) {
    int wrong = 0;
    for (int i = 0; i < BLOCK; i++)
        wrong += out[i] != holds(op, load_value(dtype, a, i), load_value(dtype, b, i));
    CHECK_INT(wrong, 0);
}

static void test_compare(void) {
    static double a[BLOCK], b[BLOCK];
    static uint8_t out[BLOCK];
    static const Op ops[] = {OP_eq, OP_ne, OP_lt, OP_le, OP_gt, OP_ge};
    Bench bench = bench_open();
    for (int i = 0; i < 6; i++)
        for (int wide = 0; wide < 2; wide++)
            bench_add(&bench,
                      (KernelSpec){ops[i], wide ? DT_f64 : DT_f32, DT_bool, wide ? 0 : 8, 0});
    bench_compile(&bench);
    for (int k = 0; k < 12; k++) {
        DType dtype = k % 2 ? DT_f64 : DT_f32;
        fill_special(dtype, a, b);
        bench_kernel(&bench, k)(a, b, out, BLOCK);
        check_compare(ops[k / 2], dtype, a, b, out);
    }
    bench_close(&bench);
}

static Wide exact_unary(Op op, Wide x) {
    if (op == OP_neg) return -x;
    if (op == OP_abs) return fabsl(x);
    return isnan(x) || x == 0 ? x : copysignl(1, x);
}

static void test_signs(void) {
    static double a[BLOCK], b[BLOCK], out[BLOCK];
    static const Op ops[] = {OP_neg, OP_abs, OP_sign, OP_select};
    Bench bench = bench_open();
    for (int i = 0; i < 4; i++) {
        bench_add(&bench, (KernelSpec){ops[i], DT_f32, DT_f32, 8, 0});
        bench_add(&bench, (KernelSpec){ops[i], DT_f64, DT_f64, 16, 0});
    }
    bench_compile(&bench);
    for (int k = 0; k < 8; k++) {
        DType dtype = k % 2 ? DT_f64 : DT_f32;
        fill_special(dtype, a, b);
        bench_kernel(&bench, k)(a, b, out, BLOCK);
        int wrong = 0;
        for (int i = 0; i < BLOCK; i++) {
            Wide x = load_value(dtype, a, i), y = load_value(dtype, b, i);
            Wide want = ops[k / 2] == OP_select ? (x != 0 ? y : x) : exact_unary(ops[k / 2], x);
            wrong += !same_value(load_value(dtype, out, i), want);
        }
        CHECK_INT(wrong, 0);
    }
    bench_close(&bench);
}

int main(void) {
    RUN(test_f32);
    RUN(test_f64);
    RUN(test_small);
    RUN(test_compare);
    RUN(test_signs);
    return test_done();
}
