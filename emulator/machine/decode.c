/* Instructions to records. An instruction is one record, with records before it that compute an
 * operand (a register of another width, the address of a variable of the frame) and after it that
 * extend a result; labels lead to the first of them. A function ends with a record of its own, for
 * programs that run off their end. */
#include "emulator/machine/decode.h"

#include "base/guard.h"

#include <string.h>

bool decoder_fail(Decoder *decoder, const char *format, ...) {
    if (decoder->failed) return false; /* the first error is told */
    decoder->failed = true;
    Buf *log = decoder->input->log;
    va_list args;
    va_start(args, format);
    const PtxInstruction *instruction = decoder->instruction;
    buf_print(log,
              "line %u: error: ", instruction ? instruction->line : decoder->program->entry->line);
    buf_vprint(log, format, args);
    va_end(args);
    if (instruction) {
        Str text = ptx_instruction_text(decoder->arena, decoder->function->function,
                                        decoder->instruction_index);
        buf_print(log, "\n    %.*s", STR_ARG(text));
    }
    buf_char(log, '\n');
    return false;
}

uint32_t decode_function_number(const PtxModule *module, const PtxFunction *function) {
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i] == function) return i;
    return UINT32_MAX;
}

/* Records and their effects. */

static void push_slots(Decoder *decoder, const uint32_t *slots, size_t count) {
    for (size_t i = 0; i < count; i++) vec_push(decoder->arena, &decoder->effect_slots, slots[i]);
}

static void push_record(Decoder *decoder, Record record, Effects effects) {
    record.instruction = decoder->instruction_index;
    record.function = (uint16_t)decoder->function_number;
    vec_push(decoder->arena, &decoder->records, record);
    vec_push(decoder->arena, &decoder->effects, effects);
}

/* A record of one source and one target; effects are those of a copy. */
static void push_move(Decoder *decoder, Record record, bool reads) {
    Effects effects = {.first = (uint32_t)decoder->effect_slots.count, .reads = reads, .writes = 1};
    if (reads) push_slots(decoder, &record.slot[1], 1);
    push_slots(decoder, &record.slot[0], 1);
    push_record(decoder, record, effects);
}

void decoder_before(Decoder *decoder, Handler *run, uint32_t target, uint32_t source,
                    uint64_t immediate) {
    Record record = {.run = run, .slot = {target, source}, .immediate = immediate};
    record.guard = decoder->guard, record.guard_flip = decoder->guard_flip;
    push_move(decoder, record, source != target);
}

void decoder_fixup(Decoder *decoder, FixupKind kind) {
    Fixup fixup = {0, kind}; /* the record is the one that the instruction will become */
    vec_push(decoder->arena, &decoder->fixups, fixup);
    decoder->fixups.data[decoder->fixups.count - 1].record = UINT32_MAX;
}

static void push_instruction(Decoder *decoder, Record record) {
    uint32_t at = (uint32_t)decoder->records.count;
    for (size_t i = decoder->fixups.count; i > 0; i--)
        if (decoder->fixups.data[i - 1].record == UINT32_MAX)
            decoder->fixups.data[i - 1].record = at;
        else
            break;
    Effects effects = {.first = (uint32_t)decoder->effect_slots.count,
                       .addresses = (uint16_t)decoder->address_reads.count,
                       .reads = (uint16_t)(decoder->address_reads.count + decoder->reads.count),
                       .writes = (uint16_t)decoder->writes.count,
                       .kind = (uint8_t)decoder->effect};
    push_slots(decoder, decoder->address_reads.data, decoder->address_reads.count);
    push_slots(decoder, decoder->reads.data, decoder->reads.count);
    push_slots(decoder, decoder->writes.data, decoder->writes.count);
    push_record(decoder, record, effects);
    for (size_t i = 0; i < decoder->after.count; i++) {
        Record after = decoder->after.data[i];
        after.guard = decoder->guard, after.guard_flip = decoder->guard_flip;
        push_move(decoder, after, true);
    }
}

/* Instructions. */

