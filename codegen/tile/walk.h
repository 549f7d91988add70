/* What the tools on tile programs share: the table of tile ops, and going over a program. */
#ifndef TCC_CODEGEN_TILE_WALK_H
#define TCC_CODEGEN_TILE_WALK_H

#include "codegen/tile/tile.h"

/* Blocks nest at most this deep; text and verifier refuse more. */
enum { TILE_MAX_DEPTH = 32 };

const char *tile_op_name(TileOp op);

/* Calls visit(user, dim) for every Dim that the program holds. */
void tile_visit_dims(const TileProgram *program, void (*visit)(void *user, const Dim *dim),
                     void *user);
/* The same for every symbol of a Dim, those inside of opaque atoms included. */
void tile_visit_symbols(const Dim *dim, void (*visit)(void *user, const DimSymbol *symbol),
                        void *user);

/* Room for the values of all symbols by id, those of the model's dims that the program mentions
 * taken from `symbols`. */
int64_t *tile_bind_symbols(const TileProgram *program, const int64_t *symbols, Arena *arena);

/* The shape over whose elements an instruction's subscripts, guards and expression run: that of the
 * tile it loads, stores, makes or checks; NULL for those without one (loops, branches, sorts). */
const TileType *tile_shape_of(const TileProgram *program, const TileInstr *instr);

/* The symbol $axis of the shape, or NULL when the program never asked for it. */
const DimSymbol *tile_find_axis(const TileProgram *program, const TileType *shape, uint32_t axis);

/* Extents and lanes, not dtypes. */
bool tile_same_shape(const TileType *a, const TileType *b);
bool tile_same_type(const TileType *a, const TileType *b);

#endif
