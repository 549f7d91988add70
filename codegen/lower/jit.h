/* Compiled kernels in this process. A Jit holds the code of any number of objects (EMIT_object);
 * many can be alive at once, each independent of the others. Calls of one Jit are made by one
 * thread at a time; what it found may be called by any thread until jit_free. All calls but
 * jit_free raise GUARD_memory. */
#ifndef TCC_CODEGEN_LOWER_JIT_H
#define TCC_CODEGEN_LOWER_JIT_H

#include "base/status.h"
#include "base/str.h"
#include "runtime/abi.h"

typedef struct Jit Jit;

/* The struct lives in `arena`; jit_free releases the code. NULL with *out_message (in `arena`) on
 * failure. */
Jit *jit_new(Arena *arena, const char **out_message);
void jit_free(Jit *jit); /* NULL is allowed */

/* Adds an object file; its bytes are copied. Its symbols are new to this Jit. */
Status jit_add(Jit *jit, Str object, const char **out_message);

/* The kernel of that name; NULL with *out_message when there is none. */
TccKernel *jit_find(Jit *jit, const char *symbol, const char **out_message);

#endif
