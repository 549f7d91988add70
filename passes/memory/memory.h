/* memory: from a fused graph to a Program, with buffers planned over each bucket of dims. */
#ifndef TCC_PASSES_MEMORY_MEMORY_H
#define TCC_PASSES_MEMORY_MEMORY_H

#include "passes/pass.h"

/* `graph` holds leaves, kernels and items only. The program and all it refers to lie in `arena` or
 * in the IR context; `graph` must live as long. NULL after diagnostics. */
Program *memory_make_program(PassContext *ctx, Arena *arena, const Graph *graph);

#endif
