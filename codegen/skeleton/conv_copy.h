/* The pixels that a block of a convolution's result reads, with the zeros of the padding,
 * channels-last in scratch. */
#ifndef TCC_CODEGEN_SKELETON_CONV_COPY_H
#define TCC_CODEGEN_SKELETON_CONV_COPY_H

#include "codegen/skeleton/conv_plan.h"

typedef struct ConvCopy {
    Conv *s;
    const ConvPlan *plan;
    const Dim *first[2]; /* row and column of the result where the block begins */
    const Dim *channel;  /* plan->spread: the first output channel of the block */
    uint32_t view;
} ConvCopy;

/* Adds the scratch and what fills it; s->group and the result's index along all axes but the last
 * two are set. */
void conv_copy_make(ConvCopy *copy);

/* The tile of the pixels that the results at `row` and `column` of the block read at the tap and
 * channel of s->w_index; plan->spread: for output channel number `lane` of the block. */
TileId conv_copy_read(const ConvCopy *copy, const Dim *row, const Dim *column, const Dim *lane);

#endif
