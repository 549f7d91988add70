// Kernels in which threads of a block pass data to each other in all the ways there are, each with
// not one barrier or wait too many. pipelines.ptx is made of it by ./make; the test of mutations
// (tests/unit/emulator_mutants.c) takes the barriers and waits out one by one.
#include <cuda_fp16.h>
#include <stdint.h>

// Every kernel gets `in` and writes 4096 words to `out`, with one block of 128 threads.
#define KERNEL extern "C" __global__ void __launch_bounds__(128)

static __device__ uint32_t shared_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void copy16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

static __device__ void copy4(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

static __device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> static __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// A tree over the block, then over a warp.
KERNEL reduce(const float *in, float *out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < 4096; i += 128) sum += in[i];
    part[t] = sum;
    __syncthreads();
    if (t < 64) part[t] += part[t + 64];
    __syncthreads();
    if (t < 32) {
        part[t] += part[t + 32];
        for (int step = 16; step > 0; step /= 2) {
            __syncwarp();
            float other = part[(t + step) & 31];
            __syncwarp();
            part[t] += other;
        }
    }
    __syncthreads();
    for (int i = t; i < 4096; i += 128) out[i] = part[i & 31] + (float)i;
}

// Tiles through shared memory, one after another.
KERNEL transpose(const float *in, float *out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x & 31, y = threadIdx.x >> 5;
    for (int block = 0; block < 4; block++) {
        for (int i = y; i < 32; i += 4) tile[i][x] = in[block * 1024 + i * 32 + x];
        __syncthreads();
        for (int i = y; i < 32; i += 4) out[block * 1024 + i * 32 + x] = tile[x][i];
        if (block < 3) __syncthreads();
    }
}

// Prefix sums, doubling the distance, between two buffers.
KERNEL scan(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t buffer[2][128];
    int t = threadIdx.x, which = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2, which ^= 1) {
        buffer[which ^ 1][t] = buffer[which][t] + (t >= step ? buffer[which][t - step] : 0);
        __syncthreads();
    }
    for (int i = t; i < 4096; i += 128) out[i] = buffer[which][(i * 7) & 127] + (uint32_t)i;
}

// Counts in shared memory by atomics.
KERNEL histogram(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < 4096; i += 128) atomicAdd(&bins[in[i] >> 3 & 63], 1);
    __syncthreads();
    for (int i = t; i < 4096; i += 128) out[i] = bins[(i * 5) & 63];
}

// Copies two stages ahead: three buffers, one barrier a round.
KERNEL stages(const uint32_t *in, uint32_t *out) {
    __shared__ __align__(16) uint32_t buffer[3][512];
    int t = threadIdx.x;
    for (int s = 0; s < 2; s++) {
        copy16(&buffer[s][4 * t], in + s * 512 + 4 * t);
        commit();
    }
    for (int s = 0; s < 8; s++) {
        wait<1>();
        __syncthreads();
        if (s + 2 < 8) copy16(&buffer[(s + 2) % 3][4 * t], in + (s + 2) * 512 + 4 * t);
        commit();
        for (int i = t; i < 512; i += 128) out[s * 512 + i] = buffer[s % 3][511 - i] * 3;
    }
}

// One warp fetches, three compute: named barriers that tell of full and of empty buffers.
KERNEL specialised(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t buffer[2][96];
    int t = threadIdx.x, warp = t >> 5;
    if (warp == 0) {
        for (int s = 0; s < 16; s++) {
            if (s >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + (s & 1)) : "memory");
            for (int i = t; i < 96; i += 32) buffer[s & 1][i] = in[s * 96 + i];
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + (s & 1)) : "memory");
        }
    } else {
        for (int s = 0; s < 16; s++) {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + (s & 1)) : "memory");
            out[s * 96 + t - 32] = buffer[s & 1][95 - (t - 32)] + 1;
            if (s < 14) asm volatile("bar.arrive %0, 128;" ::"r"(3 + (s & 1)) : "memory");
        }
        for (int i = 1536 + t - 32; i < 4096; i += 96) out[i] = (uint32_t)i;
    }
}

static __device__ void mbarrier_init(uint64_t *m, int count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(m)), "r"(count) : "memory");
}

