// Rendering of diagnostics: places, carets, what hostile text could do to a terminal, the limit.
#include "base/diag.h"
#include "base/messages.h"
#include "tests/unit/test.h"

#define MSG_TEST "test", "%s"

typedef struct Seen {
    Buf text;
    int count;
    Diag last;
} Seen;

static void keep(void *user, const Diag *diag) {
    Seen *seen = user;
    buf_put(&seen->text, str_from(diag->rendered));
    seen->count++;
    seen->last = *diag;
}

typedef struct Fixture {
    Arena *arena;
    Seen seen;
    Diags *diags;
    uint32_t file;
} Fixture;

static Fixture begin(Str text, uint32_t limit, Seen *seen) {
    Fixture fixture = {.arena = arena_new(NULL)};
    *seen = (Seen){.text = {.arena = fixture.arena}};
    fixture.diags = diags_new(fixture.arena, keep, seen, limit);
    fixture.file = diags_add_file(fixture.diags, STR("m.g"), text);
    return fixture;
}

// One error at the place must render as `want`.
static void check_error(Str text, uint32_t line, uint32_t column, uint32_t width,
                        const char *message, const char *want) {
    Seen seen;
    Fixture fixture = begin(text, 0, &seen);
    diag_error(fixture.diags, (Loc){fixture.file, line, column, width}, MSG_TEST, message);
    CHECK_STR(seen.text.data, want);
    arena_free(fixture.arena);
}

static void test_a_caret(void) {
    check_error(STR("dim N\n\n    y = x + label\nend"), 3, 13, 5, "no",
                "m.g:3:13: error: no [test]\n"
                "    3 |     y = x + label\n"
                "      |             ^~~~~\n");
}

static void test_places(void) {
    check_error(STR("ab"), 1, 1, 1, "first",
                "m.g:1:1: error: first [test]\n    1 | ab\n      | ^\n");
    check_error(STR("ab"), 1, 3, 1, "end", "m.g:1:3: error: end [test]\n    1 | ab\n      |   ^\n");
    check_error(STR("ab"), 1, 9, 4, "past",
                "m.g:1:9: error: past [test]\n    1 | ab\n      |   ^\n");
    check_error(STR("ab\n"), 2, 1, 0, "last", "m.g:2:1: error: last [test]\n    2 | \n      | ^\n");
    check_error(STR("ab"), 7, 1, 1, "no line", "m.g:7:1: error: no line [test]\n");
    check_error(STR("ab"), 0, 0, 0, "whole", "m.g: error: whole [test]\n");
    check_error(STR("a\r\nb\r\n"), 1, 1, 9, "crlf",
                "m.g:1:1: error: crlf [test]\n    1 | a\n      | ^\n");
}

static void test_no_place_at_all(void) {
    Seen seen;
    Fixture fixture = begin(STR("x"), 0, &seen);
    diag_warning(fixture.diags, (Loc){0}, MSG_TEST, "w");
    CHECK_STR(seen.text.data, "warning: w [test]\n");
    CHECK(seen.last.path == NULL);
    diag_note(fixture.diags, (Loc){99, 1, 1, 1}, MSG_TEST, "n");
    CHECK_STR(seen.last.rendered, "note: n\n");
    CHECK_INT(diags_error_count(fixture.diags), 0);
    CHECK_INT(diags_warning_count(fixture.diags), 1);
    arena_free(fixture.arena);
}

static void test_tabs_and_wide_characters(void) {
    check_error(STR("\ta\tb = c"), 1, 4, 1, "t",
                "m.g:1:4: error: t [test]\n"
                "    1 |         a       b = c\n"
                "      |                 ^\n");
    check_error(STR("\xc3\xa9\xe2\x82\xac = x"), 1, 9, 1, "u",
                "m.g:1:9: error: u [test]\n"
                "    1 | \xc3\xa9\xe2\x82\xac = x\n"
                "      |      ^\n");
}

