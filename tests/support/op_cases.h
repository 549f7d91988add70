// Graphs of one op each, generated from the op table: every op that is lowered, every dtype that
// its row accepts, awkward shapes (sizes 0, 1, 7, 64, 65), with static dims, dynamic dims, permuted
// and broadcast operands.
#ifndef TCC_TESTS_SUPPORT_OP_CASES_H
#define TCC_TESTS_SUPPORT_OP_CASES_H

#include "ir/graph.h"
#include "ir/tensor.h"

enum { OP_CASE_MAX_INPUTS = 4, OP_CASE_MAX_SYMBOLS = 8 };

typedef struct OpCase {
    Graph *graph;
    int64_t symbols[64]; // values by dim symbol id
    int64_t
        index_limits[OP_CASE_MAX_INPUTS]; // inputs that are indices lie in [-limit, limit); else 0
} OpCase;

// Cases are numbered below this; not every number has one.
uint32_t op_case_count(void);

// Case `number` of op on dtype, built in a new context; false past the last one. The graph is NULL
// for a number that has no case.
bool op_case_build(IrContext *ctx, Arena *arena, Op op, DType dtype, uint32_t number, OpCase *out);

typedef enum OpLarge {
    LARGE_for_threads, // about a million elements, which several threads of a CPU share
    LARGE_for_grids    // some ten thousand: hundreds of CTAs
} OpLarge;

// The same with more elements.
bool op_case_build_large(IrContext *ctx, Arena *arena, Op op, DType dtype, uint32_t number,
                         OpLarge size, OpCase *out);

// Whether any kernel skeleton lowers the op.
bool op_case_is_lowered(Op op);

typedef enum OpValues {
    VALUES_wild, // NaN, infinities, zeros and the ends of the range are among the floats
    VALUES_tame, // floats within ±2, so that hardly anything overflows
    VALUES_exact // integers within ±3
} OpValues;

void op_case_fill(Tensor *tensor, OpValues values, uint64_t seed, int64_t index_limit);

// The concrete dims of a type under the case's symbol values, and a tensor of it filled with wild
// numbers that suit its dtype, or with indices below `index_limit`.
void op_case_tensor(Arena *arena, const Type *type, const int64_t *symbols, uint64_t seed,
                    int64_t index_limit, Tensor *out);

#endif
