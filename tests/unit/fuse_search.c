// What the search decides and says: reasons for each edge, limits for bisection, results that are
// leaves, values that several kernels need, groups that would need themselves.
#include "codegen/skeleton/skeleton.h"
#include "ir/build.h"
#include "tests/support/fuse_check.h"
#include "tests/support/op_cases.h"
#include "tests/unit/test.h"

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    FuseResult result;
} Fixture;

static Fixture setup(void) {
    Fixture f = {.arena = arena_new(NULL)};
    f.ctx = ir_context_new(f.arena);
    f.graph = graph_new(f.ctx, f.arena, STR("test"));
    return f;
}

static void teardown(Fixture *f) {
    ir_context_free(f->ctx);
    arena_free(f->arena);
}

static NodeId input(Fixture *f, int64_t rows, int64_t columns) {
    const Dim *dims[] = {dim_const(f->ctx, rows), dim_const(f->ctx, columns)};
    return graph_add_input(f->graph, STR("x"), type_tensor(f->ctx, DT_f32, 2, dims), NULL);
}

// Fuses and checks the graph; how many kernels it becomes.
static uint32_t fuse(Fixture *f) {
    EvalValue *inputs = NEW_ARRAY(f->arena, EvalValue, f->graph->inputs.count);
    int64_t *symbols = NEW_ARRAY(f->arena, int64_t, 4096);
    for (size_t i = 0; i < f->graph->inputs.count; i++)
        op_case_tensor(f->arena, graph_type(f->graph, f->graph->inputs.data[i]), symbols, i + 1, 0,
                       &inputs[i].tensor);
    FuseCheck check = {.ctx = f->ctx,
                       .graph = f->graph,
                       .symbols = symbols,
                       .inputs = inputs,
                       .kernels = FUSE_kernels_interpreted};
    const char *fault = fuse_check(&check, f->arena, &f->result);
    if (!CHECK(fault == NULL)) printf("    %.2000s\n", fault);
    return f->result.kernels;
}

static const Remark *find_remark(const Fixture *f, const char *rule) {
    for (size_t i = 0; i < f->result.remarks.count; i++)
        if (strcmp(f->result.remarks.data[i].rule, rule) == 0) return &f->result.remarks.data[i];
    return NULL;
}

static NodeId matmul(Fixture *f, NodeId a, NodeId b) {
    int64_t x[] = {0, 1}, y[] = {1, 2}, out[] = {0, 2};
    Attr attrs[] = {{.ints = ir_ints(f->ctx, x, 2)},
                    {.ints = ir_ints(f->ctx, y, 2)},
                    {.ints = ir_ints(f->ctx, out, 2)},
                    {.dtype = DT_f32}};
    return build_op(f->graph, OP_contract, (NodeId[]){a, b}, 2, attrs);
}

static void output(Fixture *f, NodeId id) { graph_add_output(f->graph, STR("y"), id); }

static void test_two_products_have_two_walks(void) {
    Fixture f = setup();
    NodeId h = matmul(&f, input(&f, 20, 30), input(&f, 30, 40));
    output(&f, matmul(&f, build_unary(f.graph, OP_tanh, h), input(&f, 40, 20)));
    CHECK_INT(fuse(&f), 2);
    const Remark *why = find_remark(&f, "fuse-two-walks");
    if (CHECK(why != NULL)) {
        CHECK_INT(why->kind, REMARK_missed);
        CHECK_STR(why->numbers[0].name, "bytes");
        CHECK(str_equal(why->text, STR("contract and contract accumulate in loop nests of their "
                                       "own, and a kernel has one")));
        CHECK(str_starts_with(why->advice, STR("write one of the two without")));
        CHECK_NEAR(why->numbers[0].value, 20 * 40 * 4, 0);
    }
    teardown(&f);
}

