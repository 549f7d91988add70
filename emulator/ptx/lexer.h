/* PTX text as tokens, one at a time. Blanks and comments separate tokens; lines that begin with #
 * are skipped. */
#ifndef TCC_EMULATOR_PTX_LEXER_H
#define TCC_EMULATOR_PTX_LEXER_H

#include "base/str.h"

typedef enum TokenKind {
    TOKEN_end,
    TOKEN_name,    /* add, %r1, $L__BB0_2 */
    TOKEN_word,    /* .global, .shared::cta, .1d; `text` is without the dot */
    TOKEN_integer, /* `bits`, modulo 2^64 */
    TOKEN_f32,     /* 0f3F800000: `bits` */
    TOKEN_f64,     /* 0d..., 1.5: `bits` */
    TOKEN_string,  /* "..." without the quotes */
    TOKEN_mark,    /* `mark` */
    TOKEN_bad      /* a character that begins no token, or what was not closed */
} TokenKind;

/* Marks of one character are themselves. */
typedef enum TokenMark {
    MARK_shift_left = 256,
    MARK_shift_right,
    MARK_less_equal,
    MARK_greater_equal,
    MARK_equal,
    MARK_not_equal,
    MARK_and,
    MARK_or
} TokenMark;

typedef struct Token {
    TokenKind kind;
    int mark;
    bool is_unsigned; /* of an integer: with U, or beyond 2^63 */
    Str text;
    const char *start; /* in the text, of `column` */
    uint64_t bits;
    uint32_t line, column; /* from 1 */
} Token;

typedef struct Lexer {
    const char *at, *end, *line_start;
    uint32_t line;
    bool after_word; /* the last token was a name or word that ends at `at` */
} Lexer;

Lexer lexer_new(Str text); /* a NUL ends the text */

/* The next token; TOKEN_end again and again at the end. */
Token lexer_next(Lexer *lexer);

#endif
