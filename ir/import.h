/* Graphs of one context brought into another. */
#ifndef TCC_IR_IMPORT_H
#define TCC_IR_IMPORT_H

#include "ir/graph.h"

typedef struct ImportOptions {
    DimRanges ranges;
    /* A constant's or parameter's bytes in the new context; NULL: they are copied. `node` is of the
     * old graph; its value may be NULL, and so may what is returned. */
    const Blob *(*value)(void *user, IrContext *ctx, const Node *node);
    void *user;
} ImportOptions;

/* What `from` computes, as a graph of `ctx` in `arena`: its inputs and what leads to its outputs.
 * Dims are simplified by their new ranges, checks that hold by them are left out. Places keep the
 * numbers of their files. Reads `from` and its context only. NULL after a diagnostic: a range is
 * not within the one of its dim, or a check cannot hold. */
Graph *graph_import(IrContext *ctx, Arena *arena, Diags *diags, const Graph *from,
                    const ImportOptions *options);

#endif
