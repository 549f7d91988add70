/* An arena for the use of one function: freed when the function closes it, or when a guard is
 * raised before that.
 *
 *     Scratch scratch;
 *     Arena *arena = scratch_open(&scratch);
 *     ...
 *     scratch_close(&scratch);
 */
#ifndef TCC_BASE_SCRATCH_H
#define TCC_BASE_SCRATCH_H

#include "base/arena.h"
#include "base/guard.h"

typedef struct Scratch {
    Arena *arena;
    GuardDefer defer;
} Scratch;

/* The new arena. `scratch` stays where it is, on the caller's stack, until it is closed. Raises
 * GUARD_memory. */
Arena *scratch_open(Scratch *scratch);
void scratch_close(Scratch *scratch);

#endif
