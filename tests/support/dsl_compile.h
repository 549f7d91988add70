// Compiling texts of the language in tests, with what was said kept for looking at.
#ifndef TCC_TESTS_SUPPORT_DSL_COMPILE_H
#define TCC_TESTS_SUPPORT_DSL_COMPILE_H

#include "base/guard.h"
#include "base/vec.h"
#include "frontend/dsl/dsl.h"

typedef struct DslMessage {
    DiagSeverity severity;
    char id[48];
    uint32_t line, column;
    bool main_file; // the place is in the text that was compiled
    const char *text, *rendered;
} DslMessage;

typedef struct DslRun {
    Arena *arena;
    IrContext *ctx;
    Diags *diags;
    WeightTable *weights;
    Module *module; // NULL after errors
    uint32_t file;
    bool raised; // a guard was raised: `guard` says why
    Guard guard;
    VEC(DslMessage) messages;
} DslRun;

// Compiles `text`, called `path`. `options` may be NULL; its file and weights are filled in, and
// without a weights statement parameters need no values. Always pass the result to dsl_run_free.
void dsl_run(DslRun *run, const char *path, Str text, const DslOptions *options);
void dsl_run_free(DslRun *run);

// The number of errors (notes and warnings left out), and the first one; NULL when there is none.
size_t dsl_run_errors(const DslRun *run);
const DslMessage *dsl_run_first(const DslRun *run);

// The whole file, in malloc'ed memory that the caller frees; data is NULL when it cannot be read.
Str dsl_read_file(const char *path);

#endif
