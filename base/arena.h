/* Arenas: memory by lifetime.
 *
 * An arena hands out zeroed memory that is freed all at once. tcc uses four lifetimes: session
 * (types, dims, strings), module (source, AST), graph (nodes, until the next pass's graph exists)
 * and scratch (inside one pass). Functions that return memory take the arena first.
 * An arena belongs to one thread at a time. When memory runs out, arena_alloc does not return: it
 * raises GUARD_memory (guard.h), so callers never check for NULL.
 */
#ifndef TCC_BASE_ARENA_H
#define TCC_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

/* Where arenas get their blocks: `allocate` returns NULL when it fails, `release` is told the size
 * that was asked for. All zero means malloc and free. */
typedef struct ArenaSource {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} ArenaSource;

/* Memory of a source that is no arena's; NULL when there is none. source_new gives zeros. */
void *source_allocate(const ArenaSource *source, size_t size, size_t alignment);
void *source_new(const ArenaSource *source, size_t size);
void source_release(const ArenaSource *source, void *memory, size_t size); /* NULL is allowed */

/* A new, empty arena; the caller frees it with arena_free. `source` NULL: that of the innermost
 * guard (guard.h). Raises GUARD_memory. */
Arena *arena_new(const ArenaSource *source);

/* Frees the arena and all that was allocated from it. NULL is allowed. */
void arena_free(Arena *arena);

/* Zeroed memory aligned for any scalar type; size 0 gives a valid unique pointer. Never NULL. */
void *arena_alloc(Arena *arena, size_t size);

/* arena_alloc for count items of `size` bytes; an overflowing product raises GUARD_memory. */
void *arena_alloc_array(Arena *arena, size_t count, size_t size);

/* A copy of `size` bytes. */
void *arena_copy(Arena *arena, const void *bytes, size_t size);

/* Bytes handed out so far. */
size_t arena_used(const Arena *arena);

#define NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define NEW_ARRAY(arena, T, count) ((T *)arena_alloc_array((arena), (count), sizeof(T)))

#endif
