// What is fuzzed: every reader of files that others wrote, each on bytes in memory.
//
// A reader that accepts the bytes is asked for more: a text must print and read back to the same
// text, a tensor must have the bytes that its dtype and dims need. A reader that refuses them must
// have said why, at a place that exists. What breaks that aborts, as a crash of the reader does.
#ifndef TCC_TESTS_FUZZ_PARSERS_TARGETS_H
#define TCC_TESTS_FUZZ_PARSERS_TARGETS_H

#include <stddef.h>
#include <stdint.h>

// How the bytes of a format are made of smaller things, for the mutator.
typedef enum FuzzForm {
    FORM_text,
    FORM_ptx,
    FORM_safetensors,
    FORM_npy,
    FORM_zip,
    FORM_elf
} FuzzForm;

typedef struct FuzzTarget {
    const char *name; // of its corpus, too
    FuzzForm form;
    void (*run)(const uint8_t *data, size_t size);
    const char *const
        *words; // of the format, NULL at the end; the op table's words are used as well
} FuzzTarget;

// The reader of PTX as far as programs for a device (ptx.c).
void fuzz_ptx(const uint8_t *data, size_t size);
extern const char *const fuzz_ptx_words[];

// NULL when there is none of that name.
const FuzzTarget *fuzz_target_find(const char *name);
const FuzzTarget *fuzz_target_at(size_t index); // NULL past the end

#endif
