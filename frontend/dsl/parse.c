/* From text to tree: the steps, and how a syntax error is said. */
#include "frontend/dsl/parse.h"

#include "base/messages.h"
#include "frontend/dsl/dsl.h"
#include "frontend/dsl/hints.h"
#include "frontend/dsl/parser.h"

#include <string.h>

/* ---- syntax errors --------------------------------------------------------------------------- */

/* Names of tokens that can begin an expression; with all of them the message says "an expression".
 */
static const char *const expression_tokens[] = {
    "a name", "a whole number", "a number", "a string", "a dtype", "None",
    "true",   "false",          "not",      "-",        "(",       "["};

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Words stand as they are, what is written in the file stands in quotes. */
static void put_name(Buf *buf, const char *name) {
    bool words = strncmp(name, "a ", 2) == 0 || strncmp(name, "an ", 3) == 0 ||
                 strncmp(name, "the ", 4) == 0;
    buf_print(buf, words ? "%s" : "'%s'", name);
}

enum { MAX_CHOICES = 4 };

/* "'(' or a name", or an empty text when there are too many to say. */
static void put_expected(Buf *buf, const char *const *expected, size_t count) {
    const char *choices[MAX_CHOICES];
    size_t chosen = 0;
    bool any = is_one_of("a whole number", expected, count) && is_one_of("(", expected, count);
    if (any) choices[chosen++] = "an expression";
    for (size_t i = 0; i < count; i++) {
        if (any && is_one_of(expected[i], expression_tokens, COUNT(expression_tokens))) continue;
        if (chosen == MAX_CHOICES) return;
        choices[chosen++] = expected[i];
    }
    for (size_t i = 0; i < chosen; i++) {
        if (i) buf_put(buf, i + 1 < chosen ? STR(", ") : STR(" or "));
        put_name(buf, choices[i]);
    }
}

/* The token as the message shows it. */
static void put_token(Buf *buf, const Token *token) {
    enum { SHOWN = 40 };
    if (!token->kind)
        buf_put(buf, STR("end of the file"));
    else if (token->kind == SEP && *token->text.data == '\n')
        buf_put(buf, STR("end of the line"));
    else if (token->kind == STR)
        buf_put(buf, STR("a string"));
    else
        buf_print(buf, "'%.*s'", token->text.size < SHOWN ? (int)token->text.size : SHOWN,
                  token->text.data);
}

/* A bracket without a partner explains what does not fit after it in its statement, and a block
 * that was never closed what does not fit at all; both are reported already. */
static bool is_explained(const Parse *parse, size_t at) {
    const Token *tokens = parse->tokens.data;
    switch (tokens[at].kind) {
    case FN:
    case MODEL:
    case TRAIN:
    case WEIGHTS:
    case END:
        if (parse->open_block) return true;
        break;
    default: break;
    }
    for (size_t i = at;; i--) {
        if (tokens[i].faulty) return true;
        if (!i || tokens[i - 1].kind == SEP) return false;
    }
}

/* A brace on a line of its own after a header that lacked it. */
static bool is_late_brace(const Parse *parse, size_t at) {
    const Token *tokens = parse->tokens.data;
    return tokens[at].kind == '{' && at && tokens[at - 1].kind == SEP && parse->failed_at == at;
}

/* The end of a line is right behind what stands on it, comments aside. */
static Loc place_of(const Parse *parse, size_t at) {
    const Token *token = &parse->tokens.data[at];
    bool end = !token->kind || (token->kind == SEP && *token->text.data == '\n');
    if (!end || !at || token[-1].kind == SEP) return token->loc;
    Loc before = token[-1].loc;
    return (Loc){before.file, before.line, before.column + before.width, 1};
}

/* A word that has a meaning of its own; names, dtypes and strings have not. */
static bool is_keyword(const Token *token) {
    bool word = token->text.size && *token->text.data >= 'A' && *token->text.data <= 'z';
    return word && token->kind != NAME && token->kind != STR;
}

void parse_report_syntax(Parse *parse, const char *const *expected, int count) {
    size_t at = parse->at - 1;
    bool quiet = is_explained(parse, at) || is_late_brace(parse, at) || parse->limited;
    parse->failed_at = parse->at;
    if (quiet && diags_error_count(parse->diags)) return;
    const Token *token = &parse->tokens.data[at];
    Loc loc = place_of(parse, at);
    Buf wanted = {.arena = parse->arena}, found = {.arena = parse->arena};
    put_expected(&wanted, expected, (size_t)count);
    put_token(&found, token);
    if (wanted.size)
        diag_error(parse->diags, loc, MSG_SYNTAX_EXPECTED, wanted.data, found.data);
    else
        diag_error(parse->diags, loc, MSG_SYNTAX, found.data);
    bool name = is_one_of("a name", expected, (size_t)count);
    if (name && is_keyword(token) && token->kind != ELSE)
        diag_note(parse->diags, loc, MSG_NOTE_KEYWORD, STR_ARG(token->text));
    hint_syntax(parse, at, loc, is_one_of("=", expected, (size_t)count));
}

/* ---- annotations ----------------------------------------------------------------------------- */

void parse_check_annotation(Parse *parse, Loc loc, Str name, AstList arguments) {
    static const struct {
        const char *name;
        uint32_t arguments;
    } known[] = {{"precision", 1}, {"checkpoint", 0}, {"nofuse", 0}};
    for (size_t i = 0; i < COUNT(known); i++) {
        if (!str_equal(name, str_from(known[i].name))) continue;
        if (arguments.count == known[i].arguments) return;
        diag_error(parse->diags, loc, MSG_ANNOTATION_ARGUMENTS, known[i].name, known[i].arguments,
                   arguments.count);
        return;
    }
    diag_error(parse->diags, loc, MSG_UNKNOWN_ANNOTATION, STR_ARG(name));
}

/* ---- the whole ------------------------------------------------------------------------------- */

static Str without_mark(Str text) {
    return str_starts_with(text, STR("\xEF\xBB\xBF")) ? (Str){text.data + 3, text.size - 3} : text;
}

AstFile *ast_parse(Arena *arena, Diags *diags, uint32_t file) {
    size_t errors = diags_error_count(diags);
    Parse parse = {.arena = arena, .diags = diags, .file = file, .line = 1};
    parse.text = without_mark(diags_file_text(diags, file));
    parse.out = NEW(arena, AstFile);
    parse.out->file = file;
    if (parse.text.size > DSL_MAX_BYTES) {
        diag_error(diags, (Loc){file, 1, 1, 1}, MSG_FILE_SIZE, parse.text.size, DSL_MAX_BYTES);
        return NULL;
    }
    if (!dsl_text_is_clean(&parse)) return NULL;
    tokens_scan(&parse);
    tokens_match(&parse);
    bool good = parse_grammar(&parse);
    return good && diags_error_count(diags) == errors ? parse.out : NULL;
}
