/* Operands to slots. A register gets its place in the frame when it is first named; constants are
 * kept once each in the program's pool, spread over the lanes already, so that a handler reads them
 * like a register. What an instruction reads and writes is noted for runs that check registers. */
#include "emulator/machine/decode.h"

#include <string.h>

enum { REGISTER_UNUSED = UINT32_MAX };

Width decoder_width(PtxType type) {
    int bits = ptx_type_bits(type);
    if (type == PTX_TYPE_pred) return WIDTH_predicate;
    return bits <= 32 ? WIDTH_word : bits == 64 ? WIDTH_long : WIDTH_quad;
}

static uint32_t width_bytes(Width width) {
    return width == WIDTH_quad ? 512 : width == WIDTH_long ? 256 : 128;
}

static uint32_t new_slot(Decoder *decoder, Width width) {
    ProgramFunction *function = decoder->function;
    if (width == WIDTH_predicate) return SLOT(BASE_predicates, 4 * function->predicate_count++);
    uint32_t offset = function->register_bytes;
    if (offset + width_bytes(width) > SLOT_OFFSET) {
        decoder_fail(decoder, "there are too many registers");
        return 0;
    }
    function->register_bytes += width_bytes(width);
    return SLOT(BASE_registers, offset);
}

uint32_t slots_register(Decoder *decoder, uint32_t number) {
    uint32_t *slot = &decoder->register_slots[number];
    if (*slot == REGISTER_UNUSED)
        *slot =
            new_slot(decoder, decoder_width(decoder->function->function->registers[number].type));
    return *slot;
}

/* Temporaries belong to one instruction, and are used again by the next. */
uint32_t slots_scratch(Decoder *decoder, Width width) {
    Temporaries *temporaries = &decoder->temporaries[width];
    if (temporaries->used == temporaries->slots.count)
        vec_push(decoder->arena, &temporaries->slots, new_slot(decoder, width));
    return temporaries->slots.data[temporaries->used++];
}

/* Constants. */

static void grow_constants(Decoder *decoder, uint32_t bytes) {
    if (decoder->constant_bytes + bytes <= decoder->constant_capacity) return;
    uint32_t capacity = decoder->constant_capacity ? 2 * decoder->constant_capacity : 1 << 14;
    uint8_t *larger = arena_alloc(decoder->arena, capacity + 64);
    larger += -(uintptr_t)larger & 63; /* no vector crosses two lines of the cache */
    if (decoder->constants) memcpy(larger, decoder->constants, decoder->constant_bytes);
    decoder->constants = larger;
    decoder->constant_capacity = capacity;
}

static uint32_t append_constant(Decoder *decoder, Width width, uint64_t value) {
    uint32_t at = decoder->constant_bytes, bytes = width_bytes(width);
    if (at + bytes > SLOT_OFFSET) {
        decoder_fail(decoder, "there are too many constants");
        return 0;
    }
    grow_constants(decoder, bytes);
    for (int i = 0; i < EMU_LANES; i++) {
        uint32_t word = (uint32_t)value;
        if (width == WIDTH_word || width == WIDTH_predicate)
            memcpy(decoder->constants + at + 4 * i, &word, 4);
        else
            memcpy(decoder->constants + at + 8 * i, &value, 8);
    }
    decoder->constant_bytes += bytes;
    return at;
}

static void enter_constant(uint32_t *table, uint32_t slots, uint64_t hash, uint32_t entry) {
    uint32_t at = (uint32_t)hash & (slots - 1);
    while (table[at]) at = (at + 1) & (slots - 1);
    table[at] = entry;
}

uint32_t decoder_constant(Decoder *decoder, Width width, uint64_t value) {
    if (width == WIDTH_word || width == WIDTH_predicate)
        width = WIDTH_word, value = (uint32_t)value;
    ConstantPool *pool = &decoder->pool;
    uint64_t hash = hash_word(hash_word(0, value), width);
    if (2 * pool->count >= pool->slots) {
        pool->slots = pool->slots ? 2 * pool->slots : 64;
        pool->table = NEW_ARRAY(decoder->arena, uint32_t, pool->slots);
        for (uint32_t i = 0; i < pool->count; i++)
            enter_constant(pool->table, pool->slots, pool->items.data[i].hash, i + 1);
    }
    for (uint32_t at = (uint32_t)hash & (pool->slots - 1); pool->table[at];
         at = (at + 1) & (pool->slots - 1)) {
        const PoolItem *item = &pool->items.data[pool->table[at] - 1];
        if (item->value == value && item->width == width) return SLOT(BASE_constants, item->at);
    }
    PoolItem item = {value, hash, width, append_constant(decoder, width, value)};
    vec_push(decoder->arena, &pool->items, item);
    enter_constant(pool->table, pool->slots, hash, ++pool->count);
    return SLOT(BASE_constants, item.at);
}

