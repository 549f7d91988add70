// Products of small matrices: each type of mma, one warp. A comes by rows in a, B by columns in b.
#include "kernel.cuh"

#include <cuda_fp16.h>
#include <mma.h>

#define LANES int g = threadIdx.x / 4, t = threadIdx.x % 4

__device__ void store_tile(float *out, int g, int t, const float *d) {
    for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
}

// 16 by 16 times 16 by 8: 8 words of two halves a row.
KERNEL(mma_f16, __half, __half, float) {
    LANES;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    float d[4];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(x[g * 8 + t]), "r"(x[(g + 8) * 8 + t]), "r"(x[g * 8 + t + 4]),
          "r"(x[(g + 8) * 8 + t + 4]), "r"(y[g * 8 + t]), "r"(y[g * 8 + t + 4]), "f"(0.5f));
    store_tile(out, g, t, d);
}

KERNEL(mma_f16_f16, __half, __half, __half) {
    LANES;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    unsigned d0, d1;
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%8};"
        : "=r"(d0), "=r"(d1)
        : "r"(x[g * 8 + t]), "r"(x[(g + 8) * 8 + t]), "r"(x[g * 8 + t + 4]),
          "r"(x[(g + 8) * 8 + t + 4]), "r"(y[g * 8 + t]), "r"(y[g * 8 + t + 4]), "r"(0u));
    ((unsigned *)out)[g * 4 + t] = d0;
    ((unsigned *)out)[(g + 8) * 4 + t] = d1;
}

KERNEL(mma_bf16, unsigned short, unsigned short, float) {
    LANES;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    float d[4];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(x[g * 8 + t]), "r"(x[(g + 8) * 8 + t]), "r"(x[g * 8 + t + 4]),
          "r"(x[(g + 8) * 8 + t + 4]), "r"(y[g * 8 + t]), "r"(y[g * 8 + t + 4]), "f"(0.25f));
    store_tile(out, g, t, d);
}

// 16 by 8 times 8 by 8.
KERNEL(mma_tf32, float, float, float) {
    LANES;
    unsigned x[4], y[2];
    float d[4];
    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(a[(g + 8 * (i % 2)) * 8 + t + 4 * (i / 2)]));
    for (int i = 0; i < 2; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(b[g * 8 + t + 4 * i]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(0.0f));
    store_tile(out, g, t, d);
}

// 16 by 32 times 32 by 8, signed times unsigned bytes.
KERNEL(mma_s8, signed char, unsigned char, int) {
    LANES;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    int d[4];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(x[g * 8 + t]), "r"(x[(g + 8) * 8 + t]), "r"(x[g * 8 + t + 4]),
          "r"(x[(g + 8) * 8 + t + 4]), "r"(y[g * 8 + t]), "r"(y[g * 8 + t + 4]), "r"(-3));
    for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
}

// 16 by 64 times 64 by 8 nibbles; 16 by 256 times 256 by 8 bits.
KERNEL(mma_nibbles_bits, unsigned, unsigned, int) {
    LANES;
    int d[4], e[4];
    asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]),
          "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]), "r"(0));
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3},{%4,%5,%6,%7},"
        "{%8,%9},{%10,%10,%10,%10};"
        : "=r"(e[0]), "=r"(e[1]), "=r"(e[2]), "=r"(e[3])
        : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]),
          "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]), "r"(0));
    for (int i = 0; i < 4; i++) {
        out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
        out[128 + (g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = e[i];
    }
}

// 8 by 4 times 4 by 8.
KERNEL(mma_f64, double, double, double) {
    LANES;
    double d0, d1;
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%4};"
        : "=d"(d0), "=d"(d1)
        : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]), "d"(2.0));
    out[g * 8 + 2 * t] = d0;
    out[g * 8 + 2 * t + 1] = d1;
}

// A keeps columns 0 and 2 of each four (0b1000): 16 by 32 sparse times 32 by 8.
KERNEL(mma_sparse, __half, __half, float) {
    LANES;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    float d[4];
    asm("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},"
        "{%8,%9,%10,%11},{%12,%12,%12,%12}, %13, 0x0;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(x[g * 8 + t]), "r"(x[(g + 8) * 8 + t]), "r"(x[g * 8 + t + 4]),
          "r"(x[(g + 8) * 8 + t + 4]), "r"(y[g * 16 + t]), "r"(y[g * 16 + t + 4]),
          "r"(y[g * 16 + t + 8]), "r"(y[g * 16 + t + 12]), "f"(0.0f), "r"(0x88888888u));
    store_tile(out, g, t, d);
}

// The C++ interface, 16 by 16 by 16 twice along k.
KERNEL(wmma_f16, __half, __half, float) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 1.0f);
    for (int k = 0; k < 32; k += 16) {
        load_matrix_sync(x, a + k, 32);
        load_matrix_sync(y, b + k, 32);
        mma_sync(sum, x, y, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2;
    store_matrix_sync(out, sum, 16, mem_row_major);
}

// ldmatrix reads four tiles of 8 by 8 halves, the second time transposed.
KERNEL(load_matrix, unsigned short, int, unsigned) {
    __shared__ __align__(16) unsigned short tile[4 * 64];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = a[i];
    __syncwarp();
    unsigned address = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 8]), r[4], s[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
                 : "r"(address));
    for (int i = 0; i < 4; i++) {
        out[i * 32 + threadIdx.x] = r[i];
        out[128 + i * 32 + threadIdx.x] = s[i];
    }
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(r[0]));
    out[256 + threadIdx.x] = r[0];
}
