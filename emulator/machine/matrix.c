/* Small matrices between shared memory and registers: ldmatrix, stmatrix, movmatrix. A matrix is
 * 8x8 of 16 bits; lane 4r+c holds columns 2c and 2c+1 of row r in one register (or, transposed, of
 * column r); lane 8m+r gives the address of row r of matrix m. */
#include "emulator/machine/matrix.h"

#include "emulator/machine/lanes.h"

#include <string.h>

enum { ROW_BYTES = 16, ROWS = 8 };

typedef uint16_t Matrix[ROWS][8];

static void matrix_to_register(Matrix m, bool transposed, uint32_t *out) {
    for (int lane = 0; lane < EMU_LANES; lane++) {
        int g = lane / 4, t = lane % 4 * 2;
        uint32_t low = transposed ? m[t][g] : m[g][t];
        uint32_t high = transposed ? m[t + 1][g] : m[g][t + 1];
        out[lane] = high << 16 | low;
    }
}

static void matrix_from_register(Matrix m, bool transposed, const uint32_t *in) {
    for (int lane = 0; lane < EMU_LANES; lane++) {
        int g = lane / 4, t = lane % 4 * 2;
        uint16_t low = (uint16_t)in[lane], high = (uint16_t)(in[lane] >> 16);
        if (transposed)
            m[t][g] = low, m[t + 1][g] = high;
        else
            m[g][t] = low, m[g][t + 1] = high;
    }
}

/* What a record says, in its immediate beside the address's offset: slot[4]. */
enum { FACT_COUNT = 7, FACT_TRANSPOSED = 8 };

/* Lanes that give addresses: the first 8 of every matrix. */
static uint32_t address_lanes(const Record *record) {
    uint32_t count = record->slot[4] & FACT_COUNT;
    return count == 4 ? ~0u : (1u << ROWS * count) - 1;
}

/* Rows that nobody wrote are undefined in the lanes that get a part of them. */
static void spread_undefined(Warp *warp, bool transposed) {
    uint32_t rows = 0, lanes = 0;
    for (int i = 0; i < EMU_LANES; i++)
        if (warp->undefined >> i & 1) rows |= 1u << i % ROWS;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (transposed ? rows != 0 : rows >> lane / 4 & 1) lanes |= 1u << lane;
    warp->undefined = lanes;
}

PLAIN_HANDLER(load_matrix) {
    Access access;
    Step step;
    bool transposed = record->slot[4] & FACT_TRANSPOSED;
    if (!matrix_gather(warp, record, &lanes, &step)) return step;
    matrix_meet(warp, record);
    if (!access_resolve(warp, record, address_lanes(record), ROW_BYTES, OBSERVE_load, &access,
                        &step))
        return step;
    for (uint32_t m = 0; m < (record->slot[4] & FACT_COUNT); m++) {
        Matrix matrix;
        for (int row = 0; row < ROWS; row++)
            memcpy(matrix[row], access_at(&access, ROWS * m + (uint32_t)row), ROW_BYTES);
        matrix_to_register(matrix, transposed, warp_slot(warp, record->list[m]));
    }
    if (warp->undefined) spread_undefined(warp, transposed);
    matrix_meet(warp, record);
    return STEP_next;
}

PLAIN_HANDLER(store_matrix) {
    Access access;
    Step step;
    bool transposed = record->slot[4] & FACT_TRANSPOSED;
    if (!matrix_gather(warp, record, &lanes, &step)) return step;
    matrix_meet(warp, record);
    if (!access_resolve(warp, record, address_lanes(record), ROW_BYTES, OBSERVE_store, &access,
                        &step))
        return step;
    for (uint32_t m = 0; m < (record->slot[4] & FACT_COUNT); m++) {
        Matrix matrix;
        matrix_from_register(matrix, transposed, warp_slot(warp, record->list[m]));
        for (int row = 0; row < ROWS; row++)
            memcpy(access_at(&access, ROWS * m + (uint32_t)row), matrix[row], ROW_BYTES);
    }
    matrix_meet(warp, record);
    return STEP_next;
}

PLAIN_HANDLER(move_matrix) {
    Step step;
    Matrix matrix;
    if (!matrix_gather(warp, record, &lanes, &step)) return step;
    matrix_from_register(matrix, false, warp_slot(warp, record->slot[1]));
    matrix_to_register(matrix, true, warp_slot(warp, record->slot[0]));
    return STEP_next;
}

static uint32_t facts_of(const PtxInstruction *instruction) {
    const PtxModifiers *has = &instruction->modifiers;
    uint32_t count = ptx_has(has, PTX_MOD_x1) ? 1 : ptx_has(has, PTX_MOD_x2) ? 2 : 4;
    return count | (ptx_has(has, PTX_MOD_trans) ? FACT_TRANSPOSED : 0);
}

static bool is_plain(const PtxInstruction *instruction) {
    return instruction->type_count == 1 && instruction->types[0] == PTX_TYPE_b16 &&
           instruction->shape[0] == 8;
}

static bool prepare_load(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    if (!is_plain(instruction)) return decoder_fail(decoder, "this matrix cannot be loaded");
    uint32_t *list = decoder_list(decoder, 4);
    if (!access_prepare(decoder, instruction, 1, record)) return false;
    matrix_targets(decoder, &instruction->operands[0], PTX_TYPE_b32, list);
    record->list = list;
    record->slot[4] = facts_of(instruction);
    return !decoder->failed;
}

static bool prepare_store(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    if (!is_plain(instruction)) return decoder_fail(decoder, "this matrix cannot be stored");
    uint32_t *list = decoder_list(decoder, 4);
    if (!access_prepare(decoder, instruction, 0, record)) return false;
    matrix_sources(decoder, &instruction->operands[1], PTX_TYPE_b32, list);
    record->list = list;
    record->slot[4] = facts_of(instruction);
    return !decoder->failed;
}

static const Form emu_forms_matrix_forms[] = {
    {.row = PTX_ldmatrix,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .run = load_matrix,
     .prepare = prepare_load},
    {.row = PTX_stmatrix,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .run = store_matrix,
     .prepare = prepare_store},
    {.row = PTX_movmatrix,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .operands = "Ww",
     .run = move_matrix},
};
FORM_TABLE(emu_forms_matrix);
