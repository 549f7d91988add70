/* Reading tile programs: tokens and the parts around the instructions. */
#include "codegen/tile/parse.h"

#include "base/messages.h"
#include "codegen/tile/text.h"
#include "codegen/tile/tile_tools.h"
#include "codegen/tile/verify.h"

#include <math.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------------- */

const Token *parse_token(const Parser *p) { return &p->tokens.data[p->at]; }

bool parse_is(const Parser *p, const char *text) {
    const Token *token = parse_token(p);
    return (token->kind == TOKEN_name || token->kind == TOKEN_mark) &&
           str_equal(token->text, str_from(text));
}

bool parse_take(Parser *p, const char *text) {
    bool there = parse_is(p, text);
    if (there) p->at++;
    return there;
}

bool parse_want(Parser *p, const char *text) {
    if (parse_take(p, text)) return true;
    Str quoted = str_format(p->arena, "\"%s\"", text);
    return parse_wrong(p, quoted.data);
}

bool parse_wrong(const Parser *p, const char *expected) {
    const Token *token = parse_token(p);
    static const char *const sigils[] = {[TOKEN_variable] = "%",
                                         [TOKEN_value] = "%",
                                         [TOKEN_axis] = "$",
                                         [TOKEN_kernel] = "@",
                                         [TOKEN_wrong] = NULL};
    const char *sigil = sigils[token->kind];
    Str found = str_format(p->arena, "\"%s%.*s\"", sigil ? sigil : "", STR_ARG(token->text));
    diag_error(p->diags, token->loc, MSG_TILE_SYNTAX, expected,
               token->kind == TOKEN_end ? "the end" : found.data);
    return false;
}

bool parse_kind(Parser *p, TokenKind kind, const char *what, const Token **out_token) {
    *out_token = parse_token(p);
    if ((*out_token)->kind != kind) return parse_wrong(p, what);
    p->at++;
    return true;
}

bool parse_int(Parser *p, int64_t least, int64_t most, int64_t *out_value) {
    size_t start = p->at;
    bool minus = parse_take(p, "-");
    const Token *token = parse_token(p);
    Str text = token->text;
    if (minus && token->kind == TOKEN_number) text = str_format(p->arena, "-%.*s", STR_ARG(text));
    if (token->kind == TOKEN_number && str_to_int(text, out_value) && least <= *out_value &&
        *out_value <= most) {
        p->at++;
        return true;
    }
    p->at = start;
    Str expected =
        str_format(p->arena, "a number from %lld to %lld", (long long)least, (long long)most);
    return parse_wrong(p, expected.data);
}

bool parse_uint(Parser *p, uint32_t most, uint32_t *out_value) {
    int64_t value = 0;
    if (!parse_int(p, 0, most, &value)) return false;
    *out_value = (uint32_t)value;
    return true;
}

bool parse_number(Parser *p, DType dtype, double *out_number, int64_t *out_integer) {
    if (!dtype_is_float(dtype)) return parse_int(p, INT64_MIN, INT64_MAX, out_integer);
    bool minus = parse_take(p, "-");
    const Token *token = parse_token(p);
    bool word = token->kind == TOKEN_name || token->kind == TOKEN_number;
    if (!word || !str_to_double(token->text, out_number)) return parse_wrong(p, "a number");
    if (minus) *out_number = -*out_number;
    p->at++;
    return true;
}

/* ---- dims of the model ----------------------------------------------------------------------- */

static bool declare_dim(Parser *p, const Token *name, DimSymbol want) {
    const DimSymbol *known = dim_find_symbol(p->ctx, name->text);
    if (!known)
        known =
            dim_new_symbol(p->ctx, want.kind, name->text, want.lo, want.hi, want.tune, want.limit);
    if (known->kind == want.kind && known->lo == want.lo && known->hi == want.hi &&
        known->tune == want.tune && known->limit == want.limit)
        return true;
    diag_error(p->diags, name->loc, MSG_TILE_DIM, STR_ARG(name->text));
    return false;
}

/* dim N in 1..256 tune 32 [bound] [below 2*M] */
static bool parse_symbol(Parser *p) {
    const int64_t most = (int64_t)1 << 62;
    const Token *name;
    DimSymbol want = {.kind = SYMBOL_named};
    if (!parse_kind(p, TOKEN_name, "the name of a dim", &name) || !parse_want(p, "in") ||
        !parse_int(p, -most, most, &want.lo) || !parse_want(p, "..") ||
        !parse_int(p, want.lo, most, &want.hi) || !parse_want(p, "tune") ||
        !parse_int(p, want.lo, want.hi, &want.tune))
        return false;
    if (parse_take(p, "bound")) want.kind = SYMBOL_bound;
    if (parse_take(p, "below") && !parse_dim(p, NULL, &want.limit)) return false;
    return declare_dim(p, name, want);
}

/* ---- views ----------------------------------------------------------------------------------- */

static bool add_view(Parser *p, const Token *name, const TileView *view) {
    if (map_get(&p->names, name->text)) {
        diag_error(p->diags, name->loc, MSG_TILE_REDEFINED, STR_ARG(name->text));
        return false;
    }
    Named *named = NEW(p->arena, Named);
    named->view = tile_add_view(p->program, view);
    map_set(&p->names, name->text, named);
    return true;
}

static bool parse_alignment(Parser *p, TileView *view) {
    return !parse_take(p, "align") ||
           (parse_want(p, "=") && parse_uint(p, 1u << 20, &view->alignment));
}

