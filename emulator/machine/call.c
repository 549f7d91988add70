/* call and ret. Arguments are bytes of the caller's .param variables (or registers) that are copied
 * into the callee's parameters, results the other way round when lanes return; both lie in local
 * memory, where each activation has its stretch. */
#include "emulator/machine/call.h"

#include "emulator/machine/access.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/warp.h"

#include <string.h>

uint32_t call_results(const Record *record) { return record->list[0]; }
uint32_t call_arguments(const Record *record) { return record->list[1]; }

static Pass pass_at(const Record *record, uint32_t index) {
    return (Pass){(PassKind)record->list[2 + 2 * index], record->list[3 + 2 * index]};
}
Pass call_result(const Record *record, uint32_t index) { return pass_at(record, index); }
Pass call_argument(const Record *record, uint32_t index) {
    return pass_at(record, record->list[0] + index);
}

static uint8_t *local_byte(const Warp *warp, int lane, uint64_t offset) {
    return warp->local + (uint64_t)lane * warp->program->local_stride + offset;
}

static uint8_t *pass_bytes(const Warp *warp, const Frame *frame, Pass pass, int lane) {
    if (pass.kind == PASS_memory) return local_byte(warp, lane, frame->local + pass.place);
    uint8_t *base =
        pass.place >> 30 == BASE_registers ? frame->registers : warp->bases[pass.place >> 30];
    return base + (pass.place & SLOT_OFFSET) + (pass.kind == PASS_long ? 8 : 4) * lane;
}

uint64_t call_read(const Warp *warp, Pass pass, int lane, uint32_t size) {
    uint64_t value = 0;
    memcpy(&value, pass_bytes(warp, warp->frame, pass, lane), size < 8 ? size : 8);
    return value;
}

/* The bytes were copied by nobody's store: the observer is told of one. */
static void tell_written(Warp *warp, const Record *record, uint32_t lanes, uint64_t offset,
                         uint64_t size) {
    uint64_t addresses[EMU_LANES];
    if (!warp->worker->deep) return;
    for (int i = 0; i < EMU_LANES; i++) addresses[i] = offset;
    access_tell(warp, record, lanes, PTX_SPACE_local, (uint32_t)size, OBSERVE_store, addresses);
}

void call_write(Warp *warp, const Record *record, Pass pass, int lane, uint32_t size,
                uint64_t value) {
    memcpy(pass_bytes(warp, warp->frame, pass, lane), &value, size < 8 ? size : 8);
    if (pass.kind == PASS_memory)
        tell_written(warp, record, 1u << lane, warp->frame->local + pass.place, size);
}

/* Between a place of the caller and a variable of the callee. */
static void pass_value(Warp *warp, const Record *record, const Frame *caller, Pass pass,
                       const Frame *callee, const ProgramLocal *local, uint32_t lanes, bool back) {
    uint64_t size = local->variable->size, most = pass.kind == PASS_long ? 8 : 4;
    if (pass.kind != PASS_memory && size > most) size = most;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint8_t *outer = pass_bytes(warp, caller, pass, i);
        uint8_t *inner = local_byte(warp, i, callee->local + local->offset);
        if (back)
            memcpy(outer, inner, size);
        else
            memcpy(inner, outer, size);
    }
    if (!back)
        tell_written(warp, record, lanes, callee->local + local->offset, size);
    else if (pass.kind == PASS_memory)
        tell_written(warp, record, lanes, caller->local + pass.place, size);
}

static const ProgramFunction *function_of(const Warp *warp, const Frame *frame) {
    return &warp->program->functions[frame->function];
}

static Step enter(Warp *warp, const Record *record, uint32_t lanes, uint32_t function) {
    Frame *caller = warp->frame;
    Step step = warp_call(warp, record, lanes, function);
    if (step == STEP_fault) return step;
    const ProgramFunction *callee = &warp->program->functions[function];
    uint32_t first = callee->function->result_count;
    for (uint32_t i = 0; i < call_arguments(record); i++)
        pass_value(warp, record, caller, call_argument(record, i), warp->frame,
                   &callee->locals[first + i], lanes, false);
    return step;
}

PLAIN_HANDLER(call_direct) { return enter(warp, record, lanes, (uint32_t)record->immediate); }

/* The function of the program that an address names and that takes what the call passes. */
static bool find_function(const Warp *warp, const Record *record, uint64_t address,
                          uint32_t *out_function) {
    uint64_t number = (address - EMU_WINDOW_function) / 16;
    for (uint32_t i = 1; i < warp->program->function_count; i++) {
        const ProgramFunction *function = &warp->program->functions[i];
        if (address < EMU_WINDOW_function || function->number != number || address % 16) continue;
        *out_function = i;
        return function->function->result_count == call_results(record) &&
               function->function->parameter_count == call_arguments(record);
    }
    return false;
}

