/* mov between registers, packing and unpacking of vectors, and addresses: cvta, isspacep. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

UNARY(mov_32, u32, u32, x)
UNARY(mov_64, u64, u64, x)

PLAIN_HANDLER(mov_pred) {
    uint32_t flip = record->options & OPTION_invert_a ? ~0u : 0;
    warp_predicate_set(warp, record->slot[0], lanes, warp_predicate(warp, record->slot[1]) ^ flip);
    return STEP_next;
}

PLAIN_HANDLER(mov_128) {
    Record half = *record;
    mov_64(warp, record, lanes);
    half.slot[0] += 256, half.slot[1] += 256; /* the 32 high words follow the low ones */
    return mov_64(warp, &half, lanes);
}

/* What the decoder adds. */
#define ADDED(name, D, A, expression)                                                              \
    EMU_VECTOR static void name##_lanes(const Warp *warp, const Record *record, uint32_t lanes) {  \
        TARGET(D);                                                                                 \
        SOURCE(a, A, 1);                                                                           \
        LANE_LOOP {                                                                                \
            GET(x, A, a);                                                                          \
            PUT(D, expression);                                                                    \
        }                                                                                          \
    }                                                                                              \
    Step name(Warp *warp, const Record *record, uint32_t lanes) {                                  \
        name##_lanes(warp, record, lanes);                                                         \
        return STEP_next;                                                                          \
    }
ADDED(move_narrow, u32, u64, x)
ADDED(move_widen, u64, u32, x)
ADDED(move_sign_extend, u64, s32, (int64_t)x)

Step move_frame_address_64(Warp *warp, const Record *record, uint32_t lanes) {
    LaneU64 *d = warp_slot(warp, record->slot[0]);
    uint64_t address = warp->frame->local + record->immediate;
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = address;
    return STEP_next;
}

Step move_frame_address_32(Warp *warp, const Record *record, uint32_t lanes) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    uint32_t address = (uint32_t)(warp->frame->local + record->immediate);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = address;
    return STEP_next;
}

/* Packing: the first element is the lowest. Slots: list of the elements; immediate: bits of each;
 * options hold nothing. A word or long of the whole is slot[0]. */
static uint64_t element_mask(uint64_t bits) {
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : ~UINT64_C(0);
}

static inline uint64_t read_lane(const void *slot, bool is_long, int i) {
    return is_long ? ((const LaneU64 *)slot)[i] : ((const LaneU32 *)slot)[i];
}
static inline void write_lane(void *slot, bool is_long, int i, uint64_t value) {
    if (is_long)
        ((LaneU64 *)slot)[i] = value;
    else
        ((LaneU32 *)slot)[i] = (uint32_t)value;
}

/* slot[1]: the number of elements; slot[2]: bits of the whole. A whole of 128 bits is two longs. */
PLAIN_HANDLER(pack) {
    uint64_t bits = record->immediate, per_word = record->slot[2] > 32 ? 64 : 32;
    uint8_t *whole = warp_slot(warp, record->slot[0]);
    uint64_t each = per_word / bits, parts = record->slot[2] / per_word;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        for (uint64_t p = 0; p < parts; p++) {
            uint64_t value = 0;
            for (uint64_t k = 0; k < each; k++) {
                const void *from = warp_slot(warp, record->list[p * each + k]);
                value |= (read_lane(from, bits == 64, i) & element_mask(bits)) << k * bits % 64;
            }
            write_lane(whole + 256 * p, per_word == 64, i, value);
        }
    }
    return STEP_next;
}

PLAIN_HANDLER(unpack) {
    uint64_t bits = record->immediate, per_word = record->slot[2] > 32 ? 64 : 32;
    const uint8_t *whole = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        for (uint64_t k = 0; k < record->slot[1]; k++) {
            const uint8_t *word = whole + 256 * (k * bits / per_word);
            uint64_t value = read_lane(word, per_word == 64, i) >> k * bits % per_word;
            write_lane(warp_slot(warp, record->list[k]), bits == 64, i, value & element_mask(bits));
        }
    }
    return STEP_next;
}

static bool prepare_pack(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const PtxOperand *to = &instruction->operands[0], *from = &instruction->operands[1];
    bool packs = from->kind == PTX_OPERAND_vector;
    const PtxOperand *vector = packs ? from : to, *whole = packs ? to : from;
    uint32_t count = vector->part_count, bits = (uint32_t)ptx_type_bits(type);
    if (count == 0 || bits / count < 8 || bits % count)
        return decoder_fail(decoder, "a vector of this size cannot be moved");
    PtxType element = bits / count == 64   ? PTX_TYPE_b64
                      : bits / count == 32 ? PTX_TYPE_b32
                                           : PTX_TYPE_b16;
    uint32_t *list = decoder_list(decoder, count);
    for (uint32_t i = 0; i < count; i++)
        list[i] = packs
                      ? decoder_source(decoder, &vector->parts[i], decoder_width(element))
                      : decoder_target(decoder, &vector->parts[i], decoder_width(element), element);
    record->slot[0] = packs ? decoder_target(decoder, whole, decoder_width(type), type)
                            : decoder_source(decoder, whole, decoder_width(type));
    record->slot[1] = count;
    record->slot[2] = bits;
    record->immediate = bits / count;
    record->list = list;
    record->run = packs ? pack : unpack;
    return !decoder->failed;
}

