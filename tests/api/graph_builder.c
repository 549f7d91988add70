// Models built call by call: what they compute, what is told of their values, how errors name the
// host's labels and places, blocks, misuse, size, and the order in which handles are freed.
#include "tests/unit/test.h"

#include <tcc/graph.h>
#include <time.h>

static tcc_compiler *compiler;
static tcc_graph *g;

// The diagnostics of the calls since they were cleared, as they are rendered.
static char told[8192];
static int told_count;

static void on_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    size_t size = strlen(told);
    (void)user;
    snprintf(told + size, sizeof told - size, "%s", diagnostic->rendered);
    told_count++;
}

static void begin(const char *name) {
    told[0] = 0;
    told_count = 0;
    CHECK_INT(tcc_graph_new(compiler, name, &g), TCC_OK);
}

static void finish(void) {
    tcc_graph_free(g);
    g = NULL;
}

static tcc_value number(int64_t value) { return tcc_graph_int(g, value); }
static tcc_value real(double value) { return tcc_graph_float(g, value); }
static tcc_value op(const char *text, tcc_value a, tcc_value b) {
    return tcc_graph_binary(g, text, a, b);
}

// "x" of one axis.
static tcc_value vector(const char *name, tcc_dtype dtype, tcc_value dim) {
    return tcc_graph_input(g, name, dtype, &dim, 1);
}

static tcc_tensor tensor(tcc_dtype dtype, void *data, uint32_t rank, int64_t a, int64_t b) {
    return (tcc_tensor){
        .size = sizeof(tcc_tensor), .dtype = dtype, .rank = rank, .data = data, .dims = {a, b}};
}

static const char *text_of(tcc_value value) {
    tcc_value_info info = {.size = sizeof info};
    return tcc_graph_info(g, value, &info) == TCC_OK ? info.text : "";
}

// Compiles the graph and runs it; inputs and outputs are the caller's. The graph is freed before.
static tcc_status run(const tcc_tensor *inputs, uint32_t input_count, tcc_tensor *outputs,
                      uint32_t output_count) {
    tcc_unit *unit = NULL;
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    const tcc_model_api *api = NULL;
    tcc_status status = tcc_compile_graph(compiler, g, &unit);
    finish();
    if (status == TCC_OK) status = tcc_unit_open(unit, NULL, &api, &model);
    if (status == TCC_OK) status = api->session_new(model, &session);
    if (status == TCC_OK) status = api->run(session, inputs, input_count, outputs, output_count);
    if (status != TCC_OK)
        printf("    %s\n", session ? api->session_message(session) : tcc_message(compiler));
    if (session) api->session_free(session);
    if (model) api->close(model);
    tcc_unit_free(unit);
    return status;
}

// ---- values ------------------------------------------------------------------------------------

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

// ---- the host's tensors ------------------------------------------------------------------------

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

// ---- errors ------------------------------------------------------------------------------------

static void test_labels(void) {
    begin("report");
    tcc_value rows = tcc_graph_dim(g, "N", 0, 1000, 100);
    tcc_graph_place(g, "plan.sql", 12);
    tcc_value p = vector("price", TCC_F32, rows), q = vector("qty", TCC_I32, rows);
    tcc_graph_place(g, "plan.sql", 14);
    tcc_graph_label(g, "line total");
    tcc_value total = op("*", p, q);
    CHECK_INT(total, TCC_NO_VALUE);
    CHECK_STR(tcc_message(compiler),
              "plan.sql:14: dtypes f32 and i32 do not agree (value \"line total\")");
    CHECK_STR(told, "plan.sql:14: error: dtypes f32 and i32 do not agree (value \"line total\") "
                    "[dtype-mismatch]\n"
                    "plan.sql:12: note: this is f32[N] (value \"price\")\n"
                    "plan.sql:12: note: this is i32[N] (value \"qty\")\n"
                    "plan.sql:12: note: a cast such as f32(x) converts one to the other (value "
                    "\"qty\")\n");
    // What is made of a failed value fails without a word, and the message stays.
    int before = told_count;
    CHECK_INT(op("+", total, number(1)), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_output(g, "total", total), TCC_INVALID);
    CHECK_INT(told_count, before);
    tcc_unit *unit;
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    CHECK(unit == NULL && strstr(tcc_message(compiler), "line total") != NULL);
    finish();
}

