// What the tests of the emulator's tensor instructions share: the formulas of the PTX manual for
// where an element of a fragment is, and operands of small integers, which every type holds
// exactly, with a plain triple loop over them.
#ifndef TCC_TESTS_UNIT_EMULATOR_MMA_H
#define TCC_TESTS_UNIT_EMULATOR_MMA_H

#include "emulator/machine/convert.h"
#include "emulator/machine/mma.h"
#include "tests/unit/test.h"

typedef uint32_t Words[32];

static uint64_t random_state = 1;
static inline uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

// ---- the manual's formulas ----------------------------------------------------------------------

static inline int per_register(int bits) { return bits >= 32 ? 1 : 32 / bits; }

static inline MmaPosition formula_a(int bits, int lane, int i) {
    int e = per_register(bits), g = lane >> 2, t = lane & 3, r = i / e;
    return (MmaPosition){g + 8 * (r & 1), e * t + i % e + 4 * e * (r >> 1)};
}

static inline MmaPosition formula_b(int bits, int lane, int i) {
    int e = per_register(bits), g = lane >> 2, t = lane & 3, r = i / e;
    return (MmaPosition){e * t + i % e + 4 * e * r, g};
}

static inline MmaPosition formula_c(int lane, int i) {
    return (MmaPosition){(lane >> 2) + 8 * (i >> 1), 2 * (lane & 3) + (i & 1)};
}

typedef struct Shape {
    uint8_t a, b, c;
    uint8_t m;
    uint16_t k;
    bool sparse;
} Shape;

