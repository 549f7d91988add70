// One change of a case: what shrinking tries.
#ifndef TCC_TESTS_FUZZ_EDIT_H
#define TCC_TESTS_FUZZ_EDIT_H

#include "tests/fuzz/case.h"

typedef enum EditKind {
    EDIT_root,   // `node` alone is the output
    EDIT_cut,    // `node` becomes an input of the value that it has
    EDIT_skip,   // `node` gives its operand `operand`
    EDIT_fix,    // the dim symbol `symbol` is a constant
    EDIT_resize, // every dim of the size `from` has the size `to`
    EDIT_clear   // the elements of input `node` are `to`
} EditKind;

typedef struct Edit {
    EditKind kind;
    NodeId node;
    uint32_t operand;
    const DimSymbol *symbol;
    int64_t from, to;
} Edit;

// The changed case, without what leads to no output; false where the change does not fit.
bool fuzz_edit(Arena *arena, const FuzzCase *c, const Edit *edit, FuzzCase *out);

#endif
