/* ld and its kin. A lane's bytes go into one register, or into the registers of a vector. */
#include "emulator/machine/access.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

#include <string.h>

/* A strong load (relaxed, acquire, volatile) is one access of the host as well. */
#define LOAD_ONE(T)                                                                                \
    static inline T load_##T(const uint8_t *bytes, bool strong) {                                  \
        const T *at = (const T *)(const void *)bytes;                                              \
        return strong ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : *at;                               \
    }
LOAD_ONE(uint8_t)
LOAD_ONE(int8_t)
LOAD_ONE(uint16_t)
LOAD_ONE(int16_t)
LOAD_ONE(uint32_t)
LOAD_ONE(uint64_t)

/* Slots of the registers: slot[0] of one, record->list of a vector. */
static inline const uint32_t *register_slots(const Record *record) {
    return record->list ? record->list : record->slot;
}

#define LOAD(name, T, lane_type, wide)                                                             \
    PLAIN_HANDLER(name) {                                                                          \
        Access access;                                                                             \
        Step step;                                                                                 \
        MemoryOp op = memory_op(record);                                                           \
        uint32_t size = (uint32_t)op.element * op.count;                                           \
        bool strong = record->options & OPTION_strong;                                             \
        if (!access_resolve(warp, record, lanes, size, OBSERVE_load, &access, &step)) return step; \
        const uint32_t *slots = register_slots(record);                                            \
        if (access.consecutive && !strong && sizeof(T) == sizeof(lane_type) && op.count == 1) {    \
            memcpy(warp_slot(warp, slots[0]), access_at(&access, 0), EMU_LANES * sizeof(T));       \
            return STEP_next;                                                                      \
        }                                                                                          \
        for (int k = 0; k < op.count; k++) {                                                       \
            lane_type *d = warp_slot(warp, slots[k]);                                              \
            for (int i = 0; i < EMU_LANES; i++)                                                    \
                if (lanes >> i & 1)                                                                \
                    d[i] = (lane_type)(wide)load_##T(                                              \
                        access_at(&access, i) + (size_t)k * sizeof(T), strong);                    \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
LOAD(load_u8, uint8_t, LaneU32, uint32_t)
LOAD(load_s8, int8_t, LaneU32, int32_t)
LOAD(load_u16, uint16_t, LaneU32, uint32_t)
LOAD(load_s16, int16_t, LaneU32, int32_t)
LOAD(load_32, uint32_t, LaneU32, uint32_t)
LOAD(load_64, uint64_t, LaneU64, uint64_t)

PLAIN_HANDLER(load_128) {
    Access access;
    Step step;
    if (!access_resolve(warp, record, lanes, 16, OBSERVE_load, &access, &step)) return step;
    LaneU64 *d = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        memcpy((void *)&d[i], access_at(&access, i), 8);
        memcpy((void *)&d[EMU_LANES + i], access_at(&access, i) + 8, 8);
    }
    return STEP_next;
}

/* Parameters of the kernel at an offset that is known: the same for all lanes. */
#define LOAD_PARAMETER(name, T, lane_type, wide)                                                   \
    HANDLER(name) {                                                                                \
        const uint32_t *slots = register_slots(record);                                            \
        const uint8_t *bytes = warp->cta->launch->parameters + record->immediate;                  \
        for (int k = 0; k < memory_op(record).count; k++) {                                        \
            lane_type *d = warp_slot(warp, slots[k]);                                              \
            T v;                                                                                   \
            memcpy(&v, bytes + (size_t)k * sizeof v, sizeof v);                                    \
            lane_type value = (lane_type)(wide)v;                                                  \
            LANE_LOOP d[i] = lanes >> i & 1 ? value : d[i];                                        \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
LOAD_PARAMETER(parameter_u8, uint8_t, LaneU32, uint32_t)
LOAD_PARAMETER(parameter_s8, int8_t, LaneU32, int32_t)
LOAD_PARAMETER(parameter_u16, uint16_t, LaneU32, uint32_t)
LOAD_PARAMETER(parameter_s16, int16_t, LaneU32, int32_t)
LOAD_PARAMETER(parameter_32, uint32_t, LaneU32, uint32_t)
LOAD_PARAMETER(parameter_64, uint64_t, LaneU64, uint64_t)

/* By bytes and sign of the type. */
typedef struct Loads {
    int bytes;
    bool is_signed;
    Handler *run, *parameter;
} Loads;
static const Loads loads[] = {
    {1, false, load_u8, parameter_u8},   {1, true, load_s8, parameter_s8},
    {2, false, load_u16, parameter_u16}, {2, true, load_s16, parameter_s16},
    {4, false, load_32, parameter_32},   {4, true, load_32, parameter_32},
    {8, false, load_64, parameter_64},   {8, true, load_64, parameter_64},
    {16, false, load_128, NULL},
};

static const Loads *loads_of(PtxType type) {
    bool is_signed = ptx_type_class(type) == PTX_CLASS_signed;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (loads[i].bytes * 8 == ptx_type_bits(type) && loads[i].is_signed == is_signed)
            return &loads[i];
    return NULL;
}

static bool take_targets(Decoder *decoder, const PtxOperand *operand, PtxType type,
                         Record *record) {
    Width width = decoder_width(type);
    if (operand->kind != PTX_OPERAND_vector) {
        record->slot[0] = decoder_target(decoder, operand, width, type);
        return !decoder->failed;
    }
    uint32_t *list = decoder_list(decoder, operand->part_count);
    for (uint32_t i = 0; i < operand->part_count; i++)
        list[i] = decoder_target(decoder, &operand->parts[i], width, type);
    record->list = list;
    return !decoder->failed;
}

/* Whether the address is a place among the kernel's parameters, all of which exists. */
static bool is_parameter(const Decoder *decoder, const PtxInstruction *instruction,
                         const Record *record, uint64_t *out_offset) {
    const PtxOperand *address = &instruction->operands[1];
    const PtxFunction *entry = decoder->program->entry;
    MemoryOp op = memory_op(record);
    if (address->base != PTX_BASE_variable || !layout_is_parameter(entry, address->variable))
        return false;
    *out_offset = address->variable->offset + (uint64_t)address->offset;
    uint64_t size = (uint64_t)op.element * op.count;
    return *out_offset <= entry->parameter_bytes && size <= entry->parameter_bytes - *out_offset &&
           *out_offset % size == 0;
}

static bool prepare_load(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const Loads *found = loads_of(type);
    if (!found) return decoder_fail(decoder, "this load cannot be executed");
    if (!access_prepare(decoder, instruction, 1, record)) return false;
    if (!take_targets(decoder, &instruction->operands[0], type, record)) return false;
    uint64_t offset;
    record->run = found->run;
    if (found->parameter && is_parameter(decoder, instruction, record, &offset)) {
        record->run = found->parameter;
        record->immediate = offset;
        decoder->address_reads.count = 0;
    }
    return true;
}

static const Form emu_forms_load_forms[] = {
    {.row = PTX_ld, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_load},
    {.row = PTX_ldu, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_load},
};
FORM_TABLE(emu_forms_load);
