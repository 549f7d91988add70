/* The fragment layouts, as data. See mma.h for how to read a row. */
#include "emulator/machine/mma.h"

typedef struct Row {
    MmaOperand operand;
    MmaLayout layout; /* `elements`: the most that the row can tell of */
} Row;

/* With g = lane / 4 and t = lane % 4, what t and g contribute: A's and C's rows go with g, their
 * columns with t, in steps of the elements that lie side by side in a register. B is the other way
 * round. */
#define LANES(e) .lane_row = {0, 0, 1, 2, 4}, .lane_column = {e, 2 * e, 0, 0, 0}
#define LANES_B(e) .lane_row = {e, 2 * e, 0, 0, 0}, .lane_column = {0, 0, 1, 2, 4}
#define DOWN(...) .element_row = {__VA_ARGS__}
#define ACROSS(...) .element_column = {__VA_ARGS__}

/* A lane of A holds its registers in the order (row g, k low), (row g + 8, k low), (row g, k high),
 * (row g + 8, k high); one of B in the order of k. Smaller shapes have the first of them. */
static const Row rows[] = {
    {MMA_A, {1, 128, LANES(32), DOWN(0, 0, 0, 0, 0, 8, 0), ACROSS(1, 2, 4, 8, 16, 0, 128)}},
    {MMA_A, {4, 32, LANES(8), DOWN(0, 0, 0, 8, 0), ACROSS(1, 2, 4, 0, 32)}},
    {MMA_A, {8, 16, LANES(4), DOWN(0, 0, 8, 0), ACROSS(1, 2, 0, 16)}},
    {MMA_A, {16, 8, LANES(2), DOWN(0, 8, 0), ACROSS(1, 0, 8)}},
    {MMA_A, {32, 4, LANES(1), DOWN(8, 0), ACROSS(0, 4)}},
    {MMA_A, {64, 8, LANES(1), DOWN(8, 0, 0), ACROSS(0, 4, 8)}},
    {MMA_B, {1, 64, LANES_B(32), DOWN(1, 2, 4, 8, 16, 128), ACROSS(0)}},
    {MMA_B, {4, 32, LANES_B(8), DOWN(1, 2, 4, 32, 64), ACROSS(0)}},
    {MMA_B, {8, 16, LANES_B(4), DOWN(1, 2, 16, 32), ACROSS(0)}},
    {MMA_B, {16, 8, LANES_B(2), DOWN(1, 8, 16), ACROSS(0)}},
    {MMA_B, {32, 4, LANES_B(1), DOWN(4, 8), ACROSS(0)}},
    {MMA_B, {64, 4, LANES_B(1), DOWN(4, 8), ACROSS(0)}},
    {MMA_C, {16, 4, LANES(2), DOWN(0, 8), ACROSS(1, 0)}},
    {MMA_C, {32, 4, LANES(2), DOWN(0, 8), ACROSS(1, 0)}},
    {MMA_C, {64, 4, LANES(2), DOWN(0, 8), ACROSS(1, 0)}},
};

/* m8n8k4 with f16 is four products at once, of the lanes l with the same l / 4 % 4: bits 2 and 3 of
 * the lane contribute nothing. A by rows holds a row a lane, by columns a column; B likewise. */
static const MmaLayout quad_rows = {16, 4, .lane_row = {1, 2, 0, 0, 4}, DOWN(0), ACROSS(1, 2)};
static const MmaLayout quad_columns = {
    16, 4, .lane_row = {0, 0, 0, 0, 4}, .lane_column = {1, 2, 0, 0, 0}, DOWN(1, 2), ACROSS(0)};
static const MmaLayout quad_b_columns = {16, 4, .lane_column = {1, 2, 0, 0, 4}, DOWN(1, 2),
                                         ACROSS(0)};
static const MmaLayout quad_b_rows = {
    16, 4, .lane_row = {1, 2, 0, 0, 0}, .lane_column = {0, 0, 0, 0, 4}, DOWN(0), ACROSS(1, 2)};
static const MmaLayout quad_c16 = {16, 8, .lane_row = {1, 2, 0, 0, 4}, DOWN(0), ACROSS(1, 2, 4)};
static const MmaLayout quad_c32 = {32,
                                   8,
                                   .lane_row = {1, 0, 0, 0, 4},
                                   .lane_column = {0, 2, 0, 0, 0},
                                   DOWN(0, 2, 0),
                                   ACROSS(1, 0, 4)};

MmaPosition mma_position(const MmaLayout *layout, int lane, int element) {
    MmaPosition p = {0, 0};
    for (int bit = 0; bit < 5; bit++)
        if (lane >> bit & 1) p.row += layout->lane_row[bit], p.column += layout->lane_column[bit];
    for (int bit = 0; bit < MMA_ELEMENT_BITS; bit++)
        if (element >> bit & 1)
            p.row += layout->element_row[bit], p.column += layout->element_column[bit];
    return p;
}

