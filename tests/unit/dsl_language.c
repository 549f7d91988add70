// The constructs of the language: what they mean, what they build, how dims and scopes come out.
#include "ir/eval.h"
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

static DslRun run;
static Str text;

static bool compile_file(const char *path, const DslOptions *options) {
    text = dsl_read_file(path);
    if (!CHECK(text.data != NULL)) return false;
    dsl_run(&run, path, text, options);
    for (size_t i = 0; i < run.messages.count; i++) printf("%s", run.messages.data[i].rendered);
    return CHECK(run.module != NULL);
}

static void done(void) {
    dsl_run_free(&run);
    free((void *)(uintptr_t)text.data);
    text = (Str){0};
}

static bool compile(const char *source, const DslOptions *options) {
    dsl_run(&run, "test.g", str_from(source), options);
    return run.module != NULL;
}

// ---- meaning ------------------------------------------------------------------------------------

static const EvalValue *find_output(const Graph *model, const EvalValue *results, Str name) {
    for (size_t i = 0; i < model->outputs.count; i++) {
        if (str_equal(*model->outputs.data[i].name, name)) return &results[i];
    }
    return NULL;
}

static void check_pairs(const Graph *model) {
    EvalValue *results = NEW_ARRAY(run.arena, EvalValue, model->outputs.count);
    EvalError error = {0};
    EvalOptions options = {0};
    const char *message = NULL;
    if (!CHECK(eval_graph(model, NULL, &options, run.arena, results, &error, &message))) {
        printf("    %s: %s\n", model->name->data, message);
        return;
    }
    for (size_t i = 0; i < model->outputs.count; i += 2) {
        Str name = *model->outputs.data[i].name;
        Str want_name = str_format(run.arena, "%.*s_want", STR_ARG(name));
        const EvalValue *want = find_output(model, results, want_name);
        if (!CHECK(want != NULL)) continue;
        CHECK_INT(results[i].tensor.dtype, want->tensor.dtype);
        const Tensor *a = &results[i].tensor, *b = &want->tensor;
        if (!CHECK_MEM(a->data, b->data, tensor_bytes(b))) {
            printf("    in %s/%.*s\n", model->name->data, STR_ARG(name));
        }
    }
}

static void test_meaning(void) {
    if (compile_file("tests/models/language.g", NULL)) {
        for (size_t i = 0; i < run.module->models.count; i++)
            check_pairs(run.module->models.data[i]);
    }
    done();
}

// ---- reach --------------------------------------------------------------------------------------

static void test_every_op_is_reached(void) {
    bool reached[OP_count] = {false};
    if (compile_file("tests/models/ops.g", NULL)) {
        const Graph *graph = run.module->models.data[0];
        for (size_t i = 0; i < graph->nodes.count; i++) reached[graph->nodes.data[i].op] = true;
    }
    for (Op op = 1; op < OP_count; op++) {
        bool structure = (op_info(op)->flags & (FLAG_regions | FLAG_packed)) != 0;
        if (!structure && !CHECK(reached[op])) printf("    %s is not reached\n", op_info(op)->name);
    }
    done();
}

static void test_examples(void) {
    static const char *const paths[] = {"examples/digits/digits.g", "examples/encoder/encoder.g"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (compile_file(paths[i], NULL)) CHECK_INT(run.module->models.count, 1);
        done();
    }
}

