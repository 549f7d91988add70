// Every function of the language reaches a graph that is built call by call, and makes there what
// it makes in a text: the two graphs have the same IR.
#include "tests/unit/test.h"

#include "tests/api/graph_expression.h"

typedef struct Input {
    const char *name;
    tcc_dtype dtype;
    const char *type;
    uint32_t rank;
    int64_t dims[5];
} Input;

static const Input inputs[] = {
    {"x", TCC_F32, "f32[3, 4]", 2, {3, 4}},
    {"y", TCC_F32, "f32[3, 4]", 2, {3, 4}},
    {"i", TCC_I32, "i32[3, 4]", 2, {3, 4}},
    {"j", TCC_I32, "i32[3, 4]", 2, {3, 4}},
    {"b", TCC_BOOL, "bool[3, 4]", 2, {3, 4}},
    {"pick", TCC_I64, "i64[3]", 1, {3}},
    {"sequence", TCC_F32, "f32[2, 4, 9]", 3, {2, 4, 9}},
    {"image", TCC_F32, "f32[2, 4, 6, 6]", 4, {2, 4, 6, 6}},
    {"volume", TCC_F32, "f32[1, 4, 5, 5, 5]", 5, {1, 4, 5, 5, 5}},
    {"kernel", TCC_F32, "f32[3, 4, 2, 2]", 4, {3, 4, 2, 2}},
    {"heads", TCC_F32, "f32[2, 3, 5, 4]", 4, {2, 3, 5, 4}},
    {"words", TCC_F32, "f32[2, 3, 8]", 3, {2, 3, 8}},
    {"key", TCC_U64, "u64", 0, {0}},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static const char *const calls[] = {"neg(x)",
                                    "abs(x)",
                                    "sign(x)",
                                    "floor(x)",
                                    "ceil(x)",
                                    "trunc(x)",
                                    "round(x)",
                                    "bit_not(i)",
                                    "sqrt(x)",
                                    "rsqrt(x)",
                                    "exp(x)",
                                    "exp2(x)",
                                    "expm1(x)",
                                    "log(x)",
                                    "log2(x)",
                                    "log1p(x)",
                                    "sin(x)",
                                    "cos(x)",
                                    "tan(x)",
                                    "atan(x)",
                                    "tanh(x)",
                                    "erf(x)",
                                    "erfc(x)",
                                    "add(x, 1)",
                                    "sub(x, y)",
                                    "mul(2.5, x)",
                                    "div(x, y)",
                                    "floordiv(i, j)",
                                    "mod(i, j)",
                                    "rem(i, j)",
                                    "pow(x, 2.0)",
                                    "maximum(x, y)",
                                    "minimum(x, 0)",
                                    "bit_and(i, j)",
                                    "bit_or(i, j)",
                                    "bit_xor(i, j)",
                                    "shift_left(i, 2)",
                                    "shift_right(i, j)",
                                    "eq(i, j)",
                                    "ne(x, y)",
                                    "lt(x, y)",
                                    "le(x, 0.5)",
                                    "gt(x, y)",
                                    "ge(x, y)",
                                    "select(b, x, 0.0)",
                                    "cast(i, f32)",
                                    "cast(x, to=f16)",
                                    "cast(x, wide(f16))",
                                    "sum(x, axis=1)",
                                    "sum(x, axis=[0, 1], keep=true, dtype=f64)",
                                    "prod(x)",
                                    "max(x, 0)",
                                    "min(x, axis=-1)",
                                    "any(b)",
                                    "all(b, axis=[0], keep=true)",
                                    "mean(x, axis=1)",
                                    "argmax(x, axis=1)",
                                    "argmin(x)",
                                    "cum_sum(x, 1, exclusive=true)",
                                    "cum_prod(x, 0, reverse=true)",
                                    "cum_max(x, 1)",
                                    "cum_min(x, axis=1)",
                                    "sort(x)",
                                    "topk(x, 2, largest=false)",
                                    "reshape(x, [2, -1])",
                                    "permute(x, [1, 0])",
                                    "broadcast_to(x, [2, 3, 4])",
                                    "concat([x, y], axis=1)",
                                    "pad(x, [1, 0], [0, 2], value=7.0)",
                                    "reverse(x, 1)",
                                    "pad(x, list_of(1, 2), [0, 0])",
                                    "mul(x, len(x.shape))",
                                    "gather(x, pick, axis=0)",
                                    "scatter_set(x, pick, y)",
                                    "scatter_add(x, pick, y)",
                                    "scatter_mul(x, pick, y)",
                                    "scatter_max(x, pick, y)",
                                    "scatter_min(x, pick, y)",
                                    "matmul(x, y.T)",
                                    "einsum(\"ik,jk->ij\", x, y)",
                                    "conv(image, kernel, strides=[1, 2])",
                                    "window_sum(x, [2, 2])",
                                    "window_max(x, [2, 2], strides=2)",
                                    "window_min(x, [2, 2])",
                                    "tensor([[1, -2], [3, 4]], dtype=i32)",
                                    "full([2, 3], 1.5)",
                                    "zeros([2, 3], i16)",
                                    "ones([4])",
                                    "iota([2, 3], axis=1)",
                                    "arange(5)",
                                    "random_bits(key, [5])",
                                    "relu(x)",
                                    "relu6(x)",
                                    "leaky_relu(x, slope=0.1)",
                                    "elu(x)",
                                    "selu(x)",
                                    "sigmoid(x)",
                                    "silu(x)",
                                    "softplus(x)",
                                    "log_sigmoid(x)",
                                    "mish(x)",
                                    "gelu(x)",
                                    "gelu_tanh(x)",
                                    "hardsigmoid(x)",
                                    "hardswish(x)",
                                    "softsign(x)",
                                    "attention(heads, heads, heads, causal=true)",
                                    "split_heads(words, 2)",
                                    "join_heads(heads)",
                                    "multi_head_attention(words, 2)",
                                    "linear(x, 5, bias=false)",
                                    "embedding(pick, 6, 8, dtype=f16)",
                                    "one_hot(pick, 5)",
                                    "flatten(sequence, 1)",
                                    "clip(x, -0.5, 0.5)",
                                    "variance(x, axis=1)",
                                    "logsumexp(x)",
                                    "uniform(key, [7])",
                                    "normal(key, [7])",
                                    "conv1d(sequence, 3, 3, pad=1)",
                                    "conv2d(image, 3, 3, stride=2)",
                                    "conv3d(volume, 3, 3)",
                                    "depthwise_conv2d(image, 3)",
                                    "cross_entropy_rows(x, pick)",
                                    "cross_entropy(x, pick)",
                                    "mse_loss(x, y)",
                                    "l1_loss(x, y)",
                                    "smooth_l1_loss(x, y, beta=0.5)",
                                    "bce_loss(x, y)",
                                    "bce_with_logits_loss(x, y)",
                                    "layer_norm(x)",
                                    "rms_norm(x, eps=1e-3)",
                                    "batch_norm(image)",
                                    "group_norm(image, 2)",
                                    "max_pool(image, [2, 2])",
                                    "avg_pool(image, [2, 2])",
                                    "max_pool1d(sequence, 2)",
                                    "max_pool2d(image, 2, ceil_mode=true)",
                                    "max_pool3d(volume, 2)",
                                    "avg_pool1d(sequence, 2)",
                                    "avg_pool2d(image, 2)",
                                    "avg_pool3d(volume, 2)",
                                    "global_avg_pool(image)",
                                    "global_max_pool(image, keep=true)",
                                    "lstm_cell(x, y, y)",
                                    "gru_cell(x, y)",
                                    "softmax(x)",
                                    "safe_softmax(x)",
                                    "log_softmax(x, axis=0)"};
enum { CALLS = sizeof calls / sizeof *calls };

static tcc_compiler *compiler;

// ---- one call, both ways -----------------------------------------------------------------------

static bool uses(const char *text, const char *name) {
    size_t size = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool left = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool right = isalnum((unsigned char)at[size]) || at[size] == '_' || at[size] == '(';
        if (!left && !right) return true;
    }
    return false;
}

