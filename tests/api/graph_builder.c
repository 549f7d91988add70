// Models built call by call: what they compute, what is told of their values, the host's tensors.
#include "tests/api/graph_host.h"

static void test_table(void) {
    float price[] = {1.5f, 10, 3, 8}, total[4];
    int32_t qty[] = {1, 5, 4, 3};
    begin("report");
    tcc_value rows = tcc_graph_dim(g, "N", 0, 1000, 100);
    tcc_value p = vector("price", TCC_F32, rows), q = vector("qty", TCC_I32, rows);
    tcc_value taxed = op("*", p, op("+", number(1), real(0.25)));
    tcc_value many = op(">", q, number(3));
    tcc_value sides[] = {many, taxed, p};
    tcc_graph_output(g, "total", tcc_graph_apply(g, "select", sides, 3));
    tcc_tensor inputs[] = {tensor(TCC_F32, price, 1, 4, 0), tensor(TCC_I32, qty, 1, 4, 0)};
    tcc_tensor outputs[] = {tensor(TCC_F32, total, 1, 4, 0)};
    CHECK_INT(run(inputs, 2, outputs, 1), TCC_OK);
    for (int i = 0; i < 4; i++) CHECK_NEAR(total[i], qty[i] > 3 ? price[i] * 1.25 : price[i], 0);
}

static void test_info(void) {
    begin("info");
    tcc_value n = tcc_graph_dim(g, "N", 1, 9, 4), two = number(2);
    tcc_value dims[] = {n, two};
    tcc_graph_label(g, "the input");
    tcc_value x = tcc_graph_input(g, "x", TCC_F16, dims, 2);
    tcc_value_info info = {.size = sizeof info};
    CHECK_INT(tcc_graph_info(g, x, &info), TCC_OK);
    CHECK_STR(info.text, "f16[N, 2]");
    CHECK_STR(info.label, "the input");
    CHECK(info.dtype == TCC_F16 && info.rank == 2 && info.dims[0] == -1 && info.dims[1] == 2);
    tcc_value shape = tcc_graph_member(g, x, "shape");
    CHECK_STR(text_of(shape), "[N, 2]");
    CHECK_STR(text_of(tcc_graph_item(g, shape, 0)), "N");
    CHECK_STR(text_of(op("+", op("*", n, two), number(1))), "2*N + 1");
    CHECK_STR(text_of(tcc_graph_member(g, x, "T")), "f16[2, N]");
    CHECK_STR(text_of(tcc_graph_member(g, x, "dtype")), "f16");
    CHECK_STR(text_of(op("<", n, number(5))), "N < 5");
    CHECK_STR(text_of(op("<", n, number(10))), "true");
    CHECK_STR(text_of(tcc_graph_unary(g, "-", real(1.5))), "-1.5");
    CHECK_STR(text_of(tcc_graph_unary(g, "not", tcc_graph_bool(g, 7))), "false");
    CHECK_STR(text_of(tcc_graph_string(g, "a\"b{c}")), "\"a\\\"b{c}\"");
    CHECK_STR(text_of(tcc_graph_dtype(g, TCC_BF16)), "bf16");
    CHECK_STR(text_of(tcc_graph_none(g)), "None");
    CHECK_STR(text_of(tcc_graph_ints(g, (int64_t[]){1, -2}, 2)), "[1, -2]");
    CHECK_STR(text_of(tcc_graph_dim(g, "fixed", 5, 5, 5)), "5");
    tcc_value sorted = tcc_graph_apply(g, "sort", &x, 1);
    CHECK_STR(text_of(sorted), "(f16[N, 2], i64[N, 2])");
    CHECK_STR(text_of(tcc_graph_apply(g, "f32", &x, 1)), "f32[N, 2]");
    CHECK_INT(tcc_graph_info(g, sorted, &info), TCC_OK);
    CHECK(info.rank == 2 && info.dtype == -1 && !strncmp(info.label, "sort#", 5));
    CHECK_INT(told_count, 0);
    finish();
}

