// The cache of units: what was compiled once is not compiled again, unless anything that decides
// it is another; and it stays within its bounds.
#include "tests/unit/test.h"

#include <pthread.h>
#include <sys/stat.h>
#include <tcc/graph.h>
#include <tcc/tcc.h>
#include <unistd.h>

static const char twice[] = "dim N in 1..9\n"
                            "model twice(x: f32[N]) -> (y: f32[N]) { y = x + x }\n";

static tcc_cache *new_cache(uint32_t units, uint64_t bytes) {
    tcc_cache_options options = {.size = sizeof options, .units = units, .bytes = bytes};
    tcc_cache *cache = NULL;
    CHECK_INT(tcc_cache_new(&options, &cache), TCC_OK);
    return cache;
}

static tcc_compiler *compiler_with(tcc_cache *cache) {
    tcc_compiler_options options = {.size = sizeof options, .cache = cache};
    tcc_compiler *compiler = NULL;
    CHECK_INT(tcc_compiler_new_with(&options, &compiler), TCC_OK);
    return compiler;
}

static tcc_cache_info info_of(tcc_cache *cache) {
    tcc_cache_info info = {.size = sizeof info};
    CHECK_INT(tcc_cache_get_info(cache, &info), TCC_OK);
    return info;
}

static tcc_unit *compile(tcc_compiler *compiler, const char *path, const char *text) {
    tcc_unit *unit = NULL;
    tcc_status status = tcc_compile_memory(compiler, path, text, strlen(text), &unit);
    if (!CHECK_INT(status, TCC_OK)) printf("    %s\n", tcc_message(compiler));
    return unit;
}

// The output for x = 1, 2, 3 of a model of one such input and output; NaN after a failure. Any
// thread.
static float run_unit(tcc_unit *unit) {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session = NULL;
    float x[3] = {1, 2, 3}, y[3] = {NAN, NAN, NAN};
    tcc_tensor in = {.size = sizeof in, .dtype = TCC_F32, .rank = 1, .data = x, .dims = {3}};
    tcc_tensor out = in;
    out.data = y;
    if (tcc_unit_open(unit, NULL, &api, &model) != TCC_OK) return NAN;
    bool good =
        api->session_new(model, &session) == TCC_OK && api->run(session, &in, 1, &out, 1) == TCC_OK;
    api->session_free(session);
    api->close(model);
    return good ? y[2] : NAN;
}

// ---- what is the same, and what is not ----------------------------------------------------------

// Compiles with the cache; whether that was a hit.
static bool hits(tcc_cache *cache, tcc_compiler *compiler, const char *path, const char *text) {
    uint64_t before = info_of(cache).hits;
    tcc_unit_free(compile(compiler, path, text));
    return info_of(cache).hits > before;
}

static void test_the_same_again(void) {
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *a = compiler_with(cache), *b = compiler_with(cache);
    CHECK(!hits(cache, a, "m.g", twice));
    CHECK(hits(cache, a, "m.g", twice));
    CHECK(hits(cache, b, "m.g", twice));
    CHECK_INT(tcc_set_option(b, "threads", "1"), TCC_OK); // decides nothing
    CHECK(hits(cache, b, "m.g", twice));
    tcc_unit *unit = compile(a, "m.g", twice);
    tcc_compiler_free(a);
    tcc_compiler_free(b);
    tcc_cache_free(cache);
    CHECK(run_unit(unit) == 6);
    tcc_unit_free(unit);
}

static void test_options_that_decide(void) {
    static const char *const options[][2] = {
        {"O", "0"},           {"O", "1"},
        {"D", "N=4"},         {"D", "N=1..4:2"},
        {"entry", "twice"},   {"fstrict-sums", ""},
        {"skip", "fold"},     {"fexcess-precision", "none"},
        {"pass-limit", "0"},  {"schedule", "*:unroll=2"},
        {"strip-info", ""},   {"target", "x86-64-v3,sm_80"},
        {"params", "random"},
    };
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *plain = compiler_with(cache);
    CHECK(!hits(cache, plain, "m.g", twice));
    CHECK(!hits(cache, plain, "other.g", twice));
    CHECK(!hits(cache, plain, "m.g", "model twice(x: f32[3]) -> (y: f32[3]) { y = x + x }\n"));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        tcc_compiler *compiler = compiler_with(cache);
        tcc_status set = tcc_set_option(compiler, options[i][0], options[i][1]);
        if (!CHECK_INT(set, TCC_OK)) printf("    %s\n", tcc_message(compiler));
        if (!CHECK(!hits(cache, compiler, "m.g", twice))) printf("    %s\n", options[i][0]);
        CHECK(hits(cache, compiler, "m.g", twice));
        tcc_compiler_free(compiler);
    }
    CHECK(hits(cache, plain, "m.g", twice));
    tcc_compiler_free(plain);
    tcc_cache_free(cache);
}

