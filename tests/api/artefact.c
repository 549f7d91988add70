// A model.so is the model that runs in process: the same bits and figures, whatever else is loaded,
// the same bytes from every compilation; and the arena that was planned is the one that is used.
#include "tests/unit/test.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tcc/tcc.h>
#include <unistd.h>

enum { MAX_PORTS = 8, MAX_DIMS = 2, MAX_BUCKETS = 4 };

static char folder[] = "/tmp/tcc-artefact-XXXXXX";

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// ---- models, from either source

typedef struct Loaded {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    void *library; // of a model.so
} Loaded;

static bool load_unit(tcc_unit *unit, Loaded *out) {
    *out = (Loaded){0};
    return CHECK_INT(tcc_unit_open(unit, NULL, &out->api, &out->model), TCC_OK) &&
           CHECK_INT(out->api->session_new(out->model, &out->session), TCC_OK);
}

static bool load_file(const char *path, Loaded *out) {
    *out = (Loaded){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!CHECK(out->library != NULL)) return false;
    tcc_model_get_api_function *get = NULL;
    void *symbol = dlsym(out->library, TCC_MODEL_GET_API);
    memcpy(&get, &symbol, sizeof get);
    out->api = get(TCC_MODEL_API_VERSION);
    return CHECK(out->api != NULL) &&
           CHECK_INT(out->api->open(NULL, &out->model, NULL, 0), TCC_OK) &&
           CHECK_INT(out->api->session_new(out->model, &out->session), TCC_OK);
}

static void unload(Loaded *l) {
    if (l->session) l->api->session_free(l->session);
    if (l->model) l->api->close(l->model);
    if (l->library) dlclose(l->library);
}

// ---- runs

typedef struct Values {
    uint32_t count;
    tcc_array *arrays[MAX_PORTS];
    tcc_tensor tensors[MAX_PORTS];
} Values;

static void add_array(tcc_compiler *compiler, Values *v, int32_t dtype, uint32_t rank,
                      const int64_t *dims) {
    CHECK_INT(tcc_array_new(compiler, dtype, rank, dims, &v->arrays[v->count]), TCC_OK);
    v->tensors[v->count] = *tcc_array_tensor(v->arrays[v->count]);
    v->count++;
}

static void free_values(Values *v) {
    for (uint32_t i = 0; i < v->count; i++) tcc_array_free(v->arrays[i]);
}

// Dims that are open have the value that `sizes` gives for their name: "N=3 M=7 ".
static int64_t size_of(const char *sizes, const tcc_port *port, uint32_t axis) {
    char key[80];
    if (port->dims[axis] >= 0) return port->dims[axis];
    snprintf(key, sizeof key, "%s=", port->dim_names[axis]);
    const char *found = strstr(sizes, key);
    return found ? atoll(found + strlen(key)) : port->lo[axis];
}

static void make_inputs(tcc_compiler *compiler, const Loaded *l, const char *sizes, Values *out) {
    *out = (Values){0};
    for (uint32_t i = 0; i < l->api->input_count(l->model); i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        CHECK_INT(l->api->input_port(l->model, i, &port), TCC_OK);
        for (uint32_t a = 0; a < port.rank; a++) dims[a] = size_of(sizes, &port, a);
        add_array(compiler, out, port.dtype, port.rank, dims);
        tcc_array_fill_random(out->arrays[i], i + 1);
    }
}

static void make_outputs(tcc_compiler *compiler, const Loaded *l, const Values *inputs,
                         Values *out) {
    *out = (Values){0};
    for (uint32_t i = 0; i < l->api->output_count(l->model); i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        CHECK_INT(l->api->output_port(l->model, i, &port), TCC_OK);
        CHECK_INT(l->api->output_dims(l->session, inputs->tensors, inputs->count, i, dims), TCC_OK);
        add_array(compiler, out, port.dtype, port.rank, dims);
    }
}

static size_t bytes_of(const tcc_tensor *t) {
    static const uint32_t bits[] = {8, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64, 8, 8, 16, 16, 32, 64};
    size_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++) count *= (size_t)t->dims[i];
    return (count * bits[t->dtype] + 7) / 8;
}

