/* A model under measurement: compiled from text or a file, opened, with inputs of random numbers.
 */
#ifndef TCC_TESTS_BENCH_SUBJECT_H
#define TCC_TESTS_BENCH_SUBJECT_H

#include <tcc/model.h>
#include <tcc/tcc.h>

enum { SUBJECT_PORTS = 8 };

typedef struct Subject {
    tcc_compiler *compiler;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    uint32_t input_count, output_count;
    tcc_tensor inputs[SUBJECT_PORTS], outputs[SUBJECT_PORTS];
} Subject;

/* Compiles the text, or the file when `text` is NULL, and opens it for so many threads (0: one a
 * core). Dims that vary are taken as `size`. Memory of inputs and outputs is aligned to 64 bytes.
 * Ends the program on any failure. */
Subject subject_new(const char *path, const char *text, int32_t threads, int64_t size);
void subject_free(Subject *subject);
/* Runs the model once: a Contestant's run. */
void subject_run(void *subject);

#endif