// exp is dear and two kernels with walks of their own need it: it is stored once.
static void test_dear_values_are_stored(void) {
    Fixture f = setup();
    NodeId e = build_unary(f.graph, OP_exp, input(&f, 300, 300));
    output(&f, matmul(&f, e, input(&f, 300, 40)));
    output(&f, matmul(&f, e, input(&f, 300, 50)));
    CHECK_INT(fuse(&f), 3);
    teardown(&f);
}

// A relu is computed where it is needed, by both reductions that no kernel can hold together.
static void test_cheap_values_are_repeated(void) {
    Fixture f = setup();
    NodeId x = input(&f, 300, 300);
    NodeId r = build_binary(f.graph, OP_max, x, build_fill(f.graph, graph_type(f.graph, x), 0));
    output(&f, build_reduce(f.graph, OP_reduce_sum, r, (int64_t[]){0}, 1));
    output(&f, build_reduce(f.graph, OP_reduce_sum, r, (int64_t[]){1}, 1));
    CHECK_INT(fuse(&f), 2);
    CHECK(find_remark(&f, "fuse-dear-to-repeat") == NULL);
    teardown(&f);
}

static void test_results_that_are_used(void) {
    Fixture f = setup();
    NodeId x = input(&f, 40, 50), e = build_unary(f.graph, OP_exp, x);
    output(&f, e);
    output(&f, build_unary(f.graph, OP_neg, e));
    CHECK_INT(fuse(&f), 1);
    teardown(&f);
}

static void test_leaves_that_are_results(void) {
    Fixture f = setup();
    NodeId x = input(&f, 4, 5);
    output(&f, x);
    output(&f, build_scalar(f.graph, DT_f32, 2.5));
    output(&f, build_iota(f.graph, graph_type(f.graph, x), 1));
    output(&f, build_fill(f.graph, graph_type(f.graph, x), 1));
    CHECK_INT(fuse(&f), 4);
    teardown(&f);
}

// s = Σ of rows and the product need each other's group if both were drawn together:
// q = (x·w) + Σ x over columns of p, p = x + (y·w).
static void test_kernels_do_not_need_themselves(void) {
    Fixture f = setup();
    NodeId w = input(&f, 30, 30), a = matmul(&f, input(&f, 30, 30), w);
    NodeId b = matmul(&f, input(&f, 30, 30), w);
    NodeId p = build_binary(f.graph, OP_add, a, build_unary(f.graph, OP_neg, b));
    NodeId q = build_binary(f.graph, OP_mul, b, build_unary(f.graph, OP_abs, a));
    output(&f, p);
    output(&f, q);
    output(&f, build_binary(f.graph, OP_add, p, q));
    CHECK(fuse(&f) <= 4);
    teardown(&f);
}

// Values that doubling makes exponentially many of are not followed for ever.
static void test_doubling_ends(void) {
    Fixture f = setup();
    NodeId x = input(&f, 1, 4096);
    const Dim *zero = dim_const(f.ctx, 0), *one = dim_const(f.ctx, 1);
    for (int64_t step = 1; step < 4096; step *= 2) {
        const Dim *start[] = {zero, zero}, *limit[] = {one, dim_const(f.ctx, 4096 - step)};
        const Dim *lo[] = {zero, dim_const(f.ctx, step)}, *hi[] = {zero, zero};
        NodeId part = build_slice(f.graph, x, start, limit, (int64_t[]){1, 1});
        NodeId moved = build_pad(f.graph, part, build_scalar(f.graph, DT_f32, 0), lo, hi);
        x = build_binary(f.graph, OP_add, x, moved);
    }
    output(&f, x);
    uint32_t kernels = fuse(&f);
    CHECK(kernels > 1 && kernels <= 12);
    teardown(&f);
}

// ---- how often codegen is asked

typedef struct Counter {
    CostModel inner;
    uint32_t calls;
} Counter;

static bool count_legal(void *self, const Graph *region, Str skeleton, Str strategy,
                        const Target *target, Arena *arena, const char **out_why) {
    Counter *counter = self;
    counter->calls++;
    return counter->inner.legal(counter->inner.self, region, skeleton, strategy, target, arena,
                                out_why);
}

