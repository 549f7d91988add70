/* The lexer. A dot and digits are a word after a name (.1d of cp.async.bulk.tensor.1d), else a
 * number (.5). */
#include "emulator/ptx/lexer.h"

#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_name_part(char c) { return is_digit(c) || (is_name_start(c) && c != '%'); }

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

Lexer lexer_new(Str text) {
    const char *nul = text.size ? memchr(text.data, 0, text.size) : NULL;
    const char *end = nul ? nul : text.data + text.size;
    return (Lexer){.at = text.data, .end = end, .line_start = text.data, .line = 1};
}

static char peek(const Lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : 0;
}

static void skip_line(Lexer *lexer) {
    while (lexer->at < lexer->end && *lexer->at != '\n') lexer->at++;
}

static void pass_newline(Lexer *lexer) {
    lexer->at++;
    lexer->line++;
    lexer->line_start = lexer->at;
}

/* False when the comment is not closed: then nothing is skipped. */
static bool skip_comment(Lexer *lexer) {
    Lexer inside = *lexer;
    inside.at += 2;
    while (inside.at < inside.end) {
        if (*inside.at == '*' && peek(&inside, 1) == '/') {
            inside.at += 2;
            *lexer = inside;
            return true;
        }
        if (*inside.at == '\n')
            pass_newline(&inside);
        else
            inside.at++;
    }
    return false;
}

static void skip_blanks(Lexer *lexer) {
    while (lexer->at < lexer->end) {
        char c = *lexer->at, next = peek(lexer, 1);
        if (c == '\n') {
            pass_newline(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if ((c == '/' && next == '/') || (c == '#' && lexer->at == lexer->line_start)) {
            skip_line(lexer);
        } else if (c != '/' || next != '*' || !skip_comment(lexer)) {
            return;
        }
        lexer->after_word = false;
    }
}

static void take_text(Lexer *lexer, Token *token, const char *start) {
    token->text = (Str){start, (size_t)(lexer->at - start)};
}

static void take_name(Lexer *lexer, Token *token) {
    const char *start = lexer->at++;
    while (lexer->at < lexer->end && is_name_part(*lexer->at)) lexer->at++;
    token->kind = TOKEN_name;
    take_text(lexer, token, start);
}

/* What follows a dot: parts of names, joined by ::. */
static void take_word(Lexer *lexer, Token *token) {
    const char *start = ++lexer->at;
    for (;;) {
        while (lexer->at < lexer->end && is_name_part(*lexer->at)) lexer->at++;
        if (peek(lexer, 0) != ':' || peek(lexer, 1) != ':' || !is_name_part(peek(lexer, 2))) break;
        lexer->at += 2;
    }
    token->kind = TOKEN_word;
    take_text(lexer, token, start);
}

/* 0f and 8 digits, 0d and 16 of them; false when it is something else. */
static bool take_float_bits(Lexer *lexer, Token *token) {
    char letter = (char)(peek(lexer, 1) | 0x20);
    size_t digits = letter == 'f' ? 8 : 16;
    if (peek(lexer, 0) != '0' || (letter != 'f' && letter != 'd')) return false;
    uint64_t bits = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(peek(lexer, 2 + i));
        if (digit < 0) return false;
        bits = bits << 4 | (uint64_t)digit;
    }
    const char *start = lexer->at;
    lexer->at += 2 + digits;
    token->kind = letter == 'f' ? TOKEN_f32 : TOKEN_f64;
    token->bits = bits;
    take_text(lexer, token, start);
    return true;
}

/* Length of the decimal float that the text begins with; 0: there is none. */
static size_t decimal_float_size(const Lexer *lexer) {
    size_t i = 0, digits = 0;
    bool is_float = false;
    for (; is_digit(peek(lexer, i)); i++) digits++;
    if (peek(lexer, i) == '.') {
        is_float = true;
        for (i++; is_digit(peek(lexer, i)); i++) digits++;
    }
    if (digits == 0) return 0;
    if ((peek(lexer, i) | 0x20) == 'e') {
        size_t sign = peek(lexer, i + 1) == '-' || peek(lexer, i + 1) == '+';
        if (is_digit(peek(lexer, i + 1 + sign))) {
            is_float = true;
            for (i += 1 + sign; is_digit(peek(lexer, i));) i++;
        }
    }
    return is_float ? i : 0;
}

static bool take_decimal_float(Lexer *lexer, Token *token) {
    size_t size = decimal_float_size(lexer);
    double value;
    Str text = {lexer->at, size};
    /* str_to_double wants a digit before the dot and after it: what it refuses is bad text. */
    if (size == 0) return false;
    lexer->at += size;
    token->kind = TOKEN_f64;
    token->text = text;
    if (!str_to_double(text, &value)) {
        token->kind = TOKEN_bad;
        return true;
    }
    memcpy(&token->bits, &value, sizeof value);
    return true;
}

static void take_integer(Lexer *lexer, Token *token) {
    const char *start = lexer->at;
    char letter = (char)(peek(lexer, 1) | 0x20);
    int base = 10;
    if (*start == '0' && (letter == 'x' || letter == 'b')) {
        base = letter == 'x' ? 16 : 2;
        lexer->at += 2;
    } else if (*start == '0') {
        base = 8;
    }
    const char *digits = lexer->at;
    for (int digit; (digit = hex_digit(peek(lexer, 0))) >= 0 && digit < base; lexer->at++)
        token->bits = token->bits * (uint64_t)base + (uint64_t)digit;
    token->kind = lexer->at == digits ? TOKEN_bad : TOKEN_integer;
    token->is_unsigned = token->bits >> 63;
    if (peek(lexer, 0) == 'U') {
        token->is_unsigned = true;
        lexer->at++;
    }
    if (is_name_part(peek(lexer, 0))) token->kind = TOKEN_bad;
    take_text(lexer, token, start);
}

static void take_number(Lexer *lexer, Token *token) {
    if (!take_float_bits(lexer, token) && !take_decimal_float(lexer, token))
        take_integer(lexer, token);
}

static void take_string(Lexer *lexer, Token *token) {
    const char *start = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        if (*lexer->at == '\\' && peek(lexer, 1) && peek(lexer, 1) != '\n') lexer->at++;
        lexer->at++;
    }
    take_text(lexer, token, start);
    token->kind = TOKEN_bad;
    if (lexer->at < lexer->end && *lexer->at == '"') {
        token->kind = TOKEN_string;
        lexer->at++;
    }
}

