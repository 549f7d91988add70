/* Diagnostics: what the user is told about the input, with the place.
 *
 *     model.g:12:9: error: dtypes f32 and i64 do not agree [dtype-mismatch]
 *       12 |     y = x + label
 *          |         ^
 *     model.g:3:14: note: ...
 *
 * All wording stands in messages.h as MSG_… macros, which expand to an id and a printf format, so
 * that the compiler checks every call: diag_error(diags, loc, MSG_UNKNOWN_NAME, STR_ARG(name)).
 * What a name or a source line could do to a terminal is escaped; texts are cut at 2,000 bytes.
 * Diagnostics are counted and passed to the sink in order; a Diags belongs to one thread.
 */
#ifndef TCC_BASE_DIAG_H
#define TCC_BASE_DIAG_H

#include "base/arena.h"
#include "base/str.h"

/* A place in an input. `line` and `column` count from 1; line 0 means the whole file (messages
 * about binary inputs name the byte in their text), column 0 the whole line. file 0 means no place
 * at all. */
typedef struct Loc {
    uint32_t file; /* index into the source map, from 1 */
    uint32_t line, column;
    uint32_t width; /* bytes to underline, at least 1 */
} Loc;

typedef enum DiagSeverity { DIAG_note, DIAG_warning, DIAG_error } DiagSeverity;

typedef struct Diag {
    DiagSeverity severity;
    const char *id; /* stable, such as "unknown-name" */
    Loc loc;
    const char *path;     /* of the file, or NULL */
    const char *label;    /* of the value that the place made, or NULL */
    const char *text;     /* one line, lower case, no full stop */
    const char *rendered; /* the whole thing with place, source line and caret; ends in a newline */
} Diag;

typedef void DiagSink(void *user, const Diag *diag);

typedef struct Diags Diags;

/* `arena` must outlive the Diags. `sink` may be NULL. After `limit` errors the rest are counted but
 * not passed on (0 = no limit), nor what comes between them; diags_finish then says so. */
Diags *diags_new(Arena *arena, DiagSink *sink, void *user, uint32_t limit);

/* Registers a source file; `text` (may be empty, for binary inputs) must outlive the Diags. */
uint32_t diags_add_file(Diags *diags, Str path, Str text);
/* A host's file, where a value was made call by call: `label` is the host's name for the value. The
 * lines of places in it are the host's. */
uint32_t diags_add_label(Diags *diags, Str path, Str label);
/* Gives a place of diags_add_label another label. */
void diags_set_label(Diags *diags, uint32_t file, Str label);
/* How many files are registered; they are numbered from 1. */
uint32_t diags_file_count(const Diags *diags);
Str diags_file_path(const Diags *diags, uint32_t file);
Str diags_file_text(const Diags *diags, uint32_t file);
Str diags_file_label(const Diags *diags, uint32_t file); /* empty for files that are inputs */
/* "model.g:12:9", "host.c:40 (value \"total\")": as much of it as there is; nothing for no
 * place. */
void diags_put_place(Buf *buf, const Diags *diags, Loc loc);

void diag_error(Diags *diags, Loc loc, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(Diags *diags, Loc loc, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A note belongs to the error or warning before it. */
void diag_note(Diags *diags, Loc loc, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* At the end of a run: one note with the number of errors that the limit held back, if any. */
void diags_finish(Diags *diags);

size_t diags_error_count(const Diags *diags);
size_t diags_warning_count(const Diags *diags);

#endif
