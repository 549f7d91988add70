/* The tokens of .tir text. There is no list of tokens: the parser asks for what it expects, since
 * the texts of dims and types have readers of their own. */
#include "base/messages.h"
#include "ir/text_internal.h"

#include <string.h>

Loc text_loc(const TextReader *in) {
    TextReader at = *in;
    text_skip(&at);
    return (Loc){in->file, at.line, (uint32_t)(at.rest.data - at.line_start) + 1, 1};
}

static void step(TextReader *in, size_t count) {
    in->rest.data += count;
    in->rest.size -= count;
}

void text_skip(TextReader *in) {
    while (in->rest.size) {
        char c = in->rest.data[0];
        if (c == '#') {
            while (in->rest.size && in->rest.data[0] != '\n') step(in, 1);
        } else if (c == '\n') {
            step(in, 1);
            in->line++;
            in->line_start = in->rest.data;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            step(in, 1);
        } else {
            return;
        }
    }
}

bool text_at_end(TextReader *in) {
    text_skip(in);
    return in->rest.size == 0;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

bool text_is_name(Str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (!is_name_char(text.data[i])) return false;
    }
    return text.size > 0;
}

/* A word must end where the mark ends: "none" does not begin "nonesuch". */
bool text_peek(TextReader *in, const char *mark) {
    text_skip(in);
    Str wanted = str_from(mark);
    if (!str_starts_with(in->rest, wanted)) return false;
    bool word = is_name_char(mark[wanted.size - 1]);
    return !word || in->rest.size == wanted.size || !is_name_char(in->rest.data[wanted.size]);
}

bool text_accept(TextReader *in, const char *mark) {
    if (!text_peek(in, mark)) return false;
    step(in, strlen(mark));
    return true;
}

/* The characters up to the next blank, at most a few, name what was found. */
bool text_wrong(TextReader *in, const char *what) {
    text_skip(in);
    Str found = {in->rest.data, 0};
    while (found.size < in->rest.size && found.size < 20 &&
           !strchr(" \t\r\n", found.data[found.size])) {
        found.size++;
    }
    if (found.size) {
        diag_error(in->diags, text_loc(in), MSG_TIR_SYNTAX, what, STR_ARG(found));
    } else {
        diag_error(in->diags, text_loc(in), MSG_TIR_END, what);
    }
    return false;
}

bool text_expect(TextReader *in, const char *mark) {
    if (text_accept(in, mark)) return true;
    Str quoted = str_format(in->arena, "'%s'", mark);
    return text_wrong(in, quoted.data);
}

static Str take_name(TextReader *in) {
    text_skip(in);
    Str name = {in->rest.data, 0};
    while (name.size < in->rest.size && is_name_char(in->rest.data[name.size])) name.size++;
    step(in, name.size);
    return name;
}

bool text_name(TextReader *in, Str *out_name) {
    *out_name = take_name(in);
    return out_name->size || text_wrong(in, "a name");
}

static bool read_hex_digit(char c, char *value) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    if (found) *value = (char)(*value * 16 + (found - digits));
    return found != NULL;
}

/* One character behind a backslash: \n, \t, \r, \xNN, or itself. */
static bool read_escape(TextReader *in, Buf *text) {
    if (!in->rest.size) return false;
    char c = in->rest.data[0], value = 0;
    step(in, 1);
    switch (c) {
    case 'n': value = '\n'; break;
    case 't': value = '\t'; break;
    case 'r': value = '\r'; break;
    case '"':
    case '\\': value = c; break;
    case 'x':
        if (in->rest.size < 2 || !read_hex_digit(in->rest.data[0], &value) ||
            !read_hex_digit(in->rest.data[1], &value)) {
            return false;
        }
        step(in, 2);
        break;
    default: return false;
    }
    buf_char(text, value);
    return true;
}

bool text_name_or_string(TextReader *in, Str *out_text) {
    return text_peek(in, "\"") ? text_string(in, out_text) : text_name(in, out_text);
}

bool text_string(TextReader *in, Str *out_text) {
    Buf text = {.arena = in->arena};
    if (!text_expect(in, "\"")) return false;
    while (in->rest.size && in->rest.data[0] != '"' && in->rest.data[0] != '\n') {
        char c = in->rest.data[0];
        step(in, 1);
        if (c != '\\') {
            buf_char(&text, c);
        } else if (!read_escape(in, &text)) {
            return text_wrong(in, "an escape of a string");
        }
    }
    *out_text = text.data ? buf_str(&text) : STR("");
    return text_expect(in, "\"");
}

bool text_int(TextReader *in, int64_t *out_value) {
    TextReader start = *in;
    bool negative = text_accept(in, "-");
    Str digits = take_name(in);
    if (negative) digits = (Str){digits.data - 1, digits.size + 1};
    bool joined = !negative || digits.data[0] == '-';
    return (joined && str_to_int(digits, out_value)) || text_wrong(&start, "a number");
}

/* "1..256": a name would take the dots, so the two numbers are split by hand. */
bool text_range(TextReader *in, int64_t *out_lo, int64_t *out_hi) {
    text_skip(in);
    TextReader start = *in;
    Str word = {in->rest.data, 0};
    while (word.size < in->rest.size && strchr("-.0123456789", in->rest.data[word.size]) &&
           in->rest.data[word.size]) {
        word.size++;
    }
    for (size_t i = 0; i + 1 < word.size; i++) {
        if (word.data[i] != '.' || word.data[i + 1] != '.') continue;
        Str lo = {word.data, i}, hi = {word.data + i + 2, word.size - i - 2};
        if (!str_to_int(lo, out_lo) || !str_to_int(hi, out_hi)) break;
        step(in, word.size);
        return true;
    }
    return text_wrong(&start, "a range such as 1..256");
}

bool text_dim(TextReader *in, const Dim **out_dim) {
    text_skip(in);
    Loc loc = text_loc(in);
    *out_dim = dim_parse(in->ctx, &in->rest);
    if (!*out_dim) return text_wrong(in, "a dim made of declared names");
    if (!dim_is_overflow(*out_dim)) return true;
    diag_error(in->diags, loc, MSG_TIR_OVERFLOW);
    return false;
}

static bool overflows(IrContext *ctx, const Type *type) {
    bool found = false;
    for (uint32_t i = 0; i < type->rank; i++) found |= dim_is_overflow(type->dims[i]);
    for (uint32_t i = 0; i < type->item_count; i++) found |= overflows(ctx, type->items[i]);
    return found || (!type->is_tuple && dim_is_overflow(type_bytes(ctx, type)));
}

/* Whether a dim is negative for all sizes; one that may be is checked when the model is entered. */
static bool is_negative(const Type *type) {
    bool found = false;
    for (uint32_t i = 0; i < type->rank; i++) found |= type->dims[i]->hi < 0;
    for (uint32_t i = 0; i < type->item_count; i++) found |= is_negative(type->items[i]);
    return found;
}

bool text_type(TextReader *in, const Type **out_type) {
    text_skip(in);
    Loc loc = text_loc(in);
    *out_type = type_parse(in->ctx, &in->rest);
    if (!*out_type) return text_wrong(in, "a type made of declared dims");
    bool wide = overflows(in->ctx, *out_type);
    if (!wide && !is_negative(*out_type)) return true;
    if (wide)
        diag_error(in->diags, loc, MSG_TIR_OVERFLOW);
    else
        diag_error(in->diags, loc, MSG_TIR_NEGATIVE);
    return false;
}
