#include "tests/support/counted_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 0x6d61726b };

// In front of a block, directly before it.
typedef struct Header {
    void *raw;
    size_t size;
    CountedMemory *owner;
    uintptr_t mark; // of the place
} Header;

static bool may_allocate(CountedMemory *m) {
    long left = atomic_load(&m->left);
    while (left > 0 && !atomic_compare_exchange_weak(&m->left, &left, left - 1)) continue;
    return left != 0;
}

// Dirty memory, aligned to what was asked for and to no more.
static void *allocate(void *user, size_t size, size_t alignment) {
    CountedMemory *m = user;
    if (!may_allocate(m)) return NULL;
    size_t room = sizeof(Header) + 3 * alignment + size;
    char *raw = malloc(room);
    if (!raw) return NULL;
    uintptr_t at = (uintptr_t)raw + sizeof(Header) + 2 * alignment - 1;
    at = at / (2 * alignment) * (2 * alignment) + alignment;
    Header header = {raw, size, m, at ^ MARK};
    memcpy((char *)at - sizeof header, &header, sizeof header);
    memset((void *)at, 0xa5, size);
    atomic_fetch_add(&m->calls, 1);
    atomic_fetch_add(&m->blocks, 1);
    atomic_fetch_add(&m->bytes, (long)size);
    return (void *)at;
}

static void release(void *user, void *memory, size_t size) {
    CountedMemory *m = user;
    Header header;
    memcpy(&header, (char *)memory - sizeof header, sizeof header);
    if (header.mark != ((uintptr_t)memory ^ MARK) || header.size != size || header.owner != m) {
        atomic_fetch_add(&m->wrong, 1);
        return;
    }
    atomic_fetch_sub(&m->blocks, 1);
    atomic_fetch_sub(&m->bytes, (long)size);
    memset((char *)memory - sizeof header, 0x5a, sizeof header + size);
    free(header.raw);
}

tcc_allocator counted_allocator(CountedMemory *memory) {
    return (tcc_allocator){
        .size = sizeof(tcc_allocator), .allocate = allocate, .release = release, .user = memory};
}
