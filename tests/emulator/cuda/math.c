// References of math.cu: the host's library in double, with the bounds that CUDA gives for its own.
#include "tests/emulator/cuda/cases.h"

#include <fenv.h>

static void sines(const CudaRun *run) {
    const float *a = run->a;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++) {
        float x = a[i] * (i % 3 == 0 ? 1.0f : i % 3 == 1 ? 1e3f : 1e7f);
        out[2 * i] = (float)sin((double)x);
        out[2 * i + 1] = (float)cos((double)x);
    }
}

static void exponentials(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        double x = (double)a[i], y = (double)b[i];
        out[0] = (float)exp((double)(a[i] * 10));
        out[1] = (float)log((double)(fabsf(a[i]) + 0.01f));
        out[2] = (float)pow(fabs(x), y);
        out[3] = (float)(log1p(fabs(y)) + exp2(x) + log10(fabs(y) + 1));
    }
}

static void fast_math(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        double x = (double)a[i], y = (double)b[i];
        out[0] = (float)exp(x);
        out[1] = (float)log(fabs(x) + 1);
        out[2] = (float)(sin(x) + cos(y));
        out[3] = (float)(x / (fabs(y) + 1) + 1 / sqrt(fabs(y) + 1));
    }
}

/* One operation in each rounding. */
static float divide(int round, float x, float y) {
    volatile float a = x, b = y;
    fesetround(round);
    volatile float result = a / b;
    fesetround(FE_TONEAREST);
    return result;
}

static float root_up(float x) {
    volatile float a = x;
    fesetround(FE_UPWARD);
    volatile float result = sqrtf(a);
    fesetround(FE_TONEAREST);
    return result;
}

static float add(int round, double x, double y) {
    volatile double a = x, b = y;
    fesetround(round);
    volatile float result = (float)(a + b);
    fesetround(FE_TONEAREST);
    return result;
}

static void rounded_division(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 8) {
        float y = b[i] + (b[i] < 0 ? -0.5f : 0.5f);
        double product = (double)a[i] * (double)b[i];
        out[0] = a[i] / y;
        out[1] = divide(FE_TOWARDZERO, a[i], y);
        out[2] = root_up(fabsf(a[i]));
        out[3] = divide(FE_DOWNWARD, 1, y);
        out[4] = add(FE_TOWARDZERO, (double)a[i], (double)b[i]);
        out[5] = add(FE_UPWARD, product, 0);
        out[6] = add(FE_DOWNWARD, product, (double)y);
        out[7] = fmodf(a[i] * 100, y);
    }
}

static void special_functions(const CudaRun *run) {
    const float *a = run->a, *b = run->b;
    float *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        double x = (double)a[i], y = (double)b[i];
        out[0] = (float)tanh(x);
        out[1] = (float)erf(x);
        out[2] = (float)atan2(x, y);
        out[3] = (float)(cbrt(x) + hypot(x, y));
    }
}

static void double_functions(const CudaRun *run) {
    const double *a = run->a, *b = run->b;
    double *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        out[0] = sin(a[i] * 100);
        out[1] = exp(a[i]);
        out[2] = log(fabs(b[i]) + 0.1);
        out[3] = pow(fabs(a[i]), b[i]);
    }
}

#define CASE(name, DATA, count, tolerance)                                                         \
    {                                                                                              \
#name, {2, 1 },                                                                            \
                {96, 1 }, 192, DATA, 192, DATA, 192, DATA, 192 * (count), tolerance,               \
                 .reference = name                                                                 \
    }
const CudaCase math_cases[] = {CASE(sines, DATA_f32, 2, 1e-6),
                               CASE(exponentials, DATA_f32, 4, 2e-6),
                               CASE(fast_math, DATA_f32, 4, 2e-6),
                               CASE(rounded_division, DATA_f32, 8, 0),
                               CASE(special_functions, DATA_f32, 4, 2e-6),
                               CASE(double_functions, DATA_f64, 4, 1e-14),
                               {0}};
