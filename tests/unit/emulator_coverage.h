// Which instructions a test of the emulator executes: with EMULATOR_COVERAGE=FILE every program
// that launches kernels adds lines "opcode program" to the file, the opcode with its modifiers and
// types (tests/emulator/coverage).
#ifndef TCC_TESTS_UNIT_EMULATOR_COVERAGE_H
#define TCC_TESTS_UNIT_EMULATOR_COVERAGE_H

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static inline void coverage_note(void *user, Str form, uint32_t line, uint64_t times) {
    const char *path = getenv("EMULATOR_COVERAGE");
    FILE *file = path ? fopen(path, "a") : NULL;
    (void)user, (void)line, (void)times;
    if (!file) return;
    fprintf(file, "%.*s %s\n", STR_ARG(form), program_invocation_short_name);
    fclose(file);
}

#endif
