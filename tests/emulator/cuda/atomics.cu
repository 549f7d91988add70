// Atomics of each type, and what is built of them.
#include "kernel.cuh"

#include <cuda_fp16.h>

KERNEL(atomic_integers, int, int, int) {
    int i = INDEX, x = a[i];
    atomicAdd(&out[0], x);
    atomicSub(&out[1], x & 7);
    atomicMin(&out[2], x);
    atomicMax(&out[3], x);
    atomicAnd(&out[4], x | 0xff00);
    atomicOr(&out[5], x & 0xff);
    atomicXor(&out[6], x);
    atomicInc((unsigned *)&out[7], 9);
    atomicDec((unsigned *)&out[8], 1000);
    atomicMax((unsigned *)&out[9], (unsigned)x);
}

KERNEL(atomic_longs, long long, int, long long) {
    long long x = a[INDEX];
    atomicAdd((unsigned long long *)&out[0], (unsigned long long)x);
    atomicMin(&out[1], x);
    atomicMax((unsigned long long *)&out[2], (unsigned long long)x);
    atomicAnd((unsigned long long *)&out[3], (unsigned long long)x | 0xffff);
    atomicOr((unsigned long long *)&out[4], (unsigned long long)x & 0xff00ff);
    atomicXor((unsigned long long *)&out[5], (unsigned long long)x);
}

// Small whole numbers, so that the order of additions is no matter.
KERNEL(atomic_floats, float, int, float) {
    float x = truncf(a[INDEX] * 8);
    atomicAdd(&out[INDEX % 4], x);
    atomicAdd(&out[4], 1.0f);
}

KERNEL(atomic_doubles, double, int, double) {
    atomicAdd(&out[INDEX % 4], trunc(a[INDEX] * 8));
}

KERNEL(atomic_halves, int, int, __half2) {
    atomicAdd(&out[INDEX % 8], __floats2half2_rn((float)(a[INDEX] & 3), 1.0f));
}

KERNEL(float_max_by_cas, float, int, float) {
    unsigned *place = (unsigned *)&out[INDEX % 2], old = *(volatile unsigned *)place, seen;
    float x = a[INDEX];
    do {
        seen = old;
        if (__uint_as_float(seen) >= x) break;
        old = atomicCAS(place, seen, __float_as_uint(x));
    } while (old != seen);
}

KERNEL(exchange_once, int, int, int) {
    int i = INDEX;
    int old = atomicExch(&out[i / 32], i / 32 + 1);
    if (old == 0) atomicAdd(&out[n], 1);
    unsigned short *half = (unsigned short *)&out[n + 1];
    atomicCAS(half, (unsigned short)0, (unsigned short)7);
}

// A lock that the lanes of one warp take in turn.
KERNEL(spin_lock, int, int, int) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&out[0], 0, 1) == 0) {
            __threadfence();
            ((volatile int *)out)[1] = ((volatile int *)out)[1] + a[INDEX];
            __threadfence();
            atomicExch(&out[0], 0);
            done = true;
        }
    }
}

// All blocks wait for each other, twice: cooperative.
KERNEL(grid_barrier, int, int, int) {
    int i = INDEX;
    for (int round = 1; round <= 2; round++) {
        out[round * n + i] = (round == 1 ? a[i] : out[n + (i + 64) % n]) + round;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&out[0], 1);
            while (((volatile int *)out)[0] < round * (int)gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
    }
    out[3 * n + i] = out[2 * n + (i + 1) % n];
}

KERNEL(shared_atomics, int, int, int) {
    __shared__ int slot[4];
    __shared__ unsigned long long wide;
    if (threadIdx.x < 4) slot[threadIdx.x] = 0;
    if (threadIdx.x == 0) wide = 0;
    __syncthreads();
    atomicAdd(&slot[0], a[INDEX]);
    atomicMax(&slot[1], a[INDEX]);
    atomicXor(&slot[2], a[INDEX]);
    atomicExch(&slot[3], 5);
    atomicAdd(&wide, (unsigned long long)(long long)a[INDEX] << 20);
    __syncthreads();
    if (threadIdx.x < 4) out[blockIdx.x * 8 + threadIdx.x] = slot[threadIdx.x];
    if (threadIdx.x == 4) *(unsigned long long *)&out[blockIdx.x * 8 + 4] = wide;
}