static const struct {
    char text[3];
    int mark;
} long_marks[] = {
    {"<<", MARK_shift_left},    {">>", MARK_shift_right}, {"<=", MARK_less_equal},
    {">=", MARK_greater_equal}, {"==", MARK_equal},       {"!=", MARK_not_equal},
    {"&&", MARK_and},           {"||", MARK_or},
};

static void take_mark(Lexer *lexer, Token *token) {
    const char *start = lexer->at;
    token->kind = strchr("{}[]()<>,;:=+-*/%&|^~!?@.", *start) ? TOKEN_mark : TOKEN_bad;
    token->mark = *start;
    size_t size = 1;
    for (size_t i = 0; i < sizeof long_marks / sizeof *long_marks; i++) {
        if (start[0] != long_marks[i].text[0] || peek(lexer, 1) != long_marks[i].text[1]) continue;
        token->mark = long_marks[i].mark;
        size = 2;
    }
    lexer->at += size;
    take_text(lexer, token, start);
}

/* A comment that is not closed takes all that is left. */
static void take_open_comment(Lexer *lexer, Token *token) {
    token->kind = TOKEN_bad;
    token->text = (Str){lexer->at, 2};
    lexer->at = lexer->end;
}

Token lexer_next(Lexer *lexer) {
    skip_blanks(lexer);
    Token token = {.kind = TOKEN_end,
                   .text = {lexer->at, 0},
                   .start = lexer->at,
                   .line = lexer->line,
                   .column = (uint32_t)(lexer->at - lexer->line_start) + 1};
    if (lexer->at == lexer->end) return token;
    char c = *lexer->at, next = peek(lexer, 1);
    bool after_word = lexer->after_word;
    if (c == '/' && next == '*')
        take_open_comment(lexer, &token);
    else if (c == '%' && !is_name_part(next))
        take_mark(lexer, &token);
    else if (is_name_start(c))
        take_name(lexer, &token);
    else if (c == '.' && is_name_part(next) && (!is_digit(next) || after_word))
        take_word(lexer, &token);
    else if (is_digit(c) || (c == '.' && is_digit(next)))
        take_number(lexer, &token);
    else if (c == '"')
        take_string(lexer, &token);
    else
        take_mark(lexer, &token);
    lexer->after_word = token.kind == TOKEN_name || token.kind == TOKEN_word;
    return token;
}
