#include "compiler/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *tcc_version(void) { return "0.1.0"; }

tcc_status tcc_compiler_new(tcc_compiler **out_compiler) {
    Guard guard;
    if (out_compiler == NULL) return TCC_INVALID;
    tcc_compiler *compiler = calloc(1, sizeof *compiler);
    *out_compiler = NULL;
    if (compiler == NULL) return TCC_MEMORY;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) compiler->arena = arena_new(NULL);
    guard_leave(&guard);
    if (compiler->arena == NULL) {
        free(compiler);
        return TCC_MEMORY;
    }
    compiler->holds = 1;
    compiler->options = (Options){.level = 2, .target = STR("native"), .pass_limit = -1};
    *out_compiler = compiler;
    return TCC_OK;
}

void compiler_release(tcc_compiler *compiler) {
    if (compiler == NULL || --compiler->holds > 0) return;
    arena_free(compiler->reading);
    arena_free(compiler->arena);
    free(compiler);
}

void tcc_compiler_free(tcc_compiler *compiler) { compiler_release(compiler); }

const char *tcc_message(const tcc_compiler *compiler) {
    return compiler == NULL ? "there is no compiler" : compiler->message;
}

tcc_status compiler_refuse_null(tcc_compiler *compiler, const char *name) {
    if (compiler == NULL) return TCC_INVALID;
    return compiler_fail(compiler, TCC_INVALID, "%s is NULL", name);
}

tcc_compiler *unit_compiler(const tcc_unit *unit) { return unit == NULL ? NULL : unit->compiler; }

tcc_status compiler_fail(tcc_compiler *compiler, tcc_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(compiler->message, sizeof compiler->message, format, args);
    va_end(args);
    return status;
}

tcc_status compiler_status(Status status) {
    static const tcc_status map[] = {[STATUS_ok] = TCC_OK,
                                     [STATUS_invalid] = TCC_INVALID,
                                     [STATUS_environment] = TCC_ENVIRONMENT,
                                     [STATUS_memory] = TCC_MEMORY,
                                     [STATUS_internal] = TCC_INTERNAL};
    return map[status];
}

tcc_status compiler_enter(tcc_compiler *compiler, tcc_status (*body)(void *data), void *data) {
    Guard guard;
    tcc_status status;
    if (compiler == NULL) return TCC_INVALID;
    compiler->message[0] = 0;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        status = body(data);
    } else if (guard.kind == GUARD_memory) {
        status = compiler_fail(compiler, TCC_MEMORY, "out of memory");
    } else {
        status = compiler_fail(compiler, TCC_INTERNAL, "internal error: %s", guard.message);
    }
    guard_leave(&guard);
    return status;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

void tcc_on_diagnostic(tcc_compiler *compiler, tcc_diagnostic_callback *callback, void *user) {
    if (compiler == NULL) return;
    compiler->on_diagnostic = callback;
    compiler->diagnostic_user = user;
}

void tcc_on_dump(tcc_compiler *compiler, tcc_text_callback *callback, void *user) {
    if (compiler == NULL) return;
    compiler->on_dump = callback;
    compiler->dump_user = user;
}

void compiler_diagnose(void *user, const Diag *diag) {
    static const tcc_severity severities[] = {
        [DIAG_note] = TCC_NOTE, [DIAG_warning] = TCC_WARNING, [DIAG_error] = TCC_ERROR};
    tcc_compiler *compiler = user;
    if (diag->severity == DIAG_error && compiler->message[0] == 0)
        compiler_fail(compiler, TCC_INVALID, "%s", diag->text);
    if (compiler->on_diagnostic == NULL) return;
    tcc_diagnostic diagnostic = {.size = sizeof diagnostic,
                                 .severity = severities[diag->severity],
                                 .id = diag->id,
                                 .path = diag->path,
                                 .line = diag->loc.line,
                                 .column = diag->loc.column,
                                 .text = diag->text,
                                 .rendered = diag->rendered,
                                 .label = diag->label};
    compiler->on_diagnostic(compiler->diagnostic_user, &diagnostic);
}