static void test_subscripts(void) {
    begin("subscripts");
    tcc_value n = tcc_graph_dim(g, "N", 2, 9, 4), six = number(6), none = tcc_graph_none(g);
    tcc_value dims[] = {n, six};
    tcc_value x = tcc_graph_input(g, "x", TCC_F32, dims, 2);
    tcc_value whole = tcc_graph_slice(g, none, none, none);
    CHECK_STR(text_of(whole), "::");
    CHECK_STR(text_of(tcc_graph_slice(g, number(1), n, number(2))), "1:N:2");
    tcc_value last = number(-1);
    CHECK_STR(text_of(tcc_graph_index(g, x, &last, 1)), "f32[6]");
    tcc_value subs[] = {whole, none, tcc_graph_slice(g, number(1), none, number(2))};
    CHECK_STR(text_of(tcc_graph_index(g, x, subs, 3)), "f32[N, 1, 3]");
    tcc_value half = tcc_graph_slice(g, none, op("//", n, number(2)), none);
    CHECK_STR(text_of(tcc_graph_index(g, x, &half, 1)), "f32[N // 2, 6]");
    CHECK_STR(text_of(tcc_graph_index(g, tcc_graph_member(g, x, "shape"), &last, 1)), "6");
    tcc_value bad = number(7), at[] = {whole, bad};
    CHECK_INT(tcc_graph_index(g, x, at, 2), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "index 7") != NULL);
    CHECK_INT(op("+", x, whole), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "only be a subscript") != NULL);
    finish();
}

static void test_weights(void) {
    enum { IN = 3, OUT = 2 };
    float w[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 20}, x[] = {1, 1, 1, 0, 1, 0}, y[4];
    begin("layer");
    tcc_value rows = tcc_graph_dim(g, "N", 1, 8, 2), three = number(IN);
    tcc_value dims[] = {rows, three};
    tcc_value in = tcc_graph_input(g, "x", TCC_F32, dims, 2), args[] = {in, number(OUT)};
    tcc_tensor weight = tensor(TCC_F32, w, 2, OUT, IN), bias = tensor(TCC_F32, b, 1, OUT, 0);
    CHECK_INT(tcc_graph_weight(g, "fc.weight", &weight), TCC_OK); // before the call
    tcc_call call = {
        .size = sizeof call, .function = "linear", .args = args, .arg_count = 2, .scope = "fc"};
    tcc_graph_output(g, "y", tcc_graph_call(g, &call));
    tcc_tensor wrong = tensor(TCC_F32, w, 1, 3, 0);
    CHECK_INT(tcc_graph_weight(g, "fc.bias", &wrong), TCC_INVALID);
    CHECK_STR(tcc_message(compiler),
              "layer: parameter \"fc.bias\" is f32[2], not f32[3] (value \"fc.bias\")");
    CHECK_INT(tcc_graph_weight(g, "fc.bias", &bias), TCC_OK); // after it
    CHECK_INT(tcc_graph_weight(g, "fc.bias", &bias), TCC_INVALID);
    memset(w, 0, sizeof w); // they are copied
    memset(b, 0, sizeof b);
    tcc_tensor inputs[] = {tensor(TCC_F32, x, 2, 2, IN)}, outputs[] = {tensor(TCC_F32, y, 2, 2, 2)};
    CHECK_INT(run(inputs, 1, outputs, 1), TCC_OK);
    CHECK(y[0] == 16 && y[1] == 35 && y[2] == 12 && y[3] == 25);
}

static void test_missing_weight(void) {
    tcc_unit *unit;
    begin("lacking");
    tcc_graph_label(g, "the gain");
    TCC_GRAPH_HERE(g);
    int line = __LINE__ - 1;
    tcc_graph_output(g, "y", tcc_graph_param(g, "deep.gain", TCC_F32, (int64_t[]){2}, 1));
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    char want[256];
    snprintf(want, sizeof want,
             "%s:%d: error: parameter \"deep.gain\" has no value, and the option params gives none "
             "(value \"the gain\") [missing-weight]\n",
             __FILE__, line);
    CHECK_STR(told, want);
    tcc_set_option(compiler, "params", "random:1");
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_OK);
    tcc_set_option(compiler, "params", "");
    tcc_unit_free(unit);
    finish();
}