// The trained digits on a few of their test images, against what torch says.
static void test_digits(void) {
    enum { IMAGES = 5 };
    if (!compile_file("examples/digits/digits.g", NULL)) return;
    WeightTable *data = weights_new(run.arena);
    CHECK_INT(weights_load(data, run.diags, (Loc){0}, STR("examples/digits/test_images.npy")),
              STATUS_ok);
    CHECK_INT(weights_load(data, run.diags, (Loc){0}, STR("examples/digits/expected.npy")),
              STATUS_ok);
    const Weight *images = weights_find(data, STR("test_images")),
                 *want = weights_find(data, STR("expected"));
    if (CHECK(images && want)) {
        EvalValue input = {.tensor = {.dtype = DT_f32, .rank = 4, .dims = {IMAGES, 1, 8, 8}}},
                  result;
        input.tensor.data = (void *)(uintptr_t)images->bytes;
        int64_t symbols[1] = {IMAGES};
        EvalOptions options = {.bounds = true, .symbols = symbols};
        EvalError error = {0};
        const char *message = NULL;
        CHECK(eval_graph(run.module->models.data[0], &input, &options, run.arena, &result, &error,
                         &message));
        for (int i = 0; i < IMAGES * 10; i++) {
            double expected = (double)((const float *)want->bytes)[i];
            CHECK(result.bound[i] <= 0.1); // its convolutions may be taken by transforms
            CHECK_NEAR(tensor_get(&result.tensor, i), expected, 1e-5);
        }
    }
    weights_free(data);
    done();
}

// ---- parameters ---------------------------------------------------------------------------------

static const Node *find_param(const Graph *graph, const char *name) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        if (node->op == OP_param && str_equal(*node->attrs[0].str, str_from(name))) return node;
    }
    return NULL;
}

static void test_parameters_are_named_by_scopes(void) {
    bool good =
        compile("fn layer(x) {\n param w: x.dtype[x.shape[-1]]\n return x * w }\n"
                "fn block(x, i) { return layer(layer(x) as \"in.{i}\") as \"out\" }\n"
                "model m(x: f32[3], h: f16[2]) -> (y: f32[3], z: f16[2]) {\n"
                "  for i in 0..<2 { x = block(x, i) as \"block.{i}\" }\n"
                "  shared param w: f32[3] = 2\n  y = layer(x) + w\n  z = layer(h) as \"h\" }\n",
                NULL);
    const DslMessage *first = dsl_run_first(&run);
    if (CHECK(!good && first)) CHECK_STR(first->id, "duplicate-param");
    done();
    good = compile("fn layer(x) {\n shared param w: x.dtype[x.shape[-1]]\n return x * w }\n"
                   "fn block(x, i) { return layer(layer(x) as \"in.{i}\") as \"out\" }\n"
                   "model m(x: f32[3], h: f16[2]) -> (y: f32[3], z: f16[2]) {\n"
                   "  for i in 0..<2 { x = block(x, i) as \"block.{i}\" }\n"
                   "  param w: f32[3] = 2\n  y = layer(x) + w\n  z = layer(h) as \"h\" }\n",
                   NULL);
    if (CHECK(good)) {
        const Graph *graph = run.module->models.data[0];
        CHECK(find_param(graph, "block.0.in.0.w") && find_param(graph, "block.0.out.w"));
        CHECK(find_param(graph, "block.1.in.1.w") && find_param(graph, "block.1.out.w"));
        const Node *w = find_param(graph, "w"), *h = find_param(graph, "h.w");
        if (CHECK(w && w->attrs[1].blob))
            CHECK_NEAR(((const float *)w->attrs[1].blob->bytes)[2], 2, 0);
        if (CHECK(h != NULL)) CHECK_INT(h->type->dtype, DT_f16);
    }
    done();
}

// ---- dims ---------------------------------------------------------------------------------------

static const char model_of_dims[] =
    "dim N in 2..16 tune 4\ndim K in 1..8\n"
    "model m(x: f32[N, 6], y: f32[K, 6]) -> (z: f32[N, 3, 2], w: f32[N, 6]) {\n"
    "  assert N == K\n  assert N <= 2 * K and 2 <= N\n"
    "  z = reshape(x[:], [N, -1, 2])\n  w = x + y\n}\n";

static void test_dims_become_checks(void) {
    if (CHECK(compile(model_of_dims, NULL))) {
        const Graph *graph = run.module->models.data[0];
        CHECK(graph->checks.count >= 2);
        CHECK_INT(graph->checks.data[0].kind, CHECK_equal);
        CHECK_INT(graph->checks.data[1].kind, CHECK_at_most);
        CHECK_INT(graph->inputs.count, 2);
        const DimSymbol *n = dim_find_symbol(run.ctx, STR("N"));
        if (CHECK(n != NULL)) CHECK_INT(n->tune, 4);
    }
    done();
}

