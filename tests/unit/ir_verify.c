// The verifier on graphs that no inference would make, and the op reference.
#include "tests/unit/test.h"

#include "ir/build.h"
#include "ir/reference.h"
#include "ir/verify.h"

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
    Graph *g;
    const Type *type; // f32[4]
    NodeId x;
} Fixture;

static Fixture setup(void) {
    Fixture f = {.arena = arena_new(NULL)};
    f.ctx = ir_context_new(f.arena);
    f.g = graph_new(f.ctx, f.arena, STR("g"));
    f.type = type_tensor(f.ctx, DT_f32, 1, (const Dim *[]){dim_const(f.ctx, 4)});
    f.x = graph_add_input(f.g, STR("x"), f.type, NULL);
    return f;
}

// The verifier's words must hold `want`; "" means that all is well.
static void check_fault(Fixture f, const char *want) {
    const char *fault = graph_verify(f.g, f.arena);
    bool good = want[0] ? fault && strstr(fault, want) : !fault;
    if (!CHECK(good)) printf("    got %s, want %s\n", fault ? fault : "nothing", want);
    arena_free(f.arena);
}

static NodeId add(Fixture f, Op op, const Type *type, const NodeId *args, uint32_t count,
                  const Attr *attrs) {
    return graph_add(f.g, op, type, args, count, attrs, NULL, 0, NULL);
}

static void test_good(void) {
    Fixture f = setup();
    graph_add_output(f.g, STR("y"), build_unary(f.g, OP_exp, f.x));
    check_fault(f, "");
}

static void test_types(void) {
    Fixture f = setup();
    add(f, OP_exp, type_scalar(f.ctx, DT_f32), &f.x, 1, NULL);
    check_fault(f, "%1 = exp %0 : f32[]: inference gives f32[4]");
    f = setup();
    add(f, OP_add, f.type, &f.x, 1, NULL);
    check_fault(f, "add takes 2 operands, not 1");
    f = setup();
    add(f, OP_not, f.type, &f.x, 1, NULL);
    check_fault(f, "not does not take values of f32");
    f = setup();
    const Dim *big = dim_const(f.ctx, INT64_C(1) << 60);
    const Dim *over[] = {dim_mul(f.ctx, big, big)};
    add(f, OP_param, type_tensor(f.ctx, DT_f32, 1, over), NULL, 0,
        (Attr[]){{.str = ir_string(f.ctx, STR("w"))}, {.blob = NULL}});
    check_fault(f, "a dim of its type overflows");
}

static void test_attrs(void) {
    Fixture f = setup();
    add(f, OP_reduce_sum, type_scalar(f.ctx, DT_f32), &f.x, 1,
        (Attr[]){{.ints = ir_ints(f.ctx, (int64_t[]){1}, 1)}, {.dtype = DT_f32}});
    check_fault(f, "axis 1");
    f = setup();
    add(f, OP_reshape, f.type, &f.x, 1, (Attr[]){{.dims = NULL}});
    check_fault(f, "an attribute is missing");
    f = setup();
    add(f, OP_const, f.type, NULL, 0, (Attr[]){{.blob = ir_blob(f.ctx, "1234", 4)}});
    check_fault(f, "the value has not the bytes that the type needs");
    f = setup();
    add(f, OP_iota, f.type, NULL, 0, (Attr[]){{.i = 1}});
    check_fault(f, "axis is no axis of the type");
    f = setup();
    add(f, OP_iota, f.type, &f.x, 1, (Attr[]){{.i = 0}});
    check_fault(f, "a leaf takes no operands");
}

// An input that was not added as one is no input.
static void test_inputs(void) {
    Fixture f = setup();
    add(f, OP_input, f.type, NULL, 0, (Attr[]){{.i = 1}, {.str = ir_string(f.ctx, STR("z"))}});
    check_fault(f, "its index is not that of an input");
}

static Graph *body(Fixture f, const Type *type, Op op) {
    Graph *region = graph_new(f.ctx, f.arena, STR("body"));
    NodeId x = graph_add_input(region, STR(""), type, NULL);
    graph_add_output(region, STR(""), graph_add(region, op, type, &x, 1, NULL, NULL, 0, NULL));
    return region;
}

static void test_regions(void) {
    Attr attrs[] = {{.bits = 0}, {.bits = 0}};
    for (int wrong = 0; wrong < 4; wrong++) {
        Fixture f = setup();
        const Type *inside = wrong == 1 ? type_scalar(f.ctx, DT_f32) : f.type;
        const Graph *regions[] = {body(f, inside, wrong == 2 ? OP_not : OP_exp)};
        attrs[0].str = attrs[1].str = ir_string(f.ctx, STR("f"));
        bool takes = wrong != 3;
        graph_add(f.g, takes ? OP_call : OP_exp, f.type, &f.x, 1, attrs, regions, 1, NULL);
        static const char *const faults[] = {"", "a block of call is f32[], not f32[4]",
                                             "not does not take values of f32",
                                             "the op takes no regions"};
        check_fault(f, faults[wrong]);
    }
}

// Verifying leaves the graph as it is, although inference notes the checks that it needs.
static void test_checks_are_not_added(void) {
    Fixture f = setup();
    const Dim *n[] = {
        dim_of_symbol(f.ctx, dim_new_symbol(f.ctx, SYMBOL_named, STR("N"), 0, 9, 4, NULL))};
    const Dim *m[] = {
        dim_of_symbol(f.ctx, dim_new_symbol(f.ctx, SYMBOL_named, STR("M"), 0, 9, 4, NULL))};
    NodeId a = graph_add_input(f.g, STR("a"), type_tensor(f.ctx, DT_f32, 1, n), NULL);
    NodeId b = graph_add_input(f.g, STR("b"), type_tensor(f.ctx, DT_f32, 1, m), NULL);
    NodeId sum = add(f, OP_add, graph_type(f.g, a), (NodeId[]){a, b}, 2, NULL);
    CHECK(!graph_verify(f.g, f.arena));
    CHECK_INT(f.g->checks.count, 0);
    CHECK(build_binary(f.g, OP_add, a, b) == sum);
    CHECK_INT(f.g->checks.count, 1);
    check_fault(f, "");
}

static void test_reference(void) {
    Arena *arena = arena_new(NULL);
    Buf buf = {.arena = arena};
    print_op_reference(&buf);
    for (unsigned i = OP_none + 1; i < OP_count; i++) {
        Str entry = str_format(arena, "\n* `%s(", op_info((Op)i)->name);
        CHECK(strstr(buf.data, entry.data) != NULL);
    }
    CHECK(strstr(buf.data,
                 "* `conv(2 operands; strides: ints, dilations: ints, lo: ints, hi: ints, "
                 "groups: int, dtype: dtype)` = `Σ x·w`\n") != NULL);
    CHECK(strstr(buf.data, "dtypes: numbers; by add; fallible\n") != NULL);
    CHECK(strstr(buf.data, "dtypes: floats; 4 ulp\n") != NULL);
    arena_free(arena);
}

int main(void) {
    RUN(test_good);
    RUN(test_types);
    RUN(test_attrs);
    RUN(test_inputs);
    RUN(test_regions);
    RUN(test_checks_are_not_added);
    RUN(test_reference);
    return test_done();
}