// An error inside a function of the library is told at the host's call.
static void test_library_errors(void) {
    begin("net");
    tcc_value dims[] = {number(2), number(3)};
    tcc_value x = tcc_graph_input(g, "x", TCC_F32, dims, 2);
    tcc_graph_place(g, "net.cc", 5);
    tcc_value args[] = {x, number(8), number(3)};
    tcc_graph_label(g, "stem");
    CHECK_INT(tcc_graph_apply(g, "conv2d", args, 3), TCC_NO_VALUE);
    CHECK(!strncmp(told, "net.cc:5: error: ", 17) && strstr(told, "(value \"stem\")"));
    CHECK(strstr(told, "library/conv.g:") != NULL);
    told[0] = 0;
    CHECK_INT(tcc_graph_apply(g, "sofmax", args, 1), TCC_NO_VALUE);
    CHECK_STR(told, "net.cc:5: error: there is no 'sofmax' (value \"sofmax#6\") [unknown-name]\n"
                    "net.cc:5: note: 'softmax' may be meant (value \"sofmax#6\")\n");
    finish();
}

static const char *graph_text(void) {
    const char *text;
    size_t size;
    CHECK_INT(tcc_graph_text(g, &text, &size), TCC_OK);
    CHECK(text && strlen(text) == size);
    return text ? text : "";
}

// A failed call leaves no trace: neither nodes, nor parameters, nor checks.
static void test_failures_leave_nothing(void) {
    begin("clean");
    tcc_value n = tcc_graph_dim(g, "N", 1, 9, 4), m = tcc_graph_dim(g, "M", 1, 9, 4);
    tcc_value x = vector("x", TCC_F32, n), y = vector("y", TCC_F32, m);
    tcc_graph_output(g, "z", tcc_graph_unary(g, "-", x));
    char *before = strdup(graph_text());
    tcc_value dims[] = {n, number(4)};
    tcc_value args[] = {tcc_graph_input(g, "w", TCC_F32, dims, 2), number(4), number(0), number(0)};
    tcc_call call = {
        .size = sizeof call, .function = "linear", .args = args, .arg_count = 4, .scope = "fc"};
    CHECK_INT(tcc_graph_call(g, &call), TCC_NO_VALUE);
    call.arg_count = 2;
    CHECK(tcc_graph_call(g, &call) != TCC_NO_VALUE); // its names are free still
    CHECK_INT(tcc_graph_call(g, &call), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "fc.weight") != NULL);
    tcc_value sum = op("+", x, y); // one check at entry, if it is used
    CHECK(sum != TCC_NO_VALUE);
    CHECK(strstr(graph_text(), "check M == N") != NULL);
    CHECK(!strstr(before, "check") && strstr(before, "neg"));
    free(before);
    finish();
}

// ---- blocks ------------------------------------------------------------------------------------

static void test_cond(void) {
    float x[] = {1, 2, 3}, y[3];
    uint8_t which = 1;
    for (int side = 0; side < 2; side++) {
        begin("cond");
        tcc_value c = tcc_graph_input(g, "c", TCC_BOOL, NULL, 0);
        tcc_value v = vector("x", TCC_F32, number(3)), ten = op("+", v, number(10));
        CHECK_INT(tcc_graph_begin_cond(g, c), TCC_OK);
        tcc_value twice = op("*", ten, number(2)); // from outside
        CHECK_STR(text_of(twice), "f32[3]");
        CHECK_INT(tcc_graph_else(g, &twice, 1), TCC_OK);
        tcc_value other = op("-", v, ten);
        tcc_value result = tcc_graph_end(g, &other, 1);
        CHECK_STR(text_of(result), "f32[3]");
        tcc_graph_output(g, "y", result);
        which = (uint8_t)side;
        tcc_tensor inputs[] = {tensor(TCC_BOOL, &which, 0, 0, 0), tensor(TCC_F32, x, 1, 3, 0)};
        tcc_tensor outputs[] = {tensor(TCC_F32, y, 1, 3, 0)};
        CHECK_INT(run(inputs, 2, outputs, 1), TCC_OK);
        for (int i = 0; i < 3; i++) CHECK_NEAR(y[i], side ? (x[i] + 10) * 2 : -10, 0);
    }
}

