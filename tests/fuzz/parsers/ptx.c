// The reader of PTX: what it accepts prints, and what was printed is read back and prints the same;
// what it refuses has errors at places that exist. What is accepted is also loaded by a device of
// one of the models, and its functions become programs or the log says why not; nothing of it
// stays.
#include "tests/fuzz/parsers/targets.h"

#include "base/guard.h"
#include "emulator/machine/machine.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void broken(const char *what, Str detail) {
    fprintf(stderr, "broken promise: %s: %.*s\n", what, STR_ARG(detail));
    abort();
}

static uint32_t count_lines(Str text) {
    uint32_t lines = 1;
    for (size_t i = 0; i < text.size; i++) lines += text.data[i] == '\n';
    return lines;
}

static void check_errors(Str text, const PtxErrors *errors) {
    if (errors->count == 0 || errors->count > 20) broken("a module was refused", STR("in silence"));
    for (uint32_t i = 0; i < errors->count; i++) {
        const PtxError *error = &errors->items[i];
        if (error->line == 0 || error->line > count_lines(text) || error->column == 0)
            broken("a place that does not exist", error->message);
        if (error->message.size == 0 || !str_is_utf8(error->message) || !str_is_utf8(error->text))
            broken("an error that cannot be read", error->message);
    }
}

// Labels, targets and registers are those of the function.
static void check_function(const PtxFunction *f) {
    for (uint32_t i = 0; i < f->instruction_count; i++) {
        const PtxInstruction *instruction = &f->instructions[i];
        if (instruction->location >= f->location_count || instruction->row >= PTX_row_count)
            broken("an instruction", f->name);
        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            const PtxOperand *o = &instruction->operands[k];
            bool wrong = (o->kind == PTX_OPERAND_label && o->index >= f->instruction_count) ||
                         (o->kind == PTX_OPERAND_register && o->index >= f->register_count) ||
                         (o->kind == PTX_OPERAND_targets && o->index >= f->target_count);
            if (wrong) broken("an operand", f->name);
        }
    }
}

static void check_module(Arena *arena, const PtxModule *module) {
    const PtxModule *again;
    PtxErrors errors;
    Str text = ptx_print(arena, module);
    for (uint32_t i = 0; i < module->function_count; i++) check_function(module->functions[i]);
    if (ptx_parse(arena, text, &again, &errors) != PTX_OK) {
        fprintf(stderr, "%.*s\n", STR_ARG(text));
        broken("what was printed is refused", errors.items[0].message);
    }
    Str second = ptx_print(arena, again);
    if (str_equal(text, second)) return;
    fprintf(stderr, "%.*s\n---- reads back as\n%.*s\n", STR_ARG(text), STR_ARG(second));
    broken("a text", STR("does not read back"));
}

enum { MOST_MODELS = 8 };

// The models with little memory, so that a device costs no more than it has to.
static EmuDevice *device_of(int model) {
    static EmuModel models[MOST_MODELS];
    static EmuDevice *devices[MOST_MODELS];
    if (!devices[model]) {
        models[model] = emu_models[model];
        models[model].memory = UINT64_C(64) << 20;
        devices[model] = emu_device_new(&models[model]);
    }
    return devices[model];
}

static void check_functions(const EmuModule *loaded) {
    for (int i = 0; i < emu_module_function_count(loaded); i++) {
        const EmuFunction *function = emu_module_function_at(loaded, i);
        EmuFunctionInfo info;
        emu_function_info(function, &info);
        if (emu_module_function(loaded, info.name) == NULL) broken("a function", info.name);
        for (uint32_t k = 0; k < info.parameter_count; k++) {
            uint64_t offset, size;
            emu_function_parameter(function, k, &offset, &size);
            if (offset + size > info.parameter_bytes) broken("a parameter", info.name);
        }
    }
}

// Whether the text comes to programs must not hang on how it is written.
static void load_text(Arena *arena, Str text, Str printed, int model) {
    EmuDevice *device = device_of(model);
    EmuModule *loaded;
    Str log;
    EmuStatus status = emu_module_load(device, text, arena, &loaded, &log);
    if (status == EMU_OK)
        check_functions(loaded);
    else if (loaded || (log.size == 0 && status != EMU_OUT_OF_MEMORY))
        broken("a module was not loaded", STR("in silence"));
    emu_module_free(loaded);
    EmuStatus again = emu_module_load(device, printed, arena, &loaded, &log);
    if (again != status) broken("what was printed loads otherwise", log);
    emu_module_free(loaded);
    if (emu_memory_blocks(emu_device_memory(device)) != 0)
        broken("memory", STR("stays when a module is gone"));
}

static void read_text(Arena *arena, Str text) {
    const PtxModule *module;
    PtxErrors errors;
    if (ptx_parse(arena, text, &module, &errors) != PTX_OK) {
        check_errors(text, &errors);
        return;
    }
    check_module(arena, module);
    Str printed = ptx_print(arena, module);
    load_text(arena, text, printed, (int)(text.size % (size_t)emu_model_count));
}

void fuzz_ptx(const uint8_t *data, size_t size) {
    Guard guard;
    Arena *arena = arena_new(NULL);
    // Memory of exactly that size, so that a read past its end is seen.
    char *copy = malloc(size ? size : 1);
    if (size) memcpy(copy, data, size);
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0)
        read_text(arena, (Str){copy, size});
    else if (guard.kind != GUARD_memory)
        broken("a guard was raised", str_from(guard.message));
    guard_leave(&guard);
    arena_free(arena);
    free(copy);
}

const char *const fuzz_ptx_words[] = {
#define INSTRUCTION(name, text, flags) text,
#define SPELLING(name, text) text,
#define FORM(suffix, operands, sm, ptx)
#include "emulator/ptx/instructions.def"
#define MODIFIER(name, text, sm, ptx) "." text,
#include "emulator/ptx/modifiers.def"
#undef MODIFIER
#define TYPE(name, bits, class) "." #name,
#include "emulator/ptx/types.def"
#undef TYPE
#define SPECIAL(name, type, components) "%" #name,
#include "emulator/ptx/specials.def"
#undef SPECIAL
    ".version 9.0",
    ".target sm_90a",
    ".target sm_80",
    ".address_size 64",
    ".visible",
    ".extern",
    ".entry",
    ".func",
    ".param",
    ".reg",
    ".align",
    ".loc 1 2 3",
    ", function_name $s, inlined_at 1 2 3",
    ".file 1 \"a\"",
    ".section .debug_str { $s: .b8 97,0 }",
    ".branchtargets",
    ".calltargets",
    ".callprototype",
    ".pragma \"x\";",
    ".alias",
    ".maxntid 1, 2",
    ".attribute(.managed)",
    ".ptr",
    ".v2",
    ".v4",
    ".m16n8k16",
    "%r<9>",
    "%r1",
    "%rd1",
    "%f1",
    "%p1",
    "@!%p1",
    "@%p1",
    "|%p2",
    "[%rd1+8]",
    "{%r1, %r2}",
    "generic(",
    "0xFF00(",
    "0f3F800000",
    "0d3FF0000000000000",
    "1.5",
    "(.s64)",
    "WARP_SZ",
    "$L1:",
    "$L1",
    "_",
    ";",
    "\n",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "?",
    ":",
    "/*",
    "*/",
    "//",
    NULL};
