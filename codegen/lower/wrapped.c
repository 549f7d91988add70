/* The allocating functions of libc as all code sees them that is linked into libtensorcc: ours,
 * LLVM's, the C++ library's. The linker's --wrap brings the calls here (cmake/product.cmake);
 * programs that take LLVM from its shared library do without. What reserve.h says happens here. */
#include <stddef.h>

#include "base/guard.h"
#include "codegen/lower/reserve.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

/* Whether to ask once more after a call that gave nothing, the `tries`th. Another thread may have
 * released the reserve just now, so that the second try is made in any case. */
static bool again(int tries) {
    if (reserve_release() || tries == 1) return true;
    if (guard_scope().backend) guard_raise(GUARD_backend_memory, "out of memory");
    return false;
}

void *__wrap_malloc(size_t size) {
    void *memory = __real_malloc(size);
    for (int tries = 1; memory == NULL && again(tries); tries++) memory = __real_malloc(size);
    return memory;
}

void *__wrap_calloc(size_t count, size_t size) {
    void *memory = __real_calloc(count, size);
    for (int tries = 1; memory == NULL && again(tries); tries++)
        memory = __real_calloc(count, size);
    return memory;
}

/* With a size of 0 it frees, and gives nothing. */
void *__wrap_realloc(void *memory, size_t size) {
    void *moved = __real_realloc(memory, size);
    for (int tries = 1; moved == NULL && size != 0 && again(tries); tries++)
        moved = __real_realloc(memory, size);
    return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    void *memory = __real_aligned_alloc(alignment, size);
    for (int tries = 1; memory == NULL && again(tries); tries++)
        memory = __real_aligned_alloc(alignment, size);
    return memory;
}
