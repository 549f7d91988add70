/* Hints for who writes what another language has: one note behind the error at its place. */
#ifndef TCC_FRONTEND_DSL_HINTS_H
#define TCC_FRONTEND_DSL_HINTS_H

#include "frontend/dsl/parse.h"

/* Behind a syntax error at token `at`, told at `loc`; `assigns` says that "=" would fit there. */
void hint_syntax(const Parse *parse, size_t at, Loc loc, bool assigns);
void hint_stray(Diags *diags, Loc loc, Str text);
void hint_argument(Diags *diags, Loc loc, Str name);
/* Behind a name that there is none of; whether there was a hint. */
bool hint_name(Diags *diags, Loc loc, Str name);
/* What the language calls what others call `name`; empty when that is not known. */
Str hint_foreign(Str name);
/* Behind a call of `object.theirs`, which is none of a function; the object may have no name. */
void hint_method(Diags *diags, Loc loc, Str object, Str theirs);

#endif