/* Special registers: those that change while the warp runs are read before the instruction. */

static bool is_live(PtxSpecial special) {
    switch (special) {
    case PTX_SPECIAL_clock:
    case PTX_SPECIAL_clock_hi:
    case PTX_SPECIAL_clock64:
    case PTX_SPECIAL_globaltimer:
    case PTX_SPECIAL_globaltimer_lo:
    case PTX_SPECIAL_globaltimer_hi: return true;
    default: return false;
    }
}

static uint32_t special_slot(Decoder *decoder, const PtxOperand *operand) {
    PtxSpecial special = (PtxSpecial)operand->index;
    if (is_live(special)) {
        uint32_t slot = slots_scratch(decoder, decoder_width(ptx_special_type(special)));
        decoder_before(decoder, special_read, slot, slot, special);
        return slot;
    }
    for (size_t i = 0; i < decoder->specials.count; i++) {
        const ProgramSpecial *known = &decoder->specials.data[i];
        if (known->special == special && known->component == operand->component)
            return SLOT(BASE_specials, known->offset);
    }
    ProgramSpecial fresh = {(uint8_t)special, operand->component, decoder->program->special_bytes};
    decoder->program->special_bytes += 256;
    vec_push(decoder->arena, &decoder->specials, fresh);
    return SLOT(BASE_specials, fresh.offset);
}

/* Variables. */

static uint64_t variable_address(Decoder *decoder, const PtxVariable *variable, bool *out_found) {
    uint32_t shared;
    *out_found = true;
    if (variable->space == PTX_SPACE_shared && layout_shared(decoder->program, variable, &shared))
        return shared;
    if (layout_is_parameter(decoder->program->entry, variable)) return variable->offset;
    Str key = {(const char *)&variable, sizeof variable};
    void *address = map_get(decoder->input->addresses, key);
    *out_found = address != NULL;
    return (uintptr_t)address;
}

uint32_t slots_variable(Decoder *decoder, const PtxVariable *variable, int64_t offset,
                        Width width) {
    uint64_t place;
    bool found;
    if (layout_local(decoder->function, variable, &place)) {
        uint32_t slot = slots_scratch(decoder, width);
        decoder_before(decoder, width == WIDTH_long ? move_frame_address_64 : move_frame_address_32,
                       slot, slot, place + (uint64_t)offset);
        return slot;
    }
    uint64_t address = variable_address(decoder, variable, &found);
    if (!found) decoder_fail(decoder, "variable %.*s has no address here", STR_ARG(variable->name));
    return decoder_constant(decoder, width, address + (uint64_t)offset);
}

static uint32_t function_slot(Decoder *decoder, const PtxFunction *function, Width width) {
    uint32_t number = decode_function_number(decoder->input->module, function);
    return decoder_constant(decoder, width, EMU_WINDOW_function + 16 * (uint64_t)number);
}

/* A float constant is written as f32 bits, f64 bits or in decimals (then it is an f64), whatever
 * the instruction's type; the width says which is meant. */
static uint64_t float_bits(const PtxOperand *operand, Width width) {
    union {
        uint64_t bits;
        double value;
    } wide = {.bits = operand->bits};
    union {
        uint32_t bits;
        float value;
    } narrow = {.bits = (uint32_t)operand->bits};
    if (operand->kind == PTX_OPERAND_f32 && width == WIDTH_long) {
        wide.value = (double)narrow.value;
        return wide.bits;
    }
    if (operand->kind == PTX_OPERAND_f64 && width == WIDTH_word) {
        narrow.value = (float)wide.value;
        return narrow.bits;
    }
    return operand->bits;
}

/* Reading and writing. */

