/* Reading tile programs: instructions. Operand counts and whatever else would crash the building
 * are checked here; the rest is the verifier's, which runs on what was read. */
#include "base/messages.h"
#include "codegen/tile/parse.h"
#include "codegen/tile/walk.h"

enum { MAX_INSTRS = 200000 };

/* ---- names and values ------------------------------------------------------------------------ */

typedef VEC(TileId) Ids;
typedef VEC(const Token *) Numbers;

static bool unknown(Parser *p, const Token *token) {
    diag_error(p->diags, token->loc, MSG_TILE_UNKNOWN, STR_ARG(token->text));
    return false;
}

static bool parse_value(Parser *p, TileId *out_id) {
    const Token *token;
    if (!parse_kind(p, TOKEN_value, "a value", &token)) return false;
    const TileId *id = map_get(&p->values, token->text);
    if (!id) return unknown(p, token);
    *out_id = *id;
    return true;
}

static bool define_value(Parser *p, const Token *token, TileId id) {
    if (map_get(&p->values, token->text)) {
        diag_error(p->diags, token->loc, MSG_TILE_REDEFINED, STR_ARG(token->text));
        return false;
    }
    map_set(&p->values, token->text, arena_copy(p->arena, &id, sizeof id));
    return true;
}

static bool parse_view(Parser *p, uint32_t *out_view) {
    const Token *token;
    if (!parse_kind(p, TOKEN_variable, "the name of a view", &token)) return false;
    const Named *named = map_get(&p->names, token->text);
    if (!named || named->variable) return unknown(p, token);
    *out_view = named->view;
    return true;
}

/* %1, %2, … */
static bool parse_values(Parser *p, Ids *ids) {
    do {
        TileId id;
        if (!parse_value(p, &id)) return false;
        vec_push(p->arena, ids, id);
    } while (parse_take(p, ","));
    return true;
}

static bool parse_one(Parser *p, const char *key, const TileType *shape, const Dim **out_dim) {
    return parse_want(p, key) && parse_want(p, "=") && parse_dim(p, shape, out_dim);
}

static bool parse_axis(Parser *p, uint32_t rank, uint32_t *out_axis) {
    if (rank == 0) return parse_wrong(p, "an operand with axes before this");
    return parse_want(p, "axis") && parse_want(p, "=") && parse_uint(p, rank - 1, out_axis);
}

static bool wrong_count(Parser *p, size_t count, const char *what, uint32_t want) {
    diag_error(p->diags, parse_token(p)->loc, MSG_TILE_COUNT, (uint32_t)count, what, want);
    return false;
}

/* ---- guards, accesses and types -------------------------------------------------------------- */

typedef VEC(TileGuard) Guards;

