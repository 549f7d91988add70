// Whole passes on whole graphs: the same values before and after, nothing left to do on a second
// run, and the rewrites that matter do happen.
#include "ir/program_tools.h"
#include "passes/compare.h"
#include "passes/rewrite.h"
#include "tests/unit/passes_support.h"

// ---- building

static NodeId param(Bench *b, Graph *g, const char *name, const Type *type, bool positive) {
    uint64_t seed = hash_bytes(1, name, strlen(name)) | 1;
    Tensor t = test_tensor(b->arena, type, NULL, &seed);
    for (int64_t i = 0; positive && i < tensor_elements(&t); i++) {
        tensor_set(&t, i, 0.5 + fabs(tensor_get(&t, i)));
    }
    Attr attrs[] = {{.str = ir_string(b->ir, str_from(name))},
                    {.blob = ir_blob(b->ir, t.data, tensor_bytes(&t))}};
    return graph_add(g, OP_param, type, NULL, 0, attrs, NULL, 0, NULL);
}

typedef struct ConvShape {
    int64_t stride, pad, groups;
} ConvShape;

static NodeId conv(Bench *b, Graph *g, NodeId x, NodeId w, ConvShape shape) {
    int64_t strides[] = {shape.stride, shape.stride}, ones[] = {1, 1};
    int64_t pads[] = {shape.pad, shape.pad};
    Attr attrs[] = {{.ints = ir_ints(b->ir, strides, 2)},
                    {.ints = ir_ints(b->ir, ones, 2)},
                    {.ints = ir_ints(b->ir, pads, 2)},
                    {.ints = ir_ints(b->ir, pads, 2)},
                    {.i = shape.groups},
                    {.dtype = graph_type(g, x)->dtype}};
    return build_op(g, OP_conv, (NodeId[]){x, w}, 2, attrs);
}

// A vector over channels, beside an image.
static NodeId channels(Graph *g, NodeId v, NodeId like) {
    const Type *type = graph_type(g, like);
    return build_broadcast(g, v, type->dims, type->rank, (int64_t[]){1});
}

// The same vector spelled with a reshape to [1, C, 1, 1].
static NodeId reshaped_channels(Bench *b, Graph *g, NodeId v, NodeId like) {
    const Type *type = graph_type(g, like);
    const Dim *one = dim_const(b->ir, 1), *dims[] = {one, graph_type(g, v)->dims[0], one, one};
    return build_broadcast(g, build_reshape(g, v, dims, 4), type->dims, 4, (int64_t[]){0, 1, 2, 3});
}

typedef struct Norm {
    NodeId mean, var, gamma, beta;
} Norm;

static Norm norm_params(Bench *b, Graph *g, int64_t count) {
    const Type *type = TYPE(b, DT_f32, count);
    return (Norm){param(b, g, "mean", type, false), param(b, g, "var", type, true),
                  param(b, g, "gamma", type, true), param(b, g, "beta", type, false)};
}

static NodeId with_epsilon(Graph *g, NodeId var) {
    return build_binary(g, OP_add, var, build_fill(g, graph_type(g, var), 1e-5));
}

// (x - mean) · rsqrt(var + eps) · gamma + beta
static NodeId norm_plain(Bench *b, Graph *g, NodeId x, Norm n) {
    (void)b;
    NodeId inv = build_unary(g, OP_rsqrt, with_epsilon(g, n.var));
    NodeId y = build_binary(g, OP_sub, x, channels(g, n.mean, x));
    y = build_binary(g, OP_mul, y, channels(g, inv, x));
    y = build_binary(g, OP_mul, y, channels(g, n.gamma, x));
    return build_binary(g, OP_add, y, channels(g, n.beta, x));
}

