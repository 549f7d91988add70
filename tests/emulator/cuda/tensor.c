// References of tensor.cu: products by the definition, A by rows and B by columns.
#include "tests/emulator/cuda/cases.h"

typedef double Element(const void *data, int index);

static double f16_at(const void *data, int index) {
    return small_decode(SMALL_f16, ((const uint16_t *)data)[index]);
}

static double bf16_at(const void *data, int index) {
    return small_decode(SMALL_bf16, ((const uint16_t *)data)[index]);
}

static double tf32_at(const void *data, int index) {
    return small_decode(SMALL_tf32, small_encode(SMALL_tf32, SMALL_rna, false,
                                                 (double)((const float *)data)[index]));
}

static double s8_at(const void *data, int index) { return ((const int8_t *)data)[index]; }

static double u8_at(const void *data, int index) { return ((const uint8_t *)data)[index]; }

static double f64_at(const void *data, int index) { return ((const double *)data)[index]; }

static double s4_at(const void *data, int index) {
    int nibble = ((const uint8_t *)data)[index / 2] >> 4 * (index % 2) & 15;
    return nibble < 8 ? nibble : nibble - 16;
}

static double product(const CudaRun *run, Element *x, Element *y, int k, int row, int column) {
    double sum = 0;
    for (int i = 0; i < k; i++) sum += x(run->a, row * k + i) * y(run->b, column * k + i);
    return sum;
}

static void to_floats(const CudaRun *run, Element *x, Element *y, int k, double first) {
    for (int i = 0; i < 128; i++)
        ((float *)run->out)[i] = (float)(first + product(run, x, y, k, i / 8, i % 8));
}

static void mma_f16(const CudaRun *run) { to_floats(run, f16_at, f16_at, 16, 0.5); }
static void mma_bf16(const CudaRun *run) { to_floats(run, bf16_at, bf16_at, 16, 0.25); }
static void mma_tf32(const CudaRun *run) { to_floats(run, tf32_at, tf32_at, 8, 0); }

static void mma_f16_f16(const CudaRun *run) {
    for (int i = 0; i < 128; i++)
        ((uint16_t *)run->out)[i] = (uint16_t)small_encode(
            SMALL_f16, SMALL_rn, false, product(run, f16_at, f16_at, 16, i / 8, i % 8));
}

static void mma_s8(const CudaRun *run) {
    for (int i = 0; i < 128; i++)
        ((int32_t *)run->out)[i] = (int32_t)product(run, s8_at, u8_at, 32, i / 8, i % 8) - 3;
}

static void mma_nibbles_bits(const CudaRun *run) {
    const uint32_t *a = run->a, *b = run->b;
    int32_t *out = run->out;
    for (int i = 0; i < 128; i++) {
        out[i] = (int32_t)product(run, s4_at, s4_at, 64, i / 8, i % 8);
        for (int k = 0; k < 8; k++)
            out[128 + i] += __builtin_popcount(a[i / 8 * 8 + k] ^ b[i % 8 * 8 + k]);
    }
}

static void mma_f64(const CudaRun *run) {
    for (int i = 0; i < 64; i++)
        ((double *)run->out)[i] = product(run, f64_at, f64_at, 4, i / 8, i % 8) + 2;
}

static void mma_sparse(const CudaRun *run) {
    for (int i = 0; i < 128; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++) /* kept are columns 0 and 2 of each four */
            sum += f16_at(run->a, i / 8 * 16 + k) * f16_at(run->b, i % 8 * 32 + 2 * k);
        ((float *)run->out)[i] = (float)sum;
    }
}

static void wmma_f16(const CudaRun *run) {
    for (int i = 0; i < 256; i++)
        ((float *)run->out)[i] =
            (float)(2 * (1 + product(run, f16_at, f16_at, 32, i / 16, i % 16)));
}

static uint32_t pair(const uint16_t *a, int low, int high) {
    return a[low] | (uint32_t)a[high] << 16;
}

static void load_matrix(const CudaRun *run) {
    const uint16_t *a = run->a;
    uint32_t *out = run->out;
    for (int m = 0; m < 4; m++)
        for (int lane = 0; lane < 32; lane++) {
            int g = lane / 4, t = lane % 4;
            const uint16_t *tile = a + m * 64;
            out[m * 32 + lane] = pair(tile, g * 8 + 2 * t, g * 8 + 2 * t + 1);
            out[128 + m * 32 + lane] = pair(tile, 2 * t * 8 + g, (2 * t + 1) * 8 + g);
        }
    memcpy(out + 256, out + 128, 128);
}

const CudaCase tensor_cases[] = {{"mma_f16",
                                  {1, 1},
                                  {32, 1},
                                  16,
                                  DATA_f16,
                                  256,
                                  DATA_f16,
                                  128,
                                  DATA_f32,
                                  128,
                                  1e-5,
                                  .reference = mma_f16},
                                 {"mma_f16_f16",
                                  {1, 1},
                                  {32, 1},
                                  16,
                                  DATA_f16,
                                  256,
                                  DATA_f16,
                                  128,
                                  DATA_f16,
                                  128,
                                  2e-3,
                                  .reference = mma_f16_f16},
                                 {"mma_bf16",
                                  {1, 1},
                                  {32, 1},
                                  16,
                                  DATA_bf16,
                                  256,
                                  DATA_bf16,
                                  128,
                                  DATA_f32,
                                  128,
                                  1e-5,
                                  .reference = mma_bf16},
                                 {"mma_tf32",
                                  {1, 1},
                                  {32, 1},
                                  8,
                                  DATA_f32,
                                  128,
                                  DATA_f32,
                                  64,
                                  DATA_f32,
                                  128,
                                  1e-5,
                                  .reference = mma_tf32},
                                 {"mma_s8",
                                  {1, 1},
                                  {32, 1},
                                  32,
                                  DATA_u8,
                                  512,
                                  DATA_u8,
                                  256,
                                  DATA_i32,
                                  128,
                                  0,
                                  .reference = mma_s8},
                                 {"mma_nibbles_bits",
                                  {1, 1},
                                  {32, 1},
                                  64,
                                  DATA_u32,
                                  128,
                                  DATA_u32,
                                  64,
                                  DATA_i32,
                                  256,
                                  0,
                                  .reference = mma_nibbles_bits},
                                 {"mma_f64",
                                  {1, 1},
                                  {32, 1},
                                  4,
                                  DATA_f64,
                                  32,
                                  DATA_f64,
                                  32,
                                  DATA_f64,
                                  64,
                                  1e-14,
                                  .reference = mma_f64},
                                 {"mma_sparse",
                                  {1, 1},
                                  {32, 1},
                                  32,
                                  DATA_f16,
                                  256,
                                  DATA_f16,
                                  256,
                                  DATA_f32,
                                  128,
                                  1e-5,
                                  .reference = mma_sparse},
                                 {"wmma_f16",
                                  {1, 1},
                                  {32, 1},
                                  32,
                                  DATA_f16,
                                  512,
                                  DATA_f16,
                                  512,
                                  DATA_f32,
                                  256,
                                  1e-5,
                                  .reference = wmma_f16},
                                 {"load_matrix",
                                  {1, 1},
                                  {32, 1},
                                  32,
                                  DATA_u16,
                                  256,
                                  DATA_none,
                                  0,
                                  DATA_u32,
                                  288,
                                  0,
                                  .reference = load_matrix},
                                 {0}};