/* mov.v2 {a, b}, {c, d}: element by element, all sources before any target is written. */
PLAIN_HANDLER(mov_vector) {
    uint64_t values[8];
    uint32_t count = record->slot[1];
    bool is_long = record->immediate == 64;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        for (uint32_t k = 0; k < count; k++)
            values[k] = read_lane(warp_slot(warp, record->list[count + k]), is_long, i);
        for (uint32_t k = 0; k < count; k++)
            write_lane(warp_slot(warp, record->list[k]), is_long, i, values[k]);
    }
    return STEP_next;
}

static bool prepare_vector(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const PtxOperand *to = &instruction->operands[0], *from = &instruction->operands[1];
    uint32_t count = instruction->vector;
    bool split = from->kind == PTX_OPERAND_vector;
    if (count > 8 || to->part_count != count || (split && from->part_count != count) || !split)
        return decoder_fail(decoder, "a vector of this size cannot be moved");
    uint32_t *list = decoder_list(decoder, 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = decoder_target(decoder, &to->parts[i], decoder_width(type), type);
        list[count + i] = decoder_source(decoder, &from->parts[i], decoder_width(type));
    }
    record->slot[1] = count;
    record->immediate = (uint64_t)ptx_type_bits(type);
    record->list = list;
    record->run = mov_vector;
    return !decoder->failed;
}

static bool prepare_mov(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const PtxOperand *to = &instruction->operands[0], *from = &instruction->operands[1];
    if (instruction->vector > 1) return prepare_vector(decoder, instruction, record);
    if (to->kind == PTX_OPERAND_vector || from->kind == PTX_OPERAND_vector)
        return prepare_pack(decoder, instruction, record);
    static Handler *const runs[] = {[WIDTH_word] = mov_32,
                                    [WIDTH_long] = mov_64,
                                    [WIDTH_quad] = mov_128,
                                    [WIDTH_predicate] = mov_pred};
    Width width = decoder_width(type);
    record->slot[0] = decoder_target(decoder, to, width, type);
    record->slot[1] = decoder_source(decoder, from, width);
    record->run = runs[width];
    if (from->negated) record->options |= OPTION_invert_a;
    return !decoder->failed;
}

/* Addresses of a space are offsets in its window; those of global and const are generic already. */
static uint64_t window_of_space(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_shared: return EMU_WINDOW_shared;
    case PTX_SPACE_local: return EMU_WINDOW_local;
    case PTX_SPACE_param: return EMU_WINDOW_param;
    default: return 0;
    }
}

UNARY(cvta_64, u64, u64, x + record->immediate)
/* .u32: the window is all that 32 bits cannot hold. */
UNARY(cvta_32, u32, u32, x)

static bool prepare_cvta(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    Width width = decoder_width((PtxType)instruction->types[0]);
    uint64_t window = window_of_space((PtxSpace)instruction->space);
    if (width == WIDTH_word && window)
        return decoder_fail(decoder, "a generic address has 64 bits");
    record->slot[0] =
        decoder_target(decoder, &instruction->operands[0], width, (PtxType)instruction->types[0]);
    record->slot[1] = decoder_source(decoder, &instruction->operands[1], width);
    record->immediate = instruction->row == PTX_cvta_to ? 0 - window : window;
    record->run = width == WIDTH_word ? cvta_32 : cvta_64;
    return !decoder->failed;
}

/* Immediate: the upper byte of addresses in the window. Constants lie among global memory, in
 * blocks that are only read. */
PLAIN_HANDLER(isspacep) {
    const LaneU64 *a = warp_slot(warp, record->slot[1]);
    uint32_t found = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        bool in = a[i] >> 56 == record->immediate;
        if (in && record->immediate == 0 && (lanes >> i & 1)) {
            EmuBlock block;
            bool constant =
                emu_memory_find(emu_device_memory(warp->cta->launch->device), a[i], 1, &block) &&
                block.kind == EMU_BLOCK_module && block.read_only;
            in = constant == (record->slot[2] == PTX_SPACE_const);
        }
        found |= (uint32_t)in << i;
    }
    warp_predicate_set(warp, record->slot[0], lanes, found);
    return STEP_next;
}

static bool prepare_isspacep(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    if (ptx_has(&instruction->modifiers, PTX_MOD_shared_cluster))
        return decoder_fail(decoder, "clusters cannot be executed");
    record->slot[0] =
        decoder_target(decoder, &instruction->operands[0], WIDTH_predicate, PTX_TYPE_pred);
    record->slot[1] = decoder_source(decoder, &instruction->operands[1], WIDTH_long);
    record->slot[2] = instruction->space;
    record->immediate = window_of_space((PtxSpace)instruction->space) >> 56;
    record->run = isspacep;
    return !decoder->failed;
}

/* createpolicy: what hints to the cache say has no effect. */
UNARY(policy, u64, u64, x)

static bool prepare_policy(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    record->slot[0] = decoder_target(decoder, &instruction->operands[0], WIDTH_long, PTX_TYPE_b64);
    record->slot[1] = decoder_constant(decoder, WIDTH_long, 0);
    record->run = policy;
    return !decoder->failed;
}

#define ANY(row_name, how)                                                                         \
    { .row = PTX_##row_name, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = how }

static const Form emu_forms_move_forms[] = {
    ANY(mov, prepare_mov),
    ANY(cvta, prepare_cvta),
    ANY(cvta_to, prepare_cvta),
    ANY(isspacep, prepare_isspacep),
    ANY(createpolicy_range, prepare_policy),
    ANY(createpolicy_fractional, prepare_policy),
    ANY(createpolicy_cvt, prepare_policy),
};
FORM_TABLE(emu_forms_move);
