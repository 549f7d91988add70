/* What a convolution in register tiles is cut into, from its shape and the target alone. */
#ifndef TCC_CODEGEN_SKELETON_CONV_PLAN_H
#define TCC_CODEGEN_SKELETON_CONV_PLAN_H

#include "codegen/skeleton/conv.h"

/* A tile is `rows` × `columns` pixels by `nr` output channels; several rows only where a tile has
 * whole rows of the result. A grid point makes block_rows × block_columns pixels, of all images and
 * leading spatial axes one, for `panels` panels of nr output channels. */
typedef struct ConvPlan {
    int64_t nr, rows, columns, block_rows, block_columns, panels;
    bool copies;   /* a grid point copies the part of x that it reads, with its padding */
    int64_t pitch; /* elements of the copy from one pixel to the next; 0: as many as channels */
    /* Panels go across groups, which have few output channels: each lane multiplies a pixel's
     * channel of its own, and the copy has a pixel's channels once for every lane. */
    bool spread;
    bool asks; /* tiles ask the second cache for the next panel of weights, which holds not all */
} ConvPlan;

ConvPlan conv_plan(const Conv *s);

#endif
