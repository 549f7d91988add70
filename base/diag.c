/* Collecting and rendering diagnostics. A rendered one is drawn as
 *
 *     path:line:column: error: text [id]
 *       12 |     y = x + label
 *          |             ^~~~~
 *
 * with tabs expanded in both lines and long lines cut to a window around the place; of a host's
 * call there is no line to show, and the label stands behind the text. */
#include "base/diag.h"

#include "base/messages.h"
#include "base/vec.h"

typedef struct SourceFile {
    Str path, text, label;
} SourceFile;

struct Diags {
    Arena *arena;
    DiagSink *sink;
    void *user;
    uint32_t limit;
    size_t errors, warnings;
    VEC(SourceFile) files;
};

/* Columns of a source line that are shown, and how many of them may stand before the place. */
enum { WINDOW = 120, WINDOW_BEFORE = 80, TAB = 8, TEXT_LIMIT = 2000 };

Diags *diags_new(Arena *arena, DiagSink *sink, void *user, uint32_t limit) {
    Diags *diags = NEW(arena, Diags);
    *diags = (Diags){.arena = arena, .sink = sink, .user = user, .limit = limit};
    return diags;
}

uint32_t diags_add_file(Diags *diags, Str path, Str text) {
    SourceFile file = {.path = str_copy(diags->arena, path), .text = text};
    vec_push(diags->arena, &diags->files, file);
    return (uint32_t)diags->files.count;
}

uint32_t diags_add_label(Diags *diags, Str path, Str label) {
    uint32_t file = diags_add_file(diags, path, STR(""));
    diags->files.data[file - 1].label = str_copy(diags->arena, label);
    return file;
}

void diags_set_label(Diags *diags, uint32_t file, Str label) {
    diags->files.data[file - 1].label = str_copy(diags->arena, label);
}

static const SourceFile *file_of(const Diags *diags, uint32_t file) {
    return file && file <= diags->files.count ? &diags->files.data[file - 1] : NULL;
}

uint32_t diags_file_count(const Diags *diags) { return (uint32_t)diags->files.count; }

Str diags_file_path(const Diags *diags, uint32_t file) {
    const SourceFile *source = file_of(diags, file);
    return source ? source->path : STR("");
}

Str diags_file_text(const Diags *diags, uint32_t file) {
    const SourceFile *source = file_of(diags, file);
    return source ? source->text : STR("");
}

Str diags_file_label(const Diags *diags, uint32_t file) {
    const SourceFile *source = file_of(diags, file);
    return source ? source->label : STR("");
}

static void put_position(Buf *buf, const SourceFile *file, Loc loc) {
    buf_escaped(buf, file->path);
    if (loc.line) buf_print(buf, ":%u", loc.line);
    if (loc.line && loc.column) buf_print(buf, ":%u", loc.column);
}

static void put_label(Buf *buf, const SourceFile *file) {
    if (!file || !file->label.size) return;
    buf_put(buf, STR(" (value \""));
    buf_escaped(buf, file->label);
    buf_put(buf, STR("\")"));
}

void diags_put_place(Buf *buf, const Diags *diags, Loc loc) {
    const SourceFile *file = file_of(diags, loc.file);
    if (!file) return;
    put_position(buf, file, loc);
    put_label(buf, file);
}

/* The line with that number, without its end; false when the text has fewer lines. */
static bool find_line(Str text, uint32_t line, Str *out_line) {
    size_t start = 0, end;
    for (uint32_t at = 1;; at++) {
        for (end = start; end < text.size && text.data[end] != '\n';) end++;
        if (at == line) break;
        if (end == text.size) return false;
        start = end + 1;
    }
    if (end > start && text.data[end - 1] == '\r') end--;
    *out_line = (Str){text.data + start, end - start};
    return true;
}

/* Characters that begin in the bytes of `s`, which is their width on a terminal: escapes are ASCII
 * and all that remains counts one column (wide scripts put the caret too far left, never
 * elsewhere). */
static size_t columns(Str s) {
    size_t count = 0;
    for (size_t i = 0; i < s.size; i++) count += ((unsigned char)s.data[i] & 0xc0) != 0x80;
    return count;
}

/* Appends the characters of `line` up to byte `end`, from `*at`, and returns their width. */
static size_t draw(Buf *buf, Str line, size_t *at, size_t end, size_t column) {
    size_t start = column;
    while (*at < end && *at < line.size) {
        size_t before = buf->size;
        if (line.data[*at] == '\t') {
            buf_print(buf, "%*s", (int)(TAB - column % TAB), "");
            ++*at;
        } else {
            *at += buf_escaped_char(buf, (Str){line.data + *at, line.size - *at});
        }
        column += columns((Str){buf->data + before, buf->size - before});
    }
    return column - start;
}

