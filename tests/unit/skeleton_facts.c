// What a region says of its values, and softmax with NaN, infinities and zeros in every row length.
#include "test.h"

#include "codegen/skeleton/facts.h"
#include "ir/build.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"

typedef struct Softmax {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    const Dim *dims[2];
    NodeId x, maximum, difference, power, sum, quotient;
} Softmax;

// The maximum comes back to the elements along `kept`: 0 where it belongs, 1 across a square.
static Softmax softmax_new(DType dtype, int64_t rows, int64_t length, int64_t kept) {
    Softmax s = {.arena = arena_new(NULL)};
    s.ctx = ir_context_new(s.arena);
    s.graph = graph_new(s.ctx, s.arena, STR("softmax"));
    Graph *g = s.graph;
    s.dims[0] = dim_const(s.ctx, rows), s.dims[1] = dim_const(s.ctx, length);
    const int64_t last = 1, first = 0;
    s.x = graph_add_input(g, STR("x"), type_tensor(s.ctx, dtype, 2, s.dims), NULL);
    s.maximum = build_reduce(g, OP_reduce_max, s.x, &last, 1);
    NodeId wide = build_broadcast(g, s.maximum, s.dims, 2, &kept);
    s.difference = build_binary(g, OP_sub, s.x, wide);
    s.power = build_unary(g, OP_exp, s.difference);
    s.sum = build_reduce(g, OP_reduce_sum, s.power, &last, 1);
    s.quotient = build_binary(g, OP_div, s.power, build_broadcast(g, s.sum, s.dims, 2, &first));
    return s;
}

static void softmax_free(Softmax *s) {
    ir_context_free(s->ctx);
    arena_free(s->arena);
}

typedef enum Shown {
    OUT_quotient,
    OUT_sum,
    OUT_logarithm,  // of the sum, in another shape
    OUT_maximum,    // which shows whether it is NaN
    OUT_difference, // which shows the sign of its zeros
    OUT_power,      // NaN at the NaN alone
    OUT_crossed,    // power over the sums of other rows
    OUT_count
} Shown;

static NodeId output_node(Softmax *s, Shown output) {
    Graph *g = s->graph;
    const int64_t crossed = 1;
    switch (output) {
    case OUT_quotient: return s->quotient;
    case OUT_sum: return s->sum;
    case OUT_logarithm: return build_reshape(g, build_unary(g, OP_log, s->sum), s->dims, 1);
    case OUT_maximum: return s->maximum;
    case OUT_difference: return s->difference;
    case OUT_power: return s->power;
    default:
        return build_binary(g, OP_div, s->power, build_broadcast(g, s->sum, s->dims, 2, &crossed));
    }
}

static void test_nan_returns(void) {
    for (Shown output = 0; output < OUT_count; output++) {
        Softmax s = softmax_new(DT_f32, 8, 8, 0);
        graph_add_output(s.graph, STR("q"), s.quotient);
        graph_add_output(s.graph, STR("y"), output_node(&s, output));
        CHECK(facts_nan_returns(s.graph, s.maximum, s.arena) == (output <= OUT_logarithm));
        CHECK(facts_nonpositive(s.graph, s.difference));
        CHECK(!facts_nonpositive(s.graph, s.power));
        softmax_free(&s);
    }
}

// x[i, j] - max x[j, :] may be anything.
static void test_crossed_maximum(void) {
    Softmax s = softmax_new(DT_f32, 8, 8, 1);
    graph_add_output(s.graph, STR("y"), s.quotient);
    CHECK(!facts_nonpositive(s.graph, s.difference));
    CHECK(!facts_nan_returns(s.graph, s.maximum, s.arena));
    softmax_free(&s);
}

// Rows: as they come (special values among them), all -inf, zeros of both signs, far below 0.
static void fill(Softmax *s, uint64_t seed, Tensor *out) {
    const int64_t symbols[1] = {0};
    op_case_tensor(s->arena, graph_type(s->graph, s->x), symbols, seed, 0, out);
    int64_t count = tensor_elements(out), row = s->dims[1]->lo;
    for (int64_t i = 0; i < row && 4 * row <= count; i++) {
        tensor_set(out, 1 * row + i, -INFINITY);
        tensor_set(out, 2 * row + i, i % 3 ? -0.0 : 0.0);
        tensor_set(out, 3 * row + i, -13.0 * (double)i);
    }
}

static void run_softmax(DType dtype, int64_t length, uint64_t seed) {
    Softmax s = softmax_new(dtype, 6, length, 0);
    graph_add_output(s.graph, STR("y"), s.quotient);
    EvalValue input = {0};
    fill(&s, seed, &input.tensor);
    const int64_t symbols[1] = {0};
    KernelCase test = {.ctx = s.ctx,
                       .region = s.graph,
                       .skeleton = STR("row"),
                       .symbols = symbols,
                       .inputs = &input,
                       .compile = true};
    const char *fault = kernel_case_run(&test, s.arena);
    if (!CHECK(fault == NULL))
        printf("    %s, rows of %lld: %.1500s\n", dtype_name(dtype), (long long)length, fault);
    softmax_free(&s);
}

static void test_softmax(void) {
    static const DType dtypes[] = {DT_f32, DT_f64, DT_bf16, DT_f16};
    static const int64_t lengths[] = {1, 2, 7, 16, 33, 64, 65, 100, 144, 200};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            if (d < 2 || i % 2 == d % 2) run_softmax(dtypes[d], lengths[i], 7 * i + d);
}

int main(void) {
    RUN(test_nan_returns);
    RUN(test_crossed_maximum);
    RUN(test_softmax);
    return test_done();
}
