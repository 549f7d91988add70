/* Places of variables: which functions an entry reaches, what they keep in shared memory, and what
 * every activation keeps in local memory. */
#include "emulator/machine/decode.h"

typedef struct Reach {
    Decoder *decoder;
    VEC(const PtxFunction *) functions;
    VEC(const PtxVariable *) shared;
} Reach;

static void reach_function(Reach *reach, const PtxFunction *function) {
    if (!function->has_body) return;
    for (size_t i = 0; i < reach->functions.count; i++)
        if (reach->functions.data[i] == function) return;
    vec_push(reach->decoder->arena, &reach->functions, function);
}

static void reach_variable(Reach *reach, const PtxVariable *variable) {
    if (variable->space != PTX_SPACE_shared) return;
    for (size_t i = 0; i < reach->shared.count; i++)
        if (reach->shared.data[i] == variable) return;
    vec_push(reach->decoder->arena, &reach->shared, variable);
}

/* Operands nest as deep as [map, {c0, c1}] does. */
static void reach_operand(Reach *reach, const PtxOperand *operand) {
    if (operand->function) reach_function(reach, operand->function);
    if (operand->variable) reach_variable(reach, operand->variable);
    for (uint32_t i = 0; i < operand->part_count; i++) reach_operand(reach, &operand->parts[i]);
}

/* A call through a register may go to any function of the module. */
static bool calls_indirectly(const PtxInstruction *instruction) {
    if (instruction->row != PTX_call) return false;
    for (int i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == PTX_OPERAND_function) return false;
    return true;
}

static void reach_all(Reach *reach) {
    const PtxModule *module = reach->decoder->input->module;
    for (size_t f = 0; f < reach->functions.count; f++) {
        const PtxFunction *function = reach->functions.data[f];
        for (uint32_t i = 0; i < function->instruction_count; i++) {
            const PtxInstruction *instruction = &function->instructions[i];
            for (int k = 0; k < instruction->operand_count; k++)
                reach_operand(reach, &instruction->operands[k]);
            if (!calls_indirectly(instruction) || reach->decoder->program->calls_indirectly)
                continue;
            reach->decoder->program->calls_indirectly = true;
            for (uint32_t k = 0; k < module->function_count; k++)
                if (!module->functions[k]->is_entry) reach_function(reach, module->functions[k]);
        }
    }
}

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

/* Results, parameters and variables of one function, in this order, each aligned as it asks and to
 * no more; so activations begin at multiples of twice the most that one asks for. */
static void layout_locals(Decoder *decoder, ProgramFunction *out) {
    const PtxFunction *function = out->function;
    uint32_t most = function->result_count + function->parameter_count + function->variable_count;
    ProgramLocal *locals = NEW_ARRAY(decoder->arena, ProgramLocal, most);
    uint64_t bytes = 0, align = 8;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t at = i;
        const PtxVariable *variable;
        if (at < function->result_count)
            variable = function->results[at];
        else if ((at -= function->result_count) < function->parameter_count)
            variable = function->is_entry ? NULL : function->parameters[at];
        else
            variable = function->variables[at - function->parameter_count];
        if (!variable || (variable->space != PTX_SPACE_local && variable->space != PTX_SPACE_param))
            continue;
        bytes = emu_place_barely(bytes, variable->align);
        if (variable->align > align) align = variable->align;
        locals[out->local_count++] = (ProgramLocal){variable, bytes};
        bytes += variable->size;
    }
    out->locals = locals;
    out->local_bytes = (uint32_t)align_up(bytes, 16);
    out->local_align = 2 * (uint32_t)align;
    if (bytes > EMU_LOCAL_LIMIT)
        decoder_fail(decoder, "%.*s has more local memory than a thread can have",
                     STR_ARG(function->name));
}

enum { SHARED_GAP = 16, SHARED_MOST = INT32_MAX };

/* Static variables in the order in which the program names them, then dynamic shared memory; each
 * is aligned as it asks and to no more, with a gap in front of it that belongs to nobody.
 * `shared_static` is what they take on a device, which leaves no more room than it has to. */
static void layout_shared_variables(Decoder *decoder, const Reach *reach) {
    Program *program = decoder->program;
    ObserveVariable *shared = NEW_ARRAY(decoder->arena, ObserveVariable, reach->shared.count);
    uint64_t first = (uint64_t)decoder->input->model->shared_reserved, at = first, align = 1;
    uint64_t packed = first;
    for (size_t i = 0; i < reach->shared.count; i++) {
        const PtxVariable *variable = reach->shared.data[i];
        if (variable->size == 0) {
            align = variable->align > align ? variable->align : align;
            continue;
        }
        at = emu_place_barely(at + SHARED_GAP, variable->align);
        shared[i] = (ObserveVariable){variable, (uint32_t)at, (uint32_t)variable->size};
        at += variable->size;
        packed = align_up(packed, variable->align) + variable->size;
        /* More than any device has: refused at the launch. */
        if (at > SHARED_MOST) at = packed = SHARED_MOST;
    }
    program->shared_first = (uint32_t)first;
    program->shared_static = (uint32_t)(packed - first);
    program->shared_end = (uint32_t)at;
    program->shared_dynamic = (uint32_t)emu_place_barely(at + SHARED_GAP, align);
    for (size_t i = 0; i < reach->shared.count; i++)
        if (reach->shared.data[i]->size == 0)
            shared[i] = (ObserveVariable){reach->shared.data[i], program->shared_dynamic, 0};
    program->shared = shared;
    program->shared_count = (uint32_t)reach->shared.count;
}

void layout_program(Decoder *decoder, const PtxFunction *entry) {
    Reach reach = {.decoder = decoder};
    Program *program = decoder->program;
    reach_function(&reach, entry);
    reach_all(&reach);
    layout_shared_variables(decoder, &reach);
    if (reach.functions.count > UINT16_MAX) decoder_fail(decoder, "there are too many functions");
    ProgramFunction *functions = NEW_ARRAY(decoder->arena, ProgramFunction, reach.functions.count);
    for (size_t i = 0; i < reach.functions.count && !decoder->failed; i++) {
        functions[i].function = reach.functions.data[i];
        functions[i].number = decode_function_number(decoder->input->module, functions[i].function);
        layout_locals(decoder, &functions[i]);
    }
    program->functions = functions;
    program->function_count = (uint32_t)reach.functions.count;
}

bool layout_local(const ProgramFunction *function, const PtxVariable *variable,
                  uint64_t *out_offset) {
    for (uint32_t i = 0; i < function->local_count; i++) {
        if (function->locals[i].variable != variable) continue;
        *out_offset = function->locals[i].offset;
        return true;
    }
    return false;
}

bool layout_shared(const Program *program, const PtxVariable *variable, uint32_t *out_offset) {
    for (uint32_t i = 0; i < program->shared_count; i++) {
        if (program->shared[i].variable != variable) continue;
        *out_offset = program->shared[i].offset;
        return true;
    }
    return false;
}

const ProgramFunction *layout_function(const Program *program, const PtxFunction *function) {
    for (uint32_t i = 0; i < program->function_count; i++)
        if (program->functions[i].function == function) return &program->functions[i];
    return NULL;
}

bool layout_is_parameter(const PtxFunction *entry, const PtxVariable *variable) {
    for (uint32_t i = 0; i < entry->parameter_count; i++)
        if (entry->is_entry && entry->parameters[i] == variable) return true;
    return false;
}
