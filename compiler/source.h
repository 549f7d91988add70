/* Graphs as text of the language. */
#ifndef TCC_COMPILER_SOURCE_H
#define TCC_COMPILER_SOURCE_H

#include "ir/graph.h"

/* A .g text of one model that computes what the graph does, op by op, in `arena`; NULL data where
 * an op or a value has no spelling. Names are taken as they are, so the text may still be refused
 * where one of them is a word of the language. */
Str source_of_graph(Arena *arena, const Graph *graph);

#endif