// beta + gamma · ((x - mean) / sqrt(var + eps)), with other shapes and operand orders
static NodeId norm_divided(Bench *b, Graph *g, NodeId x, Norm n) {
    NodeId root = build_unary(g, OP_sqrt, with_epsilon(g, n.var));
    NodeId y = build_binary(g, OP_sub, x, reshaped_channels(b, g, n.mean, x));
    y = build_binary(g, OP_div, y, reshaped_channels(b, g, root, x));
    y = build_binary(g, OP_mul, reshaped_channels(b, g, n.gamma, x), y);
    return build_binary(g, OP_add, reshaped_channels(b, g, n.beta, x), y);
}

// x · scale - (mean · scale - beta)
static NodeId norm_affine(Bench *b, Graph *g, NodeId x, Norm n) {
    (void)b;
    NodeId inv = build_unary(g, OP_rsqrt, with_epsilon(g, n.var));
    NodeId scale = build_binary(g, OP_mul, n.gamma, inv);
    NodeId shift = build_binary(g, OP_sub, build_binary(g, OP_mul, n.mean, scale), n.beta);
    NodeId y = build_binary(g, OP_mul, x, channels(g, scale, x));
    return build_binary(g, OP_sub, y, channels(g, shift, x));
}

// -(mean - x) · (gamma · rsqrt(var + eps)) + beta
static NodeId norm_negated(Bench *b, Graph *g, NodeId x, Norm n) {
    (void)b;
    NodeId inv = build_unary(g, OP_rsqrt, with_epsilon(g, n.var));
    NodeId y = build_unary(g, OP_neg, build_binary(g, OP_sub, channels(g, n.mean, x), x));
    y = build_binary(g, OP_mul, y, channels(g, build_binary(g, OP_mul, n.gamma, inv), x));
    return build_binary(g, OP_add, y, channels(g, n.beta, x));
}

static NodeId relu(Graph *g, NodeId x) {
    return build_binary(g, OP_max, x, build_fill(g, graph_type(g, x), 0));
}

static NodeId pooled(Bench *b, Graph *g, NodeId x) {
    int64_t two[] = {1, 1, 2, 2}, ones[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0};
    Attr attrs[] = {{.ints = ir_ints(b->ir, two, 4)},
                    {.ints = ir_ints(b->ir, two, 4)},
                    {.ints = ir_ints(b->ir, ones, 4)},
                    {.ints = ir_ints(b->ir, none, 4)},
                    {.ints = ir_ints(b->ir, none, 4)}};
    return build_op(g, OP_window_max, &x, 1, attrs);
}

static NodeId linear(Bench *b, Graph *g, NodeId x, NodeId w) { // x[n, k] · w[o, k]
    Attr attrs[] = {{.ints = ir_ints(b->ir, (int64_t[]){0, 2}, 2)},
                    {.ints = ir_ints(b->ir, (int64_t[]){1, 2}, 2)},
                    {.ints = ir_ints(b->ir, (int64_t[]){0, 1}, 2)},
                    {.dtype = DT_f32}};
    return build_op(g, OP_contract, (NodeId[]){x, w}, 2, attrs);
}

typedef NodeId NormSpelling(Bench *, Graph *, NodeId, Norm);

// conv, norm, relu, pool, depthwise conv, 1x1 conv, residual, mean over space, linear.
static Graph *network(Bench *b, NormSpelling *norm) {
    Graph *g = bench_graph(b);
    const DimSymbol *n = dim_find_symbol(b->ir, STR("N"));
    if (!n) n = dim_new_symbol(b->ir, SYMBOL_named, STR("N"), 1, 64, 8, NULL);
    const Dim *dims[] = {dim_of_symbol(b->ir, n), dim_const(b->ir, 3), dim_const(b->ir, 8),
                         dim_const(b->ir, 8)};
    NodeId x = graph_add_input(g, STR("image"), type_tensor(b->ir, DT_f32, 4, dims), NULL);
    NodeId w1 = param(b, g, "w1", TYPE(b, DT_f32, 20, 3, 3, 3), false);
    NodeId y = conv(b, g, x, w1, (ConvShape){1, 1, 1});
    y = build_binary(g, OP_add, y, channels(g, param(b, g, "b1", TYPE(b, DT_f32, 20), false), y));
    y = pooled(b, g, relu(g, norm(b, g, y, norm_params(b, g, 20))));
    NodeId deep = param(b, g, "deep", TYPE(b, DT_f32, 20, 1, 3, 3), false);
    NodeId z = relu(g, conv(b, g, y, deep, (ConvShape){1, 1, 20}));
    NodeId point = param(b, g, "point", TYPE(b, DT_f32, 20, 20, 1, 1), false);
    z = build_binary(g, OP_add, conv(b, g, z, point, (ConvShape){1, 0, 1}), y);
    NodeId sum = build_reduce(g, OP_reduce_sum, z, (int64_t[]){2, 3}, 2);
    NodeId mean = build_binary(g, OP_div, sum, build_fill(g, graph_type(g, sum), 16));
    graph_add_output(g, STR("scores"),
                     linear(b, g, mean, param(b, g, "head", TYPE(b, DT_f32, 10, 20), false)));
    return g;
}

