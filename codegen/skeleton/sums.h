/* Sums over nested loops, in blocks.
 *
 * Equal terms round the same way step after step, so the error of a plain sum grows with its
 * length, and the tolerance of the contract with the root of it. A sum of more than SUM_BLOCK terms
 * is therefore made of sums of at most so many, each begun at 0; these are added up in order, and
 * where they are many, in blocks again. No term goes through more than 64 additions a level. */
#ifndef TCC_CODEGEN_SKELETON_SUMS_H
#define TCC_CODEGEN_SKELETON_SUMS_H

#include "codegen/skeleton/emit.h"

enum { SUM_BLOCK = 64, SUM_LEVELS = 4 };

/* How a loop is cut: blocks of sizes[0] steps, and each further level SUM_BLOCK of the one below;
 * without levels it is not cut. Four levels are enough for a sum of 64^5 terms. */
typedef struct SumCut {
    uint32_t levels;
    int64_t sizes[SUM_LEVELS];
} SumCut;

/* Cuts a loop of at most `steps` steps, each of which adds `*chain` terms one after the other to
 * the sum it is given; *chain becomes how many the whole loop adds. */
SumCut sum_cut(int64_t steps, int64_t *chain);

/* The block of level `level` that begins at `from`, of a loop that ends at `to`. */
const Dim *sum_block_end(IrContext *ctx, const SumCut *cut, uint32_t level, const Dim *from,
                         const Dim *to);

/* A nest of loops with one accumulator. */
typedef struct SumNest SumNest;
/* Adds the term or terms of one step of the innermost loop to `acc`; n->index has the position. */
typedef TileId SumBody(SumNest *n, TileId acc);
/* Called in each loop once its variable is known, before what is inside; NULL for nothing. */
typedef void SumEnter(SumNest *n, uint32_t axis);

struct SumNest {
    ValueEmitter *e;
    TileShape shape; /* of the accumulator */
    DType dtype;     /* that it is summed in */
    bool plain;      /* what is accumulated needs no blocks: integers, maxima */
    uint32_t rank;
    const Dim *extents[TYPE_MAX_RANK + 1];
    const char *names[TYPE_MAX_RANK + 1]; /* of the loops' variables */
    uint32_t unroll;                      /* of the innermost loop; 0: as it comes */
    uint32_t outer_unroll;                /* of the others */
    int64_t chain; /* terms that the body adds one after the other; 0: one. Then, of the nest */
    SumBody *body;
    SumEnter *enter;
    void *user;
    const Dim *index[TYPE_MAX_RANK + 1]; /* while the body is emitted */
    SumCut cuts[TYPE_MAX_RANK + 1];
    TileId
        outer[SUM_LEVELS * (TYPE_MAX_RANK + 1)]; /* sums of the finished blocks, outermost first */
    uint32_t outer_count;
};

/* Emits the loops; `acc` is what the sum starts from, and the result its end. */
TileId sum_nest(SumNest *n, TileId acc);

/* The steps from..to of a nest of rank 1, for a sum that is made in parts: each begins where a
 * block of the greatest size does, and `acc` is the sum of those before. */
TileId sum_part(SumNest *n, const Dim *from, const Dim *to, TileId acc);

#endif