// ---- files --------------------------------------------------------------------------------------

static char folder[] = "/tmp/tcc-cache-XXXXXX";

enum { PATH_ROOM = 256 };

static char *in_folder(const char *name) {
    static char paths[8][PATH_ROOM]; // used in turn
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, PATH_ROOM, "%s/%s", folder, name);
    return path;
}

// Weights of three times `value`.
static void write_weights(tcc_compiler *compiler, const char *path, float value) {
    int64_t dims[] = {3};
    tcc_array *array;
    CHECK_INT(tcc_array_new(compiler, TCC_F32, 1, dims, &array), TCC_OK);
    float *data = tcc_array_tensor(array)->data;
    for (int i = 0; i < 3; i++) data[i] = value;
    CHECK_INT(tcc_array_write(compiler, array, path), TCC_OK);
    tcc_array_free(array);
}

static float run_model(tcc_compiler *compiler, const char *text) {
    tcc_unit *unit = compile(compiler, in_folder("m.g"), text);
    float result = unit ? run_unit(unit) : 0;
    tcc_unit_free(unit);
    return result;
}

// The file changes in place, with the same size and within the same tick of the clock.
static void check_changes(tcc_cache *cache, tcc_compiler *compiler, const char *text,
                          const char *name) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_folder(name));
    for (int i = 1; i < 6; i++) {
        write_weights(compiler, path, (float)i);
        CHECK(run_model(compiler, text) == 3 * (float)i);
        uint64_t before = info_of(cache).hits;
        CHECK(run_model(compiler, text) == 3 * (float)i);
        CHECK_INT(info_of(cache).hits, before + 1);
    }
    CHECK_INT(info_of(cache).units, 1);
}

static const char scaled[] = "weights \"%s\"\n"
                             "model m(x: f32[3]) -> (y: f32[3]) {\n"
                             "    param w: f32[3]\n"
                             "    y = x * w\n"
                             "}\n";

