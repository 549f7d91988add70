/* Strings: `Str` is a view of bytes (not terminated), `Buf` a growing text in an arena. Numbers are
 * read and written the same in every locale. */
#ifndef TCC_BASE_STR_H
#define TCC_BASE_STR_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>

typedef struct Str {
    const char *data;
    size_t size;
} Str;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})
/* For printf: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).size, (s).data

Str str_from(const char *text); /* a view of a terminated string; NULL gives the empty view */
bool str_equal(Str a, Str b);
int str_compare(Str a, Str b); /* by bytes, shorter first among prefixes */
bool str_starts_with(Str s, Str prefix);
bool str_ends_with(Str s, Str suffix);
uint64_t str_hash(Str s);
Str str_copy(Arena *arena, Str s); /* the copy is also zero-terminated */
const char *str_terminated(Arena *arena, Str s);
Str str_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes of the well-formed UTF-8 character that `s` begins with; 0 when it begins with none. */
size_t str_utf8_size(Str s);
bool str_is_utf8(Str s);

/* 64-bit hash of bytes, seeded with `seed` so that fields can be chained. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_word(uint64_t seed, uint64_t word);

/* A growing text. Zero-initialised but for `arena`; `data` is always terminated once non-NULL. */
typedef struct Buf {
    Arena *arena;
    char *data;
    size_t size, capacity;
} Buf;

void buf_put(Buf *buf, Str s);
void buf_char(Buf *buf, char c);
void buf_bytes(Buf *buf, const void *bytes, size_t size);
void buf_print(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprint(Buf *buf, const char *format, va_list args);
/* Shortest decimal text that reads back to the same double ("inf", "-inf", "nan" for the rest). */
void buf_double(Buf *buf, double value);
/* A quoted string with C escapes (\n, \t, \", \\, \xNN for other controls and invalid UTF-8). */
void buf_quoted(Buf *buf, Str s);
/* `s` made safe for a terminal: controls and invalid UTF-8 become \n, \t, \r or \xNN. */
void buf_escaped(Buf *buf, Str s);
/* The first character of the non-empty `s` likewise; returns how many bytes of `s` it took. */
size_t buf_escaped_char(Buf *buf, Str s);
Str buf_str(const Buf *buf); /* a view of the whole text */

/* The whole of `s` as a number; false when it is not one or does not fit. Decimal only for ints
 * (with an optional minus); decimal, hex floats, inf and nan for doubles. */
bool str_to_int(Str s, int64_t *out_value);
bool str_to_double(Str s, double *out_value);

#endif
