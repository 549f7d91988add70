// wmma: its layouts hold each element as often as nvcc takes it to, and its products are right.
#include "tests/unit/emulator_mma.h"

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
    RUN(test_wmma_layouts_cover);
    RUN(test_wmma_products);
    return test_done();
}