static void check_weights(const char *named, const char *name) {
    char text[256];
    snprintf(text, sizeof text, scaled, named);
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    check_changes(cache, compiler, text, name);
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

// x + x and x * x, made in the order of `ops` under the labels first and second.
static uint64_t hits_of_graph(tcc_cache *cache, tcc_compiler *compiler, const char *const *ops) {
    static const char *const labels[] = {"first", "second"};
    uint64_t before = info_of(cache).hits;
    tcc_unit *unit = NULL;
    tcc_graph *graph = NULL;
    tcc_value made[2];
    CHECK_INT(tcc_graph_new(compiler, "labels", &graph), TCC_OK);
    tcc_value three = tcc_graph_int(graph, 3);
    tcc_value x = tcc_graph_input(graph, "x", TCC_F32, &three, 1);
    for (int i = 0; i < 2; i++) {
        tcc_graph_label(graph, labels[i]);
        made[*ops[i] == '*'] = tcc_graph_binary(graph, ops[i], x, x);
    }
    CHECK_INT(tcc_graph_output(graph, "sum", made[0]), TCC_OK);
    CHECK_INT(tcc_graph_output(graph, "product", made[1]), TCC_OK);
    CHECK_INT(tcc_compile_graph(compiler, graph, &unit), TCC_OK);
    tcc_graph_free(graph);
    tcc_unit_free(unit);
    return info_of(cache).hits - before;
}

static void test_labels_that_decide(void) {
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    CHECK_INT(hits_of_graph(cache, compiler, (const char *const[]){"+", "*"}), 0);
    CHECK_INT(hits_of_graph(cache, compiler, (const char *const[]){"*", "+"}), 0);
    CHECK_INT(hits_of_graph(cache, compiler, (const char *const[]){"+", "*"}), 1);
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

static void test_weights_that_change(void) { check_weights("w.npy", "w.npy"); }

// A file that is added to a folder of weights changes it.
static void test_folders_that_change(void) {
    char text[256];
    CHECK_INT(mkdir(in_folder("set"), 0777), 0);
    check_weights("set", "set/w.npy");
    snprintf(text, sizeof text, scaled, "set");
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    CHECK(!hits(cache, compiler, in_folder("m.g"), text));
    CHECK(hits(cache, compiler, in_folder("m.g"), text));
    write_weights(compiler, in_folder("set/v.npy"), 1);
    CHECK(!hits(cache, compiler, in_folder("m.g"), text));
    unlink(in_folder("set/v.npy"));
    CHECK(!hits(cache, compiler, in_folder("m.g"), text));
    unlink(in_folder("set/w.npy"));
    tcc_unit *unit; // the weights are gone, and the cache does not hide it
    CHECK_INT(tcc_compile_memory(compiler, in_folder("m.g"), text, strlen(text), &unit),
              TCC_INVALID);
    CHECK_INT(rmdir(in_folder("set")), 0);
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

// Values for parameters that have none come from files as well.
static void test_params_that_change(void) {
    static const char text[] = "model m(x: f32[3]) -> (y: f32[3]) {\n"
                               "    param w: f32[3]\n"
                               "    y = x * w\n"
                               "}\n";
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    CHECK_INT(tcc_set_option(compiler, "params", in_folder("w.npy")), TCC_OK);
    check_changes(cache, compiler, text, "w.npy");
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

// ---- bounds -------------------------------------------------------------------------------------

static const char *numbered(int number) {
    static char text[128];
    snprintf(text, sizeof text, "model m(x: f32[3]) -> (y: f32[3]) { y = x * %d.0 }\n", number);
    return text;
}

static void test_the_oldest_goes_first(void) {
    tcc_cache *cache = new_cache(3, 0);
    tcc_compiler *compiler = compiler_with(cache);
    for (int i = 1; i <= 3; i++) CHECK(!hits(cache, compiler, "m.g", numbered(i)));
    CHECK(hits(cache, compiler, "m.g", numbered(1)));
    CHECK(!hits(cache, compiler, "m.g", numbered(4))); // 2 goes
    CHECK(hits(cache, compiler, "m.g", numbered(1)));
    CHECK(hits(cache, compiler, "m.g", numbered(3)));
    CHECK(!hits(cache, compiler, "m.g", numbered(2)));
    CHECK_INT(info_of(cache).units, 3);
    CHECK_INT(info_of(cache).evicted, 2);
    tcc_cache_clear(cache);
    CHECK_INT(info_of(cache).units, 0);
    CHECK_INT(info_of(cache).bytes, 0);
    CHECK(!hits(cache, compiler, "m.g", numbered(3)));
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

static void test_bytes_are_bounded(void) {
    tcc_cache *large = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(large);
    tcc_unit_free(compile(compiler, "m.g", numbered(1)));
    uint64_t one = info_of(large).bytes;
    CHECK(one > 10000 && one < 10000000);
    tcc_compiler_free(compiler);
    tcc_cache_free(large);
    tcc_cache *small = new_cache(0, 5 * one / 2), *tiny = new_cache(0, 100);
    compiler = compiler_with(small);
    for (int i = 1; i <= 6; i++) tcc_unit_free(compile(compiler, "m.g", numbered(i)));
    CHECK_INT(info_of(small).units, 2);
    tcc_compiler_free(compiler);
    compiler = compiler_with(tiny);
    tcc_unit *unit = compile(compiler, "m.g", numbered(2));
    CHECK_INT(info_of(tiny).units, 0);
    CHECK(run_unit(unit) == 6);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    tcc_cache_free(small);
    tcc_cache_free(tiny);
}

static void test_none(void) {
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    CHECK_INT(tcc_set_option(compiler, "unit-cache", "0"), TCC_OK);
    tcc_unit_free(compile(compiler, "m.g", twice));
    tcc_unit_free(compile(compiler, "m.g", twice));
    CHECK_INT(info_of(cache).units + info_of(cache).misses, 0);
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

// ---- what is told -------------------------------------------------------------------------------

static void count(void *user, const tcc_diagnostic *diagnostic) {
    CHECK(diagnostic->severity != TCC_ERROR && diagnostic->text);
    ++*(int *)user;
}

static void count_text(void *user, const char *text, size_t size) {
    CHECK(text && size > 0);
    ++*(int *)user;
}

// Warnings are told each time; dumps are made each time; errors are no units.
static void test_what_is_told(void) {
    static const char warned[] = "model m(x: f32[3]) -> (y: f32[3]) { y = x * (1 / 3) }\n";
    static const char wrong[] = "model m(x: f32[3]) -> (y: f32[3]) { y = q }\n";
    tcc_cache *cache = new_cache(0, 0);
    tcc_compiler *compiler = compiler_with(cache);
    int warnings = 0, dumps = 0;
    tcc_unit *unit;
    tcc_on_diagnostic(compiler, count, &warnings);
    tcc_on_dump(compiler, count_text, &dumps);
    CHECK(!hits(cache, compiler, "m.g", warned));
    int once = warnings;
    CHECK(once > 0 && hits(cache, compiler, "m.g", warned));
    CHECK_INT(warnings, 2 * once);
    tcc_on_diagnostic(compiler, NULL, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_INT(tcc_compile_memory(compiler, "m.g", wrong, strlen(wrong), &unit), TCC_INVALID);
    CHECK_INT(info_of(cache).hits, 1);
    CHECK_STR(tcc_message(compiler), "there is no 'q'");
    CHECK_INT(tcc_set_option(compiler, "dump-after", "all"), TCC_OK);
    tcc_unit_free(compile(compiler, "m.g", warned));
    int first = dumps;
    tcc_unit_free(compile(compiler, "m.g", warned));
    CHECK(first > 0 && dumps == 2 * first);
    tcc_compiler_free(compiler);
    tcc_cache_free(cache);
}

// ---- threads ------------------------------------------------------------------------------------

typedef struct Caller {
    tcc_compiler *compiler;
    int number;
    long wrong;
} Caller;

// A unit of its own each time, used in every way, also while others use what is behind it.
static long use(tcc_compiler *compiler, int which) {
    char text[128];
    tcc_unit *unit;
    const char *out;
    size_t size;
    snprintf(text, sizeof text, "model m(x: f32[3]) -> (y: f32[3]) { y = x * %d.0 }\n", which);
    if (tcc_compile_memory(compiler, "m.g", text, strlen(text), &unit) != TCC_OK) return 1;
    long wrong = !(run_unit(unit) == 3 * (float)which);
    wrong += tcc_unit_text(unit, "tile", &out, &size) != TCC_OK || size == 0;
    wrong += tcc_unit_explain(unit, NULL, &out, &size) != TCC_OK || size == 0;
    float x[3] = {1, 2, 3};
    tcc_tensor in = {.size = sizeof in, .dtype = TCC_F32, .rank = 1, .data = x, .dims = {3}};
    wrong += tcc_unit_check(unit, &in, 1, NULL, NULL) != TCC_OK;
    tcc_unit_free(unit);
    return wrong;
}

static void *compile_often(void *data) {
    enum { ROUNDS = 20, MODELS = 6 };
    Caller *c = data;
    for (int i = 0; i < ROUNDS; i++) c->wrong += use(c->compiler, 1 + (i + c->number / 4) % MODELS);
    tcc_compiler_free(c->compiler);
    return NULL;
}

// Sixteen threads, the same and different models, and a cache that is too small for them all.
static void run_threads(uint32_t units) {
    enum { CALLERS = 16 };
    pthread_t threads[CALLERS];
    Caller callers[CALLERS];
    tcc_cache *cache = new_cache(units, 0);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (Caller){.compiler = compiler_with(cache), .number = i};
        CHECK_INT(pthread_create(&threads[i], NULL, compile_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(callers[i].wrong, 0);
    }
    tcc_cache_info info = info_of(cache);
    CHECK_INT(info.hits + info.misses, CALLERS * 20);
    CHECK(info.units <= units);
    if (units >= 6) CHECK_INT(info.misses, 6); // whoever comes second waits for the first
    tcc_cache_free(cache);
}

static void test_many_threads(void) { run_threads(8); }
static void test_many_threads_and_little_room(void) { run_threads(3); }

int main(void) {
    if (!CHECK(mkdtemp(folder) != NULL)) return test_done();
    RUN(test_the_same_again);
    RUN(test_options_that_decide);
    RUN(test_labels_that_decide);
    RUN(test_weights_that_change);
    RUN(test_folders_that_change);
    RUN(test_params_that_change);
    RUN(test_the_oldest_goes_first);
    RUN(test_bytes_are_bounded);
    RUN(test_none);
    RUN(test_what_is_told);
    RUN(test_many_threads);
    RUN(test_many_threads_and_little_room);
    unlink(in_folder("w.npy"));
    CHECK_INT(rmdir(folder), 0);
    return test_done();
}