// x doubled while it is below `most`, which comes from outside, with a count beside it.
static void test_loop(void) {
    float x = 3, most = 50, y;
    int64_t steps;
    begin("loop");
    tcc_value v = tcc_graph_input(g, "x", TCC_F32, NULL, 0);
    tcc_value limit = tcc_graph_input(g, "most", TCC_F32, NULL, 0);
    tcc_value carried[] = {v, number(0)}, inside[2];
    CHECK_INT(tcc_graph_begin_loop(g, carried, 2, 10, inside), TCC_OK);
    CHECK_STR(text_of(inside[1]), "i64[]");
    CHECK_INT(tcc_graph_do(g, op("<", inside[0], limit), inside), TCC_OK);
    tcc_value next[] = {op("*", inside[0], number(2)), op("+", inside[1], number(1))};
    tcc_value results = tcc_graph_end(g, next, 2);
    CHECK_STR(text_of(results), "(f32[], i64[])");
    tcc_graph_output(g, "y", tcc_graph_item(g, results, 0));
    tcc_graph_output(g, "steps", tcc_graph_item(g, results, 1));
    tcc_tensor inputs[] = {tensor(TCC_F32, &x, 0, 0, 0), tensor(TCC_F32, &most, 0, 0, 0)};
    tcc_tensor outputs[] = {tensor(TCC_F32, &y, 0, 0, 0), tensor(TCC_I64, &steps, 0, 0, 0)};
    CHECK_INT(run(inputs, 2, outputs, 2), TCC_OK);
    CHECK_NEAR(y, 96, 0);
    CHECK_INT(steps, 5);
}

// A recurrence h = h * a + x with layers whose parameters are the model's, from the end or not.
static void test_scan(void) {
    enum { STEPS = 5 };
    float x[STEPS] = {1, 2, 3, 4, 5}, h, all[STEPS], half = 0.5f;
    for (int reverse = 0; reverse < 2; reverse++) {
        begin("scan");
        tcc_value xs = vector("x", TCC_F32, number(STEPS)), zero = real(0), state, slice;
        CHECK_INT(tcc_graph_begin_scan(g, &zero, 1, &xs, 1, reverse, &state, &slice), TCC_OK);
        CHECK_STR(text_of(slice), "f32[]");
        tcc_value a = tcc_graph_param(g, "a", TCC_F32, NULL, 0);
        tcc_value next = op("+", op("*", state, a), slice), results[] = {next, op("*", next, a)};
        tcc_value ends = tcc_graph_end(g, results, 2);
        CHECK_STR(text_of(ends), "(f32[], f32[5])");
        tcc_tensor value = tensor(TCC_F32, &half, 0, 0, 0);
        CHECK_INT(tcc_graph_weight(g, "a", &value), TCC_OK);
        tcc_graph_output(g, "h", tcc_graph_item(g, ends, 0));
        tcc_graph_output(g, "all", tcc_graph_item(g, ends, 1));
        tcc_tensor inputs[] = {tensor(TCC_F32, x, 1, STEPS, 0)};
        tcc_tensor outputs[] = {tensor(TCC_F32, &h, 0, 0, 0), tensor(TCC_F32, all, 1, STEPS, 0)};
        CHECK_INT(run(inputs, 1, outputs, 2), TCC_OK);
        float want = 0;
        for (int i = 0; i < STEPS; i++) {
            int at = reverse ? STEPS - 1 - i : i;
            want = want * half + x[at];
            CHECK_NEAR(all[at], want * half, 0);
        }
        CHECK_NEAR(h, want, 0);
    }
}

// A cond in a scan, which uses what lies two blocks outside, and random numbers.
static void test_nested_blocks(void) {
    enum { STEPS = 4 };
    int64_t x[STEPS] = {1, 2, 3, 4}, y[STEPS], base = 100;
    begin("nested");
    tcc_value xs = vector("x", TCC_I64, number(STEPS));
    tcc_value far = tcc_graph_input(g, "base", TCC_I64, NULL, 0), slice, none;
    CHECK_INT(tcc_graph_begin_scan(g, NULL, 0, &xs, 1, 0, &none, &slice), TCC_OK);
    CHECK_INT(tcc_graph_begin_cond(g, op(">", slice, number(2))), TCC_OK);
    tcc_value big = op("+", slice, far);
    CHECK_INT(tcc_graph_else(g, &big, 1), TCC_OK);
    tcc_value small = number(-1); // takes the dtype of the other side
    tcc_value chosen = tcc_graph_end(g, &small, 1);
    tcc_value ys = tcc_graph_end(g, &chosen, 1);
    CHECK_STR(text_of(ys), "i64[4]");
    tcc_graph_output(g, "y", ys);
    CHECK(strstr(graph_text(), "scan") && strstr(graph_text(), "cond"));
    tcc_tensor inputs[] = {tensor(TCC_I64, x, 1, STEPS, 0), tensor(TCC_I64, &base, 0, 0, 0)};
    tcc_tensor outputs[] = {tensor(TCC_I64, y, 1, STEPS, 0)};
    CHECK_INT(run(inputs, 2, outputs, 1), TCC_OK);
    for (int i = 0; i < STEPS; i++) CHECK_INT(y[i], x[i] > 2 ? x[i] + base : -1);
}

