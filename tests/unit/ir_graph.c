// Types and graphs: interning, hash-consing with its origins, copies.
#include "tests/unit/test.h"

#include "ir/graph.h"

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
} Fixture;

static Fixture setup(void) {
    Arena *arena = arena_new(NULL);
    return (Fixture){arena, ir_context_new(arena)};
}

static void teardown(Fixture f) {
    ir_context_free(f.ctx);
    arena_free(f.arena);
}

static const Type *parse_type(IrContext *ctx, const char *text) {
    Str rest = str_from(text);
    const Type *type = type_parse(ctx, &rest);
    return type && rest.size == 0 ? type : NULL;
}

static void check_type_text(Fixture f, const char *text) {
    Buf buf = {.arena = f.arena};
    const Type *type = parse_type(f.ctx, text);
    if (!CHECK(type != NULL)) return;
    buf_type(&buf, type);
    CHECK_STR(buf.data, text);
    CHECK(parse_type(f.ctx, buf.data) == type);
}

static void test_types(void) {
    Fixture f = setup();
    const Dim *n =
        dim_of_symbol(f.ctx, dim_new_symbol(f.ctx, SYMBOL_named, STR("N"), 1, 64, 8, NULL));
    check_type_text(f, "f32[]");
    check_type_text(f, "bf16[N, 2*N + 1, 3]");
    check_type_text(f, "(f32[N], i64[])");
    check_type_text(f, "()");
    static const char *const bad[] = {
        "",       "f32",    "f32[",     "f31[]",     "f32[N,]",
        "f32[M]", "(f32[]", "f32[N N]", "((f32[]))", "f32[1,1,1,1,1,1,1,1,1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!parse_type(f.ctx, bad[i]));
    const Type *type = parse_type(f.ctx, "i4[3, N]");
    CHECK(type_elements(f.ctx, type) == dim_scale(f.ctx, n, 3));
    CHECK(type_bytes(f.ctx, type) ==
          dim_ceildiv(f.ctx, dim_scale(f.ctx, n, 3), dim_const(f.ctx, 2)));
    CHECK(type_bytes(f.ctx, parse_type(f.ctx, "f64[5]")) == dim_const(f.ctx, 40));
    int64_t count;
    CHECK(!type_is_static(type, &count));
    CHECK(type_is_static(parse_type(f.ctx, "f32[5, 0]"), &count) && count == 0);
    CHECK(type_with_dtype(f.ctx, type, DT_f16) == parse_type(f.ctx, "f16[3, N]"));
    teardown(f);
}

static NodeId unary(Graph *g, Op op, NodeId x, const Origin *origin) {
    return graph_add(g, op, graph_type(g, x), &x, 1, NULL, NULL, 0, origin);
}

static void test_equal_nodes_are_one(void) {
    Fixture f = setup();
    Graph *g = graph_new(f.ctx, f.arena, STR("g"));
    const Type *type = parse_type(f.ctx, "f32[4]");
    NodeId x = graph_add_input(g, STR("x"), type, NULL);
    NodeId y = graph_add_input(g, STR("x"), type, NULL);
    CHECK(x != y);
    Origin outer = {.loc = {1, 9, 1, 1}}, first = {.loc = {1, 1, 1, 1}},
           second = {.loc = {1, 2, 1, 1}, .caller = &outer}, same = second;
    NodeId a = unary(g, OP_exp, x, &first);
    CHECK(unary(g, OP_exp, y, NULL) != a && unary(g, OP_log, x, NULL) != a);
    CHECK(unary(g, OP_exp, x, &second) == a && unary(g, OP_exp, x, &same) == a);
    const Origin *origin = graph_node(g, a)->origin;
    CHECK_INT(origin->loc.line, 1);
    CHECK_INT(origin->next->loc.line, 2);
    CHECK(origin->next->caller == &outer && !origin->next->next);
    // A dtype is half of an Attr: what the other half holds must not matter.
    Attr clean = {.bits = 0}, dirty = {.bits = ~0ULL};
    clean.dtype = dirty.dtype = DT_f16;
    const Type *half = parse_type(f.ctx, "f16[4]");
    NodeId cast = graph_add(g, OP_cast, half, &x, 1, (Attr[]){clean, {.i = 0}}, NULL, 0, NULL);
    CHECK(graph_add(g, OP_cast, half, &x, 1, (Attr[]){dirty, {.i = 0}}, NULL, 0, NULL) == cast);
    CHECK(graph_add(g, OP_cast, half, &x, 1, (Attr[]){clean, {.i = 1}}, NULL, 0, NULL) != cast);
    CHECK_INT(node_attr(graph_node(g, cast), "to").dtype, DT_f16);
    for (int i = 0; i < 1000; i++) a = unary(g, OP_neg, a, NULL);
    size_t count = g->nodes.count;
    a = unary(g, OP_exp, x, NULL);
    for (int i = 0; i < 1000; i++) a = unary(g, OP_neg, a, NULL);
    CHECK_INT(g->nodes.count, count);
    teardown(f);
}

static void test_uses_and_copies(void) {
    Fixture f = setup();
    Graph *g = graph_new(f.ctx, f.arena, STR("g"));
    const Type *type = parse_type(f.ctx, "f32[4]");
    NodeId x = graph_add_input(g, STR("x"), type, NULL), e = unary(g, OP_exp, x, NULL);
    NodeId dead = unary(g, OP_log, x, NULL);
    Graph *region = graph_new(f.ctx, f.arena, STR("body"));
    graph_add_output(region, STR(""), graph_add_input(region, STR(""), type, NULL));
    Attr names[] = {{.str = ir_string(f.ctx, STR("f"))}, {.str = ir_string(f.ctx, STR(""))}};
    const Graph *regions[] = {region};
    NodeId call = graph_add(g, OP_call, type, &e, 1, names, regions, 1, NULL);
    graph_add_output(g, STR("y"), call);
    graph_add_output(g, STR("z"), call);
    const Dim *four = dim_const(f.ctx, 4), *five = dim_const(f.ctx, 5);
    graph_add_check(g, CHECK_equal, four, five, NULL);
    graph_add_check(g, CHECK_equal, five, four, NULL);
    graph_add_check(g, CHECK_at_most, five, four, NULL);
    CHECK_INT(g->checks.count, 2);
    uint32_t *uses = graph_count_uses(g, f.arena);
    CHECK_INT(uses[x], 2);
    CHECK_INT(uses[call], 2);
    bool *live = graph_find_live(g, f.arena);
    CHECK(live[x] && live[e] && live[call] && !live[dead]);
    Arena *other = arena_new(NULL);
    Graph *copy = graph_copy(other, g);
    CHECK_INT(copy->nodes.count, g->nodes.count);
    CHECK_INT(copy->checks.count, 2);
    CHECK(graph_node(copy, call)->regions[0] != region);
    CHECK(graph_node(graph_copy(f.arena, g), call)->regions[0] == region);
    arena_free(other);
    teardown(f);
}

int main(void) {
    RUN(test_types);
    RUN(test_equal_nodes_are_one);
    RUN(test_uses_and_copies);
    return test_done();
}
