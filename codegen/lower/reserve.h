/* Address space kept back for LLVM, which cannot do without memory that it asks for.
 *
 * Where malloc gives nothing LLVM ends the process: it aborts, or the C++ library throws through
 * code that was built without exceptions. So LLVM is entered only while some address space is held
 * in reserve. The first malloc that fails anywhere in libtensorcc gives the reserve back to the
 * system and tries again (wrapped.c). LLVM goes on then, to the next reserve_need of ours, where a
 * new reserve cannot be had and the work ends in order. Only what wants more than the whole reserve
 * is unwound inside LLVM, by GUARD_backend_memory: what it worked on is lost, as after any fatal
 * error of LLVM's.
 *
 * The reserve is of the process, as is what it guards against. All functions here may be called by
 * any thread at any time.
 */
#ifndef TCC_CODEGEN_LOWER_RESERVE_H
#define TCC_CODEGEN_LOWER_RESERVE_H

#include <stdbool.h>

/* Sees to it that there is a reserve. Raises GUARD_memory when it cannot be had. */
void reserve_need(void);

/* Gives the reserve to whoever asks for memory next. False when there was none. */
bool reserve_release(void);

#endif
