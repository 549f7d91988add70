// Regions, symbolic dims, tuples, and everything that makes an evaluation fail.
#include "base/guard.h"
#include "ir/eval.h"
#include "ir/infer.h"
#include "tests/unit/test.h"

typedef struct World {
    Arena *arena;
    IrContext *ctx;
    Buf heard;
    int64_t symbols[4];
    const char *message; // of the last evaluation
    EvalError error;
} World;

static void listen(void *user, const Diag *diag) {
    World *w = user;
    if (diag->severity == DIAG_error) buf_print(&w->heard, "%s;", diag->text);
}

static World world_new(void) {
    World w = {.arena = arena_new(NULL)};
    w.ctx = ir_context_new(w.arena);
    w.heard.arena = w.arena;
    return w;
}

static void world_free(World *w) {
    ir_context_free(w->ctx);
    arena_free(w->arena);
}

static const Type *type(const World *w, const char *text) {
    Str s = str_from(text);
    const Type *t = type_parse(w->ctx, &s);
    CHECK(t != NULL);
    return t;
}

static Graph *graph(const World *w) { return graph_new(w->ctx, w->arena, STR("g")); }

static NodeId input(Graph *g, const World *w, const char *text) {
    return graph_add_input(g, STR("x"), type(w, text), NULL);
}

static NodeId apply(World *w, Graph *g, Op op, const NodeId *args, uint32_t count,
                    const Attr *attrs, const Graph *const *regions, uint32_t region_count) {
    Diags *diags = diags_new(w->arena, listen, w, 0);
    return graph_build(g, diags, NULL, op, args, count, attrs, regions, region_count);
}

static NodeId unary(World *w, Graph *g, Op op, NodeId x) {
    return apply(w, g, op, &x, 1, NULL, NULL, 0);
}

static NodeId binary(World *w, Graph *g, Op op, NodeId x, NodeId y) {
    return apply(w, g, op, (NodeId[]){x, y}, 2, NULL, NULL, 0);
}

static NodeId item(World *w, Graph *g, NodeId tuple, int64_t index) {
    Attr attr = {.i = index};
    return apply(w, g, OP_item, &tuple, 1, &attr, NULL, 0);
}

static NodeId constant(const World *w, Graph *g, const char *text, const void *bytes, size_t size) {
    Attr attr = {.blob = ir_blob(w->ctx, bytes, size)};
    return graph_add(g, OP_const, type(w, text), NULL, 0, &attr, NULL, 0, NULL);
}

static NodeId number(const World *w, Graph *g, float value) {
    return constant(w, g, "f32[]", &value, sizeof value);
}

static void output(Graph *g, NodeId node) { graph_add_output(g, STR(""), node); }

static EvalValue value(DType dtype, uint32_t rank, int64_t dim, void *data) {
    return (EvalValue){.tensor = {dtype, rank, {dim}, data}};
}

static bool run(World *w, const Graph *g, const EvalValue *inputs, EvalValue *results) {
    EvalOptions options = {.bounds = true, .symbols = w->symbols};
    return eval_graph(g, inputs, &options, w->arena, results, &w->error, &w->message);
}

static double at(const EvalValue *v, int64_t i) { return tensor_get(&v->tensor, i); }

// ---- regions --------------------------------------------------------------------------------

// x -> op(x, x) as a region on f32[].
static Graph *doubling(World *w, Op op) {
    Graph *g = graph(w);
    NodeId x = input(g, w, "f32[]");
    output(g, binary(w, g, op, x, x));
    return g;
}

static void test_cond(void) {
    World w = world_new();
    const Graph *sides[2] = {doubling(&w, OP_add), doubling(&w, OP_mul)};
    Graph *g = graph(&w);
    NodeId args[2] = {input(g, &w, "bool[]"), input(g, &w, "f32[]")};
    output(g, apply(&w, g, OP_cond, args, 2, NULL, sides, 2));
    unsigned char choice = 1;
    float x = 5;
    EvalValue in[2] = {value(DT_bool, 0, 0, &choice), value(DT_f32, 0, 0, &x)}, out;
    CHECK(run(&w, g, in, &out));
    CHECK_NEAR(at(&out, 0), 10, 0);
    CHECK_NEAR(out.bound[0], 0, 0);
    choice = 0;
    CHECK(run(&w, g, in, &out));
    CHECK_NEAR(at(&out, 0), 25, 0);
    double doubt = (double)INFINITY; // an uncertain condition leaves nothing certain
    in[0].bound = &doubt;
    CHECK(run(&w, g, in, &out));
    CHECK(isinf(out.bound[0]));
    world_free(&w);
}