Width slots_width(const Decoder *decoder, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_register)
        return decoder_width(decoder->function->function->registers[operand->index].type);
    return decoder_width(ptx_special_type((PtxSpecial)operand->index));
}

static uint32_t convert_width(Decoder *decoder, uint32_t slot, Width from, Width to) {
    if (from == to) return slot;
    if (from == WIDTH_predicate || to == WIDTH_predicate || from == WIDTH_quad ||
        to == WIDTH_quad) {
        decoder_fail(decoder, "a register is too wide or too narrow");
        return slot;
    }
    uint32_t scratch = slots_scratch(decoder, to);
    decoder_before(decoder, to == WIDTH_word ? move_narrow : move_widen, scratch, slot, 0);
    return scratch;
}

static uint32_t source_slot(Decoder *decoder, const PtxOperand *operand, Width width) {
    switch ((PtxOperandKind)operand->kind) {
    case PTX_OPERAND_register:
        return convert_width(decoder, slots_register(decoder, operand->index),
                             slots_width(decoder, operand), width);
    case PTX_OPERAND_special:
        return convert_width(decoder, special_slot(decoder, operand), slots_width(decoder, operand),
                             width);
    case PTX_OPERAND_integer: {
        uint64_t bits = operand->bits;
        if (width == WIDTH_predicate) bits = bits ? ~UINT64_C(0) : 0;
        return decoder_constant(decoder, width, bits);
    }
    case PTX_OPERAND_f32:
    case PTX_OPERAND_f64: return decoder_constant(decoder, width, float_bits(operand, width));
    case PTX_OPERAND_variable:
        return slots_variable(decoder, operand->variable, operand->offset, width);
    case PTX_OPERAND_function: return function_slot(decoder, operand->function, width);
    default: decoder_fail(decoder, "an operand of this kind cannot be executed"); return 0;
    }
}

uint32_t decoder_source(Decoder *decoder, const PtxOperand *operand, Width width) {
    uint32_t slot = source_slot(decoder, operand, width);
    vec_push(decoder->arena, &decoder->reads, slot);
    return slot;
}

uint32_t decoder_target(Decoder *decoder, const PtxOperand *operand, Width width, PtxType type) {
    if (operand->kind == PTX_OPERAND_sink) return slots_scratch(decoder, width);
    if (operand->kind != PTX_OPERAND_register) {
        decoder_fail(decoder, "a result must be a register");
        return 0;
    }
    uint32_t slot = slots_register(decoder, operand->index);
    Width is = slots_width(decoder, operand);
    uint32_t written = slot;
    if (is != width) {
        if (is != WIDTH_long || width != WIDTH_word)
            decoder_fail(decoder, "a register is too wide or too narrow");
        written = slots_scratch(decoder, width);
        Record after = {.slot = {slot, written}};
        bool is_signed = ptx_type_class(type) == PTX_CLASS_signed;
        after.run = is_signed ? move_sign_extend : move_widen;
        vec_push(decoder->arena, &decoder->after, after);
    }
    vec_push(decoder->arena, &decoder->writes, written);
    return written;
}

bool decoder_address(Decoder *decoder, const PtxOperand *operand, Record *record, uint32_t at) {
    record->immediate = 0;
    switch ((PtxBase)operand->base) {
    case PTX_BASE_none:
        record->slot[at] = decoder_constant(decoder, WIDTH_long, (uint64_t)operand->offset);
        return true;
    case PTX_BASE_variable:
        record->slot[at] = slots_variable(decoder, operand->variable, operand->offset, WIDTH_long);
        break;
    case PTX_BASE_register:
        record->slot[at] = slots_register(decoder, operand->index);
        record->immediate = (uint64_t)operand->offset;
        PtxType type = decoder->function->function->registers[operand->index].type;
        if (ptx_type_bits(type) == 32)
            record->options |= OPTION_address32;
        else if (ptx_type_bits(type) != 64)
            return decoder_fail(decoder, "an address has 32 or 64 bits");
    }
    vec_push(decoder->arena, &decoder->address_reads, record->slot[at]);
    return !decoder->failed;
}

uint32_t *decoder_list(Decoder *decoder, uint32_t count) {
    return NEW_ARRAY(decoder->arena, uint32_t, count);
}

const PtxInstruction *decoder_instruction(const Decoder *decoder) { return decoder->instruction; }