/* %x: view<global f32 [R, N]> arg=3 align=64 out */
static bool parse_argument(Parser *p, uint32_t argument) {
    const Token *name;
    TileView view = {.argument = argument};
    if (!parse_kind(p, TOKEN_variable, "the name of a view", &name) || !parse_want(p, ":") ||
        !parse_want(p, "view") || !parse_want(p, "<"))
        return false;
    if (parse_take(p, "constant"))
        view.space = SPACE_constant;
    else if (!parse_want(p, "global"))
        return false;
    if (!parse_dtype(p, &view.dtype) || !parse_dims(p, TYPE_MAX_RANK, view.dims, &view.rank) ||
        !parse_want(p, ">"))
        return false;
    if (parse_take(p, "arg") && (!parse_want(p, "=") || !parse_uint(p, 1u << 16, &view.argument)))
        return false;
    if (!parse_alignment(p, &view)) return false;
    view.written = parse_take(p, "out");
    view.name = name->text;
    return add_view(p, name, &view);
}

static bool parse_arguments(Parser *p) {
    if (!parse_want(p, "(")) return false;
    for (uint32_t i = 0; !parse_is(p, ")"); i++) {
        if (i > 0 && !parse_want(p, ",")) return false;
        if (!parse_argument(p, i)) return false;
    }
    return parse_want(p, ")");
}

/* %s = alloc scratch f32 [N] */
static bool parse_scratch(Parser *p) {
    const Token *name;
    TileView view = {.space = SPACE_scratch};
    if (!parse_kind(p, TOKEN_variable, "the name of a view", &name) || !parse_want(p, "=") ||
        !parse_want(p, "alloc") || !parse_want(p, "scratch") || !parse_dtype(p, &view.dtype) ||
        !parse_dims(p, TYPE_MAX_RANK, view.dims, &view.rank) || !parse_alignment(p, &view))
        return false;
    view.name = name->text;
    return add_view(p, name, &view);
}

/* ---- the grid -------------------------------------------------------------------------------- */

static bool add_work(Parser *p, const Token *name, const Dim *extent) {
    if (map_get(&p->names, name->text)) {
        diag_error(p->diags, name->loc, MSG_TILE_REDEFINED, STR_ARG(name->text));
        return false;
    }
    Named *named = NEW(p->arena, Named);
    named->variable = tile_add_work(p->program, str_terminated(p->arena, name->text), extent);
    map_set(&p->names, name->text, named);
    return true;
}

/* work %r, %c in [R, C] { … } */
static bool parse_work(Parser *p) {
    const Token *names[TYPE_MAX_RANK];
    const Dim *extents[TYPE_MAX_RANK];
    uint32_t count = 0, extent_count = 0;
    Loc loc = parse_token(p)->loc;
    if (!parse_want(p, "work")) return false;
    while (!parse_is(p, "{") && !parse_is(p, "in")) {
        if (count == TYPE_MAX_RANK) {
            diag_error(p->diags, parse_token(p)->loc, MSG_TILE_LIMIT, TYPE_MAX_RANK, "axes");
            return false;
        }
        if ((count > 0 && !parse_want(p, ",")) ||
            !parse_kind(p, TOKEN_variable, "a variable", &names[count++]))
            return false;
    }
    if (count > 0 &&
        (!parse_want(p, "in") || !parse_dims(p, TYPE_MAX_RANK, extents, &extent_count)))
        return false;
    if (count != extent_count) {
        diag_error(p->diags, loc, MSG_TILE_COUNT, extent_count, "extents", count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!add_work(p, names[i], extents[i])) return false;
    }
    p->b = tile_builder(p->program);
    return parse_block(p, NULL);
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool parse_program(Parser *p) {
    const Token *name;
    int64_t version = 0;
    if (!parse_want(p, "tile") || !parse_int(p, 1, 1, &version)) return false;
    while (parse_take(p, "dim")) {
        if (!parse_symbol(p)) return false;
    }
    if (!parse_want(p, "kernel") || !parse_kind(p, TOKEN_kernel, "the name of the kernel", &name))
        return false;
    p->program = tile_program_new(p->ctx, p->arena, name->text, TILE_free);
    if (!parse_arguments(p)) return false;
    if (parse_take(p, "placed"))
        p->program->state = TILE_placed;
    else if (!parse_want(p, "free"))
        return false;
    if (!parse_want(p, "{")) return false;
    while (!parse_is(p, "work")) {
        if (!parse_scratch(p)) return false;
    }
    if (!parse_work(p) || !parse_want(p, "}")) return false;
    return parse_token(p)->kind == TOKEN_end || parse_wrong(p, "the end");
}

static bool check_program(Parser *p) {
    const TileInstr *instr;
    const char *fault = tile_find_fault(p->program, p->arena, &instr);
    Loc loc = p->tokens.data[0].loc;
    if (!fault) return true;
    for (size_t i = 0; i < p->places.count; i++) {
        if (instr && p->places.data[i].instr == instr) loc = p->places.data[i].loc;
    }
    diag_error(p->diags, loc, MSG_TILE_UNSOUND, fault);
    return false;
}

TileProgram *tile_parse(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file) {
    Parser p = {.ctx = ctx, .arena = arena, .diags = diags};
    p.names.arena = p.values.arena = arena;
    p.tokens = tile_lex(arena, file, diags_file_text(diags, file));
    return parse_program(&p) && check_program(&p) ? p.program : NULL;
}