static void test_controls_are_escaped(void) {
    check_error(STR("a\x1b[31m\x07 b\xff c"), 1, 9, 1, "name \x1b]0;t\x07 and\nmore\0",
                "m.g:1:9: error: name \\x1b]0;t\\x07 and\\nmore [test]\n"
                "    1 | a\\x1b[31m\\x07 b\\xff c\n"
                "      |               ^\n");
}

static void test_long_lines_are_cut(void) {
    Seen seen;
    Arena *texts = arena_new(NULL);
    Buf line = {.arena = texts};
    for (int i = 0; i < 100000; i++) buf_char(&line, "0123456789"[i % 10]);
    Fixture fixture = begin(buf_str(&line), 0, &seen);
    diag_error(fixture.diags, (Loc){fixture.file, 1, 50001, 90000}, MSG_TEST, "far");
    CHECK(seen.text.size < 500);
    CHECK(strstr(seen.text.data, " | ...0123456789") != NULL);
    const char *caret = strstr(seen.text.data, " ^~~~");
    const char *second = strrchr(seen.text.data, '|');
    CHECK(caret && caret + 1 - (second + 2) == 83);
    arena_free(fixture.arena);
    arena_free(texts);
}

static void test_long_texts_are_cut(void) {
    Seen seen;
    Fixture fixture = begin(STR(""), 0, &seen);
    char *name = arena_alloc(fixture.arena, 1000001);
    memset(name, '\n', 1000000);
    diag_error(fixture.diags, (Loc){fixture.file, 0, 0, 0}, MSG_TEST, name);
    CHECK(seen.text.size < 2100);
    CHECK(strstr(seen.text.data, "\\n... [test]") != NULL);
    arena_free(fixture.arena);
}

static void test_the_limit(void) {
    Seen seen;
    Fixture fixture = begin(STR("x"), 2, &seen);
    for (int i = 0; i < 5; i++) {
        diag_error(fixture.diags, (Loc){0}, MSG_TEST, "e");
        diag_note(fixture.diags, (Loc){0}, MSG_TEST, "n");
    }
    CHECK_INT(seen.count, 4);
    CHECK_INT(diags_error_count(fixture.diags), 5);
    diags_finish(fixture.diags);
    CHECK_STR(seen.last.rendered, "note: the limit of errors is reached; 3 more were not shown\n");
    CHECK_STR(seen.last.id, "more-errors");
    arena_free(fixture.arena);
}

static void test_no_limit_and_no_sink(void) {
    Seen seen;
    Fixture fixture = begin(STR("x"), 0, &seen);
    for (int i = 0; i < 300; i++) diag_error(fixture.diags, (Loc){0}, MSG_TEST, "e");
    diags_finish(fixture.diags);
    CHECK_INT(seen.count, 300);
    Diags *silent = diags_new(fixture.arena, NULL, NULL, 1);
    diag_error(silent, (Loc){0}, MSG_TEST, "e");
    diag_error(silent, (Loc){0}, MSG_TEST, "e");
    diags_finish(silent);
    CHECK_INT(diags_error_count(silent), 2);
    arena_free(fixture.arena);
}

static void test_files_are_kept(void) {
    Seen seen;
    Fixture fixture = begin(STR("text"), 0, &seen);
    uint32_t other = diags_add_file(fixture.diags, STR("other"), STR(""));
    CHECK(other != fixture.file && other != 0);
    CHECK(str_equal(diags_file_path(fixture.diags, other), STR("other")));
    CHECK(str_equal(diags_file_text(fixture.diags, fixture.file), STR("text")));
    CHECK(str_equal(diags_file_path(fixture.diags, 0), STR("")));
    CHECK(str_equal(diags_file_text(fixture.diags, 77), STR("")));
    arena_free(fixture.arena);
}

int main(void) {
    RUN(test_a_caret);
    RUN(test_places);
    RUN(test_no_place_at_all);
    RUN(test_tabs_and_wide_characters);
    RUN(test_controls_are_escaped);
    RUN(test_long_lines_are_cut);
    RUN(test_long_texts_are_cut);
    RUN(test_the_limit);
    RUN(test_no_limit_and_no_sink);
    RUN(test_files_are_kept);
    return test_done();
}
