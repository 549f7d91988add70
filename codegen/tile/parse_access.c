/* Reading tile programs: values and views by name, guards, and where an instruction reads or
 * writes. */
#include "base/messages.h"
#include "codegen/tile/parse.h"

bool parse_unknown(Parser *p, const Token *token) {
    diag_error(p->diags, token->loc, MSG_TILE_UNKNOWN, STR_ARG(token->text));
    return false;
}

bool parse_value(Parser *p, TileId *out_id) {
    const Token *token;
    if (!parse_kind(p, TOKEN_value, "a value", &token)) return false;
    const TileId *id = map_get(&p->values, token->text);
    if (!id) return parse_unknown(p, token);
    *out_id = *id;
    return true;
}

bool parse_define(Parser *p, const Token *token, TileId id) {
    if (map_get(&p->values, token->text)) {
        diag_error(p->diags, token->loc, MSG_TILE_REDEFINED, STR_ARG(token->text));
        return false;
    }
    map_set(&p->values, token->text, arena_copy(p->arena, &id, sizeof id));
    return true;
}

bool parse_view(Parser *p, uint32_t *out_view) {
    const Token *token;
    if (!parse_kind(p, TOKEN_variable, "the name of a view", &token)) return false;
    const Named *named = map_get(&p->names, token->text);
    if (!named || named->variable) return parse_unknown(p, token);
    *out_view = named->view;
    return true;
}

bool parse_values(Parser *p, Ids *ids) {
    do {
        TileId id;
        if (!parse_value(p, &id)) return false;
        vec_push(p->arena, ids, id);
    } while (parse_take(p, ","));
    return true;
}

bool parse_one(Parser *p, const char *key, const TileType *shape, const Dim **out_dim) {
    return parse_want(p, key) && parse_want(p, "=") && parse_dim(p, shape, out_dim);
}

bool parse_axis(Parser *p, uint32_t rank, uint32_t *out_axis) {
    if (rank == 0) return parse_wrong(p, "an operand with axes before this");
    return parse_want(p, "axis") && parse_want(p, "=") && parse_uint(p, rank - 1, out_axis);
}

bool parse_wrong_count(Parser *p, size_t count, const char *what, uint32_t want) {
    diag_error(p->diags, parse_token(p)->loc, MSG_TILE_COUNT, (uint32_t)count, what, want);
    return false;
}

/* ---- guards, accesses and types -------------------------------------------------------------- */

bool parse_guards(Parser *p, const TileType *shape, Guards *guards) {
    if (parse_take(p, "true")) return true;
    do {
        TileGuard guard;
        if (!parse_dim(p, shape, &guard.lo) || !parse_want(p, "<=") ||
            !parse_dim(p, shape, &guard.value) || !parse_want(p, "<") ||
            !parse_dim(p, shape, &guard.hi))
            return false;
        vec_push(p->arena, guards, guard);
    } while (parse_take(p, "and"));
    return true;
}

bool parse_where(Parser *p, const TileType *shape, Guards *guards) {
    return !parse_take(p, "where") || parse_guards(p, shape, guards);
}

static bool parse_subscript(Parser *p, const TileType *shape, const Dim **out_subscript,
                            TileId *out_at) {
    *out_at = TILE_none;
    *out_subscript = dim_const(p->ctx, 0);
    if (parse_token(p)->kind == TOKEN_value) {
        if (!parse_value(p, out_at)) return false;
        if (!parse_take(p, "+") && !parse_is(p, "-")) return true;
    }
    return parse_dim(p, shape, out_subscript);
}

bool parse_element(Parser *p, const TileType *shape, Access *access) {
    if (!parse_view(p, &access->view) || !parse_want(p, "[")) return false;
    uint32_t rank = p->program->views.data[access->view].rank, count = 0;
    while (!parse_is(p, "]")) {
        if (count == rank) return parse_wrong(p, "no further subscript");
        if ((count > 0 && !parse_want(p, ",")) ||
            !parse_subscript(p, shape, &access->subscripts[count], &access->at[count]))
            return false;
        count++;
    }
    if (count != rank) return parse_wrong_count(p, count, "subscripts", rank);
    return parse_want(p, "]");
}

bool parse_access(Parser *p, const TileType *shape, Access *access) {
    return parse_element(p, shape, access) && parse_where(p, shape, &access->guards);
}

bool parse_type_ahead(Parser *p, TileType *out_type, size_t *out_colon, size_t *out_end) {
    size_t start = p->at;
    while (parse_token(p)->kind != TOKEN_end && !parse_is(p, ":") && !parse_is(p, "{") &&
           !parse_is(p, "}"))
        p->at++;
    *out_colon = p->at;
    bool good = parse_type(p, out_type);
    *out_end = p->at;
    p->at = start;
    return good;
}

bool parse_past_type(Parser *p, size_t colon, size_t end) {
    if (p->at != colon) return parse_wrong(p, "a type");
    p->at = end;
    return true;
}
