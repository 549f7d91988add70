// An allocator for tests: counts what is out, checks what comes back, and fails when it is told to.
#ifndef TCC_TESTS_COUNTED_MEMORY_H
#define TCC_TESTS_COUNTED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <tcc/model.h>

typedef struct CountedMemory {
    atomic_long blocks, bytes; // that are out
    atomic_long calls;         // of allocate, all that succeeded
    atomic_long wrong;         // blocks that came back with another size, or that are not of it
    atomic_long left;          // allocations that succeed yet; negative: all
} CountedMemory;

// The allocator with `memory` behind it; memory begins as {.left = -1}.
tcc_allocator counted_allocator(CountedMemory *memory);

#endif