// ---- checking

static const Graph *run(Bench *b, const Graph *g, const char *passes) {
    b->ctx.options.passes = str_from(passes);
    PassResult result = {.graph = g};
    CHECK(passes_run(&b->ctx, b->arena, g, &result));
    return result.graph;
}

static Tensor *random_inputs(Bench *b, const Graph *g, const int64_t *symbols) {
    uint64_t seed = 21;
    Tensor *inputs = NEW_ARRAY(b->arena, Tensor, g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        inputs[i] = test_tensor(b->arena, graph_type(g, g->inputs.data[i]), symbols, &seed);
    }
    return inputs;
}

static void check_same_values(Bench *b, const Graph *before, const Graph *after,
                              const int64_t *symbols, double tolerance) {
    const Tensor *inputs = random_inputs(b, before, symbols);
    Tensor *want = test_eval(b->arena, before, inputs, symbols);
    Tensor *got = test_eval(b->arena, after, inputs, symbols);
    for (size_t i = 0; i < before->outputs.count; i++) {
        CHECK_INT(first_difference(&want[i], &got[i], tolerance), -1);
    }
}

static void check_program(Bench *b, const Graph *before, const Program *program,
                          const int64_t *symbols, double tolerance) {
    const Tensor *inputs = random_inputs(b, before, symbols);
    Tensor *want = test_eval(b->arena, before, inputs, symbols);
    Tensor *got = NEW_ARRAY(b->arena, Tensor, before->outputs.count);
    const char *message = "";
    if (!CHECK(program_eval(program, inputs, symbols, b->arena, got, &message))) {
        printf("    %s\n", message);
        return;
    }
    for (size_t i = 0; i < before->outputs.count; i++) {
        CHECK_INT(first_difference(&want[i], &got[i], tolerance), -1);
    }
}

static bool has_remark(const Bench *b, const char *rule, const char *text) {
    for (size_t i = 0; i < b->ctx.remarks.count; i++) {
        const Remark *remark = &b->ctx.remarks.data[i];
        if (strcmp(remark->rule, rule)) continue;
        if (!*text || str_equal(remark->text, str_from(text))) return true;
    }
    return false;
}

static int64_t symbols[] = {3};

// Whatever its spelling, the norm leaves one addition and no other arithmetic before the relu.
static void check_norm(NormSpelling *norm) {
    Bench b;
    bench_open(&b);
    Graph *g = network(&b, norm);
    const Graph *folded = run(&b, g, "inline,decompose,fold");
    CHECK_INT(count_op(folded, OP_add), 2);
    CHECK_INT(count_op(folded, OP_mul), 1); /* the mean's division by 16 */
    CHECK_INT(count_op(folded, OP_sub) + count_op(folded, OP_div) + count_op(folded, OP_neg), 0);
    CHECK_INT(count_op(folded, OP_rsqrt) + count_op(folded, OP_sqrt), 0);
    CHECK(has_remark(&b, "scale-into-weights", ""));
    check_same_values(&b, g, folded, symbols, 1e-4);
    bench_close(&b);
}

