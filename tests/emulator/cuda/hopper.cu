// What sm_90 added and needs no cluster.
#include "kernel.cuh"

#include <cuda_bf16.h>

KERNEL(store_matrix, unsigned, int, unsigned) {
    __shared__ __align__(16) unsigned tile[128];
    unsigned address = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 4]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address),
                 "r"(a[threadIdx.x]), "r"(a[32 + threadIdx.x]), "r"(a[64 + threadIdx.x]),
                 "r"(a[96 + threadIdx.x])
                 : "memory");
    __syncwarp();
    for (int i = threadIdx.x; i < 128; i += 32) out[i] = tile[i];
}

KERNEL(elect_one, int, int, int) {
    unsigned leader, elected;
    asm volatile("{.reg .pred p; elect.sync %0|p, -1; selp.u32 %1, 1, 0, p;}"
                 : "=r"(leader), "=r"(elected));
    int sum = __reduce_add_sync(ALL, (int)elected);
    out[INDEX] = sum * 100 + (leader < 32) + (elected == (threadIdx.x % 32 == leader));
}

// A double buffer that an mbarrier guards: try_wait by parity, arrive.
KERNEL(barrier_phases, int, int, int) {
    __shared__ unsigned long long full;
    __shared__ int box[128];
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(bar) : "memory");
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        box[threadIdx.x] = a[INDEX] * (round + 1);
        asm volatile("{.reg .pred p; .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again; }" ::"r"(bar),
                     "r"(round & 1)
                     : "memory");
        out[round * n + INDEX] = box[127 - threadIdx.x];
        __syncthreads();
    }
}

KERNEL(bfloat_native, __nv_bfloat162, __nv_bfloat162, __nv_bfloat162) {
    int i = INDEX;
    out[2 * i] = __hadd2(a[i], b[i]);
    out[2 * i + 1] = __hmul2(a[i], b[i]);
}
