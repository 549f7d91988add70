/* Logs are for people and differ: "ptxas application ptx input, line 12; error : …" from NVIDIA's,
 * "line 12, col 5: error: …" from the software GPU. Both say "line" and a number. */
#include "runtime/cuda_refused.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of a text. */
typedef struct Piece {
    const char *data;
    int size;
} Piece;

typedef struct Place {
    Piece instruction, entry;
    int file, line, column; /* 0: there is none */
} Place;

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r"); }

static int line_size(const char *at) { return (int)strcspn(at, "\n"); }

static const char *next_line(const char *at) {
    at += line_size(at);
    return *at == '\n' ? at + 1 : at;
}

/* ---- where it is ----------------------------------------------------------------------------- */

static long first_line_number(const char *log) {
    for (const char *at = strstr(log, "line "); at != NULL; at = strstr(at + 1, "line ")) {
        bool word = at == log || at[-1] == ' ' || at[-1] == '\n';
        long number = strtol(at + 5, NULL, 10);
        if (word && number > 0) return number;
    }
    return 0;
}

/* Of ".visible .entry name(". */
static Piece entry_name(const char *line) {
    const char *end = line + line_size(line), *at = strstr(line, ".entry ");
    if (at == NULL || at >= end) return (Piece){0};
    at = skip_blanks(at + strlen(".entry "));
    return (Piece){at, (int)strcspn(at, "( \t\n")};
}

/* What stands before and on the line `number` of the module. */
static Place find_place(const char *ptx, long number) {
    Place place = {0};
    const char *at = ptx;
    for (long n = 1; *at != 0; n++, at = next_line(at)) {
        const char *begin = skip_blanks(at);
        Piece entry = entry_name(at);
        if (entry.size > 0) place = (Place){.entry = entry};
        if (begins(begin, ".loc") &&
            sscanf(begin, ".loc %d %d %d", &place.file, &place.line, &place.column) < 3)
            place.line = 0;
        place.instruction = (Piece){begin, line_size(begin)};
        if (n == number) return place;
        if (*at == '}') place = (Place){0}; /* the end of a kernel; in its body they are indented */
    }
    return (Place){0};
}

/* The name in `.file 1 "model.g"`. */
static Piece find_file(const char *ptx, int number) {
    for (const char *at = ptx; *at != 0; at = next_line(at)) {
        const char *begin = skip_blanks(at);
        int found = 0, used = 0;
        if (!begins(begin, ".file") || sscanf(begin, ".file %d \"%n", &found, &used) < 1) continue;
        if (found == number && used > 0)
            return (Piece){begin + used, (int)strcspn(begin + used, "\"\n")};
    }
    return (Piece){0};
}

/* ---- words ----------------------------------------------------------------------------------- */

/* What is written, cut where the room ends. */
typedef struct Words {
    char *text;
    size_t size, used;
} Words;

static void put(Words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(Words *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->used, w->size - w->used, format, args);
    va_end(args);
    if (more > 0) w->used += (size_t)more;
    if (w->used >= w->size) w->used = w->size - 1;
}

/* With single blanks. */
static void put_line(Words *w, Piece line) {
    bool blank = false, first = true;
    for (int i = 0; i < line.size; i++) {
        char c = line.data[i];
        if (c == ' ' || c == '\t' || c == '\r') {
            blank = true;
            continue;
        }
        put(w, "%s%c", blank && !first ? " " : "", c);
        blank = first = false;
    }
}

static bool holds(Piece line, const char *word) {
    for (int i = 0; i + (int)strlen(word) <= line.size; i++)
        if (begins(line.data + i, word)) return true;
    return false;
}

/* The log's lines that tell of errors, or all when none does. */
static void put_log(Words *w, const char *log) {
    bool chosen = strstr(log, "error") != NULL || strstr(log, "fatal") != NULL, first = true;
    for (const char *at = log; *at != 0; at = next_line(at)) {
        Piece line = {skip_blanks(at), line_size(skip_blanks(at))};
        if (line.size == 0 || (chosen && !holds(line, "error") && !holds(line, "fatal"))) continue;
        if (!first) put(w, "; ");
        put_line(w, line);
        first = false;
    }
}

void cuda_explain_refusal(const char *ptx, const char *log, char *text, size_t size) {
    Words w = {text, size, 0};
    long number = first_line_number(log);
    Place place = number > 0 ? find_place(ptx, number) : (Place){0};
    Piece file = place.line > 0 ? find_file(ptx, place.file) : (Piece){0};
    *text = 0;
    if (place.entry.size > 0) put(&w, "kernel %.*s: ", place.entry.size, place.entry.data);
    if (file.size > 0) put(&w, "%.*s:%d:%d: ", file.size, file.data, place.line, place.column);
    put_log(&w, log);
    if (place.instruction.size > 0) {
        put(&w, ": '");
        put_line(&w, place.instruction);
        put(&w, "'");
    }
}
