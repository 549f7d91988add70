// Blocks that work together in shared memory.
#include "kernel.cuh"

KERNEL(block_sum, float, float, float) {
    __shared__ float part[256];
    part[threadIdx.x] = a[INDEX];
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// n by n, blocks of 32 by 8.
KERNEL(transpose, float, float, float) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

KERNEL(block_scan, int, int, int) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = a[INDEX];
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int x = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += x;
    }
    out[INDEX] = part[t];
}

KERNEL(histogram, unsigned char, int, int) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[a[i] & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

KERNEL(reverse_dynamic, int, int, int) {
    extern __shared__ int words[];
    words[threadIdx.x] = a[INDEX];
    __syncthreads();
    out[INDEX] = words[blockDim.x - 1 - threadIdx.x];
}

KERNEL(bitonic_sort, int, int, int) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[INDEX];
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                int x = s[t];
                s[t] = s[other];
                s[other] = x;
            }
        }
    __syncthreads();
    out[INDEX] = s[t];
}

KERNEL(stencil, float, float, float) {
    __shared__ float s[258];
    int i = INDEX, t = threadIdx.x;
    s[t + 1] = a[i];
    if (t == 0) s[0] = i ? a[i - 1] : 0;
    if (t == 255) s[257] = i + 1 < n ? a[i + 1] : 0;
    __syncthreads();
    out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
}

// n by n, tiles of 16.
KERNEL(matmul_tiles, float, float, float) {
    __shared__ float x[16][16], y[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

// Half of the block produces, half consumes, by two named barriers.
KERNEL(named_barriers, int, int, int) {
    __shared__ int box[64];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (t < 64) {
            box[t] = a[(blockIdx.x * 4 + round) * 64 + t] * 2;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[(blockIdx.x * 4 + round) * 64 + t - 64] = box[127 - t] + 1;
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

KERNEL(block_votes, int, int, int) {
    int p = a[INDEX] & 1;
    int count = __syncthreads_count(p), all = __syncthreads_and(a[INDEX] > -2000),
        any = __syncthreads_or(a[INDEX] == 3000);
    out[INDEX] = count * 4 + all * 2 + any;
}