// Both run on the same inputs and give the same bits and figures.
static void compare_runs(tcc_compiler *compiler, const Loaded *a, const Loaded *b,
                         const char *sizes) {
    Values inputs, x, y;
    tcc_run_info one = {.size = sizeof one}, two = {.size = sizeof two};
    make_inputs(compiler, a, sizes, &inputs);
    make_outputs(compiler, a, &inputs, &x);
    make_outputs(compiler, b, &inputs, &y);
    tcc_status status = a->api->run(a->session, inputs.tensors, inputs.count, x.tensors, x.count);
    if (!CHECK_INT(status, TCC_OK)) printf("    %s\n", a->api->session_message(a->session));
    CHECK_INT(b->api->run(b->session, inputs.tensors, inputs.count, y.tensors, y.count), TCC_OK);
    for (uint32_t i = 0; i < x.count; i++)
        CHECK_MEM(y.tensors[i].data, x.tensors[i].data, bytes_of(&x.tensors[i]));
    CHECK_INT(a->api->run_info(a->session, &one), TCC_OK);
    CHECK_INT(b->api->run_info(b->session, &two), TCC_OK);
    CHECK_MEM(&two, &one, sizeof one);
    free_values(&inputs);
    free_values(&x);
    free_values(&y);
}

// ---- compilations

static tcc_unit *compile(tcc_compiler **out_compiler, const char *path, const char *text,
                         const char *entry, const char *threads) {
    tcc_unit *unit = NULL;
    if (!CHECK_INT(tcc_compiler_new(out_compiler), TCC_OK)) return NULL;
    CHECK_INT(tcc_set_option(*out_compiler, "threads", threads), TCC_OK);
    CHECK_INT(tcc_set_option(*out_compiler, "params", "random:3"), TCC_OK);
    if (entry) CHECK_INT(tcc_set_option(*out_compiler, "entry", entry), TCC_OK);
    tcc_status status = text ? tcc_compile_memory(*out_compiler, path, text, strlen(text), &unit)
                             : tcc_compile_file(*out_compiler, path, &unit);
    if (!CHECK_INT(status, TCC_OK)) printf("    %s\n", tcc_message(*out_compiler));
    return unit;
}

