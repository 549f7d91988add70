// References of shared.cu.
#include "tests/emulator/cuda/cases.h"

static void block_sum(const CudaRun *run) {
    const float *a = run->a;
    for (int block = 0; block < run->blocks; block++) {
        double sum = 0;
        for (int t = 0; t < run->block; t++) sum += (double)a[block * run->block + t];
        ((float *)run->out)[block] = (float)sum;
    }
}

static void transpose(const CudaRun *run) {
    const float *a = run->a;
    for (int y = 0; y < run->n; y++)
        for (int x = 0; x < run->n; x++) ((float *)run->out)[x * run->n + y] = a[y * run->n + x];
}

static void block_scan(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0, sum = 0; i < run->threads; i++) {
        sum = i % run->block ? sum + a[i] : a[i];
        ((int32_t *)run->out)[i] = sum;
    }
}

static void histogram(const CudaRun *run) {
    const uint8_t *a = run->a;
    for (int i = 0; i < run->n; i++) ((int32_t *)run->out)[a[i] & 63]++;
}

static void reverse_dynamic(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0; i < run->threads; i++)
        ((int32_t *)run->out)[i] = a[i / run->block * run->block + run->block - 1 - i % run->block];
}

static int compare_ints(const void *x, const void *y) {
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

static void bitonic_sort(const CudaRun *run) {
    int32_t *out = run->out;
    memcpy(out, run->a, (size_t)run->threads * sizeof *out);
    for (int block = 0; block < run->blocks; block++)
        qsort(out + block * 256, 256, sizeof *out, compare_ints);
}

static void stencil(const CudaRun *run) {
    const float *a = run->a;
    for (int i = 0; i < run->n; i++) {
        double left = i ? (double)a[i - 1] : 0, right = i + 1 < run->n ? (double)a[i + 1] : 0;
        ((float *)run->out)[i] = (float)(0.25 * left + 0.5 * (double)a[i] + 0.25 * right);
    }
}

static void matmul_tiles(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    int n = run->n;
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += (double)a[row * n + k] * (double)b[k * n + column];
            ((float *)run->out)[row * n + column] = (float)sum;
        }
}

static void named_barriers(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0; i < run->blocks * 4; i++)
        for (int t = 0; t < 64; t++) ((int32_t *)run->out)[i * 64 + t] = a[i * 64 + 63 - t] * 2 + 1;
}

static void block_votes(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0; i < run->threads; i++) {
        int count = 0;
        for (int t = 0; t < run->block; t++) count += a[i / run->block * run->block + t] & 1;
        ((int32_t *)run->out)[i] = count * 4 + 2;
    }
}

const CudaCase shared_cases[] = {{"block_sum",
                                  {3, 1},
                                  {256, 1},
                                  768,
                                  DATA_f32,
                                  768,
                                  DATA_none,
                                  0,
                                  DATA_f32,
                                  3,
                                  1e-5,
                                  .reference = block_sum},
                                 {"transpose",
                                  {2, 2},
                                  {32, 8},
                                  64,
                                  DATA_f32,
                                  4096,
                                  DATA_none,
                                  0,
                                  DATA_f32,
                                  4096,
                                  0,
                                  .reference = transpose},
                                 {"block_scan",
                                  {2, 1},
                                  {256, 1},
                                  512,
                                  DATA_i32,
                                  512,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  512,
                                  0,
                                  .reference = block_scan},
                                 {"histogram",
                                  {2, 1},
                                  {128, 1},
                                  1000,
                                  DATA_u8,
                                  1000,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  64,
                                  0,
                                  .reference = histogram},
                                 {"reverse_dynamic",
                                  {3, 1},
                                  {96, 1},
                                  288,
                                  DATA_i32,
                                  288,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  288,
                                  0,
                                  .reference = reverse_dynamic,
                                  .dynamic_shared = 96 * 4},
                                 {"bitonic_sort",
                                  {2, 1},
                                  {256, 1},
                                  512,
                                  DATA_i32,
                                  512,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  512,
                                  0,
                                  .reference = bitonic_sort},
                                 {"stencil",
                                  {2, 1},
                                  {256, 1},
                                  512,
                                  DATA_f32,
                                  512,
                                  DATA_none,
                                  0,
                                  DATA_f32,
                                  512,
                                  1e-6,
                                  .reference = stencil},
                                 {"matmul_tiles",
                                  {3, 3},
                                  {16, 16},
                                  48,
                                  DATA_f32,
                                  2304,
                                  DATA_f32,
                                  2304,
                                  DATA_f32,
                                  2304,
                                  1e-5,
                                  .reference = matmul_tiles},
                                 {"named_barriers",
                                  {2, 1},
                                  {128, 1},
                                  512,
                                  DATA_i32,
                                  512,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  512,
                                  0,
                                  .reference = named_barriers},
                                 {"block_votes",
                                  {2, 1},
                                  {96, 1},
                                  192,
                                  DATA_i32,
                                  192,
                                  DATA_none,
                                  0,
                                  DATA_i32,
                                  192,
                                  0,
                                  .reference = block_votes},
                                 {0}};