static bool take_operand(Decoder *decoder, char letter, const PtxOperand *operand, PtxType type,
                         Record *record, uint32_t at) {
    switch (letter) {
    case 'W': record->slot[at] = decoder_target(decoder, operand, WIDTH_word, type); break;
    case 'L': record->slot[at] = decoder_target(decoder, operand, WIDTH_long, type); break;
    case 'Q': record->slot[at] = decoder_target(decoder, operand, WIDTH_quad, type); break;
    case 'P':
        record->slot[at] = decoder_target(decoder, operand, WIDTH_predicate, PTX_TYPE_pred);
        break;
    case 'w': record->slot[at] = decoder_source(decoder, operand, WIDTH_word); break;
    case 'l': record->slot[at] = decoder_source(decoder, operand, WIDTH_long); break;
    case 'q': record->slot[at] = decoder_source(decoder, operand, WIDTH_quad); break;
    case 'p': record->slot[at] = decoder_source(decoder, operand, WIDTH_predicate); break;
    default: return decoder_fail(decoder, "an operand of a form is not known");
    }
    return !decoder->failed;
}

/* The operands one after another, with the two of a pair p|q as two. */
static const PtxOperand *operand_at(const PtxInstruction *instruction, uint32_t at) {
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const PtxOperand *operand = &instruction->operands[i];
        uint32_t parts = operand->kind == PTX_OPERAND_pair ? 2 : 1;
        if (at < parts) return parts == 2 ? &operand->parts[at] : operand;
        at -= parts;
    }
    return NULL;
}

static bool take_operands(Decoder *decoder, const Form *form, const PtxInstruction *instruction,
                          Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    uint32_t slot = 0, at = 0;
    bool optional = false;
    for (const char *letter = form->operands; *letter; letter++) {
        if (*letter == '?') {
            optional = true;
            continue;
        }
        const PtxOperand *operand = operand_at(instruction, at++);
        if (!operand && optional) break;
        if (!operand) return decoder_fail(decoder, "an operand is missing");
        if (*letter == 'i') {
            if (operand->kind != PTX_OPERAND_integer)
                return decoder_fail(decoder, "an operand must be a constant");
            record->immediate = operand->bits;
        } else if (!take_operand(decoder, *letter, operand, type, record, slot++))
            return false;
    }
    return true;
}

static void begin_instruction(Decoder *decoder, uint32_t index) {
    const PtxInstruction *instruction = &decoder->function->function->instructions[index];
    decoder->instruction = instruction;
    decoder->instruction_index = index;
    decoder->record_of[index] = (uint32_t)decoder->records.count;
    decoder->reads.count = decoder->address_reads.count = decoder->writes.count = 0;
    decoder->after.count = 0;
    decoder->effect = EFFECT_plain;
    for (int i = 0; i < 4; i++) decoder->temporaries[i].used = 0;
    decoder->guard =
        instruction->guarded ? slots_register(decoder, instruction->guard) : SLOT_always;
    decoder->guard_flip = instruction->guarded && instruction->guard_negated ? ~0u : 0;
}

static bool decode_instruction(Decoder *decoder, uint32_t index) {
    begin_instruction(decoder, index);
    const PtxInstruction *instruction = decoder->instruction;
    Record record = {.guard = decoder->guard, .guard_flip = decoder->guard_flip};
    const Form *form = form_find(decoder->input->index, instruction, &record.options);
    if (!form) return decoder_fail(decoder, "the machine cannot execute this instruction");
    record.run = form->run;
    record.immediate = form->immediate;
    if (form->operands && !take_operands(decoder, form, instruction, &record)) return false;
    if (form->prepare && !form->prepare(decoder, instruction, &record)) return false;
    if (decoder->failed) return false;
    if (!record.run) return decoder_fail(decoder, "the machine cannot execute this instruction");
    push_instruction(decoder, record);
    return true;
}

/* Functions. */

static void fix_labels(Decoder *decoder) {
    for (size_t i = 0; i < decoder->fixups.count; i++) {
        Record *record = &decoder->records.data[decoder->fixups.data[i].record];
        if (decoder->fixups.data[i].kind == FIXUP_immediate) {
            record->immediate = decoder->record_of[record->immediate];
            continue;
        }
        uint32_t *list = (uint32_t *)(uintptr_t)record->list;
        for (uint64_t k = 0; k < record->immediate; k++) list[k] = decoder->record_of[list[k]];
    }
}

