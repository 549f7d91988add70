/* The evaluator: runs any graph naively, as the oracle of everything else.
 *
 * Floats are computed in double (f64 in long double) and rounded to each node's dtype by the
 * numeric contract; integers exactly. With each element comes an error bound: how far a correct
 * implementation of the contract may be from this value. Bounds are derived (eval_bound.c): a sum
 * of n terms may be off by (4 + max(2·sqrt(n), c))·eps·Σ|terms| + ½ ulp, where a term goes through
 * c additions at most (docs/numerics.md), a unary op by its table bound, and operand bounds are
 * carried through |∂f|. A 16- or 8-bit float that is not a user's cast may also be left unrounded
 * in f32. It shares no code with the lowerings.
 *
 * To compare with a bound: +inf leaves the element out; a NaN must meet a NaN, an infinity the same
 * infinity, and with a bound of 0 a zero one of its sign; all else may differ by the bound.
 */
#ifndef TCC_IR_EVAL_H
#define TCC_IR_EVAL_H

#include "ir/graph.h"
#include "ir/tensor.h"

/* A value with its bound. `bound[i]` is the absolute error allowed at element i, of any dtype: zero
 * for exact values, +inf where the result straddles a discontinuity and cannot be compared. NULL:
 * all are exact. Inputs may carry bounds; results do when they were asked for. */
typedef struct EvalValue {
    Tensor tensor;
    double *bound;
    double *rounded; /* the bounds of an 8- or 16-bit float that is surely rounded, as ops with a
                        jump read it; NULL: as `bound`. The evaluator's own */
} EvalValue;

typedef struct EvalOptions {
    bool bounds;            /* compute error bounds (slower) */
    double relax;           /* factor on the bounds of sums, 1 by default (0 means 1) */
    const int64_t *symbols; /* the values of dim symbols by id */
    uint64_t element_limit; /* refuse graphs with larger intermediates; 0: none */
} EvalOptions;

/* An index that was out of range during evaluation (the access was clamped). */
typedef struct EvalError {
    bool failed;
    NodeId node;
    int64_t index, bound;
} EvalError;

/* Evaluates `graph` on `inputs` (by input index; dims must match the types under `symbols`).
 * Parameters without a value, a loop that reaches its limit, an entry check that does not hold,
 * dims without a value and results over the limit give false with *out_message (in `arena`).
 * Results, one per graph output, are in `arena`; memory of intermediate values is freed after their
 * last use. */
bool eval_graph(const Graph *graph, const EvalValue *inputs, const EvalOptions *options,
                Arena *arena, EvalValue *out_results, EvalError *out_error,
                const char **out_message);

/* Evaluates a single node applied to known operand values; what fold uses. A node with several
 * results writes so many; for OP_item `args` are all the results of its operand. */
bool eval_node(const Graph *graph, NodeId id, const EvalValue *args, const EvalOptions *options,
               Arena *arena, EvalValue *out_results, EvalError *out_error,
               const char **out_message);

#endif
