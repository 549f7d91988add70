// A model on every CPU target that this machine executes: compared with the evaluator within the
// derived tolerance, and the same bits for every target, in every run and on 1, 2 and 7 threads.
#ifndef TCC_TESTS_SUPPORT_EVERY_TARGET_H
#define TCC_TESTS_SUPPORT_EVERY_TARGET_H

#include "tests/support/host.h"

enum { MOST_PORTS = 8 };

typedef struct TargetModel {
    const char *text;
    tcc_array *arrays[MOST_PORTS];
    tcc_tensor inputs[MOST_PORTS];
    uint32_t count;
} TargetModel;

// All outputs, one behind the other.
typedef struct TargetResult {
    size_t bytes;
    char *data;
} TargetResult;

static inline void judge(void *user, const tcc_check_result *r) {
    if (!CHECK(r->mismatches == 0))
        printf("    %s: %s element %llu is %.9g, expected %.9g within %g\n    %s", r->kernel,
               r->output, (unsigned long long)r->first_index, r->got, r->expected, r->tolerance,
               (const char *)user);
}

static inline size_t bytes_of(const tcc_tensor *t) {
    size_t bytes = t->dtype == TCC_F64 ? 8 : t->dtype == TCC_F16 || t->dtype == TCC_BF16 ? 2 : 4;
    for (uint32_t i = 0; i < t->rank; i++) bytes *= (size_t)t->dims[i];
    return bytes;
}

static inline void find_outputs(const Host *h, const TargetModel *m, tcc_tensor *outputs,
                                uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        tcc_port port = {.size = sizeof port};
        CHECK_INT(h->api->output_port(h->model, i, &port), TCC_OK);
        outputs[i] = (tcc_tensor){.size = sizeof *outputs, .dtype = port.dtype, .rank = port.rank};
        CHECK_INT(h->api->output_dims(h->session, m->inputs, m->count, i, outputs[i].dims), TCC_OK);
    }
}

// The model's results on so many threads.
static inline TargetResult run_once(Host *h, int32_t threads, const TargetModel *m) {
    tcc_open_options options = {.size = sizeof options, .threads = threads};
    tcc_tensor outputs[MOST_PORTS];
    TargetResult r = {0};
    if (!host_start(h, &options)) return r;
    uint32_t count = h->api->output_count(h->model);
    find_outputs(h, m, outputs, count);
    for (uint32_t i = 0; i < count; i++) r.bytes += bytes_of(&outputs[i]);
    r.data = calloc(r.bytes + 1, 1);
    for (size_t i = 0, at = 0; i < count; at += bytes_of(&outputs[i++]))
        outputs[i].data = r.data + at;
    if (!CHECK_INT(h->api->run(h->session, m->inputs, m->count, outputs, count), TCC_OK))
        printf("    %s\n%s", h->api->session_message(h->session), m->text);
    h->api->session_free(h->session);
    h->api->close(h->model);
    h->session = NULL;
    h->model = NULL;
    return r;
}

static inline void check_same(const TargetResult *first, TargetResult *other, const char *text,
                              const char *what) {
    bool same = first->bytes == other->bytes && first->data && other->data &&
                memcmp(first->data, other->data, first->bytes) == 0;
    if (!CHECK(same)) printf("    other bits %s:\n%s", what, text);
    free(other->data);
}

static inline void make_inputs(Host *h, TargetModel *m) {
    const tcc_model_api *api;
    tcc_model *model;
    if (!CHECK_INT(tcc_unit_open(h->unit, NULL, &api, &model), TCC_OK)) return;
    m->count = api->input_count(model);
    for (uint32_t i = 0; i < m->count; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        CHECK_INT(api->input_port(model, i, &port), TCC_OK);
        for (uint32_t k = 0; k < port.rank; k++)
            dims[k] = port.dims[k] < 0 ? (int64_t)(strlen(m->text) * 7 % 131) : port.dims[k];
        CHECK_INT(tcc_array_new(h->compiler, port.dtype, port.rank, dims, &m->arrays[i]), TCC_OK);
        tcc_array_fill_random(m->arrays[i], i + 1);
        m->inputs[i] = *tcc_array_tensor(m->arrays[i]);
    }
    api->close(model);
}

static inline void free_inputs(TargetModel *m) {
    for (uint32_t i = 0; i < m->count; i++) tcc_array_free(m->arrays[i]);
    m->count = 0;
}

static inline bool compile(Host *h, const char *text, const char *target, const char *option,
                           const char *value) {
    *h = (Host){0};
    bool good = tcc_compiler_new(&h->compiler) == TCC_OK &&
                tcc_set_option(h->compiler, "target", target) == TCC_OK &&
                tcc_set_option(h->compiler, "params", "random:1") == TCC_OK &&
                (!option || tcc_set_option(h->compiler, option, value) == TCC_OK) &&
                tcc_compile_memory(h->compiler, "case.g", text, strlen(text), &h->unit) == TCC_OK;
    if (!CHECK(good)) printf("    %s\n%s", tcc_message(h->compiler), text);
    return good;
}

static inline bool executes(const char *target) {
    if (strcmp(target, "x86-64-v3") == 0) return true;
    if (strcmp(target, "x86-64-v4") == 0) return __builtin_cpu_supports("avx512vl");
    return __builtin_cpu_supports("avx512vnni");
}

static inline void check_target(const char *text, const char *target, const char *option,
                                const char *value, TargetResult *first) {
    static const int32_t threads[] = {1, 1, 2, 7};
    Host h;
    TargetModel m = {.text = text};
    if (compile(&h, text, target, option, value)) {
        make_inputs(&h, &m);
        int status = tcc_unit_check(h.unit, m.inputs, m.count, judge, (void *)(uintptr_t)text);
        if (!CHECK_INT(status, TCC_OK))
            printf("    %s: %s\n%s", target, tcc_message(h.compiler), text);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            TargetResult r = run_once(&h, threads[i], &m);
            if (first->data == NULL)
                *first = r;
            else
                check_same(first, &r, text, option ? option : target);
        }
        free_inputs(&m);
    }
    host_close(&h);
}

// `option`: with this option set to `value` the bits are the same too; NULL for none. What is
// wrong is printed with the text. Dims that vary get a size that follows from the text.
static inline void every_target_check(const char *text, const char *option, const char *value) {
    static const char *const targets[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+vnni"};
    TargetResult first = {0};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
        if (executes(targets[t])) check_target(text, targets[t], NULL, NULL, &first);
    if (option) check_target(text, targets[0], option, value, &first);
    free(first.data);
}

// The whole of a test of generated cases: the one that the command names by its number, else all,
// of which the short form takes every `step`th.
static inline int every_target_cases(int argc, char **argv, void (*check_case)(int number),
                                     int count, int step) {
    if (argc > 1)
        check_case(atoi(argv[1]));
    else
        for (int i = 0; i < count; i += test_long() ? 1 : step) check_case(i);
    return test_done();
}

#endif
