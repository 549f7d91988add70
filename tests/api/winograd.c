// docs/numerics.md on convolutions by Winograd's F(2x2, 3x3): the order of their sums bit by bit,
// written here a second time; how far they are off; and what becomes of infinities and NaN.
#include "tests/api/model_run.h"

#include <float.h>
#include <math.h>

enum { CHANNELS = 80, OUTPUTS = 16, TAPS = 9, BLOCK = 64, LO = 1 };

// Weights are multiples of 1/64, so that their transforms are exact.
static float weight(int output, int channel, int tap) {
    int number = (output * CHANNELS + channel) * TAPS + tap;
    return (float)(number * 37 % 61 - 30) / 64;
}

static bool open_conv(Run *r, int size, const char *level) {
    char text[600];
    snprintf(
        text, sizeof text,
        "model m(x: f32[1, %d, %d, %d]) -> (y: f32[1, %d, %d, %d]) {\n"
        "    i = cast(iota([%d, %d, 3, 3], 0), f32) * %d.0 + cast(iota([%d, %d, 3, 3], 1), f32) * "
        "9.0\n"
        "    j = cast(iota([%d, %d, 3, 3], 2), f32) * 3.0 + cast(iota([%d, %d, 3, 3], 3), f32)\n"
        "    w = ((i + j) * 37.0 %% 61.0 - 30.0) / 64.0\n"
        "    c = conv(permute(x, [0, 3, 1, 2]), w, lo=1, hi=1)\n"
        "    y = permute(c, [0, 2, 3, 1])\n"
        "}\n",
        size, size, CHANNELS, size, size, OUTPUTS, OUTPUTS, CHANNELS, CHANNELS * TAPS, OUTPUTS,
        CHANNELS, OUTPUTS, CHANNELS, OUTPUTS, CHANNELS);
    return run_open(r, text, level, 1, 0);
}

// Pixel of channel `channel`, 0 outside the image.
static float pixel(const Run *r, int size, int row, int column, int channel) {
    if (row < 0 || row >= size || column < 0 || column >= size) return 0;
    return in_f32(r, 0)[(row * size + column) * CHANNELS + channel];
}

// ---- the algorithm ------------------------------------------------------------------------------

static void transform_pixels(const float d[4], float out[4]) {
    out[0] = d[0] - d[2];
    out[1] = d[1] + d[2];
    out[2] = d[2] - d[1];
    out[3] = d[1] - d[3];
}

static void transform_weights(const float g[3], float out[4]) {
    out[0] = g[0];
    out[1] = (g[0] + g[1] + g[2]) / 2;
    out[2] = (g[0] - g[1] + g[2]) / 2;
    out[3] = g[2];
}

// Bᵀ d B of one channel, columns first.
static void transform_patch(const Run *r, int size, int row, int column, int channel,
                            float out[4][4]) {
    float half[4][4];
    for (int j = 0; j < 4; j++) {
        float line[4], made[4];
        for (int i = 0; i < 4; i++) line[i] = pixel(r, size, row + i, column + j, channel);
        transform_pixels(line, made);
        for (int i = 0; i < 4; i++) half[i][j] = made[i];
    }
    for (int i = 0; i < 4; i++) transform_pixels(half[i], out[i]);
}

// G g Gᵀ likewise.
static void transform_kernel(int output, int channel, float out[4][4]) {
    float half[4][3];
    for (int j = 0; j < 3; j++) {
        float line[3], made[4];
        for (int i = 0; i < 3; i++) line[i] = weight(output, channel, i * 3 + j);
        transform_weights(line, made);
        for (int i = 0; i < 4; i++) half[i][j] = made[i];
    }
    for (int i = 0; i < 4; i++) transform_weights(half[i], out[i]);
}

// The 16 sums over the channels, in blocks.
static void multiply(const Run *r, int size, int row, int column, int output, float m[4][4]) {
    float block[4][4] = {{0}};
    memset(m, 0, sizeof(float[4][4]));
    for (int channel = 0; channel < CHANNELS; channel++) {
        float v[4][4], u[4][4];
        transform_patch(r, size, row - LO, column - LO, channel, v);
        transform_kernel(output, channel, u);
        bool last = channel % BLOCK == BLOCK - 1 || channel == CHANNELS - 1;
        for (int i = 0; i < 16; i++) {
            float *sum = &block[i / 4][i % 4];
            *sum = fmaf(v[i / 4][i % 4], u[i / 4][i % 4], *sum);
            if (last) m[i / 4][i % 4] += *sum, *sum = 0;
        }
    }
}

static void transform_back(const float m[4], float out[2]) {
    out[0] = (m[0] + m[1]) + m[2];
    out[1] = (m[1] - m[2]) - m[3];
}

