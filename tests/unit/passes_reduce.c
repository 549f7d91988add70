// Making cases smaller: what is asked for stays, all else goes, and graph and inputs fit together
// at every step.
#include "ir/verify.h"
#include "passes/reduce/reduce.h"
#include "tests/unit/passes_support.h"

#include <string.h>

typedef struct Asked {
    Bench *b;
    Op op;             // that must be there
    int64_t least;     // elements that its operand must have at least
    bool negative;     // an element of an input must be negative
    uint32_t outputs;  // that must be there at least
    uint32_t count;    // of tries
    const char *fault; // of a candidate that is no graph
} Asked;

static bool has_negative(const GraphCase *c) {
    for (size_t i = 0; i < c->graph->inputs.count; i++)
        for (int64_t k = 0; k < tensor_elements(&c->inputs[i]); k++)
            if (tensor_get(&c->inputs[i], k) < 0) return true;
    return false;
}

static bool fits(const GraphCase *c) {
    EvalValue *inputs = NEW_ARRAY(c->graph->arena, EvalValue, c->graph->inputs.count + 1);
    EvalValue *results = NEW_ARRAY(c->graph->arena, EvalValue, c->graph->outputs.count + 1);
    EvalOptions options = {.symbols = c->symbols};
    EvalError error;
    const char *why;
    for (size_t i = 0; i < c->graph->inputs.count; i++) inputs[i].tensor = c->inputs[i];
    return eval_graph(c->graph, inputs, &options, c->graph->arena, results, &error, &why);
}

static bool holds(void *user, const GraphCase *c) {
    Asked *asked = user;
    const char *fault = graph_verify(c->graph, asked->b->arena);
    asked->count++;
    if (fault || !fits(c)) asked->fault = fault ? fault : "the inputs do not fit";
    if (c->graph->outputs.count < asked->outputs) return false;
    if (asked->negative && !has_negative(c)) return false;
    for (NodeId id = 0; id < c->graph->nodes.count; id++) {
        const Node *node = graph_node(c->graph, id);
        int64_t elements;
        if (node->op != asked->op) continue;
        return !type_is_static(graph_type(c->graph, node->args[0]), &elements) ||
               elements >= asked->least;
    }
    return false;
}

// exp(x) · y summed along rows, and tanh of a parameter times x.
static GraphCase make_case(Bench *b) {
    Graph *g = bench_graph(b);
    const DimSymbol *symbol = dim_new_symbol(b->ir, SYMBOL_named, STR("N"), 1, 9, 4, NULL);
    const Dim *dims[] = {dim_of_symbol(b->ir, symbol), dim_const(b->ir, 6)};
    const Type *type = type_tensor(b->ir, DT_f32, 2, dims), *row = TYPE(b, DT_f32, 6);
    float numbers[6] = {1, 2, 3, 4, 5, 6};
    NodeId x = graph_add_input(g, STR("x"), type, NULL),
           y = graph_add_input(g, STR("y"), type, NULL);
    Attr attrs[] = {{.str = ir_string(b->ir, STR("w"))},
                    {.blob = ir_blob(b->ir, numbers, sizeof numbers)}};
    NodeId w = graph_add(g, OP_param, row, NULL, 0, attrs, NULL, 0, NULL);
    NodeId p = build_binary(g, OP_mul, build_unary(g, OP_exp, x), y);
    NodeId t = build_broadcast(g, build_unary(g, OP_tanh, w), dims, 2, (int64_t[]){1});
    graph_add_output(g, STR("a"), build_reduce(g, OP_reduce_sum, p, (int64_t[]){1}, 1));
    graph_add_output(g, STR("b"), build_binary(g, OP_mul, t, x));
    int64_t *symbols = NEW_ARRAY(b->arena, int64_t, 64);
    Tensor *inputs = NEW_ARRAY(b->arena, Tensor, 2);
    symbols[symbol->id] = 4;
    for (int i = 0; i < 2; i++) {
        inputs[i] = (Tensor){.dtype = DT_f32, .rank = 2, .dims = {4, 6}};
        inputs[i].data = arena_alloc(b->arena, tensor_bytes(&inputs[i]));
        for (int64_t k = 0; k < 24; k++) tensor_set(&inputs[i], k, k == 17 ? -3 : 2 + (double)k);
    }
    return (GraphCase){b->ir, g, inputs, symbols};
}

static GraphCase reduce(Bench *b, Asked *asked) {
    GraphCase c = make_case(b);
    asked->b = b;
    GraphCase small = reduce_case(b->arena, &c, &(ReduceRequest){.holds = holds, .user = asked});
    CHECK_STR(asked->fault ? asked->fault : "", "");
    CHECK(holds(asked, &small));
    return small;
}

static void test_one_op(void) {
    static const Op ops[] = {OP_exp, OP_tanh, OP_mul, OP_reduce_sum, OP_broadcast};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        Bench b;
        bench_open(&b);
        GraphCase small = reduce(&b, &(Asked){.op = ops[i]});
        CHECK(small.graph->nodes.count <= 3); // its operands, the op
        CHECK_INT(small.graph->outputs.count, 1);
        for (size_t k = 0; k < small.graph->inputs.count; k++) {
            CHECK_INT(tensor_elements(&small.inputs[k]), 1);
            CHECK_NEAR(tensor_get(&small.inputs[k], 0), 0, 0);
        }
        bench_close(&b);
    }
}

static void test_size(void) {
    Bench b;
    bench_open(&b);
    GraphCase small = reduce(&b, &(Asked){.op = OP_tanh, .least = 5});
    CHECK_INT(small.graph->nodes.count, 2);
    CHECK_INT(tensor_elements(&small.inputs[0]), 5);
    bench_close(&b);
}

static void test_numbers(void) {
    Bench b;
    bench_open(&b);
    GraphCase small = reduce(&b, &(Asked){.op = OP_exp, .negative = true});
    int64_t others = 0;
    CHECK_INT(small.graph->inputs.count, 1);
    for (int64_t k = 0; k < tensor_elements(&small.inputs[0]); k++)
        others += tensor_get(&small.inputs[0], k) != 0;
    CHECK(others >= 1 && others <= 4); // single elements are not tried
    bench_close(&b);
}

static void test_outputs(void) {
    Bench b;
    bench_open(&b);
    GraphCase small = reduce(&b, &(Asked){.op = OP_exp, .outputs = 2});
    CHECK_INT(small.graph->outputs.count, 2);
    bench_close(&b);
}

static void test_nothing_holds(void) {
    Bench b;
    bench_open(&b);
    GraphCase c = make_case(&b);
    Asked asked = {.b = &b, .op = OP_erf};
    GraphCase same = reduce_case(b.arena, &c, &(ReduceRequest){.holds = holds, .user = &asked});
    CHECK(same.graph == c.graph);
    CHECK(asked.count > 10);
    asked.count = 0;
    reduce_case(b.arena, &c, &(ReduceRequest){.holds = holds, .user = &asked, .seconds = 1e-9});
    CHECK_INT(asked.count, 0); // no time for any
    bench_close(&b);
}

int main(void) {
    RUN(test_one_op);
    RUN(test_size);
    RUN(test_numbers);
    RUN(test_outputs);
    RUN(test_nothing_holds);
    return test_done();
}
