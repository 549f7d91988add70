// Results that overflow 8 or 16 bits but not f32: what the evaluator's tolerance says of them, and
// what it gives where they stay f32 as long as they may (docs/numerics.md, "Excess precision").
#include "tests/unit/test.h"

#include "ir/build.h"
#include "ir/eval.h"
#include "ir/excess.h"

typedef struct World {
    Arena *arena;
    IrContext *ctx;
    Graph *g;
    NodeId x; // 301, whose square f16 does not hold
} World;

static World setup(DType dtype) {
    World w = {.arena = arena_new(NULL)};
    w.ctx = ir_context_new(w.arena);
    w.g = graph_new(w.ctx, w.arena, STR("g"));
    w.x = graph_add_input(w.g, STR("x"), type_scalar(w.ctx, dtype), NULL);
    return w;
}

static void teardown(World *w) {
    ir_context_free(w->ctx);
    arena_free(w->arena);
}

static NodeId cast(const World *w, NodeId x, DType to, int64_t is_users) {
    return build_op(w->g, OP_cast, &x, 1, (Attr[]){{.dtype = to}, {.i = is_users}});
}

static void give(const World *w, NodeId y) { graph_add_output(w->g, STR("y"), y); }

// The values of the outputs, and their bounds; of the graph as it is or with excess precision.
typedef struct Got {
    double value[2], bound[2];
} Got;

static Got evaluate(const World *w, const Graph *graph, double x) {
    Got got = {{0}, {0}};
    EvalValue in = {.tensor = {.dtype = graph_type(graph, graph->inputs.data[0])->dtype}}, out[2];
    EvalOptions options = {.bounds = true};
    EvalError error;
    const char *message;
    uint64_t bits = 0;
    in.tensor.data = &bits;
    tensor_set(&in.tensor, 0, x);
    if (!CHECK(eval_graph(graph, &in, &options, w->arena, out, &error, &message))) return got;
    for (size_t i = 0; i < graph->outputs.count; i++) {
        got.value[i] = tensor_get(&out[i].tensor, 0);
        got.bound[i] = out[i].bound[0];
    }
    return got;
}

static Got rounded(const World *w, double x) { return evaluate(w, w->g, x); }
static Got kept(const World *w, double x) { return evaluate(w, excess_region(w->g, w->arena), x); }

static void check_got(Got got, int output, double value, double bound) {
    CHECK_NEAR(got.value[output], value, 0);
    CHECK_NEAR(got.bound[output], bound, 0);
}

static const double infinite = (double)INFINITY;

// x·x / x is infinite or x: no tolerance holds both.
static void test_overflow_inside(void) {
    World w = setup(DT_f16);
    NodeId square = build_binary(w.g, OP_mul, w.x, w.x);
    give(&w, build_binary(w.g, OP_div, square, w.x));
    check_got(rounded(&w, 301), 0, infinite, infinite);
    check_got(kept(&w, 301), 0, 301, 0);
    CHECK(isfinite(rounded(&w, 3).bound[0]));
    teardown(&w);
}

static void test_users_cast(void) {
    World w = setup(DT_f16);
    NodeId square = cast(&w, build_binary(w.g, OP_mul, w.x, w.x), DT_f16, 1);
    give(&w, build_binary(w.g, OP_div, square, w.x));
    check_got(kept(&w, 301), 0, infinite, 0);
    teardown(&w);
}

// What is stored is rounded, and its other uses read that.
static void test_stored(void) {
    World w = setup(DT_f16);
    NodeId square = build_binary(w.g, OP_mul, w.x, w.x);
    give(&w, square);
    give(&w, build_binary(w.g, OP_div, square, w.x));
    check_got(kept(&w, 301), 0, infinite, 0);
    check_got(kept(&w, 301), 1, infinite, 0);
    teardown(&w);
}

static void test_jumps(void) {
    World w = setup(DT_f16);
    NodeId square = build_binary(w.g, OP_mul, w.x, w.x);
    NodeId limit = build_scalar(w.g, DT_f16, 65504);
    give(&w, cast(&w, build_binary(w.g, OP_le, square, limit), DT_f32, 0));
    give(&w, build_unary(w.g, OP_floor, square));
    check_got(rounded(&w, 301), 0, 0, 0);
    check_got(rounded(&w, 301), 1, infinite, 0);
    check_got(kept(&w, 301), 0, 0, 0);
    check_got(kept(&w, 301), 1, infinite, 0);
    teardown(&w);
}

// f8e4m3 has no infinity: where one is not rounded it is kept.
static void test_saturation(void) {
    World w = setup(DT_f8e4m3);
    NodeId zero = build_scalar(w.g, DT_f8e4m3, 0);
    NodeId quotient = build_binary(w.g, OP_div, w.x, zero);
    give(&w, cast(&w, quotient, DT_f32, 1));
    check_got(rounded(&w, 2), 0, 448, infinite);
    check_got(kept(&w, 2), 0, infinite, 0);
    teardown(&w);
    w = setup(DT_f8e4m3);
    quotient = build_binary(w.g, OP_div, w.x, build_scalar(w.g, DT_f8e4m3, 0));
    give(&w, quotient);
    check_got(kept(&w, 2), 0, 448, 0);
    check_got(kept(&w, -2), 0, -448, 0);
    teardown(&w);
}

// Sums and movement keep f32 as well: 301² + 301² - 301² - 301².
static void test_sums(void) {
    World w = setup(DT_f16);
    const Dim *dims[] = {dim_const(w.ctx, 4)};
    NodeId square = build_binary(w.g, OP_mul, w.x, w.x), all[4];
    for (int i = 0; i < 4; i++) {
        NodeId one = i < 2 ? square : build_unary(w.g, OP_neg, square);
        all[i] = build_reshape(w.g, one, (const Dim *[]){dim_const(w.ctx, 1)}, 1);
    }
    NodeId row = build_op(w.g, OP_concat, all, 4, (Attr[]){{.i = 0}});
    row = build_op(w.g, OP_reverse, &row, 1, (Attr[]){{.ints = ir_ints(w.ctx, (int64_t[]){0}, 1)}});
    CHECK(graph_type(w.g, row) == type_tensor(w.ctx, DT_f16, 1, dims));
    give(&w, build_reduce(w.g, OP_reduce_sum, row, (int64_t[]){0}, 1));
    CHECK(isinf(rounded(&w, 301).bound[0]));
    Got got = kept(&w, 301);
    CHECK(isfinite(got.bound[0]) && fabs(got.value[0]) <= got.bound[0]);
    teardown(&w);
}

int main(void) {
    RUN(test_overflow_inside);
    RUN(test_users_cast);
    RUN(test_stored);
    RUN(test_jumps);
    RUN(test_saturation);
    RUN(test_sums);
    return test_done();
}
