/* Chains: two contractions with a row of weights between them, as one kernel (attention). */
#ifndef TCC_PASSES_FUSE_CHAIN_H
#define TCC_PASSES_FUSE_CHAIN_H

#include "passes/fuse/fuse.h"

/* Groups around chains, each whole or not at all; chain_bans name those that codegen refused. What
 * was decided of each is kept for fuse_remark_chains. */
void fuse_seed_chains(Fuser *f);

/* The strategy of a chain's kernel, with a remark. */
const char *fuse_chain_strategy(Fuser *f, const Group *group, Str name);

/* A remark for each chain that the graph has. */
void fuse_remark_chains(Fuser *f);

#endif
