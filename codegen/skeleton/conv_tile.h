/* A register tile of a convolution, and the walk that it stands in. */
#ifndef TCC_CODEGEN_SKELETON_CONV_TILE_H
#define TCC_CODEGEN_SKELETON_CONV_TILE_H

#include "codegen/skeleton/conv_copy.h"

typedef struct ConvTiles {
    Conv *s;
    ConvPlan plan;
    ConvCopy copy;
    const Dim *first[2]; /* row and column of the result where the block begins */
    const Dim *limit;    /* output channels of the group; of all where panels go across groups */
    const Dim *first_panel;
    const Dim *panel; /* the first output channel of the panel at hand */
    bool partial;     /* that panel may reach past the limit */
    bool merged;      /* the last spatial axis and the channels are one loop */
} ConvTiles;

/* A tile at a row and a column of its block. */
typedef struct ConvTile {
    ConvTiles *t;
    const Dim *row, *column;
    int64_t rows, columns;
    bool cut;     /* pixels of it may lie outside the result */
    bool guarded; /* … outside x, and x is read where it is */
} ConvTile;

static inline int64_t conv_tile_pixels(const ConvTile *tile) { return tile->rows * tile->columns; }
/* Sets the result's index, but for its channel, to the tile's pixels ($0). */
void conv_tile_set_results(const ConvTile *tile);
/* The output channel that is number $axis of the panel; may push a guard. */
const Dim *conv_tile_channel(const ConvTiles *t, uint32_t axis);
/* The sums of the tile, begun at `acc`. */
TileId conv_tile_sum(ConvTile *tile, TileId acc);

#endif
