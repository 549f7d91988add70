/* Guards: the edge of the library.
 *
 * Running out of memory, a bug of our own and LLVM's fatal errors cannot be handled where they
 * happen. They unwind, by longjmp, to the innermost guard of the thread, which the library sets up
 * at its public entry points (and around each code generation). What must be released on the way
 * hangs in arenas or is registered with guard_defer.
 *
 *     Guard guard;
 *     guard_enter(&guard);
 *     if (setjmp(guard.jump) == 0) { ...work... guard_leave(&guard); return STATUS_ok; }
 *     guard_leave(&guard);              // guard.kind and guard.message say what happened
 *
 * A guard also knows what the work under it shares: where memory comes from, and who may stop it.
 * Guards inside take that over; threads that work for one get it with guard_scope.
 */
#ifndef TCC_BASE_GUARD_H
#define TCC_BASE_GUARD_H

#include "base/arena.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum GuardKind {
    GUARD_none,
    GUARD_memory,
    GUARD_bug,
    GUARD_backend,        /* LLVM cannot go on; what it worked on is in no known state */
    GUARD_backend_memory, /* the same, for lack of memory */
    GUARD_stopped
} GuardKind;

typedef struct GuardScope {
    ArenaSource memory;      /* of arenas that name no source */
    const atomic_bool *stop; /* once true, guard_poll raises GUARD_stopped; may be NULL */
    bool backend;            /* LLVM may run: no malloc returns NULL, each raises */
} GuardScope;

/* A cleanup that runs when the guard that was innermost at guard_defer is raised through. */
typedef struct GuardDefer {
    void (*run)(void *object);
    void *object;
    struct GuardDefer *next;
} GuardDefer;

typedef struct Guard {
    jmp_buf jump;
    struct Guard *outer;
    GuardDefer *defers;
    GuardScope scope; /* the outer guard's, until it is set */
    GuardKind kind;
    char message[256];
} Guard;

/* Makes `guard` the innermost guard of this thread. */
void guard_enter(Guard *guard);

/* Removes it; must be the innermost. Called on both ways out. */
void guard_leave(Guard *guard);

/* What the innermost guard of this thread says; zeros without one. */
GuardScope guard_scope(void);

/* Sets `backend` of the innermost guard's scope and returns what it was; false without a guard. */
bool guard_set_backend(bool backend);

/* For cleanups: what the innermost guard is being raised for, GUARD_none where it is not. */
GuardKind guard_raised(void);

/* Whether a kind is a lack of memory; whether it leaves what LLVM worked on in no known state. */
bool guard_is_memory(GuardKind kind);
bool guard_is_backend(GuardKind kind);

/* Raises GUARD_stopped when somebody wants the work to stop. */
void guard_poll(void);

/* Registers `defer` (caller's storage, usually on the stack) with the innermost guard;
 * guard_undefer takes the most recent one back without running it. Without a guard both do nothing.
 */
void guard_defer(GuardDefer *defer, void (*run)(void *), void *object);
void guard_undefer(GuardDefer *defer);

/* Unwinds to the innermost guard of this thread. With no guard (a bug in a test or a tool) it
 * prints the message and aborts. */
_Noreturn void guard_raise(GuardKind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A bug of our own: raises GUARD_bug with the place and the message. */
#define bug(...) guard_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void guard_bug(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An invariant of our own code, checked in every build. Never for what input can cause. */
#define require(condition) ((condition) ? (void)0 : bug("broken invariant: %s", #condition))

#endif
