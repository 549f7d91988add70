// Instructions for the mutator, from the table.
#include "tests/emulator/ptx/instances.h"
#include "tests/fuzz/parsers/mutate.h"

#include <string.h>

static Grammar *grammar(void) {
    static Grammar of_process;
    static Arena *arena;
    if (!arena) {
        arena = arena_new(NULL);
        grammar_open(&of_process, arena);
    }
    return &of_process;
}

size_t draw_instruction(uint64_t seed, char *text, size_t room) {
    Arena *arena = arena_new(NULL);
    Buf buf = {.arena = arena};
    instances_draw(grammar(), &buf, seed);
    size_t size = buf.size < room ? buf.size : 0;
    if (size) memcpy(text, buf.data, size);
    arena_free(arena);
    return size;
}
