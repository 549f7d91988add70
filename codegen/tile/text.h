/* What the printer and the parser of tile programs, and messages about them, share. */
#ifndef TCC_CODEGEN_TILE_TEXT_H
#define TCC_CODEGEN_TILE_TEXT_H

#include "codegen/tile/tile.h"

/* A Dim as tile programs write it: as buf_dim does, but with terms in an order that depends on the
 * text alone, not on which symbol was made first, so that what is read back prints the same. */
void tile_put_dim(Buf *buf, const Dim *dim);

/* global, constant, scratch. */
const char *tile_space_name(TileSpace space);

#endif
