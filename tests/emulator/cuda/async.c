// References of async.cu.
#include "tests/emulator/cuda/cases.h"

static void copy_pipeline(const CudaRun *run) {
    const float *a = run->a;
    int count = run->n / run->blocks / 256;
    for (int i = 0; i < run->threads; i++) {
        const float *from = a + i / 64 * count * 256;
        double sum = 0;
        for (int k = 0; k < count * 4; k++) sum += (double)from[i % 64 + k * 64];
        ((float *)run->out)[i] = (float)sum;
    }
}

static void copy_zero_fill(const CudaRun *run) {
    const int32_t *a = run->a, *b = run->b;
    for (int i = 0; i < 4 * run->threads; i++)
        ((int32_t *)run->out)[i] = i % 4 < (b[i / 4] & 3) ? a[i] : 0;
}

static void copy_with_barrier(const CudaRun *run) {
    for (int i = 0; i < 64; i++) ((int32_t *)run->out)[i] = ((const int32_t *)run->a)[63 - i];
}

const CudaCase async_cases[] = {{"copy_pipeline",
                                 {2, 1},
                                 {64, 1},
                                 2560,
                                 DATA_f32,
                                 2560,
                                 DATA_none,
                                 0,
                                 DATA_f32,
                                 128,
                                 1e-5,
                                 .reference = copy_pipeline},
                                {"copy_zero_fill",
                                 {1, 1},
                                 {64, 1},
                                 64,
                                 DATA_i32,
                                 256,
                                 DATA_i32,
                                 64,
                                 DATA_i32,
                                 256,
                                 0,
                                 .reference = copy_zero_fill},
                                {"copy_with_barrier",
                                 {1, 1},
                                 {64, 1},
                                 64,
                                 DATA_i32,
                                 64,
                                 DATA_none,
                                 0,
                                 DATA_i32,
                                 64,
                                 0,
                                 .reference = copy_with_barrier},
                                {0}};
