// Every file of tests/err: exactly the messages that its comments expect, on their lines.
//
//     y = x @ z   # error: matmul-shape@11     an error of that id on this line, at that column
//     # error@0: no-model                      one that has no line
//     # warning: weights-unused                likewise
//
// `@column` may be left out; several ids stand with blanks between them. Notes are not listed.
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

#include <dirent.h>

typedef struct Expected {
    DiagSeverity severity;
    char id[48];
    uint32_t line, column; // column 0: any
    bool met;
} Expected;

enum { MOST = 4096 };
static Expected expected[MOST];
static size_t expected_count;

static void expect(DiagSeverity severity, Str word, uint32_t line) {
    char text[96];
    unsigned column = 0;
    snprintf(text, sizeof text, "%.*s", STR_ARG(word));
    char *at = strchr(text, '@');
    if (at) {
        *at = 0;
        column = (unsigned)strtoul(at + 1, NULL, 10);
    }
    Expected *item = &expected[expected_count];
    if (!CHECK(expected_count < MOST)) return;
    expected_count++;
    *item = (Expected){.severity = severity, .line = line, .column = column};
    snprintf(item->id, sizeof item->id, "%.47s", text);
}

static bool take(Str *rest, const char *text) {
    Str start = str_from(text);
    if (!str_starts_with(*rest, start)) return false;
    *rest = (Str){rest->data + start.size, rest->size - start.size};
    return true;
}

// The words behind a mark, up to the end of the line.
static void read_words(DiagSeverity severity, Str rest, uint32_t line) {
    while (rest.size) {
        size_t blank = 0, size;
        while (blank < rest.size && (rest.data[blank] == ' ' || rest.data[blank] == '\r')) blank++;
        rest = (Str){rest.data + blank, rest.size - blank};
        for (size = 0; size < rest.size && rest.data[size] != ' ' && rest.data[size] != '\r';)
            size++;
        bool word = size && *rest.data >= 'a' && *rest.data <= 'z';
        if (word) expect(severity, (Str){rest.data, size}, line);
        rest = (Str){rest.data + size, rest.size - size};
    }
}

static void read_line(Str line, uint32_t number) {
    for (size_t i = 0; i < line.size; i++) {
        Str rest = {line.data + i, line.size - i};
        if (take(&rest, "# error: "))
            read_words(DIAG_error, rest, number);
        else if (take(&rest, "# error@0: "))
            read_words(DIAG_error, rest, 0);
        else if (take(&rest, "# warning: "))
            read_words(DIAG_warning, rest, number);
        else
            continue;
        return;
    }
}

static void read_expected(Str text) {
    uint32_t number = 1;
    expected_count = 0;
    while (text.size) {
        size_t size = 0;
        while (size < text.size && text.data[size] != '\n') size++;
        read_line((Str){text.data, size}, number++);
        size += size < text.size;
        text = (Str){text.data + size, text.size - size};
    }
}

static bool matches(const Expected *want, const DslMessage *got) {
    return !want->met && want->severity == got->severity && strcmp(want->id, got->id) == 0 &&
           want->line == got->line && (!want->column || want->column == got->column);
}

static bool find_message(const DslMessage *got) {
    if (got->severity == DIAG_note) return true;
    for (size_t k = 0; k < expected_count; k++) {
        if (!matches(&expected[k], got)) continue;
        expected[k].met = true;
        return true;
    }
    return false;
}

static void check_file(const char *path, Str text) {
    DslRun run;
    read_expected(text);
    CHECK(expected_count > 0);
    dsl_run(&run, path, text, NULL);
    if (!CHECK(!run.raised)) printf("    %s: %s\n", path, run.guard.message);
    for (size_t i = 0; i < run.messages.count; i++) {
        const DslMessage *got = &run.messages.data[i];
        if (!CHECK(find_message(got))) printf("    not expected: %s", got->rendered);
    }
    for (size_t k = 0; k < expected_count; k++) {
        if (CHECK(expected[k].met)) continue;
        printf("    %s:%u:%u: missing: %s\n", path, expected[k].line, expected[k].column,
               expected[k].id);
    }
    dsl_run_free(&run);
}

// The ids that were met in any file, to see how many kinds there are.
static char kinds[512][48];
static size_t kind_count;

static void count_kinds(void) {
    for (size_t k = 0; k < expected_count; k++) {
        size_t i = 0;
        while (i < kind_count && strcmp(kinds[i], expected[k].id) != 0) i++;
        if (i == kind_count && kind_count < 512) {
            memcpy(kinds[kind_count++], expected[k].id, sizeof kinds[0]);
        }
    }
}

static int is_model_file(const struct dirent *entry) {
    size_t size = strlen(entry->d_name);
    return size > 2 && strcmp(entry->d_name + size - 2, ".g") == 0;
}

static void test_error_files(void) {
    struct dirent **entries;
    int count = scandir("tests/err", &entries, is_model_file, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "tests/err/%s", entries[i]->d_name);
        Str text = dsl_read_file(path);
        if (CHECK(text.data)) check_file(path, text);
        count_kinds();
        free((void *)(uintptr_t)text.data);
        free(entries[i]);
    }
    free(entries);
    printf("    %d files, %zu kinds of message\n", count, kind_count);
    CHECK(kind_count >= 90);
}

int main(void) {
    RUN(test_error_files);
    return test_done();
}