static bool parse_guards(Parser *p, const TileType *shape, Guards *guards) {
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

static bool parse_where(Parser *p, const TileType *shape, Guards *guards) {
    return !parse_take(p, "where") || parse_guards(p, shape, guards);
}

typedef struct Access {
    uint32_t view;
    const Dim *subscripts[TYPE_MAX_RANK];
    TileId at[TYPE_MAX_RANK];
    Guards guards;
} Access;

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

/* %x[%r, %4 + %c] */
static bool parse_element(Parser *p, const TileType *shape, Access *access) {
    if (!parse_view(p, &access->view) || !parse_want(p, "[")) return false;
    uint32_t rank = p->program->views.data[access->view].rank, count = 0;
    while (!parse_is(p, "]")) {
        if (count == rank) return parse_wrong(p, "no further subscript");
        if ((count > 0 && !parse_want(p, ",")) ||
            !parse_subscript(p, shape, &access->subscripts[count], &access->at[count]))
            return false;
        count++;
    }
    if (count != rank) return wrong_count(p, count, "subscripts", rank);
    return parse_want(p, "]");
}

/* %x[%r, %4 + %c] where 0 <= %c < N */
static bool parse_access(Parser *p, const TileType *shape, Access *access) {
    return parse_element(p, shape, access) && parse_where(p, shape, &access->guards);
}

/* A type stands at the end of its instruction, but the axes before it depend on it: it is read
 * first. */
static bool parse_type_ahead(Parser *p, TileType *out_type, size_t *out_colon, size_t *out_end) {
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

/* Having come to the type that was read ahead, goes on behind it. */
static bool parse_past_type(Parser *p, size_t colon, size_t end) {
    if (p->at != colon) return parse_wrong(p, "a type");
    p->at = end;
    return true;
}

/* ---- ops: each reads what follows its name and gives its result ------------------------------ */

typedef bool ParseOp(Parser *p, TileId *out_result);

static TileInstr *last_instr(Parser *p) {
    return p->b.block->instrs.data[p->b.block->instrs.count - 1];
}

static bool parse_load(Parser *p, TileId *out_result) {
    TileType type;
    Access access = {0};
    size_t colon, end;
    double number = 0;
    int64_t integer = 0, ahead = 0;
    if (!parse_type_ahead(p, &type, &colon, &end) || !parse_access(p, &type, &access)) return false;
    if (parse_take(p, "pad") &&
        (!parse_want(p, "=") || !parse_number(p, type.dtype, &number, &integer)))
        return false;
    if (parse_take(p, "ahead") &&
        (!parse_want(p, "=") || !parse_int(p, 1, TILE_MOST_AHEAD, &ahead)))
        return false;
    *out_result = tile_load(&p->b, type, access.view, access.subscripts, access.at,
                            access.guards.data, (uint32_t)access.guards.count, number);
    last_instr(p)->integer = integer;
    last_instr(p)->ahead = ahead;
    return parse_past_type(p, colon, end);
}

static bool parse_op(Parser *p, Op *out_op) {
    const Token *token;
    if (!parse_kind(p, TOKEN_name, "an op", &token)) return false;
    return op_parse(token->text, out_op) || unknown(p, token);
}

static bool parse_store(Parser *p, TileId *out_result) {
    TileId value;
    Access access = {0};
    Op combine = OP_none;
    (void)out_result;
    if (!parse_value(p, &value) || !parse_want(p, ",") ||
        !parse_access(p, tile_value_type(p->program, value), &access))
        return false;
    if (parse_take(p, "combine") && (!parse_want(p, "=") || !parse_op(p, &combine))) return false;
    TileInstr *store = tile_store(&p->b, value, access.view, access.subscripts, access.at,
                                  access.guards.data, (uint32_t)access.guards.count, combine);
    store->streaming = parse_take(p, "streaming");
    return true;
}

static bool parse_prefetch(Parser *p, TileId *out_result) {
    Access access = {0};
    (void)out_result;
    if (!parse_element(p, NULL, &access)) return false;
    for (uint32_t i = 0; i < p->program->views.data[access.view].rank; i++)
        if (access.at[i] != TILE_none) return parse_wrong(p, "subscripts without tiles");
    tile_prefetch(&p->b, access.view, access.subscripts);
    return true;
}

static bool parse_const(Parser *p, TileId *out_result) {
    TileType type;
    size_t colon, end;
    double number = 0;
    int64_t integer = 0;
    if (!parse_type_ahead(p, &type, &colon, &end) ||
        !parse_number(p, type.dtype, &number, &integer))
        return false;
    *out_result = dtype_is_float(type.dtype) ? tile_const(&p->b, type, number)
                                             : tile_const_int(&p->b, type, integer);
    return parse_past_type(p, colon, end);
}

static bool parse_index(Parser *p, TileId *out_result) {
    TileType type;
    size_t colon, end;
    const Dim *value;
    if (!parse_type_ahead(p, &type, &colon, &end) || !parse_dim(p, &type, &value)) return false;
    *out_result = tile_index(&p->b, type, value);
    return parse_past_type(p, colon, end);
}

static bool parse_test(Parser *p, TileId *out_result) {
    TileType type;
    size_t colon, end;
    Guards guards = {0};
    if (!parse_type_ahead(p, &type, &colon, &end) || !parse_guards(p, &type, &guards)) return false;
    *out_result = tile_test(&p->b, type, guards.data, (uint32_t)guards.count);
    return parse_past_type(p, colon, end);
}

static bool parse_move(Parser *p, TileId *out_result) {
    TileType type;
    TileId value;
    uint32_t axes[TILE_MAX_RANK] = {0}, count = 0;
    if (!parse_value(p, &value) || !parse_want(p, "axes") || !parse_want(p, "=") ||
        !parse_want(p, "["))
        return false;
    while (count < TILE_MAX_RANK && !parse_is(p, "]")) {
        if ((count > 0 && !parse_want(p, ",")) || !parse_uint(p, TILE_MAX_RANK - 1, &axes[count++]))
            return false;
    }
    uint32_t rank = tile_value_type(p->program, value)->rank;
    if (count != rank) return wrong_count(p, count, "axes", rank);
    if (!parse_want(p, "]") || !parse_type(p, &type)) return false;
    *out_result = tile_move(&p->b, type, value, axes);
    return true;
}

static bool parse_reduce(Parser *p, TileId *out_result) {
    Op op;
    TileId value;
    uint32_t axis;
    if (!parse_op(p, &op) || !parse_value(p, &value) ||
        !parse_axis(p, tile_value_type(p->program, value)->rank, &axis))
        return false;
    *out_result = tile_reduce(&p->b, op, value, axis);
    if (op == OP_max) last_instr(p)->ignores_nan = parse_take(p, "ignores_nan");
    return true;
}

static bool parse_scan(Parser *p, TileId *out_result) {
    Op op;
    TileId value;
    uint32_t axis;
    if (!parse_op(p, &op) || !parse_value(p, &value) ||
        !parse_axis(p, tile_value_type(p->program, value)->rank, &axis))
        return false;
    bool exclusive = parse_take(p, "exclusive"), reverse = parse_take(p, "reverse");
    *out_result = tile_scan(&p->b, op, value, axis, exclusive, reverse);
    return true;
}

static bool parse_dot(Parser *p, TileId *out_result) {
    Ids ids = {0};
    if (!parse_values(p, &ids)) return false;
    if (ids.count != 3) return wrong_count(p, ids.count, "operands", 3);
    *out_result = tile_dot(&p->b, ids.data[0], ids.data[1], ids.data[2]);
    return true;
}

static bool parse_dot4(Parser *p, TileId *out_result) {
    Ids ids = {0};
    if (!parse_values(p, &ids)) return false;
    if (ids.count != 3) return wrong_count(p, ids.count, "operands", 3);
    *out_result = tile_dot4(&p->b, ids.data[0], ids.data[1], ids.data[2]);
    return true;
}

static bool parse_sort(Parser *p, TileId *out_result) {
    uint32_t views[4];
    const Dim *count;
    (void)out_result;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && !parse_want(p, ",")) || !parse_view(p, &views[i])) return false;
    }
    if (!parse_one(p, "count", NULL, &count)) return false;
    tile_sort(&p->b, views[0], views[1], views[2], views[3], count, parse_take(p, "descending"));
    return true;
}

