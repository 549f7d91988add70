// Instances of the rows of emulator/ptx/instructions.def: instructions as text, made from the
// forms.
#ifndef TCC_TESTS_EMULATOR_PTX_INSTANCES_H
#define TCC_TESTS_EMULATOR_PTX_INSTANCES_H

#include "emulator/ptx/grammar.h"

// All forms, a line each: every type, vector, shape, space and modifier of a form is in some line;
// beyond those, `count` combinations are drawn at random. Each of these is followed by twists of it
// that are likely wrong: another type, one more modifier, one less.
void instances_list(Grammar *grammar, Buf *out, int count, uint64_t seed);

// One line: a random combination of a random form.
void instances_draw(Grammar *grammar, Buf *out, uint64_t seed);

// What a module has before such lines: a kernel that declares their registers and labels.
void instances_head(Buf *out, const char *target, const char *version);

#endif