// The result at a row and column of the patch that begins at even ones.
static float winograd_at(const Run *r, int size, int row, int column, int output) {
    float m[4][4], half[2][4], y[2];
    multiply(r, size, row / 2 * 2, column / 2 * 2, output, m);
    for (int j = 0; j < 4; j++) {
        float line[4] = {m[0][j], m[1][j], m[2][j], m[3][j]}, made[2];
        transform_back(line, made);
        half[0][j] = made[0];
        half[1][j] = made[1];
    }
    transform_back(half[row % 2], y);
    return y[column % 2];
}

static void test_order(void) {
    static const int sizes[] = {6, 13};
    for (int k = 0; k < 2; k++) {
        Run r;
        int size = sizes[k];
        if (!open_conv(&r, size, "2") || !CHECK_INT(run_now(&r), TCC_OK)) return;
        for (int i = 0; i < size * size; i++)
            for (int o = 0; o < OUTPUTS; o++)
                check_bits(&r, 0, i * OUTPUTS + o, winograd_at(&r, size, i / size, i % size, o));
        run_close(&r);
    }
}

// ---- how far it is off --------------------------------------------------------------------------

// The exact result and the tolerance of the contract.
static double exact_at(const Run *r, int size, int row, int column, int output,
                       double *out_tolerance) {
    double sum = 0, lengths = 0;
    for (int channel = 0; channel < CHANNELS; channel++) {
        double pixels = 0, weights = 0;
        for (int tap = 0; tap < TAPS; tap++) {
            double x = (double)pixel(r, size, row + tap / 3 - LO, column + tap % 3 - LO, channel);
            double w = (double)weight(output, channel, tap);
            sum += x * w;
            pixels += x * x;
            weights += w * w;
        }
        lengths += sqrt(pixels) * sqrt(weights);
    }
    double chain = BLOCK + ceil((double)CHANNELS * TAPS / BLOCK);
    double roundings = 4 + fmax(2 * sqrt((double)CHANNELS * TAPS), chain);
    *out_tolerance = roundings * ldexp(1, -24) * 6.83 * lengths + fabs(sum) * ldexp(1, -24);
    return sum;
}

// What the elements of an image are multiplied by.
static float scale(int kind, int i) {
    switch (kind) {
    case 0: return 1;
    case 1: return ldexpf(1, i * 29 % 41 - 20);
    case 2: return i % 7 == 0 ? 1e12F : 1;
    default: return i % 3 == 0 ? 1e-38F : 1e-42F;
    }
}

static void test_accuracy(void) {
    enum { SIZE = 8, KINDS = 4 };
    for (int kind = 0; kind < KINDS; kind++) {
        Run r;
        if (!open_conv(&r, SIZE, "2")) return;
        float *x = r.in[0].data;
        for (int i = 0; i < SIZE * SIZE * CHANNELS; i++) x[i] *= scale(kind, i);
        if (!CHECK_INT(run_now(&r), TCC_OK)) return;
        for (int i = 0; i < SIZE * SIZE * OUTPUTS; i++) {
            double tolerance, got = (double)out_f32(&r, 0)[i];
            int at = i / OUTPUTS;
            double want = exact_at(&r, SIZE, at / SIZE, at % SIZE, i % OUTPUTS, &tolerance);
            CHECK(fabs(got - want) <= tolerance + 0x1p-149);
        }
        run_close(&r);
    }
}

// ---- special values -----------------------------------------------------------------------------

// A pixel that is no number, or too large, spoils the results that read it and no others.
static void check_special(float value) {
    enum { SIZE = 10, ROW = 4, COLUMN = 5 };
    Run r;
    if (!open_conv(&r, SIZE, "2")) return;
    float *x = r.in[0].data;
    x[(ROW * SIZE + COLUMN) * CHANNELS + 3] = value;
    if (!CHECK_INT(run_now(&r), TCC_OK)) return;
    for (int i = 0; i < SIZE * SIZE * OUTPUTS; i++) {
        int row = i / OUTPUTS / SIZE, column = i / OUTPUTS % SIZE;
        bool reads = abs(row - ROW) <= 1 && abs(column - COLUMN) <= 1;
        CHECK(!isfinite(out_f32(&r, 0)[i]) == reads);
    }
    run_close(&r);
}

static void test_special_values(void) {
    check_special(INFINITY);
    check_special(-INFINITY);
    check_special(NAN);
}

// -O1 has no pass that packs weights, and takes the direct sum.
static void test_other_levels(void) {
    enum { SIZE = 6 };
    Run r, direct;
    if (!open_conv(&r, SIZE, "2") || !CHECK_INT(run_now(&r), TCC_OK)) return;
    if (!open_conv(&direct, SIZE, "1") || !CHECK_INT(run_now(&direct), TCC_OK)) return;
    int different = 0;
    for (int i = 0; i < SIZE * SIZE * OUTPUTS; i++)
        different += out_f32(&r, 0)[i] != out_f32(&direct, 0)[i];
    CHECK(different > 0);
    run_close(&r);
    run_close(&direct);
}

int main(void) {
    RUN(test_order);
    RUN(test_accuracy);
    RUN(test_special_values);
    RUN(test_other_levels);
    return test_done();
}