static bool parse_mma(Parser *p, TileId *out_result) {
    TileId acc;
    uint32_t views[2];
    const Dim *k;
    if (!parse_value(p, &acc)) return false;
    for (int i = 0; i < 2; i++)
        if (!parse_want(p, ",") || !parse_view(p, &views[i])) return false;
    if (!parse_one(p, "k", NULL, &k)) return false;
    *out_result = tile_mma(&p->b, acc, views[0], views[1], k);
    return true;
}

static bool parse_mma_store(Parser *p, TileId *out_result) {
    TileId acc;
    uint32_t view;
    (void)out_result;
    if (!parse_value(p, &acc) || !parse_want(p, ",") || !parse_view(p, &view)) return false;
    tile_mma_store(&p->b, acc, view);
    return true;
}

static bool parse_random(Parser *p, TileId *out_result) {
    Ids ids = {0};
    int64_t stream;
    if (!parse_values(p, &ids)) return false;
    if (ids.count != 2) return wrong_count(p, ids.count, "operands", 2);
    if (!parse_want(p, "stream") || !parse_want(p, "=") ||
        !parse_int(p, INT64_MIN, INT64_MAX, &stream))
        return false;
    *out_result = tile_random(&p->b, ids.data[0], ids.data[1], stream);
    return true;
}

