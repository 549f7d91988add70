// Instances of the rows of emulator/ptx/instructions.def, for tests/emulator/ptxas.
//
//     emulator-instances list TARGET COUNT SEED    instances of all forms, a line each
//     emulator-instances judge TARGET VERSION      for each line read: 1 accepted, 0 refused
//     emulator-instances head TARGET VERSION       what a module has before such a line
#include "base/scratch.h"
#include "tests/emulator/ptx/instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool accepts(const char *target, const char *version, const char *line) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    Buf buf = {.arena = arena};
    const PtxModule *module;
    PtxErrors errors;
    instances_head(&buf, target, version);
    buf_print(&buf, "%s\nret;\n}\n", line);
    bool good = ptx_parse(arena, buf_str(&buf), &module, &errors) == PTX_OK;
    scratch_close(&scratch);
    return good;
}

static void judge(const char *target, const char *version) {
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) printf("%d\n", accepts(target, version, line));
}

int main(int count, char **arguments) {
    Arena *arena = arena_new(NULL);
    Buf out = {.arena = arena};
    if (count == 5 && strcmp(arguments[1], "list") == 0) {
        Grammar grammar = {.forms = {NULL}};
        grammar_open(&grammar, arena);
        instances_list(&grammar, &out, atoi(arguments[3]), (uint64_t)atoll(arguments[4]));
    } else if (count == 4 && strcmp(arguments[1], "judge") == 0) {
        judge(arguments[2], arguments[3]);
    } else if (count == 4 && strcmp(arguments[1], "head") == 0) {
        instances_head(&out, arguments[2], arguments[3]);
    } else {
        return 2;
    }
    printf("%.*s", STR_ARG(buf_str(&out)));
    arena_free(arena);
    return 0;
}
