/* Products of small matrices by a warp: what mma.sync, mma.sp and wmma.mma compute.
 *
 * A matrix is spread over the registers of 32 lanes; which element of which lane is which row and
 * column is a *fragment layout*. All layouts of PTX are linear: row and column are sums of one
 * contribution for every set bit of the lane's number and of the element's number (elements count
 * through a lane's registers, low bits of a register first). So a layout is a small table
 * (mma_layout.c), and one piece of code gathers any operand into a plain matrix:
 *
 *     A 16x16 of f16    lane bits  0 1 2 3 4 -> (0,2) (0,4) (1,0) (2,0) (4,0)
 *                       element bits   0 1 2 -> (0,1) (8,0) (0,8)
 *
 *     lane 5 = 0b00101, element 3 = 0b011: (0,2)+(1,0) + (0,1)+(8,0) = row 9, column 3
 *
 * The functions here are pure: registers in, registers out. mma_forms.c makes instructions of
 * them. Layouts are those of the PTX ISA, 9.7.14.5 and 9.7.14.6. */
#ifndef TCC_EMULATOR_MACHINE_MMA_H
#define TCC_EMULATOR_MACHINE_MMA_H

#include "emulator/ptx/ptx.h"

enum { MMA_LANES = 32, MMA_ELEMENT_BITS = 7, MMA_REGISTERS = 8 };

typedef enum MmaOperand { MMA_A, MMA_B, MMA_C } MmaOperand;

typedef struct MmaPosition {
    int row, column; /* of A: m, k; of B: k, n; of C and D: m, n */
} MmaPosition;

/* Where the elements of one operand are. */
typedef struct MmaLayout {
    uint8_t bits;     /* of an element */
    uint8_t elements; /* of a lane */
    uint8_t lane_row[5], lane_column[5];
    uint8_t element_row[MMA_ELEMENT_BITS], element_column[MMA_ELEMENT_BITS];
} MmaLayout;

MmaPosition mma_position(const MmaLayout *layout, int lane, int element);
int mma_registers(const MmaLayout *layout);

/* How float products are summed. Plain: f32 (f64 of f64) in the order of k, one rounding a step.
 * Exact: as tensor cores do it, after MMA-Sim (arXiv 2511.10909): all terms of a step are cut to
 * `fraction` bits below the greatest exponent and added as integers. */
typedef struct MmaSum {
    bool exact;
    uint8_t fraction; /* bits */
    bool halves;      /* two steps, one for each half of k */
} MmaSum;

/* The sums of a device of compute capability major.minor. */
MmaSum mma_sum_of(int major, int minor, PtxType a);

typedef struct Mma {
    uint8_t a, b, c, d; /* PtxType of the elements; c is what the accumulator in holds */
    uint8_t m, n;
    uint16_t k; /* of the product; a sparse A holds half of it */
    bool saturate;
    bool bit_xor; /* b1: .xor, else .and */
    bool sparse, ordered;
    bool row_b, column_a; /* of m8n8k4 with f16: how the fragments are laid out */
    uint8_t selector;     /* of sparse: which lanes give the metadata */
    uint8_t rounding;     /* EmuRounding, of f64 */
    MmaSum sum;
    MmaLayout layout_a, layout_b, layout_c, layout_d;
} Mma;

/* Finds the layouts of an mma whose types, shape and flags are set; false: there is no such one. */
bool mma_prepare(Mma *mma);
/* The same for wmma, whose layouts are ours: `registers` of a, b, c and d as PTX counts them. */
bool mma_prepare_wmma(Mma *mma, const int registers[4]);
/* A fragment of wmma alone, for load and store. */
bool mma_layout_wmma(MmaOperand operand, PtxType type, int rows, int columns, int registers,
                     MmaLayout *out_layout);

/* A register is 32 words of 4 bytes, of f64 of 8 bytes. d may be c. */
typedef struct MmaRegisters {
    void *d[MMA_REGISTERS];
    const void *a[MMA_REGISTERS], *b[MMA_REGISTERS], *c[MMA_REGISTERS];
    const uint32_t *metadata; /* of sparse: 32 words */
} MmaRegisters;

/* Computes d = a * b + c. Returns ~0, or of sparse the lane that holds metadata which select no two
 * different elements (d is not written then). */
uint32_t mma_run(const Mma *mma, const MmaRegisters *registers);

/* ---- what mma_run is made of ----------------------------------------------------------------- */

enum { MMA_ROWS = 32, MMA_COLUMNS = 32, MMA_PACKED = 256 };

/* Of sparse: the column of every packed element of A, [row][packed]. Returns as mma_run. */
uint32_t mma_sparse_columns(const Mma *mma, const uint32_t *metadata, uint16_t *out_columns);
/* Whether the shape has the selector. */
bool mma_selector_valid(const Mma *mma);

/* One element of d by the exact model: c plus `count` products of values of the types of a and b.
 */
float mma_exact(const Mma *mma, const float *a, const float *b, int count, float c);

#endif
