#include "base/vec.h"

#include "base/guard.h"

#include <string.h>

void *vec_grow(Arena *arena, const void *items, size_t count, size_t *capacity, size_t item_size) {
    size_t wanted;
    if (__builtin_mul_overflow(*capacity, (size_t)2, &wanted)) {
        guard_raise(GUARD_memory, "out of memory (%zu items)", *capacity);
    }
    if (wanted < 8) wanted = 8;
    void *grown = arena_alloc_array(arena, wanted, item_size);
    if (count) memcpy(grown, items, count * item_size);
    *capacity = wanted;
    return grown;
}
