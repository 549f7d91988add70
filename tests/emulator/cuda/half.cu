// Numbers of 16 and 8 bits, and conversions. b is not used but where said.
#include "kernel.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

KERNEL(half_arithmetic, __half, __half, __half) {
    int i = INDEX;
    __half x = a[i], y = b[i];
    out[8 * i] = __hadd(x, y);
    out[8 * i + 1] = __hmul(x, y);
    out[8 * i + 2] = __hfma(x, y, x);
    out[8 * i + 3] = __hsub(x, y);
    out[8 * i + 4] = __hmin(x, y);
    out[8 * i + 5] = __hmax(__habs(x), __hneg(y));
    out[8 * i + 6] = __hlt(x, y) ? x : y;
    out[8 * i + 7] = __hfma_relu(x, y, y);
}

KERNEL(half2_arithmetic, __half2, __half2, __half2) {
    int i = INDEX;
    out[4 * i] = __hadd2(a[i], b[i]);
    out[4 * i + 1] = __hfma2(a[i], b[i], a[i]);
    out[4 * i + 2] = __hmul2_sat(a[i], b[i]);
    out[4 * i + 3] = __hgt2(a[i], b[i]);
}

KERNEL(bfloat_arithmetic, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16) {
    int i = INDEX;
    out[4 * i] = __hfma(a[i], b[i], a[i]);
    out[4 * i + 1] = __hmax(a[i], b[i]);
    out[4 * i + 2] = __float2bfloat16_rn(__bfloat162float(a[i]) * 1.1f);
    out[4 * i + 3] = __float2bfloat16_rz(__bfloat162float(b[i]) * 1.7f);
}

KERNEL(half_conversions, float, int, unsigned short) {
    int i = INDEX;
    float x = a[i];
    out[8 * i] = __half_as_ushort(__float2half_rn(x));
    out[8 * i + 1] = __half_as_ushort(__float2half_rz(x));
    out[8 * i + 2] = __half_as_ushort(__float2half_ru(x));
    out[8 * i + 3] = __half_as_ushort(__float2half_rd(x));
    out[8 * i + 4] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
    out[8 * i + 5] = __half_as_ushort(__int2half_rn((int)(x * 1000)));
    out[8 * i + 6] = (unsigned short)__half2short_rz(__float2half_rn(x * 100));
    out[8 * i + 7] = __half_as_ushort(__double2half((double)x * 1.0009));
}

KERNEL(float_to_int, float, int, int) {
    int i = INDEX;
    float x = a[i] * 1e3f;
    out[8 * i] = __float2int_rn(x);
    out[8 * i + 1] = __float2int_rz(x);
    out[8 * i + 2] = __float2int_ru(x);
    out[8 * i + 3] = __float2int_rd(x);
    out[8 * i + 4] = (int)__float2uint_rn(x);
    out[8 * i + 5] = __float2int_rz(x * 1e9f);
    out[8 * i + 6] = __float_as_int(__int2float_rz(__float_as_int(x)));
    out[8 * i + 7] = __float_as_int(__double2float_rd((double)x * 1.1));
}
