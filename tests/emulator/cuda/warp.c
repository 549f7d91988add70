// References of warp.cu.
#include "tests/emulator/cuda/cases.h"

#define INPUTS(A, B, OUT)                                                                          \
    const A *a = run->a;                                                                           \
    const B *b = run->b;                                                                           \
    OUT *out = run->out;                                                                           \
    (void)b

static void warp_sum(const CudaRun *run) {
    INPUTS(float, float, float);
    for (int w = 0; w < run->threads / 32; w++) {
        double sum = 0;
        for (int k = 0; k < 32; k++) sum += (double)a[w * 32 + k];
        out[w] = (float)sum;
    }
}

static void warp_scan(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0, sum = 0; i < run->threads; i++) {
        sum = i % 32 ? sum + a[i] : a[i];
        out[i] = sum;
    }
}

static void butterfly(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    int32_t x[32], y[32];
    for (int w = 0; w < run->threads / 32; w++) {
        memcpy(x, a + w * 32, sizeof x);
        for (int d = 1; d < 32; d *= 2) {
            for (int k = 0; k < 32; k++) y[k] = x[k] > x[k ^ d] - d ? x[k] : x[k ^ d] - d;
            memcpy(x, y, sizeof x);
        }
        memcpy(out + w * 32, x, sizeof x);
    }
}

static void shuffle_parts(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0; i < run->threads; i++) {
        int lane = i % 32, warp = i - lane;
        int first = (lane & ~7) + (b[i] & 7), second = lane % 16 + 3 < 16 ? lane + 3 : lane;
        out[i] = a[warp + first] * 3 + a[warp + second];
    }
}

static void votes(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int w = 0; w < run->threads / 32; w++) {
        uint32_t ballot = 0;
        bool any = false, all = true;
        for (int k = 0; k < 32; k++) {
            int x = a[w * 32 + k];
            ballot |= (uint32_t)(x & 1) << k;
            any |= x > 990;
            all &= x > -990;
        }
        for (int k = 0; k < 32; k++) {
            int32_t *o = out + 4 * (w * 32 + k);
            o[0] = (int32_t)ballot;
            o[1] = __builtin_popcount(ballot & ((1u << k) - 1));
            o[2] = any * 2 + all;
            o[3] = ballot == 0 || ballot == UINT32_MAX;
        }
    }
}

static void matches(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0; i < run->threads; i++) {
        int warp = i / 32 * 32;
        uint32_t same = 0;
        bool all = warp / 32 % 2 == 0;
        for (int k = 0; k < 32; k++) same |= (uint32_t)((a[warp + k] & 3) == (a[i] & 3)) << k;
        out[2 * i] = (int32_t)same;
        out[2 * i + 1] = all ? 0x10000000 : 0;
    }
}

static void reduce_sync(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0; i < run->threads; i++) {
        const int32_t *x = a + i / 32 * 32, *y = b + i / 32 * 32;
        int32_t sum = 0, least = INT32_MAX;
        uint32_t most = 0, odd = 0, some = 0;
        for (int k = 0; k < 32; k++) {
            sum += x[k];
            if (x[k] < least) least = x[k];
            if ((uint32_t)x[k] > most) most = (uint32_t)x[k];
            odd ^= (uint32_t)x[k];
            some |= (uint32_t)y[k];
        }
        out[4 * i] = sum;
        out[4 * i + 1] = least;
        out[4 * i + 2] = (int32_t)most;
        out[4 * i + 3] = (int32_t)(odd ^ some);
    }
}

static void half_warps(const CudaRun *run) {
    INPUTS(int32_t, int32_t, int32_t);
    for (int i = 0; i < run->threads; i++) {
        const int32_t *x = a + i / 16 * 16;
        int32_t sum = 0, least = INT32_MAX;
        for (int k = 0; k < 16; k++) {
            sum += x[k];
            if (x[k] < least) least = x[k];
        }
        out[i] = i % 32 < 16 ? sum : least;
    }
}

static void lane_masks(const CudaRun *run) {
    INPUTS(int32_t, int32_t, uint32_t);
    for (int i = 0; i < run->threads; i++) {
        uint32_t lane = (uint32_t)i % 32, lt = (1u << lane) - 1, ge = ~lt;
        out[i] = (lt + ge + 1) * 1000 + 10 + (a[0] == a[0]);
    }
}

const CudaCase warp_cases[] = {{"warp_sum",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_f32,
                                256,
                                DATA_none,
                                0,
                                DATA_f32,
                                8,
                                1e-5,
                                .reference = warp_sum},
                               {"warp_scan",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_none,
                                0,
                                DATA_i32,
                                256,
                                0,
                                .reference = warp_scan},
                               {"butterfly",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_none,
                                0,
                                DATA_i32,
                                256,
                                0,
                                .reference = butterfly},
                               {"shuffle_parts",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                256,
                                0,
                                .reference = shuffle_parts},
                               {"votes",
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
                                .reference = votes},
                               {"matches",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                512,
                                0,
                                .reference = matches},
                               {"reduce_sync",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                256,
                                DATA_i32,
                                1024,
                                0,
                                .reference = reduce_sync},
                               {"half_warps",
                                {2, 1},
                                {128, 1},
                                256,
                                DATA_i32,
                                256,
                                DATA_none,
                                0,
                                DATA_i32,
                                256,
                                0,
                                .reference = half_warps},
                               {"lane_masks",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_i32,
                                128,
                                DATA_none,
                                0,
                                DATA_u32,
                                128,
                                0,
                                .reference = lane_masks},
                               {0}};
