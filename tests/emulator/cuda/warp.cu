// What the lanes of a warp tell each other.
#include "kernel.cuh"

KERNEL(warp_sum, float, float, float) {
    float x = a[INDEX];
    for (int d = 16; d; d /= 2) x += __shfl_down_sync(ALL, x, d);
    if (threadIdx.x % 32 == 0) out[INDEX / 32] = x;
}

KERNEL(warp_scan, int, int, int) {
    int x = a[INDEX];
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(ALL, x, d);
        if (threadIdx.x % 32 >= d) x += y;
    }
    out[INDEX] = x;
}

KERNEL(butterfly, int, int, int) {
    int x = a[INDEX];
    for (int d = 1; d < 32; d *= 2) x = max(x, __shfl_xor_sync(ALL, x, d) - d);
    out[INDEX] = x;
}

KERNEL(shuffle_parts, int, int, int) {
    int x = a[INDEX];
    out[INDEX] = __shfl_sync(ALL, x, b[INDEX] & 31, 8) * 3 + __shfl_down_sync(ALL, x, 3, 16);
}

KERNEL(votes, int, int, int) {
    int i = INDEX, odd = a[i] & 1;
    unsigned ballot = __ballot_sync(ALL, odd);
    out[4 * i] = (int)ballot;
    out[4 * i + 1] = __popc(ballot & ((1u << (threadIdx.x % 32)) - 1));
    out[4 * i + 2] = __any_sync(ALL, a[i] > 990) * 2 + __all_sync(ALL, a[i] > -990);
    out[4 * i + 3] = __uni_sync(ALL, odd);
}

KERNEL(matches, int, int, int) {
    int i = INDEX, all;
    out[2 * i] = (int)__match_any_sync(ALL, a[i] & 3);
    unsigned mask = __match_all_sync(ALL, b[i / 32 * 32] + (i / 32 % 2 ? i % 2 : 0), &all);
    out[2 * i + 1] = (int)(mask >> 4) + all;
}

KERNEL(reduce_sync, int, int, int) {
    int i = INDEX;
    out[4 * i] = __reduce_add_sync(ALL, a[i]);
    out[4 * i + 1] = __reduce_min_sync(ALL, a[i]);
    out[4 * i + 2] = (int)__reduce_max_sync(ALL, (unsigned)a[i]);
    out[4 * i + 3] = (int)(__reduce_xor_sync(ALL, (unsigned)a[i]) ^ __reduce_or_sync(ALL, (unsigned)b[i]));
}

KERNEL(half_warps, int, int, int) {
    int i = INDEX, lane = threadIdx.x & 31, x = a[i];
    if (lane < 16) {
        for (int d = 8; d; d /= 2) x += __shfl_xor_sync(0xffffu, x, d);
    } else {
        for (int d = 8; d; d /= 2) x = min(x, __shfl_xor_sync(0xffff0000u, x, d));
    }
    __syncwarp();
    out[i] = x;
}

KERNEL(lane_masks, int, int, unsigned) {
    unsigned lt, ge, eq, lane;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[INDEX] = (lt + ge + 1) * 1000 + (eq >> lane) * 10 + (a[0] == a[0]);
}
