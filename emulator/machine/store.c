/* st, and what forgets memory. */
#include "emulator/machine/access.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

#include <string.h>

#define STORE_ONE(T)                                                                               \
    static inline void store_##T(uint8_t *bytes, T value, bool strong) {                           \
        T *at = (T *)(void *)bytes;                                                                \
        if (strong)                                                                                \
            __atomic_store_n(at, value, __ATOMIC_RELEASE);                                         \
        else                                                                                       \
            *at = value;                                                                           \
    }
STORE_ONE(uint8_t)
STORE_ONE(uint16_t)
STORE_ONE(uint32_t)
STORE_ONE(uint64_t)

static inline const uint32_t *register_slots(const Record *record) {
    return record->list ? record->list : record->slot;
}

#define STORE(name, T, lane_type)                                                                  \
    PLAIN_HANDLER(name) {                                                                          \
        Access access;                                                                             \
        Step step;                                                                                 \
        MemoryOp op = memory_op(record);                                                           \
        uint32_t size = (uint32_t)op.element * op.count;                                           \
        bool strong = record->options & OPTION_strong;                                             \
        if (!access_resolve(warp, record, lanes, size, OBSERVE_store, &access, &step))             \
            return step;                                                                           \
        const uint32_t *slots = register_slots(record);                                            \
        if (access.consecutive && !strong && sizeof(T) == sizeof(lane_type) && op.count == 1) {    \
            memcpy(access_at(&access, 0), warp_slot(warp, slots[0]), EMU_LANES * sizeof(T));       \
            return STEP_next;                                                                      \
        }                                                                                          \
        for (int k = 0; k < op.count; k++) {                                                       \
            const lane_type *v = warp_slot(warp, slots[k]);                                        \
            for (int i = 0; i < EMU_LANES; i++)                                                    \
                if (lanes >> i & 1)                                                                \
                    store_##T(access_at(&access, i) + (size_t)k * sizeof(T), (T)v[i], strong);     \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
STORE(store_8, uint8_t, LaneU32)
STORE(store_16, uint16_t, LaneU32)
STORE(store_32, uint32_t, LaneU32)
STORE(store_64, uint64_t, LaneU64)

PLAIN_HANDLER(store_128) {
    Access access;
    Step step;
    if (!access_resolve(warp, record, lanes, 16, OBSERVE_store, &access, &step)) return step;
    const LaneU64 *v = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        memcpy(access_at(&access, i), (const void *)&v[i], 8);
        memcpy(access_at(&access, i) + 8, (const void *)&v[EMU_LANES + i], 8);
    }
    return STEP_next;
}

static Handler *store_of(PtxType type) {
    switch (ptx_type_bits(type)) {
    case 8: return store_8;
    case 16: return store_16;
    case 32: return store_32;
    case 64: return store_64;
    case 128: return store_128;
    default: return NULL;
    }
}

static bool prepare_store(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const PtxOperand *value = &instruction->operands[1];
    Width width = decoder_width(type);
    record->run = store_of(type);
    if (!access_prepare(decoder, instruction, 0, record)) return false;
    PtxSpace space = (PtxSpace)memory_op(record).space;
    if (space == PTX_SPACE_global || space == PTX_SPACE_generic) decoder->effect = EFFECT_store;
    if (value->kind != PTX_OPERAND_vector) {
        record->slot[0] = decoder_source(decoder, value, width);
        return !decoder->failed;
    }
    uint32_t *list = decoder_list(decoder, value->part_count);
    for (uint32_t i = 0; i < value->part_count; i++)
        list[i] = decoder_source(decoder, &value->parts[i], width);
    record->list = list;
    return !decoder->failed;
}

/* discard.L2: the 128 bytes are what nobody wrote, which a pattern makes visible. */
PLAIN_HANDLER(discard) {
    Access access;
    Step step;
    if (!access_resolve(warp, record, lanes, 128, OBSERVE_store, &access, &step)) return step;
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) memset(access_at(&access, i), 0xff, 128);
    return STEP_next;
}

static bool prepare_discard(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxOperand *size = &instruction->operands[1];
    if (size->kind != PTX_OPERAND_integer || size->bits != 128)
        return decoder_fail(decoder, "discard is of 128 bytes");
    union {
        uint32_t word;
        MemoryOp op;
    } both = {.op = {.space = instruction->space, .element = 128, .count = 1}};
    record->slot[5] = both.word;
    record->run = discard;
    return decoder_address(decoder, &instruction->operands[0], record, 1);
}

static const Form emu_forms_store_forms[] = {
    {.row = PTX_st, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_store},
    {.row = PTX_discard, .accepts = ACCEPT_any, .prepare = prepare_discard},
};
FORM_TABLE(emu_forms_store);