static __device__ void mbarrier_arrive(uint64_t *m) {
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(shared_address(m)) : "memory");
}

static __device__ void mbarrier_copies(uint64_t *m) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(m)) : "memory");
}

static __device__ void mbarrier_wait(uint64_t *m, int parity) {
    asm volatile("{.reg .pred done;\nAGAIN: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN;}" ::"r"(shared_address(m)), "r"(parity) : "memory");
}

// A ring of two buffers filled by copies of two warps and read by two others, on mbarriers.
KERNEL ring(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t buffer[2][64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        mbarrier_init(&full[t], 64);
        mbarrier_init(&empty[t], 64);
    }
    __syncthreads();
    if (t < 64) {
        for (int s = 0; s < 12; s++) {
            if (s >= 2) mbarrier_wait(&empty[s & 1], (s >> 1 & 1) ^ 1);
            copy4(&buffer[s & 1][t], in + s * 64 + t);
            mbarrier_copies(&full[s & 1]);
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        for (int i = t; i < 1024; i += 64) out[3072 + i] = (uint32_t)i;
    } else {
        for (int s = 0; s < 12; s++) {
            mbarrier_wait(&full[s & 1], s >> 1 & 1);
            for (int i = 0; i < 4; i++) out[(s * 64 + t - 64) * 4 + i] = buffer[s & 1][(t + 17 * i) & 63] + (uint32_t)i;
            mbarrier_arrive(&empty[s & 1]);
        }
    }
}

// The last block of a grid (here: warps of a block) to come does the rest: fences and an atomic.
KERNEL last_one(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t sums[4], tickets;
    int t = threadIdx.x, warp = t >> 5, lane = t & 31;
    if (t == 0) tickets = 0;
    __syncthreads();
    uint32_t sum = 0;
    for (int i = lane; i < 1024; i += 32) sum += in[warp * 1024 + i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    uint32_t ticket = 0;
    if (lane == 0) {
        sums[warp] = sum;
        __threadfence_block();
        ticket = atomicAdd(&tickets, 1);
        __threadfence_block();
    }
    ticket = __shfl_sync(~0u, ticket, 0);
    if (ticket == 3)
        for (int i = lane; i < 4096; i += 32) out[i] = sums[i & 3] + (uint32_t)i;
}

// 64x64x64 of f16 by mma.sync, operands through cp.async and ldmatrix.
KERNEL matmul(const __half *in, float *out) {
    __shared__ __align__(16) __half a[2][64][24], b[2][64][24];
    int t = threadIdx.x, warp = t >> 5, lane = t & 31;
    const __half *from_a = in, *from_b = in + 4096;
    float sum[8][4] = {};
    copy16(&a[0][t >> 1][(t & 1) * 8], from_a + (t >> 1) * 64 + (t & 1) * 8);
    copy16(&b[0][t >> 1][(t & 1) * 8], from_b + (t >> 1) * 64 + (t & 1) * 8);
    commit();
    for (int k = 0; k < 4; k++) {
        wait<0>();
        __syncthreads();
        if (k < 3) {
            copy16(&a[(k + 1) & 1][t >> 1][(t & 1) * 8], from_a + (t >> 1) * 64 + (k + 1) * 16 + (t & 1) * 8);
            copy16(&b[(k + 1) & 1][t >> 1][(t & 1) * 8], from_b + (t >> 1) * 64 + (k + 1) * 16 + (t & 1) * 8);
            commit();
        }
        uint32_t fa[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(shared_address(&a[k & 1][warp * 16 + (lane & 15)][(lane >> 4) * 8])));
        for (int n = 0; n < 8; n++) {
            uint32_t fb[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                         : "=r"(fb[0]), "=r"(fb[1])
                         : "r"(shared_address(&b[k & 1][n * 8 + (lane & 7)][(lane >> 3 & 1) * 8])));
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                         "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(sum[n][0]), "+f"(sum[n][1]), "+f"(sum[n][2]), "+f"(sum[n][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        }
    }
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < 4; i++)
            out[(warp * 16 + (lane >> 2) + (i >> 1) * 8) * 64 + n * 8 + (lane & 3) * 2 + (i & 1)] = sum[n][i];
}