// tanh(x · w + x), divided by the sum of its row
static NodeId add_block(Fixture *f, NodeId x) {
    const Type *type = graph_type(f->graph, x);
    NodeId y = build_binary(f->graph, OP_add, matmul(f, x, input(f, 40, 40)), x);
    y = build_unary(f->graph, OP_tanh, y);
    NodeId sum = build_reduce(f->graph, OP_reduce_sum, y, (int64_t[]){1}, 1);
    sum = build_broadcast(f->graph, sum, type->dims, 2, (int64_t[]){0});
    return build_binary(f->graph, OP_div, y, sum);
}

static uint32_t count_calls(uint32_t blocks, uint32_t *out_kernels) {
    Fixture f = setup();
    NodeId x = input(&f, 20, 40);
    for (uint32_t i = 0; i < blocks; i++) x = add_block(&f, x);
    output(&f, x);
    Counter counter = {.inner = skeleton_cost_model(f.ctx)};
    CostModel cost = {.self = &counter, .legal = count_legal};
    PassContext ctx = {.ir = f.ctx, .arena = f.arena, .cost = &cost};
    ctx.diags = diags_new(f.arena, NULL, NULL, 0);
    ctx.target = target_find(STR("x86-64-v3"));
    ctx.options = (PassOptions){.level = 2, .rewrite_limit = -1, .passes = STR("fuse")};
    PassResult result;
    CHECK(passes_run(&ctx, f.arena, f.graph, &result));
    *out_kernels = 0;
    for (NodeId id = 0; id < result.graph->nodes.count; id++)
        *out_kernels += graph_node(result.graph, id)->op == OP_kernel;
    teardown(&f);
    return counter.calls;
}

static void test_equal_blocks_are_judged_once(void) {
    uint32_t few, many, calls = count_calls(3, &few);
    CHECK_INT(count_calls(60, &many), calls);
    CHECK_INT(few, 3);
    CHECK_INT(many, 60);
}

// The first kernels alone are fused; the ops of the others are kernels each.
static void test_limit_of_fusion(void) {
    Fixture f = setup();
    NodeId x = input(&f, 20, 40);
    for (int i = 0; i < 4; i++) x = add_block(&f, x);
    output(&f, x);
    CostModel cost = skeleton_cost_model(f.ctx);
    for (int64_t limit = 0; limit <= 5; limit++) {
        PassContext ctx = {.ir = f.ctx, .arena = f.arena, .cost = &cost};
        ctx.diags = diags_new(f.arena, NULL, NULL, 0);
        ctx.target = target_find(STR("x86-64-v3"));
        ctx.options = (PassOptions){.level = 2, .rewrite_limit = limit, .passes = STR("fuse")};
        PassResult result;
        CHECK(passes_run(&ctx, f.arena, f.graph, &result));
        uint32_t fused = 0;
        for (NodeId id = 0; id < result.graph->nodes.count; id++) {
            const Node *node = graph_node(result.graph, id);
            uint32_t ops = 0;
            for (NodeId n = 0; node->op == OP_kernel && n < node->regions[0]->nodes.count; n++)
                ops += graph_node(node->regions[0], n)->op != OP_input;
            fused += ops > 1;
        }
        CHECK_INT(fused, limit < 4 ? limit : 4);
    }
    teardown(&f);
}

int main(void) {
    RUN(test_two_products_have_two_walks);
    RUN(test_dear_values_are_stored);
    RUN(test_cheap_values_are_repeated);
    RUN(test_results_that_are_used);
    RUN(test_leaves_that_are_results);
    RUN(test_kernels_do_not_need_themselves);
    RUN(test_doubling_ends);
    RUN(test_equal_blocks_are_judged_once);
    RUN(test_limit_of_fusion);
    return test_done();
}
