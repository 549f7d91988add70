/* Expressions over dims as stack programs: how grids, sizes and shapes are computed when a model is
 * run. A word is an opcode, for PUSH_CONST followed by the number, for PUSH_DIM by the slot. */
#ifndef TCC_RUNTIME_EXPR_H
#define TCC_RUNTIME_EXPR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum TccExprOp {
    EXPR_const, /* push the next word */
    EXPR_dim,   /* push the dim of the next word */
    EXPR_add,
    EXPR_mul,
    EXPR_floordiv,
    EXPR_min,
    EXPR_max,
    EXPR_op_count
} TccExprOp;

enum { EXPR_MAX_STACK = 64 };

/* The value; false on overflow, a zero divisor or a malformed program. */
bool expr_evaluate(const int64_t *code, uint32_t count, const int64_t *dims, uint32_t dim_count,
                   int64_t *out_value);

#endif
