// Scalar arithmetic of all sizes.
#include "kernel.cuh"

KERNEL(vector_add, float, float, float) {
    int i = INDEX;
    if (i < n) out[i] = a[i] + b[i];
}

KERNEL(saxpy_strided, float, float, float) {
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) out[i] = 2.5f * a[i] + b[i];
}

KERNEL(integer_mix, int, int, int) {
    int i = INDEX;
    if (i >= n) return;
    int x = a[i], y = b[i] | 1;
    unsigned u = (unsigned)x, v = (unsigned)y;
    out[8 * i] = x / y;
    out[8 * i + 1] = x % y;
    out[8 * i + 2] = (int)(u / v);
    out[8 * i + 3] = (int)(u % v);
    out[8 * i + 4] = __mulhi(x, y);
    out[8 * i + 5] = (int)__umulhi(u, v);
    out[8 * i + 6] = min(x, y) + max(x, y) * 3 + abs(x);
    out[8 * i + 7] = (x << (y & 31)) ^ (x >> (y & 15)) ^ (int)(u >> (v & 7));
}

KERNEL(divide64, long long, long long, long long) {
    int i = INDEX;
    if (i >= n) return;
    long long x = a[i], y = b[i] | 1;
    unsigned long long u = (unsigned long long)x, v = (unsigned long long)y;
    out[4 * i] = x / y;
    out[4 * i + 1] = x % y;
    out[4 * i + 2] = (long long)(u / v);
    out[4 * i + 3] = (long long)__umul64hi(u, v) + __mul64hi(x, y);
}

KERNEL(doubles, double, double, double) {
    int i = INDEX;
    if (i >= n) return;
    out[4 * i] = fma(a[i], b[i], 0.5);
    out[4 * i + 1] = a[i] / (b[i] * b[i] + 1.0);
    out[4 * i + 2] = sqrt(fabs(a[i]));
    out[4 * i + 3] = a[i] < b[i] ? floor(a[i]) : ceil(b[i]);
}

KERNEL(bits, unsigned, unsigned, unsigned) {
    int i = INDEX;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    out[8 * i] = __popc(x);
    out[8 * i + 1] = __clz(x) * 100 + __ffs(x);
    out[8 * i + 2] = __brev(x);
    out[8 * i + 3] = __funnelshift_l(x, y, y & 31);
    out[8 * i + 4] = __byte_perm(x, y, y & 0x7777);
    out[8 * i + 5] = (x & y) ^ (~x | (y >> 3));
    out[8 * i + 6] = (unsigned)__popcll(((unsigned long long)x << 32 | y) * 3);
    out[8 * i + 7] = x >> 5 & 0x3ff;
}

KERNEL(bytes, unsigned, unsigned, int) {
    int i = INDEX;
    if (i >= n) return;
    out[4 * i] = __dp4a((int)a[i], (int)b[i], 7);
    out[4 * i + 1] = (int)__dp4a(a[i], b[i], 7u);
    out[4 * i + 2] = (int)__usad(a[i], b[i], 1u);
    out[4 * i + 3] = __dp2a_lo((int)a[i], (int)b[i], 3);
}

KERNEL(carry, unsigned, unsigned, unsigned) {
    int i = INDEX;
    if (i >= n) return;
    unsigned lo, mid, hi;
    asm("{add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %3, %3; addc.u32 %2, %4, 0;}"
        : "=r"(lo), "=r"(mid), "=r"(hi)
        : "r"(a[i]), "r"(b[i]));
    out[4 * i] = lo;
    out[4 * i + 1] = mid;
    out[4 * i + 2] = hi;
    asm("{sub.cc.u32 %0, %1, %2; subc.u32 %0, %1, %2;}" : "=&r"(out[4 * i + 3]) : "r"(a[i]), "r"(b[i]));
}

KERNEL(small_types, signed char, unsigned short, int) {
    int i = INDEX;
    if (i >= n) return;
    short s = (short)(b[i] * 3);
    unsigned char c = (unsigned char)(a[i] + b[i]);
    out[i] = a[i] * s + c - (signed char)b[i];
}
