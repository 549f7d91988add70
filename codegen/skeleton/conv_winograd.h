/* What a convolution by Winograd's algorithm is cut into, from its shape and the target alone. */
#ifndef TCC_CODEGEN_SKELETON_CONV_WINOGRAD_H
#define TCC_CODEGEN_SKELETON_CONV_WINOGRAD_H

#include "codegen/skeleton/conv.h"

enum { WINOGRAD_SIDE = 4, WINOGRAD_PRODUCTS = 16 };

/* Patches of 4x4 pixels, each of which gives 2x2 results, are numbered over images, rows and
 * columns. A register tile has `mr` patches by `nr` output channels; a grid point `tiles` of them
 * one after the other, for `panels` panels of channels. */
typedef struct WinogradPlan {
    int64_t mr, nr, tiles, panels;
    int64_t pitch; /* elements from one patch to the next in the transforms of a grid point */
    int64_t
        ahead; /* bytes ahead of weights that the caches are asked for, where they hold not all */
} WinogradPlan;

/* `nr` is the width of the panels that the weights are packed in, `down` and `across` the patches
 * of an image. */
WinogradPlan winograd_plan(const Conv *s, int64_t nr, int64_t down, int64_t across);

#endif
