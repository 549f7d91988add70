/* Proofs that a Dim is never negative, from ranges, limits and facts that hold where it is used.
 *
 * dim_proves_le (ir/dim.h) knows ranges and limits. What guards and loops add is used by a search:
 * a step takes a multiple of a fact f >= 0 away from the Dim, or replaces a quotient a // d by what
 * bounds it, so that facts about a apply; after each step dim_proves_le is asked. Depth grows up to
 * a limit and fuel is fixed, so an answer always comes.
 */
#ifndef TCC_CODEGEN_TILE_PROVE_H
#define TCC_CODEGEN_TILE_PROVE_H

#include "base/vec.h"
#include "ir/dim.h"

typedef struct Prover {
    IrContext *ctx;
    Arena *arena;           /* of the list of facts */
    VEC(const Dim *) facts; /* each is known to be >= 0; push and cut back as scopes open and end */
    uint32_t fuel;
} Prover;

void prover_assume(Prover *prover, const Dim *fact);
/* lo <= value < hi. */
void prover_assume_range(Prover *prover, const Dim *lo, const Dim *value, const Dim *hi);

/* False means "not proved". */
bool prover_nonnegative(Prover *prover, const Dim *dim);
bool prover_less(Prover *prover, const Dim *a, const Dim *b);

#endif
