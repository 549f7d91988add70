/* One change of a case: what reducing tries. */
#ifndef TCC_PASSES_REDUCE_EDIT_H
#define TCC_PASSES_REDUCE_EDIT_H

#include "passes/reduce/case.h"

typedef enum EditKind {
    EDIT_root,   /* `node` alone is the output */
    EDIT_drop,   /* output `output` goes */
    EDIT_cut,    /* `node` becomes an input of the value that it has */
    EDIT_skip,   /* `node` gives its operand `operand` */
    EDIT_fix,    /* the dim symbol `symbol` is a constant */
    EDIT_resize, /* every dim of the size `from` has the size `to` */
    EDIT_clear   /* `count` elements of input `node` from `begin` on are `to` */
} EditKind;

typedef struct Edit {
    EditKind kind;
    NodeId node;
    uint32_t operand, output;
    const DimSymbol *symbol;
    int64_t from, to;
    int64_t begin, count;
} Edit;

/* The changed case, in `arena`, without what leads to no output; false where the change does not
 * fit. */
bool edit_case(Arena *arena, const GraphCase *c, const Edit *edit, GraphCase *out);

#endif