static void draw_line(Buf *buf, Str line, const Loc *loc) {
    size_t place = loc->column ? loc->column - 1 : 0;
    if (place > line.size) place = line.size;
    size_t at = place > WINDOW_BEFORE ? place - WINDOW_BEFORE : 0;
    while (at && ((unsigned char)line.data[at] & 0xc0) == 0x80) at--;
    size_t end = line.size - at > WINDOW ? at + WINDOW : line.size;
    size_t width = loc->width ? loc->width : 1;
    size_t under_end = end - place < width ? end : place + width;
    size_t before = at ? 3 : 0, under;
    size_t start = buf->size;
    buf_print(buf, "%5u", loc->line);
    int gutter = (int)(buf->size - start);
    buf_print(buf, " | %s", at ? "..." : "");
    before += draw(buf, line, &at, place, before);
    under = draw(buf, line, &at, under_end, before);
    draw(buf, line, &at, end, before + under);
    buf_print(buf, "%s\n%*s | %*s^", end < line.size ? "..." : "", gutter, "", (int)before, "");
    for (size_t i = 1; i < under; i++) buf_char(buf, '~');
    buf_char(buf, '\n');
}

static const char *render(const Diags *diags, const Diag *diag) {
    static const char *const names[] = {"note", "warning", "error"};
    const SourceFile *file = file_of(diags, diag->loc.file);
    Buf buf = {.arena = diags->arena};
    if (file) {
        put_position(&buf, file, diag->loc);
        buf_put(&buf, STR(": "));
    }
    buf_print(&buf, "%s: %s", names[diag->severity], diag->text);
    put_label(&buf, file);
    if (diag->severity != DIAG_note) buf_print(&buf, " [%s]", diag->id);
    buf_char(&buf, '\n');
    Str line;
    if (file && diag->loc.line && file->text.size && find_line(file->text, diag->loc.line, &line)) {
        draw_line(&buf, line, &diag->loc);
    }
    return buf_str(&buf).data;
}

/* The text on one line and safe for a terminal. */
static const char *make_text(Arena *arena, const char *format, va_list args) {
    Buf raw = {.arena = arena}, text = {.arena = arena};
    buf_vprint(&raw, format, args);
    Str rest = buf_str(&raw);
    while (rest.size && text.size < TEXT_LIMIT) {
        size_t taken = buf_escaped_char(&text, rest);
        rest = (Str){rest.data + taken, rest.size - taken};
    }
    if (rest.size) buf_put(&text, STR("..."));
    return buf_str(&text).data;
}

/* Errors are counted before; one past the limit silences what follows it too. */
static void report(Diags *diags, DiagSeverity severity, Loc loc, const char *id, const char *format,
                   va_list args) {
    if (!diags->sink || (diags->limit && diags->errors > diags->limit)) return;
    const SourceFile *file = file_of(diags, loc.file);
    Diag diag = {.severity = severity, .id = id, .loc = loc};
    diag.path = file ? file->path.data : NULL;
    diag.label = file && file->label.size ? file->label.data : NULL;
    diag.text = make_text(diags->arena, format, args);
    diag.rendered = render(diags, &diag);
    diags->sink(diags->user, &diag);
}

void diag_error(Diags *diags, Loc loc, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diags->errors++;
    report(diags, DIAG_error, loc, id, format, args);
    va_end(args);
}

void diag_warning(Diags *diags, Loc loc, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diags->warnings++;
    report(diags, DIAG_warning, loc, id, format, args);
    va_end(args);
}

void diag_note(Diags *diags, Loc loc, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(diags, DIAG_note, loc, id, format, args);
    va_end(args);
}

/* Past the limit, which this one note is exempt from. */
__attribute__((format(printf, 3, 4))) static void finish_note(Diags *diags, const char *id,
                                                              const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diags unlimited = *diags;
    unlimited.limit = 0;
    report(&unlimited, DIAG_note, (Loc){0}, id, format, args);
    va_end(args);
}

void diags_finish(Diags *diags) {
    if (!diags->limit || diags->errors <= diags->limit) return;
    finish_note(diags, MSG_MORE_ERRORS, diags->errors - diags->limit);
}

size_t diags_error_count(const Diags *diags) { return diags->errors; }

size_t diags_warning_count(const Diags *diags) { return diags->warnings; }
