// Graphs that are built call by call as a whole: the order in which handles are freed, texts, size,
// and dims that are narrowed.
#include "tests/api/graph_host.h"

#include <time.h>

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

// What the option D says when a dim is declared is its range: types that are too large for the
// whole range can be made, of the dim and of what is computed with it.
static void test_narrow_dims(void) {
    tcc_unit *unit;
    for (int narrowed = 0; narrowed < 2; narrowed++) {
        begin("cube");
        CHECK_INT(tcc_set_option(compiler, "D", narrowed ? "N=8" : "N=1..2147483647:8"), TCC_OK);
        tcc_value n = tcc_graph_dim(g, "N", 1, narrowed ? INT64_C(1) << 40 : INT32_MAX, 4);
        tcc_value dims[] = {n, n, n}, x = tcc_graph_input(g, "x", TCC_F32, dims, 3);
        CHECK((x != TCC_NO_VALUE) == (narrowed == 1));
        if (narrowed) {
            CHECK_STR(text_of(x), "f32[8, 8, 8]");
            tcc_graph_output(g, "y", tcc_graph_unary(g, "-", x));
            CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_OK);
            tcc_unit_free(unit);
        } else {
            CHECK(strstr(told, "[type-size]") != NULL);
        }
        finish();
    }
    begin("cube");
    CHECK_INT(tcc_graph_dim(g, "N", 1, 7, 4), TCC_NO_VALUE);
    CHECK(strstr(told, "8..8 is not within the range of dim N (value \"N\") [dim-override]"));
    finish();
    tcc_compiler_free(compiler);
    graphs_begin();
}

int main(void) {
    graphs_begin();
    RUN(test_lifetimes);
    RUN(test_text);
    RUN(test_large);
    RUN(test_narrow_dims);
    return graphs_end();
}
