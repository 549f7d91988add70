// The forms that kernels have on GPUs alone: products of matrices by tensor cores, 16 bytes at a
// time, squares turned round in shared memory, rows of whole blocks, networks that sort, and stores
// of one thread in the name of all. Each is compiled and run on the software device, from aligned
// and from misaligned buffers.
#include "test.h"

#include "ir/build.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"

enum { SYMBOLS = 64, MAX_INPUTS = 3 };

static Emulated devices[2];
static const char *const targets[2] = {"sm_80", "sm_90a"};
static long runs;

typedef struct Case {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    int64_t symbols[SYMBOLS];
    int64_t limits[MAX_INPUTS]; // of inputs that are indices; 0: of others
    bool fast;                  // compiled by the level of least compile time
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

// A dim that is `size` now, and may be anything up to 65536.
static const Dim *varying(Case *c, const char *name, int64_t size) {
    const DimSymbol *symbol =
        dim_new_symbol(c->ctx, SYMBOL_named, str_from(name), 0, 1 << 16, size < 1 ? 1 : size, NULL);
    c->symbols[symbol->id] = size;
    return dim_of_symbol(c->ctx, symbol);
}

static NodeId input(Case *c, const char *name, DType dtype, const Dim *const *dims, uint32_t rank) {
    return graph_add_input(c->graph, str_from(name), type_tensor(c->ctx, dtype, rank, dims), NULL);
}

static NodeId input_of(Case *c, const char *name, DType dtype, const int64_t *dims, uint32_t rank) {
    const Dim *sizes[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = dim_const(c->ctx, dims[i]);
    return input(c, name, dtype, sizes, rank);
}

static void run(Case *c, const char *skeleton, OpValues values, const char *what) {
    EvalValue inputs[MAX_INPUTS] = {0};
    int gpu = (int)(runs++ % 2);
    for (size_t i = 0; i < c->graph->inputs.count; i++) {
        const Type *type = graph_type(c->graph, c->graph->inputs.data[i]);
        op_case_tensor(c->arena, type, c->symbols, i + 1, c->limits[i], &inputs[i].tensor);
        op_case_fill(&inputs[i].tensor, values, i + 1, c->limits[i]);
    }
    KernelCase test = {.ctx = c->ctx,
                       .region = c->graph,
                       .skeleton = str_from(skeleton),
                       .symbols = c->symbols,
                       .inputs = inputs,
                       .gpu = targets[gpu],
                       .fast = c->fast,
                       .device = &devices[gpu]};
    const char *fault = kernel_case_run(&test, c->arena);
    if (!CHECK(fault == NULL)) printf("    %s: %.3000s\n", what, fault);
    case_free(c);
}

static const IntList *ints(Case *c, int64_t a, int64_t b) {
    const int64_t items[2] = {a, b};
    return ir_ints(c->ctx, items, 2);
}

// ---- matrix products ----

typedef struct Product {
    DType dtype, result;
    int64_t m, n, k;
    bool turned; // both operands have k first
} Product;

static void run_product(const Product *p) {
    Case c = case_new();
    const int64_t a_dims[2] = {p->turned ? p->k : p->m, p->turned ? p->m : p->k};
    const int64_t b_dims[2] = {p->turned ? p->k : p->n, p->turned ? p->n : p->k};
    NodeId args[2] = {input_of(&c, "a", p->dtype, a_dims, 2),
                      input_of(&c, "b", p->dtype, b_dims, 2)};
    Attr attrs[4] = {{.ints = p->turned ? ints(&c, 2, 0) : ints(&c, 0, 2)},
                     {.ints = p->turned ? ints(&c, 2, 1) : ints(&c, 1, 2)},
                     {.ints = ints(&c, 0, 1)},
                     {.dtype = p->result}};
    NodeId product = build_op(c.graph, OP_contract, args, 2, attrs);
    NodeId zero = build_fill(c.graph, graph_type(c.graph, product), 0);
    graph_add_output(c.graph, STR("y"), build_binary(c.graph, OP_max, product, zero));
    run(&c, "contract", VALUES_tame, dtype_name(p->dtype));
}

static void test_products(void) {
    static const Product products[] = {
        {DT_f16, DT_f16, 64, 64, 64, false},    {DT_f16, DT_f32, 33, 70, 65, true},
        {DT_bf16, DT_bf16, 70, 33, 40, true},   {DT_bf16, DT_f32, 16, 16, 300, false},
        {DT_i8, DT_i32, 65, 66, 70, false},     {DT_u8, DT_i32, 20, 100, 33, true},
        {DT_f8e4m3, DT_f32, 40, 20, 50, false}, {DT_f8e5m2, DT_f8e5m2, 17, 19, 31, true},
        {DT_f16, DT_f16, 8, 100, 64, false},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        uint64_t before = devices[0].tensor + devices[1].tensor;
        bool small = products[i].m < 16;
        run_product(&products[i]);
        CHECK((devices[0].tensor + devices[1].tensor > before) == !small);
    }
}

// ---- convolutions ----

static void run_conv(DType dtype, DType result, int64_t stride, int64_t groups) {
    Case c = case_new();
    const int64_t x_dims[4] = {2, 16, 7, 6}, w_dims[4] = {16 * groups, 16 / groups, 3, 3};
    NodeId args[2] = {input_of(&c, "x", dtype, x_dims, 4), input_of(&c, "w", dtype, w_dims, 4)};
    Attr attrs[6] = {{.ints = ints(&c, stride, 1)},
                     {.ints = ints(&c, 1, stride)},
                     {.ints = ints(&c, 1, 2)},
                     {.ints = ints(&c, 2, 1)},
                     {.i = groups},
                     {.dtype = result}};
    graph_add_output(c.graph, STR("y"), build_op(c.graph, OP_conv, args, 2, attrs));
    run(&c, "conv", VALUES_tame, dtype_name(dtype));
}

static void test_convs(void) {
    run_conv(DT_f16, DT_f16, 1, 1);
    run_conv(DT_bf16, DT_f32, 2, 2);
    run_conv(DT_i8, DT_i32, 1, 2);
}

// ---- elementwise ----

// max(x, 0) · x
static void run_elementwise(DType dtype, int64_t size, bool varies) {
    Case c = case_new();
    const Dim *dim = varies ? varying(&c, "N", size) : dim_const(c.ctx, size);
    NodeId x = input(&c, "x", dtype, &dim, 1);
    NodeId zero = build_fill(c.graph, graph_type(c.graph, x), 0);
    NodeId y = build_binary(c.graph, OP_mul, build_binary(c.graph, OP_max, x, zero), x);
    graph_add_output(c.graph, STR("y"), y);
    run(&c, "elementwise", VALUES_wild, dtype_name(dtype));
}

static void test_elementwise(void) {
    static const DType dtypes[] = {DT_f32, DT_f16, DT_i8, DT_f64, DT_u16};
    static const int64_t sizes[] = {0, 1, 63, 64, 127, 128, 129, 255, 257, 500, 512, 1025, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            run_elementwise(dtypes[d], sizes[i], (i + d) % 2);
}

// ---- transposes ----

static void run_transpose(DType dtype, int64_t rows, int64_t columns, bool varies) {
    Case c = case_new();
    const Dim *dims[2] = {varies ? varying(&c, "R", rows) : dim_const(c.ctx, rows),
                          varies ? varying(&c, "C", columns) : dim_const(c.ctx, columns)};
    NodeId x = input(&c, "x", dtype, dims, 2);
    NodeId y = build_permute(c.graph, build_binary(c.graph, OP_max, x, x), (int64_t[]){1, 0});
    graph_add_output(c.graph, STR("y"), y);
    run(&c, "elementwise", VALUES_wild, dtype_name(dtype));
}

static void test_transposes(void) {
    run_transpose(DT_f32, 64, 96, false);
    run_transpose(DT_f32, 70, 33, false);
    run_transpose(DT_u8, 40, 65, true);
    run_transpose(DT_f64, 33, 64, true);
    run_transpose(DT_bf16, 64, 64, true);
}

// ---- rows ----

// The row less its greatest element, and how much that is in all.
static void run_row(DType dtype, int64_t rows, int64_t length, bool varies) {
    Case c = case_new();
    const Dim *dims[2] = {dim_const(c.ctx, rows),
                          varies ? varying(&c, "N", length) : dim_const(c.ctx, length)};
    const int64_t last = 1, kept = 0;
    NodeId x = input(&c, "x", dtype, dims, 2);
    NodeId most = build_reduce(c.graph, OP_reduce_max, x, &last, 1);
    NodeId all = build_broadcast(c.graph, most, dims, 2, &kept);
    NodeId less = build_binary(c.graph, OP_sub, x, all);
    graph_add_output(c.graph, STR("y"), less);
    graph_add_output(c.graph, STR("s"), build_reduce(c.graph, OP_reduce_sum, less, &last, 1));
    run(&c, "row", VALUES_tame, dtype_name(dtype));
}

static void run_argmax(DType dtype, int64_t length) {
    Case c = case_new();
    const int64_t dims[2] = {2, length};
    NodeId x = input_of(&c, "x", dtype, dims, 2);
    Attr attrs[1] = {{.i = 1}};
    graph_add_output(c.graph, STR("y"), build_op(c.graph, OP_argmax, &x, 1, attrs));
    run(&c, "row", VALUES_wild, dtype_name(dtype));
}

static void test_rows(void) {
    run_row(DT_f32, 3, 1024, false);
    run_row(DT_f32, 5, 1500, true);
    run_row(DT_f16, 2, 3000, false);
    run_row(DT_f64, 2, 1100, true);
    run_row(DT_i16, 7, 1025, false);
    run_argmax(DT_f32, 2000);
    run_argmax(DT_i64, 1024);
    run_argmax(DT_u8, 1100);
}

// ---- sorts ----

static void run_sort(DType dtype, int64_t length, bool descending, bool varies) {
    Case c = case_new();
    const Dim *dims[2] = {dim_const(c.ctx, 2),
                          varies ? varying(&c, "N", length) : dim_const(c.ctx, length)};
    NodeId x = input(&c, "x", dtype, dims, 2);
    Attr attrs[2] = {{.i = 1}, {.i = descending}};
    NodeId sorted = build_op(c.graph, OP_sort, &x, 1, attrs);
    graph_add_output(c.graph, STR("y"), build_item(c.graph, sorted, 0));
    graph_add_output(c.graph, STR("i"), build_item(c.graph, sorted, 1));
    run(&c, "sort", VALUES_wild, dtype_name(dtype));
}

static void test_sorts(void) {
    static const int64_t lengths[] = {0, 1, 2, 31, 33, 100, 256, 300, 700};
    static const DType dtypes[] = {DT_f32, DT_bool, DT_i64, DT_f8e4m3, DT_u16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        run_sort(dtypes[i % 5], lengths[i], i % 2, i % 3 == 0);
}

// ---- scatters ----

// All threads of the warp hold the update, and one stores. Code of the fast level loads what is
// there before where that stands, so the others may not load it.
static void run_scatter(Op op, DType dtype, bool fast) {
    Case c = case_new();
    const int64_t length = 5, count = 9;
    c.fast = fast;
    c.limits[1] = length;
    NodeId args[3] = {input_of(&c, "x", dtype, &length, 1), input_of(&c, "i", DT_i64, &count, 1),
                      input_of(&c, "u", dtype, &count, 1)};
    Attr attrs[2] = {{.i = 0}, {.i = 0}};
    graph_add_output(c.graph, STR("y"), build_op(c.graph, op, args, 3, attrs));
    run(&c, "scatter", VALUES_tame, op_info(op)->name);
}

static void test_scatters(void) {
    static const Op ops[] = {OP_scatter_set, OP_scatter_add, OP_scatter_mul, OP_scatter_max,
                             OP_scatter_min};
    static const DType dtypes[] = {DT_f32, DT_f16, DT_i64, DT_u8};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (int fast = 0; fast < 2; fast++) run_scatter(ops[i], dtypes[d], fast != 0);
}

int main(void) {
    for (int i = 0; i < 2; i++) CHECK(emulated_open(&devices[i], targets[i]));
    RUN(test_products);
    RUN(test_convs);
    RUN(test_elementwise);
    RUN(test_transposes);
    RUN(test_rows);
    RUN(test_sorts);
    RUN(test_scatters);
    printf("       %ld kernels, %ld launches\n", runs, devices[0].launches + devices[1].launches);
    for (int i = 0; i < 2; i++) emulated_close(&devices[i]);
    return test_done();
}
