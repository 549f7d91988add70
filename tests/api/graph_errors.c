// Errors of models that are built call by call: the host's labels and places, what a failed call
// leaves, and misuse.
#include "tests/api/graph_host.h"

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
    call.size = 0;
    CHECK_INT(tcc_graph_call(g, &call), TCC_NO_VALUE);
    CHECK_STR(tcc_message(compiler), "tcc_call.size is wrong");
    call.size = sizeof call;
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

// A value that is named behind its call is called so in notes, in what is told of it, and by the
// compiled model.
static void test_rename(void) {
    float x[] = {1, 2}, y;
    int64_t at = 7;
    begin("pick");
    tcc_graph_place(g, "sheet", 3);
    tcc_value v = vector("x", TCC_F32, number(2));
    tcc_value args[] = {v, tcc_graph_input(g, "at", TCC_I64, NULL, 0)};
    tcc_value picked = tcc_graph_apply(g, "gather", args, 2);
    CHECK_INT(tcc_graph_rename(g, picked, "the cell"), TCC_OK);
    tcc_graph_place(g, "sheet", 4);
    CHECK_INT(tcc_graph_rename(g, v, "column A"), TCC_OK);
    CHECK_INT(tcc_graph_rename(g, v + 1000, "x"), TCC_INVALID);
    CHECK_INT(tcc_graph_rename(g, TCC_NO_VALUE, "x"), TCC_INVALID);
    tcc_value_info info = {.size = sizeof info};
    CHECK_INT(tcc_graph_info(g, picked, &info), TCC_OK);
    CHECK_STR(info.label, "the cell");
    told[0] = 0;
    CHECK_INT(op("+", v, args[1]), TCC_NO_VALUE);
    CHECK(strstr(told, "sheet:3: note: this is f32[2] (value \"column A\")") != NULL);
    tcc_graph_output(g, "y", picked);
    tcc_tensor inputs[] = {tensor(TCC_F32, x, 1, 2, 0), tensor(TCC_I64, &at, 0, 0, 0)};
    tcc_tensor outputs[] = {tensor(TCC_F32, &y, 0, 0, 0)};
    Host h = {.compiler = compiler};
    CHECK_INT(tcc_compile_graph(compiler, g, &h.unit), TCC_OK);
    CHECK(host_start(&h, NULL));
    CHECK_INT(h.api->run(h.session, inputs, 2, outputs, 1), TCC_INDEX);
    CHECK(strstr(h.api->session_message(h.session), "sheet:3 (value \"the cell\"): index 7"));
    h.compiler = NULL; // which goes on
    host_close(&h);
    finish();
}

int main(void) {
    graphs_begin();
    RUN(test_labels);
    RUN(test_library_errors);
    RUN(test_failures_leave_nothing);
    RUN(test_misuse);
    RUN(test_rename);
    return graphs_end();
}