/* Lanes that call the same function go together, the others call again afterwards. */
PLAIN_HANDLER(call_indirect) {
    const LaneU64 *address = warp_slot(warp, record->slot[0]);
    int first = __builtin_ctz(lanes);
    uint32_t same = 0, function;
    for (int i = 0; i < EMU_LANES; i++)
        if ((lanes >> i & 1) && address[i] == address[first]) same |= 1u << i;
    if (!find_function(warp, record, address[first], &function))
        return warp_fatal(warp, record, EMU_FINDING_branch_target, same, address[first], 0,
                          "this is no function that takes these arguments");
    warp_put(warp, warp->frame, lanes & ~same, warp->pc - 1);
    warp->active &= ~(lanes & ~same);
    return enter(warp, record, same, function);
}

Step call_return(Warp *warp, const Record *record, uint32_t lanes) {
    const Frame *frame = warp->frame;
    const Record *call = &warp->program->records[frame->return_pc - 1];
    const ProgramFunction *callee = function_of(warp, frame);
    for (uint32_t i = 0; i < call_results(call); i++)
        pass_value(warp, record, frame->caller, call_result(call, i), frame, &callee->locals[i],
                   lanes, true);
    return warp_return(warp, lanes);
}

/* Decoding. */

typedef struct CallParts {
    const PtxOperand *results, *target, *arguments;
} CallParts;

static CallParts call_parts(const PtxInstruction *instruction) {
    CallParts parts = {0};
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxOperand *operand = &instruction->operands[i];
        if (operand->kind == PTX_OPERAND_list && !parts.target)
            parts.results = operand;
        else if (operand->kind == PTX_OPERAND_list)
            parts.arguments = operand;
        else if (!parts.target)
            parts.target = operand;
    }
    return parts;
}

static bool take_pass(Decoder *decoder, const PtxOperand *operand, bool result, uint32_t *words) {
    uint64_t offset;
    if (operand->kind == PTX_OPERAND_variable || operand->kind == PTX_OPERAND_address) {
        if (!layout_local(decoder->function, operand->variable, &offset))
            return decoder_fail(decoder, "%.*s is no .param variable of this function",
                                STR_ARG(operand->variable->name));
        words[0] = PASS_memory;
        words[1] = (uint32_t)(offset + (uint64_t)operand->offset);
        return true;
    }
    Width width =
        operand->kind == PTX_OPERAND_register ? slots_width(decoder, operand) : WIDTH_long;
    if (width == WIDTH_predicate || width == WIDTH_quad)
        return decoder_fail(decoder, "a register of this type cannot be passed");
    words[0] = width == WIDTH_long ? PASS_long : PASS_word;
    words[1] =
        result ? slots_register(decoder, operand->index) : decoder_source(decoder, operand, width);
    return !decoder->failed;
}

static bool choose_target(Decoder *decoder, const CallParts *parts, uint32_t results,
                          uint32_t arguments, Record *record) {
    const PtxFunction *function = parts->target->function;
    if (!function) {
        record->slot[0] = decoder_source(decoder, parts->target, WIDTH_long);
        record->run = call_indirect;
        return true;
    }
    if (function->result_count != results || function->parameter_count != arguments)
        return decoder_fail(decoder, "%.*s takes other arguments", STR_ARG(function->name));
    const ProgramFunction *callee = layout_function(decoder->program, function);
    record->run = callee ? call_direct : builtin_handler(function->name);
    if (callee) record->immediate = (uint64_t)(callee - decoder->program->functions);
    if (!record->run)
        return decoder_fail(decoder, "function %.*s has no body", STR_ARG(function->name));
    return true;
}

static bool prepare_call(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    CallParts parts = call_parts(instruction);
    uint32_t results = parts.results ? parts.results->part_count : 0;
    uint32_t arguments = parts.arguments ? parts.arguments->part_count : 0;
    uint32_t *list = decoder_list(decoder, 2 + 2 * (results + arguments));
    list[0] = results, list[1] = arguments;
    record->list = list;
    for (uint32_t i = 0; i < results; i++)
        if (!take_pass(decoder, &parts.results->parts[i], true, &list[2 + 2 * i])) return false;
    for (uint32_t i = 0; i < arguments; i++)
        if (!take_pass(decoder, &parts.arguments->parts[i], false, &list[2 + 2 * (results + i)]))
            return false;
    return choose_target(decoder, &parts, results, arguments, record);
}

static const Form emu_forms_call_forms[] = {
    {.row = PTX_call, .accepts = ACCEPT_any, .prepare = prepare_call},
};
FORM_TABLE(emu_forms_call);
