/* Reading tile programs: blocks of instructions, loops and branches. */
#include "base/messages.h"
#include "codegen/tile/parse.h"
#include "codegen/tile/walk.h"

enum { MAX_INSTRS = 200000 };

typedef VEC(const Token *) Numbers;

static void note_place(Parser *p, const TileInstr *instr, Loc loc) {
    vec_push(p->arena, &p->places, (Place){.instr = instr, .loc = loc});
}

static bool define_results(Parser *p, const Numbers *results, TileId first, uint32_t count) {
    if (results->count != count) return parse_wrong_count(p, results->count, "results", count);
    for (uint32_t i = 0; i < count; i++) {
        if (!parse_define(p, results->data[i], first + i)) return false;
    }
    return true;
}

/* iter (%5 = %1, %6 = %2) */
static bool parse_carried(Parser *p, Numbers *numbers, Ids *initial) {
    if (!parse_take(p, "iter")) return true;
    if (!parse_want(p, "(")) return false;
    do {
        const Token *number;
        TileId id;
        if (!parse_kind(p, TOKEN_value, "a value", &number) || !parse_want(p, "=") ||
            !parse_value(p, &id))
            return false;
        vec_push(p->arena, numbers, number);
        vec_push(p->arena, initial, id);
    } while (parse_take(p, ","));
    return parse_want(p, ")");
}

static bool name_variable(Parser *p, const Token *name, const DimSymbol *variable) {
    Named *named = NEW(p->arena, Named);
    named->variable = variable;
    map_set(&p->names, name->text, named);
    return true;
}

/* for %k in 0..K step 16 unroll 4 iter (…) { … } */
static bool parse_for(Parser *p, const Numbers *results, Loc loc) {
    const Token *name;
    const Dim *from, *to;
    int64_t step = 1;
    uint32_t unroll = 0;
    Numbers carried = {0};
    Ids initial = {0};
    Yields yields;
    if (!parse_kind(p, TOKEN_variable, "a variable", &name) || !parse_want(p, "in") ||
        !parse_dim(p, NULL, &from) || !parse_want(p, "..") || !parse_dim(p, NULL, &to))
        return false;
    if (map_get(&p->names, name->text)) {
        diag_error(p->diags, name->loc, MSG_TILE_REDEFINED, STR_ARG(name->text));
        return false;
    }
    if (parse_take(p, "step") && !parse_int(p, 1, 1 << 30, &step)) return false;
    if (parse_take(p, "unroll") && !parse_uint(p, 1024, &unroll)) return false;
    if (!parse_carried(p, &carried, &initial)) return false;
    uint32_t count = (uint32_t)initial.count;
    TileInstr *loop = tile_begin_for(&p->b, str_terminated(p->arena, name->text), from, to, step,
                                     initial.data, count);
    loop->unroll = unroll;
    note_place(p, loop, loc);
    if (!name_variable(p, name, loop->variable) ||
        !define_results(p, &carried, loop->carried, count) || !parse_block(p, &yields))
        return false;
    if (yields.count != count) return parse_wrong_count(p, yields.count, "yielded values", count);
    return define_results(p, results, tile_end_for(&p->b, loop, yields.values), count);
}

/* if 0 <= %k < 1 { … } else { … } */
static bool parse_if(Parser *p, const Numbers *results, Loc loc) {
    Guards guards = {0};
    Yields then, otherwise = {0};
    if (!parse_guards(p, NULL, &guards)) return false;
    TileInstr *branch = tile_begin_if(&p->b, guards.data, (uint32_t)guards.count);
    note_place(p, branch, loc);
    if (!parse_block(p, &then)) return false;
    tile_else(&p->b, branch, then.values, then.count);
    if (parse_take(p, "else") && !parse_block(p, &otherwise)) return false;
    if (otherwise.count != then.count)
        return parse_wrong_count(p, otherwise.count, "values of the other block", then.count);
    TileId first = tile_end_if(&p->b, branch, otherwise.values, then.count);
    return define_results(p, results, first, then.count);
}

static bool parse_simple(Parser *p, const Numbers *results, Loc loc) {
    TileId result = TILE_none;
    uint32_t count;
    if (!parse_operation(p, &result, &count)) return false;
    note_place(p, p->b.block->instrs.data[p->b.block->instrs.count - 1], loc);
    return define_results(p, results, result, count);
}

static bool parse_instr(Parser *p) {
    Numbers results = {0};
    Loc loc = parse_token(p)->loc;
    if (p->places.count == MAX_INSTRS) {
        diag_error(p->diags, loc, MSG_TILE_LIMIT, MAX_INSTRS, "instructions");
        return false;
    }
    while (parse_token(p)->kind == TOKEN_value) {
        vec_push(p->arena, &results, parse_token(p));
        p->at++;
        if (!parse_take(p, ",")) break;
    }
    if (results.count > 0 && !parse_want(p, "=")) return false;
    if (parse_take(p, "for")) return parse_for(p, &results, loc);
    if (parse_take(p, "if")) return parse_if(p, &results, loc);
    return parse_simple(p, &results, loc);
}

static bool parse_yield(Parser *p, Yields *out_yields) {
    Ids ids = {0};
    if (!out_yields) return parse_wrong(p, "an instruction");
    p->at++;
    if (!parse_values(p, &ids)) return false;
    *out_yields = (Yields){.count = (uint32_t)ids.count, .values = ids.data};
    return true;
}

static bool parse_instrs(Parser *p, Yields *out_yields) {
    while (!parse_is(p, "}")) {
        if (parse_is(p, "yield")) return parse_yield(p, out_yields);
        if (!parse_instr(p)) return false;
    }
    return true;
}

bool parse_block(Parser *p, Yields *out_yields) {
    if (out_yields) *out_yields = (Yields){0};
    if (p->blocks == TILE_MAX_DEPTH) {
        diag_error(p->diags, parse_token(p)->loc, MSG_TILE_LIMIT, TILE_MAX_DEPTH, "nested blocks");
        return false;
    }
    p->blocks++;
    bool good = parse_want(p, "{") && parse_instrs(p, out_yields) && parse_want(p, "}");
    p->blocks--;
    return good;
}