static void test_block_errors(void) {
    tcc_unit *unit;
    begin("blocks");
    tcc_value x = vector("x", TCC_F32, number(3)), inside, slice;
    tcc_value c = tcc_graph_input(g, "c", TCC_BOOL, NULL, 0);
    CHECK_INT(tcc_graph_end(g, &x, 1), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "no block is open") != NULL);
    CHECK_INT(tcc_graph_begin_cond(g, x), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "condition of cond is f32[3]") != NULL);
    CHECK_INT(tcc_graph_begin_cond(g, c), TCC_OK);
    tcc_value y = op("+", x, number(1));
    CHECK_INT(tcc_graph_output(g, "y", y), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "an output belongs to the model") != NULL);
    CHECK_INT(tcc_graph_end(g, &y, 1), TCC_NO_VALUE); // without its second block
    CHECK(strstr(tcc_message(compiler), "second block of the cond is missing") != NULL);
    CHECK_INT(tcc_graph_do(g, c, &inside), TCC_INVALID); // of a loop
    CHECK_INT(tcc_graph_else(g, &y, 1), TCC_OK);
    CHECK_INT(op("+", y, number(1)), TCC_NO_VALUE); // of the block that was closed
    CHECK(strstr(tcc_message(compiler), "belongs to a block that is closed") != NULL);
    tcc_value two[] = {x, x};
    CHECK_INT(tcc_graph_end(g, two, 2), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "gives 2 values, not 1") != NULL);
    CHECK_INT(tcc_graph_end(g, &c, 1), TCC_NO_VALUE); // the sides differ: it is closed
    CHECK(strstr(tcc_message(compiler), "result 1 of a block of cond is bool[], not f32[3]"));
    CHECK_INT(tcc_graph_begin_scan(g, NULL, 0, &c, 1, 0, NULL, &slice), TCC_INVALID);
    CHECK_INT(tcc_graph_begin_loop(g, &x, 1, -1, &inside), TCC_INVALID);
    CHECK_INT(tcc_graph_begin_loop(g, &x, 1, 5, &inside), TCC_OK);
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    finish();
}

// ---- misuse ------------------------------------------------------------------------------------

static void test_misuse(void) {
    tcc_graph *other;
    tcc_unit *unit;
    begin("one");
    CHECK_INT(tcc_graph_new(compiler, "two", &other), TCC_OK);
    tcc_value x = vector("x", TCC_F32, number(3)), foreign = tcc_graph_int(other, 3);
    CHECK_INT(op("+", x, foreign), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "a value is none of this graph") != NULL);
    CHECK_INT(op("+", x, x + 1000), TCC_NO_VALUE);
    CHECK_INT(op("+", x, 1), TCC_NO_VALUE);
    CHECK_INT(op("plus", x, x), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "no operator \"plus\" of 2 values") != NULL);
    CHECK_INT(tcc_graph_unary(g, "+", x), TCC_NO_VALUE);
    CHECK_INT(vector("x", TCC_F32, number(3)), TCC_NO_VALUE);
    CHECK_INT(vector("", TCC_F32, number(3)), TCC_NO_VALUE);
    CHECK_INT(vector("z", (tcc_dtype)99, number(3)), TCC_NO_VALUE);
    CHECK_INT(vector("z", TCC_F32, number(-3)), TCC_NO_VALUE);
    CHECK_INT(vector("z", TCC_F32, x), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_dim(g, "N", 5, 4, 5), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_dim(g, "N", 1, 4, 9), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_dim(g, "a b", 1, 4, 4), TCC_NO_VALUE);
    tcc_value n = tcc_graph_dim(g, "N", 1, 4, 4);
    CHECK(n != TCC_NO_VALUE);
    CHECK_INT(tcc_graph_dim(g, "N", 1, 4, 4), TCC_NO_VALUE);
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "has no output") != NULL);
    tcc_graph_output(g, "n", n); // no input has an axis that is N
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "no axis of an input is dim 'N' alone") != NULL);
    vector("y", TCC_F32, n);
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_OK);
    tcc_unit_free(unit);
    CHECK_INT(tcc_graph_output(g, "n", n), TCC_INVALID);
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    tcc_graph_free(other);
    finish();
}

