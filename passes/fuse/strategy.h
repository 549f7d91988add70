/* How a row kernel goes over its data. */
#ifndef TCC_PASSES_FUSE_STRATEGY_H
#define TCC_PASSES_FUSE_STRATEGY_H

#include "passes/fuse/fuse.h"

/* The strategy of the group's kernel, "" when it has no choice; the prices of all are remarked. */
const char *fuse_choose_strategy(Fuser *f, const Group *group, const Graph *region, Str name);

#endif