static void test_batch_norm_folds_in_any_spelling(void) {
    check_norm(norm_plain);
    check_norm(norm_divided);
    check_norm(norm_affine);
    check_norm(norm_negated);
}

static void test_strict_sums_keep_the_norm(void) {
    Bench b;
    bench_open(&b);
    b.ctx.options.strict_sums = true;
    Graph *g = network(&b, norm_plain);
    const Graph *folded = run(&b, g, "inline,decompose,fold");
    CHECK_INT(count_op(folded, OP_mul), 3);
    check_same_values(&b, g, folded, symbols, 0);
    bench_close(&b);
}

// A conv whose result is used twice is not scaled.
static void test_shared_sums_are_not_scaled(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 4, 6), NULL);
    NodeId y = linear(&b, g, x, param(&b, g, "w", TYPE(&b, DT_f32, 5, 6), false));
    graph_add_output(g, STR("a"), build_binary(g, OP_mul, y, build_fill(g, graph_type(g, y), 3)));
    graph_add_output(g, STR("b"), build_unary(g, OP_exp, y));
    const Graph *folded = run(&b, g, "fold");
    CHECK_INT(count_op(folded, OP_mul), 1);
    CHECK_INT(count_op(folded, OP_contract), 1);
    check_same_values(&b, g, folded, NULL, 0);
    bench_close(&b);
}

// A scaled weight that overflows would turn finite results into infinite ones.
static void test_scales_that_overflow_are_refused(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 4, 6), NULL);
    NodeId y = linear(&b, g, x, param(&b, g, "w", TYPE(&b, DT_f32, 5, 6), true));
    for (int i = 0; i < 2; i++) {
        y = build_binary(g, OP_mul, y, build_fill(g, graph_type(g, y), 1e38));
    }
    graph_add_output(g, STR("a"), y);
    const Graph *folded = run(&b, g, "fold");
    CHECK_INT(count_op(folded, OP_mul), 1);
    CHECK(has_remark(&b, "scale-into-weights", "a scaled weight would not be finite"));
    bench_close(&b);
}

static void test_passes_are_idempotent(void) {
    static const char *const names[] = {"inline", "decompose", "fold", "plan", "pack"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Bench b;
        bench_open(&b);
        const Graph *once = run(&b, network(&b, norm_plain), names[i]);
        const Graph *again = run(&b, once, names[i]);
        if (!CHECK(graph_equal(once, again))) printf("    %s\n", names[i]);
        bench_close(&b);
    }
}

static void test_each_pass_keeps_values(void) {
    static const char *const names[] = {"inline", "decompose", "plan", "pack", "single"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Bench b;
        bench_open(&b);
        Graph *g = network(&b, norm_divided);
        check_same_values(&b, g, run(&b, g, names[i]), symbols, 0);
        bench_close(&b);
    }
}

static void test_whole_road_at_each_level(void) {
    for (int level = 0; level <= 3; level++) {
        Bench b;
        bench_open(&b);
        Graph *g = network(&b, norm_plain);
        b.ctx.options.level = level;
        PassResult result = {.program = NULL};
        CHECK(passes_run(&b.ctx, b.arena, g, &result) && result.program);
        check_program(&b, g, result.program, symbols, level ? 1e-4 : 0);
        bench_close(&b);
    }
}

static void test_plan_keeps_images_channels_last(void) {
    Bench b;
    bench_open(&b);
    const Graph *g = run(&b, network(&b, norm_plain), "inline,decompose,fold,plan");
    CHECK(has_remark(&b, "layout", "channels-last"));
    // Only what stands between a conv and memory is permuted: both convs' results and the second's
    // operand.
    CHECK_INT(count_op(g, OP_permute), 3);
    bench_close(&b);
    bench_open(&b);
    Graph *alone = bench_graph(&b);
    NodeId x = graph_add_input(alone, STR("x"), TYPE(&b, DT_f32, 1, 3, 8, 8), NULL);
    NodeId w = param(&b, alone, "w", TYPE(&b, DT_f32, 4, 3, 3, 3), false);
    graph_add_output(alone, STR("y"), conv(&b, alone, x, w, (ConvShape){1, 1, 1}));
    CHECK_INT(count_op(run(&b, alone, "plan"), OP_permute), 0);
    CHECK(has_remark(&b, "layout", "as given"));
    bench_close(&b);
}

