#include "tests/support/dsl_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep(void *user, const Diag *diag) {
    DslRun *run = user;
    DslMessage message = {.severity = diag->severity,
                          .line = diag->loc.line,
                          .column = diag->loc.column,
                          .main_file = diag->loc.file == run->file,
                          .text = diag->text,
                          .rendered = diag->rendered};
    snprintf(message.id, sizeof message.id, "%s", diag->id);
    vec_push(run->arena, &run->messages, message);
}

static bool has_weights(Str text) {
    for (size_t i = 0; i + 9 < text.size; i++) {
        bool first = i == 0 || text.data[i - 1] == '\n';
        if (first && memcmp(text.data + i, "weights \"", 9) == 0) return true;
    }
    return false;
}

void dsl_run(DslRun *run, const char *path, Str text, const DslOptions *options) {
    *run = (DslRun){.arena = arena_new(NULL)};
    run->ctx = ir_context_new(run->arena);
    run->diags = diags_new(run->arena, keep, run, 0);
    run->file = diags_add_file(run->diags, str_from(path), text);
    run->weights = weights_new(run->arena);
    DslOptions own = options ? *options : (DslOptions){0};
    own.file = run->file;
    own.weights = run->weights;
    own.allow_missing = !has_weights(text);
    guard_enter(&run->guard);
    if (setjmp(run->guard.jump) == 0)
        run->module = dsl_compile(run->ctx, run->arena, run->diags, &own);
    else
        run->raised = true;
    guard_leave(&run->guard);
}

void dsl_run_free(DslRun *run) {
    weights_free(run->weights);
    ir_context_free(run->ctx);
    arena_free(run->arena);
}

size_t dsl_run_errors(const DslRun *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->messages.count; i++) {
        count += run->messages.data[i].severity == DIAG_error;
    }
    return count;
}

const DslMessage *dsl_run_first(const DslRun *run) {
    for (size_t i = 0; i < run->messages.count; i++) {
        if (run->messages.data[i].severity == DIAG_error) return &run->messages.data[i];
    }
    return NULL;
}

Str dsl_read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return (Str){NULL, 0};
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    size_t got = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    return (Str){bytes, got};
}
