// The functions of tcc.h and model.h with each of their pointers NULL.
#include "tests/api/null_rows.h"
#include "tests/support/host.h"

#include <unistd.h>

static const char text[] = "dim N in 0..9\n"
                           "model twice(x: f32[N]) -> (y: f32[N]) { y = x + x }\n";
static const int64_t dims[] = {2};
static const tcc_model_api *api; // of the calls below

// ---- calls, by their pointers -------------------------------------------------------------------

static tcc_status compiler_new(Pointers p) {
    tcc_compiler **out = p[0];
    tcc_status status = tcc_compiler_new(out);
    if (out) tcc_compiler_free(*out);
    return status;
}

static tcc_status set_option(Pointers p) { return tcc_set_option(p[0], p[1], p[2]); }

static tcc_status compile_file(Pointers p) {
    tcc_unit **out = p[2];
    tcc_status status = tcc_compile_file(p[0], p[1], out);
    if (out) tcc_unit_free(*out);
    return status;
}

static tcc_status compile_memory(Pointers p) {
    tcc_unit **out = p[3];
    tcc_status status = tcc_compile_memory(p[0], p[1], p[2], p[2] ? strlen(p[2]) : 9, out);
    if (out) tcc_unit_free(*out);
    return status;
}

static tcc_status unit_text(Pointers p) { return tcc_unit_text(p[0], p[1], p[2], p[3]); }
static tcc_status unit_explain(Pointers p) { return tcc_unit_explain(p[0], p[1], p[2], p[3]); }
static tcc_status unit_write_object(Pointers p) { return tcc_unit_write_object(p[0], p[1]); }
static tcc_status unit_write(Pointers p) { return tcc_unit_write(p[0], p[1]); }

static tcc_status unit_open(Pointers p) {
    const tcc_model_api **out_api = p[2];
    tcc_model **out_model = p[3];
    tcc_status status = tcc_unit_open(p[0], p[1], out_api, out_model);
    if (status == TCC_OK) (*out_api)->close(*out_model);
    return status;
}

static void on_check(void *user, const tcc_check_result *result) {
    (void)user;
    CHECK(result->agrees);
}

// A flag says whether there is a callback, which is no pointer to an object.
static tcc_status unit_check(Pointers p) {
    return tcc_unit_check(p[0], p[1], 1, p[2] ? on_check : NULL, NULL);
}

static tcc_status unit_check_on(Pointers p) {
    return tcc_unit_check_on(p[0], p[1], p[2], 1, p[3] ? on_check : NULL, NULL);
}

static tcc_status artefact_read(Pointers p) {
    return tcc_artefact_read(p[0], p[1], p[2], p[3], p[4]);
}

static tcc_status array_read(Pointers p) {
    tcc_array **out = p[2];
    tcc_status status = tcc_array_read(p[0], p[1], out);
    if (out) tcc_array_free(*out);
    return status;
}

static tcc_status array_new(Pointers p) {
    tcc_array **out = p[2];
    tcc_status status = tcc_array_new(p[0], TCC_F32, 1, p[1], out);
    if (out) tcc_array_free(*out);
    return status;
}

static tcc_status array_write(Pointers p) { return tcc_array_write(p[0], p[1], p[2]); }
static tcc_status read_reference(Pointers p) { return tcc_reference(p[0], p[1], p[2], p[3]); }

static tcc_status input_port(Pointers p) { return api->input_port(p[0], 0, p[1]); }
static tcc_status output_port(Pointers p) { return api->output_port(p[0], 0, p[1]); }

static tcc_status session_new(Pointers p) {
    tcc_session **out = p[1];
    tcc_status status = api->session_new(p[0], out);
    if (out) api->session_free(*out);
    return status;
}

static tcc_status output_dims(Pointers p) { return api->output_dims(p[0], p[1], 1, 0, p[2]); }
static tcc_status run(Pointers p) { return api->run(p[0], p[1], 1, p[2], 1); }
static tcc_status enqueue(Pointers p) { return api->enqueue(p[0], p[1], 1, p[2], 1, NULL); }
static tcc_status sync_session(Pointers p) { return api->sync(p[0]); }
static tcc_status run_info(Pointers p) { return api->run_info(p[0], p[1]); }

// ---- the tables ---------------------------------------------------------------------------------

static tcc_array *array; // that a model's input may be

static void begin(Host *h) {
    bool good = host_open(h, text, NULL, NULL) &&
                CHECK_INT(tcc_array_new(h->compiler, TCC_F32, 1, dims, &array), TCC_OK);
    if (!good) exit(test_done());
    api = h->api;
}

static void finish(Host *h) {
    tcc_array_free(array);
    host_close(h);
}

// ---- tests --------------------------------------------------------------------------------------

