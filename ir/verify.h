/* The verifier: what every graph must satisfy, whoever built it. */
#ifndef TCC_IR_VERIFY_H
#define TCC_IR_VERIFY_H

#include "ir/graph.h"

/* Checks operand order, counts, attribute ranges, that each node's type is the one inference gives,
 * that regions capture nothing and match their op, and that no dim overflowed. Returns NULL when
 * all is well, else a description of the first fault with the node printed (in `arena`). */
const char *graph_verify(const Graph *graph, Arena *arena);

/* What is wrong with a leaf's given type and its attributes; NULL when nothing is. The index of an
 * input is not looked at. */
const char *verify_leaf(Op op, const Type *type, const Attr *attrs);

#endif
