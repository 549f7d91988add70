#include "frontend/dsl/hints.h"

#include "base/messages.h"
#include "frontend/dsl/parser.h"

typedef enum Place {
    PLACE_joined,
    PLACE_statement,
    PLACE_found,
    PLACE_stray,
    PLACE_argument
} Place;

static const struct Hint {
    Place place;
    const char *word, *text;
} hints[] = {
#define HINT(place, word, text) {PLACE_##place, word, text},
#include "frontend/dsl/hints.def"
#undef HINT
};

static const char *find_hint(Place place, Str word) {
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].place == place && str_equal(word, str_from(hints[i].word)))
            return hints[i].text;
    return NULL;
}

static bool give(Diags *diags, Loc loc, Place place, Str word) {
    const char *text = find_hint(place, word);
    if (text) diag_note(diags, loc, MSG_HINT, text);
    return text != NULL;
}

/* ---- syntax ---------------------------------------------------------------------------------- */

/* The texts of two tokens as one, where nothing stands between them. */
static Str joined(const Token *a, const Token *b) {
    bool touch = a->kind && b->kind && a->text.data + a->text.size == b->text.data;
    return touch ? (Str){a->text.data, a->text.size + b->text.size} : (Str){0};
}

static const Token *first_of_statement(const Token *tokens, size_t at) {
    while (at && tokens[at - 1].kind != SEP && tokens[at - 1].kind != '{') at--;
    return &tokens[at];
}

static bool is_comparison(int kind) {
    return kind == EQ || kind == NE || kind == LE || kind == GE || kind == '<' || kind == '>';
}

/* A comma that does not fit is that of a tuple only where a bracket was to be closed. */
static bool is_in_brackets(const Token *tokens, size_t at) {
    for (; at && tokens[at - 1].kind != SEP; at--)
        if (tokens[at - 1].kind == '(') return true;
    return false;
}

void hint_syntax(const Parse *parse, size_t at, Loc loc, bool assigns) {
    const Token *tokens = parse->tokens.data, *found = &tokens[at];
    if (found->kind && give(parse->diags, loc, PLACE_joined, joined(found, found + 1))) return;
    if (at && give(parse->diags, loc, PLACE_joined, joined(found - 1, found))) return;
    if (give(parse->diags, loc, PLACE_statement, first_of_statement(tokens, at)->text)) return;
    if (is_comparison(found->kind) && (assigns || !at || is_comparison(found[-1].kind))) return;
    if (found->kind == ',' && (!is_in_brackets(tokens, at) || found[-1].kind == ',')) return;
    if (give(parse->diags, loc, PLACE_found, found->text) || !at) return;
    if (found[-1].kind == NAME) give(parse->diags, loc, PLACE_found, found[-1].text);
}

void hint_stray(Diags *diags, Loc loc, Str text) { give(diags, loc, PLACE_stray, text); }

/* ---- calls ----------------------------------------------------------------------------------- */

void hint_argument(Diags *diags, Loc loc, Str name) { give(diags, loc, PLACE_argument, name); }

/* Names that modules of other languages are known by. */
static bool is_module(Str name) {
    static const char *const modules[] = {"np", "numpy", "torch", "nn", "F", "jnp", "tf", "math"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (str_equal(name, str_from(modules[i]))) return true;
    return false;
}

void hint_method(Diags *diags, Loc loc, Str object, Str name) {
    if (object.size == 0)
        diag_note(diags, loc, MSG_HINT_FUNCTION, STR_ARG(name));
    else if (is_module(object))
        diag_note(diags, loc, MSG_HINT_MODULE, STR_ARG(name));
    else
        diag_note(diags, loc, MSG_HINT_METHOD, STR_ARG(name), STR_ARG(object));
}
