// Ops with a jump on results of 8 and 16 bits that are computed in the same kernel: they see the
// rounded number (docs/numerics.md, "Excess precision"), not the f32 that it was rounded from.
// Numbers have about one unit in the last place to a whole number, so that the two differ often.
#include "test.h"

#include "ir/build.h"
#include "passes/kernel.h"
#include "tests/support/kernel_case.h"

enum { ROWS = 8, COLUMNS = 33, COUNT = ROWS * COLUMNS };

static const DType dtypes[] = {DT_f16, DT_bf16, DT_f8e4m3, DT_f8e5m2};
static const Op makers[] = {OP_add, OP_sub, OP_mul, OP_div};
static const Op jumps[] = {OP_sign, OP_floor, OP_ceil,   OP_trunc,  OP_round, OP_floordiv,
                           OP_rem,  OP_mod,   OP_eq,     OP_ne,     OP_lt,    OP_le,
                           OP_gt,   OP_ge,    OP_argmax, OP_argmin, OP_cast};

typedef struct World {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    EvalValue inputs[3]; // two that make a number, and one to compare it with
    uint64_t random;
} World;

static double uniform(World *w, double lo, double hi) {
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(w->random >> 33) / 2147483648.0;
}

static Tensor new_tensor(const World *w, DType dtype) {
    Tensor t = {.dtype = dtype, .rank = 2, .dims = {ROWS, COLUMNS}};
    t.data = arena_alloc(w->arena, tensor_bytes(&t));
    return t;
}

static double apply(Op op, double x, double y) {
    return op == OP_add ? x + y : op == OP_sub ? x - y : op == OP_mul ? x * y : x / y;
}

// How many of the made numbers are not of the dtype.
static int fill_inputs(World *w, DType dtype, Op maker) {
    double unit = ldexp(1, (int)dtype_info(dtype)->precision - 1); // where one unit is 1
    int rounded = 0;
    for (int k = 0; k < 3; k++) w->inputs[k].tensor = new_tensor(w, dtype);
    for (int64_t i = 0; i < COUNT; i++) {
        tensor_set(&w->inputs[0].tensor, i, uniform(w, unit, 2 * unit));
        tensor_set(&w->inputs[1].tensor, i, uniform(w, 0.3, 4));
        double made =
            apply(maker, tensor_get(&w->inputs[0].tensor, i), tensor_get(&w->inputs[1].tensor, i));
        tensor_set(&w->inputs[2].tensor, i, made);
        rounded += tensor_get(&w->inputs[2].tensor, i) != made;
    }
    return rounded;
}

static NodeId add_jump(World *w, Op jump, NodeId made, NodeId other) {
    Attr axis = {.i = 1}, whole[] = {{.dtype = DT_i32}, {.i = 1}};
    switch (op_info(jump)->class) {
    case CLASS_ARGREDUCE: return build_op(w->graph, jump, &made, 1, &axis);
    case CLASS_CAST: return build_op(w->graph, jump, &made, 1, whole);
    case CLASS_UNARY: return build_unary(w->graph, jump, made);
    default: return build_binary(w->graph, jump, made, other);
    }
}

static World world_new(DType dtype, Op maker, Op jump) {
    World w = {.arena = arena_new(NULL), .random = (uint64_t)jump * 131 + maker};
    w.ctx = ir_context_new(w.arena);
    w.graph = graph_new(w.ctx, w.arena, STR("g"));
    CHECK(fill_inputs(&w, dtype, maker) > COUNT / 8);
    const Dim *dims[] = {dim_const(w.ctx, ROWS), dim_const(w.ctx, COLUMNS)};
    const Type *type = type_tensor(w.ctx, dtype, 2, dims);
    NodeId in[3];
    for (int k = 0; k < 3; k++) in[k] = graph_add_input(w.graph, STR(""), type, NULL);
    NodeId made = build_binary(w.graph, maker, in[0], in[1]);
    graph_add_output(w.graph, STR("y"), add_jump(&w, jump, made, in[2]));
    return w;
}

static void run_case(DType dtype, Op maker, Op jump) {
    World w = world_new(dtype, maker, jump);
    const char *skeleton = kernel_skeleton(op_info(jump)->class);
    KernelCase test = {.ctx = w.ctx,
                       .region = w.graph,
                       .skeleton = str_from(skeleton ? skeleton : "elementwise"),
                       .inputs = w.inputs,
                       .compile = test_long() || (jump + maker) % 4 == 0};
    const char *fault = kernel_case_run(&test, w.arena);
    if (!CHECK(fault == NULL))
        printf("    %s of %s of %s: %.400s\n", op_info(jump)->name, op_info(maker)->name,
               dtype_name(dtype), fault);
    ir_context_free(w.ctx);
    arena_free(w.arena);
}

static void test_jumps(void) {
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
            for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++)
                run_case(dtypes[d], makers[m], jumps[j]);
}

// The evaluator tells the rounded number from the other, and so do not say that either is right.
static void test_evaluator_is_certain(void) {
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++) {
            World w = world_new(dtypes[d], OP_mul, jumps[j]);
            EvalValue out = {0};
            EvalOptions options = {.bounds = true};
            EvalError error = {0};
            const char *message;
            CHECK(eval_graph(w.graph, w.inputs, &options, w.arena, &out, &error, &message));
            int uncertain = 0;
            for (int64_t i = 0; i < tensor_elements(&out.tensor); i++)
                uncertain += isinf(out.bound[i]) != 0;
            CHECK_INT(uncertain, 0);
            ir_context_free(w.ctx);
            arena_free(w.arena);
        }
    }
}

int main(void) {
    RUN(test_evaluator_is_certain);
    RUN(test_jumps);
    return test_done();
}