static void test_options_narrow_dims(void) {
    DimRange dims[2] = {{STR("N"), 8, 8, 8}, {STR("K"), 2, 8, 8}};
    DslOptions options = {.ranges = {dims, 2}};
    if (CHECK(compile(model_of_dims, &options))) {
        const Type *type = graph_type(run.module->models.data[0], 0);
        CHECK(dim_equals_int(type->dims[0], 8));
        CHECK_INT(dim_find_symbol(run.ctx, STR("K"))->lo, 2);
    }
    done();
    const struct {
        DimRange dim;
        const char *id;
    } wrong[] = {{{STR("N"), 1, 1, 1}, "dim-override"},
                 {{STR("N"), 2, 17, 4}, "dim-override"},
                 {{STR("N"), 4, 8, 9}, "dim-override"},
                 {{STR("Q"), 1, 1, 1}, "unknown-dim"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options = (DslOptions){.ranges = {&wrong[i].dim, 1}};
        compile(model_of_dims, &options);
        const DslMessage *first = dsl_run_first(&run);
        if (CHECK(first != NULL)) CHECK_STR(first->id, wrong[i].id);
        done();
    }
}

static void test_entry_chooses_a_model(void) {
    static const char two[] =
        "model a(x: f32) -> (y: f32) { y = x }\nmodel b(x: f32) -> (y: f32) { y = -x }\n";
    DslOptions options = {.entry = STR("b")};
    if (CHECK(compile(two, &options))) {
        CHECK_INT(run.module->models.count, 1);
        CHECK_STR(run.module->models.data[0]->name->data, "b");
    }
    done();
    options.entry = STR("c");
    compile(two, &options);
    const DslMessage *first = dsl_run_first(&run);
    if (CHECK(first != NULL)) CHECK_STR(first->id, "no-entry");
    done();
}

// ---- casts and origins
// ----------------------------------------------------------------------------

static void test_only_casts_of_the_user_are_pinned(void) {
    if (CHECK(compile("model m(x: f16[4]) -> (y: f16[4]) { y = f16(f32(softmax(x))) }\n", NULL))) {
        const Graph *graph = run.module->models.data[0];
        int pinned = 0, free_casts = 0;
        for (size_t i = 0; i < graph->nodes.count; i++) {
            const Node *node = &graph->nodes.data[i];
            if (node->op != OP_cast) continue;
            bool user = node->attrs[1].i != 0;
            pinned += user;
            free_casts += !user;
            if (CHECK(node->origin != NULL)) CHECK_INT(node->origin->library, !user);
        }
        CHECK_INT(pinned, 2);
        CHECK_INT(free_casts, 2);
    }
    done();
}

static void test_equal_calls_are_remembered(void) {
    Arena *arena = arena_new(NULL);
    Buf source = {.arena = arena};
    buf_put(&source, STR("fn step0(x) { return x + 1.0 }\n"));
    for (int i = 1; i < 60; i++) {
        buf_print(&source, "fn step%d(x) { return step%d(x) * step%d(x) }\n", i, i - 1, i - 1);
    }
    buf_put(&source, STR("model m(x: f64[2]) -> (y: f64[2]) { y = step15(x) + step59(x) }\n"));
    if (CHECK(compile(buf_str(&source).data, NULL))) {
        CHECK(run.module->models.data[0]->nodes.count < 100);
    }
    done();
    arena_free(arena);
}

int main(void) {
    RUN(test_meaning);
    RUN(test_every_op_is_reached);
    RUN(test_examples);
    RUN(test_digits);
    RUN(test_parameters_are_named_by_scopes);
    RUN(test_dims_become_checks);
    RUN(test_options_narrow_dims);
    RUN(test_entry_chooses_a_model);
    RUN(test_only_casts_of_the_user_are_pinned);
    RUN(test_equal_calls_are_remembered);
    return test_done();
}
