/* wmma.load and wmma.store: every lane moves the elements of its fragment one by one (of types
 * narrower than a byte, register by register) between memory and registers, in the layouts of
 * mma_layout_wmma. */
#include "emulator/machine/lanes.h"
#include "emulator/machine/matrix.h"

#include <string.h>

/* What the instruction says; it lies behind the slots of a record's list. */
typedef struct Move {
    MmaLayout layout;
    uint8_t bytes;   /* of what is moved at a time, */
    uint8_t step;    /* and the elements of it */
    bool by_columns; /* memory goes down the columns */
} Move;

enum { LIST_ADDRESSES = MMA_REGISTERS, LIST_MOVE };

static Move move_of(const Record *record) {
    Move move;
    memcpy(&move, record->list + LIST_MOVE, sizeof move);
    return move;
}

/* The addresses of one element of every lane, put into the slot that `access` reads them from. */
static void find_addresses(const Warp *warp, const Record *record, const Move *move, int element,
                           Record *access) {
    LaneU64 *out = warp_slot(warp, record->list[LIST_ADDRESSES]);
    const void *base = warp_slot(warp, record->slot[1]);
    const LaneU32 *strides = warp_slot(warp, record->slot[2]);
    bool narrow = record->options & OPTION_address32;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        MmaPosition p = mma_position(&move->layout, lane, element);
        uint64_t across = (uint64_t)(move->by_columns ? p.row : p.column);
        uint64_t down = (uint64_t)(move->by_columns ? p.column : p.row);
        uint64_t start = narrow ? ((const LaneU32 *)base)[lane] : ((const LaneU64 *)base)[lane];
        uint64_t bits = (down * strides[lane] + across) * move->layout.bits;
        out[lane] = start + record->immediate + bits / 8;
    }
    *access = *record;
    access->slot[1] = record->list[LIST_ADDRESSES];
    access->immediate = 0;
    access->options &= (uint16_t)~OPTION_address32;
}

/* Where an element is in its register. */
static void *register_of(const Warp *warp, const Record *record, const Move *move, int element) {
    int bit = element * move->layout.bits;
    return warp_slot(warp, record->list[move->layout.bits == 64 ? element : bit / 32]);
}

static void put_element(void *words, const Move *move, int element, int lane,
                        const uint8_t *bytes) {
    if (move->bytes == 8) {
        memcpy((uint8_t *)words + 8 * lane, bytes, 8);
        return;
    }
    uint32_t value = 0, *word = (uint32_t *)words + lane;
    int shift = element * move->layout.bits % 32;
    memcpy(&value, bytes, move->bytes);
    uint32_t mask = (move->bytes == 4 ? ~0u : (1u << 8 * move->bytes) - 1) << shift;
    *word = (*word & ~mask) | value << shift;
}

static void get_element(const void *words, const Move *move, int element, int lane,
                        uint8_t *bytes) {
    if (move->bytes == 8) {
        memcpy(bytes, (const uint8_t *)words + 8 * lane, 8);
        return;
    }
    uint32_t value = ((const uint32_t *)words)[lane] >> element * move->layout.bits % 32;
    memcpy(bytes, &value, move->bytes);
}

static Step move_fragment(Warp *warp, const Record *record, uint32_t lanes, ObserveKind kind) {
    Step step;
    Move move = move_of(record);
    if (!matrix_gather(warp, record, &lanes, &step)) return step;
    matrix_meet(warp, record);
    for (int i = 0; i < move.layout.elements; i += move.step) {
        Record one;
        Access access;
        find_addresses(warp, record, &move, i, &one);
        if (!access_resolve(warp, &one, ~0u, move.bytes, kind, &access, &step)) return step;
        void *words = register_of(warp, record, &move, i);
        for (int lane = 0; lane < EMU_LANES; lane++)
            if (kind == OBSERVE_load)
                put_element(words, &move, i, lane, access_at(&access, lane));
            else
                get_element(words, &move, i, lane, access_at(&access, lane));
    }
    matrix_meet(warp, record);
    return STEP_next;
}

PLAIN_HANDLER(wmma_load) { return move_fragment(warp, record, lanes, OBSERVE_load); }
PLAIN_HANDLER(wmma_store) { return move_fragment(warp, record, lanes, OBSERVE_store); }

/* ---- decoding -------------------------------------------------------------------------------- */

static MmaOperand operand_of(const PtxInstruction *instruction) {
    if (instruction->row == PTX_wmma_load_a) return MMA_A;
    return instruction->row == PTX_wmma_load_b ? MMA_B : MMA_C;
}

static bool fill_move(const PtxInstruction *instruction, int registers, Move *move) {
    MmaOperand operand = operand_of(instruction);
    int m = instruction->shape[0], n = instruction->shape[1], k = matrix_k(instruction);
    int rows = operand == MMA_B ? k : m, columns = operand == MMA_A ? k : n;
    PtxType type = (PtxType)instruction->types[0];
    int bits = ptx_type_bits(type);
    move->bytes = (uint8_t)(bits < 8 ? 4 : bits / 8);
    move->step = (uint8_t)(bits < 8 ? 32 / bits : 1);
    move->by_columns = ptx_has(&instruction->modifiers, PTX_MOD_col);
    return mma_layout_wmma(operand, type, rows, columns, registers, &move->layout);
}

/* Without a stride rows (or columns) follow each other closely. */
static uint64_t natural_stride(const PtxInstruction *instruction, const Move *move) {
    MmaOperand operand = operand_of(instruction);
    int k = matrix_k(instruction);
    if (operand == MMA_C) return instruction->shape[move->by_columns ? 0 : 1];
    bool along_k = (operand == MMA_A) != move->by_columns;
    return (uint64_t)(along_k ? k : instruction->shape[operand == MMA_A ? 0 : 1]);
}

static bool prepare_move(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    bool stores = instruction->row == PTX_wmma_store_d;
    PtxType type = (PtxType)instruction->types[0];
    PtxType word = type == PTX_TYPE_f64 ? PTX_TYPE_b64 : PTX_TYPE_b32;
    uint32_t *list = decoder_list(decoder, LIST_MOVE + (uint32_t)(sizeof(Move) + 3) / 4);
    const PtxOperand *fragment = &instruction->operands[stores ? 1 : 0];
    Move move = {.bytes = 0};
    if (!access_prepare(decoder, instruction, stores ? 0 : 1, record)) return false;
    uint32_t registers = stores ? matrix_sources(decoder, fragment, word, list)
                                : matrix_targets(decoder, fragment, word, list);
    if (!fill_move(instruction, (int)registers, &move))
        return decoder_fail(decoder, "no fragment has this shape");
    record->slot[2] =
        instruction->operand_count > 2
            ? decoder_source(decoder, &instruction->operands[2], WIDTH_word)
            : decoder_constant(decoder, WIDTH_word, natural_stride(instruction, &move));
    list[LIST_ADDRESSES] = slots_scratch(decoder, WIDTH_long);
    memcpy(list + LIST_MOVE, &move, sizeof move);
    record->list = list;
    record->run = stores ? wmma_store : wmma_load;
    return !decoder->failed;
}

static const Form emu_forms_wmma_forms[] = {
    {.row = PTX_wmma_load_a, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_move},
    {.row = PTX_wmma_load_b, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_move},
    {.row = PTX_wmma_load_c, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_move},
    {.row = PTX_wmma_store_d, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_move},
};
FORM_TABLE(emu_forms_wmma);
