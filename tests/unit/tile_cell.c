// The numbers of the tile interpreter: memory forms, rounding, casts and elementwise ops.
#include "test.h"

#include "codegen/tile/cell.h"

static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double load_bits(DType dtype, uint64_t bits) { return cell_load(dtype, &bits, 0).f; }

static uint64_t store_bits(DType dtype, double value) {
    uint64_t bits = 0;
    cell_store(dtype, &bits, 0, (TileCell){.f = value});
    return bits;
}

// Every pattern of the small floats that is a number reads and writes as itself.
static void test_all_small_floats(void) {
    static const DType dtypes[] = {DT_f8e4m3, DT_f8e5m2, DT_f16, DT_bf16};
    for (size_t d = 0; d < 4; d++) {
        uint64_t count = 1ull << dtype_info(dtypes[d])->bits;
        for (uint64_t bits = 0; bits < count; bits++) {
            double value = load_bits(dtypes[d], bits);
            if (isnan(value)) continue;
            if (!(store_bits(dtypes[d], value) == bits))
                CHECK_INT(store_bits(dtypes[d], value), bits);
            if (!(cell_round(dtypes[d], (long double)value) == value))
                CHECK(!"rounds a number away");
        }
        CHECK(isnan(load_bits(dtypes[d], store_bits(dtypes[d], NAN))));
    }
    CHECK_INT(store_bits(DT_f8e4m3, NAN) & 0x7f, 0x7f);
}

// bf16 is the upper half of f32, and gcc knows f16.
static void test_formats(void) {
    for (uint32_t bits = 0; bits < 0x10000; bits += 3) {
        uint32_t word = bits << 16;
        float value;
        memcpy(&value, &word, sizeof value);
        if (!isnan(value)) CHECK(load_bits(DT_bf16, bits) == (double)value);
    }
    static const struct {
        DType dtype;
        uint64_t bits;
        double value;
    } cases[] = {
        {DT_f16, 0x3c00, 1},         {DT_f16, 0x0001, 0x1p-24},     {DT_f16, 0x03ff, 0x1.ff8p-15},
        {DT_f16, 0x0400, 0x1p-14},   {DT_f16, 0x7bff, 65504},       {DT_f16, 0x7c00, INFINITY},
        {DT_f16, 0x8000, -0.0},      {DT_f16, 0xc400, -4},          {DT_f8e4m3, 0x01, 0x1p-9},
        {DT_f8e4m3, 0x08, 0x1p-6},   {DT_f8e4m3, 0x38, 1},          {DT_f8e4m3, 0x7e, 448},
        {DT_f8e4m3, 0xb8, -1},       {DT_f8e5m2, 0x01, 0x1p-16},    {DT_f8e5m2, 0x04, 0x1p-14},
        {DT_f8e5m2, 0x3c, 1},        {DT_f8e5m2, 0x7b, 57344},      {DT_f8e5m2, 0xfc, -INFINITY},
        {DT_bf16, 0x0001, 0x1p-133}, {DT_bf16, 0x7f7f, 0x1.fep127},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(load_bits(cases[i].dtype, cases[i].bits) == cases[i].value);
        CHECK_INT(store_bits(cases[i].dtype, cases[i].value), cases[i].bits);
    }
}