static void test_pack_makes_panels(void) {
    Bench b;
    bench_open(&b);
    const Graph *g = run(&b, network(&b, norm_plain), "inline,decompose,fold,plan,pack");
    bool found = false;
    const Type *panels = TYPE(&b, DT_f32, 2, 3, 3, 3, 16); // 20 channels of 3·3·3 steps
    for (size_t i = 0; i < g->nodes.count; i++) {
        found |= g->nodes.data[i].op == OP_const && g->nodes.data[i].type == panels;
    }
    CHECK(found);
    CHECK_INT(b.ctx.target->lanes, 16);
    bench_close(&b);
}

typedef struct AnyConv {
    DType dtype;
    uint32_t spatial;
    int64_t outputs, groups;
} AnyConv;

// conv, relu, conv over any number of axes, through plan and pack.
static void check_any_conv(AnyConv c) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    int64_t dims[] = {2, 4, 5, 3, 4}, kernel[] = {c.outputs, 4 / c.groups, 3, 2, 2};
    int64_t ones[] = {1, 1, 1}, none[] = {0, 0, 0};
    const IntList *one = ir_ints(b.ir, ones, c.spatial), *zero = ir_ints(b.ir, none, c.spatial);
    Attr attrs[] = {{.ints = one},  {.ints = one},   {.ints = one},
                    {.ints = zero}, {.i = c.groups}, {.dtype = c.dtype}};
    NodeId x = graph_add_input(g, STR("x"), bench_type(&b, c.dtype, c.spatial + 2, dims), NULL);
    NodeId w = param(&b, g, "w", bench_type(&b, c.dtype, c.spatial + 2, kernel), false);
    NodeId y = relu(g, build_op(g, OP_conv, (NodeId[]){x, w}, 2, attrs));
    kernel[0] = 17;
    kernel[1] = c.outputs;
    NodeId v = param(&b, g, "v", bench_type(&b, c.dtype, c.spatial + 2, kernel), false);
    attrs[4].i = 1;
    graph_add_output(g, STR("y"),
                     build_unary(g, OP_abs, build_op(g, OP_conv, (NodeId[]){y, v}, 2, attrs)));
    const Graph *after = run(&b, g, "plan,pack");
    CHECK(count_op(after, OP_permute) > 2 && !count_op(after, OP_param));
    check_same_values(&b, g, after, NULL, 0);
    check_same_values(&b, g, run(&b, after, "fuse"), NULL, 0);
    bench_close(&b);
}

static void test_every_conv_keeps_its_values(void) {
    static const DType dtypes[] = {DT_f32, DT_f16, DT_f64, DT_i32};
    static const int64_t outputs[] = {4, 20, 32};
    for (size_t i = 0; i < 4 * 3 * 3 * 3; i++) {
        int64_t groups = 1 << (i / 36);
        check_any_conv(
            (AnyConv){dtypes[i % 4], 1 + (uint32_t)(i / 4 % 3), outputs[i / 12 % 3], groups});
    }
}

// ---- decompose

static void check_gone(Bench *b, Graph *g, Op op) {
    const Graph *after = run(b, g, "decompose");
    CHECK_INT(count_op(after, op), 0);
    check_same_values(b, g, after, NULL, 0);
}

