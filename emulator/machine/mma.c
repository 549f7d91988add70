/* Gather the operands into plain matrices, multiply, scatter. */
#include "emulator/machine/mma.h"

#include "emulator/machine/convert.h"
#include "emulator/machine/vector.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- from registers to matrices and back ----------------------------------------------------- */

/* Where a lane's and an element's share of the index lie, in a matrix of rows of `stride`. */
typedef struct Places {
    uint16_t lane[MMA_LANES];
    uint16_t element[1 << MMA_ELEMENT_BITS];
} Places;

static void places_fill(uint16_t *at, const uint8_t *row, const uint8_t *column, int bits,
                        int stride) {
    at[0] = 0;
    for (int bit = 0; bit < bits; bit++)
        for (int i = 0; i < 1 << bit; i++)
            at[(1 << bit) + i] = (uint16_t)(at[i] + row[bit] * stride + column[bit]);
}

static int bits_for(int count) { return count > 1 ? 32 - __builtin_clz((unsigned)count - 1) : 0; }

static void places_of(const MmaLayout *l, int stride, Places *out) {
    places_fill(out->lane, l->lane_row, l->lane_column, 5, stride);
    places_fill(out->element, l->element_row, l->element_column, bits_for(l->elements), stride);
}

static EMU_VECTOR void decode_f16(float *restrict out, const uint32_t *restrict words, int shift) {
    for (int i = 0; i < MMA_LANES; i++) out[i] = emu_f16_to_f32((uint16_t)(words[i] >> shift));
}

static EMU_VECTOR void decode_bf16(float *restrict out, const uint32_t *restrict words, int shift) {
    for (int i = 0; i < MMA_LANES; i++) out[i] = emu_bf16_to_f32((uint16_t)(words[i] >> shift));
}

/* e5m2 is the upper half of an f16. */
static EMU_VECTOR void decode_e5m2(float *restrict out, const uint32_t *restrict words, int shift) {
    for (int i = 0; i < MMA_LANES; i++)
        out[i] = emu_f16_to_f32((uint16_t)((words[i] >> shift & 0xff) << 8));
}

/* e4m3 in the place of an f16 whose exponent is short of a bit and 8 too small. */
static EMU_VECTOR void decode_e4m3(float *restrict out, const uint32_t *restrict words, int shift) {
    for (int i = 0; i < MMA_LANES; i++) {
        uint32_t byte = words[i] >> shift & 0xff;
        uint32_t half = (byte & 0x80) << 8 | (byte & 0x7f) << 7;
        float value = emu_f16_to_f32((uint16_t)half) * 256;
        out[i] = (byte & 0x7f) == 0x7f ? emu_float(0x7fffffff) : value;
    }
}

static void decode_words(float *restrict out, const uint32_t *restrict words, uint32_t mask) {
    for (int i = 0; i < MMA_LANES; i++) out[i] = emu_float(words[i] & mask);
}

/* One element of each lane as f32: the one at bit `shift` of the register. */
static void decode(PtxType type, float *out, const uint32_t *words, int shift) {
    switch (type) {
    case PTX_TYPE_f16: decode_f16(out, words, shift); break;
    case PTX_TYPE_bf16: decode_bf16(out, words, shift); break;
    case PTX_TYPE_e4m3: decode_e4m3(out, words, shift); break;
    case PTX_TYPE_e5m2: decode_e5m2(out, words, shift); break;
    case PTX_TYPE_tf32: decode_words(out, words, 0xffffe000); break;
    default: decode_words(out, words, 0xffffffff); break;
    }
}

static void gather_f32(float *out, int stride, const MmaLayout *l, PtxType type,
                       const void *const *registers, uint32_t lanes) {
    Places at;
    float values[MMA_LANES];
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++) {
        int bit = i * l->bits;
        decode(type, values, registers[bit / 32], bit % 32);
        for (int lane = 0; lane < MMA_LANES; lane++)
            if (lanes >> lane & 1) out[at.lane[lane] + at.element[i]] = values[lane];
    }
}

static void gather_f64(double *out, int stride, const MmaLayout *l, const void *const *registers) {
    Places at;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++)
        for (int lane = 0; lane < MMA_LANES; lane++)
            out[at.lane[lane] + at.element[i]] = ((const double *)registers[i])[lane];
}

static int32_t decode_integer(uint32_t word, int bits, bool is_signed) {
    uint32_t up = word << (32 - bits);
    return is_signed ? (int32_t)up >> (32 - bits) : (int32_t)(up >> (32 - bits));
}