static void test_rounding(void) {
    static const struct {
        DType dtype;
        long double value;
        double want;
    } cases[] = {
        {DT_f16, 2049, 2048},
        {DT_f16, 2051, 2052},
        {DT_f16, 65519.999, 65504},
        {DT_f16, 65520, INFINITY},
        {DT_f16, 0x1p-25L, 0},
        {DT_f16, 0x1.8p-25L, 0x1p-24},
        {DT_f16, -0x1.8p-24L, -0x1p-23},
        {DT_bf16, 257, 256},
        {DT_bf16, 259, 260},
        {DT_bf16, 0x1.ffp127L, INFINITY},
        {DT_f8e4m3, 464, 448},
        {DT_f8e4m3, 1e30L, 448},
        {DT_f8e4m3, -INFINITY, -448},
        {DT_f8e4m3, 17, 16},
        {DT_f8e4m3, 19, 20},
        {DT_f8e4m3, 0x1p-10L, 0},
        {DT_f8e5m2, 61440, INFINITY},
        {DT_f8e5m2, 61439, 57344},
        {DT_f8e5m2, 9, 8},
        {DT_f8e5m2, 11, 12},
        {DT_f32, 0x1.000001p0L, 1},
        {DT_f32, 0x1.0000010001p0L, 0x1.000002p0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(cell_round(cases[i].dtype, cases[i].value) == cases[i].want);
    CHECK(signbit(cell_round(DT_f16, -0x1p-30L)));
}

static int64_t cast_float(double value, DType to) {
    return cell_cast(DT_f64, to, (TileCell){.f = value}).i;
}

static double cast_int(DType from, int64_t value, DType to) {
    return cell_cast(from, to, (TileCell){.i = value}).f;
}

static void test_casts(void) {
    CHECK_INT(cast_float(-1.9, DT_i8), -1);
    CHECK_INT(cast_float(1000, DT_i8), 127);
    CHECK_INT(cast_float(-1000, DT_i8), -128);
    CHECK_INT(cast_float(-1000, DT_u8), 0);
    CHECK_INT(cast_float(7.5, DT_i4), 7);
    CHECK_INT(cast_float(9, DT_i4), 7);
    CHECK_INT(cast_float(99, DT_u4), 15);
    CHECK_INT(cast_float(NAN, DT_i32), 0);
    CHECK_INT(cast_float(INFINITY, DT_i64), INT64_MAX);
    CHECK_INT(cast_float(-INFINITY, DT_i64), INT64_MIN);
    CHECK_INT(cast_float(0x1p63, DT_i64), INT64_MAX);
    CHECK_INT(cast_float(0x1p63, DT_u64), INT64_MIN);
    CHECK_INT(cast_float(INFINITY, DT_u64), -1);
    CHECK_INT(cast_float(NAN, DT_bool), 1);
    CHECK_INT(cast_float(-0.0, DT_bool), 0);
    CHECK_INT(cell_cast(DT_i64, DT_i8, (TileCell){.i = 0x1ff}).i, -1);
    CHECK_INT(cell_cast(DT_i64, DT_u8, (TileCell){.i = -1}).i, 255);
    CHECK_INT(cell_cast(DT_i8, DT_u32, (TileCell){.i = -1}).i, 0xffffffff);
    CHECK_INT(cell_cast(DT_i64, DT_i4, (TileCell){.i = 0x9}).i, -7);
    CHECK_INT(cell_cast(DT_i64, DT_bool, (TileCell){.i = 256}).i, 1);
    CHECK(cast_int(DT_u64, -1, DT_f64) == 0x1p64);
    CHECK(cast_int(DT_i64, -1, DT_f32) == -1);
    CHECK(cast_int(DT_i64, (1ll << 62) + (1ll << 54) + 1, DT_bf16) == 0x1.02p62);
    CHECK(cast_int(DT_i64, 0x1000001000000001, DT_f32) == 0x1.000002p60);
    CHECK(cast_int(DT_bool, 1, DT_f16) == 1);
    // directly, not by way of f32: the f32 nearest to it is a tie
    CHECK(cell_cast(DT_f64, DT_f16, (TileCell){.f = 0x1.0020000001p0}).f == 0x1.004p0);
}

static void test_packed(void) {
    uint8_t bytes[2] = {0, 0};
    for (int i = 0; i < 4; i++) cell_store(DT_i4, bytes, i, (TileCell){.i = i - 2});
    CHECK_MEM(bytes, ((uint8_t[]){0xfe, 0x10}), 2);
    for (int i = 0; i < 4; i++) CHECK_INT(cell_load(DT_i4, bytes, i).i, i - 2);
    CHECK_INT(cell_load(DT_u4, bytes, 0).i, 14);
}

static int64_t int_op(Op op, DType dtype, int64_t x, int64_t y) {
    TileCell out = {.i = -99};
    CHECK(cell_apply(op, dtype, (TileCell[]){{.i = x}, {.i = y}}, &out));
    return out.i;
}

static void test_ints(void) {
    static const struct {
        Op op;
        DType dtype;
        int64_t x, y, want;
    } cases[] = {
        {OP_add, DT_i8, 127, 1, -128},
        {OP_sub, DT_u8, 0, 1, 255},
        {OP_mul, DT_i16, 300, 300, 24464},
        {OP_add, DT_i64, INT64_MAX, 1, INT64_MIN},
        {OP_div, DT_i32, -7, 2, -3},
        {OP_div, DT_i32, 7, 0, 0},
        {OP_div, DT_i8, -128, -1, -128},
        {OP_div, DT_i64, INT64_MIN, -1, INT64_MIN},
        {OP_div, DT_u64, -1, 2, INT64_MAX},
        {OP_div, DT_u64, 7, -1, 0},
        {OP_floordiv, DT_i32, -7, 2, -4},
        {OP_floordiv, DT_i32, 7, -2, -4},
        {OP_floordiv, DT_i32, -8, 2, -4},
        {OP_floordiv, DT_i64, 5, 0, 0},
        {OP_floordiv, DT_u64, -2, 3, 0x5555555555555554},
        {OP_rem, DT_i32, -7, 2, -1},
        {OP_rem, DT_i32, 7, 0, 0},
        {OP_rem, DT_i64, INT64_MIN, -1, 0},
        {OP_rem, DT_u64, -1, 10, 5},
        {OP_mod, DT_i32, -7, 3, 2},
        {OP_mod, DT_i32, 7, -3, -2},
        {OP_mod, DT_i32, 6, -3, 0},
        {OP_mod, DT_i32, 6, 0, 0},
        {OP_mod, DT_u64, -1, -2, 1},
        {OP_pow, DT_i32, 3, 4, 81},
        {OP_pow, DT_i8, 2, 7, -128},
        {OP_pow, DT_i32, 2, -1, 0},
        {OP_pow, DT_i32, -1, -3, -1},
        {OP_pow, DT_i32, -1, -4, 1},
        {OP_pow, DT_i32, 1, -4, 1},
        {OP_pow, DT_i32, 0, 0, 1},
        {OP_pow, DT_u64, 3, 41, (int64_t)18026252303461234787u},
        {OP_min, DT_u64, -1, 1, 1},
        {OP_max, DT_u64, -1, 1, -1},
        {OP_max, DT_i64, -1, 1, 1},
        {OP_and, DT_i8, -16, 31, 16},
        {OP_or, DT_bool, 1, 0, 1},
        {OP_xor, DT_u8, 255, 15, 240},
        {OP_shl, DT_i8, 1, 7, -128},
        {OP_shl, DT_i8, 1, 8, 0},
        {OP_shl, DT_i8, 1, -1, 0},
        {OP_shr, DT_i8, -128, 3, -16},
        {OP_shr, DT_i8, -1, 100, -1},
        {OP_shr, DT_i8, 64, -5, 0},
        {OP_shr, DT_u8, 128, 3, 16},
        {OP_shr, DT_u64, -1, 63, 1},
        {OP_shr, DT_u64, -1, 64, 0},
        {OP_lt, DT_u64, -1, 1, 0},
        {OP_lt, DT_i64, -1, 1, 1},
        {OP_ge, DT_i8, 3, 3, 1},
        {OP_gt, DT_i8, 3, 3, 0},
        {OP_le, DT_u64, -1, 3, 0},
        {OP_eq, DT_u8, 3, 3, 1},
        {OP_ne, DT_bool, 1, 0, 1},
        {OP_neg, DT_i8, -128, 0, -128},
        {OP_neg, DT_u8, 1, 0, 255},
        {OP_abs, DT_i8, -128, 0, -128},
        {OP_abs, DT_u64, -1, 0, -1},
        {OP_sign, DT_i32, -9, 0, -1},
        {OP_sign, DT_u64, -9, 0, 1},
        {OP_not, DT_bool, 1, 0, 0},
        {OP_not, DT_u8, 1, 0, 254},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(int_op(cases[i].op, cases[i].dtype, cases[i].x, cases[i].y), cases[i].want);
}

static double float_op(Op op, DType dtype, double x, double y) {
    TileCell out = {.f = -99};
    CHECK(cell_apply(op, dtype, (TileCell[]){{.f = x}, {.f = y}}, &out));
    return out.f;
}

static void test_floats(void) {
    CHECK(float_op(OP_div, DT_f32, 1, 3) == (double)(1.0f / 3.0f));
    CHECK(float_op(OP_add, DT_f16, 2048, 1) == 2048);
    CHECK(float_op(OP_mul, DT_f16, 300, 300) == INFINITY);
    CHECK(float_op(OP_exp, DT_f32, 1, 0) == (double)(float)exp(1));
    CHECK(float_op(OP_rsqrt, DT_f32, 4, 0) == 0.5);
    CHECK(float_op(OP_neg, DT_f32, 4, 0) == -4);
    CHECK(float_op(OP_min, DT_f32, 4, 3) == 3 && float_op(OP_max, DT_f32, 4, 3) == 4);
    CHECK(float_op(OP_floordiv, DT_f64, -7, 2) == -4);
    CHECK(float_op(OP_floordiv, DT_f32, 1, (double)0.1F) == 9); // 0.1F is above 1/10
    CHECK(float_op(OP_floordiv, DT_f64, 1, 0.1) == 9);
    CHECK(float_op(OP_floordiv, DT_f32, -1, INFINITY) == 0);
    CHECK(float_op(OP_floordiv, DT_f32, 1, 0) == INFINITY);
    CHECK(float_op(OP_mod, DT_f64, -7, 3) == 2);
    CHECK(float_op(OP_mod, DT_f64, 7, -3) == -2);
    CHECK(float_op(OP_rem, DT_f64, -7, 3) == -1);
    CHECK(float_op(OP_round, DT_f32, 2.5, 0) == 2);
    CHECK(float_op(OP_round, DT_f32, -3.5, 0) == -4);
    CHECK(signbit(float_op(OP_sign, DT_f32, -0.0, 0)) && float_op(OP_sign, DT_f32, -0.0, 0) == 0);
    CHECK(isnan(float_op(OP_sign, DT_f32, NAN, 0)));
    CHECK(isnan(float_op(OP_max, DT_f32, NAN, 1)) && isnan(float_op(OP_min, DT_f32, 1, NAN)));
    CHECK(signbit(float_op(OP_min, DT_f32, 0.0, -0.0)) &&
          signbit(float_op(OP_min, DT_f32, -0.0, 0.0)));
    CHECK(!signbit(float_op(OP_max, DT_f32, -0.0, 0.0)) &&
          !signbit(float_op(OP_max, DT_f32, 0.0, -0.0)));
    TileCell out;
    CHECK(!cell_apply(OP_and, DT_f32, (TileCell[]){{.f = 1}, {.f = 1}}, &out));
    CHECK(!cell_apply(OP_exp, DT_i32, (TileCell[]){{.i = 1}}, &out));
    CHECK(!cell_apply(OP_gather, DT_i32, (TileCell[]){{.i = 1}, {.i = 1}}, &out));
    CHECK(cell_apply(OP_lt, DT_f32, (TileCell[]){{.f = NAN}, {.f = 1}}, &out) && out.i == 0);
    CHECK(cell_apply(OP_ge, DT_f32, (TileCell[]){{.f = NAN}, {.f = 1}}, &out) && out.i == 0);
    CHECK(cell_apply(OP_ne, DT_f32, (TileCell[]){{.f = NAN}, {.f = NAN}}, &out) && out.i == 1);
    CHECK(cell_apply(OP_select, DT_f32, (TileCell[]){{.i = 0}, {.f = 1}, {.f = 2}}, &out) &&
          out.f == 2);
}

// Addition, product, quotient and root of f32 equal the machine's, which rounds once.
static void test_f32_arithmetic(void) {
    uint32_t state = 3;
    for (int i = 0; i < 20000; i++) {
        float pair[2];
        for (int k = 0; k < 2; k++) {
            state = state * 1664525u + 1013904223u;
            uint32_t bits = state ^ state >> 13;
            memcpy(&pair[k], &bits, sizeof bits);
            if (isnan(pair[k])) pair[k] = 0.1f;
        }
        float want[4] = {pair[0] + pair[1], pair[0] * pair[1], pair[0] / pair[1],
                         sqrtf(fabsf(pair[0]))};
        float got[4] = {(float)float_op(OP_add, DT_f32, (double)pair[0], (double)pair[1]),
                        (float)float_op(OP_mul, DT_f32, (double)pair[0], (double)pair[1]),
                        (float)float_op(OP_div, DT_f32, (double)pair[0], (double)pair[1]),
                        (float)float_op(OP_sqrt, DT_f32, fabs((double)pair[0]), 0)};
        for (int k = 0; k < 4; k++)
            CHECK(float_bits(got[k]) == float_bits(want[k]) || (isnan(got[k]) && isnan(want[k])));
    }
}

static void test_multiply_add(void) {
    TileCell a = {.f = 0x1.001p0}, c = {.f = -1};
    CHECK(cell_multiply_add(DT_f32, a, a, c).f == 0x1.0008p-11);
    CHECK(cell_multiply_add(DT_f64, a, a, c).f == fma(a.f, a.f, -1));
    CHECK_INT(
        cell_multiply_add(DT_i8, (TileCell){.i = 100}, (TileCell){.i = 3}, (TileCell){.i = 1}).i,
        45);
}

static void test_units(void) {
    TileCell unit;
    CHECK(cell_unit(OP_add, DT_f32, &unit) && unit.f == 0);
    CHECK(cell_unit(OP_mul, DT_i32, &unit) && unit.i == 1);
    CHECK(cell_unit(OP_max, DT_f16, &unit) && unit.f == -INFINITY);
    CHECK(cell_unit(OP_min, DT_f8e4m3, &unit) && unit.f == 448);
    CHECK(cell_unit(OP_max, DT_i64, &unit) && unit.i == INT64_MIN);
    CHECK(cell_unit(OP_min, DT_i8, &unit) && unit.i == 127);
    CHECK(cell_unit(OP_min, DT_u64, &unit) && unit.i == -1);
    CHECK(cell_unit(OP_max, DT_bool, &unit) && unit.i == 0);
    CHECK(cell_unit(OP_min, DT_bool, &unit) && unit.i == 1);
    CHECK(cell_unit(OP_and, DT_u8, &unit) && unit.i == 255);
    CHECK(cell_unit(OP_xor, DT_u8, &unit) && unit.i == 0);
    CHECK(!cell_unit(OP_or, DT_f32, &unit) && !cell_unit(OP_and, DT_f32, &unit) &&
          !cell_unit(OP_sub, DT_f32, &unit));
}

static void test_sorting(void) {
    TileCell one = {.f = 1}, nan = {.f = NAN}, zero = {.f = 0}, minus = {.f = -0.0};
    CHECK(cell_sorts_before(DT_f32, one, nan) && !cell_sorts_before(DT_f32, nan, one));
    CHECK(!cell_sorts_before(DT_f32, nan, nan));
    CHECK(!cell_sorts_before(DT_f32, minus, zero) && !cell_sorts_before(DT_f32, zero, minus));
    CHECK(cell_sorts_before(DT_u64, (TileCell){.i = 1}, (TileCell){.i = -1}));
}

int main(void) {
    RUN(test_all_small_floats);
    RUN(test_formats);
    RUN(test_rounding);
    RUN(test_casts);
    RUN(test_packed);
    RUN(test_ints);
    RUN(test_floats);
    RUN(test_f32_arithmetic);
    RUN(test_multiply_add);
    RUN(test_units);
    RUN(test_sorting);
    return test_done();
}
