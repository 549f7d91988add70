/* Kernel nodes: what every fuser makes.
 *
 * The inputs of a kernel's region are tensors in memory: results of other kernels, inputs,
 * parameters, constants of more than one element. What is made on the fly stands inside:
 * one-element constants, iota and dim. A kernel with one output is its value; with several it is a
 * tuple for items to pick from. */
#ifndef TCC_PASSES_KERNEL_H
#define TCC_PASSES_KERNEL_H

#include "passes/pass.h"

/* Whether the node is a leaf that regions hold themselves. */
bool kernel_holds_leaf(const Graph *graph, NodeId id);

/* The skeleton (codegen/skeleton) that builds a kernel around one op of the class; NULL when none
 * does. */
const char *kernel_skeleton(OpClass class);

/* Adds a kernel over `args`, one an input of `region`, whose outputs decide its type. `name` is a C
 * identifier, unique in the graph; the schedule is left empty. */
NodeId kernel_add(Graph *graph, const Graph *region, const NodeId *args, Str name, Str skeleton,
                  Str strategy, const Origin *origin);

/* The attributes of a kernel node. */
Str kernel_name(const Node *kernel);
/* `kernel` again, with the schedule; its operands are `args`. */
NodeId kernel_with_schedule(Graph *graph, const Node *kernel, const NodeId *args, Str schedule);

#endif
