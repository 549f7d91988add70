/* A MODEL that can run: a model file compiled in this process, or a model.so. */
#ifndef TCC_DRIVER_MODEL_SOURCE_H
#define TCC_DRIVER_MODEL_SOURCE_H

#include "driver/compile.h"

/* Must stay where it is between open and close, as its Compilation must. */
typedef struct ModelSource {
    Compilation compilation; /* its compiler reads and writes arrays; no unit for a model.so */
    void *library;           /* of a model.so */
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
} ModelSource;

/* Whether the file is a compiled model: by its name, or by the bytes it begins with. */
bool is_artefact(const char *path);
/* Whether the model of the command line is one. */
bool is_artefact_given(const Options *options);
/* EXIT_usage after a message when an option was given that a compiled model is too late for. */
Exit refuse_compiling(const Options *options);

/* Reads what `kind` names of the artefact of the command line (tcc_artefact_read). The caller
 * closes the compilation in any case; the text lives as long. */
Exit artefact_text(Compilation *out_compilation, const Options *options, const char *kind,
                   const char **out_text, size_t *out_size);

/* Compiles or loads the model of the command line, to run on `threads` threads, and opens a
 * session. Closed in any case. */
Exit model_source_open(ModelSource *out_source, const Options *options, int32_t threads);
void model_source_close(ModelSource *source);

/* What a call on the session came to: says its message when it failed. */
Exit model_source_result(const ModelSource *source, tcc_status status);

#endif
