/* What one can do with a tile program besides lowering it: verify, print, parse, interpret, count.
 */
#ifndef TCC_CODEGEN_TILE_TOOLS_H
#define TCC_CODEGEN_TILE_TOOLS_H

#include "base/diag.h"
#include "codegen/tile/tile.h"

/* NULL when the program is sound in its state, else what is wrong (in `arena`): operands defined
 * before use and in scope, types and shapes of each op, subscripts as many as view axes and over
 * symbols in scope, loops and branches that yield what they must, placed: constant extents, lanes
 * legal, scratch and register sizes within limits. Subscripts that are not proved inside the view
 * need guards that prove them: no unguarded access can leave its view. */
const char *tile_verify(const TileProgram *program, Arena *arena);

/* The text form, which begins with a version line; docs/tiles.md describes it. Reading what was
 * printed gives a program that prints the same. Printing needs a program that was built to its end,
 * sound or not. */
void tile_print(Buf *buf, const TileProgram *program);
/* Reads the text of a file of `diags`; NULL after one diagnostic with its place. What is read is
 * verified, so it is sound. Accepts hostile text: nesting and counts are limited. Dims of the model
 * become symbols of `ctx`; one that it knows with another range is an error. */
TileProgram *tile_parse(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file);

/* Runs every grid point of a sound program in order on host memory. `buffers` by argument number;
 * `symbols` are the values of dim symbols by id (those of the model's dims that the program
 * mentions are read). False with *out_message (in `arena`) on a broken access (outside its view
 * although the guards hold), on reading scratch that the same grid point has not stored, on a grid
 * point that touches an element of a written tensor which another one stores (points run
 * concurrently), or on an overflowing Dim. An index error is recorded in *out_site (else -1). Sums
 * round to the tile's dtype at each step, in the program's order, so results without transcendental
 * ops are bit-equal to compiled code. Functions such as exp are libm's in double, rounded. */
bool tile_interpret(const TileProgram *program, void *const *buffers, const int64_t *symbols,
                    Arena *arena, int64_t *out_site, const char **out_message);

/* What one run does, by walking the program at the given dims (count.c tells how). Every access
 * counts, also of what was read before; elements outside guards do not, nor do the copies of one
 * element that several elements of a tile take. Casts, constants and index arithmetic are no
 * operations. */
typedef struct TileCounts {
    double loaded_bytes, stored_bytes; /* global and constant space */
    double scratch_bytes;
    double operations; /* arithmetic elements; a dot's multiply-add counts 2 */
    double
        simple_flops; /* the same, with a function counted as the simple ones it takes, at least */
} TileCounts;
TileCounts tile_count(const TileProgram *program, const int64_t *symbols);

#endif
