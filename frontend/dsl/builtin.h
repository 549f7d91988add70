/* The built-in functions: what the language offers of the core ops, by the table builtins.def. */
#ifndef TCC_FRONTEND_DSL_BUILTIN_H
#define TCC_FRONTEND_DSL_BUILTIN_H

#include "frontend/dsl/call.h"

enum { BUILTIN_MAX_ARGS = 8 };

typedef struct Builtin Builtin;

/* One call, with its arguments bound: args[i] is NULL where an optional one is absent or None. */
typedef struct BuiltinCall {
    Sema *s;
    const Builtin *row;
    Loc loc;
    Op op; /* the row's */
    const Argument *args[BUILTIN_MAX_ARGS];
} BuiltinCall;

typedef Value BuiltinRule(const BuiltinCall *call);

struct Builtin {
    Str name;
    const char *parameters; /* names in order, separated by blanks; a ? marks an optional one */
    BuiltinRule *rule;
    Op op;
    const char *meaning;
};

size_t builtin_count(void);
const Builtin *builtin_at(size_t index);
const Builtin *builtin_find(Str name); /* NULL when there is none */
Value builtin_call(Sema *s, const Builtin *builtin, Arguments *arguments);

/* Arguments by position; false or NODE_none after a report. Absent optional ones leave the default.
 */
NodeId builtin_arg_tensor(const BuiltinCall *call, uint32_t at);
bool builtin_arg_int(const BuiltinCall *call, uint32_t at, int64_t absent, int64_t *out);
bool builtin_arg_flag(const BuiltinCall *call, uint32_t at, bool absent, int64_t *out);
bool builtin_arg_dtype(const BuiltinCall *call, uint32_t at, DType absent, DType *out);
/* An axis of x, from 0. */
bool builtin_arg_axis(const BuiltinCall *call, uint32_t at, NodeId x, int64_t absent, int64_t *out);
/* An axis, a list of axes, or absent: all. */
bool builtin_arg_axes(const BuiltinCall *call, uint32_t at, NodeId x, int64_t *out_axes,
                      uint32_t *out_count);
/* A list of `count` whole numbers, or one number for all of them. */
bool builtin_arg_ints(const BuiltinCall *call, uint32_t at, uint32_t count, int64_t absent,
                      int64_t *out);
/* A list of dims, or one dim. */
bool builtin_arg_dims(const BuiltinCall *call, uint32_t at, const Dim **out_dims,
                      uint32_t *out_rank);
bool builtin_arg_string(const BuiltinCall *call, uint32_t at, Str *out);

/* The dtype of the products' sum: i32 for 8-bit integers. */
DType dsl_sum_of_products_dtype(DType dtype);

#define BUILTIN(name, parameters, rule, op, meaning) Value builtin_##rule(const BuiltinCall *call);
#include "frontend/dsl/builtins.def"
#undef BUILTIN

#endif