static void test_compiling(void) {
    Host h;
    begin(&h);
    char folder[] = "/tmp/tcc-null-XXXXXX";
    char so[64], npy[64], object[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(so, sizeof so, "%s/a.so", folder);
    snprintf(npy, sizeof npy, "%s/a.npy", folder);
    snprintf(object, sizeof object, "%s/a.o", folder);
    void *out;
    const char *out_text;
    size_t size;
    const tcc_model_api *out_api;
    tcc_open_options open = {.size = sizeof open};
    tcc_tensor x = *tcc_array_tensor(array);
    char option[] = "O", two[] = "2", strict[] = "fstrict-sums", empty[] = "", ir[] = "ir";
    char fusion[] = "fusion", kind[] = "metadata", ops[] = "ops", path[] = "a.g";
    char hello[] = "examples/hello/hello.g", cpu[] = "cpu";
    const Row rows[] = {
        {"tcc_compiler_new", compiler_new, {&out}, 0},
        {"tcc_set_option", set_option, {h.compiler, option, two}, 0},
        {"tcc_set_option of none", set_option, {h.compiler, strict, empty}, 1 << 2},
        {"tcc_compile_file", compile_file, {h.compiler, hello, &out}, 0},
        {"tcc_compile_memory", compile_memory, {h.compiler, path, (void *)text, &out}, 0},
        {"tcc_unit_text", unit_text, {h.unit, ir, &out_text, &size}, 0},
        {"tcc_unit_explain", unit_explain, {h.unit, fusion, &out_text, &size}, 1 << 1},
        {"tcc_unit_write", unit_write, {h.unit, so}, 0},
        {"tcc_unit_write_object", unit_write_object, {h.unit, object}, 0},
        {"tcc_unit_open", unit_open, {h.unit, &open, &out_api, &out}, 1 << 1},
        {"tcc_unit_check", unit_check, {h.unit, &x, &out}, 1 << 2},
        {"tcc_unit_check_on", unit_check_on, {h.unit, cpu, &x, &out}, 1 << 1 | 1 << 3},
        {"tcc_artefact_read", artefact_read, {h.compiler, so, kind, &out_text, &size}, 0},
        {"tcc_array_new", array_new, {h.compiler, (void *)dims, &out}, 0},
        {"tcc_array_write", array_write, {h.compiler, array, npy}, 0},
        {"tcc_array_read", array_read, {h.compiler, npy, &out}, 0},
        {"tcc_reference", read_reference, {h.compiler, ops, &out_text, &size}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
    unlink(so);
    unlink(npy);
    unlink(object);
    CHECK_INT(rmdir(folder), 0);
    finish(&h);
}

static void test_running(void) {
    Host h;
    begin(&h);
    float data[2] = {1, 2}, result[2];
    int64_t out_dims[TCC_MAX_RANK];
    tcc_session *out;
    tcc_port port = {.size = sizeof port};
    tcc_run_info info = {.size = sizeof info};
    tcc_tensor x = *tcc_array_tensor(array), y = x;
    x.data = data;
    y.data = result;
    const Row rows[] = {
        {"input_port", input_port, {h.model, &port}, 0},
        {"output_port", output_port, {h.model, &port}, 0},
        {"session_new", session_new, {h.model, &out}, 0},
        {"output_dims", output_dims, {h.session, &x, out_dims}, 0},
        {"run", run, {h.session, &x, &y}, 0},
        {"enqueue", enqueue, {h.session, &x, &y}, 0},
        {"sync", sync_session, {h.session}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
    CHECK_INT(api->run(h.session, &x, 1, &y, 1), TCC_OK);
    check_row(&(Row){"run_info", run_info, {h.session, &info}, 0});
    finish(&h);
}

// Functions without a status.
static void test_without_status(void) {
    Host h;
    size_t size = 1;
    begin(&h);
    tcc_compiler_free(NULL);
    tcc_unit_free(NULL);
    tcc_array_free(NULL);
    tcc_array_fill_random(NULL, 1);
    CHECK(tcc_array_tensor(NULL) == NULL);
    tcc_on_diagnostic(NULL, NULL, NULL);
    tcc_on_dump(NULL, NULL, NULL);
    CHECK_STR(tcc_message(NULL), "there is no compiler");
    api->close(NULL);
    api->session_free(NULL);
    api->profile(NULL, NULL, NULL);
    CHECK_STR(api->session_message(NULL), "there is no session");
    CHECK_INT(api->input_count(NULL), 0);
    CHECK_INT(api->output_count(NULL), 0);
    CHECK_STR(api->metadata(NULL, &size), "");
    CHECK_INT(size, 0);
    CHECK(api->metadata(h.model, NULL) != NULL);
    finish(&h);
}

static void test_messages(void) {
    Host h;
    tcc_unit *unit;
    begin(&h);
    CHECK_INT(tcc_compile_file(h.compiler, NULL, &unit), TCC_INVALID);
    CHECK_STR(tcc_message(h.compiler), "path is NULL");
    CHECK_INT(api->run(h.session, NULL, 1, NULL, 1), TCC_INVALID);
    CHECK_STR(api->session_message(h.session), "inputs is NULL [null-argument]");
    finish(&h);
}

int main(void) {
    RUN(test_compiling);
    RUN(test_running);
    RUN(test_without_status);
    RUN(test_messages);
    return test_done();
}
