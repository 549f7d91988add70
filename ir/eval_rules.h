/* What the rules of the evaluator (eval_*.c) share; for them alone. */
#ifndef TCC_IR_EVAL_RULES_H
#define TCC_IR_EVAL_RULES_H

#include "base/scratch.h"
#include "ir/eval.h"

/* One node being evaluated. */
typedef struct Eval {
    const Graph *graph;
    const Node *node;
    NodeId id;
    const OpInfo *info;
    const EvalOptions *options;
    const EvalValue *args;
    Arena *results;  /* for what the node gives */
    Arena *messages; /* for `message` */
    Arena *scratch;  /* freed after the node */
    EvalError *error;
    const char *message; /* why the rule failed */
} Eval;

/* A rule fills out[0] (or one value a result). Tensors are allocated and zeroed, with bounds when
 * they are wanted. False with a message when the graph cannot be evaluated. */
typedef bool EvalRule(Eval *ev, EvalValue *out);

EvalRule eval_leaf, eval_unary, eval_binary, eval_compare, eval_select, eval_cast;
EvalRule eval_reduce, eval_argreduce, eval_cumulative;
EvalRule eval_reshape, eval_permute, eval_broadcast, eval_slice, eval_pad, eval_reverse,
    eval_concat;
EvalRule eval_gather, eval_scatter, eval_contract, eval_conv, eval_window;
EvalRule eval_sort, eval_random, eval_cond, eval_loop, eval_scan, eval_call;

