// Large models of a few shapes, as texts of the language. Needs libc alone.
#ifndef TCC_TESTS_SUPPORT_PROGRAMS_H
#define TCC_TESTS_SUPPORT_PROGRAMS_H

typedef enum ProgramKind {
    PROGRAM_chain,   // `count` sines, one after the other
    PROGRAM_outputs, // `count` results of one input
    PROGRAM_steps,   // a loop of `count` steps that is laid out at compile time
    PROGRAM_dims,    // `count` dims, each with an input and a result
    PROGRAM_nest,    // one expression, `count` calls deep
    PROGRAM_mixed,   // `count` elementwise ops, each of the last value and an earlier one
    PROGRAM_layers,  // `count` matrix products with a relu between them
    PROGRAM_count
} ProgramKind;

const char *program_kind_name(ProgramKind kind);

// The text; the caller frees it. NULL without memory.
char *program_text(ProgramKind kind, int count);

#endif
