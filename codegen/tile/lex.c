#include "codegen/tile/parse.h"

#include <string.h>

typedef struct Lexer {
    Str text;
    size_t at, line_start;
    Loc loc;
} Lexer;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static char peek(const Lexer *lexer, size_t ahead) {
    return lexer->text.size - lexer->at > ahead ? lexer->text.data[lexer->at + ahead] : '\0';
}

static void skip_blanks(Lexer *lexer) {
    for (; lexer->at < lexer->text.size; lexer->at++) {
        char c = peek(lexer, 0);
        if (c == ';') {
            while (lexer->at + 1 < lexer->text.size && peek(lexer, 1) != '\n') lexer->at++;
        } else if (c == '\n') {
            lexer->loc.line++;
            lexer->line_start = lexer->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static size_t word_size(const Lexer *lexer, size_t from) {
    size_t size = from;
    while (is_word(peek(lexer, size))) size++;
    return size;
}

/* Digits, or a float: a point must be followed by a digit, since 0..8 is a range. */
static size_t number_size(const Lexer *lexer) {
    size_t size = 0;
    bool hex = peek(lexer, 0) == '0' && peek(lexer, 1) == 'x';
    for (;; size++) {
        char c = peek(lexer, size), next = peek(lexer, size + 1);
        bool exponent = hex ? c == 'p' : c == 'e' || c == 'E';
        if (exponent && (next == '+' || next == '-')) size++;
        if (!is_word(c) && !(c == '.' && is_word(next))) return size;
    }
}

static size_t mark_size(const Lexer *lexer) {
    static const char *const marks[] = {"..", "//", "<="};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (peek(lexer, 0) == marks[i][0] && peek(lexer, 1) == marks[i][1]) return 2;
    }
    char c = peek(lexer, 0);
    return c != '\0' && strchr("()[]{}<>,:=+-*%", c) ? 1 : 0;
}

/* The names of kernels may hold points. */
static size_t kernel_size(const Lexer *lexer) {
    size_t size = 1;
    while (is_word(peek(lexer, size)) || peek(lexer, size) == '.') size++;
    return size;
}

static TokenKind scan(const Lexer *lexer, size_t *out_size) {
    char c = peek(lexer, 0), next = peek(lexer, 1);
    if (lexer->at == lexer->text.size) return *out_size = 0, TOKEN_end;
    if (is_digit(c)) return *out_size = number_size(lexer), TOKEN_number;
    if (is_word(c)) return *out_size = word_size(lexer, 0), TOKEN_name;
    if ((c == '%' || c == '$') && is_word(next)) {
        *out_size = word_size(lexer, 1);
        if (c == '$') return TOKEN_axis;
        return is_digit(next) ? TOKEN_value : TOKEN_variable;
    }
    if (c == '@' && is_word(next)) return *out_size = kernel_size(lexer), TOKEN_kernel;
    *out_size = mark_size(lexer);
    if (*out_size > 0) return TOKEN_mark;
    return *out_size = 1, TOKEN_wrong;
}

Tokens tile_lex(Arena *arena, uint32_t file, Str text) {
    Lexer lexer = {.text = text, .loc = {.file = file, .line = 1}};
    Tokens tokens = {0};
    for (;;) {
        skip_blanks(&lexer);
        size_t size;
        Token token = {.kind = scan(&lexer, &size)};
        bool sigil = token.kind == TOKEN_variable || token.kind == TOKEN_value ||
                     token.kind == TOKEN_axis || token.kind == TOKEN_kernel;
        token.text = (Str){text.data + lexer.at + sigil, size - sigil};
        token.loc = lexer.loc;
        token.loc.column = (uint32_t)(lexer.at - lexer.line_start) + 1;
        token.loc.width = size > 0 ? (uint32_t)size : 1;
        vec_push(arena, &tokens, token);
        if (token.kind == TOKEN_end) return tokens;
        lexer.at += size;
    }
}
