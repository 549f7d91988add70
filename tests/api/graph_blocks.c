// Blocks of models that are built call by call: what they compute, misuse, and giving them up.
#include "tests/api/graph_host.h"

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

// A block that its host gives up: what was made in it is gone, what lies around it goes on.
static void test_abandon(void) {
    begin("abandon");
    tcc_value x = vector("x", TCC_F32, number(3)), inside;
    tcc_value c = tcc_graph_input(g, "c", TCC_BOOL, NULL, 0);
    CHECK_INT(tcc_graph_abandon(g), TCC_INVALID);
    CHECK(strstr(tcc_message(compiler), "no block is open") != NULL);
    CHECK_INT(tcc_graph_begin_loop(g, &x, 1, 5, &inside), TCC_OK);
    CHECK_INT(tcc_graph_begin_cond(g, c), TCC_OK);
    tcc_value a = tcc_graph_param(g, "a", TCC_F32, NULL, 0), made = op("+", inside, a);
    CHECK_INT(tcc_graph_depth(g), 2);
    CHECK_INT(tcc_graph_else(g, &made, 1), TCC_OK);
    CHECK_INT(tcc_graph_abandon(g), TCC_OK);
    CHECK_INT(tcc_graph_depth(g), 1);
    CHECK_INT(op("+", made, x), TCC_NO_VALUE);
    CHECK(strstr(tcc_message(compiler), "belongs to a block that is closed") != NULL);
    CHECK(op("+", inside, x) != TCC_NO_VALUE);
    CHECK_INT(tcc_graph_abandon(g), TCC_OK);
    CHECK_INT(tcc_graph_depth(g), 0);
    CHECK(tcc_graph_param(g, "a", TCC_F32, NULL, 0) != TCC_NO_VALUE); // the name is free again
    tcc_graph_output(g, "y", op("+", x, x));
    CHECK(!strstr(graph_text(), "loop") && !strstr(graph_text(), "cond"));
    finish();
}

int main(void) {
    graphs_begin();
    RUN(test_cond);
    RUN(test_loop);
    RUN(test_scan);
    RUN(test_nested_blocks);
    RUN(test_block_errors);
    RUN(test_abandon);
    return graphs_end();
}
