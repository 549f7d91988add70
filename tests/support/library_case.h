// One model through the public library, the way a host uses it: compiled from text at a level,
// checked against the evaluator kernel by kernel, and run in process with different numbers of
// threads and from memory of awkward layouts, all of which must give the same bits.
//
// On the software GPU ("emu") the same, but for threads: three runs of a session instead, and its
// checks find nothing.
#ifndef TCC_TESTS_SUPPORT_LIBRARY_CASE_H
#define TCC_TESTS_SUPPORT_LIBRARY_CASE_H

#include "base/str.h"
#include "ir/tensor.h"

#include <tcc/tcc.h>

// A compiler and what it said last.
typedef struct LibraryHost {
    tcc_compiler *compiler;
    const char *device;    // where models run, as in tcc_open_options; NULL: on the CPU
    char diagnostic[1024]; // the last one, rendered
} LibraryHost;

// A compiler with level `level` of -O that compiles on one thread, for the CPU and, if there is a
// device, for that.
void library_host_open(LibraryHost *host, int level, const char *device);
void library_host_close(LibraryHost *host);

// The programs that a case became before, as text: what is the same is not run again.
typedef struct LibrarySeen {
    uint32_t count;
    Str programs[8]; // in the arena of the runs
} LibrarySeen;

typedef struct LibraryCase {
    LibraryHost *host;
    Str text;             // .tir
    const Tensor *inputs; // with any values: elements that cannot be compared do not matter
    const Tensor *tame;   // the same shapes, with values for which they do; NULL: none
    uint32_t input_count;
    // Elements that make an index out of range, one an input: written over element 0 of an input
    // for which it is not 0. The run must report them and leave the outputs alone.
    const int64_t *bad_indices; // NULL: none
    bool layouts;               // also from every Placement
    bool unchecked;             // only runs are compared with each other
    LibrarySeen *seen;          // NULL: run whatever it is
} LibraryCase;

typedef struct LibraryResult {
    bool repeated; // it became a program that was run before, and was not run
    uint32_t launches;
    uint32_t threads; // the most that a kernel ran on
    uint64_t elements, compared;
    const Tensor *outputs; // of the first run, in the arena
    uint32_t output_count;
} LibraryResult;

// NULL when all is well, else what is wrong, in `arena`.
const char *library_case_run(const LibraryCase *test, Arena *arena, LibraryResult *out_result);

#endif
