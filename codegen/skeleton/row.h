/* Row kernels, in files by ideas: row.c has the forms that a kernel may have, row_accumulate.c what
 * is accumulated, row_sweep.c the loops over a row, row_keep.c values that later sweeps find in
 * scratch. */
#ifndef TCC_CODEGEN_SKELETON_ROW_H
#define TCC_CODEGEN_SKELETON_ROW_H

#include "codegen/skeleton/domain.h"

/* A value that a sweep leaves in scratch. */
typedef struct Kept {
    NodeId node;
    uint32_t view;
} Kept;

typedef struct Row {
    const SkeletonRequest *request;
    ValueEmitter e;
    Domain domain; /* of the reductions' operands */
    Domain outer;  /* the axes that stay */
    bool reduced[TYPE_MAX_RANK];
    uint32_t tail; /* reduced axes from here on are merged into one position (row form) */
    bool column;
    uint32_t stage_count;
    bool *ignores_nan; /* by node: maxima that may, which costs one instruction instead of five */
    uint32_t *stage;   /* by node: how many layers of reductions it depends on */
    VEC(NodeId) reductions;
    uint32_t kept_count; /* by all sweeps */
    bool streaming;
    VEC(Kept) kept; /* by the sweep of the current stage */
    bool pairs;     /* a grid point is two neighbouring rows, along axis 0 of its tiles */
} Row;

/* The running state of the reductions of one stage: a value for each, and an index for
 * argmax/argmin. */
typedef struct Accumulators {
    uint32_t count;
    TileId *values;
    DType *sums; /* the dtype of a float sum, else DT_count */
} Accumulators;

/* What a sweep does at the current index; `mark` is where the guards of its step begin. */
typedef void SweepBody(Row *s, uint32_t stage, size_t mark, Accumulators *acc);

bool row_is_reduction(Op op);
/* Which axes a reduction is over. */
void row_mark_axes(const Node *node, bool *out_reduced);
/* Emits what a row kernel does with one row into another kernel, which provides what it computes
 * itself: `index` has the axes that stay. Its request's region must be e's. */
void row_build_inside(const SkeletonRequest *request, ValueEmitter *e, const Dim *const *index);
/* The elements of a row. */
const Dim *row_length(const Row *s);
/* The tile axis along which vectors run. */
const Dim *row_lane_axis(Row *s);

/* The accumulators of a stage's reductions, at their neutral elements. */
Accumulators row_start(Row *s, uint32_t stage);
/* One step of all reductions of a stage at the current index; elements outside the guards from
 * `mark` on count as the neutral element. */
void row_step(Row *s, uint32_t stage, size_t mark, Accumulators *acc);
/* Folds the tiles; the finished reductions are provided at the current outer index. */
void row_finish(Row *s, uint32_t stage, const Accumulators *acc);
bool row_has_sums(const Accumulators *acc);
/* The same accumulators with sums that begin at zero, and adding them up in the end. */
Accumulators row_begin_block(Row *s, const Accumulators *acc);
void row_end_block(Row *s, const Accumulators *block, Accumulators *acc);

/* Emits the loops over the reduced axes with `body` inside. */
void row_sweep(Row *s, uint32_t stage, SweepBody *body, Accumulators *acc);

/* Whether a node costs more to compute again than to keep. */
bool row_is_dear(const Node *node);
/* Whether a node has an element for each of the row's, not one a row. */
bool row_is_sized(const Row *s, NodeId id);
/* Chooses what the sweep of `stage` keeps, with scratch for it. */
void row_keep(Row *s, uint32_t stage);
void row_store_kept(Row *s);
void row_provide_kept(Row *s);

#endif
