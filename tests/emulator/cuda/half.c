// References of half.cu, on doubles: sums and products of small floats are exact there.
#include "tests/emulator/cuda/cases.h"

static uint16_t encode(SmallFormat format, SmallRound round, double value) {
    return (uint16_t)small_encode(format, round, false, value);
}

static void half_arithmetic(const CudaRun *run) {
    const uint16_t *a = run->a, *b = run->b;
    uint16_t *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 8) {
        double x = small_decode(SMALL_f16, a[i]), y = small_decode(SMALL_f16, b[i]);
        double relu = x * y + y;
        double values[] = {x + y,         x * y,
                           x * y + x,     x - y,
                           fmin(x, y),    fmax(fabs(x), -y),
                           x < y ? x : y, relu > 0 ? relu : 0};
        for (int k = 0; k < 8; k++) out[k] = encode(SMALL_f16, SMALL_rn, values[k]);
    }
}

static void half2_arithmetic(const CudaRun *run) {
    const uint16_t *a = run->a, *b = run->b;
    uint16_t *out = run->out;
    for (int i = 0; i < 2 * run->threads; i++) {
        double x = small_decode(SMALL_f16, a[i]), y = small_decode(SMALL_f16, b[i]);
        double values[] = {x + y, x * y + x, fmin(fmax(x * y, 0), 1), x > y};
        for (int k = 0; k < 4; k++)
            out[(i / 2 * 4 + k) * 2 + i % 2] = encode(SMALL_f16, SMALL_rn, values[k]);
    }
}

static void bfloat_arithmetic(const CudaRun *run) {
    const uint16_t *a = run->a, *b = run->b;
    uint16_t *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 4) {
        double x = small_decode(SMALL_bf16, a[i]), y = small_decode(SMALL_bf16, b[i]);
        out[0] = encode(SMALL_bf16, SMALL_rn, x * y + x);
        out[1] = encode(SMALL_bf16, SMALL_rn, fmax(x, y));
        out[2] = encode(SMALL_bf16, SMALL_rn, (double)((float)x * 1.1f));
        out[3] = encode(SMALL_bf16, SMALL_rz, (double)((float)y * 1.7f));
    }
}

static void half_conversions(const CudaRun *run) {
    const float *a = run->a;
    uint16_t *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 8) {
        double x = (double)a[i];
        double hundred = small_decode(SMALL_f16, encode(SMALL_f16, SMALL_rn, (double)(a[i] * 100)));
        out[0] = encode(SMALL_f16, SMALL_rn, x);
        out[1] = encode(SMALL_f16, SMALL_rz, x);
        out[2] = encode(SMALL_f16, SMALL_rp, x);
        out[3] = encode(SMALL_f16, SMALL_rm, x);
        out[4] = encode(SMALL_bf16, SMALL_rn, x);
        out[5] = encode(SMALL_f16, SMALL_rn, trunc((double)(a[i] * 1000)));
        out[6] = (uint16_t)(int16_t)hundred;
        out[7] = encode(SMALL_f16, SMALL_rn, x * 1.0009);
    }
}

static int32_t clamp(double x, double least, double most) {
    if (x < least) x = least;
    if (x > most) x = most;
    return (int32_t)(int64_t)x;
}

static int32_t float_bits(float f) {
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Toward zero, or down: from the nearest float a step back where it is too large. */
static float round_float(double x, bool down) {
    float f = (float)x;
    bool too_large = down ? (double)f > x : fabs((double)f) > fabs(x);
    return too_large ? nextafterf(f, down ? -INFINITY : 0) : f;
}

static void float_to_int(const CudaRun *run) {
    const float *a = run->a;
    int32_t *out = run->out;
    for (int i = 0; i < run->threads; i++, out += 8) {
        float f = a[i] * 1e3f;
        double x = (double)f;
        out[0] = clamp(rint(x), INT32_MIN, INT32_MAX);
        out[1] = clamp(trunc(x), INT32_MIN, INT32_MAX);
        out[2] = clamp(ceil(x), INT32_MIN, INT32_MAX);
        out[3] = clamp(floor(x), INT32_MIN, INT32_MAX);
        out[4] = clamp(rint(x), 0, UINT32_MAX);
        out[5] = clamp(trunc((double)(f * 1e9f)), INT32_MIN, INT32_MAX);
        out[6] = float_bits(round_float((double)float_bits(f), false));
        out[7] = float_bits(round_float(x * 1.1, true));
    }
}

const CudaCase half_cases[] = {{"half_arithmetic",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_f16,
                                128,
                                DATA_f16,
                                128,
                                DATA_f16,
                                1024,
                                0,
                                .reference = half_arithmetic},
                               {"half2_arithmetic",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_f16,
                                256,
                                DATA_f16,
                                256,
                                DATA_f16,
                                1024,
                                0,
                                .reference = half2_arithmetic},
                               {"bfloat_arithmetic",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_bf16,
                                128,
                                DATA_bf16,
                                128,
                                DATA_bf16,
                                512,
                                0,
                                .reference = bfloat_arithmetic},
                               {"half_conversions",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_f32,
                                128,
                                DATA_none,
                                0,
                                DATA_u16,
                                1024,
                                0,
                                .reference = half_conversions},
                               {"float_to_int",
                                {2, 1},
                                {64, 1},
                                128,
                                DATA_f32,
                                128,
                                DATA_none,
                                0,
                                DATA_i32,
                                1024,
                                0,
                                .reference = float_to_int},
                               {0}};
