/* The walk of contractions and convolutions by tensor cores: both are a matrix product C[m, n] =
 * Σ A[m, k]·B[n, k] once somebody says what an element of A and B is, and where one of C goes. */
#ifndef TCC_CODEGEN_SKELETON_MMA_H
#define TCC_CODEGEN_SKELETON_MMA_H

#include "codegen/skeleton/domain.h"

typedef struct MmaWalk MmaWalk;

/* The tile of an operand's elements at a row and a k, in any dtype that holds them; may push
 * guards, outside of which they count as 0. */
typedef TileId MmaOperand(MmaWalk *w, const Dim *row, const Dim *k);
/* Stores what becomes of the tile of sums at a row and a column. */
typedef void MmaStore(MmaWalk *w, const Dim *row, const Dim *column, TileId sums);

struct MmaWalk {
    ValueEmitter *e;
    const Dim *m, *n, *k; /* extents */
    DType operand, sum;
    MmaOperand *a, *b;
    MmaStore *store;
    bool a_along_k, b_along_k; /* along which index neighbours in memory are read together */
    void *user;
};

/* What tensor cores multiply for operands of `dtype` summed in `sum`: the dtype or one that holds
 * all of its values; DT_count when they do not. */
DType mma_operand_dtype(const SkeletonRequest *request, DType dtype, DType sum);
/* Whether a product of those extents fills tensor cores enough, at the dims' tune values. */
bool mma_pays(const Dim *m, const Dim *n, const Dim *k);

/* Adds the grid axes over m and n, and emits all of the kernel's body. The grid's other axes have
 * been added. */
void mma_build(MmaWalk *w);

#endif
