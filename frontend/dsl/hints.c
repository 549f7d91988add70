#include "frontend/dsl/hints.h"

#include "base/messages.h"
#include "frontend/dsl/parser.h"

typedef enum Place {
    PLACE_joined,
    PLACE_statement,
    PLACE_found,
    PLACE_stray,
    PLACE_argument,
    PLACE_call,
    PLACE_name,
    PLACE_method
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

/* A statement that begins with a call and so names no value. */
static bool is_call_statement(const Token *tokens, size_t at, bool assigns) {
    return assigns && at && first_of_statement(tokens, at) == &tokens[at - 1];
}

void hint_syntax(const Parse *parse, size_t at, Loc loc, bool assigns) {
    const Token *tokens = parse->tokens.data, *found = &tokens[at];
    if (found->kind && give(parse->diags, loc, PLACE_joined, joined(found, found + 1))) return;
    if (at && give(parse->diags, loc, PLACE_joined, joined(found - 1, found))) return;
    if (give(parse->diags, loc, PLACE_statement, first_of_statement(tokens, at)->text)) return;
    if (is_call_statement(tokens, at, assigns) && give(parse->diags, loc, PLACE_call, found->text))
        return;
    if (is_comparison(found->kind) && (assigns || !at || is_comparison(found[-1].kind))) return;
    if (found->kind == ',' && (!is_in_brackets(tokens, at) || found[-1].kind == ',')) return;
    if (give(parse->diags, loc, PLACE_found, found->text) || !at) return;
    if (found[-1].kind == NAME) give(parse->diags, loc, PLACE_found, found[-1].text);
}

void hint_stray(Diags *diags, Loc loc, Str text) { give(diags, loc, PLACE_stray, text); }

/* ---- calls ----------------------------------------------------------------------------------- */

void hint_argument(Diags *diags, Loc loc, Str name) { give(diags, loc, PLACE_argument, name); }

/* ---- names ----------------------------------------------------------------------------------- */

/* What other languages call it. */
static const struct Foreign {
    const char *theirs, *ours;
} foreign[] = {
    {"True", "true"},     {"False", "false"},
    {"null", "None"},     {"where", "select"},
    {"cat", "concat"},    {"concatenate", "concat"},
    {"view", "reshape"},  {"expand", "broadcast_to"},
    {"clamp", "clip"},    {"power", "pow"},
    {"var", "variance"},  {"flip", "reverse"},
    {"take", "gather"},   {"index_select", "gather"},
    {"amax", "max"},      {"amin", "min"},
    {"arctan", "atan"},   {"mm", "matmul"},
    {"bmm", "matmul"},    {"dot", "matmul"},
    {"swish", "silu"},    {"Linear", "linear"},
    {"Conv2d", "conv2d"}, {"LayerNorm", "layer_norm"},
    {"dense", "linear"},  {"float", "f32"},
    {"half", "f16"},      {"double", "f64"},
    {"int", "i32"},       {"long", "i64"},
    {"float16", "f16"},   {"bfloat16", "bf16"},
    {"float32", "f32"},   {"float64", "f64"},
    {"int8", "i8"},       {"uint8", "u8"},
    {"int16", "i16"},     {"int32", "i32"},
    {"int64", "i64"},
};

Str hint_foreign(Str name) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (str_equal(name, str_from(foreign[i].theirs))) return str_from(foreign[i].ours);
    return (Str){0};
}

bool hint_name(Diags *diags, Loc loc, Str name) { return give(diags, loc, PLACE_name, name); }

/* Names that modules of other languages are known by. */
static bool is_module(Str name) {
    static const char *const modules[] = {"np", "numpy", "torch", "nn", "F", "jnp", "tf", "math"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (str_equal(name, str_from(modules[i]))) return true;
    return false;
}

void hint_method(Diags *diags, Loc loc, Str object, Str theirs) {
    if (give(diags, loc, PLACE_method, theirs) || hint_name(diags, loc, theirs)) return;
    Str known = hint_foreign(theirs), name = known.size ? known : theirs;
    if (object.size == 0)
        diag_note(diags, loc, MSG_HINT_FUNCTION, STR_ARG(name));
    else if (is_module(object))
        diag_note(diags, loc, MSG_HINT_MODULE, STR_ARG(name));
    else
        diag_note(diags, loc, MSG_HINT_METHOD, STR_ARG(name), STR_ARG(object));
}