static void test_degenerate_ops_go(void) {
    static const Op ops[] = {OP_reduce_sum, OP_reduce_prod, OP_reduce_max, OP_reduce_min};
    static const DType dtypes[] = {DT_f32, DT_i32, DT_u64, DT_i64, DT_bf16, DT_i8};
    for (size_t i = 0; i < 4 * 6; i++) {
        for (int64_t middle = 0; middle < 2; middle++) {
            Bench b;
            bench_open(&b);
            Graph *g = bench_graph(&b);
            NodeId x = graph_add_input(g, STR("x"), TYPE(&b, dtypes[i / 4], 3, middle, 2), NULL);
            graph_add_output(g, STR("y"), build_reduce(g, ops[i % 4], x, (int64_t[]){1}, 1));
            graph_add_output(g, STR("z"), build_reduce(g, ops[i % 4], x, NULL, 0));
            check_gone(&b, g, ops[i % 4]);
            bench_close(&b);
        }
    }
}

static void test_sum_of_minus_zero(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 3, 1), NULL);
    graph_add_output(g, STR("y"), build_reduce(g, OP_reduce_sum, x, (int64_t[]){1}, 1));
    const Graph *after = run(&b, g, "decompose,fold");
    float values[] = {-0.0f, INFINITY, NAN};
    Tensor input = {.dtype = DT_f32, .rank = 2, .dims = {3, 1}, .data = values};
    Tensor *want = test_eval(b.arena, g, &input, NULL),
           *got = test_eval(b.arena, after, &input, NULL);
    CHECK_INT(first_difference(want, got, 0), -1);
    CHECK(!signbit(tensor_get(got, 0)));
    bench_close(&b);
}

static void test_contract_over_nothing(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 4, 0), NULL);
    NodeId w = graph_add_input(g, STR("w"), TYPE(&b, DT_f32, 5, 0), NULL);
    graph_add_output(g, STR("y"), linear(&b, g, x, w));
    check_gone(&b, g, OP_contract);
    bench_close(&b);
}

// scan over 5 steps: carried sum, and its doubles stacked; then a loop; then a cond.
static void test_control_becomes_straight(void) {
    Bench b;
    bench_open(&b);
    const Type *row = TYPE(&b, DT_f32, 2);
    Graph *body = bench_graph(&b), *g = bench_graph(&b);
    NodeId c = graph_add_input(body, STR(""), row, NULL),
           s = graph_add_input(body, STR(""), row, NULL);
    NodeId next = build_binary(body, OP_add, build_unary(body, OP_neg, c), s);
    graph_add_output(body, STR(""), next);
    graph_add_output(body, STR(""), build_binary(body, OP_add, next, next));
    NodeId c0 = graph_add_input(g, STR("c"), row, NULL);
    NodeId xs = graph_add_input(g, STR("xs"), TYPE(&b, DT_f32, 5, 2), NULL);
    const Graph *bodies[] = {body};
    for (int64_t reverse = 0; reverse < 2; reverse++) {
        const Type *types[] = {row, graph_type(g, xs)};
        NodeId scan = graph_add(g, OP_scan, type_tuple(b.ir, 2, types), (NodeId[]){c0, xs}, 2,
                                (Attr[]){{.i = 1}, {.i = reverse}}, bodies, 1, NULL);
        graph_add_output(g, STR(""), build_item(g, scan, 0));
        graph_add_output(g, STR(""), build_item(g, scan, 1));
    }
    check_gone(&b, g, OP_scan);

    Graph *condition = bench_graph(&b), *twice = bench_graph(&b), *h = bench_graph(&b);
    const Type *scalar = type_scalar(b.ir, DT_f32);
    NodeId x = graph_add_input(condition, STR(""), scalar, NULL);
    graph_add_output(condition, STR(""),
                     build_binary(condition, OP_lt, x, build_scalar(condition, DT_f32, 100)));
    x = graph_add_input(twice, STR(""), scalar, NULL);
    graph_add_output(twice, STR(""),
                     build_binary(twice, OP_add, build_unary(twice, OP_abs, x),
                                  build_scalar(twice, DT_f32, 30)));
    x = graph_add_input(h, STR("x"), scalar, NULL);
    const Graph *loops[] = {condition, twice};
    NodeId y = graph_add(h, OP_loop, scalar, &x, 1, (Attr[]){{.i = 10}}, loops, 2, NULL);
    const Graph *arms[] = {twice, twice};
    NodeId p = graph_add_input(h, STR("p"), type_scalar(b.ir, DT_bool), NULL);
    NodeId z = graph_add(h, OP_cond, scalar, (NodeId[]){p, y}, 2, NULL, arms, 2, NULL);
    graph_add_output(h, STR("y"), y);
    graph_add_output(h, STR("z"), z);
    check_gone(&b, h, OP_loop);
    CHECK_INT(count_op(run(&b, h, "decompose"), OP_cond), 0);
    bench_close(&b);
}

