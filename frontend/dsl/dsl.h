/* The language: from the text of a model file to verified graphs.
 *
 * dsl_compile parses the file (lexer.l, parser.y), declares its dims, and builds one graph a model
 * by running the model's body at compile time: every call is expanded where it stands, loops are
 * unrolled, static conditions are decided, and each tensor operation adds one core op through
 * ir/infer.h. Library functions (frontend/lib, embedded) are written in the same language.
 *
 * All that is wrong with the file goes to the diagnostics, as much of it as one run can find. Any
 * bytes may be given: a limit is an error like another. The language is described in
 * docs/language.md.
 */
#ifndef TCC_FRONTEND_DSL_DSL_H
#define TCC_FRONTEND_DSL_DSL_H

#include "frontend/weights/weights.h"
#include "ir/graph.h"

typedef struct DslOptions {
    uint32_t file;    /* of the diagnostics: path and text of the main file */
    DimRanges ranges; /* `-D NAME=n`, `-D NAME=lo..hi:tune`: of declared dims */
    Str entry;        /* build this model alone; empty: all of them */
    /* Where `weights` statements load their files, whose paths are relative to the folder of the
     * main file, and where parameters find their values; it may hold some already. The caller's, to
     * be freed after the call. NULL: the statements are checked for syntax alone. */
    WeightTable *weights;
    /* A parameter with neither a weight nor an initialiser: an error that names it, or (true) an
     * OP_param without a value, for --params=random and for looking at graphs. */
    bool allow_missing;
} DslOptions;

/* The models of the file, in its order, or NULL after errors in `diags`. The module, its graphs and
 * the syntax tree lie in `arena`, types and weights in `ctx`. The context's named dims are declared
 * anew, so a context serves one file. */
Module *dsl_compile(IrContext *ctx, Arena *arena, Diags *diags, const DslOptions *options);

/* Limits on what a file may ask for, each with an error of its own. */
enum {
    DSL_MAX_HEIGHT = 1000,    /* of an expression or of nested blocks */
    DSL_MAX_NODES = 1000000,  /* of the syntax tree, and of each model's graph */
    DSL_MAX_TRIPS = 100000,   /* of one loop */
    DSL_MAX_CALLS = 200,      /* calls inside one another */
    DSL_MAX_DEPTH = 2000,     /* expressions and blocks inside one another, through all calls */
    DSL_MAX_STEPS = 10000000, /* expressions evaluated at compile time, in one model */
    DSL_MAX_BYTES = 16 << 20  /* of the file */
};

#endif
