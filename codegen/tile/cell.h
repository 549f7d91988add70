/* One number of the tile interpreter, and its memory form.
 *
 * A cell holds a float of any dtype as a double, and an integer or bool as an int64 (u64 as its bit
 * pattern), always a value that its dtype can represent. The conversions here are written from the
 * numeric contract and share nothing with the evaluator or the lowerings that they check.
 */
#ifndef TCC_CODEGEN_TILE_CELL_H
#define TCC_CODEGEN_TILE_CELL_H

#include "ir/ops.h"

typedef union TileCell {
    double f;
    int64_t i;
} TileCell;

/* `value` rounded once to the float dtype: nearest even, e4m3 saturating, the others to infinity.
 */
double cell_round(DType dtype, long double value);
/* `value` cut to the width of the integer dtype, with its sign; bool: 0 or 1. */
int64_t cell_wrap(DType dtype, int64_t value);
/* The cast of the numeric contract. */
TileCell cell_cast(DType from, DType to, TileCell cell);

/* Element `index` of a dense array in memory. */
TileCell cell_load(DType dtype, const void *base, int64_t index);
void cell_store(DType dtype, void *base, int64_t index, TileCell cell);

/* An elementwise core op on operands of `dtype` (select: that of its choices; args[0] is the
 * condition); the result is rounded or wrapped to the result's dtype. False when the op does not
 * exist for the dtype. Casts are cell_cast's. */
bool cell_apply(Op op, DType dtype, const TileCell *args, TileCell *out);
/* a · b + c, rounded once for f32 and f64; the other floats round twice; integers wrap. */
TileCell cell_multiply_add(DType dtype, TileCell a, TileCell b, TileCell c);
/* The unit of an associative op: what a reduction over nothing gives. False when there is none. */
bool cell_unit(Op op, DType dtype, TileCell *out);
/* Whether a sorts before b: NaN is greatest, -0 equals 0. */
bool cell_sorts_before(DType dtype, TileCell a, TileCell b);

#endif
