#include "codegen/lower/reserve.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/guard.h"

/* Of pages that nobody touches, so that they cost address space alone. A batch of kernels takes
 * LLVM a few megabytes; where there is no room for the most, less will do. FIRST is for its
 * constructors, which run while the library is loaded. */
enum { PAGE = 4096, MEGABYTE = 1 << 20, MOST = 32, LEAST = 8, FIRST = 2 };

/* A part of the library's image, since loading fails in order where there is no room for it. */
static _Alignas(PAGE) char first[FIRST * MEGABYTE];

/* The reserve's address, with its megabytes in the bits below a page; NULL when there is none. */
static _Atomic(char *) reserve;

static void unmap(char *packed) {
    size_t megabytes = (uintptr_t)packed % PAGE;
    munmap(packed - megabytes, megabytes * MEGABYTE);
}

static char *map_some(void) {
    for (size_t megabytes = MOST; megabytes >= LEAST; megabytes /= 2) {
        void *memory = mmap(NULL, megabytes * MEGABYTE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) return (char *)memory + megabytes;
    }
    return NULL;
}

bool reserve_release(void) {
    static atomic_bool first_is_gone;
    char *packed = atomic_exchange(&reserve, NULL);
    if (packed == NULL) {
        if (atomic_exchange(&first_is_gone, true)) return false;
        packed = first + FIRST;
    }
    unmap(packed);
    return true;
}

void reserve_need(void) {
    char *none = NULL;
    if (atomic_load(&reserve) != NULL) return;
    char *packed = map_some();
    if (packed == NULL) guard_raise(GUARD_memory, "out of memory");
    if (!atomic_compare_exchange_strong(&reserve, &none, packed)) unmap(packed);
}
