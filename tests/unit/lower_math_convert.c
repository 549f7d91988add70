// Casts between all pairs of dtypes, compiled and run here: all values of 8 and 16 bits; for the
// others samples with the edges of every target, and numbers at and next to the middle between
// neighbours of every float format.
#include "tests/unit/lower_math.h"
#include "tests/unit/lower_math_values.h"

enum { COUNT = 65536 };

static uint64_t cast_to_int(DType to, Wide x) {
    const DTypeInfo *info = dtype_info(to);
    if (isnan(x)) return 0;
    Wide least = info->least, end = ldexpl(1, (int)info->bits - dtype_is_signed(to));
    if (x < least) x = least;
    if (x >= end)
        return dtype_is_signed(to) ? ((uint64_t)1 << (info->bits - 1)) - 1
                                   : UINT64_MAX >> (64 - info->bits);
    return dtype_is_signed(to) ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static bool cast_agrees(DType from, DType to, const void *in, const void *out, int i) {
    Wide x = load_value(from, in, i);
    if (dtype_is_float(to)) return same_value(load_value(to, out, i), round_value(to, x));
    uint64_t got = load_bits(to, out, i), want;
    if (to == DT_bool) return got == (isnan(x) || x != 0);
    want = dtype_is_float(from) ? cast_to_int(to, x) : load_bits(from, in, i);
    if (!dtype_is_float(from)) want = (uint64_t)wrap_bits(from, want);
    unsigned spare = 64 - 8 * storage_bytes(to);
    return got << spare == (uint64_t)wrap_bits(to, want) << spare;
}

// A number at the middle of two neighbours of a float format, or nearly there.
static Wide near_middle(uint64_t random) {
    static const DType formats[] = {DT_f8e4m3, DT_f8e5m2, DT_f16, DT_bf16, DT_f32};
    DType format = formats[random % 5];
    int precision = (int)dtype_info(format)->precision;
    int span = ilogb(dtype_info(format)->most) - least_exponent(format) + precision + 2;
    int exponent = least_exponent(format) - precision + (int)(random >> 8) % span;
    Wide odd = (Wide)(random >> 32 & ((1u << precision) - 1)) * 2 + 1;
    Wide middle = ldexpl(odd, exponent - precision);
    int nudge = (int)(random >> 3 & 3);
    Wide factor = nudge == 0 ? 0 : ldexpl(1, nudge == 1 ? -23 : nudge == 2 ? -40 : -52);
    middle *= random >> 5 & 1 ? 1 + factor : 1 - factor;
    return random >> 6 & 1 ? -middle : middle;
}

// An integer bound of some dtype, a little off.
static Wide near_bound(uint64_t random) {
    Wide bound = ldexpl(1, (int)(random & 63) + 1) + (Wide)((int)(random >> 8 & 7) - 4) / 4;
    return random >> 16 & 1 ? -bound : bound;
}

static void draw_float(DType from, void *in, int i, uint64_t random, uint64_t more) {
    if (i % 4 == 0) {
        store_bits(from, in, i, random);
        return;
    }
    Wide x = i % 4 == 1 ? near_bound(random) : near_middle(random);
    if (i % 32 == 3) x = ldexpl((Wide)(int64_t)more, (int)(random & 63) - 60);
    double d = (double)x;
    float f = (float)x;
    if (from == DT_f64)
        memcpy((char *)in + 8 * i, &d, 8);
    else
        memcpy((char *)in + 4 * i, &f, 4);
}

// Sums of two powers of two and a little, or random bits of a random length.
static uint64_t draw_int(uint64_t random, uint64_t more) {
    uint64_t value = ((uint64_t)1 << (random & 63)) + ((uint64_t)1 << (random >> 6 & 63)) +
                     (random >> 12 & 3) - 1;
    if (random >> 14 & 1) value = more >> (random & 63);
    if (random >> 15 & 1) value |= (uint64_t)1 << (random >> 16 & 63);
    return random >> 22 & 1 ? ~value : value;
}

static void fill(DType from, void *in) {
    uint64_t state = 5;
    for (int i = 0; i < COUNT; i++) {
        uint64_t random = bench_random(&state), more = bench_random(&state);
        if (from == DT_f32 || from == DT_f64)
            draw_float(from, in, i, random, more);
        else if (is_small_float(from))
            store_bits(from, in, i, (uint64_t)i);
        else if (dtype_info(from)->bits <= 16)
            store_bits(from, in, i, (uint64_t)wrap_bits(from, (uint64_t)i));
        else
            store_bits(from, in, i, draw_int(random, more));
    }
}

static void check_cast(DType from, DType to, const void *in, const void *out) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        if (cast_agrees(from, to, in, out, i)) continue;
        if (wrong++ < 3)
            printf("    %s to %s: %La (bits %llx) gives bits %llx\n", dtype_name(from),
                   dtype_name(to), load_value(from, in, i),
                   (unsigned long long)load_bits(from, in, i),
                   (unsigned long long)load_bits(to, out, i));
    }
    CHECK_INT(wrong, 0);
}

static const struct {
    unsigned lanes, features;
} forms[] = {{0, 0}, {0, MATH_F16C}, {8, MATH_F16C}, {16, 0}};
enum { FORMS = sizeof forms / sizeof *forms };

// A form that gives the bits of the form before is right if that is.
static void check_forms(DType from, DType to, const void *in, Bench *bench, int first) {
    static uint64_t out[COUNT], before[COUNT];
    size_t bytes = COUNT * storage_bytes(to);
    for (int form = 0; form < FORMS; form++) {
        bench_kernel(bench, first + form)(in, in, out, COUNT);
        if (form == 0 || memcmp(out, before, bytes) != 0) check_cast(from, to, in, out);
        memcpy(before, out, bytes);
    }
}

static void check_casts_from(DType from) {
    static uint64_t in[COUNT];
    Bench bench = bench_open();
    for (int to = 0; to < DT_count; to++)
        for (int form = 0; form < FORMS; form++)
            bench_add(&bench, (KernelSpec){OP_cast, from, (DType)to, forms[form].lanes,
                                           forms[form].features});
    bench_compile(&bench);
    fill(from, in);
    for (int to = 0; to < DT_count; to++) check_forms(from, (DType)to, in, &bench, to * FORMS);
    bench_close(&bench);
}

static void test_ints(void) {
    for (int from = 0; from < DT_count; from++)
        if (!dtype_is_float((DType)from)) check_casts_from((DType)from);
}

static void test_floats(void) {
    for (int from = 0; from < DT_count; from++)
        if (dtype_is_float((DType)from)) check_casts_from((DType)from);
}

// What the casts are compared with, at numbers that the formats name.
static void test_definition(void) {
    CHECK(small_value(DT_f8e4m3, 0x7e) == 448);
    CHECK(isnan(small_value(DT_f8e4m3, 0xff)));
    CHECK(small_value(DT_f8e5m2, 0x7b) == 57344);
    CHECK(isinf(small_value(DT_f8e5m2, 0x7c)));
    CHECK(small_value(DT_f16, 0x3c01) == 1 + 0x1p-10L);
    CHECK(small_value(DT_bf16, 0x0001) == 0x1p-133L);
    CHECK(small_round(DT_f16, 65520) == HUGE_VALL);
    CHECK(small_round(DT_f16, 65519) == 65504);
    CHECK(small_round(DT_f8e4m3, 1e9L) == 448);
}

int main(void) {
    RUN(test_definition);
    RUN(test_ints);
    RUN(test_floats);
    return test_done();
}
