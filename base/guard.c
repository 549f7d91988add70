#include "base/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The innermost guard is a property of the thread's stack, so it is the one thing kept per thread
 * rather than passed along. */
static _Thread_local Guard *innermost;

void guard_enter(Guard *guard) {
    guard->outer = innermost;
    guard->defers = NULL;
    guard->scope = guard_scope();
    guard->kind = GUARD_none;
    guard->message[0] = '\0';
    innermost = guard;
}

GuardScope guard_scope(void) { return innermost ? innermost->scope : (GuardScope){0}; }

bool guard_set_backend(bool backend) {
    bool before = innermost && innermost->scope.backend;
    if (innermost) innermost->scope.backend = backend;
    return before;
}

GuardKind guard_raised(void) { return innermost ? innermost->kind : GUARD_none; }

bool guard_is_memory(GuardKind kind) {
    return kind == GUARD_memory || kind == GUARD_backend_memory;
}

bool guard_is_backend(GuardKind kind) {
    return kind == GUARD_backend || kind == GUARD_backend_memory;
}

void guard_poll(void) {
    if (innermost && innermost->scope.stop && atomic_load(innermost->scope.stop))
        guard_raise(GUARD_stopped, "stopped");
}

void guard_leave(Guard *guard) { innermost = guard->outer; }

void guard_defer(GuardDefer *defer, void (*run)(void *), void *object) {
    defer->run = run;
    defer->object = object;
    defer->next = NULL;
    if (!innermost) return;
    defer->next = innermost->defers;
    innermost->defers = defer;
}

void guard_undefer(GuardDefer *defer) {
    if (!innermost) return;
    for (GuardDefer **at = &innermost->defers; *at; at = &(*at)->next) {
        if (*at != defer) continue;
        *at = defer->next;
        return;
    }
}

/* Each cleanup is taken off before it runs: one that raises itself goes on with the ones after it.
 */
static _Noreturn void unwind(Guard *guard) {
    while (guard->defers) {
        GuardDefer *defer = guard->defers;
        guard->defers = defer->next;
        defer->run(defer->object);
    }
    longjmp(guard->jump, 1);
}

static _Noreturn void raise_message(GuardKind kind, const char *message) {
    if (!innermost) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    innermost->kind = kind;
    snprintf(innermost->message, sizeof innermost->message, "%s", message);
    unwind(innermost);
}

void guard_raise(GuardKind kind, const char *format, ...) {
    char message[sizeof((Guard *)0)->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    raise_message(kind, message);
}

void guard_bug(const char *file, int line, const char *format, ...) {
    char message[sizeof((Guard *)0)->message];
    int start = snprintf(message, sizeof message, "%s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    if (start > 0 && (size_t)start < sizeof message) {
        vsnprintf(message + start, sizeof message - (size_t)start, format, args);
    }
    va_end(args);
    raise_message(GUARD_bug, message);
}