int mma_registers(const MmaLayout *layout) {
    return layout->bits == 64 ? layout->elements : layout->elements * layout->bits / 32;
}

static bool layout_find(MmaOperand operand, PtxType type, int elements, MmaLayout *out_layout) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const MmaLayout *row = &rows[i].layout;
        if (rows[i].operand != operand || row->bits != ptx_type_bits(type)) continue;
        if (elements < 1 || elements > row->elements) return false;
        *out_layout = *row;
        out_layout->elements = (uint8_t)elements;
        return true;
    }
    return false;
}

static bool is_quad(const Mma *mma) { return mma->k == 4 && mma->a == PTX_TYPE_f16; }

static bool prepare_quad(Mma *mma) {
    if (mma->m != 8 || mma->n != 8 || mma->sparse) return false;
    mma->layout_a = mma->column_a ? quad_columns : quad_rows;
    mma->layout_b = mma->row_b ? quad_b_rows : quad_b_columns;
    mma->layout_c = mma->c == PTX_TYPE_f32 ? quad_c32 : quad_c16;
    mma->layout_d = mma->d == PTX_TYPE_f32 ? quad_c32 : quad_c16;
    return true;
}

bool mma_prepare(Mma *mma) {
    if (is_quad(mma)) return prepare_quad(mma);
    int a = mma->m * mma->k / (mma->sparse ? 2 : 1) / MMA_LANES, b = mma->k * mma->n / MMA_LANES;
    int c = mma->m * mma->n / MMA_LANES;
    return layout_find(MMA_A, mma->a, a, &mma->layout_a) &&
           layout_find(MMA_B, mma->b, b, &mma->layout_b) &&
           layout_find(MMA_C, mma->c, c, &mma->layout_c) &&
           layout_find(MMA_C, mma->d, c, &mma->layout_d);
}

/* ---- wmma ------------------------------------------------------------------------------------ */

/* Programs cannot know the layouts of wmma, so they are by rule: a register's elements lie side by
 * side along the contiguous axis, lanes cover an 8 x 4e block as above, further elements go on
 * along that axis and then across; what a lane still has room for, repeats. */
typedef struct Growing {
    uint8_t *row, *column; /* element bits of the axes, contiguous one second */
    int bit, limit;
} Growing;

static void grow(Growing *g, uint8_t *axis, int from, int to) {
    for (int step = from; step < to && g->bit < g->limit; step *= 2) axis[g->bit++] = (uint8_t)step;
}

static int log2_of(int value) { return __builtin_ctz((unsigned)value); }

bool mma_layout_wmma(MmaOperand operand, PtxType type, int rows_of, int columns_of, int registers,
                     MmaLayout *out_layout) {
    int bits = ptx_type_bits(type), side = bits >= 32 ? 1 : 32 / bits;
    int elements = registers * side, in_lanes = operand == MMA_C ? 2 : side;
    if (registers < 1 || registers > MMA_REGISTERS || bits < 1) return false;
    MmaLayout l = {.bits = (uint8_t)bits, .elements = (uint8_t)elements};
    bool transposed = operand == MMA_B; /* its contiguous axis is k, its rows */
    uint8_t *lane_across = transposed ? l.lane_row : l.lane_column;
    uint8_t *lane_down = transposed ? l.lane_column : l.lane_row;
    uint8_t *across = transposed ? l.element_row : l.element_column;
    uint8_t *down = transposed ? l.element_column : l.element_row;
    int width = transposed ? rows_of : columns_of, height = transposed ? columns_of : rows_of;
    for (int bit = 0; bit < 5; bit++) {
        lane_across[bit] = (uint8_t)(bit < 2 ? in_lanes << bit : 0);
        lane_down[bit] = (uint8_t)(bit < 2 ? 0 : 1 << (bit - 2));
    }
    Growing g = {down, across, 0, log2_of(elements)};
    grow(&g, across, 1, in_lanes);
    grow(&g, across, 4 * in_lanes, width);
    grow(&g, down, 8, height);
    *out_layout = l;
    return (1 << g.bit) * MMA_LANES == rows_of * columns_of;
}

bool mma_prepare_wmma(Mma *mma, const int registers[4]) {
    int m = mma->m, n = mma->n, k = mma->k;
    return mma_layout_wmma(MMA_A, mma->a, m, k, registers[0], &mma->layout_a) &&
           mma_layout_wmma(MMA_B, mma->b, k, n, registers[1], &mma->layout_b) &&
           mma_layout_wmma(MMA_C, mma->c, m, n, registers[2], &mma->layout_c) &&
           mma_layout_wmma(MMA_C, mma->d, m, n, registers[3], &mma->layout_d);
}
