/* Tokens, errors and recovery, and the parse of a whole module. */
#include "emulator/ptx/parser.h"

#include <string.h>

/* ---- errors ------------------------------------------------------------------------------- */

/* The line that a token stands in, at most 200 bytes of it. */
static Str line_of(const Parser *p, const Token *at) {
    const char *start = at->start - (at->column - 1), *end = p->lexer.end;
    size_t size = (size_t)(end - start), most = size < 200 ? size : 200;
    const char *newline = memchr(start, '\n', most);
    if (at->column > 200) return (Str){start, most};
    size = newline ? (size_t)(newline - start) : most;
    while (size > 0 && start[size - 1] == '\r') size--;
    return (Str){start, size};
}

static Str printable(Parser *p, Str text) {
    Buf buf = {.arena = p->arena};
    buf_escaped(&buf, text);
    return buf_str(&buf);
}

bool parse_fail(Parser *p, const Token *at, const char *format, ...) {
    if (p->stopped) return false;
    Buf message = {.arena = p->arena};
    va_list args;
    va_start(args, format);
    buf_vprint(&message, format, args);
    va_end(args);
    vec_push(p->scratch, &p->errors,
             (PtxError){.line = at->line,
                        .column = at->column,
                        .message = printable(p, buf_str(&message)),
                        .text = printable(p, line_of(p, at))});
    if (p->errors.count < LIMIT_ERRORS) return false;
    p->stopped = true;
    p->lexer.at = p->lexer.end;
    p->token.kind = TOKEN_end;
    p->token.text.size = 0;
    return false;
}

bool parse_fail_expected(Parser *p, const char *what) {
    const Token *t = &p->token;
    Str text = {t->text.data, t->text.size < 60 ? t->text.size : 60};
    if (t->kind == TOKEN_end) return parse_fail(p, t, "%s expected, found the end", what);
    if (t->kind == TOKEN_bad) return parse_fail(p, t, "unexpected text '%.*s'", STR_ARG(text));
    return parse_fail(p, t, "%s expected, found '%s%.*s'", what, t->kind == TOKEN_word ? "." : "",
                      STR_ARG(text));
}

/* ---- tokens ------------------------------------------------------------------------------- */

void parse_advance(Parser *p) {
    if (!p->stopped) p->token = lexer_next(&p->lexer);
}

bool parse_is_mark(const Parser *p, int mark) {
    return p->token.kind == TOKEN_mark && p->token.mark == mark;
}

bool parse_is_word(const Parser *p, const char *text) {
    return p->token.kind == TOKEN_word && str_equal(p->token.text, str_from(text));
}

bool parse_is_name(const Parser *p, const char *text) {
    return p->token.kind == TOKEN_name && str_equal(p->token.text, str_from(text));
}

bool parse_take_mark(Parser *p, int mark) {
    if (!parse_is_mark(p, mark)) return false;
    parse_advance(p);
    return true;
}

bool parse_take_word(Parser *p, const char *text) {
    if (!parse_is_word(p, text)) return false;
    parse_advance(p);
    return true;
}

bool parse_mark(Parser *p, int mark) {
    char what[4] = {'\'', (char)mark, '\'', 0};
    return parse_take_mark(p, mark) || parse_fail_expected(p, what);
}

bool parse_name(Parser *p, Token *out_name) {
    if (p->token.kind != TOKEN_name) return parse_fail_expected(p, "a name");
    *out_name = p->token;
    parse_advance(p);
    return true;
}

void parse_recover(Parser *p) {
    for (int depth = 0; p->token.kind != TOKEN_end; parse_advance(p)) {
        if (parse_is_mark(p, '{')) depth++;
        if (parse_is_mark(p, '}') && depth-- == 0) return;
        if (!parse_is_mark(p, ';')) continue;
        parse_advance(p);
        return;
    }
}

bool parse_descend(Parser *p) {
    if (p->nesting < LIMIT_NESTING) {
        p->nesting++;
        return true;
    }
    return parse_fail(p, &p->token, "nested more than %d deep", LIMIT_NESTING);
}

void parse_rise(Parser *p) { p->nesting--; }

/* ---- the module --------------------------------------------------------------------------- */

/* An alias is a function of its own that has the body of another. */
static void finish_aliases(Parser *p) {
    for (size_t i = 0; i < p->aliases.count; i++) {
        const Alias *alias = &p->aliases.data[i];
        Str name = alias->alias->name;
        *alias->alias = *alias->function;
        alias->alias->name = name;
    }
}

static void finish_module(Parser *p) {
    PtxModule *module = p->module;
    module->functions =
        arena_copy(p->arena, p->functions.data, p->functions.count * sizeof *p->functions.data);
    module->function_count = (uint32_t)p->functions.count;
    module->variables =
        arena_copy(p->arena, p->variables.data, p->variables.count * sizeof *p->variables.data);
    module->variable_count = (uint32_t)p->variables.count;
    debug_finish_module(p);
    finish_aliases(p);
}

static void parse_module(Parser *p) {
    Scope scope;
    scope_open(p, &scope);
    parse_advance(p);
    while (p->token.kind != TOKEN_end && !p->too_new)
        if (!parse_module_directive(p)) {
            parse_recover(p);
            parse_take_mark(p, '}');
        }
    if (!p->too_new && p->module->target == 0 && p->errors.count == 0)
        parse_fail(p, &p->token, "a module begins with .version and .target");
    finish_module(p);
}

PtxStatus ptx_parse(Arena *arena, Str text, const PtxModule **out_module, PtxErrors *out_errors) {
    Scratch scratch;
    Parser parser = {.arena = arena, .scratch = scratch_open(&scratch)}, *p = &parser;
    p->text = str_copy(arena, text.size > LIMIT_TEXT ? (Str){text.data, 0} : text);
    p->lexer = lexer_new(p->text);
    p->module = NEW(arena, PtxModule);
    p->symbols.arena = p->files.arena = p->debug_strings.arena = p->scratch;
    grammar_open(&p->grammar, p->scratch);
    if (text.size > LIMIT_TEXT) {
        Token at = {.start = p->text.data, .line = 1, .column = 1};
        parse_fail(p, &at, "more than %d bytes of text", LIMIT_TEXT);
    } else {
        parse_module(p);
    }
    out_errors->count = (uint32_t)p->errors.count;
    out_errors->items = arena_copy(arena, p->errors.data, p->errors.count * sizeof(PtxError));
    PtxStatus status = p->too_new             ? PTX_UNSUPPORTED_VERSION
                       : p->errors.count == 0 ? PTX_OK
                                              : PTX_INVALID;
    *out_module = status == PTX_OK ? p->module : NULL;
    scratch_close(&scratch);
    return status;
}