static void gather_i32(int32_t *out, int stride, const MmaLayout *l, PtxType type,
                       const void *const *registers) {
    Places at;
    bool is_signed = ptx_type_class(type) == PTX_CLASS_signed;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++) {
        int bit = i * l->bits;
        const uint32_t *words = registers[bit / 32];
        for (int lane = 0; lane < MMA_LANES; lane++)
            out[at.lane[lane] + at.element[i]] =
                decode_integer(words[lane] >> bit % 32, l->bits, is_signed);
    }
}

static void scatter_f32(const float *in, int stride, const MmaLayout *l, void *const *registers,
                        uint32_t lanes) {
    Places at;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++)
        for (int lane = 0; lane < MMA_LANES; lane++)
            if (lanes >> lane & 1)
                ((uint32_t *)registers[i])[lane] =
                    emu_float_bits(in[at.lane[lane] + at.element[i]]);
}

static void scatter_f16(const float *in, int stride, const MmaLayout *l, void *const *registers,
                        uint32_t lanes) {
    Places at;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i += 2)
        for (int lane = 0; lane < MMA_LANES; lane++) {
            uint32_t low = emu_f32_to_f16(in[at.lane[lane] + at.element[i]]);
            uint32_t high = emu_f32_to_f16(in[at.lane[lane] + at.element[i + 1]]);
            if (lanes >> lane & 1) ((uint32_t *)registers[i / 2])[lane] = high << 16 | low;
        }
}

static void scatter_f64(const double *in, int stride, const MmaLayout *l, void *const *registers) {
    Places at;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++)
        for (int lane = 0; lane < MMA_LANES; lane++)
            ((double *)registers[i])[lane] = in[at.lane[lane] + at.element[i]];
}

static void scatter_i32(const int32_t *in, int stride, const MmaLayout *l, void *const *registers) {
    Places at;
    places_of(l, stride, &at);
    for (int i = 0; i < l->elements; i++)
        for (int lane = 0; lane < MMA_LANES; lane++)
            ((uint32_t *)registers[i])[lane] = (uint32_t)in[at.lane[lane] + at.element[i]];
}

/* ---- products -------------------------------------------------------------------------------- */

typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));

/* d[m][n] += a[m][p] * b[p][n] in the order of p. A row of 8 columns is one AVX register, and four
 * rows at once hide the time that a sum waits for the one before. */
static EMU_VECTOR void multiply_8(float *restrict d, const float *restrict a,
                                  const float *restrict b, int m, int packed) {
    for (int i = 0; i < m; i += 4) {
        Eight *to = (Eight *)(d + i * 8);
        Eight s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3];
        const float *row = a + i * packed;
        for (int p = 0; p < packed; p++) {
            Eight line = *(const Eight *)(b + p * 8);
            s0 += row[p] * line;
            s1 += row[p + packed] * line;
            s2 += row[p + 2 * packed] * line;
            s3 += row[p + 3 * packed] * line;
        }
        to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
}

/* The same where element p of row i of a meets row columns[i][p] of b. */
static void multiply(float *restrict d, const float *restrict a, const float *restrict b,
                     const Mma *mma, int packed, const uint16_t *columns) {
    for (int i = 0; i < mma->m; i++)
        for (int p = 0; p < packed; p++) {
            int k = columns ? columns[i * packed + p] : p;
            for (int j = 0; j < mma->n; j++)
                d[i * mma->n + j] += a[i * packed + p] * b[k * mma->n + j];
        }
}

static void multiply_exact(float *d, const float *a, const float *b, const Mma *mma, int packed,
                           const uint16_t *columns) {
    float column[MMA_PACKED];
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            for (int p = 0; p < packed; p++) {
                int k = columns ? columns[i * packed + p] : p;
                column[p] = b[k * mma->n + j];
            }
            float *element = &d[i * mma->n + j];
            *element = mma_exact(mma, a + i * packed, column, packed, *element);
        }
}

static void canonical_nans(float *d, int count) {
    for (int i = 0; i < count; i++)
        if (d[i] != d[i]) d[i] = emu_float(0x7fffffff);
}

static int packed_of(const Mma *mma) { return mma->sparse ? mma->k / 2 : mma->k; }

/* A product of the lanes of a mask; the whole warp but for m8n8k4. */
static void run_floats(const Mma *mma, const MmaRegisters *r, uint32_t lanes,
                       const uint16_t *columns) {
    float a[MMA_ROWS * 16], b[64 * 16], d[MMA_ROWS * MMA_COLUMNS];
    int packed = packed_of(mma);
    gather_f32(a, packed, &mma->layout_a, mma->a, r->a, lanes);
    gather_f32(b, mma->n, &mma->layout_b, mma->b, r->b, lanes);
    gather_f32(d, mma->n, &mma->layout_c, mma->c, r->c, lanes);
    if (mma->sum.exact)
        multiply_exact(d, a, b, mma, packed, columns);
    else if (mma->n == 8 && !columns)
        multiply_8(d, a, b, mma->m, packed);
    else
        multiply(d, a, b, mma, packed, columns);
    canonical_nans(d, mma->m * mma->n);
    if (mma->d == PTX_TYPE_f16)
        scatter_f16(d, mma->n, &mma->layout_d, r->d, lanes);
    else
        scatter_f32(d, mma->n, &mma->layout_d, r->d, lanes);
}