#define SHAPE(type, acc, m, k)                                                                     \
    { PTX_TYPE_##type, PTX_TYPE_##type, PTX_TYPE_##acc, m, k, false }
#define SPARSE(type, acc, k)                                                                       \
    { PTX_TYPE_##type, PTX_TYPE_##type, PTX_TYPE_##acc, 16, k, true }
#define MIXED(x, y, acc, m, k)                                                                     \
    { PTX_TYPE_##x, PTX_TYPE_##y, PTX_TYPE_##acc, m, k, false }

static const Shape shapes[] = {
    SHAPE(f16, f16, 16, 8),
    SHAPE(f16, f32, 16, 8),
    SHAPE(f16, f16, 16, 16),
    SHAPE(f16, f32, 16, 16),
    SHAPE(bf16, f32, 16, 8),
    SHAPE(bf16, f32, 16, 16),
    SHAPE(tf32, f32, 16, 4),
    SHAPE(tf32, f32, 16, 8),
    SHAPE(f64, f64, 8, 4),
    SHAPE(f64, f64, 16, 4),
    SHAPE(f64, f64, 16, 8),
    SHAPE(f64, f64, 16, 16),
    SHAPE(s8, s32, 8, 16),
    SHAPE(u8, s32, 16, 16),
    MIXED(s8, u8, s32, 16, 32),
    MIXED(u8, s8, s32, 8, 16),
    SHAPE(s4, s32, 8, 32),
    SHAPE(u4, s32, 16, 32),
    MIXED(s4, u4, s32, 16, 64),
    SHAPE(b1, s32, 8, 128),
    SHAPE(b1, s32, 16, 128),
    SHAPE(b1, s32, 16, 256),
    SHAPE(e4m3, f32, 16, 32),
    SHAPE(e5m2, f32, 16, 16),
    MIXED(e4m3, e5m2, f16, 16, 32),
    MIXED(e5m2, e4m3, f16, 16, 16),
    SPARSE(f16, f16, 16),
    SPARSE(f16, f32, 32),
    SPARSE(bf16, f32, 16),
    SPARSE(bf16, f32, 32),
    SPARSE(tf32, f32, 8),
    SPARSE(tf32, f32, 16),
    SPARSE(s8, s32, 32),
    SPARSE(u8, s32, 64),
    SPARSE(s4, s32, 64),
    SPARSE(u4, s32, 128),
    SPARSE(e4m3, f32, 64),
    SPARSE(e5m2, f32, 32),
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static inline Mma mma_of(const Shape *s) {
    Mma mma = {.a = s->a, .b = s->b, .c = s->c, .d = s->c, .m = s->m, .n = 8, .k = s->k};
    mma.sparse = s->sparse;
    if (!CHECK(mma_prepare(&mma)))
        printf("    %s m%dk%d\n", ptx_type_name((PtxType)s->a), s->m, s->k);
    return mma;
}

// ---- values -------------------------------------------------------------------------------------

static inline uint64_t bits_of_integer(PtxType type, int value) {
    if (type == PTX_TYPE_b1) return (uint64_t)value & 1;
    if (type == PTX_TYPE_s4 || type == PTX_TYPE_u4) return (uint64_t)value & 15;
    EmuConversion c = {.to = (uint8_t)type, .from = PTX_TYPE_s32};
    return emu_convert(&c, (uint32_t)value);
}

static inline int random_value(PtxType type) {
    switch (type) {
    case PTX_TYPE_b1: return (int)random_below(2);
    case PTX_TYPE_u4: return (int)random_below(16);
    case PTX_TYPE_s4: return (int)random_below(16) - 8;
    case PTX_TYPE_u8: return (int)random_below(256);
    case PTX_TYPE_s8: return (int)random_below(256) - 128;
    default: return (int)random_below(9) - 4;
    }
}

// Puts a value into an element of a fragment whose registers are `words` (or doubles).
static inline void put(Words *words, int bits, int lane, int element, uint64_t value) {
    if (bits == 64) {
        memcpy((char *)words + (size_t)element * 256 + (size_t)lane * 8, &value, 8);
        return;
    }
    int bit = element * bits;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    words[bit / 32][lane] |= (uint32_t)((value & mask) << bit % 32);
}

static inline int64_t get(Words *words, PtxType type, int lane, int element) {
    int bits = ptx_type_bits(type), bit = element * bits;
    uint64_t value = 0;
    if (bits == 64)
        memcpy(&value, (char *)words + (size_t)element * 256 + (size_t)lane * 8, 8);
    else
        value = words[bit / 32][lane] >> bit % 32;
    EmuConversion c = {.to = PTX_TYPE_s64, .from = (uint8_t)type};
    return (int64_t)emu_convert(&c, value);
}

typedef struct Operands {
    Words a[16], b[16], c[16], d[16], e;
    int64_t matrix_a[16][256], matrix_b[256][8], matrix_c[16][8];
} Operands;

static inline MmaRegisters registers_of(const Mma *mma, Operands *o) {
    MmaRegisters r = {.metadata = o->e};
    for (int i = 0; i < MMA_REGISTERS; i++) {
        r.a[i] = (char *)o->a + (size_t)i * (mma->a == PTX_TYPE_f64 ? 256 : 128);
        r.b[i] = (char *)o->b + (size_t)i * (mma->b == PTX_TYPE_f64 ? 256 : 128);
        r.c[i] = (char *)o->c + (size_t)i * (mma->c == PTX_TYPE_f64 ? 256 : 128);
        r.d[i] = (char *)o->d + (size_t)i * (mma->d == PTX_TYPE_f64 ? 256 : 128);
    }
    return r;
}

static inline void fill_b_and_c(const Mma *mma, Operands *o) {
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < mma->k * 8 / 32; i++) {
            MmaPosition p = formula_b(ptx_type_bits((PtxType)mma->b), lane, i);
            int value = random_value((PtxType)mma->b);
            o->matrix_b[p.row][p.column] = value;
            put(o->b, ptx_type_bits((PtxType)mma->b), lane, i,
                bits_of_integer((PtxType)mma->b, value));
        }
        for (int i = 0; i < mma->m * 8 / 32; i++) {
            MmaPosition p = formula_c(lane, i);
            int value = (int)random_below(64) - 32;
            o->matrix_c[p.row][p.column] = value;
            put(o->c, ptx_type_bits((PtxType)mma->c), lane, i,
                bits_of_integer((PtxType)mma->c, value));
        }
    }
}

static inline void fill_dense_a(const Mma *mma, Operands *o) {
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < mma->m * mma->k / 32; i++) {
            MmaPosition p = formula_a(ptx_type_bits((PtxType)mma->a), lane, i);
            int value = random_value((PtxType)mma->a);
            o->matrix_a[p.row][p.column] = value;
            put(o->a, ptx_type_bits((PtxType)mma->a), lane, i,
                bits_of_integer((PtxType)mma->a, value));
        }
}

static inline long wrong_elements(const Mma *mma, Operands *o) {
    long wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < mma->m * 8 / 32; i++) {
            MmaPosition p = formula_c(lane, i);
            int64_t want = o->matrix_c[p.row][p.column];
            for (int k = 0; k < mma->k; k++) {
                int64_t x = o->matrix_a[p.row][k], y = o->matrix_b[k][p.column];
                want += mma->a == PTX_TYPE_b1 && mma->bit_xor ? (x ^ y) : x * y;
            }
            wrong += get(o->d, (PtxType)mma->d, lane, i) != want;
        }
    return wrong;
}

#endif