static bool parse_check(Parser *p, TileId *out_result) {
    TileId value;
    const Dim *bound;
    Guards guards = {0};
    if (!parse_value(p, &value) || !parse_one(p, "bound", NULL, &bound) ||
        !parse_where(p, tile_value_type(p->program, value), &guards))
        return false;
    *out_result = tile_check(&p->b, value, bound, guards.data, (uint32_t)guards.count);
    return true;
}

/* exp %1; select %1, %2, %3; cast f32 %1 */
static bool parse_map(Parser *p, Op op, TileId *out_result) {
    DType to = DT_f32;
    Ids ids = {0};
    if ((op == OP_cast && !parse_dtype(p, &to)) || !parse_values(p, &ids)) return false;
    uint32_t want = (uint32_t)op_info(op)->operand_count;
    if (ids.count != want) return wrong_count(p, ids.count, "operands", want);
    *out_result =
        op == OP_cast ? tile_cast(&p->b, ids.data[0], to) : tile_map(&p->b, op, ids.data, want);
    if (op == OP_exp) last_instr(p)->nonpositive = parse_take(p, "nonpositive");
    return true;
}

static const struct {
    const char *name;
    ParseOp *parse;
    uint32_t results;
} op_parsers[] = {
    {"load", parse_load, 1},     {"store", parse_store, 0},         {"const", parse_const, 1},
    {"index", parse_index, 1},   {"test", parse_test, 1},           {"move", parse_move, 1},
    {"reduce", parse_reduce, 1}, {"scan", parse_scan, 1},           {"dot", parse_dot, 1},
    {"sort", parse_sort, 0},     {"random", parse_random, 1},       {"check", parse_check, 1},
    {"mma", parse_mma, 1},       {"mma_store", parse_mma_store, 0}, {"prefetch", parse_prefetch, 0},
    {"dot4", parse_dot4, 1},
};

/* ---- blocks ---------------------------------------------------------------------------------- */

static void note_place(Parser *p, const TileInstr *instr, Loc loc) {
    vec_push(p->arena, &p->places, (Place){.instr = instr, .loc = loc});
}

static bool define_results(Parser *p, const Numbers *results, TileId first, uint32_t count) {
    if (results->count != count) return wrong_count(p, results->count, "results", count);
    for (uint32_t i = 0; i < count; i++) {
        if (!define_value(p, results->data[i], first + i)) return false;
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
    if (yields.count != count) return wrong_count(p, yields.count, "yielded values", count);
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
        return wrong_count(p, otherwise.count, "values of the other block", then.count);
    TileId first = tile_end_if(&p->b, branch, otherwise.values, then.count);
    return define_results(p, results, first, then.count);
}

static bool parse_simple(Parser *p, const Numbers *results, Loc loc) {
    TileId result = TILE_none;
    Op op;
    for (size_t i = 0; i < sizeof op_parsers / sizeof *op_parsers; i++) {
        if (!parse_take(p, op_parsers[i].name)) continue;
        if (!op_parsers[i].parse(p, &result)) return false;
        note_place(p, last_instr(p), loc);
        return define_results(p, results, result, op_parsers[i].results);
    }
    if (!parse_op(p, &op)) return false;
    if (!op_is_elementwise(op)) {
        p->at--;
        return parse_wrong(p, "an op of tile programs");
    }
    if (!parse_map(p, op, &result)) return false;
    note_place(p, last_instr(p), loc);
    return define_results(p, results, result, 1);
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