static bool has_two(const char *text) {
    return !strncmp(text, "sort(", 5) || !strncmp(text, "topk(", 5) || !strncmp(text, "lstm_", 5);
}

static char *ir_of(tcc_unit *unit) {
    const char *text = NULL;
    size_t size = 0;
    CHECK_INT(tcc_unit_text(unit, "ir", &text, &size), TCC_OK);
    char *copy = text ? strdup(text) : NULL;
    tcc_unit_free(unit);
    return copy;
}

// NULL when the language refuses it.
static char *ir_of_text(const char *text) {
    char model[2048];
    int size = snprintf(model, sizeof model, "model graph(");
    for (int k = 0; k < INPUTS; k++)
        if (uses(text, inputs[k].name))
            size += snprintf(model + size, sizeof model - (size_t)size, "%s: %s, ", inputs[k].name,
                             inputs[k].type);
    const char *outputs = has_two(text) ? "out, more" : "out";
    size += snprintf(model + size, sizeof model - (size_t)size, ") -> (%s) { %s = %s }\n", outputs,
                     outputs, text);
    tcc_unit *unit;
    if (tcc_compile_memory(compiler, "graph.g", model, (size_t)size, &unit) != TCC_OK) return NULL;
    return ir_of(unit);
}

static char *ir_of_calls(const char *text) {
    Scope scope = {.at = text};
    tcc_unit *unit = NULL;
    CHECK_INT(tcc_graph_new(compiler, "graph", &scope.graph), TCC_OK);
    for (int k = 0; k < INPUTS; k++) {
        if (!uses(text, inputs[k].name)) continue;
        tcc_value dims[5];
        for (uint32_t i = 0; i < inputs[k].rank; i++)
            dims[i] = tcc_graph_int(scope.graph, inputs[k].dims[i]);
        scope_add(
            &scope, inputs[k].name,
            tcc_graph_input(scope.graph, inputs[k].name, inputs[k].dtype, dims, inputs[k].rank));
    }
    tcc_value value = expression(&scope);
    tcc_value first = has_two(text) ? tcc_graph_item(scope.graph, value, 0) : value;
    tcc_graph_output(scope.graph, "out", first);
    if (has_two(text)) tcc_graph_output(scope.graph, "more", tcc_graph_item(scope.graph, value, 1));
    if (!CHECK(tcc_compile_graph(compiler, scope.graph, &unit) == TCC_OK))
        printf("    %s: %s\n", text, tcc_message(compiler));
    tcc_graph_free(scope.graph);
    return unit ? ir_of(unit) : NULL;
}

