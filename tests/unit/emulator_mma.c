// Products of the emulator's tensor instructions: fragment layouts against the formulas of the PTX
// manual, products of every type and shape against a plain triple loop, and how sums round.
#include "tests/unit/emulator_mma.h"

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

int main(void) {
    RUN(test_dense_products);
    RUN(test_layouts_cover_each_element_once);
    RUN(test_sanity_vectors);
    RUN(test_four_products_of_m8n8k4);
    RUN(test_saturation);
    RUN(test_sums_of_tensor_cores);
    RUN(test_plain_sum_is_in_the_order_of_k);
    RUN(test_f64_rounding);
    return test_done();
}
