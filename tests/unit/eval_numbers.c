// Conversions of numbers and access to tensors: every pattern of the 8- and 16-bit formats, every
// midpoint between neighbours, saturation, wrapping, packing of 4-bit values.
#include "ir/tensor.h"
#include "tests/unit/test.h"

typedef struct Format {
    DType dtype;
    unsigned patterns; // of positive numbers, zero included, infinity and NaN not
} Format;

static const Format formats[] = {
    {DT_f8e4m3, 0x7f}, {DT_f8e5m2, 0x7c}, {DT_f16, 0x7c00}, {DT_bf16, 0x7f80}};

static uint64_t sign_bit(DType dtype) { return UINT64_C(1) << (dtype_info(dtype)->bits - 1); }

// Every number comes back as its own bits, of both signs.
static void test_patterns(void) {
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        DType dtype = formats[f].dtype;
        int wrong = 0;
        for (uint64_t bits = 0; bits < formats[f].patterns; bits++) {
            uint64_t minus = bits | sign_bit(dtype);
            double v = number_from_bits(dtype, bits);
            wrong += number_to_bits(dtype, v) != bits || number_round(dtype, v) != v;
            wrong += number_to_bits(dtype, -v) != minus || number_from_bits(dtype, minus) != -v;
        }
        CHECK_INT(wrong, 0);
        for (uint64_t bits = formats[f].patterns; bits < sign_bit(dtype); bits++) {
            double v = number_from_bits(dtype, bits);
            CHECK(isnan(v) || (isinf(v) && bits == formats[f].patterns));
            CHECK(number_to_bits(dtype, v) == bits || isnan(v));
        }
        CHECK(isnan(number_from_bits(dtype, number_to_bits(dtype, (double)NAN))));
    }
}

// Midpoints go to the even pattern, what lies beside them to the nearer number.
static void test_midpoints(void) {
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        DType dtype = formats[f].dtype;
        int wrong = 0;
        for (uint64_t bits = 0; bits + 1 < formats[f].patterns; bits++) {
            double a = number_from_bits(dtype, bits), b = number_from_bits(dtype, bits + 1);
            double middle = a + (b - a) / 2;
            wrong += number_to_bits(dtype, middle) != bits + (bits & 1);
            wrong += number_to_bits(dtype, nextafter(middle, 0)) != bits;
            wrong += number_to_bits(dtype, nextafter(middle, b)) != bits + 1;
            wrong += number_ulp(dtype, a) != b - a;
        }
        CHECK_INT(wrong, 0);
    }
}

static void test_overflow(void) {
    CHECK_INT(number_to_bits(DT_f8e4m3, 1e9), 0x7e);
    CHECK_INT(number_to_bits(DT_f8e4m3, -(double)INFINITY), 0xfe);
    CHECK_INT(number_to_bits(DT_f8e5m2, 61439), 0x7b);
    CHECK_INT(number_to_bits(DT_f8e5m2, 61440), 0x7c);
    CHECK_INT(number_to_bits(DT_f16, 65519), 0x7bff);
    CHECK_INT(number_to_bits(DT_f16, -65520), 0xfc00);
    CHECK(isinf(number_round(DT_f32, 3.5e38)));
    CHECK(!isinf(number_round(DT_f32, 3.4028235e38)));
    CHECK_NEAR(number_ulp(DT_f32, 1), 0x1p-23, 0);
    CHECK_NEAR(number_ulp(DT_f32, 0), 0x1p-149, 0);
    CHECK_NEAR(number_ulp(DT_f64, 0), 0x1p-1074, 0);
    CHECK_NEAR(number_ulp(DT_f64, -1.5), 0x1p-52, 0);
}

