/* The functions of the language as a page of text. Those of the library are found by their lines:
 * "fn NAME(PARAMETERS) {", after a comment that says what they do. */
#include "frontend/dsl/functions.h"

#include "base/embedded.h"
#include "frontend/dsl/builtin.h"

#include <string.h>

extern const EmbeddedFile frontend_library_files[];
extern const size_t frontend_library_count;

static void put_function(Buf *buf, Str signature, size_t results, Str meaning) {
    buf_print(buf, "* `%.*s`", STR_ARG(signature));
    if (results > 1) buf_print(buf, ", %zu results", results);
    buf_char(buf, '\n');
    if (meaning.size) buf_print(buf, "  %.*s\n", STR_ARG(meaning));
}

/* ---- built-in functions ---------------------------------------------------------------------- */

static Str builtin_signature(Arena *arena, const Builtin *row) {
    Buf buf = {.arena = arena};
    buf_print(&buf, "%.*s(", STR_ARG(row->name));
    for (const char *c = row->parameters; *c; c++) {
        if (*c == ' ') buf_char(&buf, ',');
        buf_char(&buf, *c);
    }
    buf_char(&buf, ')');
    return buf_str(&buf);
}

/* The ops that sort give values and indices; all others of the language give one result. */
static size_t builtin_results(const Builtin *row) {
    bool pair = row->op != OP_none && op_info(row->op)->class == CLASS_SORT;
    return pair ? 2 : 1;
}

static void put_builtins(Buf *buf) {
    buf_put(buf, STR("## Built-in functions\n\n"));
    for (size_t i = 0; i < builtin_count(); i++) {
        const Builtin *row = builtin_at(i);
        put_function(buf, builtin_signature(buf->arena, row), builtin_results(row),
                     str_from(row->meaning));
    }
}

/* ---- the library ----------------------------------------------------------------------------- */

/* Takes the next line, without its newline; false at the end of the text. */
static bool take_line(Str *text, Str *out_line) {
    if (text->size == 0) return false;
    const char *end = memchr(text->data, '\n', text->size);
    size_t size = end ? (size_t)(end - text->data) : text->size, taken = size + (end != NULL);
    *out_line = (Str){text->data, size};
    *text = (Str){text->data + taken, text->size - taken};
    return true;
}

static size_t count_expressions(Str list) {
    size_t count = 1;
    int depth = 0;
    for (size_t i = 0; i < list.size; i++) {
        char c = list.data[i];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        count += depth == 0 && c == ',';
    }
    return count;
}

/* Of the function whose body begins at `text` and ends at a line "}". */
static size_t count_results(Str text) {
    Str line, word = STR("return ");
    size_t count = 1;
    while (take_line(&text, &line) && !str_equal(line, STR("}"))) {
        while (line.size && *line.data == ' ') line = (Str){line.data + 1, line.size - 1};
        if (str_starts_with(line, word))
            count = count_expressions((Str){line.data + word.size, line.size - word.size});
    }
    return count;
}

static size_t count_results_of(Str line, Str rest) {
    return str_ends_with(line, STR(" {")) ? count_results(rest) : 1;
}

/* "NAME(PARAMETERS)" of a line that defines a function for all; empty for other lines. */
static Str signature_of(Str line) {
    Str word = STR("fn ");
    if (!str_starts_with(line, word) || line.data[word.size] == '_') return (Str){0};
    const char *name = line.data + word.size;
    const char *brace = memchr(line.data, '{', line.size);
    return brace ? (Str){name, (size_t)(brace - name) - 1} : (Str){0};
}

/* The last sentence of a comment ends in a full stop, those of the table do not. */
static Str without_stop(Str text) {
    return str_ends_with(text, STR(".")) ? (Str){text.data, text.size - 1} : text;
}

static void put_file(Buf *buf, Str text) {
    Buf comment = {.arena = buf->arena};
    Str line;
    while (take_line(&text, &line)) {
        Str signature = signature_of(line), mark = STR("# ");
        if (signature.size)
            put_function(buf, signature, count_results_of(line, text),
                         without_stop(buf_str(&comment)));
        if (!str_starts_with(line, mark)) {
            comment.size = 0;
            continue;
        }
        if (comment.size) buf_char(&comment, ' ');
        buf_put(&comment, (Str){line.data + mark.size, line.size - mark.size});
    }
}

void dsl_print_functions(Buf *buf) {
    buf_put(buf, STR("# Functions\n\n"));
    put_builtins(buf);
    buf_put(buf, STR("\n## Library\n\n"));
    for (size_t i = 0; i < frontend_library_count; i++) {
        const EmbeddedFile *file = &frontend_library_files[i];
        put_file(buf, (Str){(const char *)file->bytes, file->size});
    }
}
