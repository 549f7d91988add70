// References of runtime.cu.
#include "tests/emulator/cuda/cases.h"

static void prints(const CudaRun *run) {
    for (int i = 0; i < run->threads; i++) ((int32_t *)run->out)[i] = 1;
}

static void assertions(const CudaRun *run) {
    for (int i = 0; i < run->threads; i++)
        ((int32_t *)run->out)[i] = ((const int32_t *)run->a)[i] + 1;
}

static void geometry(const CudaRun *run) {
    int32_t *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        out[0] = i / run->block * 1000 + i % run->block;
        out[1] = run->blocks * 1000 + run->block;
        out[2] = 34;
        out[3] = 2;
    }
}

static void heap(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0; i < run->threads; i++)
        for (int k = 0; k < 16; k++) ((int32_t *)run->out)[i] += (a[i] + k) * (k & 3);
}

const CudaCase runtime_cases[] = {
    {"prints",
     {1, 1},
     {32, 1},
     32,
     DATA_i32,
     32,
     DATA_none,
     0,
     DATA_i32,
     32,
     0,
     .reference = prints,
     .printed = "thread "},
    {"assertions",
     {1, 1},
     {32, 1},
     32,
     DATA_i32,
     32,
     DATA_none,
     0,
     DATA_i32,
     32,
     0,
     .reference = assertions},
    {"geometry",
     {3, 1},
     {40, 1},
     120,
     DATA_none,
     0,
     DATA_none,
     0,
     DATA_i32,
     480,
     0,
     .reference = geometry},
    {"heap", {1, 1}, {64, 1}, 64, DATA_i32, 64, DATA_none, 0, DATA_i32, 64, 0, .reference = heap},
    {0}};
