/* The parts of the convolution skeleton: what a convolution is, and the walks that make it. */
#ifndef TCC_CODEGEN_SKELETON_CONV_H
#define TCC_CODEGEN_SKELETON_CONV_H

#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/sums.h"

typedef struct Conv {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    const Type *x, *w;
    const IntList *strides, *dilations, *lo, *hi;
    uint32_t spatial; /* how many spatial axes */
    int64_t groups;
    const Dim *channels; /* input channels of a group */
    const Dim *outputs;  /* output channels of a group */
    Domain domain;       /* of the result */
    const Dim *group;    /* the current one */
    const Dim *x_index[TYPE_MAX_RANK], *w_index[TYPE_MAX_RANK];
} Conv;

/* ---- conv.c: what all walks need ---- */

void conv_describe(Conv *s, const SkeletonRequest *request, NodeId id);
NodeId conv_find(const Graph *g); /* the convolution of a region, or NODE_none */
/* `value` in the dtype that is summed in. */
TileId conv_as_sum(Conv *s, ValueEmitter *e, TileId value);
/* x at x_index, 0 where the guards pushed since `mark` do not hold. */
TileId conv_read_x(Conv *s, ValueEmitter *e, size_t mark);
/* Where the tap at w_index reads along spatial axis `axis` for the result at `out`. */
const Dim *conv_tap_position(const Conv *s, const ValueEmitter *e, uint32_t axis, const Dim *out);
/* Input channel number `channel` of the current group, in both operands. */
void conv_set_channel(Conv *s, IrContext *ctx, const Dim *channel);
/* The output channel that is number `channel` of the current group. */
const Dim *conv_output_channel(const Conv *s, IrContext *ctx, const Dim *channel);
/* Provides the finished sums at the result's index and stores what the region makes of them. */
void conv_store(Conv *s, ValueEmitter *e, TileId acc);
void conv_set_shape(ValueEmitter *e, uint32_t rank, int64_t first, int64_t second, int64_t lanes);
/* Whether neighbours in memory are channels of x. */
bool conv_is_channels_last(const Conv *s);

/* ---- the walks; each has added nothing to the program before ---- */

void conv_build_tiles(Conv *s);                                /* conv_tiles.c */
TileProgram *conv_build_points(Conv *s, const char **out_why); /* conv_points.c */
/* conv_winograd.c; false, and nothing is built, where the convolution is no OP_conv_winograd, or
 * its images are not channels-last. */
bool conv_build_winograd(Conv *s);
bool conv_build_mma(Conv *s); /* conv_mma.c; false, and nothing is built, if it does not pay */

#endif
