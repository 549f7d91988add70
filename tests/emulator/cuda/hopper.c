// References of hopper.cu.
#include "tests/emulator/cuda/cases.h"

static void store_matrix(const CudaRun *run) {
    const uint32_t *a = run->a;
    for (int m = 0; m < 4; m++)
        for (int lane = 0; lane < 32; lane++)
            ((uint32_t *)run->out)[m * 32 + lane] = a[m * 32 + lane];
}

static void elect_one(const CudaRun *run) {
    for (int i = 0; i < run->threads; i++) ((int32_t *)run->out)[i] = 102;
}

static void barrier_phases(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < run->n; i++)
            ((int32_t *)run->out)[round * run->n + i] =
                a[i / 128 * 128 + 127 - i % 128] * (round + 1);
}

static void bfloat_native(const CudaRun *run) {
    const uint16_t *a = run->a, *b = run->b;
    uint16_t *out = run->out;
    for (int i = 0; i < 2 * run->threads; i++) {
        double x = small_decode(SMALL_bf16, a[i]), y = small_decode(SMALL_bf16, b[i]);
        out[i / 2 * 4 + i % 2] = (uint16_t)small_encode(SMALL_bf16, SMALL_rn, false, x + y);
        out[i / 2 * 4 + 2 + i % 2] = (uint16_t)small_encode(SMALL_bf16, SMALL_rn, false, x * y);
    }
}

const CudaCase hopper_cases[] = {{"store_matrix",
                                  {1, 1},
                                  {32, 1},
                                  32,
                                  DATA_u32,
                                  128,
                                  DATA_none,
                                  0,
                                  DATA_u32,
                                  128,
                                  0,
                                  .reference = store_matrix},
                                 {"elect_one",
                                  {1, 1},
                                  {64, 1},
                                  64,
                                  DATA_none,
                                  0,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  64,
                                  0,
                                  .reference = elect_one},
                                 {"barrier_phases",
                                  {2, 1},
                                  {128, 1},
                                  256,
                                  DATA_i32,
                                  256,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  1024,
                                  0,
                                  .reference = barrier_phases},
                                 {"bfloat_native",
                                  {2, 1},
                                  {64, 1},
                                  128,
                                  DATA_bf16,
                                  256,
                                  DATA_bf16,
                                  256,
                                  DATA_bf16,
                                  512,
                                  0,
                                  .reference = bfloat_native},
                                 {0}};
