/* Arguments of a call, evaluated, and how functions and built-ins take them. */
#ifndef TCC_FRONTEND_DSL_CALL_H
#define TCC_FRONTEND_DSL_CALL_H

#include "frontend/dsl/sema.h"

typedef struct Argument {
    Str name; /* data is NULL for a positional one */
    const Ast *ast;
    Loc loc; /* where its text begins */
    Value value;
    bool taken;
} Argument;

typedef struct Arguments {
    const Ast *call;
    Argument *items; /* the positional ones first */
    uint32_t count, positional;
} Arguments;

/* False after a report. */
bool dsl_arguments_eval(Sema *s, const Ast *call, Arguments *out);

/* The argument for the parameter `name` at `position`, NULL when it is not given; clears *out_good
 * after a report that it is given twice. */
const Argument *dsl_arguments_find(Sema *s, Arguments *arguments, uint32_t position, Str name,
                                   bool *out_good);

/* Reports the first argument that no parameter took; `most` is how many parameters there are. */
bool dsl_arguments_all_taken(Sema *s, const Arguments *arguments, Str function, uint32_t most);

/* The value converted to dtype. */
Value dsl_cast_value(Sema *s, const Argument *argument, DType dtype);

#endif
