/* Compilers: options, callbacks, messages, and the edge of the library. */
#include "compiler/session.h"
#include "runtime/structs.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char *tcc_version(void) { return "0.1.0"; }

bool memory_of(const tcc_allocator *allocator, ArenaSource *out_memory) {
    tcc_allocator a = {0};
    *out_memory = (ArenaSource){0};
    if (allocator == NULL) return true;
    if (!struct_take(&a, sizeof a, allocator, STRUCT_UPTO(tcc_allocator, user))) return false;
    *out_memory = (ArenaSource){a.allocate, a.release, a.user};
    return a.allocate != NULL && a.release != NULL;
}

/* ---- compilers ------------------------------------------------------------------------------- */

static bool begin_compiler(tcc_compiler *compiler, tcc_cache *cache) {
    Guard guard;
    compiler->work = cache == NULL ? compiler->memory : cache_memory(cache);
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) compiler->arena = arena_new(&compiler->memory);
    guard_leave(&guard);
    if (compiler->arena == NULL) return false;
    compiler->holds = 1;
    compiler->shared_cache = cache != NULL;
    compiler->cache = cache;
    if (cache != NULL) cache_hold(cache);
    compiler->options = (Options){
        .level = 2, .target = STR("native"), .pass_limit = -1, .cache_units = USUAL_CACHE_UNITS};
    return true;
}

tcc_status tcc_compiler_new_with(const tcc_compiler_options *options, tcc_compiler **out_compiler) {
    tcc_compiler_options o = {0};
    ArenaSource memory;
    if (out_compiler == NULL) return TCC_INVALID;
    *out_compiler = NULL;
    if (!struct_take(&o, sizeof o, options, STRUCT_UPTO(tcc_compiler_options, cache)) ||
        !memory_of(o.allocator, &memory))
        return TCC_INVALID;
    tcc_compiler *compiler = source_new(&memory, sizeof *compiler);
    if (compiler == NULL) return TCC_MEMORY;
    compiler->memory = memory;
    if (begin_compiler(compiler, o.cache)) {
        *out_compiler = compiler;
        return TCC_OK;
    }
    source_release(&memory, compiler, sizeof *compiler);
    return TCC_MEMORY;
}

tcc_status tcc_compiler_new(tcc_compiler **out_compiler) {
    return tcc_compiler_new_with(NULL, out_compiler);
}

void compiler_release(tcc_compiler *compiler) {
    if (compiler == NULL || --compiler->holds > 0) return;
    ArenaSource memory = compiler->memory;
    tcc_cache_free(compiler->cache);
    arena_free(compiler->reading);
    arena_free(compiler->arena);
    source_release(&memory, compiler, sizeof *compiler);
}

void tcc_compiler_free(tcc_compiler *compiler) { compiler_release(compiler); }

static void release(void *compiler) { compiler_release(compiler); }

tcc_compiler *compiler_clone(tcc_compiler *compiler) {
    tcc_compiler *clone = NULL;
    const tcc_allocator allocator = {sizeof allocator, compiler->memory.allocate,
                                     compiler->memory.release, compiler->memory.user};
    tcc_compiler_options options = {.size = sizeof options,
                                    .allocator = allocator.allocate == NULL ? NULL : &allocator,
                                    .cache = compiler_cache(compiler)};
    if (tcc_compiler_new_with(&options, &clone) != TCC_OK)
        guard_raise(GUARD_memory, "out of memory");
    GuardDefer defer;
    guard_defer(&defer, release, clone);
    clone->work = compiler->work;
    clone->options = options_copy(&compiler->options, clone->arena);
    guard_undefer(&defer);
    return clone;
}

/* ---- messages and guards --------------------------------------------------------------------- */

const char *tcc_message(const tcc_compiler *compiler) {
    return compiler == NULL ? "there is no compiler" : compiler->message;
}

tcc_status compiler_refuse_null(tcc_compiler *compiler, const char *name) {
    if (compiler == NULL) return TCC_INVALID;
    return compiler_fail(compiler, TCC_INVALID, "%s is NULL", name);
}

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
    guard.scope.memory = compiler->work;
    if (setjmp(guard.jump) == 0) {
        status = body(data);
    } else if (guard_is_memory(guard.kind)) {
        status = compiler_fail(compiler, TCC_MEMORY, "out of memory");
    } else if (guard.kind == GUARD_stopped) {
        status = compiler_fail(compiler, TCC_CANCELLED, "cancelled");
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

void tcc_on_log(tcc_compiler *compiler, tcc_log_level most, tcc_log_callback *callback,
                void *user) {
    if (compiler == NULL) return;
    compiler->on_log = callback;
    compiler->log_level = callback == NULL ? TCC_LOG_NOTHING : most;
    compiler->log_user = user;
}

void compiler_log(const tcc_compiler *compiler, tcc_log_level level, const char *event, Str subject,
                  double seconds, const char *format, ...) {
    enum { ROOM = 256 };
    char name[ROOM], text[ROOM];
    va_list args;
    if (compiler->on_log == NULL || level > compiler->log_level) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(name, sizeof name, "%.*s", STR_ARG(subject));
    tcc_log_record record = {.size = sizeof record,
                             .level = level,
                             .event = event,
                             .subject = name,
                             .text = text,
                             .seconds = seconds};
    compiler->on_log(compiler->log_user, &record);
}

double compiler_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
