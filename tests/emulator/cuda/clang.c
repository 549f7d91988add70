// References of clang.cu.
#include "tests/emulator/cuda/cases.h"

static void clang_axpy(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    for (int i = 0; i < run->n; i++)
        ((float *)run->out)[i] = (float)((double)a[i] * 3 + (double)b[i]);
}

static void clang_calls(const CudaRun *run) {
    const int32_t *a = run->a, *b = run->b;
    for (int i = 0; i < run->threads; i++)
        ((int32_t *)run->out)[i] =
            (a[i] ^ (int32_t)(((int64_t)b[i] * a[i]) >> 7)) + (i ^ (99999 >> 7));
}

static void clang_reverse(const CudaRun *run) {
    for (int i = 0; i < run->threads; i++)
        ((int32_t *)run->out)[i] = ((const int32_t *)run->a)[i / 64 * 64 + 63 - i % 64];
}

static void clang_switch(const CudaRun *run) {
    const int32_t *a = run->a, *b = run->b;
    for (int i = 0; i < run->threads; i++) {
        int32_t x = a[i], values[] = {x + 100, x * x, -x / 3, b[i] % 17};
        ((int32_t *)run->out)[i] = values[x & 3];
    }
}

const CudaCase clang_cases[] = {{"clang_axpy",
                                 {2, 1},
                                 {64, 1},
                                 120,
                                 DATA_f32,
                                 128,
                                 DATA_f32,
                                 128,
                                 DATA_f32,
                                 128,
                                 1e-6,
                                 .reference = clang_axpy},
                                {"clang_calls",
                                 {2, 1},
                                 {64, 1},
                                 128,
                                 DATA_i32,
                                 128,
                                 DATA_i32,
                                 128,
                                 DATA_i32,
                                 128,
                                 0,
                                 .reference = clang_calls},
                                {"clang_reverse",
                                 {2, 1},
                                 {64, 1},
                                 128,
                                 DATA_i32,
                                 128,
                                 DATA_none,
                                 0,
                                 DATA_i32,
                                 128,
                                 0,
                                 .reference = clang_reverse},
                                {"clang_switch",
                                 {2, 1},
                                 {64, 1},
                                 128,
                                 DATA_i32,
                                 128,
                                 DATA_i32,
                                 128,
                                 DATA_i32,
                                 128,
                                 0,
                                 .reference = clang_switch},
                                {0}};