// A constant of any size, strided, of all dtypes that C has.
static void test_constants(void) {
    enum { ROWS = 700, COLUMNS = 300 };
    float *big = malloc(ROWS * COLUMNS * sizeof *big), sums[COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) big[i] = (float)(i % 7);
    begin("constants");
    tcc_tensor turned = tensor(TCC_F32, big, 2, COLUMNS, ROWS);
    turned.strides[0] = 1;
    turned.strides[1] = COLUMNS;
    tcc_value x = tcc_graph_constant(g, &turned), axis = number(1), args[] = {x, axis};
    CHECK_STR(text_of(x), "f32[300, 700]");
    tcc_graph_output(g, "sums", tcc_graph_apply(g, "sum", args, 2));
    tcc_tensor outputs[] = {tensor(TCC_F32, sums, 1, COLUMNS, 0)};
    CHECK_INT(run(NULL, 0, outputs, 1), TCC_OK);
    for (int k = 0; k < COLUMNS; k++) {
        float sum = 0;
        for (int i = 0; i < ROWS; i++) sum += big[i * COLUMNS + k];
        CHECK_NEAR(sums[k], sum, 0);
    }
    free(big);
    uint8_t nibbles[] = {0x21, 0xf3}, bools[] = {1, 0, 2};
    begin("small");
    tcc_tensor packed = tensor(TCC_U4, nibbles, 1, 3, 0), bad = tensor(TCC_BOOL, bools, 1, 3, 0);
    CHECK_STR(text_of(tcc_graph_constant(g, &packed)), "u4[3]");
    CHECK_INT(tcc_graph_constant(g, &bad), TCC_NO_VALUE);
    bad.rank = 9;
    CHECK_INT(tcc_graph_constant(g, &bad), TCC_NO_VALUE);
    bad = tensor(TCC_F32, NULL, 1, 3, 0);
    CHECK_INT(tcc_graph_constant(g, &bad), TCC_NO_VALUE);
    CHECK_STR(tcc_message(compiler), "small: the tensor is not one: it has no data (value "
                                     "\"constant#2\")");
    bad.dims[0] = 0;
    CHECK_STR(text_of(tcc_graph_constant(g, &bad)), "f32[0]");
    finish();
}

// The value of a parameter is taken back, and another given; it goes before the initialiser.
static void test_weights_taken_back(void) {
    float one[] = {1, 1}, two[] = {2, 2}, x[] = {10, 20}, y[2];
    tcc_tensor first = tensor(TCC_F32, one, 1, 2, 0), second = tensor(TCC_F32, two, 1, 2, 0);
    begin("retake");
    tcc_value args[] = {vector("x", TCC_F32, number(2))};
    CHECK_INT(tcc_graph_weight(g, "gain", &first), TCC_OK);
    tcc_value gain = tcc_graph_param(g, "gain", TCC_F32, (int64_t[]){2}, 1);
    tcc_graph_output(g, "y", op("*", args[0], gain));
    CHECK_INT(tcc_graph_weight(g, "gain", &second), TCC_INVALID);
    CHECK_INT(tcc_graph_weight(g, "gain", NULL), TCC_OK);
    CHECK_INT(tcc_graph_weight(g, "none", NULL), TCC_OK);
    CHECK_INT(tcc_graph_weight(g, "gain", &second), TCC_OK);
    tcc_tensor inputs[] = {tensor(TCC_F32, x, 1, 2, 0)}, outputs[] = {tensor(TCC_F32, y, 1, 2, 0)};
    CHECK_INT(run(inputs, 1, outputs, 1), TCC_OK);
    CHECK(y[0] == 20 && y[1] == 40);
}

int main(void) {
    graphs_begin();
    RUN(test_table);
    RUN(test_info);
    RUN(test_subscripts);
    RUN(test_weights);
    RUN(test_missing_weight);
    RUN(test_constants);
    RUN(test_weights_taken_back);
    return graphs_end();
}
