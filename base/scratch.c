#include "base/scratch.h"

static void free_arena(void *arena) { arena_free(arena); }

Arena *scratch_open(Scratch *scratch) {
    scratch->arena = arena_new(NULL);
    guard_defer(&scratch->defer, free_arena, scratch->arena);
    return scratch->arena;
}

void scratch_close(Scratch *scratch) {
    guard_undefer(&scratch->defer);
    arena_free(scratch->arena);
}
