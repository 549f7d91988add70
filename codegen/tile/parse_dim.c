#include "base/messages.h"
#include "codegen/tile/parse.h"

#include <string.h>

enum { MAX_PARENTHESES = 64 };

static bool parse_sum(Parser *p, const TileType *shape, const Dim **out);
static bool parse_nested_factor(Parser *p, const TileType *shape, const Dim **out);

static bool parse_symbol(Parser *p, const TileType *shape, const Dim **out) {
    const Token *token = parse_token(p);
    const DimSymbol *symbol = NULL;
    if (token->kind == TOKEN_name) symbol = dim_find_symbol(p->ctx, token->text);
    if (token->kind == TOKEN_variable) {
        const Named *named = map_get(&p->names, token->text);
        symbol = named ? named->variable : NULL;
    }
    uint32_t axis = token->kind == TOKEN_axis ? (uint32_t)(token->text.data[0] - '0') : 0;
    if (token->kind == TOKEN_axis && token->text.size == 1 && shape && axis < shape->rank)
        symbol = tile_axis_symbol(p->program, axis, shape->extents[axis]);
    if (!symbol) {
        diag_error(p->diags, token->loc, MSG_TILE_UNKNOWN, STR_ARG(token->text));
        return false;
    }
    p->at++;
    *out = dim_of_symbol(p->ctx, symbol);
    return true;
}

/* min(a, b), max(a, b) */
static bool parse_choice(Parser *p, const TileType *shape, const Dim **out) {
    bool least = parse_is(p, "min");
    const Dim *a, *b;
    p->at++;
    if (!parse_want(p, "(") || !parse_sum(p, shape, &a) || !parse_want(p, ",") ||
        !parse_sum(p, shape, &b) || !parse_want(p, ")"))
        return false;
    *out = least ? dim_min(p->ctx, a, b) : dim_max(p->ctx, a, b);
    return true;
}

static bool parse_factor(Parser *p, const TileType *shape, const Dim **out) {
    const Token *token = parse_token(p);
    int64_t value = 0;
    if (parse_take(p, "-")) {
        if (!parse_nested_factor(p, shape, out)) return false;
        *out = dim_scale(p->ctx, *out, -1);
        return true;
    }
    if (parse_take(p, "(")) return parse_sum(p, shape, out) && parse_want(p, ")");
    if (token->kind == TOKEN_number) {
        if (!parse_int(p, 0, (int64_t)1 << 62, &value)) return false;
        *out = dim_const(p->ctx, value);
        return true;
    }
    const Token *next = token->kind == TOKEN_end ? token : token + 1;
    bool call = next->kind == TOKEN_mark && next->text.data[0] == '(';
    if (call && (parse_is(p, "min") || parse_is(p, "max"))) return parse_choice(p, shape, out);
    if (token->kind == TOKEN_name || token->kind == TOKEN_variable || token->kind == TOKEN_axis)
        return parse_symbol(p, shape, out);
    return parse_wrong(p, "an index expression");
}

static bool parse_nested_factor(Parser *p, const TileType *shape, const Dim **out) {
    if (p->parentheses == MAX_PARENTHESES) {
        diag_error(p->diags, parse_token(p)->loc, MSG_TILE_LIMIT, MAX_PARENTHESES,
                   "nested expressions");
        return false;
    }
    p->parentheses++;
    bool good = parse_factor(p, shape, out);
    p->parentheses--;
    return good;
}

static bool parse_product(Parser *p, const TileType *shape, const Dim **out) {
    if (!parse_nested_factor(p, shape, out)) return false;
    for (;;) {
        const Dim *next;
        const Dim *(*combine)(IrContext *, const Dim *, const Dim *) = NULL;
        if (parse_is(p, "*")) combine = dim_mul;
        if (parse_is(p, "//")) combine = dim_floordiv;
        if (parse_is(p, "%")) combine = dim_mod;
        if (!combine) return true;
        p->at++;
        if (!parse_nested_factor(p, shape, &next)) return false;
        *out = combine(p->ctx, *out, next);
    }
}

static bool parse_sum(Parser *p, const TileType *shape, const Dim **out) {
    if (!parse_product(p, shape, out)) return false;
    while (parse_is(p, "+") || parse_is(p, "-")) {
        bool minus = parse_is(p, "-");
        const Dim *next;
        p->at++;
        if (!parse_product(p, shape, &next)) return false;
        *out = minus ? dim_sub(p->ctx, *out, next) : dim_add(p->ctx, *out, next);
    }
    return true;
}

bool parse_dim(Parser *p, const TileType *shape, const Dim **out_dim) {
    Loc loc = parse_token(p)->loc;
    if (!parse_sum(p, shape, out_dim)) return false;
    if (!dim_is_overflow(*out_dim)) return true;
    diag_error(p->diags, loc, MSG_TILE_OVERFLOW);
    return false;
}

/* ---- types ----------------------------------------------------------------------------------- */

bool parse_dims(Parser *p, uint32_t most, const Dim **out_dims, uint32_t *out_count) {
    uint32_t count = 0;
    if (!parse_want(p, "[")) return false;
    while (!parse_is(p, "]")) {
        if (count > 0 && !parse_want(p, ",")) return false;
        if (count == most) {
            diag_error(p->diags, parse_token(p)->loc, MSG_TILE_LIMIT, most, "dims");
            return false;
        }
        if (!parse_dim(p, NULL, &out_dims[count++])) return false;
    }
    *out_count = count;
    return parse_want(p, "]");
}

bool parse_dtype(Parser *p, DType *out_dtype) {
    const Token *token = parse_token(p);
    if (token->kind != TOKEN_name || !dtype_parse(token->text, out_dtype))
        return parse_wrong(p, "a dtype");
    p->at++;
    return true;
}

bool parse_type(Parser *p, TileType *out_type) {
    DType dtype;
    const Dim *extents[TILE_MAX_RANK];
    uint32_t rank, lanes = p->program->state == TILE_placed ? 1 : 0;
    if (!parse_want(p, ":") || !parse_want(p, "tile") || !parse_want(p, "<") ||
        !parse_dtype(p, &dtype) || !parse_dims(p, TILE_MAX_RANK, extents, &rank))
        return false;
    if (parse_take(p, "lanes") && (!parse_want(p, "=") || !parse_uint(p, 1 << 16, &lanes)))
        return false;
    *out_type = tile_type(dtype, rank, extents, lanes);
    return parse_want(p, ">");
}
