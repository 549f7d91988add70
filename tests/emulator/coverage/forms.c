// Prints the forms of all instructions of PTX files, each once a file: opcodes with all that
// follows a dot, in the order in which the emulator prints them.
//
//     emulator-forms FILE.ptx...
#include "base/guard.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_MOST = 64 << 20 };

static bool read_file(Arena *arena, const char *path, Str *out_text) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    if (size < 0 || size > FILE_MOST) size = 0;
    char *text = arena_alloc(arena, (size_t)size + 1);
    *out_text = (Str){text, fread(text, 1, (size_t)size, file)};
    fclose(file);
    return true;
}

static Str form_of(Str text) {
    size_t start = 0, end;
    if (text.size && text.data[0] == '@')
        while (start < text.size && text.data[start++] != ' ') {
        }
    for (end = start; end < text.size && text.data[end] != ' ' && text.data[end] != ';';) end++;
    return (Str){text.data + start, end - start};
}

static void print_forms(Arena *arena, const PtxFunction *function) {
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        Str form = form_of(ptx_instruction_text(arena, function, i));
        printf("%.*s\n", STR_ARG(form));
    }
}

static bool print_file(const char *path) {
    Arena *arena = arena_new(NULL);
    Str text;
    PtxErrors errors = {0};
    const PtxModule *module = NULL;
    bool good = read_file(arena, path, &text) && ptx_parse(arena, text, &module, &errors) == PTX_OK;
    if (!good) fprintf(stderr, "%s: no PTX\n", path);
    for (uint32_t i = 0; good && i < module->function_count; i++)
        print_forms(arena, module->functions[i]);
    arena_free(arena);
    return good;
}

int main(int argc, char **argv) {
    bool good = true;
    for (int i = 1; i < argc; i++) good &= print_file(argv[i]);
    return good ? 0 : 1;
}