// loop(x, n): while n < 10, x = 2x, n = n + 1.
static NodeId powers(World *w, Graph *g, NodeId x, NodeId n, int64_t limit) {
    Graph *condition = graph(w), *body = graph(w);
    input(condition, w, "f32[]");
    NodeId m = input(condition, w, "f32[]");
    output(condition, binary(w, condition, OP_lt, m, number(w, condition, 10)));
    NodeId y = input(body, w, "f32[]"), k = input(body, w, "f32[]");
    output(body, binary(w, body, OP_add, y, y));
    output(body, binary(w, body, OP_add, k, number(w, body, 1)));
    const Graph *regions[2] = {condition, body};
    NodeId args[2] = {x, n};
    Attr attr = {.i = limit};
    return apply(w, g, OP_loop, args, 2, &attr, regions, 2);
}

static void test_loop(void) {
    World w = world_new();
    Graph *g = graph(&w);
    NodeId start = input(g, &w, "f32[]"), count = input(g, &w, "f32[]");
    NodeId loop = powers(&w, g, start, count, 8);
    output(g, item(&w, g, loop, 0));
    output(g, item(&w, g, loop, 1));
    float x = 3, n = 4;
    EvalValue in[2] = {value(DT_f32, 0, 0, &x), value(DT_f32, 0, 0, &n)}, out[2];
    CHECK(run(&w, g, in, out));
    CHECK_NEAR(at(&out[0], 0), 3 * 64, 0);
    CHECK_NEAR(at(&out[1], 0), 10, 0);
    n = 11; // no step at all
    CHECK(run(&w, g, in, out));
    CHECK_NEAR(at(&out[0], 0), 3, 0);
    n = 2; // exactly the limit
    CHECK(run(&w, g, in, out));
    CHECK_NEAR(at(&out[0], 0), 3 * 256, 0);
    n = 1; // one more
    CHECK(!run(&w, g, in, out));
    CHECK_STR(w.message, "a loop did not end after 8 steps");
    world_free(&w);
}

// scan(total; x, y): total' = total + x·y; gives total' and the running totals.
static Graph *dot_body(World *w) {
    Graph *g = graph(w);
    NodeId total = input(g, w, "f32[]"), x = input(g, w, "f32[]"), y = input(g, w, "f32[]");
    NodeId next = binary(w, g, OP_add, total, binary(w, g, OP_mul, x, y));
    output(g, next);
    output(g, next);
    output(g, unary(w, g, OP_neg, x));
    return g;
}

static void scan_case(int64_t steps, bool reverse, const float *want_totals) {
    World w = world_new();
    Graph *g = graph(&w);
    const Graph *body = dot_body(&w);
    dim_new_symbol(w.ctx, SYMBOL_named, STR("T"), 0, 100, 1, NULL);
    w.symbols[0] = steps;
    NodeId args[3] = {input(g, &w, "f32[]"), input(g, &w, "f32[T]"), input(g, &w, "f32[T]")};
    Attr attrs[2] = {{.i = 1}, {.i = reverse}};
    NodeId scan = apply(&w, g, OP_scan, args, 3, attrs, &body, 1);
    for (int64_t i = 0; i < 3; i++) output(g, item(&w, g, scan, i));
    CHECK(graph_type(g, scan) == type(&w, "(f32[], f32[T], f32[T])"));
    float first = 100, x[3] = {1, 2, 3}, y[3] = {1, 10, 100};
    EvalValue in[3] = {value(DT_f32, 0, 0, &first), value(DT_f32, 1, steps, x),
                       value(DT_f32, 1, steps, y)};
    EvalValue out[3];
    if (CHECK(run(&w, g, in, out))) {
        int64_t last = reverse ? 0 : steps - 1;
        CHECK_NEAR(at(&out[0], 0), steps ? (double)want_totals[last] : 100, 0);
        CHECK_INT(out[1].tensor.dims[0], steps);
        for (int64_t i = 0; i < steps; i++) {
            CHECK_NEAR(at(&out[1], i), (double)want_totals[i], 0);
            CHECK_NEAR(at(&out[2], i), (double)-x[i], 0);
        }
    }
    world_free(&w);
}

static void test_scan(void) {
    scan_case(3, false, (float[]){101, 121, 421});
    scan_case(3, true, (float[]){421, 420, 400});
    scan_case(0, false, NULL);
}

