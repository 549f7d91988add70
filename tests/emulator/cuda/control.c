// References of control.cu.
#include "tests/emulator/cuda/cases.h"

#define INPUTS                                                                                     \
    const int32_t *a = run->a, *b = run->b;                                                        \
    int32_t *out = run->out;                                                                       \
    (void)b

static void switch_table(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++) {
        int32_t x = a[i], y = b[i];
        int32_t values[] = {x + y, x * 3, x / 5 - y, x ^ 0x55, -x, x * 4, y - x, 11};
        out[i] = values[x & 7];
    }
}

static void collatz(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++)
        for (int64_t x = (a[i] & 1023) + 1; x != 1; out[i]++) x = x % 2 ? 3 * x + 1 : x / 2;
}

static int32_t mix(int32_t x, int32_t y, int32_t c) { return x * 31 + (y ^ c); }

static void calls(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++)
        out[i] = mix(a[i], a[i], (int8_t)(a[i] + 1)) + mix(i, (int16_t)(a[i] * 2), 'x');
}

static void function_pointers(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++) {
        int32_t values[] = {a[i] + b[i], a[i] - b[i], a[i] * b[i]};
        out[i] = values[(uint32_t)a[i] % 3];
    }
}

static void local_array(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++) {
        uint32_t stack[16], depth = 0, sum = 0;
        for (int k = 0; k < 16; k++) stack[k] = (uint32_t)b[(i * 7 + k) % run->n];
        for (int k = 0; k < 8; k++) {
            depth = (depth + (uint32_t)(a[(i + k) % run->n] & 15)) % 16;
            stack[depth] += (uint32_t)k * 100;
        }
        for (uint32_t k = 0; k < 16; k++) sum = sum * 3 + stack[(k + depth) % 16];
        out[i] = (int32_t)sum;
    }
}

static void constant_tables(const CudaRun *run) {
    static const char *const words[] = {"zero", "one", "two", "three"};
    INPUTS;
    for (int i = 0; i < run->threads; i++) {
        int32_t x = a[i], sum = 0, weight = (x & 7) + 1;
        for (const char *c = words[x & 3]; *c; c++) sum = sum * 2 + *c;
        out[i] = sum * (weight % 2 ? weight : -weight) + ((x >> 3 & 3) + 1) * 10;
    }
}

static int32_t exit_early(int32_t x) {
    if (x < -500) return 0;
    if (x % 2) {
        if (x > 500) return 1;
        for (int k = 0; k < 100; k++)
            if (k * k > x) return k;
        return 112;
    }
    return x % 3 == 0 ? 101 : 111;
}

static void early_exits(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++) out[i] = exit_early(a[i]);
}

static void nested_loops(const CudaRun *run) {
    INPUTS;
    for (int i = 0; i < run->threads; i++)
        for (int j = 0; j < (a[i] & 7); j++)
            for (int k = j; j != 5 && k < (b[i] & 15) && out[i] % 32 != 17; k++)
                out[i] += j * k + 1;
}

static void vectors(const CudaRun *run) {
    const int32_t *a = run->a;
    const double *b = run->b;
    int32_t *out = run->out;
    for (int i = 0; i < run->threads; i++) {
        out[4 * i] = a[4 * i + 3];
        out[4 * i + 1] = a[4 * i] + a[4 * i + 1];
        out[4 * i + 2] = a[4 * i + 2];
        out[4 * i + 3] = b[2 * i] < b[2 * i + 1] ? 1 : -1;
    }
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, {2, 1 },                                                                            \
                {96, 1 }, 192, DATA_i32, 192, DATA_i32, 192, DATA_i32, 192, 0, .reference = name   \
    }
const CudaCase control_cases[] = {CASE(switch_table),
                                  CASE(collatz),
                                  CASE(calls),
                                  CASE(function_pointers),
                                  CASE(local_array),
                                  CASE(constant_tables),
                                  CASE(early_exits),
                                  CASE(nested_loops),
                                  {"vectors",
                                   {2, 1},
                                   {64, 1},
                                   128,
                                   DATA_i32,
                                   512,
                                   DATA_f64,
                                   256,
                                   DATA_i32,
                                   512,
                                   0,
                                   .reference = vectors},
                                  {0}};
