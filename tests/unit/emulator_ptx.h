// What the tests of the PTX parser share.
#ifndef TCC_TESTS_UNIT_EMULATOR_PTX_H
#define TCC_TESTS_UNIT_EMULATOR_PTX_H

#include "base/str.h"
#include "emulator/ptx/ptx.h"
#include "tests/unit/test.h"

// A file as text; fails the test when there is none.
static inline Str ptx_file(Arena *arena, const char *path) {
    FILE *file = fopen(path, "rb");
    Buf text = {.arena = arena};
    char part[4096];
    if (!CHECK(file != NULL)) return (Str){0};
    for (size_t size; (size = fread(part, 1, sizeof part, file)) > 0;) buf_bytes(&text, part, size);
    fclose(file);
    return buf_str(&text);
}

static inline void ptx_show(const char *name, const PtxErrors *errors) {
    for (uint32_t i = 0; i < errors->count; i++)
        printf("%s:%u:%u: %.*s\n", name, errors->items[i].line, errors->items[i].column,
               STR_ARG(errors->items[i].message));
}

// The module of a text that must be right.
static inline const PtxModule *ptx_good(Arena *arena, const char *name, Str text) {
    const PtxModule *module = NULL;
    PtxErrors errors;
    if (!CHECK_INT(ptx_parse(arena, text, &module, &errors), PTX_OK)) ptx_show(name, &errors);
    return module;
}

// A module of one kernel, with registers of each type, around some statements.
static inline Str ptx_around(Arena *arena, const char *statements) {
    return str_format(arena,
                      ".version 9.0\n.target sm_90a\n.address_size 64\n"
                      ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<99>; .reg .b64 %%rd<99>; "
                      ".reg .f32 %%f<99>; .reg .pred %%p<9>;\n%s\nret;\n}\n",
                      statements);
}

#endif
