/* A chain of blocks, newest first; each allocation is a bump in the newest one. Blocks double from
 * 16 KiB to 1 MiB, what is larger gets a block of its own. Under AddressSanitizer everything not
 * handed out is poisoned, a gap after each allocation included, so that overruns are seen. */
#include "base/arena.h"

#include "base/guard.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#define POISON(address, size) ASAN_POISON_MEMORY_REGION((address), (size))
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION((address), (size))
#else
enum { ARENA_GAP = 0 };
#define POISON(address, size) ((void)(address), (void)(size))
#define UNPOISON(address, size) ((void)(address), (void)(size))
#endif

enum { ARENA_ALIGN = 16, ARENA_FIRST_BLOCK = 16 << 10, ARENA_LARGEST_BLOCK = 1 << 20 };

_Static_assert(_Alignof(max_align_t) <= ARENA_ALIGN, "an arena aligns for any scalar type");

typedef struct Block {
    struct Block *older;
    size_t size; /* of the whole block, this header included */
} Block;

enum { BLOCK_HEADER = (sizeof(Block) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN };

struct Arena {
    ArenaSource source;
    Block *newest;
    unsigned char *next; /* the free part of the newest block */
    size_t left;
    size_t block_size;
    size_t used;
};

void *source_allocate(const ArenaSource *source, size_t size, size_t alignment) {
    if (size > PTRDIFF_MAX) return NULL;
    if (source->allocate) return source->allocate(source->user, size, alignment);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

/* calloc gives fresh pages zeroed for free; other sources may hand out used memory. */
void *source_new(const ArenaSource *source, size_t size) {
    if (!source->allocate) return size <= PTRDIFF_MAX ? calloc(1, size) : NULL;
    void *memory = source_allocate(source, size, ARENA_ALIGN);
    return memory ? memset(memory, 0, size) : NULL;
}

void source_release(const ArenaSource *source, void *memory, size_t size) {
    if (!memory) return;
    if (source->allocate)
        source->release(source->user, memory, size);
    else
        free(memory);
}

/* Whoever wants the work to stop is heard here as well: a new block is what long work comes by
 * again and again. */
static Block *grow(const ArenaSource *source, size_t size) {
    guard_poll();
    Block *block = source_new(source, size);
    if (!block) guard_raise(GUARD_memory, "out of memory (%zu bytes wanted)", size);
    block->size = size;
    return block;
}

static void open_block(Arena *arena, Block *block) {
    block->older = arena->newest;
    arena->newest = block;
    arena->next = (unsigned char *)block + BLOCK_HEADER;
    arena->left = block->size - BLOCK_HEADER;
    POISON(arena->next, arena->left);
}

/* The arena's own struct is the first allocation in its first block. */
Arena *arena_new(const ArenaSource *source) {
    ArenaSource inherited = guard_scope().memory;
    if (!source) source = &inherited;
    Arena first = {.source = *source, .block_size = ARENA_FIRST_BLOCK};
    open_block(&first, grow(source, ARENA_FIRST_BLOCK));
    Arena *arena = arena_alloc(&first, sizeof(Arena));
    first.used = 0;
    *arena = first;
    return arena;
}

void arena_free(Arena *arena) {
    if (!arena) return;
    ArenaSource source = arena->source;
    for (Block *block = arena->newest, *older; block; block = older) {
        older = block->older;
        UNPOISON(block, block->size);
        source_release(&source, block, block->size);
    }
}

static bool round_up(size_t size, size_t *out_rounded) {
    if (__builtin_add_overflow(size, ARENA_GAP + ARENA_ALIGN - 1, out_rounded)) return false;
    *out_rounded -= *out_rounded % ARENA_ALIGN;
    return true;
}

/* What does not fit into the rest of the newest block opens another one. The rest is given up, but
 * for a large allocation, whose block goes behind the newest so that small ones go on there. */
static void *alloc_in_new_block(Arena *arena, size_t rounded) {
    size_t whole;
    if (__builtin_add_overflow(rounded, (size_t)BLOCK_HEADER, &whole)) {
        guard_raise(GUARD_memory, "out of memory (%zu bytes wanted)", rounded);
    }
    if (whole > arena->block_size / 4) {
        Block *block = grow(&arena->source, whole);
        block->older = arena->newest->older;
        arena->newest->older = block;
        POISON((unsigned char *)block + BLOCK_HEADER, rounded);
        return (unsigned char *)block + BLOCK_HEADER;
    }
    if (arena->block_size < ARENA_LARGEST_BLOCK) arena->block_size *= 2;
    open_block(arena, grow(&arena->source, arena->block_size));
    return NULL;
}

void *arena_alloc(Arena *arena, size_t size) {
    size_t rounded;
    if (!round_up(size ? size : 1, &rounded)) {
        guard_raise(GUARD_memory, "out of memory (%zu bytes wanted)", size);
    }
    void *memory = NULL;
    if (rounded > arena->left) memory = alloc_in_new_block(arena, rounded);
    if (!memory) {
        memory = arena->next;
        arena->next += rounded;
        arena->left -= rounded;
    }
    arena->used += size;
    UNPOISON(memory, size);
    return memory;
}

void *arena_alloc_array(Arena *arena, size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) {
        guard_raise(GUARD_memory, "out of memory (%zu items of %zu bytes wanted)", count, size);
    }
    return arena_alloc(arena, whole);
}

void *arena_copy(Arena *arena, const void *bytes, size_t size) {
    void *copy = arena_alloc(arena, size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

size_t arena_used(const Arena *arena) { return arena->used; }
