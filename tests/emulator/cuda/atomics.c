// References of atomics.cu: what does not depend on the order.
#include "tests/emulator/cuda/cases.h"

static void atomic_integers(const CudaRun *run) {
    const int32_t *a = run->a;
    int32_t *out = run->out;
    uint32_t decreased = 0, largest = 0;
    for (int i = 0; i < run->threads; i++) {
        int32_t x = a[i];
        out[0] += x;
        out[1] -= x & 7;
        if (x < out[2]) out[2] = x;
        if (x > out[3]) out[3] = x;
        out[4] &= x | 0xff00;
        out[5] |= x & 0xff;
        out[6] ^= x;
        out[7] = out[7] >= 9 ? 0 : out[7] + 1;
        decreased = decreased == 0 || decreased > 1000 ? 1000 : decreased - 1;
        if ((uint32_t)x > largest) largest = (uint32_t)x;
    }
    out[8] = (int32_t)decreased;
    out[9] = (int32_t)largest;
}

static void atomic_longs(const CudaRun *run) {
    const int64_t *a = run->a;
    uint64_t *out = run->out;
    int64_t least = 0;
    for (int i = 0; i < run->threads; i++) {
        uint64_t x = (uint64_t)a[i];
        out[0] += x;
        if (a[i] < least) least = a[i];
        if (x > out[2]) out[2] = x;
        out[3] &= x | 0xffff;
        out[4] |= x & 0xff00ff;
        out[5] ^= x;
    }
    out[1] = (uint64_t)least;
}

static void atomic_floats(const CudaRun *run) {
    const float *a = run->a;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++) out[i % 4] += truncf(a[i] * 8);
    out[4] = (float)run->threads;
}

static void atomic_doubles(const CudaRun *run) {
    const double *a = run->a;
    for (int i = 0; i < run->threads; i++) ((double *)run->out)[i % 4] += trunc(a[i] * 8);
}

static void atomic_halves(const CudaRun *run) {
    const int32_t *a = run->a;
    uint16_t *out = run->out;
    for (int k = 0; k < 8; k++) {
        double sum = 0, count = 0;
        for (int i = k; i < run->threads; i += 8) {
            sum += a[i] & 3;
            count++;
        }
        out[2 * k] = (uint16_t)small_encode(SMALL_f16, SMALL_rn, false, sum);
        out[2 * k + 1] = (uint16_t)small_encode(SMALL_f16, SMALL_rn, false, count);
    }
}

static void float_max_by_cas(const CudaRun *run) {
    const float *a = run->a;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++)
        if (a[i] > out[i % 2]) out[i % 2] = a[i];
}

static void exchange_once(const CudaRun *run) {
    int32_t *out = run->out;
    for (int i = 0; i < run->threads / 32; i++) out[i] = i + 1;
    out[run->n] = run->threads / 32;
    out[run->n + 1] = 7;
}

static void spin_lock(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int i = 0; i < run->threads; i++) ((int32_t *)run->out)[1] += a[i];
}

static void grid_barrier(const CudaRun *run) {
    const int32_t *a = run->a;
    int32_t *out = run->out;
    int n = run->n;
    for (int i = 0; i < n; i++) out[n + i] = a[i] + 1;
    for (int i = 0; i < n; i++) out[2 * n + i] = out[n + (i + 64) % n] + 2;
    for (int i = 0; i < n; i++) out[3 * n + i] = out[2 * n + (i + 1) % n];
    out[0] = 2 * run->blocks;
}

static void shared_atomics(const CudaRun *run) {
    const int32_t *a = run->a;
    for (int block = 0; block < run->blocks; block++) {
        int32_t *out = (int32_t *)run->out + block * 8;
        int64_t wide = 0;
        for (int t = 0; t < run->block; t++) {
            int32_t x = a[block * run->block + t];
            out[0] += x;
            if (x > out[1]) out[1] = x;
            out[2] ^= x;
            wide += (int64_t)x * (1 << 20);
        }
        out[3] = 5;
        memcpy(out + 4, &wide, sizeof wide);
    }
}

const CudaCase atomics_cases[] = {{"atomic_integers",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_i32,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_i32,
                                   16,
                                   0,
                                   .reference = atomic_integers},
                                  {"atomic_longs",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_i64,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_i64,
                                   8,
                                   0,
                                   .reference = atomic_longs},
                                  {"atomic_floats",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_f32,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_f32,
                                   5,
                                   0,
                                   .reference = atomic_floats},
                                  {"atomic_doubles",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_f64,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_f64,
                                   4,
                                   0,
                                   .reference = atomic_doubles},
                                  {"atomic_halves",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_i32,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_f16,
                                   16,
                                   0,
                                   .reference = atomic_halves},
                                  {"float_max_by_cas",
                                   {3, 1},
                                   {64, 1},
                                   192,
                                   DATA_f32,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_f32,
                                   2,
                                   0,
                                   .reference = float_max_by_cas},
                                  {"exchange_once",
                                   {2, 1},
                                   {64, 1},
                                   128,
                                   DATA_none,
                                   0,
                                   DATA_none,
                                   0,
                                   DATA_i32,
                                   130,
                                   0,
                                   .reference = exchange_once},
                                  {"spin_lock",
                                   {1, 1},
                                   {64, 1},
                                   64,
                                   DATA_i32,
                                   64,
                                   DATA_none,
                                   0,
                                   DATA_i32,
                                   2,
                                   0,
                                   .reference = spin_lock},
                                  {"grid_barrier",
                                   {4, 1},
                                   {64, 1},
                                   256,
                                   DATA_i32,
                                   256,
                                   DATA_none,
                                   0,
                                   DATA_i32,
                                   1024,
                                   0,
                                   .reference = grid_barrier,
                                   .cooperative = true},
                                  {"shared_atomics",
                                   {2, 1},
                                   {96, 1},
                                   192,
                                   DATA_i32,
                                   192,
                                   DATA_none,
                                   0,
                                   DATA_i32,
                                   16,
                                   0,
                                   .reference = shared_atomics},
                                  {0}};
