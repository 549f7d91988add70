/* Ranges of symbols, narrowed by what is known of dims made of them: interval propagation over
 * expressions (F. Benhamou et al., "Revising hull and box consistency", 1999: HC4). */
#ifndef TCC_IR_DIM_RANGE_H
#define TCC_IR_DIM_RANGE_H

#include "ir/dim_internal.h"

/* Both ends included; an end beyond ±2^62 is ±DIM_INFINITE. Empty when lo > hi. */
typedef struct DimInterval {
    Wide lo, hi;
} DimInterval;

#define DIM_INFINITE ((Wide)1 << 120)

typedef struct DimIntervals {
    DimInterval *symbols; /* by the symbols' ids */
    bool changed;         /* set when one is narrowed, until the caller clears it */
    bool empty;           /* no values are left */
} DimIntervals;

/* The declared ranges of all symbols of the context, in `arena`. */
DimIntervals dim_intervals(const IrContext *ctx, Arena *arena);

/* An interval that holds every value of `dim` while symbols lie in theirs. */
DimInterval dim_interval(const DimIntervals *known, const Dim *dim);

/* Narrows the symbols of `dim` to where its value may lie in `want`; never takes a value away for
 * which it does. */
void dim_narrow(DimIntervals *known, const Dim *dim, DimInterval want);

#endif
