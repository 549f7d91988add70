// Products of the emulator's tensor instructions: fragment layouts against the formulas of the PTX
// manual, products of every type and shape against a plain triple loop over small integers, which
// every type holds exactly, sparse ones against the matrix that their metadata mean.
#include "emulator/machine/convert.h"
#include "emulator/machine/mma.h"
#include "tests/unit/test.h"

typedef uint32_t Words[32];

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

// ---- the manual's formulas ----------------------------------------------------------------------

static int per_register(int bits) { return bits >= 32 ? 1 : 32 / bits; }

static MmaPosition formula_a(int bits, int lane, int i) {
    int e = per_register(bits), g = lane >> 2, t = lane & 3, r = i / e;
    return (MmaPosition){g + 8 * (r & 1), e * t + i % e + 4 * e * (r >> 1)};
}

static MmaPosition formula_b(int bits, int lane, int i) {
    int e = per_register(bits), g = lane >> 2, t = lane & 3, r = i / e;
    return (MmaPosition){e * t + i % e + 4 * e * r, g};
}

static MmaPosition formula_c(int lane, int i) {
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

static Mma mma_of(const Shape *s) {
    Mma mma = {.a = s->a, .b = s->b, .c = s->c, .d = s->c, .m = s->m, .n = 8, .k = s->k};
    mma.sparse = s->sparse;
    if (!CHECK(mma_prepare(&mma)))
        printf("    %s m%dk%d\n", ptx_type_name((PtxType)s->a), s->m, s->k);
    return mma;
}

// ---- values -------------------------------------------------------------------------------------

static uint64_t bits_of_integer(PtxType type, int value) {
    if (type == PTX_TYPE_b1) return (uint64_t)value & 1;
    if (type == PTX_TYPE_s4 || type == PTX_TYPE_u4) return (uint64_t)value & 15;
    EmuConversion c = {.to = (uint8_t)type, .from = PTX_TYPE_s32};
    return emu_convert(&c, (uint32_t)value);
}

static int random_value(PtxType type) {
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
static void put(Words *words, int bits, int lane, int element, uint64_t value) {
    if (bits == 64) {
        memcpy((char *)words + (size_t)element * 256 + (size_t)lane * 8, &value, 8);
        return;
    }
    int bit = element * bits;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    words[bit / 32][lane] |= (uint32_t)((value & mask) << bit % 32);
}

static int64_t get(Words *words, PtxType type, int lane, int element) {
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

static MmaRegisters registers_of(const Mma *mma, Operands *o) {
    MmaRegisters r = {.metadata = o->e};
    for (int i = 0; i < MMA_REGISTERS; i++) {
        r.a[i] = (char *)o->a + (size_t)i * (mma->a == PTX_TYPE_f64 ? 256 : 128);
        r.b[i] = (char *)o->b + (size_t)i * (mma->b == PTX_TYPE_f64 ? 256 : 128);
        r.c[i] = (char *)o->c + (size_t)i * (mma->c == PTX_TYPE_f64 ? 256 : 128);
        r.d[i] = (char *)o->d + (size_t)i * (mma->d == PTX_TYPE_f64 ? 256 : 128);
    }
    return r;
}

static void fill_b_and_c(const Mma *mma, Operands *o) {
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

static void fill_dense_a(const Mma *mma, Operands *o) {
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < mma->m * mma->k / 32; i++) {
            MmaPosition p = formula_a(ptx_type_bits((PtxType)mma->a), lane, i);
            int value = random_value((PtxType)mma->a);
            o->matrix_a[p.row][p.column] = value;
            put(o->a, ptx_type_bits((PtxType)mma->a), lane, i,
                bits_of_integer((PtxType)mma->a, value));
        }
}

static long wrong_elements(const Mma *mma, Operands *o) {
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

static void test_dense_products(void) {
    static Operands o;
    for (int i = 0; i < SHAPES; i++)
        for (int exact = 0; exact < 3 && !shapes[i].sparse; exact++) {
            Mma mma = mma_of(&shapes[i]);
            mma.sum = mma_sum_of(exact == 1 ? 8 : 9, 0, (PtxType)mma.a);
            mma.sum.exact = exact > 0;
            mma.bit_xor = exact == 1;
            memset(&o, 0, sizeof o);
            fill_dense_a(&mma, &o);
            fill_b_and_c(&mma, &o);
            MmaRegisters r = registers_of(&mma, &o);
            CHECK(mma_run(&mma, &r) == ~0u);
            if (!CHECK_INT(wrong_elements(&mma, &o), 0))
                printf("    %s m%dk%d\n", ptx_type_name((PtxType)mma.a), mma.m, mma.k);
        }
}

static void test_layouts_cover_each_element_once(void) {
    for (int i = 0; i < SHAPES; i++) {
        Mma mma = mma_of(&shapes[i]);
        static int seen[3][256][256];
        const MmaLayout *layouts[] = {&mma.layout_a, &mma.layout_b, &mma.layout_c};
        memset(seen, 0, sizeof seen);
        long wrong = 0;
        for (int operand = 0; operand < 3; operand++)
            for (int lane = 0; lane < 32; lane++)
                for (int e = 0; e < layouts[operand]->elements; e++) {
                    MmaPosition p = mma_position(layouts[operand], lane, e);
                    int bits = layouts[operand]->bits;
                    MmaPosition q = operand == 0   ? formula_a(bits, lane, e)
                                    : operand == 1 ? formula_b(bits, lane, e)
                                                   : formula_c(lane, e);
                    wrong += p.row != q.row || p.column != q.column;
                    wrong += seen[operand][p.row][p.column]++ > 0;
                }
        CHECK_INT(wrong, 0);
    }
}

typedef struct Vector {
    uint8_t type;
    uint8_t k, operand, lane, element, row, column;
} Vector;

// Computed independently of this code, from the manual and CuTe's layouts.
static const Vector vectors[] = {
    {PTX_TYPE_f16, 16, MMA_A, 5, 0, 1, 2},   {PTX_TYPE_f16, 16, MMA_A, 5, 3, 9, 3},
    {PTX_TYPE_f16, 16, MMA_A, 5, 4, 1, 10},  {PTX_TYPE_f16, 16, MMA_A, 5, 7, 9, 11},
    {PTX_TYPE_f16, 16, MMA_A, 30, 0, 7, 4},  {PTX_TYPE_f16, 16, MMA_A, 30, 3, 15, 5},
    {PTX_TYPE_f16, 16, MMA_A, 30, 4, 7, 12}, {PTX_TYPE_f16, 16, MMA_A, 30, 7, 15, 13},
    {PTX_TYPE_f16, 16, MMA_B, 5, 0, 2, 1},   {PTX_TYPE_f16, 16, MMA_B, 5, 3, 11, 1},
    {PTX_TYPE_f16, 16, MMA_B, 30, 0, 4, 7},  {PTX_TYPE_f16, 16, MMA_B, 30, 3, 13, 7},
    {PTX_TYPE_s8, 32, MMA_A, 5, 0, 1, 4},    {PTX_TYPE_s8, 32, MMA_A, 5, 5, 9, 5},
    {PTX_TYPE_s8, 32, MMA_A, 5, 15, 9, 23},  {PTX_TYPE_s8, 32, MMA_B, 30, 0, 8, 7},
    {PTX_TYPE_s8, 32, MMA_B, 30, 7, 27, 7},  {PTX_TYPE_tf32, 8, MMA_A, 5, 0, 1, 1},
    {PTX_TYPE_tf32, 8, MMA_A, 5, 1, 9, 1},   {PTX_TYPE_tf32, 8, MMA_A, 5, 2, 1, 5},
    {PTX_TYPE_tf32, 8, MMA_A, 5, 3, 9, 5},
};

static void test_sanity_vectors(void) {
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const Vector *v = &vectors[i];
        uint8_t acc = v->type == PTX_TYPE_s8 ? PTX_TYPE_s32 : PTX_TYPE_f32;
        Shape shape = {v->type, v->type, acc, 16, v->k, false};
        Mma mma = mma_of(&shape);
        MmaPosition p =
            mma_position(v->operand == MMA_A ? &mma.layout_a : &mma.layout_b, v->lane, v->element);
        CHECK_INT(p.row, v->row);
        CHECK_INT(p.column, v->column);
    }
}

// ---- m8n8k4 of f16: four products ---------------------------------------------------------------

static MmaPosition quad_a(bool by_columns, int lane, int i) {
    int high = lane >= 16 ? 4 : 0;
    return by_columns ? (MmaPosition){i + high, lane % 4} : (MmaPosition){lane % 4 + high, i};
}

static MmaPosition quad_b(bool by_rows, int lane, int i) {
    int high = lane >= 16 ? 4 : 0;
    return by_rows ? (MmaPosition){lane % 4, i + high} : (MmaPosition){i, lane % 4 + high};
}

static MmaPosition quad_c(PtxType type, int lane, int i) {
    int high = lane >= 16 ? 4 : 0;
    if (type == PTX_TYPE_f16) return (MmaPosition){lane % 4 + high, i};
    return (MmaPosition){(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

static void fill_quads(const Mma *mma, Operands *o, int64_t (*a)[8][4], int64_t (*b)[4][8],
                       int64_t (*c)[8][8]) {
    for (int lane = 0; lane < 32; lane++) {
        int q = lane >> 2 & 3;
        for (int i = 0; i < 4; i++) {
            MmaPosition p = quad_a(mma->column_a, lane, i), s = quad_b(mma->row_b, lane, i);
            int x = random_value(PTX_TYPE_f16), y = random_value(PTX_TYPE_f16);
            a[q][p.row][p.column] = x;
            b[q][s.row][s.column] = y;
            put(o->a, 16, lane, i, bits_of_integer(PTX_TYPE_f16, x));
            put(o->b, 16, lane, i, bits_of_integer(PTX_TYPE_f16, y));
        }
        for (int i = 0; i < 8; i++) {
            MmaPosition p = quad_c((PtxType)mma->c, lane, i);
            int x = random_value(PTX_TYPE_f16);
            c[q][p.row][p.column] = x;
            put(o->c, ptx_type_bits((PtxType)mma->c), lane, i, bits_of_integer((PtxType)mma->c, x));
        }
    }
}

static void check_quad(Mma mma) {
    static Operands o;
    int64_t a[4][8][4], b[4][4][8], c[4][8][8];
    long wrong = 0;
    memset(&o, 0, sizeof o);
    CHECK(mma_prepare(&mma));
    fill_quads(&mma, &o, a, b, c);
    MmaRegisters r = registers_of(&mma, &o);
    CHECK(mma_run(&mma, &r) == ~0u);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int q = lane >> 2 & 3;
            MmaPosition p = quad_c((PtxType)mma.d, lane, i);
            int64_t want = c[q][p.row][p.column];
            for (int k = 0; k < 4; k++) want += a[q][p.row][k] * b[q][k][p.column];
            wrong += get(o.d, (PtxType)mma.d, lane, i) != want;
        }
    CHECK_INT(wrong, 0);
}

static void test_four_products_of_m8n8k4(void) {
    static const uint8_t accumulators[3][2] = {
        {PTX_TYPE_f16, PTX_TYPE_f16}, {PTX_TYPE_f16, PTX_TYPE_f32}, {PTX_TYPE_f32, PTX_TYPE_f32}};
    for (int layout = 0; layout < 4; layout++)
        for (int i = 0; i < 3; i++) {
            Mma mma = {.a = PTX_TYPE_f16, .b = PTX_TYPE_f16, .m = 8, .n = 8, .k = 4};
            mma.c = accumulators[i][0];
            mma.d = accumulators[i][1];
            mma.column_a = layout & 1;
            mma.row_b = layout & 2;
            check_quad(mma);
        }
}

// ---- sparse -------------------------------------------------------------------------------------

// Where the nibble of a row's chunk is, from the manual's figures, selector f.
static void place_nibble(const Mma *mma, int row, int chunk, int *lane, int *bit) {
    int g = row & 7, high = row >> 3, f = mma->selector;
    int bits = ptx_type_bits((PtxType)mma->a), chunks = mma->k / (bits == 32  ? 2
                                                                  : bits == 4 ? 8
                                                                              : 4);
    if (bits >= 16 && chunks == 4) *lane = 4 * g + f, *bit = 16 * high + 4 * chunk;
    if (bits >= 16 && chunks == 8)
        *lane = 4 * g + 2 * f + chunk / 4, *bit = 16 * high + 4 * (chunk % 4);
    if (bits < 16 && chunks == 8) *lane = 4 * g + 2 * f + high, *bit = 4 * chunk;
    if (bits < 16 && chunks == 16) *lane = 4 * g + high + 2 * (chunk / 8), *bit = 4 * (chunk % 8);
}

static void keep_chunk(const Mma *mma, Operands *o, int row, int chunk, int64_t *packed) {
    static const uint8_t pairs[6] = {4, 8, 12, 9, 13, 14}; // 0 1, 0 2, 0 3, 1 2, 1 3, 2 3
    int bits = ptx_type_bits((PtxType)mma->a), unit = bits == 4 ? 2 : 1, lane = 0, bit = 0;
    uint32_t nibble = bits == 32 ? (random_below(2) ? 14u : 4u) : pairs[random_below(6)];
    int width = bits == 32 ? 2 : 4 * unit, kept = bits == 32 ? 1 : 2;
    place_nibble(mma, row, chunk, &lane, &bit);
    o->e[lane] |= nibble << bit;
    for (int i = 0; i < kept; i++)
        for (int u = 0; u < unit; u++) {
            int at = bits == 32 ? nibble == 14 : (int)(nibble >> 2 * i & 3) * unit + u;
            int value = random_value((PtxType)mma->a);
            packed[(chunk * kept + i) * unit + u] = value;
            o->matrix_a[row][chunk * width + at] = value;
        }
}

static void fill_sparse_a(const Mma *mma, Operands *o) {
    int bits = ptx_type_bits((PtxType)mma->a);
    int64_t packed[16][64];
    for (int row = 0; row < 16; row++)
        for (int chunk = 0; chunk < mma->k / (bits == 32 ? 2 : bits == 4 ? 8 : 4); chunk++)
            keep_chunk(mma, o, row, chunk, packed[row]);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 16 * mma->k / 2 / 32; i++) {
            MmaPosition p = formula_a(bits, lane, i);
            put(o->a, bits, lane, i,
                bits_of_integer((PtxType)mma->a, (int)packed[p.row][p.column]));
        }
}

static void check_sparse(Mma mma, int selector) {
    static Operands o;
    mma.selector = (uint8_t)selector;
    mma.ordered = true;
    if (!mma_selector_valid(&mma)) return;
    memset(&o, 0, sizeof o);
    fill_sparse_a(&mma, &o);
    fill_b_and_c(&mma, &o);
    MmaRegisters r = registers_of(&mma, &o);
    CHECK(mma_run(&mma, &r) == ~0u);
    if (!CHECK_INT(wrong_elements(&mma, &o), 0))
        printf("    %s k%d selector %d\n", ptx_type_name((PtxType)mma.a), mma.k, selector);
}

static void test_sparse_products(void) {
    int selectors = 0;
    for (int i = 0; i < SHAPES; i++)
        for (int selector = 0; selector < 5 && shapes[i].sparse; selector++) {
            Mma mma = mma_of(&shapes[i]);
            check_sparse(mma, selector);
            mma.selector = (uint8_t)selector;
            selectors += mma_selector_valid(&mma);
        }
    CHECK_INT(selectors, 27); // 4 for the small shapes, 2, or 1 where every lane gives
}

static void test_bad_metadata(void) {
    static Operands o;
    Shape shape = SPARSE(f16, f32, 32);
    Mma mma = mma_of(&shape);
    MmaRegisters r = registers_of(&mma, &o);
    mma.selector = 1;
    for (int lane = 0; lane < 32; lane++) o.e[lane] = 0x44444444;
    CHECK(mma_run(&mma, &r) == ~0u);
    o.e[7] = 0x44544444; // two times the second element
    CHECK_INT(mma_run(&mma, &r), 7);
    o.e[7] = 0x44144444; // the second, then the first
    CHECK(mma_run(&mma, &r) == ~0u);
    mma.ordered = true;
    CHECK_INT(mma_run(&mma, &r), 7);
    o.e[7] = 0x44444444;
    o.e[5] = 0; // selector 1 does not look at this lane
    CHECK(mma_run(&mma, &r) == ~0u);
    Shape single = SPARSE(tf32, f32, 16);
    mma = mma_of(&single);
    for (int lane = 0; lane < 32; lane++) o.e[lane] = 0xe4e4e4e4;
    CHECK(mma_run(&mma, &r) == ~0u);
    o.e[4] = 0xe4e4e4e8; // the first half of both elements
    CHECK_INT(mma_run(&mma, &r), 4);
}

// ---- numbers ------------------------------------------------------------------------------------

static void test_saturation(void) {
    static Operands o;
    Shape shape = SHAPE(u8, s32, 16, 32);
    Mma mma = mma_of(&shape);
    MmaRegisters r = registers_of(&mma, &o);
    memset(&o, 0, sizeof o);
    memset(o.a, 0xff, sizeof o.a);
    memset(o.b, 0xff, sizeof o.b);
    for (int lane = 0; lane < 32; lane++) o.c[0][lane] = INT32_MAX - 5;
    mma_run(&mma, &r);
    CHECK_INT((int32_t)o.d[0][9], (int32_t)(INT32_MAX - 5 + 32u * 255 * 255));
    CHECK_INT(o.d[1][9], 32 * 255 * 255);
    mma.saturate = true;
    mma_run(&mma, &r);
    CHECK_INT(o.d[0][9], INT32_MAX);
    mma.a = PTX_TYPE_s8; // -1 * 255
    for (int lane = 0; lane < 32; lane++) o.c[0][lane] = 0x80000005;
    mma_run(&mma, &r);
    CHECK_INT((int32_t)o.d[0][9], INT32_MIN);
}

// What an f32 sum in the order of k gives, what one step of Hopper's and two of Ampere's give.
static float exact_of(const float *a, const float *b, int count, float c, int major) {
    Mma mma = {.a = PTX_TYPE_f16, .c = PTX_TYPE_f32, .d = PTX_TYPE_f32, .b = PTX_TYPE_f16};
    mma.layout_a.bits = 16;
    mma.sum = mma_sum_of(major, 0, PTX_TYPE_f16);
    return mma_exact(&mma, a, b, count, c);
}

static void test_sums_of_tensor_cores(void) {
    float one[16], a[16] = {0};
    for (int i = 0; i < 16; i++) one[i] = 1;
    a[0] = 1;
    // 2^-25 below 1: Hopper keeps 25 bits in the sum, Ampere 24; both round the result to zero.
    CHECK(exact_of(a, one, 16, 0x1p-25f, 9) == 1.0f);
    for (int i = 1; i < 5; i++) a[i] = 0x1p-13f;
    float tiny[16] = {1, 0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f};
    CHECK(exact_of(a, tiny, 16, 0, 9) == 1.0f + 0x1p-23f); // four times 2^-25
    CHECK(exact_of(a, tiny, 16, 0, 8) == 1.0f);            // all of them cut off
    // Toward zero, not to nearest.
    CHECK(exact_of(a, tiny, 16, 0x1.8p-24f, 9) == 1.0f + 0x1p-23f);
    CHECK(exact_of(a, tiny, 16, -1.0f, 9) == 0x1p-23f);
    // The order of k plays no role in one step, and much in a sum of f32.
    float big[16] = {0}, x[16] = {0};
    big[0] = 60000, big[1] = 1, big[2] = -60000, x[0] = x[2] = 60000, x[1] = 1;
    CHECK(exact_of(big, x, 16, 0, 9) == 0.0f);
    // Subnormal f16 keep the least exponent.
    float least[16] = {0x1p-24f}, half[16] = {0.5f};
    CHECK(exact_of(least, half, 16, 0, 9) == 0x1p-25f);
    CHECK(isnan(exact_of(a, (float[16]){INFINITY, -INFINITY}, 16, 0, 9)));
    CHECK(exact_of(a, (float[16]){INFINITY}, 16, 1, 9) == INFINITY);
    CHECK(isnan(exact_of((float[16]){0}, (float[16]){INFINITY}, 16, 1, 9)));
    CHECK(exact_of((float[16]){0}, one, 16, 0, 9) == 0);
}

static void test_plain_sum_is_in_the_order_of_k(void) {
    static Operands o;
    Shape shape = SHAPE(bf16, f32, 16, 16);
    Mma mma = mma_of(&shape);
    MmaRegisters r = registers_of(&mma, &o);
    memset(&o, 0, sizeof o);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            MmaPosition p = formula_a(16, lane, i);
            uint64_t value = p.column == 0 ? 0x4b80 : p.column < 9 ? 0x3f80 : 0; // 2^24, then ones
            put(o.a, 16, lane, i, value);
            if (i < 4) put(o.b, 16, lane, i, 0x3f80);
        }
    mma_run(&mma, &r);
    CHECK(emu_float(o.d[0][0]) == 0x1p24f); // each 1 is lost
    mma.sum = (MmaSum){.exact = true, .fraction = 25};
    mma_run(&mma, &r);
    CHECK(emu_float(o.d[0][0]) == 0x1p24f + 8);
}

static void test_f64_rounding(void) {
    static Operands o;
    Shape shape = SHAPE(f64, f64, 8, 4);
    Mma mma = mma_of(&shape);
    MmaRegisters r = registers_of(&mma, &o);
    double tiny = 0x1p-60, one = 1, *d = (double *)(void *)o.d;
    memset(&o, 0, sizeof o);
    for (int lane = 0; lane < 32; lane++) {
        memcpy((char *)o.a + lane * 8, &tiny, 8);
        memcpy((char *)o.b + lane * 8, &one, 8);
        memcpy((char *)o.c + lane * 8, &one, 8);
    }
    mma_run(&mma, &r);
    CHECK(d[0] == 1.0);
    mma.rounding = EMU_ROUND_up;
    mma_run(&mma, &r);
    CHECK(d[0] == 1.0 + 4 * 0x1p-52); // a step of rounding for each k
}

// ---- wmma ---------------------------------------------------------------------------------------

typedef struct Wmma {
    uint8_t type, operand;
    uint8_t rows, columns, registers;
} Wmma;

static const Wmma wmmas[] = {
    {PTX_TYPE_f16, MMA_A, 16, 16, 8},  {PTX_TYPE_f16, MMA_A, 8, 16, 8},
    {PTX_TYPE_f16, MMA_A, 32, 16, 8},  {PTX_TYPE_bf16, MMA_A, 16, 16, 4},
    {PTX_TYPE_bf16, MMA_A, 8, 16, 2},  {PTX_TYPE_bf16, MMA_A, 32, 16, 8},
    {PTX_TYPE_s8, MMA_A, 16, 16, 2},   {PTX_TYPE_s8, MMA_A, 8, 16, 1},
    {PTX_TYPE_u8, MMA_A, 32, 16, 4},   {PTX_TYPE_tf32, MMA_A, 16, 8, 4},
    {PTX_TYPE_f64, MMA_A, 8, 4, 1},    {PTX_TYPE_s4, MMA_A, 8, 32, 1},
    {PTX_TYPE_b1, MMA_A, 8, 128, 1},   {PTX_TYPE_f16, MMA_B, 16, 16, 8},
    {PTX_TYPE_f16, MMA_B, 16, 32, 8},  {PTX_TYPE_f16, MMA_B, 16, 8, 8},
    {PTX_TYPE_bf16, MMA_B, 16, 32, 8}, {PTX_TYPE_bf16, MMA_B, 16, 8, 2},
    {PTX_TYPE_s8, MMA_B, 16, 32, 4},   {PTX_TYPE_tf32, MMA_B, 8, 16, 4},
    {PTX_TYPE_f64, MMA_B, 4, 8, 1},    {PTX_TYPE_b1, MMA_B, 128, 8, 1},
    {PTX_TYPE_f16, MMA_C, 16, 16, 4},  {PTX_TYPE_f32, MMA_C, 16, 16, 8},
    {PTX_TYPE_s32, MMA_C, 8, 32, 8},   {PTX_TYPE_f32, MMA_C, 32, 8, 8},
    {PTX_TYPE_f16, MMA_C, 8, 32, 4},   {PTX_TYPE_f64, MMA_C, 8, 8, 2},
    {PTX_TYPE_s32, MMA_C, 8, 8, 2},
};

static void test_wmma_layouts_cover(void) {
    for (size_t i = 0; i < sizeof wmmas / sizeof wmmas[0]; i++) {
        const Wmma *w = &wmmas[i];
        MmaLayout layout;
        static bool seen[128][128];
        int covered = 0;
        memset(seen, 0, sizeof seen);
        bool good = mma_layout_wmma((MmaOperand)w->operand, (PtxType)w->type, w->rows, w->columns,
                                    w->registers, &layout);
        for (int lane = 0; good && lane < 32; lane++)
            for (int e = 0; e < layout.elements; e++) {
                MmaPosition p = mma_position(&layout, lane, e);
                covered += !seen[p.row][p.column];
                seen[p.row][p.column] = true;
            }
        if (!CHECK_INT(covered, w->rows * w->columns)) printf("    row %zu\n", i);
    }
}

static void check_wmma(int m, int n, const int *registers) {
    static Operands o;
    static int64_t a[32][16], b[16][32];
    Mma mma = {.a = PTX_TYPE_f16, .b = PTX_TYPE_f16, .c = PTX_TYPE_f32, .d = PTX_TYPE_f16};
    mma.m = (uint8_t)m, mma.n = (uint8_t)n, mma.k = 16;
    memset(&o, 0, sizeof o);
    CHECK(mma_prepare_wmma(&mma, registers));
    for (int i = 0; i < 512; i++) a[i / 16][i % 16] = random_value(PTX_TYPE_f16);
    for (int i = 0; i < 512; i++) b[i / 32][i % 32] = random_value(PTX_TYPE_f16);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 16; i++) {
            MmaPosition p = mma_position(&mma.layout_a, lane, i);
            MmaPosition q = mma_position(&mma.layout_b, lane, i);
            put(o.a, 16, lane, i, bits_of_integer(PTX_TYPE_f16, (int)a[p.row][p.column]));
            put(o.b, 16, lane, i, bits_of_integer(PTX_TYPE_f16, (int)b[q.row][q.column]));
        }
    MmaRegisters r = registers_of(&mma, &o);
    mma_run(&mma, &r);
    long wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < mma.layout_d.elements; i++) {
            MmaPosition p = mma_position(&mma.layout_d, lane, i);
            int64_t want = 0;
            for (int k = 0; k < 16; k++) want += a[p.row][k] * b[k][p.column];
            wrong += get(o.d, PTX_TYPE_f16, lane, i) != want;
        }
    CHECK_INT(wrong, 0);
}

static void test_wmma_products(void) {
    check_wmma(16, 16, (int[]){8, 8, 8, 4});
    check_wmma(8, 32, (int[]){8, 8, 8, 4});
    check_wmma(32, 8, (int[]){8, 8, 8, 4});
}

int main(void) {
    RUN(test_sanity_vectors);
    RUN(test_layouts_cover_each_element_once);
    RUN(test_dense_products);
    RUN(test_four_products_of_m8n8k4);
    RUN(test_sparse_products);
    RUN(test_bad_metadata);
    RUN(test_saturation);
    RUN(test_sums_of_tensor_cores);
    RUN(test_plain_sum_is_in_the_order_of_k);
    RUN(test_f64_rounding);
    RUN(test_wmma_layouts_cover);
    RUN(test_wmma_products);
    return test_done();
}