static void test_call_and_kernel(void) {
    World w = world_new();
    const Graph *body = doubling(&w, OP_mul), *again = doubling(&w, OP_mul);
    const Graph *alternatives[2] = {body, again};
    Graph *g = graph(&w);
    Attr attrs[OP_MAX_ATTRS];
    for (int i = 0; i < OP_MAX_ATTRS; i++) attrs[i].str = ir_string(w.ctx, STR("f"));
    NodeId x = input(g, &w, "f32[]");
    NodeId call = apply(&w, g, OP_call, &x, 1, attrs, &body, 1);
    output(g, apply(&w, g, OP_kernel, &call, 1, attrs, alternatives, 2));
    float v = 3;
    EvalValue in = value(DT_f32, 0, 0, &v), out;
    CHECK(run(&w, g, &in, &out));
    CHECK_NEAR(at(&out, 0), 81, 0);
    world_free(&w);
}

// ---- failures -------------------------------------------------------------------------------

static void test_refused_regions(void) {
    World w = world_new();
    const Graph *add = doubling(&w, OP_add);
    const Graph *both[2] = {add, add};
    Graph *other = graph(&w), *g = graph(&w);
    output(other, input(other, &w, "f32[2]"));
    const Graph *mixed[2] = {add, other};
    NodeId args[2] = {input(g, &w, "bool[]"), input(g, &w, "f32[2]")};
    CHECK(apply(&w, g, OP_cond, args, 2, NULL, both, 2) == NODE_none);
    CHECK(apply(&w, g, OP_cond, args, 2, NULL, mixed, 2) == NODE_none);
    CHECK(apply(&w, g, OP_cond, args, 2, NULL, both, 1) == NODE_none);
    CHECK(apply(&w, g, OP_cond, args + 1, 1, NULL, both, 2) == NODE_none);
    CHECK(apply(&w, g, OP_cond, args, 1, NULL, both, 2) == NODE_none);
    Attr attrs[2] = {{.i = 2}, {.i = 0}};
    CHECK(apply(&w, g, OP_scan, args, 2, attrs, both, 1) == NODE_none);
    attrs[0].i = 0;
    CHECK(apply(&w, g, OP_scan, args, 1, attrs, both, 1) == NODE_none);
    CHECK_STR(buf_str(&w.heard).data, "value 1 of a block of cond is f32[], not f32[2];"
                                      "value 1 of a block of cond is f32[], not f32[2];"
                                      "cond has 1 blocks, not 2;"
                                      "the condition of cond is f32[2], not bool;"
                                      "a block of cond takes 1 values, not 0;"
                                      "scan carries 2 of 2 values; at least one must be a sequence;"
                                      "scan needs at least 1 axes, bool[] has too few;");
    world_free(&w);
}

// Checks inside a region become checks of the graph around it.
static void test_lifted_checks(void) {
    World w = world_new();
    dim_new_symbol(w.ctx, SYMBOL_named, STR("N"), 1, 9, 1, NULL);
    dim_new_symbol(w.ctx, SYMBOL_named, STR("M"), 1, 9, 1, NULL);
    Graph *body = graph(&w), *g = graph(&w);
    NodeId n = input(body, &w, "f32[N]"), m = input(body, &w, "f32[M]");
    output(body, binary(&w, body, OP_add, n, m));
    const Graph *region = body;
    NodeId args[2] = {input(g, &w, "f32[N]"), input(g, &w, "f32[M]")};
    Attr attrs[2] = {{.str = ir_string(w.ctx, STR("f"))}, {.str = ir_string(w.ctx, STR(""))}};
    output(g, apply(&w, g, OP_call, args, 2, attrs, &region, 1));
    CHECK_INT(g->checks.count, 1);
    float data[3] = {1, 2, 3};
    EvalValue in[2] = {value(DT_f32, 1, 3, data), value(DT_f32, 1, 3, data)}, out;
    w.symbols[0] = w.symbols[1] = 3;
    CHECK(run(&w, g, in, &out));
    CHECK_NEAR(at(&out, 2), 6, 0);
    w.symbols[1] = 2;
    in[1].tensor.dims[0] = 2;
    CHECK(!run(&w, g, in, &out));
    CHECK_STR(w.message, "N must be equal to M, but they are 3 and 2");
    in[1].tensor.dims[0] = 3;
    CHECK(!run(&w, g, in, &out));
    CHECK_STR(w.message, "input 1 is not of type f32[M]");
    world_free(&w);
}