/* Sets the message; returns false. */
bool eval_fail(Eval *ev, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records the first index that was out of range. */
void eval_index_error(Eval *ev, int64_t index, int64_t bound);
/* The value of a dim under the options' symbols. */
bool eval_dim(Eval *ev, const Dim *dim, int64_t *out_value);
/* A new tensor of the type in ev->results. */
bool eval_new_value(Eval *ev, const Type *type, EvalValue *out);
/* Runs a region; its results are in `arena`. */
bool eval_region(Eval *ev, const Graph *region, const EvalValue *inputs, Arena *arena,
                 EvalValue *out_results);

/* ---- values (eval_bound.c) ------------------------------------------------------------------- */

/* Elements are worked on in runs of up to so many. */
enum { EVAL_RUN = 256 };

bool eval_is_exact(const EvalValue *value); /* no element has a bound */
static inline double eval_bound_at(const EvalValue *value, int64_t i) {
    return value->bound ? value->bound[i] : 0;
}
void eval_load_bounds(const EvalValue *value, int64_t start, int64_t count, double *out_bounds);
/* Copies `count` elements with their bounds between values of one dtype. */
void eval_copy(EvalValue *to, int64_t to_start, const EvalValue *from, int64_t from_start,
               int64_t count);
/* Room for the bounds of rounded values, which eval_finish_run then fills in. */
void eval_new_rounded(Eval *ev, EvalValue *out);
/* Gives all elements the bound +inf. */
void eval_all_uncertain(EvalValue *value);

/* ---- rounding and its bound (eval_bound.c) --------------------------------------------------- */

/* How a result was computed before it is rounded. */
typedef struct EvalRounding {
    DType dtype;
    double
        ulps; /* error of the op itself in ulp of the dtype it computes in; 0: correctly rounded */
    bool direct; /* a cast: rounded once, not by way of f32 */
    bool pinned; /* a user's cast: rounded always */
    bool sum;    /* the allowed deviation covers the roundings of the accumulator */
} EvalRounding;

/* The element that `exact` rounds to, when a correct implementation computes a number within
 * `deviation` of it (0: the same; +inf or NaN: unknown) before it rounds; the bound goes to
 * *out_bound unless NULL. */
double eval_finish(const EvalRounding *rounding, double exact, double deviation, double *out_bound);
/* The same for a run; `deviations` may be NULL for zeros. Modifies `exact`. */
void eval_finish_run(const EvalRounding *rounding, EvalValue *out, int64_t start, int64_t count,
                     double *exact, const double *deviations);

/* |w - v|, 0 for equal infinities and for two NaNs, +inf when only one is NaN. */
double eval_spread(double v, double w);
/* x·y with 0·inf = 0: a bound scaled. */
double eval_scale(double x, double bound);
/* How the terms of a sum follow each other: in blocks of 64, or where the order is a part of the
 * op's meaning, one after the other. */
typedef enum SumOrder { SUM_in_blocks, SUM_in_order } SumOrder;

/* A float sum: its value, how many terms, the sum of their magnitudes and that of their bounds. */
typedef struct SumTerms {
    SumOrder order;
    int64_t count;
    double value, magnitudes, bounds;
} SumTerms;

/* How far a sum may be off that is accumulated in `accumulator`. */
double eval_sum_deviation(const EvalOptions *options, DType accumulator, const SumTerms *sum);
/* The dtype in which a sum of `operand` that gives `result` accumulates. */
DType eval_accumulator(DType operand, DType result);

/* ---- scalar ops on integers (eval_integer.c) ------------------------------------------------- */

/* On values as tensor_load_ints gives them; the result is to be wrapped. Compare ops give 0 or 1.
 */
int64_t eval_int_unary(Op op, DType dtype, int64_t x);
int64_t eval_int_binary(Op op, DType dtype, int64_t x, int64_t y);

/* ---- folds: reductions by add, mul, max or min (eval_fold.c) --------------------------------- */

typedef struct Fold {
    const EvalOptions *options;
    Op scalar; /* OP_add, OP_mul, OP_max, OP_min */
    DType operand, result;
    bool is_float;
    SumOrder order;
} Fold;

typedef struct FoldState {
    union {
        long double value;
        int64_t whole;
    };
    double terms, low, bound, doubt; /* what the bounds need, by scalar op; see eval_fold.c */
    bool has_nan, has_infinity, has_zero;
    int64_t count;
} FoldState;

void fold_start(const Fold *fold, FoldState *out_state);
void fold_add(const Fold *fold, FoldState *state, double value, double bound);
void fold_add_int(const Fold *fold, FoldState *state, int64_t value, double bound);
/* Writes the result to element i. */
void fold_finish(const Fold *fold, const FoldState *state, EvalValue *out, int64_t i);

/* Adds the elements of `x` from `start` on to states[0], states[step], … */
void fold_add_run(const Fold *fold, const EvalValue *x, int64_t start, int64_t count,
                  FoldState *states, int64_t step);

/* ---- products of matrices, for contract and conv (eval_matmul.c) ----------------------------- */

/* The elements of an operand in some order: floats as doubles, their bounds (NULL: exact),
 * integers. */
typedef struct Side {
    double *x, *b;
    int64_t *whole;
} Side;

typedef struct Matmul {
    const Eval *ev;
    Arena *scratch; /* set by matmul, freed when it returns */
    DType operand, result;
    bool is_float;
    int64_t m, n, k;
    /* Above 0: the sum may be taken by transforms of so many neighbouring steps, whose rounding
     * errors are bounded by the lengths of the operands over them, not by the terms. */
    int64_t transformed;
} Matmul;

/* Memory for `count` elements; with bounds when `bounds`. */
Side side_new(Arena *arena, bool is_float, bool bounds, int64_t count);
/* All elements of a value, row-major, in scratch. Numbers that bf16 dots may flush count as
 * uncertain. */
Side side_load(const Eval *ev, const EvalValue *value);
/* Elements `at` of a side to elements `to` of another. */
void side_copy(const Side *to, int64_t to_at, const Side *from, int64_t from_at);
/* Elements from `at` on. */
Side side_at(const Side *side, int64_t at);
/* Writes a[m, k] · b[k, n] to elements first + i·row + j of out. */
void matmul(const Matmul *mm, const Side *a, const Side *b, EvalValue *out, int64_t first,
            int64_t row);

/* ---- index arithmetic (eval_movement.c) ------------------------------------------------------ */

/* A rectangle of elements copied between two tensors: element (i0, i1, …) of it stands at
 * offset + Σ stride·i in each, in elements. */
typedef struct Move {
    uint32_t rank;
    int64_t dims[TYPE_MAX_RANK];
    int64_t to_offset, from_offset;
    int64_t to[TYPE_MAX_RANK], from[TYPE_MAX_RANK];
} Move;

/* Dense row-major strides. */
void eval_strides(const Tensor *tensor, int64_t *out_strides);
void eval_move(EvalValue *to, const EvalValue *from, const Move *move);
/* The same for raw elements of `size` bytes (1, 2, 4, 8 or 16). */
void eval_move_bytes(void *to, const void *from, size_t size, const Move *move);

/* Steps `index` through `dims` in row-major order; false after the last. */
bool eval_next(uint32_t rank, const int64_t *dims, int64_t *index);
/* The product of dims[from] … dims[to - 1]. */
int64_t eval_product(const int64_t *dims, uint32_t from, uint32_t to);

/* Whether the op has a jump, so that it reads 8- and 16-bit floats rounded. */
bool eval_has_jump(const Node *node);

#endif
