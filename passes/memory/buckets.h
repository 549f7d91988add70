/* The dims of a program and the buckets of their values. */
#ifndef TCC_PASSES_MEMORY_BUCKETS_H
#define TCC_PASSES_MEMORY_BUCKETS_H

#include "ir/program.h"

/* Fills in program->dims, with the named dims that occur anywhere in its graph, in the order of
 * their declaration, and up to PROGRAM_MAX_BUCKETS buckets: the upper ends of geometric parts of
 * each dim's range, the last one its greatest value. */
void memory_find_buckets(Program *program, Arena *scratch);

#endif
