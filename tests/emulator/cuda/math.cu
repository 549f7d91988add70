// Functions of the CUDA library, which bring their own code.
#include "kernel.cuh"

KERNEL(sines, float, int, float) {
    int i = INDEX;
    float x = a[i] * (i % 3 == 0 ? 1.0f : i % 3 == 1 ? 1e3f : 1e7f);
    out[2 * i] = sinf(x);
    out[2 * i + 1] = cosf(x);
}

KERNEL(exponentials, float, float, float) {
    int i = INDEX;
    out[4 * i] = expf(a[i] * 10);
    out[4 * i + 1] = logf(fabsf(a[i]) + 0.01f);
    out[4 * i + 2] = powf(fabsf(a[i]), b[i]);
    out[4 * i + 3] = log1pf(fabsf(b[i])) + exp2f(a[i]) + log10f(fabsf(b[i]) + 1);
}

KERNEL(fast_math, float, float, float) {
    int i = INDEX;
    out[4 * i] = __expf(a[i]);
    out[4 * i + 1] = __logf(fabsf(a[i]) + 1);
    out[4 * i + 2] = __sinf(a[i]) + __cosf(b[i]);
    out[4 * i + 3] = __fdividef(a[i], fabsf(b[i]) + 1) + rsqrtf(fabsf(b[i]) + 1);
}

KERNEL(rounded_division, float, float, float) {
    int i = INDEX;
    float y = b[i] + (b[i] < 0 ? -0.5f : 0.5f);
    out[8 * i] = a[i] / y;
    out[8 * i + 1] = __fdiv_rz(a[i], y);
    out[8 * i + 2] = __fsqrt_ru(fabsf(a[i]));
    out[8 * i + 3] = __frcp_rd(y);
    out[8 * i + 4] = __fadd_rz(a[i], b[i]);
    out[8 * i + 5] = __fmul_ru(a[i], b[i]);
    out[8 * i + 6] = __fmaf_rd(a[i], b[i], y);
    out[8 * i + 7] = fmodf(a[i] * 100, y);
}

KERNEL(special_functions, float, float, float) {
    int i = INDEX;
    out[4 * i] = tanhf(a[i]);
    out[4 * i + 1] = erff(a[i]);
    out[4 * i + 2] = atan2f(a[i], b[i]);
    out[4 * i + 3] = cbrtf(a[i]) + hypotf(a[i], b[i]);
}

KERNEL(double_functions, double, double, double) {
    int i = INDEX;
    out[4 * i] = sin(a[i] * 100);
    out[4 * i + 1] = exp(a[i]);
    out[4 * i + 2] = log(fabs(b[i]) + 0.1);
    out[4 * i + 3] = pow(fabs(a[i]), b[i]);
}