static void begin_function(Decoder *decoder, ProgramFunction *function) {
    const PtxFunction *ptx = function->function;
    decoder->function = function;
    function->first = (uint32_t)decoder->records.count;
    decoder->register_slots = NEW_ARRAY(decoder->arena, uint32_t, ptx->register_count);
    memset(decoder->register_slots, 0xff, ptx->register_count * sizeof(uint32_t));
    decoder->record_of = NEW_ARRAY(decoder->arena, uint32_t, ptx->instruction_count + 1);
    decoder->fixups.count = 0;
    for (int i = 0; i < 4; i++) decoder->temporaries[i].slots.count = 0;
}

static bool decode_function(Decoder *decoder, ProgramFunction *function) {
    const PtxFunction *ptx = function->function;
    begin_function(decoder, function);
    for (uint32_t i = 0; i < ptx->instruction_count; i++)
        if (!decode_instruction(decoder, i)) return false;
    decoder->instruction = NULL;
    decoder->instruction_index = ptx->instruction_count ? ptx->instruction_count - 1 : 0;
    decoder->record_of[ptx->instruction_count] = (uint32_t)decoder->records.count;
    Record end = {.run = control_end, .guard = SLOT_always};
    push_record(decoder, end, (Effects){0});
    function->count = (uint32_t)decoder->records.count - function->first;
    fix_labels(decoder);
    return true;
}

/* Lanes need a stack where the depth of calls is not known. */
static uint32_t local_stride(const Program *program) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < program->function_count; i++)
        sum += program->functions[i].local_bytes + (i ? program->functions[i].local_align : 0);
    if (program->function_count > 1 || program->has_stack) sum += EMU_STACK;
    return (uint32_t)sum;
}

/* Registers that hold a value at the same time, at most: from the first record that names one to
 * the last. Without the paths between them that is an estimate; only ptxas knows. */
static uint32_t live_registers(const Program *program, const ProgramFunction *function,
                               Arena *arena) {
    uint32_t count = function->register_bytes / 128 + 1, end = function->first + function->count;
    uint32_t *last = NEW_ARRAY(arena, uint32_t, count);
    uint32_t *dies = NEW_ARRAY(arena, uint32_t, function->count), live = 0, most = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = function->first; i < end; i++) {
            const Effects *effects = &program->effects[i];
            for (int k = 0; k < effects->reads + effects->writes; k++) {
                uint32_t slot = program->effect_slots[effects->first + (uint32_t)k];
                if (slot >> 30 != BASE_registers) continue;
                uint32_t *at = &last[(slot & SLOT_OFFSET) / 128];
                if (pass == 0)
                    *at = i + 1; /* 0: never named, or counted */
                else if (*at)
                    live++, dies[*at - 1 - function->first]++, *at = 0;
            }
            most = live > most ? live : most;
            if (pass == 1) live -= dies[i - function->first];
        }
    return most;
}

static uint32_t registers_of(const Program *program, Arena *arena) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < program->function_count; i++) {
        uint32_t live = live_registers(program, &program->functions[i], arena);
        most = live > most ? live : most;
    }
    return most < 8 ? 16 : most > 247 ? 255 : most + 8;
}

static const Program *finish(Decoder *decoder) {
    Program *program = decoder->program;
    program->records = decoder->records.data;
    program->record_count = (uint32_t)decoder->records.count;
    program->effects = decoder->effects.data;
    program->effect_slots = decoder->effect_slots.data;
    program->constants = decoder->constants;
    program->specials = decoder->specials.data;
    program->special_count = (uint32_t)decoder->specials.count;
    program->local_stride = local_stride(program);
    program->registers = registers_of(program, decoder->arena);
    return program;
}

const Program *decode_program(const DecodeInput *input, const PtxFunction *entry) {
    Decoder decoder = {.input = input, .arena = input->arena};
    decoder.program = NEW(input->arena, Program);
    decoder.program->entry = entry;
    require(decoder_constant(&decoder, WIDTH_predicate, ~UINT64_C(0)) == SLOT_always);
    layout_program(&decoder, entry);
    ProgramFunction *functions = (ProgramFunction *)(uintptr_t)decoder.program->functions;
    for (uint32_t i = 0; i < decoder.program->function_count && !decoder.failed; i++) {
        decoder.function_number = i;
        decode_function(&decoder, &functions[i]);
    }
    return decoder.failed ? NULL : finish(&decoder);
}