static void test_constant_index_out_of_range(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = param(&b, g, "table", TYPE(&b, DT_f32, 4), false);
    int32_t bad = 4;
    NodeId i = build_const(g, TYPE(&b, DT_i32, 1), &bad, sizeof bad);
    Attr attrs[] = {{.i = 0}, {.i = 0}};
    graph_add_output(g, STR("y"), build_op(g, OP_gather, (NodeId[]){x, i}, 2, attrs));
    b.ctx.options.passes = STR("fold");
    PassResult result;
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "constant-index");
    bench_close(&b);
}

// A large parameter is transformed at compile time, a small constant is not inflated.
static void test_what_is_evaluated(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId w = param(&b, g, "w", TYPE(&b, DT_f32, 300, 400), false);
    NodeId turned = build_permute(g, build_unary(g, OP_exp, w), (int64_t[]){1, 0});
    graph_add_output(g, STR("w"), turned);
    NodeId small = param(&b, g, "s", TYPE(&b, DT_f32, 300), false);
    const Type *wide = TYPE(&b, DT_f32, 300, 4000);
    NodeId spread = build_broadcast(g, small, wide->dims, 2, (int64_t[]){0});
    graph_add_output(g, STR("s"), build_reduce(g, OP_reduce_max, spread, (int64_t[]){1}, 1));
    const Graph *folded = run(&b, g, "fold");
    CHECK_INT(count_op(folded, OP_permute) + count_op(folded, OP_exp), 0);
    CHECK_INT(count_op(folded, OP_reduce_max), 1);
    CHECK_INT(count_op(folded, OP_broadcast), 1);
    check_same_values(&b, g, folded, NULL, 0);
    bench_close(&b);
}

// ---- random graphs

static NodeId random_unary(Graph *g, NodeId x, uint64_t *seed) {
    static const Op ops[] = {OP_neg, OP_abs, OP_floor, OP_round, OP_sign, OP_sqrt, OP_trunc};
    return build_unary(g, ops[test_random(seed) % 7], x);
}

static NodeId random_operand(Graph *g, NodeId x, const NodeId *pool, uint32_t count,
                             uint64_t *seed) {
    static const double numbers[] = {0, -0.0, 1, -1, 2, 0.5, -4, 3};
    uint64_t choice = test_random(seed);
    NodeId y = pool[choice % count];
    if (choice % 3 && graph_type(g, y) == graph_type(g, x)) return y;
    return build_fill(g, graph_type(g, x), numbers[(choice >> 8) % 8]);
}

static NodeId random_binary(Graph *g, NodeId x, const NodeId *pool, uint32_t count,
                            uint64_t *seed) {
    static const Op ops[] = {OP_add, OP_sub, OP_mul, OP_div, OP_min, OP_max, OP_pow};
    NodeId y = random_operand(g, x, pool, count, seed);
    Op op = ops[test_random(seed) % 7];
    return test_random(seed) % 4 ? build_binary(g, op, x, y) : build_binary(g, op, y, x);
}