// The graph, the unit and the compiler in any order; a graph that grows is compiled again.
static void test_lifetimes(void) {
    tcc_compiler *maker, *second;
    tcc_unit *units[3];
    CHECK_INT(tcc_compiler_new(&maker), TCC_OK);
    CHECK_INT(tcc_compiler_new(&second), TCC_OK);
    CHECK_INT(tcc_graph_new(maker, "lives", &g), TCC_OK);
    tcc_value n = tcc_graph_dim(g, "N", 1, 64, 8), x = vector("x", TCC_F32, n);
    tcc_graph_output(g, "y", tcc_graph_apply(g, "exp", &x, 1));
    CHECK_INT(tcc_compile_graph(maker, g, &units[0]), TCC_OK);
    CHECK_INT(tcc_set_option(second, "D", "N=4..16:8"), TCC_OK);
    CHECK_INT(tcc_compile_graph(second, g, &units[1]), TCC_OK);
    tcc_graph_output(g, "z", tcc_graph_apply(g, "log", &x, 1));
    tcc_compiler_free(maker);
    CHECK_INT(tcc_compile_graph(second, g, &units[2]), TCC_OK);
    CHECK_INT(tcc_set_option(second, "D", "N=4..99:8"), TCC_OK);
    tcc_unit *none;
    CHECK_INT(tcc_compile_graph(second, g, &none), TCC_INVALID);
    tcc_compiler_free(second);
    finish();
    for (int i = 0; i < 3; i++) {
        const tcc_model_api *api;
        tcc_model *model;
        CHECK_INT(tcc_unit_open(units[i], NULL, &api, &model), TCC_OK);
        tcc_port port = {.size = sizeof port};
        CHECK_INT(api->output_count(model), i == 2 ? 2 : 1);
        CHECK_INT(api->input_port(model, 0, &port), TCC_OK);
        CHECK(port.lo[0] == (i ? 4 : 1) && port.hi[0] == (i ? 16 : 64));
        api->close(model);
        tcc_unit_free(units[i]);
    }
}

// ---- texts, size -------------------------------------------------------------------------------

static void build_chain(int count) {
    tcc_value x = vector("x", TCC_F32, number(4)), first = x;
    for (int i = 0; i < count; i++)
        x = i % 3 ? op("+", x, real(i)) : op("*", x, tcc_graph_unary(g, "-", first));
    tcc_graph_output(g, "y", x);
}

// The same calls give the same text, which compiles to the same model.
static void test_text(void) {
    tcc_unit *units[2];
    float big[100] = {1.5f};
    begin("chain");
    build_chain(30);
    tcc_tensor constant = tensor(TCC_F32, big, 1, 100, 0);
    tcc_graph_output(g, "c", tcc_graph_constant(g, &constant));
    char *first = strdup(graph_text());
    CHECK_INT(tcc_compile_graph(compiler, g, &units[0]), TCC_OK);
    finish();
    begin("chain");
    build_chain(30);
    tcc_graph_output(g, "c", tcc_graph_constant(g, &constant));
    CHECK_STR(graph_text(), first);
    finish();
    CHECK_INT(tcc_compile_memory(compiler, "chain.tir", first, strlen(first), &units[1]), TCC_OK);
    const char *texts[2];
    for (int i = 0; i < 2; i++) {
        size_t size;
        CHECK_INT(tcc_unit_text(units[i], "program", &texts[i], &size), TCC_OK);
    }
    CHECK_STR(texts[0], texts[1]);
    for (int i = 0; i < 2; i++) tcc_unit_free(units[i]);
    free(first);
}

static double seconds_of(int count) {
    struct timespec from, to;
    begin("long");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    build_chain(count);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    CHECK(strlen(graph_text()) > (size_t)count * 20);
    finish();
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

// Ten times the calls take about ten times as long; a slow machine has three tries.
static void test_large(void) {
    bool linear = false;
    for (int i = 0; i < 3 && !linear; i++) {
        double small = seconds_of(4000), large = seconds_of(40000);
        linear = large < 25 * small;
        if (!linear) printf("    %.4f s and %.4f s\n", small, large);
    }
    CHECK(linear);
}

int main(void) {
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    tcc_on_diagnostic(compiler, on_diagnostic, NULL);
    RUN(test_table);
    RUN(test_info);
    RUN(test_subscripts);
    RUN(test_weights);
    RUN(test_missing_weight);
    RUN(test_constants);
    RUN(test_labels);
    RUN(test_library_errors);
    RUN(test_failures_leave_nothing);
    RUN(test_cond);
    RUN(test_loop);
    RUN(test_scan);
    RUN(test_nested_blocks);
    RUN(test_block_errors);
    RUN(test_misuse);
    RUN(test_lifetimes);
    RUN(test_text);
    RUN(test_large);
    tcc_compiler_free(compiler);
    return test_done();
}
