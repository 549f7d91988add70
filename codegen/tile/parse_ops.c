/* Reading tile programs: instructions without blocks, each by what follows its name. Operand
 * counts and whatever else would crash the building are checked here; the rest is the verifier's,
 * which runs on what was read. */
#include "codegen/tile/parse.h"
#include "codegen/tile/walk.h"

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
    return op_parse(token->text, out_op) || parse_unknown(p, token);
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
    if (count != rank) return parse_wrong_count(p, count, "axes", rank);
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
    if (ids.count != 3) return parse_wrong_count(p, ids.count, "operands", 3);
    *out_result = tile_dot(&p->b, ids.data[0], ids.data[1], ids.data[2]);
    return true;
}

static bool parse_dot4(Parser *p, TileId *out_result) {
    Ids ids = {0};
    if (!parse_values(p, &ids)) return false;
    if (ids.count != 3) return parse_wrong_count(p, ids.count, "operands", 3);
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
    if (ids.count != 2) return parse_wrong_count(p, ids.count, "operands", 2);
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
    if (ids.count != want) return parse_wrong_count(p, ids.count, "operands", want);
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

bool parse_operation(Parser *p, TileId *out_result, uint32_t *out_count) {
    Op op;
    for (size_t i = 0; i < sizeof op_parsers / sizeof *op_parsers; i++) {
        if (!parse_take(p, op_parsers[i].name)) continue;
        *out_count = op_parsers[i].results;
        return op_parsers[i].parse(p, out_result);
    }
    *out_count = 1;
    if (!parse_op(p, &op)) return false;
    if (op_is_elementwise(op)) return parse_map(p, op, out_result);
    p->at--;
    return parse_wrong(p, "an op of tile programs");
}
