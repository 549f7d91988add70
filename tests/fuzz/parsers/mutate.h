// Mutations that know what the bytes mean: words of texts instead of bytes, lengths and checksums
// that are right again afterwards, so that inputs get past the first check.
#ifndef TCC_TESTS_FUZZ_PARSERS_MUTATE_H
#define TCC_TESTS_FUZZ_PARSERS_MUTATE_H

#include "tests/fuzz/parsers/targets.h"

// Mutates `size` bytes in place; at most `room`. Returns the new size.
size_t mutate(const FuzzTarget *target, uint8_t *data, size_t size, size_t room, unsigned seed);

// A random instruction of PTX's table and a newline, over registers that the seeds of the corpus
// declare (tests/emulator/ptx/instances.h); returns its size, 0 when there is no room for it.
size_t draw_instruction(uint64_t seed, char *text, size_t room);

#endif
