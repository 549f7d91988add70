#include "runtime/memory.h"

#include "runtime/structs.h"

#include <stdlib.h>

bool memory_from(const tcc_allocator *allocator, Memory *out_memory) {
    tcc_allocator a = {0};
    *out_memory = (Memory){0};
    if (allocator == NULL) return true;
    if (!struct_take(&a, sizeof a, allocator, STRUCT_UPTO(tcc_allocator, user))) return false;
    *out_memory = (Memory){a.allocate, a.release, a.user};
    return a.allocate != NULL && a.release != NULL;
}

void *memory_take(const Memory *memory, size_t size, size_t alignment) {
    if (memory->allocate != NULL) return memory->allocate(memory->user, size, alignment);
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return rounded < size ? NULL : aligned_alloc(alignment, rounded);
}

void *memory_new(const Memory *memory, size_t size) {
    void *block = memory_take(memory, size, MEMORY_LINE);
    return block == NULL ? NULL : memset(block, 0, size);
}

void memory_free(const Memory *memory, void *block, size_t size) {
    if (block == NULL) return;
    if (memory->allocate != NULL)
        memory->release(memory->user, block, size);
    else
        free(block);
}
