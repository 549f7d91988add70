// What the tests of models that are built call by call share: a compiler with its diagnostics, the
// graph that is being built, short names for its calls, and a run of what was built.
#ifndef TCC_TESTS_API_GRAPH_HOST_H
#define TCC_TESTS_API_GRAPH_HOST_H

#include "tests/support/host.h"

#include <tcc/graph.h>

static tcc_compiler *compiler;
static tcc_graph *g;

// The diagnostics of the calls since they were cleared, as they are rendered.
static char told[8192];
static int told_count;

static inline void on_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    size_t size = strlen(told);
    (void)user;
    snprintf(told + size, sizeof told - size, "%s", diagnostic->rendered);
    told_count++;
}

static inline void begin(const char *name) {
    told[0] = 0;
    told_count = 0;
    CHECK_INT(tcc_graph_new(compiler, name, &g), TCC_OK);
}

static inline void finish(void) {
    tcc_graph_free(g);
    g = NULL;
}

static inline tcc_value number(int64_t value) { return tcc_graph_int(g, value); }
static inline tcc_value real(double value) { return tcc_graph_float(g, value); }
static inline tcc_value op(const char *text, tcc_value a, tcc_value b) {
    return tcc_graph_binary(g, text, a, b);
}

// "x" of one axis.
static inline tcc_value vector(const char *name, tcc_dtype dtype, tcc_value dim) {
    return tcc_graph_input(g, name, dtype, &dim, 1);
}

static inline tcc_tensor tensor(tcc_dtype dtype, void *data, uint32_t rank, int64_t a, int64_t b) {
    tcc_tensor t = host_vector(data, dtype, a);
    t.rank = rank;
    t.dims[1] = b;
    return t;
}

static inline const char *text_of(tcc_value value) {
    tcc_value_info info = {.size = sizeof info};
    return tcc_graph_info(g, value, &info) == TCC_OK ? info.text : "";
}

// Compiles the graph and runs it; inputs and outputs are the caller's. The graph is freed before.
static inline tcc_status run(const tcc_tensor *inputs, uint32_t input_count, tcc_tensor *outputs,
                             uint32_t output_count) {
    Host h = {.compiler = compiler};
    tcc_status status = tcc_compile_graph(compiler, g, &h.unit);
    finish();
    if (status != TCC_OK) printf("    %s\n", tcc_message(compiler));
    if (status == TCC_OK && !host_start(&h, NULL)) status = TCC_INTERNAL;
    if (status == TCC_OK)
        status = h.api->run(h.session, inputs, input_count, outputs, output_count);
    if (h.session && status != TCC_OK) printf("    %s\n", h.api->session_message(h.session));
    h.compiler = NULL; // which goes on
    host_close(&h);
    return status;
}

static inline const char *graph_text(void) {
    const char *text;
    size_t size;
    CHECK_INT(tcc_graph_text(g, &text, &size), TCC_OK);
    CHECK(text && strlen(text) == size);
    return text ? text : "";
}

static inline void graphs_begin(void) {
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    tcc_on_diagnostic(compiler, on_diagnostic, NULL);
}

static inline int graphs_end(void) {
    tcc_compiler_free(compiler);
    return test_done();
}

#endif