static void test_to_int(void) {
    const double inf = (double)INFINITY;
    CHECK_INT(number_to_int(DT_i8, -200), -128);
    CHECK_INT(number_to_int(DT_i8, 127.9), 127);
    CHECK_INT(number_to_int(DT_u8, -1), 0);
    CHECK_INT(number_to_int(DT_i4, 9), 7);
    CHECK_INT(number_to_int(DT_u4, 99), 15);
    CHECK_INT(number_to_int(DT_i64, inf), INT64_MAX);
    CHECK_INT(number_to_int(DT_i64, -1e30), INT64_MIN);
    CHECK_INT(number_to_int(DT_u64, 1e30), -1);
    CHECK_INT(number_to_int(DT_u64, 0x1p63), INT64_MIN);
    CHECK_INT(number_to_int(DT_u64, -0.5), 0);
    CHECK_INT(number_to_int(DT_i32, (double)NAN), 0);
    CHECK_INT(number_to_int(DT_bool, (double)NAN), 1);
    CHECK_INT(number_to_int(DT_bool, -0.0), 0);
    CHECK_INT(number_wrap(DT_i4, 8), -8);
    CHECK_INT(number_wrap(DT_u4, -1), 15);
    CHECK_INT(number_wrap(DT_u16, 65537), 1);
    CHECK_INT(number_wrap(DT_bool, 256), 1);
}

// Rounded once: a double between would round twice.
static void test_from_int(void) {
    int64_t tie_and_a_bit = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1;
    CHECK_NEAR(number_round_int(DT_f32, tie_and_a_bit, false), 0x1p62 + 0x1p39, 0);
    CHECK_NEAR(number_round_int(DT_f32, tie_and_a_bit - 1, false), 0x1p62, 0);
    CHECK_NEAR(number_round_int(DT_f64, INT64_MAX, false), 0x1p63, 0);
    CHECK_NEAR(number_round_int(DT_f64, -1, true), 0x1p64, 0);
    CHECK_NEAR(number_round_int(DT_bf16, INT64_MIN, false), -0x1p63, 0);
    CHECK_NEAR(number_round_int(DT_f16, 65520, false), (double)INFINITY, 0);
    CHECK_NEAR(number_round_int(DT_f8e4m3, -1000, false), -448, 0);
}

// Low nibble first, across rows, the last nibble 0.
static void test_nibbles(void) {
    unsigned char bytes[5] = {0};
    Tensor t = {DT_i4, 2, {3, 3}, bytes};
    CHECK_INT(tensor_bytes(&t), 5);
    for (int64_t i = 0; i < 9; i++) tensor_set_int(&t, i, i - 4);
    CHECK_MEM(bytes, "\xdc\xfe\x10\x32\x04", 5);
    for (int64_t i = 0; i < 9; i++) CHECK_INT(tensor_get_int(&t, i), i - 4);
    tensor_set(&t, 1, 100.5);
    CHECK_MEM(bytes, "\x7c\xfe\x10\x32\x04", 5);
    t.dtype = DT_u4;
    CHECK_NEAR(tensor_get(&t, 0), 12, 0);
}

// Every dtype: what is stored is loaded, at addresses of any alignment.
static void test_access(void) {
    unsigned char memory[80];
    for (int d = 0; d < DT_count; d++) {
        Tensor t = {(DType)d, 1, {8}, memory + 1};
        double values[8] = {0, 1, 1, 0, 1, 0, 0, 1}, back[8];
        int64_t wholes[8];
        memset(memory, 0xa5, sizeof memory);
        tensor_store(&t, 0, 8, values);
        tensor_load(&t, 0, 8, back);
        tensor_load_ints(&t, 1, 7, wholes);
        CHECK_MEM(back, values, sizeof back);
        for (int i = 0; i < 7; i++) CHECK_INT(wholes[i], values[i + 1]);
        size_t size = tensor_bytes(&t);
        CHECK(memory[0] == 0xa5 && memory[size + 1] == 0xa5);
        tensor_store_ints(&t, 2, 3, (int64_t[]){1, 0, 1});
        CHECK_NEAR(tensor_get(&t, 2) + tensor_get(&t, 3) + tensor_get(&t, 4), 2, 0);
        CHECK_NEAR(tensor_get(&t, 1) + tensor_get(&t, 5), 1, 0);
    }
}

int main(void) {
    RUN(test_patterns);
    RUN(test_midpoints);
    RUN(test_overflow);
    RUN(test_to_int);
    RUN(test_from_int);
    RUN(test_nibbles);
    RUN(test_access);
    return test_done();
}
