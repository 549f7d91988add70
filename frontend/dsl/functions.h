/* The reference of the functions of the language, printed from what defines them: the table of
 * built-in functions, and the texts of frontend/lib. */
#ifndef TCC_FRONTEND_DSL_FUNCTIONS_H
#define TCC_FRONTEND_DSL_FUNCTIONS_H

#include "base/str.h"

/* Writes the page. A function is a line "* `name(parameters)`", followed by ", N results" where it
 * has more than one, and by a line of two blanks and what it does where that is
 * written. A ? after a parameter, or its
 * default value, says that it may be left out. */
void dsl_print_functions(Buf *buf);

#endif
