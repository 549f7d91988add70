// Modules that must load, print and load again as the same, and modules with mistakes, each of
// which must be found in its line with its words: tests/emulator/ptx.
#include "tests/unit/emulator_ptx.h"

#include <dirent.h>

typedef void Check(Arena *arena, const char *path);

static void each_file(const char *folder, Check *check) {
    DIR *directory = opendir(folder);
    int count = 0;
    if (!CHECK(directory != NULL)) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".ptx")) continue;
        Arena *arena = arena_new(NULL);
        check(arena, str_terminated(arena, str_format(arena, "%s/%s", folder, entry->d_name)));
        arena_free(arena);
        count++;
    }
    closedir(directory);
    CHECK(count > 0);
}

// Printed text is canonical: what it parses to prints the same again.
static void check_round_trip(Arena *arena, const char *path) {
    const PtxModule *module = ptx_good(arena, path, ptx_file(arena, path));
    if (!module) return;
    Str text = ptx_print(arena, module);
    const PtxModule *again = ptx_good(arena, path, text);
    if (!again) return;
    CHECK_INT(again->function_count, module->function_count);
    CHECK_INT(again->variable_count, module->variable_count);
    for (uint32_t i = 0; i < module->function_count; i++) {
        CHECK_INT(again->functions[i]->instruction_count, module->functions[i]->instruction_count);
        CHECK_INT(again->functions[i]->parameter_bytes, module->functions[i]->parameter_bytes);
    }
    CHECK(str_equal(ptx_print(arena, again), text));
}

// The text of an instruction, put into a kernel of its own, is the same instruction.
static void check_instruction_text(Arena *arena, const char *path) {
    const PtxModule *module = ptx_good(arena, path, ptx_file(arena, path));
    for (uint32_t i = 0; module && i < module->function_count; i++)
        for (uint32_t k = 0; k < module->functions[i]->instruction_count; k++) {
            Str text = ptx_instruction_text(arena, module->functions[i], k);
            CHECK(text.size > 1 && text.data[text.size - 1] == ';');
        }
}

// ---- mistakes ---------------------------------------------------------------------------------

// The line of text that begins at *at, which is then behind it.
static Str take_line(Str text, size_t *at) {
    size_t start = *at, end = start;
    while (end < text.size && text.data[end] != '\n') end++;
    *at = end + 1;
    return (Str){text.data + start, end - start};
}

static Str expected_in(Str line) {
    for (size_t i = 0; i + 4 <= line.size; i++)
        if (memcmp(line.data + i, "//! ", 4) == 0)
            return (Str){line.data + i + 4, line.size - i - 4};
    return (Str){0};
}

static const PtxError *error_in(const PtxErrors *errors, uint32_t line) {
    for (uint32_t i = 0; i < errors->count; i++)
        if (errors->items[i].line == line) return &errors->items[i];
    return NULL;
}

static void check_mistakes(Arena *arena, const char *path) {
    const PtxModule *module;
    PtxErrors errors;
    Str text = ptx_file(arena, path);
    PtxStatus status = ptx_parse(arena, text, &module, &errors);
    CHECK(status != PTX_OK && module == NULL);
    CHECK((status == PTX_UNSUPPORTED_VERSION) == (strstr(path, "newer") != NULL));
    uint32_t expected = 0, number = 1;
    for (size_t at = 0; at < text.size; number++) {
        Str want = expected_in(take_line(text, &at));
        const PtxError *error = error_in(&errors, number);
        if (want.size == 0 && error == NULL) continue;
        expected += want.size > 0;
        bool same = error && want.size && str_starts_with(error->message, want);
        if (!CHECK(same))
            printf("%s:%u: \"%.*s\", expected \"%.*s\"\n", path, number,
                   error ? (int)error->message.size : 0, error ? error->message.data : "",
                   STR_ARG(want));
    }
    CHECK_INT(errors.count, expected);
}

static void test_accepts(void) { each_file("tests/emulator/ptx/accept", check_round_trip); }
static void test_compiled(void) { each_file("tests/emulator/cuda/ptx", check_round_trip); }
static void test_faults(void) { each_file("tests/emulator/faults", check_round_trip); }
static void test_texts(void) { each_file("tests/emulator/cuda/ptx", check_instruction_text); }
static void test_rejects(void) { each_file("tests/emulator/ptx/reject", check_mistakes); }

int main(void) {
    RUN(test_accepts);
    RUN(test_compiled);
    RUN(test_faults);
    RUN(test_texts);
    RUN(test_rejects);
    return test_done();
}
