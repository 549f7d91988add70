/* What the parts of pack have in common: constant weights, evaluated in another form. */
#ifndef TCC_PASSES_PACK_H
#define TCC_PASSES_PACK_H

#include "passes/pass.h"

typedef struct Packing {
    Graph *g;
    PassContext *ctx;
    NodeId w;
    int64_t columns; /* NR */
} Packing;

/* A graph that holds the weights alone, and there *out_w. */
Graph *pack_start(const Packing *p, NodeId *out_w);
/* The value of ops over the weights, as a constant of p->g; NODE_none where it has none. */
NodeId pack_evaluated(const Packing *p, Graph *chain, NodeId result);

NodeId pack_reshaped(Graph *g, NodeId x, const int64_t *dims, uint32_t rank);
NodeId pack_permuted(Graph *g, NodeId x, const int64_t *perm);
NodeId pack_unpermuted(Graph *g, NodeId x, const int64_t *perm);
/* x with `more` zeros behind its last axis. */
NodeId pack_padded(Graph *g, NodeId x, int64_t more);
/* `count` elements of axis `axis`, from `first` on. */
NodeId pack_cut(Graph *g, NodeId x, uint32_t axis, int64_t first, int64_t count);
/* Axis `from` of `rank` axes moved to `to`, as a permutation. */
void pack_moving(uint32_t rank, uint32_t from, uint32_t to, int64_t *out_perm);

/* ---- winograd.c ---- */

/* Whether the convolution `id` of `g` is made by F(2x2, 3x3): by shapes alone, if its weights, the
 * constant `w` of `weights`, are finite. */
bool winograd_is_chosen(const Graph *g, NodeId id, NodeId w, const Graph *weights);
/* Weights w[O, C, 3, 3] cut out of a constant with their transforms. */
NodeId winograd_view(const Packing *p);

#endif
