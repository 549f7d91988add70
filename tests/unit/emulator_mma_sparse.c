// Sparse products of the emulator's tensor instructions, against the matrix that their metadata
// mean.
#include "tests/unit/emulator_mma.h"

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

int main(void) {
    RUN(test_sparse_products);
    RUN(test_bad_metadata);
    return test_done();
}