static NodeId random_movement(Bench *b, Graph *g, NodeId x, uint64_t *seed) {
    const Type *type = graph_type(g, x);
    const Dim *zero = dim_const(b->ir, 0), *one = dim_const(b->ir, 1);
    const Dim *dims[3] = {type->dims[0], one, type->dims[type->rank - 1]};
    uint64_t choice = test_random(seed) % 6;
    if (type->rank == 2) {
        const Dim *start[] = {zero, choice == 5 ? zero : one};
        if (choice < 2) return build_permute(g, x, (int64_t[]){1, 0});
        if (choice == 2) return build_reshape(g, x, dims, 3);
        if (choice == 3) {
            NodeId value = build_scalar(g, type->dtype, 1);
            return build_pad(g, x, value, (const Dim *[]){zero, one}, (const Dim *[]){zero, zero});
        }
        if (dim_equals_int(type->dims[1], 0)) return x;
        return build_slice(g, x, start, type->dims, (int64_t[]){1, choice == 4 ? 2 : 1});
    }
    if (choice < 2) return build_permute(g, x, (int64_t[]){2, 0, 1});
    if (choice == 2) {
        const Dim *all = type_elements(b->ir, type);
        return build_reshape(g, x, (const Dim *[]){one, all}, 2);
    }
    if (choice == 3) return build_reduce(g, OP_reduce_sum, x, (int64_t[]){1}, 1);
    if (choice == 4) return build_reduce(g, OP_reduce_max, x, (int64_t[]){0}, 1);
    return build_op(g, OP_reverse, &x, 1, (Attr[]){{.ints = ir_ints(b->ir, (int64_t[]){1, 2}, 2)}});
}

static void fuzz_once(uint64_t seed) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId pool[24];
    uint32_t count = 2;
    pool[0] = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 3, 5), NULL);
    pool[1] = param(&b, g, "p", TYPE(&b, DT_f32, 3, 5), false);
    while (count < 24) {
        NodeId x = pool[test_random(&seed) % count];
        uint64_t kind = test_random(&seed) % 4;
        NodeId y = NODE_none;
        if (kind == 0)
            y = random_unary(g, x, &seed);
        else if (kind == 1)
            y = random_movement(&b, g, x, &seed);
        else
            y = random_binary(g, x, pool, count, &seed);
        pool[count++] = y;
    }
    for (uint32_t i = 20; i < 24; i++) graph_add_output(g, STR("y"), pool[i]);
    b.ctx.options.strict_sums = true;
    check_same_values(&b, g, run(&b, g, "decompose,fold"), NULL, 0);
    const Graph *once = run(&b, g, "fold");
    CHECK(graph_equal(once, run(&b, once, "fold")));
    static const char *const roads[] = {"decompose,fold,plan,pack,single,schedule,memory",
                                        "decompose,fold,plan,pack,fuse,schedule,memory",
                                        "fuse,memory"};
    for (size_t i = 0; i < 3; i++) {
        b.ctx.options.passes = str_from(roads[i]);
        PassResult result = {.program = NULL};
        CHECK(passes_run(&b.ctx, b.arena, g, &result));
        check_program(&b, g, result.program, NULL, 0);
    }
    bench_close(&b);
}

static void test_random_graphs(void) {
    int rounds = test_long() ? 5000 : 300;
    for (int i = 1; i <= rounds; i++) {
        long failures = test_counts.failures;
        fuzz_once((uint64_t)i * 0x9e3779b97f4a7c15u);
        if (test_counts.failures > failures) printf("    seed %d\n", i);
    }
}

int main(void) {
    RUN(test_batch_norm_folds_in_any_spelling);
    RUN(test_strict_sums_keep_the_norm);
    RUN(test_shared_sums_are_not_scaled);
    RUN(test_scales_that_overflow_are_refused);
    RUN(test_passes_are_idempotent);
    RUN(test_each_pass_keeps_values);
    RUN(test_whole_road_at_each_level);
    RUN(test_plan_keeps_images_channels_last);
    RUN(test_pack_makes_panels);
    RUN(test_every_conv_keeps_its_values);
    RUN(test_degenerate_ops_go);
    RUN(test_sum_of_minus_zero);
    RUN(test_contract_over_nothing);
    RUN(test_control_becomes_straight);
    RUN(test_constant_index_out_of_range);
    RUN(test_what_is_evaluated);
    RUN(test_random_graphs);
    return test_done();
}
