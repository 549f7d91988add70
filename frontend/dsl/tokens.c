/* The tokens before the grammar sees them: clean text, matched brackets, no newlines within them.
 */
#include "frontend/dsl/parse.h"

#include "base/messages.h"
#include "frontend/dsl/parser.h"

#include <string.h>

/* Control characters that a text file may hold. */
static bool is_blank_control(unsigned char c) { return c == '\t' || c == '\n' || c == '\r'; }

bool dsl_text_is_clean(Parse *parse) {
    Loc loc = {parse->file, 1, 1, 1};
    Str rest = parse->text;
    while (rest.size) {
        unsigned char c = (unsigned char)*rest.data;
        size_t size = str_utf8_size(rest);
        if (!size)
            diag_error(parse->diags, loc, MSG_NOT_UTF8, c);
        else if ((c < ' ' && !is_blank_control(c)) || c == 127) {
            diag_error(parse->diags, loc, MSG_CONTROL_CHARACTER, c);
            size = 0;
        }
        if (!size) return false;
        loc.line += c == '\n';
        loc.column = c == '\n' ? 1 : loc.column + (uint32_t)size;
        rest = (Str){rest.data + size, rest.size - size};
    }
    return true;
}

/* ---- brackets -------------------------------------------------------------------------------- */

/* An open bracket: its token, and how many open brackets lie up to and including the innermost of
 * each kind, so that none need be searched for however deep they lie. */
typedef struct Open {
    size_t token, innermost[3];
} Open;
typedef VEC(Open) Stack;

static int kind_index(int opener) { return opener == '(' ? 0 : opener == '[' ? 1 : 2; }

static int closer_of(int opener) { return opener == '(' ? ')' : opener == '[' ? ']' : '}'; }

/* Enough of them are reported to see what is wrong. */
enum { MOST_UNCLOSED = 20 };

static void report_unclosed(Parse *parse, Token *opener) {
    opener->faulty = true;
    parse->open_block |= opener->kind == '{';
    if (parse->unclosed++ >= MOST_UNCLOSED) return;
    diag_error(parse->diags, opener->loc, MSG_UNCLOSED_BRACKET, opener->kind,
               closer_of(opener->kind));
}

/* Reports the open brackets above the `keep` lowest ones, the outermost first. */
static void close_down(Parse *parse, Stack *stack, size_t keep) {
    for (size_t i = keep; i < stack->count; i++) {
        report_unclosed(parse, &parse->tokens.data[stack->data[i].token]);
    }
    if (stack->count > keep) stack->count = keep;
}

/* How many open brackets lie up to and including the innermost of `kind`; 0 when there is none. */
static size_t find_open(const Stack *stack, int opener) {
    return stack->count ? stack->data[stack->count - 1].innermost[kind_index(opener)] : 0;
}

static void open_bracket(Parse *parse, Stack *stack, size_t at) {
    Open open = {0};
    if (stack->count) open = stack->data[stack->count - 1];
    open.token = at;
    open.innermost[kind_index(parse->tokens.data[at].kind)] = stack->count + 1;
    vec_push(parse->arena, stack, open);
}

/* A brace shows that round and square brackets within its block should have ended; a round or
 * square one closes what it fits if that does not cross a brace. */
static void close_bracket(Parse *parse, Stack *stack, Token *token) {
    int opener = token->kind == ')' ? '(' : token->kind == ']' ? '[' : '{';
    size_t depth = find_open(stack, opener);
    if (opener != '{' && depth < find_open(stack, '{')) depth = 0;
    if (depth) {
        close_down(parse, stack, depth);
        stack->count--;
        return;
    }
    token->faulty = true;
    diag_error(parse->diags, token->loc, MSG_STRAY_BRACKET, token->kind);
}

/* Whether an item begins at token `at`: its word at the start of a statement, and what follows one.
 */
static bool begins_item(const Parse *parse, size_t at) {
    const Token *tokens = parse->tokens.data;
    if (at && tokens[at - 1].kind != SEP) return false;
    switch (tokens[at].kind) {
    case FN:
    case MODEL:
    case TRAIN: return tokens[at + 1].kind == NAME;
    case WEIGHTS: return tokens[at + 1].kind == STR;
    default: return false;
    }
}

/* Whether each bracket has its partner, so that an item within brackets shows no other fault. */
static bool is_balanced(const Parse *parse) {
    Buf open = {.arena = parse->arena};
    for (size_t i = 0; i < parse->tokens.count; i++) {
        int kind = parse->tokens.data[i].kind;
        if (kind == '(' || kind == '[' || kind == '{') buf_char(&open, (char)closer_of(kind));
        if (kind != ')' && kind != ']' && kind != '}') continue;
        if (!open.size || open.data[--open.size] != kind) return false;
    }
    return open.size == 0;
}

/* Items stand outside all brackets: one that begins shows what is unclosed before it. */
static void match_token(Parse *parse, Stack *stack, size_t at, bool balanced) {
    Token *token = &parse->tokens.data[at];
    switch (token->kind) {
    case '(':
    case '[':
    case '{': open_bracket(parse, stack, at); break;
    case ')':
    case ']':
    case '}': close_bracket(parse, stack, token); break;
    default:
        if (!token->kind || (!balanced && begins_item(parse, at))) close_down(parse, stack, 0);
    }
}

/* Separators between matched round and square brackets go; faulty brackets do not count. */
static void drop_newlines(Parse *parse) {
    size_t kept = 0, depth = 0;
    for (size_t i = 0; i < parse->tokens.count; i++) {
        const Token *token = &parse->tokens.data[i];
        int kind = token->faulty ? 0 : token->kind;
        if (kind == SEP && depth && *token->text.data == '\n') continue;
        if (kind == '(' || kind == '[') depth++;
        if (kind == ')' || kind == ']') depth--;
        parse->tokens.data[kept++] = *token;
    }
    parse->tokens.count = kept;
}

void tokens_match(Parse *parse) {
    Stack stack = {0};
    bool balanced = is_balanced(parse);
    for (size_t i = 0; i < parse->tokens.count; i++) match_token(parse, &stack, i, balanced);
    drop_newlines(parse);
}