static bool same_files(const char *a, const char *b) {
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    bool same = f && g;
    int x = 0;
    while (same && x != EOF) {
        x = getc(f);
        same = x == getc(g);
    }
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

// ---- buckets: plans for dims up to some corner

typedef struct Corners {
    uint32_t count;
    int64_t at[MAX_DIMS][MAX_BUCKETS];
} Corners;

// The bucket that serves a run of the sizes.
static uint32_t bucket_of(tcc_compiler *compiler, const Loaded *l, const char *sizes,
                          tcc_run_info *out_info) {
    Values inputs, outputs;
    *out_info = (tcc_run_info){.size = sizeof *out_info};
    make_inputs(compiler, l, sizes, &inputs);
    make_outputs(compiler, l, &inputs, &outputs);
    CHECK_INT(l->api->run(l->session, inputs.tensors, inputs.count, outputs.tensors, outputs.count),
              TCC_OK);
    CHECK_INT(l->api->run_info(l->session, out_info), TCC_OK);
    free_values(&inputs);
    free_values(&outputs);
    return out_info->bucket;
}

// At the upper corner of each bucket the arena is used to its last byte, and never beyond.
static void check_buckets(tcc_compiler *compiler, const Loaded *l, const char *const *names,
                          uint32_t dims, int64_t most) {
    Corners corners = {0};
    char sizes[80];
    tcc_run_info info;
    for (uint32_t d = 0; d < dims; d++) {
        for (int64_t n = 1; n <= most; n++) {
            snprintf(sizes, sizeof sizes, "%s=%lld", names[d], (long long)n);
            uint32_t bucket = bucket_of(compiler, l, sizes, &info);
            if (!CHECK(bucket < MAX_BUCKETS)) return;
            CHECK(info.arena_bytes <= info.planned_bytes);
            corners.at[d][bucket] = n;
            if (bucket + 1 > corners.count) corners.count = bucket + 1;
        }
    }
    CHECK(corners.count > 1);
    for (uint32_t b = 0; b < corners.count; b++) {
        int used = 0;
        for (uint32_t d = 0; d < dims; d++)
            used += snprintf(sizes + used, sizeof sizes - (size_t)used, "%s=%lld ", names[d],
                             (long long)corners.at[d][b]);
        CHECK_INT(bucket_of(compiler, l, sizes, &info), b);
        CHECK(info.planned_bytes > 0);
        if (!CHECK_INT(info.arena_bytes, info.planned_bytes)) printf("    at %s\n", sizes);
    }
}

// ---- the tests

static const char perceptron[] =
    "dim N in 1..40 tune 8\n"
    "dim M in 1..40 tune 8\n"
    "model perceptron(x: f32[N, M, 24], y: f32[N, M, 24]) -> (z: f32[N, M, 5], s: f32[N]) {\n"
    "    param a: f32[24, 48]\n"
    "    param b: f32[48, 5]\n"
    "    h = tanh(x @ a) * (y @ a)\n"
    "    z = softmax(h @ b)\n"
    "    s = sum(sum(h, axis=2), axis=1)\n"
    "}\n";

static void test_digits(void) {
    static const char *const names[] = {"N"};
    tcc_compiler *compiler;
    Loaded jit, file;
    tcc_unit *unit = compile(&compiler, "examples/digits/digits.g", NULL, NULL, "0");
    const char *path = in_folder("digits.so");
    if (unit && CHECK_INT(tcc_unit_write(unit, path), TCC_OK) && load_unit(unit, &jit) &&
        load_file(path, &file)) {
        compare_runs(compiler, &jit, &file, "N=1");
        compare_runs(compiler, &jit, &file, "N=7");
        compare_runs(compiler, &jit, &file, "N=256");
        check_buckets(compiler, &file, names, 1, 256);
        unload(&file);
        unload(&jit);
    }
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

static void test_two_dims(void) {
    static const char *const names[] = {"N", "M"};
    tcc_compiler *compiler;
    Loaded jit, file;
    tcc_unit *unit = compile(&compiler, "perceptron.g", perceptron, NULL, "0");
    const char *path = in_folder("perceptron.so");
    if (unit && CHECK_INT(tcc_unit_write(unit, path), TCC_OK) && load_unit(unit, &jit) &&
        load_file(path, &file)) {
        compare_runs(compiler, &jit, &file, "N=3 M=40");
        compare_runs(compiler, &jit, &file, "N=40 M=1");
        check_buckets(compiler, &jit, names, 2, 40);
        unload(&file);
        unload(&jit);
    }
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

// In a process that never had the compiler's unit, and after the compiler is gone.
static void test_another_process(void) {
    tcc_compiler *compiler;
    tcc_unit *unit = compile(&compiler, "perceptron.g", perceptron, NULL, "0");
    const char *path = in_folder("alone.so");
    if (unit) CHECK_INT(tcc_unit_write(unit, path), TCC_OK);
    tcc_unit_free(unit);
    pid_t child = fork();
    if (child == 0) {
        Loaded file;
        bool good = load_file(path, &file);
        for (int i = 0; good && i < 3; i++) compare_runs(compiler, &file, &file, "N=9 M=11");
        _exit(test_counts.failures > 0 || !good);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tcc_compiler_free(compiler);
}

// Every model of the file: on one thread and on seven, the same bytes.
static void check_bytes(const char *path) {
    char line[400], name[80], first[300], second[300];
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) return;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "model %79[a-z0-9_A-Z](", name) != 1) continue;
        for (int k = 0; k < 2; k++) {
            tcc_compiler *compiler;
            char *out = k ? second : first;
            tcc_unit *unit = compile(&compiler, path, NULL, name, k ? "7" : "1");
            snprintf(out, sizeof first, "%s", in_folder(k ? "second.so" : "first.so"));
            if (unit && !CHECK_INT(tcc_unit_write(unit, out), TCC_OK))
                printf("    %s\n", tcc_message(compiler));
            tcc_unit_free(unit);
            tcc_compiler_free(compiler);
        }
        if (!CHECK(same_files(first, second))) printf("    model %s\n", name);
    }
    fclose(file);
}

static void test_bytes(void) {
    check_bytes("tests/models/library.g");
    check_bytes("tests/models/fusion/products.g");
}

static void remove_folder(void) {
    static const char *const names[] = {"digits.so", "perceptron.so", "alone.so", "first.so",
                                        "second.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
    rmdir(folder);
}

int main(void) {
    if (!CHECK(mkdtemp(folder) != NULL)) return test_done();
    RUN(test_digits);
    RUN(test_two_dims);
    RUN(test_another_process);
    RUN(test_bytes);
    remove_folder();
    return test_done();
}