static void test_calls(void) {
    for (int k = 0; k < CALLS; k++) {
        char *text = ir_of_text(calls[k]), *built = NULL;
        if (!CHECK(text != NULL)) printf("    %s: %s\n", calls[k], tcc_message(compiler));
        if (text) built = ir_of_calls(calls[k]);
        if (text && built) CHECK_STR(built, text);
        free(text);
        free(built);
    }
}

// ---- all of them -------------------------------------------------------------------------------

static bool is_called(const char *name, size_t size) {
    char word[WORD_SIZE];
    snprintf(word, sizeof word, "%.*s(", (int)size, name);
    for (int k = 0; k < CALLS; k++) {
        for (const char *at = strstr(calls[k], word); at; at = strstr(at + 1, word))
            if (at == calls[k] || at[-1] == ' ') return true;
    }
    return false;
}

// The reference that the library prints of its own tables names no function that is not here.
static void test_all_are_called(void) {
    const char *page;
    size_t size;
    int count = 0;
    CHECK_INT(tcc_reference(compiler, "functions", &page, &size), TCC_OK);
    for (const char *at = strstr(page, "* `"); at; at = strstr(at + 3, "* `"), count++) {
        size_t length = strcspn(at + 3, "(");
        if (!CHECK(is_called(at + 3, length))) printf("    %.*s\n", (int)length, at + 3);
    }
    CHECK(count > 100);
}

// All core ops are in the graphs of these calls, but those of dims and blocks, which
// graph_builder.c makes, and those that the compiler makes itself.
static bool is_elsewhere(const char *name, size_t size) {
    static const char *const ops[] = {"dim",  "cond",   "loop",         "scan",
                                      "call", "kernel", "conv_winograd"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (strlen(ops[k]) == size && !strncmp(ops[k], name, size)) return true;
    return false;
}

static void test_all_ops(void) {
    enum { ALL = 1 << 20 };
    const char *page;
    size_t size = 0, used = 0;
    char *all = calloc(1, ALL), word[WORD_SIZE];
    int count = 0;
    for (int k = 0; k < CALLS && used < ALL / 2; k++) {
        char *text = ir_of_text(calls[k]);
        used += (size_t)snprintf(all + used, ALL - used, "%s", text ? text : "");
        free(text);
    }
    CHECK_INT(tcc_reference(compiler, "ops", &page, &size), TCC_OK);
    for (const char *at = strstr(page, "* `"); at; at = strstr(at + 3, "* `"), count++) {
        size_t length = strcspn(at + 3, "(");
        snprintf(word, sizeof word, "= %.*s ", (int)length, at + 3);
        bool found = strstr(all, word) != NULL;
        if (!CHECK(found != is_elsewhere(at + 3, length))) printf("    %s\n", word);
    }
    CHECK(count > 70);
    free(all);
}

int main(void) {
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    tcc_set_option(compiler, "passes", "inline");
    tcc_set_option(compiler, "params", "random:1");
    RUN(test_calls);
    RUN(test_all_are_called);
    RUN(test_all_ops);
    tcc_compiler_free(compiler);
    return test_done();
}
