#include "runtime/expr.h"

static bool apply(int64_t op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case EXPR_add: return !__builtin_add_overflow(a, b, out);
    case EXPR_mul: return !__builtin_mul_overflow(a, b, out);
    case EXPR_floordiv:
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
        return true;
    case EXPR_min: *out = a < b ? a : b; return true;
    case EXPR_max: *out = a > b ? a : b; return true;
    default: return false;
    }
}

bool expr_evaluate(const int64_t *code, uint32_t count, const int64_t *dims, uint32_t dim_count,
                   int64_t *out_value) {
    int64_t stack[EXPR_MAX_STACK];
    uint32_t top = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t op = code[i];
        if (op == EXPR_const || op == EXPR_dim) {
            if (++i >= count || top == EXPR_MAX_STACK) return false;
            if (op == EXPR_dim && (code[i] < 0 || code[i] >= (int64_t)dim_count)) return false;
            stack[top++] = op == EXPR_const ? code[i] : dims[code[i]];
            continue;
        }
        if (top < 2 || !apply(op, stack[top - 2], stack[top - 1], &stack[top - 2])) return false;
        top--;
    }
    if (top != 1) return false;
    *out_value = stack[0];
    return true;
}
