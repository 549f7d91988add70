// Random hosts: programs that build a graph call by call (include/tcc/graph.h), compile it and run
// it, as no text of a model would. This is the host's side alone: the public API.
#ifndef TCC_TESTS_FUZZ_HOSTS_HOSTS_H
#define TCC_TESTS_FUZZ_HOSTS_HOSTS_H

#include <stdbool.h>
#include <tcc/graph.h>

// What a host's memory is.
typedef enum Memory {
    MEMORY_plain,
    MEMORY_fails,  // its allocator gives nothing once, or from some call on
    MEMORY_limited // the process may not have much more than it has (ulimit -v)
} Memory;

enum { MAX_POOL = 64, MAX_INPUTS = 8 };

typedef struct Host {
    uint64_t state; // of the random numbers
    tcc_compiler *compiler;
    tcc_graph *graph;
    tcc_value pool[MAX_POOL]; // tensors to work on
    uint32_t count;
    tcc_value n; // a dim
    uint32_t depth, outputs;
} Host;

uint32_t pick(Host *h, uint32_t below);

// Makes inputs, then calls, most of them right, some wrong; blocks within blocks; then outputs.
void build(Host *h);

#endif
