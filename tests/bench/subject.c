#include "subject.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    (void)user;
    fputs(diagnostic->rendered, stderr);
}

static void check_status(const Subject *s, tcc_status status, const char *what) {
    expect(status == TCC_OK, "%s: %s", what, tcc_message(s->compiler));
}

static size_t bytes_of_element(int32_t dtype) {
    switch (dtype) {
    case TCC_F64: return 8;
    case TCC_I8: return 1;
    case TCC_F16:
    case TCC_BF16: return 2;
    default: return 4;
    }
}

static size_t bytes_of(const tcc_tensor *tensor) {
    size_t bytes = bytes_of_element(tensor->dtype);
    for (uint32_t i = 0; i < tensor->rank; i++) bytes *= (size_t)tensor->dims[i];
    return bytes;
}

/* Memory of its own for the tensor, aligned to 64 bytes and touched. */
static void place_tensor(tcc_tensor *tensor, const void *contents) {
    size_t bytes = (bytes_of(tensor) + 4095) / 4096 * 4096;
    tensor->data = aligned_alloc(4096, bytes > 0 ? bytes : 4096);
    expect(tensor->data != NULL, "out of memory");
    memset(tensor->data, 0, bytes);
    if (contents) memcpy(tensor->data, contents, bytes_of(tensor));
}

static void port_dims(const tcc_port *port, int64_t size, int64_t *out_dims) {
    for (uint32_t i = 0; i < port->rank; i++)
        out_dims[i] = port->dims[i] >= 0 ? port->dims[i] : size;
}

static void make_input(Subject *s, uint32_t i, int64_t size) {
    tcc_port port = {.size = sizeof port};
    int64_t dims[TCC_MAX_RANK];
    tcc_array *array = NULL;
    expect(s->api->input_port(s->model, i, &port) == TCC_OK, "input %u is unknown", i);
    port_dims(&port, size, dims);
    check_status(s, tcc_array_new(s->compiler, port.dtype, port.rank, dims, &array), port.name);
    tcc_array_fill_random(array, i + 1);
    s->inputs[i] = *tcc_array_tensor(array);
    place_tensor(&s->inputs[i], tcc_array_tensor(array)->data);
    tcc_array_free(array);
}

static void make_output(Subject *s, uint32_t i) {
    tcc_port port = {.size = sizeof port};
    expect(s->api->output_port(s->model, i, &port) == TCC_OK, "output %u is unknown", i);
    tcc_tensor *tensor = &s->outputs[i];
    *tensor = (tcc_tensor){.size = sizeof *tensor, .dtype = port.dtype, .rank = port.rank};
    tcc_status status = s->api->output_dims(s->session, s->inputs, s->input_count, i, tensor->dims);
    expect(status == TCC_OK, "%s", s->api->session_message(s->session));
    place_tensor(tensor, NULL);
}

static void open_model(Subject *s, int32_t threads) {
    tcc_open_options options = {.size = sizeof options, .threads = threads};
    check_status(s, tcc_unit_open(s->unit, &options, &s->api, &s->model), "open");
    expect(s->api->session_new(s->model, &s->session) == TCC_OK, "no session");
    s->input_count = s->api->input_count(s->model);
    s->output_count = s->api->output_count(s->model);
    expect(s->input_count <= SUBJECT_PORTS && s->output_count <= SUBJECT_PORTS, "too many ports");
}

Subject subject_new(const char *path, const char *text, int32_t threads, int64_t size) {
    Subject s = {0};
    expect(tcc_compiler_new(&s.compiler) == TCC_OK, "no compiler");
    tcc_on_diagnostic(s.compiler, print_diagnostic, NULL);
    if (text) check_status(&s, tcc_set_option(s.compiler, "params", "random:1"), "params");
    const char *schedule = getenv("SCHEDULE"), *target = getenv("TARGET");
    if (target) check_status(&s, tcc_set_option(s.compiler, "target", target), "target");
    if (schedule) check_status(&s, tcc_set_option(s.compiler, "schedule", schedule), "schedule");
    tcc_status status = text ? tcc_compile_memory(s.compiler, path, text, strlen(text), &s.unit)
                             : tcc_compile_file(s.compiler, path, &s.unit);
    check_status(&s, status, path);
    open_model(&s, threads);
    for (uint32_t i = 0; i < s.input_count; i++) make_input(&s, i, size);
    for (uint32_t i = 0; i < s.output_count; i++) make_output(&s, i);
    return s;
}

void subject_free(Subject *s) {
    for (uint32_t i = 0; i < s->input_count; i++) free(s->inputs[i].data);
    for (uint32_t i = 0; i < s->output_count; i++) free(s->outputs[i].data);
    s->api->session_free(s->session);
    s->api->close(s->model);
    tcc_unit_free(s->unit);
    tcc_compiler_free(s->compiler);
}

void subject_run(void *subject) {
    Subject *s = subject;
    tcc_status status =
        s->api->run(s->session, s->inputs, s->input_count, s->outputs, s->output_count);
    expect(status == TCC_OK, "%s", s->api->session_message(s->session));
}