static void test_failures(void) {
    World w = world_new();
    Graph *g = graph(&w);
    Attr attrs[2] = {{.str = ir_string(w.ctx, STR("fc.weight"))}, {.blob = NULL}};
    output(g, graph_add(g, OP_param, type(&w, "f32[2]"), NULL, 0, attrs, NULL, 0, NULL));
    EvalValue out;
    CHECK(!run(&w, g, NULL, &out));
    CHECK_STR(w.message, "parameter fc.weight has no value");

    Graph *large = graph(&w);
    Attr iota = {.i = 0};
    output(large, graph_add(large, OP_iota, type(&w, "f32[100]"), NULL, 0, &iota, NULL, 0, NULL));
    EvalOptions options = {.element_limit = 99};
    CHECK(!eval_graph(large, NULL, &options, w.arena, &out, &w.error, &w.message));
    CHECK_STR(w.message, "a result of iota has 100 elements, more than the limit of 99");
    options.element_limit = 100;
    CHECK(eval_graph(large, NULL, &options, w.arena, &out, &w.error, &w.message));
    CHECK(out.bound == NULL);

    dim_new_symbol(w.ctx, SYMBOL_named, STR("N"), 1, 9, 1, NULL);
    Graph *symbolic = graph(&w);
    output(symbolic, input(symbolic, &w, "f32[N]"));
    float data = 0;
    EvalValue in = value(DT_f32, 1, 1, &data);
    CHECK(!eval_graph(symbolic, &in, &options, w.arena, &out, &w.error, &w.message));
    CHECK_STR(w.message, "dim N has no value");
    world_free(&w);
}

// An index error inside a region is reported at the op around it.
static void test_index_error_in_region(void) {
    World w = world_new();
    Graph *body = graph(&w), *g = graph(&w);
    NodeId operands[2] = {input(body, &w, "f32[3]"), input(body, &w, "i64[]")};
    Attr gather[2] = {{.i = 0}, {.i = 0}};
    output(body, apply(&w, body, OP_gather, operands, 2, gather, NULL, 0));
    const Graph *region = body;
    Attr names[2] = {{.str = ir_string(w.ctx, STR("f"))}, {.str = ir_string(w.ctx, STR(""))}};
    NodeId args[2] = {input(g, &w, "f32[3]"), input(g, &w, "i64[]")};
    NodeId call = apply(&w, g, OP_call, args, 2, names, &region, 1);
    output(g, call);
    float data[3] = {1, 2, 3};
    int64_t index = -4;
    EvalValue in[2] = {value(DT_f32, 1, 3, data), value(DT_i64, 0, 0, &index)}, out;
    CHECK(run(&w, g, in, &out));
    CHECK(w.error.failed);
    CHECK_INT(w.error.node, call);
    CHECK_INT(w.error.index, -4);
    CHECK_INT(w.error.bound, 3);
    CHECK_NEAR(at(&out, 0), 1, 0);
    index = -3;
    CHECK(run(&w, g, in, &out));
    CHECK(!w.error.failed);
    world_free(&w);
}

// ---- dims, tuples, single nodes -------------------------------------------------------------

static void test_symbolic_dims(void) {
    World w = world_new();
    const DimSymbol *symbol = dim_new_symbol(w.ctx, SYMBOL_named, STR("N"), 2, 9, 2, NULL);
    const Dim *n = dim_of_symbol(w.ctx, symbol), *one = dim_const(w.ctx, 1);
    const Dim *start = dim_offset(w.ctx, n, -2);
    Graph *g = graph(&w);
    NodeId x = input(g, &w, "f32[N]");
    int64_t step = 1;
    Attr slice[3] = {{.dims = ir_dims(w.ctx, &start, 1)},
                     {.dims = ir_dims(w.ctx, &n, 1)},
                     {.ints = ir_ints(w.ctx, &step, 1)}};
    NodeId tail = apply(&w, g, OP_slice, &x, 1, slice, NULL, 0);
    Attr pad[2] = {{.dims = ir_dims(w.ctx, &one, 1)}, {.dims = ir_dims(w.ctx, &n, 1)}};
    NodeId padding[2] = {tail, number(&w, g, 9)};
    output(g, apply(&w, g, OP_pad, padding, 2, pad, NULL, 0));
    Attr value_of = {.dim = dim_scale(w.ctx, n, 3)};
    output(g, apply(&w, g, OP_dim, NULL, 0, &value_of, NULL, 0));
    CHECK(graph_type(g, tail) == type(&w, "f32[2]"));
    float data[5] = {1, 2, 3, 4, 5};
    const double want[8] = {9, 4, 5, 9, 9, 9, 9, 9};
    EvalValue in = value(DT_f32, 1, 5, data), out[2];
    w.symbols[0] = 5;
    CHECK(run(&w, g, &in, out));
    CHECK_INT(out[0].tensor.dims[0], 8);
    for (int64_t i = 0; i < 8; i++) CHECK_NEAR(at(&out[0], i), want[i], 0);
    CHECK_INT(tensor_get_int(&out[1].tensor, 0), 15);
    world_free(&w);
}

