/* Expressions over the dims of a model, such as ports are described by. */
#ifndef TCC_DRIVER_DIM_EXPR_H
#define TCC_DRIVER_DIM_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One dim; `name` has `name_size` bytes. */
typedef struct Size {
    const char *name;
    size_t name_size;
    int64_t value, tune;
    bool known, given; /* given: by -D */
} Size;

typedef struct Sizes Sizes;

/* NULL when there is no dim of that name. */
Size *sizes_find(const Sizes *sizes, const char *name, size_t name_size);

/* Evaluates an expression such as "2*N + max(1, T // 4)"; false when it is none, holds a dim that
 * is not known, or overflows. */
bool dim_expr_evaluate(const char *text, const Sizes *sizes, int64_t *out_value);

#endif
