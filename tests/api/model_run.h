// Models compiled and run in this process, for the tests of their numbers.
#ifndef TCC_TESTS_API_MODEL_RUN_H
#define TCC_TESTS_API_MODEL_RUN_H

#include "tests/support/host.h"

enum { MAX_PORTS = 8 };

// A model in this process, with at most MAX_PORTS inputs and outputs.
typedef struct Run {
    Host host;
    tcc_array *inputs[MAX_PORTS], *outputs[MAX_PORTS];
    tcc_tensor in[MAX_PORTS], out[MAX_PORTS];
    uint32_t input_count, output_count;
} Run;

// An input where the port leaves dims open has `n` there.
static inline void make_input(Run *r, uint32_t index, int64_t n) {
    tcc_port port = {.size = sizeof port};
    int64_t dims[TCC_MAX_RANK];
    CHECK_INT(r->host.api->input_port(r->host.model, index, &port), TCC_OK);
    for (uint32_t a = 0; a < port.rank; a++) dims[a] = port.dims[a] < 0 ? n : port.dims[a];
    CHECK_INT(tcc_array_new(r->host.compiler, port.dtype, port.rank, dims, &r->inputs[index]),
              TCC_OK);
    tcc_array_fill_random(r->inputs[index], index + 1);
    r->in[index] = *tcc_array_tensor(r->inputs[index]);
}

// Compiles the text and makes random inputs.
static inline bool run_open(Run *r, const char *text, const char *level, int32_t threads,
                            int64_t n) {
    *r = (Run){0};
    tcc_open_options options = {.size = sizeof options, .threads = threads};
    if (!host_open(&r->host, text, level, &options)) return false;
    r->input_count = r->host.api->input_count(r->host.model);
    r->output_count = r->host.api->output_count(r->host.model);
    for (uint32_t i = 0; i < r->input_count; i++) make_input(r, i, n);
    return true;
}

static inline void run_close(Run *r) {
    for (int i = 0; i < MAX_PORTS; i++) {
        tcc_array_free(r->inputs[i]);
        tcc_array_free(r->outputs[i]);
    }
    host_close(&r->host);
}

// Runs into new outputs.
static inline tcc_status run_now(Run *r) {
    for (uint32_t i = 0; i < r->output_count; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        CHECK_INT(r->host.api->output_port(r->host.model, i, &port), TCC_OK);
        CHECK_INT(r->host.api->output_dims(r->host.session, r->in, r->input_count, i, dims),
                  TCC_OK);
        tcc_array_free(r->outputs[i]);
        CHECK_INT(tcc_array_new(r->host.compiler, port.dtype, port.rank, dims, &r->outputs[i]),
                  TCC_OK);
        r->out[i] = *tcc_array_tensor(r->outputs[i]);
    }
    return r->host.api->run(r->host.session, r->in, r->input_count, r->out, r->output_count);
}

static inline bool run_text(Run *r, const char *text, const char *level, int64_t n) {
    return run_open(r, text, level, 1, n) && CHECK_INT(run_now(r), TCC_OK);
}

static inline const float *in_f32(const Run *r, uint32_t i) { return r->in[i].data; }
static inline const float *out_f32(const Run *r, uint32_t i) { return r->out[i].data; }

// Element `at` of output `i` has these very bits.
static inline void check_bits(const Run *r, uint32_t i, int64_t at, float want) {
    CHECK_MEM(&out_f32(r, i)[at], &want, sizeof want);
}

static const char *const levels[] = {"0", "1", "2"};
enum { LEVELS = sizeof levels / sizeof *levels };

#endif
