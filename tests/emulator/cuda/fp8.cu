// Numbers of 8 bits (sm_89).
#include "kernel.cuh"

#include <cuda_fp8.h>

KERNEL(fp8_encode, float, int, unsigned char) {
    int i = INDEX;
    out[2 * i] = __nv_cvt_float_to_fp8(a[i] * 100, __NV_SATFINITE, __NV_E4M3);
    out[2 * i + 1] = __nv_cvt_float_to_fp8(a[i] * 100, __NV_SATFINITE, __NV_E5M2);
}

KERNEL(fp8_decode, unsigned char, int, float) {
    int i = INDEX;
    out[2 * i] = __half2float(__half(__nv_cvt_fp8_to_halfraw(a[i], __NV_E4M3)));
    out[2 * i + 1] = __half2float(__half(__nv_cvt_fp8_to_halfraw(a[i], __NV_E5M2)));
}

// D = A B + C with A of 16 by 32 e4m3, B of 32 by 8 e5m2: a holds A, b holds B by columns.
KERNEL(mma_fp8, unsigned char, unsigned char, float) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;
    unsigned a0 = x[g * 8 + t], a1 = x[(g + 8) * 8 + t], a2 = x[g * 8 + t + 4],
             a3 = x[(g + 8) * 8 + t + 4], b0 = y[g * 8 + t], b1 = y[g * 8 + t + 4];
    float d0, d1, d2, d3;
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%10,%10,%10,%10};"
        : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(1.0f));
    out[g * 8 + 2 * t] = d0;
    out[g * 8 + 2 * t + 1] = d1;
    out[(g + 8) * 8 + 2 * t] = d2;
    out[(g + 8) * 8 + 2 * t + 1] = d3;
}
