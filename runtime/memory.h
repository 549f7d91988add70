/* Where a model's memory comes from: the host's allocator, or malloc's. */
#ifndef TCC_RUNTIME_MEMORY_H
#define TCC_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <tcc/model.h>

/* malloc's when `allocate` is NULL. */
typedef struct Memory {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} Memory;

/* NULL gives malloc's; false when the struct is none. */
bool memory_from(const tcc_allocator *allocator, Memory *out_memory);

/* NULL without memory. `alignment` is a power of two. */
void *memory_take(const Memory *memory, size_t size, size_t alignment);
enum { MEMORY_LINE = 64 }; /* bytes of a cache line */
/* Zeros, aligned to cache lines. */
void *memory_new(const Memory *memory, size_t size);
void memory_free(const Memory *memory, void *block, size_t size); /* NULL is allowed */

#endif
