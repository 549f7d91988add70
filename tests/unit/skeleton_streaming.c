// Kernels over more memory than the caches hold are laid out otherwise: halves side by side, stores
// that bypass the caches, loads ahead of their use. Here on small arrays of every awkward length,
// whose dims claim to be large.
#include "test.h"

#include "ir/build.h"
#include "ir/schedule.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"

enum { SYMBOLS = 8 };

typedef struct Case {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    int64_t symbols[SYMBOLS];
} Case;

static Case case_new(void) {
    Case c = {.arena = arena_new(NULL)};
    c.ctx = ir_context_new(c.arena);
    c.graph = graph_new(c.ctx, c.arena, STR("case"));
    return c;
}

static void case_free(Case *c) {
    ir_context_free(c->ctx);
    arena_free(c->arena);
}

// A dim that is `size` here, and at other times much more.
static const Dim *large_dim(Case *c, const char *name, int64_t size) {
    const DimSymbol *symbol =
        dim_new_symbol(c->ctx, SYMBOL_named, str_from(name), 0, 1 << 24, 1 << 20, NULL);
    c->symbols[symbol->id] = size;
    return dim_of_symbol(c->ctx, symbol);
}

static NodeId add_input(Case *c, const char *name, const Dim *const *dims, uint32_t rank) {
    return graph_add_input(c->graph, str_from(name), type_tensor(c->ctx, DT_f32, rank, dims), NULL);
}

static void run(Case *c, const char *skeleton, const Schedule *schedule, const char *what,
                int64_t size) {
    EvalValue inputs[2] = {0};
    for (size_t i = 0; i < c->graph->inputs.count; i++)
        op_case_tensor(c->arena, graph_type(c->graph, c->graph->inputs.data[i]), c->symbols,
                       (uint64_t)size + i, 0, &inputs[i].tensor);
    KernelCase test = {.ctx = c->ctx,
                       .region = c->graph,
                       .skeleton = str_from(skeleton),
                       .symbols = c->symbols,
                       .inputs = inputs,
                       .compile = true,
                       .schedule = schedule};
    const char *fault = kernel_case_run(&test, c->arena);
    if (!CHECK(fault == NULL)) printf("    %s of %lld: %.1500s\n", what, (long long)size, fault);
}

// max(x, 0) · x of one or two inputs, of a constant or a varying length.
static void run_elementwise(int64_t size, bool varies, bool two) {
    Case c = case_new();
    const Dim *dim = varies ? large_dim(&c, "N", size) : dim_const(c.ctx, size);
    NodeId x = add_input(&c, "x", &dim, 1), z = two ? add_input(&c, "z", &dim, 1) : x;
    NodeId zero = build_fill(c.graph, graph_type(c.graph, x), 0);
    NodeId y = build_binary(c.graph, OP_mul, build_binary(c.graph, OP_max, x, zero), z);
    graph_add_output(c.graph, STR("y"), y);
    const Schedule schedule = {.unroll = 4, .streaming = 2, .ahead = 256, .grain = 256};
    run(&c, "elementwise", &schedule, varies ? "elementwise of N" : "elementwise", size);
    case_free(&c);
}

static void test_elementwise(void) {
    static const int64_t sizes[] = {0,   1,   16,  31,  32,  100, 127, 128, 129, 160,
                                    200, 255, 256, 257, 300, 384, 416, 511, 512, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_elementwise(sizes[i], false, i % 2 == 0);
        run_elementwise(sizes[i], true, i % 2 == 1);
    }
}

// x - mean(x) of each row.
static void run_row(int64_t rows, int64_t length, bool varies) {
    Case c = case_new();
    const Dim *dims[2] = {large_dim(&c, "R", rows),
                          varies ? large_dim(&c, "N", length) : dim_const(c.ctx, length)};
    NodeId x = add_input(&c, "x", dims, 2);
    const int64_t last = 1, kept = 0;
    NodeId sum = build_reduce(c.graph, OP_reduce_sum, x, &last, 1);
    NodeId factor = build_fill(c.graph, graph_type(c.graph, sum), 1.0 / (double)(length + 1));
    NodeId mean = build_binary(c.graph, OP_mul, sum, factor);
    NodeId wide = build_broadcast(c.graph, mean, dims, 2, &kept);
    graph_add_output(c.graph, STR("y"), build_binary(c.graph, OP_sub, x, wide));
    const Schedule schedule = {.unroll = 2, .streaming = 2, .ahead = 256};
    run(&c, "row", &schedule, varies ? "rows of N" : "rows", length);
    case_free(&c);
}

static void test_rows(void) {
    static const int64_t lengths[] = {0, 1, 15, 16, 65, 96, 128, 200};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        run_row(3, lengths[i], false);
        run_row(5, lengths[i], true);
    }
}

// Rows in pairs: x - mean and the mean itself, over the last axis or over the first and the last.
static void run_pairs(int64_t rows, int64_t length, bool first) {
    Case c = case_new();
    const Dim *dims[3] = {dim_const(c.ctx, first ? 3 : 1), dim_const(c.ctx, rows),
                          dim_const(c.ctx, length)};
    NodeId x = add_input(&c, "x", dims, 3);
    const int64_t axes[2] = {0, 2}, kept = 1;
    NodeId sum = build_reduce(c.graph, OP_reduce_sum, x, axes, 2);
    NodeId factor = build_fill(c.graph, graph_type(c.graph, sum), 1.0 / (double)(length + 1));
    NodeId mean = build_binary(c.graph, OP_mul, sum, factor);
    NodeId wide = build_broadcast(c.graph, mean, dims, 3, &kept);
    graph_add_output(c.graph, STR("y"), build_binary(c.graph, OP_sub, x, wide));
    graph_add_output(c.graph, STR("m"), mean);
    const Schedule schedule = {.unroll = 2, .streaming = 1, .ahead = 256};
    run(&c, "row", &schedule, first ? "pairs over two axes" : "pairs", length);
    case_free(&c);
}

static void test_pairs(void) {
    static const int64_t lengths[] = {65, 80, 96, 127, 128, 200, 1030};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        run_pairs(34, lengths[i], i % 2);
        run_pairs(33, lengths[i], false);
    }
}

int main(void) {
    RUN(test_elementwise);
    RUN(test_rows);
    RUN(test_pairs);
    return test_done();
}
