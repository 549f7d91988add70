// References of fp8.cu.
#include "tests/emulator/cuda/cases.h"

static void fp8_encode(const CudaRun *run) {
    const float *a = run->a;
    uint8_t *out = run->out;
    for (int i = 0; i < run->threads; i++) {
        double x = (double)(a[i] * 100);
        out[2 * i] = (uint8_t)small_encode(SMALL_e4m3, SMALL_rn, true, x);
        out[2 * i + 1] = (uint8_t)small_encode(SMALL_e5m2, SMALL_rn, true, x);
    }
}

static void fp8_decode(const CudaRun *run) {
    const uint8_t *a = run->a;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++) {
        out[2 * i] = (float)small_decode(SMALL_e4m3, a[i]);
        out[2 * i + 1] = (float)small_decode(SMALL_e5m2, a[i]);
    }
}

static void mma_fp8(const CudaRun *run) {
    const uint8_t *a = run->a, *b = run->b;
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            double sum = 1;
            for (int k = 0; k < 32; k++)
                sum += small_decode(SMALL_e4m3, a[row * 32 + k]) *
                       small_decode(SMALL_e5m2, b[column * 32 + k]);
            ((float *)run->out)[row * 8 + column] = (float)sum;
        }
}

const CudaCase fp8_cases[] = {{"fp8_encode",
                               {2, 1},
                               {64, 1},
                               128,
                               DATA_f32,
                               128,
                               DATA_none,
                               0,
                               DATA_u8,
                               256,
                               0,
                               .reference = fp8_encode},
                              {"fp8_decode",
                               {4, 1},
                               {64, 1},
                               256,
                               DATA_u8,
                               256,
                               DATA_none,
                               0,
                               DATA_f32,
                               512,
                               0,
                               .reference = fp8_decode},
                              {"mma_fp8",
                               {1, 1},
                               {32, 1},
                               32,
                               DATA_fp8,
                               512,
                               DATA_fp8,
                               256,
                               DATA_f32,
                               128,
                               1e-4,
                               .reference = mma_fp8},
                              {0}};
