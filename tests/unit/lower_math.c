// The functions of floats, compiled and run here, against libm in a wider format.
//
// f32 is compared with double, f64 with long double; f16, bf16 and f8 are run over all their
// values. Errors are in units in the last place of the result; the bounds are those of math.def,
// which may not exceed the op table's.
#include "tests/unit/lower_math.h"
#include "tests/unit/lower_math_values.h"

typedef struct Function {
    Op op;
    double (*reference)(double);
    Wide (*wide)(Wide);
} Function;

static double rsqrt_double(double x) { return 1 / sqrt(x); }
static Wide rsqrt_wide(Wide x) { return 1 / sqrtl(x); }

static const Function functions[] = {
    {OP_sqrt, sqrt, sqrtl},
    {OP_rsqrt, rsqrt_double, rsqrt_wide},
    {OP_exp, exp, expl},
    {OP_exp2, exp2, exp2l},
    {OP_expm1, expm1, expm1l},
    {OP_log, log, logl},
    {OP_log2, log2, log2l},
    {OP_log1p, log1p, log1pl},
    {OP_sin, sin, sinl},
    {OP_cos, cos, cosl},
    {OP_tan, tan, tanl},
    {OP_atan, atan, atanl},
    {OP_tanh, tanh, tanhl},
    {OP_erf, erf, erfl},
    {OP_erfc, erfc, erfcl},
    {OP_floor, floor, floorl},
    {OP_ceil, ceil, ceill},
    {OP_trunc, trunc, truncl},
    {OP_round, nearbyint, nearbyintl},
    {OP_abs, fabs, fabsl},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void report(Op op, DType dtype, double worst, Wide at, double bound) {
    if (getenv("TCC_TEST_SHOW"))
        printf("    %-6s %-6s %.3f ulp at %.21Lg\n", op_info(op)->name, dtype_name(dtype), worst,
               at);
    if (!test_check(worst <= bound, __FILE__, __LINE__, "the error is within its bound"))
        printf("    %s of %s: %.3f ulp at %.21Lg (%La)\n", op_info(op)->name, dtype_name(dtype),
               worst, at, at);
}

static bool may_vanish(Op op) { return op == OP_exp || op == OP_exp2 || op == OP_erfc; }

// ---- f32 and f64 -------------------------------------------------------------------------------

enum { BLOCK = 4096 };

// What a sample is made of: bit patterns spread over all floats, or numbers spread over [-span,
// span].
typedef struct Sample {
    double span; // 0: bit patterns
    int blocks;
} Sample;

static const double special[] = {
    0.0,
    -0.0,
    0x1p-149,
    -0x1p-149,
    0x1.fffffcp-127,
    0x1p-126,
    -0x1p-126,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1p-24,
    -0x1p-24,
    0x1p-25,
    0.25,
    0.5,
    -0.5,
    1,
    -1,
    2,
    -2,
    0.4142135623730950488,
    2.414213562373095,
    0x1.fffffep-1,
    0x1.000002p0,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    0x1.6a09e6p-1,
    0x1.6a09e8p-1,
    1.5,
    2.5,
    -2.5,
    0.49999997,
    8388607.5,
    8388608,
    4503599627370495.5,
    0x1p31,
    0x1p32,
    0x1p63,
    88.722831,
    88.722839,
    88.722847,
    -87.336540,
    -87.33655,
    -103.97,
    709.782712893384,
    709.7827128933841,
    -708.3964185322641,
    -708.3964185322642,
    127.99999,
    128,
    -126,
    -126.00001,
    1023.9999999999999,
    1024,
    -1022,
    -1023,
    9.19,
    9.2,
    10.1,
    26.5,
    27.3,
    -17.5,
    -18,
    -38,
    -40,
    3.92,
    3.95,
    5.9,
    6.0,
    0x1.921fb6p0,
    0x1.921fb54442d18p0,
    0x1.921fb6p1,
    0x1.6cbe44p79,
    16367173 * 0x1p72,
    6381956970095103 * 0x1p797,
    0x1.fffffep127,
    -0x1.fffffep127,
    0x1.fffffffffffffp1023,
    (double)INFINITY,
    -(double)INFINITY,
    (double)NAN,
    -(double)NAN,
};
enum { SPECIALS = sizeof special / sizeof *special };

static double draw(const Sample *s, DType dtype, uint64_t *state, int i) {
    uint64_t bits = bench_random(state);
    if (s->span > 0) return ((double)(bits >> 11) * 0x1p-52 - 1) * s->span;
    if (i < SPECIALS) return special[i];
    uint32_t half = (uint32_t)(bits >> 32);
    float f;
    double d;
    memcpy(&f, &half, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return dtype == DT_f64 ? d : (double)f;
}

static void store_real(DType dtype, void *array, int i, double value) {
    if (dtype == DT_f64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

typedef struct Worst {
    double error;
    Wide at;
} Worst;

// The zero's sign of an odd function of -0, the overflow of the exponentials, exactly.
static bool exactly_right(Op op, DType dtype, double got, Wide want, Wide x) {
    if (want == 0 && got == 0 && x == 0) return !signbit(got) == !signbit(want);
    if (op != OP_exp && op != OP_exp2 && op != OP_expm1) return true;
    double rounded = dtype == DT_f64 ? (double)want : (double)(float)want;
    return isinf(rounded) == isinf(got);
}

static void measure(const Function *f, DType dtype, const void *in, const void *out, int count,
                    Worst *worst) {
    double least = dtype_info(dtype)->least;
    for (int i = 0; i < count; i++) {
        double x = (double)load_value(dtype, in, i), got = (double)load_value(dtype, out, i);
        Wide want = dtype == DT_f64 ? f->wide(x) : (Wide)f->reference(x);
        double error = ulps(dtype, got, want);
        if (may_vanish(f->op) && got == 0 && fabsl(want) < least) error = 0;
        if (!exactly_right(f->op, dtype, got, want, x)) error = HUGE_VAL;
        if (error > worst->error) *worst = (Worst){error, x};
    }
}

typedef struct Forms {
    Kernel scalar, narrow, wide; // 0, 8 and 16 lanes
} Forms;

static void run_forms(const Forms *k, const void *in, size_t bytes, void *out, void *other) {
    k->narrow(in, in, out, BLOCK);
    k->scalar(in, in, other, BLOCK);
    CHECK(memcmp(out, other, bytes) == 0);
    k->wide(in, in, other, BLOCK);
    CHECK(memcmp(out, other, bytes) == 0);
}

static void check_function(const Function *f, DType dtype, const Forms *k, const Sample *samples,
                           int count) {
    static double in[BLOCK], out[BLOCK], other[BLOCK];
    Worst worst = {0, 0};
    uint64_t state = 1;
    for (int s = 0; s < count; s++) {
        for (int block = 0; block < samples[s].blocks; block++) {
            for (int i = 0; i < BLOCK; i++)
                store_real(dtype, in, i, draw(&samples[s], dtype, &state, block ? BLOCK : i));
            size_t bytes = BLOCK * (dtype == DT_f64 ? sizeof(double) : sizeof(float));
            if (block < 4)
                run_forms(k, in, bytes, out, other);
            else
                k->narrow(in, in, out, BLOCK);
            measure(f, dtype, in, out, BLOCK, &worst);
        }
    }
    double bound = bound_of(f->op, dtype);
    CHECK(bound <= (op_info(f->op)->ulp > 0.5 ? op_info(f->op)->ulp : 0.5));
    report(f->op, dtype, worst.error, worst.at, bound);
}

static void check_real(DType dtype, const Sample *samples, int count) {
    Bench b = bench_open();
    for (int i = 0; i < FUNCTIONS; i++)
        for (unsigned lanes = 0; lanes <= 16; lanes += 8)
            bench_add(&b, (KernelSpec){functions[i].op, dtype, dtype, lanes, MATH_F16C});
    bench_compile(&b);
    for (int i = 0; i < FUNCTIONS; i++) {
        Forms forms = {bench_kernel(&b, 3 * i), bench_kernel(&b, 3 * i + 1),
                       bench_kernel(&b, 3 * i + 2)};
        check_function(&functions[i], dtype, &forms, samples, count);
    }
    bench_close(&b);
}

static void test_f32(void) {
    int times = test_long() ? 64 : 1;
    const Sample samples[] = {
        {0, 192 * times}, {1.2, 24 * times}, {12, 24 * times}, {110, 24 * times}, {1e6, 8 * times}};
    check_real(DT_f32, samples, 5);
}

static void test_f64(void) {
    int times = test_long() ? 64 : 1;
    const Sample samples[] = {
        {0, 12 * times}, {1.2, 4 * times}, {12, 4 * times}, {750, 4 * times}, {1e9, 2 * times}};
    check_real(DT_f64, samples, 5);
}

// ---- small floats ------------------------------------------------------------------------------

// Beyond half a unit, what the error of f32 can shift across a tie.
static double small_error(DType dtype, Op op, Wide got, Wide want) {
    if (may_vanish(op) && got == 0 && fabsl(want) < 0x1p-126L) return 0;
    double allowance = 2 * bound_of(op, DT_f32) * ldexp(1, (int)dtype_info(dtype)->precision - 24);
    return ulps(dtype, got, want) - allowance;
}

static void check_small(const Function *f, DType dtype, Kernel native, Kernel by_bits) {
    static uint8_t in[2 * 65536], out[2 * 65536], other[2 * 65536];
    unsigned count = 1u << dtype_info(dtype)->bits;
    for (unsigned i = 0; i < count; i++) store_bits(dtype, in, i, i);
    native(in, in, out, count);
    by_bits(in, in, other, count);
    Worst worst = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        Wide x = load_value(dtype, in, i), got = load_value(dtype, out, i);
        double error = small_error(dtype, f->op, got, f->reference((double)x));
        if (!same_value(got, load_value(dtype, other, i))) error = HUGE_VAL;
        if (error > worst.error) worst = (Worst){error, x};
    }
    report(f->op, dtype, worst.error, worst.at, 0.5);
}

static void test_small(void) {
    static const DType dtypes[] = {DT_f16, DT_bf16, DT_f8e4m3, DT_f8e5m2};
    Bench b = bench_open();
    for (int i = 0; i < FUNCTIONS; i++)
        for (int d = 0; d < 4; d++)
            for (unsigned features = 0; features <= MATH_F16C; features++)
                bench_add(&b, (KernelSpec){functions[i].op, dtypes[d], dtypes[d], features ? 8 : 16,
                                           features});
    bench_compile(&b);
    for (int i = 0; i < FUNCTIONS; i++)
        for (int d = 0; d < 4; d++)
            check_small(&functions[i], dtypes[d], bench_kernel(&b, 8 * i + 2 * d + 1),
                        bench_kernel(&b, 8 * i + 2 * d));
    bench_close(&b);
}

// Where exp is told that its operands are at most 0: as good as without.
static void check_nonpositive(Bench *b, int number, DType dtype, double span) {
    static const double ends[] = {0.0, -0.0, 1e-6, -1e-30, -(double)INFINITY, (double)NAN};
    static double in[BLOCK], out[BLOCK];
    const Function exponential = {OP_exp, exp, expl};
    Worst worst = {0, 0};
    uint64_t state = 2;
    for (int block = 0; block < 40; block++) {
        for (int i = 0; i < BLOCK; i++) {
            double x = -(double)(bench_random(&state) >> 11) * 0x1p-53 * (block % 2 ? span : 1);
            bool is_end = block == 0 && i < (int)(sizeof ends / sizeof *ends);
            store_real(dtype, in, i, is_end ? ends[i] : x);
        }
        bench_kernel(b, number)(in, in, out, BLOCK);
        measure(&exponential, dtype, in, out, BLOCK, &worst);
        if (block == 0) CHECK(load_value(dtype, out, 0) == 1 && load_value(dtype, out, 4) == 0);
    }
    report(OP_exp, dtype, worst.error, worst.at, bound_of(OP_exp, dtype));
}

static void test_nonpositive(void) {
    Bench b = bench_open();
    bench_add(&b, (KernelSpec){OP_exp, DT_f32, DT_f32, 8, BENCH_NONPOSITIVE});
    bench_add(&b, (KernelSpec){OP_exp, DT_f64, DT_f64, 8, BENCH_NONPOSITIVE});
    bench_compile(&b);
    check_nonpositive(&b, 0, DT_f32, 110);
    check_nonpositive(&b, 1, DT_f64, 760);
    bench_close(&b);
}

int main(void) {
    RUN(test_f32);
    RUN(test_f64);
    RUN(test_small);
    RUN(test_nonpositive);
    return test_done();
}