static void test_single_nodes(void) {
    World w = world_new();
    Graph *g = graph(&w);
    NodeId x = input(g, &w, "f32[3]");
    Attr attrs[2] = {{.i = 0}, {.i = 1}};
    NodeId sort = apply(&w, g, OP_sort, &x, 1, attrs, NULL, 0), second = item(&w, g, sort, 1);
    float data[3] = {1, 3, 2};
    EvalValue in = value(DT_f32, 1, 3, data), both[2], picked;
    EvalOptions options = {0};
    CHECK(eval_node(g, sort, &in, &options, w.arena, both, &w.error, &w.message));
    CHECK_NEAR(at(&both[0], 0), 3, 0);
    CHECK(eval_node(g, second, both, &options, w.arena, &picked, &w.error, &w.message));
    CHECK_INT(tensor_get_int(&picked.tensor, 0), 1);
    world_free(&w);
}

// A node used twice, an output used again, an input that is an output, a dead node with a fault.
static void test_lifetimes(void) {
    World w = world_new();
    Graph *g = graph(&w);
    NodeId x = input(g, &w, "f32[2]");
    NodeId y = binary(&w, g, OP_add, x, x), z = binary(&w, g, OP_mul, y, y);
    Attr dead[2] = {{.str = ir_string(w.ctx, STR("p"))}, {.blob = NULL}};
    graph_add(g, OP_param, type(&w, "f32[2]"), NULL, 0, dead, NULL, 0, NULL);
    output(g, y);
    output(g, x);
    output(g, z);
    output(g, y);
    float data[2] = {1, 2};
    EvalValue in = value(DT_f32, 1, 2, data), out[4];
    CHECK(run(&w, g, &in, out));
    data[1] = 50; // results are the caller's own
    CHECK_NEAR(at(&out[0], 1), 4, 0);
    CHECK_NEAR(at(&out[1], 1), 2, 0);
    CHECK_NEAR(at(&out[2], 1), 16, 0);
    CHECK_NEAR(at(&out[3], 1), 4, 0);
    world_free(&w);
}

#if defined(__SANITIZE_ADDRESS__)
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
#endif

// Running out of memory in the middle, inside a region, leaves through the guard and frees all
// intermediate values (the leak check of the sanitizer looks).
static void test_out_of_memory(void) {
    World w = world_new();
    Graph *body = graph(&w), *g = graph(&w);
    NodeId x = input(body, &w, "f32[4]"), y = binary(&w, body, OP_add, x, x);
    const Dim *dims[2] = {dim_const(w.ctx, INT64_C(1) << 50), dim_const(w.ctx, 4)};
    int64_t axis = 1;
    Attr attrs[2] = {{.dims = ir_dims(w.ctx, dims, 2)}, {.ints = ir_ints(w.ctx, &axis, 1)}};
    output(body, apply(&w, body, OP_broadcast, &y, 1, attrs, NULL, 0));
    const Graph *region = body;
    Attr names[2] = {{.str = ir_string(w.ctx, STR("f"))}, {.str = ir_string(w.ctx, STR(""))}};
    NodeId arg = input(g, &w, "f32[4]"), z = unary(&w, g, OP_neg, arg);
    output(g, apply(&w, g, OP_call, &z, 1, names, &region, 1));
    float data[4] = {1, 2, 3, 4};
    EvalValue in = value(DT_f32, 1, 4, data), out;
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        CHECK(run(&w, g, &in, &out) && !"there is so much memory");
    }
    guard_leave(&guard);
    CHECK_INT(guard.kind, GUARD_memory);
    world_free(&w);
}

int main(void) {
    RUN(test_out_of_memory);
    RUN(test_cond);
    RUN(test_loop);
    RUN(test_scan);
    RUN(test_call_and_kernel);
    RUN(test_refused_regions);
    RUN(test_lifted_checks);
    RUN(test_failures);
    RUN(test_index_error_in_region);
    RUN(test_symbolic_dims);
    RUN(test_single_nodes);
    RUN(test_lifetimes);
    return test_done();
}