static const int host_roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/* Not inlined: what it computes must not move to where the rounding is another. */
static __attribute__((noinline)) void multiply_f64(double *d, const double *a, const double *b,
                                                   const Mma *mma) {
    for (int i = 0; i < mma->m; i++)
        for (int p = 0; p < mma->k; p++)
            for (int j = 0; j < mma->n; j++)
                d[i * mma->n + j] = fma(a[i * mma->k + p], b[p * mma->n + j], d[i * mma->n + j]);
}

static void run_f64(const Mma *mma, const MmaRegisters *r) {
    double a[16 * 16], b[16 * 8], d[16 * 8];
    int before = fegetround();
    gather_f64(a, mma->k, &mma->layout_a, r->a);
    gather_f64(b, mma->n, &mma->layout_b, r->b);
    gather_f64(d, mma->n, &mma->layout_c, r->c);
    fesetround(host_roundings[mma->rounding]);
    multiply_f64(d, a, b, mma);
    fesetround(before);
    scatter_f64(d, mma->n, &mma->layout_d, r->d);
}

/* The sum of products fits: 128 of 2^14 at most. */
static EMU_VECTOR void multiply_integers(int32_t *restrict sum, const int32_t *restrict a,
                                         const int32_t *restrict b, int m, int n, int packed,
                                         const uint16_t *columns) {
    for (int i = 0; i < m; i++)
        for (int p = 0; p < packed; p++) {
            int k = columns ? columns[i * packed + p] : p;
            for (int j = 0; j < n; j++) sum[i * n + j] += a[i * packed + p] * b[k * n + j];
        }
}

/* a xor b of bits is a + b - 2 a b, so that only the product is left to be summed. */
static void add_differing_bits(int32_t *sum, const int32_t *a, const int32_t *b, const Mma *mma) {
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            int32_t ones = 0, *element = &sum[i * mma->n + j];
            for (int k = 0; k < mma->k; k++) ones += a[i * mma->k + k] + b[k * mma->n + j];
            *element = ones - 2 * *element;
        }
}

static int32_t add_integers(int32_t c, int32_t sum, bool saturate) {
    int64_t value = (int64_t)c + sum;
    if (saturate && value > INT32_MAX) return INT32_MAX;
    if (saturate && value < INT32_MIN) return INT32_MIN;
    return (int32_t)(uint32_t)value;
}

static void run_integers(const Mma *mma, const MmaRegisters *r, const uint16_t *columns) {
    int32_t a[16 * 256], b[256 * 8], d[256], sum[256] = {0};
    int packed = packed_of(mma);
    gather_i32(a, packed, &mma->layout_a, mma->a, r->a);
    gather_i32(b, mma->n, &mma->layout_b, mma->b, r->b);
    gather_i32(d, mma->n, &mma->layout_c, mma->c, r->c);
    multiply_integers(sum, a, b, mma->m, mma->n, packed, columns);
    if (mma->a == PTX_TYPE_b1 && mma->bit_xor) add_differing_bits(sum, a, b, mma);
    for (int i = 0; i < mma->m * mma->n; i++) d[i] = add_integers(d[i], sum[i], mma->saturate);
    scatter_i32(d, mma->n, &mma->layout_d, r->d);
}

static void run_any(const Mma *mma, const MmaRegisters *r, const uint16_t *columns) {
    bool quad = mma->layout_a.lane_row[2] == 0 && mma->k == 4 && mma->a == PTX_TYPE_f16;
    if (mma->d == PTX_TYPE_f64)
        run_f64(mma, r);
    else if (mma->d == PTX_TYPE_s32)
        run_integers(mma, r, columns);
    else if (!quad)
        run_floats(mma, r, ~0u, columns);
    for (int group = 0; quad && group < 4; group++)
        run_floats(mma, r, 0x000f000fu << 4 * group, NULL);
}

uint32_t mma_run(const Mma *mma, const MmaRegisters *registers) {
    uint16_t columns[16 * 64];
    uint32_t bad = ~0u;
    if (mma->sparse) bad = mma_sparse_columns(mma, registers->metadata, columns);
    if (bad == ~0u) run_any(mma, registers, mma->sparse ? columns : NULL);
    return bad;
}
