// A host of the library, for the tests of what it promises to hosts: a model that is compiled from
// a text and opened in this process, and the tensors that go in and out.
#ifndef TCC_TESTS_SUPPORT_HOST_H
#define TCC_TESTS_SUPPORT_HOST_H

#include "tests/unit/test.h"

#include <tcc/tcc.h>

typedef struct Host {
    tcc_compiler *compiler;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
} Host;

// A session of the host's unit. `options` may be NULL.
static inline bool host_start(Host *h, const tcc_open_options *options) {
    bool good = tcc_unit_open(h->unit, options, &h->api, &h->model) == TCC_OK &&
                h->api->session_new(h->model, &h->session) == TCC_OK;
    if (!CHECK(good)) printf("    %s\n", tcc_message(h->compiler));
    return good;
}

// `level` and `options` may be NULL. After a failure, which is reported, host_close is allowed.
static inline bool host_open(Host *h, const char *text, const char *level,
                             const tcc_open_options *options) {
    *h = (Host){0};
    bool good = tcc_compiler_new(&h->compiler) == TCC_OK &&
                (!level || tcc_set_option(h->compiler, "O", level) == TCC_OK) &&
                tcc_compile_memory(h->compiler, "test.g", text, strlen(text), &h->unit) == TCC_OK;
    if (!CHECK(good)) printf("    %s\n", h->compiler ? tcc_message(h->compiler) : "no compiler");
    return good && host_start(h, options);
}

static inline void host_close(Host *h) {
    if (h->session) h->api->session_free(h->session);
    if (h->model) h->api->close(h->model);
    tcc_unit_free(h->unit);
    tcc_compiler_free(h->compiler);
}

static inline tcc_tensor host_vector(void *data, tcc_dtype dtype, int64_t count) {
    return (tcc_tensor){.size = sizeof(tcc_tensor),
                        .dtype = (int32_t)dtype,
                        .rank = 1,
                        .data = data,
                        .dims = {count}};
}

// Of f32.
static inline tcc_tensor host_matrix(void *data, int64_t rows, int64_t columns) {
    tcc_tensor t = host_vector(data, TCC_F32, rows);
    t.rank = 2;
    t.dims[1] = columns;
    return t;
}

#endif
