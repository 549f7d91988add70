// References of arithmetic.cu.
#include "tests/emulator/cuda/cases.h"

#define INPUTS(A, B, OUT)                                                                          \
    const A *a = run->a;                                                                           \
    const B *b = run->b;                                                                           \
    OUT *out = run->out

static void vector_add(const CudaRun *run) {
    INPUTS(float, float, float);
    for (int i = 0; i < run->n; i++) out[i] = a[i] + b[i];
}

static void saxpy_strided(const CudaRun *run) {
    INPUTS(float, float, float);
    for (int i = 0; i < run->n; i++) out[i] = (float)(2.5 * (double)a[i] + (double)b[i]);
}

static void integer_mix(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0; i < run->n; i++, out += 8) {
        int64_t x = a[i], y = b[i] | 1;
        uint32_t u = (uint32_t)x, v = (uint32_t)y;
        out[0] = (int32_t)(x / y);
        out[1] = (int32_t)(x % y);
        out[2] = (int32_t)(u / v);
        out[3] = (int32_t)(u % v);
        out[4] = (int32_t)(x * y >> 32);
        out[5] = (int32_t)((uint64_t)u * v >> 32);
        out[6] = (int32_t)((x < y ? x : y) + (x > y ? x : y) * 3 + (x < 0 ? -x : x));
        out[7] = (int32_t)((u << (v & 31)) ^ (uint32_t)((int32_t)x >> (v & 15)) ^ (u >> (v & 7)));
    }
}

/* The upper half of a product of 128 bits, by parts of 32. */
static uint64_t high_product(uint64_t x, uint64_t y) {
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

static void divide64(const CudaRun *run) {
    INPUTS(int64_t, int64_t, int64_t);
    for (int i = 0; i < run->n; i++, out += 4) {
        int64_t x = a[i], y = b[i] | 1;
        uint64_t u = (uint64_t)x, v = (uint64_t)y;
        out[0] = x / y;
        out[1] = x % y;
        out[2] = (int64_t)(u / v);
        out[3] =
            (int64_t)(high_product(u, v) + high_product(u, v) - (x < 0 ? v : 0) - (y < 0 ? u : 0));
    }
}

static void doubles(const CudaRun *run) {
    INPUTS(double, double, double);
    for (int i = 0; i < run->n; i++, out += 4) {
        out[0] = fma(a[i], b[i], 0.5);
        out[1] = a[i] / fma(b[i], b[i], 1.0);
        out[2] = sqrt(fabs(a[i]));
        out[3] = a[i] < b[i] ? floor(a[i]) : ceil(b[i]);
    }
}

static uint32_t reverse_bits(uint32_t x) {
    uint32_t y = 0;
    for (int i = 0; i < 32; i++) y |= (x >> i & 1) << (31 - i);
    return y;
}

static uint32_t select_bytes(uint32_t x, uint32_t y, uint32_t selector) {
    uint64_t all = (uint64_t)y << 32 | x;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word |= (uint32_t)(all >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return word;
}

static void bits(const CudaRun *run) {
    INPUTS(uint32_t, uint32_t, uint32_t);
    for (int i = 0; i < run->n; i++, out += 8) {
        uint32_t x = a[i], y = b[i];
        uint64_t both = ((uint64_t)x << 32 | y) * 3;
        out[0] = (uint32_t)__builtin_popcount(x);
        out[1] = (uint32_t)((x ? __builtin_clz(x) : 32) * 100 + __builtin_ffs((int)x));
        out[2] = reverse_bits(x);
        out[3] = (uint32_t)(((uint64_t)y << 32 | x) << (y & 31) >> 32);
        out[4] = select_bytes(x, y, y & 0x7777);
        out[5] = (x & y) ^ (~x | (y >> 3));
        out[6] = (uint32_t)__builtin_popcountll(both);
        out[7] = x >> 5 & 0x3ff;
    }
}

static void bytes(const CudaRun *run) {
    INPUTS(uint32_t, uint32_t, int32_t);
    for (int i = 0; i < run->n; i++, out += 4) {
        int32_t sum = 7, half = 3;
        uint32_t unsigned_sum = 7;
        for (int k = 0; k < 4; k++) {
            uint8_t x = (uint8_t)(a[i] >> 8 * k), y = (uint8_t)(b[i] >> 8 * k);
            sum += (int8_t)x * (int8_t)y;
            unsigned_sum += (uint32_t)x * y;
        }
        for (int k = 0; k < 2; k++) half += (int16_t)(a[i] >> 16 * k) * (int8_t)(b[i] >> 8 * k);
        out[0] = sum;
        out[1] = (int32_t)unsigned_sum;
        out[2] = (int32_t)((a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) + 1);
        out[3] = half;
    }
}

static void carry(const CudaRun *run) {
    INPUTS(uint32_t, uint32_t, uint32_t);
    for (int i = 0; i < run->n; i++, out += 4) {
        uint64_t low = (uint64_t)a[i] + b[i], middle = (uint64_t)a[i] + a[i] + (low >> 32);
        out[0] = (uint32_t)low;
        out[1] = (uint32_t)middle;
        out[2] = b[i] + (uint32_t)(middle >> 32);
        out[3] = a[i] - b[i] - (a[i] < b[i]);
    }
}

static void small_types(const CudaRun *run) {
    INPUTS(int8_t, uint16_t, int32_t);
    for (int i = 0; i < run->n; i++) {
        int16_t s = (int16_t)(b[i] * 3);
        uint8_t c = (uint8_t)(a[i] + b[i]);
        out[i] = a[i] * s + c - (int8_t)b[i];
    }
}

const CudaCase arithmetic_cases[] = {{"vector_add",
                                      {4, 1},
                                      {128, 1},
                                      500,
                                      DATA_f32,
                                      512,
                                      DATA_f32,
                                      512,
                                      DATA_f32,
                                      512,
                                      0,
                                      .reference = vector_add},
                                     {"saxpy_strided",
                                      {3, 1},
                                      {64, 1},
                                      1000,
                                      DATA_f32,
                                      1000,
                                      DATA_f32,
                                      1000,
                                      DATA_f32,
                                      1000,
                                      1e-6,
                                      .reference = saxpy_strided},
                                     {"integer_mix",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      256,
                                      DATA_i32,
                                      2048,
                                      0,
                                      .reference = integer_mix},
                                     {"divide64",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_i64,
                                      256,
                                      DATA_i64,
                                      256,
                                      DATA_i64,
                                      1024,
                                      0,
                                      .reference = divide64},
                                     {"doubles",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_f64,
                                      256,
                                      DATA_f64,
                                      256,
                                      DATA_f64,
                                      1024,
                                      1e-15,
                                      .reference = doubles},
                                     {"bits",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      2048,
                                      0,
                                      .reference = bits},
                                     {"bytes",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      256,
                                      DATA_i32,
                                      1024,
                                      0,
                                      .reference = bytes},
                                     {"carry",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      256,
                                      DATA_u32,
                                      1024,
                                      0,
                                      .reference = carry},
                                     {"small_types",
                                      {4, 1},
                                      {64, 1},
                                      250,
                                      DATA_u8,
                                      256,
                                      DATA_u16,
                                      256,
                                      DATA_i32,
                                      256,
                                      0,
                                      .reference = small_types},
                                     {0}};
