// The transformer encoder of examples/encoder: one compiled unit serves every batch and length, and
// its kernels and their composition give the evaluator's values. The long form adds the largest.
#include "tests/unit/test.h"

#include <tcc/tcc.h>

#include <time.h>

enum { WORDS = 30522, WIDTH = 384 };

typedef struct Size {
    int64_t batch, length;
} Size;

static const Size sizes[] = {{1, 1}, {64, 1}, {1, 512}, {3, 77}, {64, 512}};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

static void show(void *user, const tcc_diagnostic *diagnostic) {
    (void)user;
    printf("    %s", diagnostic->rendered);
}

static void judge(void *user, const tcc_check_result *r) {
    uint64_t *compared = user;
    *compared += r->compared;
    if (!CHECK(r->mismatches == 0))
        printf("    %s output %s: element %llu is %.9g, expected %.9g within %g\n", r->kernel,
               r->output, (unsigned long long)r->first_index, r->got, r->expected, r->tolerance);
}

static tcc_array *new_array(tcc_compiler *compiler, const Size *size) {
    tcc_array *array = NULL;
    int64_t dims[] = {size->batch, size->length};
    CHECK_INT(tcc_array_new(compiler, TCC_I64, 2, dims, &array), TCC_OK);
    return array;
}

// Words from all of the table; each text is masked from some place on, but for the first word.
static void fill(const Size *size, int64_t *ids, int64_t *mask) {
    for (int64_t b = 0; b < size->batch; b++) {
        int64_t kept = 1 + (b * 37 + size->length * 5 / 7) % size->length;
        for (int64_t t = 0; t < size->length; t++) {
            ids[b * size->length + t] = (b * 7919 + t * 104729 + 3) % WORDS;
            mask[b * size->length + t] = t < kept;
        }
    }
}

// Rows of length 1, as the model ends with x / |x|.
static void check_run(tcc_unit *unit, const Size *size, const tcc_tensor *inputs) {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    float *values = calloc((size_t)(size->batch * WIDTH), sizeof *values);
    tcc_tensor output = {.size = sizeof output,
                         .dtype = TCC_F32,
                         .rank = 2,
                         .data = values,
                         .dims = {size->batch, WIDTH}};
    tcc_run_info info = {.size = sizeof info};
    if (!CHECK_INT(tcc_unit_open(unit, NULL, &api, &model), TCC_OK)) return;
    CHECK_INT(api->session_new(model, &session), TCC_OK);
    if (!CHECK_INT(api->run(session, inputs, 2, &output, 1), TCC_OK))
        printf("    %s\n", api->session_message(session));
    for (int64_t b = 0; b < size->batch; b++) {
        double square = 0;
        for (int i = 0; i < WIDTH; i++) {
            double x = (double)values[b * WIDTH + i];
            square += x * x;
        }
        CHECK_NEAR(square, 1.0, 1e-4);
    }
    CHECK_INT(api->run_info(session, &info), TCC_OK);
    CHECK(info.arena_bytes <= info.planned_bytes);
    api->session_free(session);
    api->close(model);
    free(values);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_size(tcc_compiler *compiler, tcc_unit *unit, const Size *size) {
    tcc_array *ids = new_array(compiler, size), *mask = new_array(compiler, size);
    tcc_tensor inputs[] = {*tcc_array_tensor(ids), *tcc_array_tensor(mask)};
    uint64_t compared = 0;
    double begin = seconds_now();
    fill(size, inputs[0].data, inputs[1].data);
    if (!CHECK_INT(tcc_unit_check(unit, inputs, 2, judge, &compared), TCC_OK))
        printf("    %s\n", tcc_message(compiler));
    CHECK(compared > 0);
    check_run(unit, size, inputs);
    printf("       %lld x %lld: %llu elements compared, %.1f s\n", (long long)size->batch,
           (long long)size->length, (unsigned long long)compared, seconds_now() - begin);
    tcc_array_free(ids);
    tcc_array_free(mask);
}

static void test_sizes(void) {
    tcc_compiler *compiler;
    tcc_unit *unit;
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return;
    tcc_on_diagnostic(compiler, show, NULL);
    CHECK_INT(tcc_set_option(compiler, "params", "random:1"), TCC_OK);
    if (CHECK_INT(tcc_compile_file(compiler, "examples/encoder/encoder.g", &unit), TCC_OK)) {
        int count = test_long() ? SIZE_COUNT : SIZE_COUNT - 1;
        for (int i = 0; i < count; i++) check_size(compiler, unit, &sizes[i]);
        tcc_unit_free(unit);
    }
    tcc_compiler_free(compiler);
}

int main(void) {
    RUN(test_sizes);
    return test_done();
}
