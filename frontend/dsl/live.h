/* A model that is built call by call, without a text: what a statement of the language would do,
 * done at once, so that the type of each value is known and what is wrong is said at the call.
 *
 * Values belong to a block: the model itself, or the blocks of cond, loop and scan that are open.
 * Those of an outer block may be used in an inner one, which gets them as inputs; those of a block
 * that was closed are gone. A call that fails gives VALUE_error after a report and leaves the model
 * as it was.
 */
#ifndef TCC_FRONTEND_DSL_LIVE_H
#define TCC_FRONTEND_DSL_LIVE_H

#include "frontend/dsl/value.h"
#include "frontend/weights/weights.h"

typedef struct Live Live;

/* An empty model. Its graph lies in `arena`, types and constants in `ctx`. Parameters take their
 * values from `weights` when they are declared, where it has some. */
Live *live_new(IrContext *ctx, Arena *arena, Diags *diags, Str name, WeightTable *weights);

/* Where errors of the calls that follow are said, and what the nodes that they make come from. */
void live_set_place(Live *live, Loc loc);
Loc live_place(const Live *live);

/* A value that was made before, and by what. */
typedef struct LiveOperand {
    Value value;
    Loc loc;
    uint32_t block; /* as live_block was then */
} LiveOperand;

/* The innermost open block: a number that no other block of the model has; 0 is the model. */
uint32_t live_block(const Live *live);

typedef struct LiveArgument {
    Str name; /* data is NULL for one by position; these come first */
    LiveOperand operand;
} LiveArgument;

/* An index or, with `is_slice`, one of a slice's ends or its step, which may be VALUE_none. */
typedef struct LiveSubscript {
    bool is_slice;
    LiveOperand start, stop, step; /* an index, or None for a new axis, is `start` */
} LiveSubscript;

/* `scope` prefixes the parameters of the call; its data is NULL without one. */
Value live_call(Live *live, Str function, const LiveArgument *arguments, uint32_t count, Str scope);
Value live_unary(Live *live, AstOp op, const LiveOperand *a);
Value live_binary(Live *live, AstOp op, const LiveOperand *a, const LiveOperand *b);
Value live_member(Live *live, const LiveOperand *of, Str name);
Value live_index(Live *live, const LiveOperand *of, const LiveSubscript *subscripts,
                 uint32_t count);
Value live_list(Live *live, const LiveOperand *items, uint32_t count);
/* The item of a list, or the result of a call with several. */
Value live_item(Live *live, const LiveOperand *of, uint32_t index);

/* A dim with its range, and the value that costs are estimated for. */
Value live_dim(Live *live, Str name, int64_t lo, int64_t hi, int64_t tune);
/* `dims` are whole numbers and dims. */
Value live_input(Live *live, Str name, DType dtype, const LiveOperand *dims, uint32_t rank);
Value live_param(Live *live, Str name, DType dtype, const LiveOperand *dims, uint32_t rank);
/* The tensor of `weight`, whose storage is shared. */
Value live_constant(Live *live, const Weight *weight);
bool live_output(Live *live, Str name, const LiveOperand *value);

/* ---- blocks (block.c) ------------------------------------------------------------------------ */

/* Opens the first block of a cond, whose condition is a bool scalar. */
bool live_begin_cond(Live *live, const LiveOperand *condition);
/* Opens the condition of a loop over `count` carried values; out_values are these within it. */
bool live_begin_loop(Live *live, const LiveOperand *carried, uint32_t count, int64_t limit,
                     Value *out_values);
/* Opens the body of a scan: out_values are the carried values, then the sequences' slices. */
bool live_begin_scan(Live *live, const LiveOperand *carried, uint32_t carried_count,
                     const LiveOperand *sequences, uint32_t sequence_count, bool reverse,
                     Value *out_values);
/* How many values the block that is open carries: 0 of a cond, and when none is open. */
uint32_t live_carried(const Live *live);
/* Closes the first block of a cond with its results, or of a loop with the one that says whether to
 * go on, and opens the second. out_values: the carried values of a loop, in the body. */
bool live_next_block(Live *live, const LiveOperand *results, uint32_t count, Value *out_values);
/* Closes the last block with its results. Gives one value, or several. */
Value live_end_block(Live *live, const LiveOperand *results, uint32_t count);
/* How many blocks are open. */
uint32_t live_depth(const Live *live);
/* Closes the innermost block without results; what it declared is undone. False after a report. */
bool live_abandon_block(Live *live);

/* ---- the whole ------------------------------------------------------------------------------- */

/* Whether the model can be compiled: no block is open, there are outputs, inputs bind its dims.
 * Reports what is not so, and warnings. */
bool live_check(Live *live);
const Graph *live_graph(const Live *live);
/* That of a block, open or closed, for the types of its values. */
const Graph *live_graph_of(const Live *live, uint32_t block);
/* The type of the parameter that has this full name; NULL when there is none. */
const Type *live_param_type(const Live *live, Str name);

#endif
