#include "tests/faults/calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Faults *now;

void faults_use(Faults *faults) { now = faults; }

/* Counts a call; whether it is one that fails. */
static bool fails(FaultKind kind, const char *name) {
    const char *none = NULL;
    uint64_t n = atomic_fetch_add(&now->calls[kind], 1) + 1;
    bool hit = kind == now->kind && now->at != 0 && (now->ever_after ? n >= now->at : n == now->at);
    if (hit) atomic_compare_exchange_strong(&now->hit, &none, name);
    if (hit && getenv("FAULT_STOP") != NULL) raise(SIGABRT); /* for a look at where it is made */
    return hit;
}

#define CALL(type, name, parameters, arguments, kind, error, failure)                              \
    type fault_##name parameters;                                                                  \
    type fault_##name parameters {                                                                 \
        if (fails(FAULT_##kind, #name)) {                                                          \
            errno = error;                                                                         \
            return failure;                                                                        \
        }                                                                                          \
        return name arguments;                                                                     \
    }
#include "tests/faults/calls.def"
#undef CALL

/* ---- memory: what is held is counted --------------------------------------------------------- */

static void *held(void *block) {
    if (block != NULL) atomic_fetch_add(&now->blocks, 1);
    return block;
}

static bool out_of_memory(const char *name) {
    bool hit = fails(FAULT_memory, name);
    if (hit) errno = ENOMEM;
    return hit;
}

void *fault_malloc(size_t size);
void *fault_malloc(size_t size) { return out_of_memory("malloc") ? NULL : held(malloc(size)); }

void *fault_calloc(size_t count, size_t size);
void *fault_calloc(size_t count, size_t size) {
    return out_of_memory("calloc") ? NULL : held(calloc(count, size));
}

void *fault_aligned_alloc(size_t alignment, size_t size);
void *fault_aligned_alloc(size_t alignment, size_t size) {
    return out_of_memory("aligned_alloc") ? NULL : held(aligned_alloc(alignment, size));
}

void *fault_realloc(void *block, size_t size);
void *fault_realloc(void *block, size_t size) {
    if (out_of_memory("realloc")) return NULL;
    return block == NULL ? held(malloc(size)) : realloc(block, size);
}

void fault_free(void *block);
void fault_free(void *block) {
    if (block != NULL) atomic_fetch_sub(&now->blocks, 1);
    free(block);
}

void faults_take_jansson(void) { json_set_alloc_funcs(fault_malloc, fault_free); }

char *fault_realpath(const char *path, char *resolved);
char *fault_realpath(const char *path, char *resolved) {
    if (fails(FAULT_file, "realpath")) {
        errno = EACCES;
        return NULL;
    }
    char *found = realpath(path, resolved);
    return resolved == NULL ? held(found) : found;
}

/* ---- files: whole, in pieces, interrupted ---------------------------------------------------- */

int fault_open(const char *path, int flags, ...);
int fault_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (fails(FAULT_file, "open")) {
        errno = flags & O_CREAT ? ENOSPC : EMFILE;
        return -1;
    }
    return open(path, flags, mode);
}

/* A close that fails has closed all the same. */
int fault_close(int fd);
int fault_close(int fd) {
    bool hit = fails(FAULT_file, "close");
    int result = close(fd);
    if (!hit) return result;
    errno = EIO;
    return -1;
}

/* How much of a transfer of `size` bytes is done; -1 with errno when none is. */
static ssize_t transfer(const char *name, size_t size, int error) {
    bool lost = fails(FAULT_file, name), interrupted = fails(FAULT_interrupt, name);
    bool pieces = fails(FAULT_piece, name);
    if (lost || interrupted) {
        errno = lost ? error : EINTR;
        return -1;
    }
    return (ssize_t)(pieces && size > 1 ? 1 : size);
}

ssize_t fault_read(int fd, void *bytes, size_t size);
ssize_t fault_read(int fd, void *bytes, size_t size) {
    ssize_t part = transfer("read", size, EIO);
    return part < 0 ? part : read(fd, bytes, (size_t)part);
}

ssize_t fault_write(int fd, const void *bytes, size_t size);
ssize_t fault_write(int fd, const void *bytes, size_t size) {
    ssize_t part = transfer("write", size, ENOSPC);
    return part < 0 ? part : write(fd, bytes, (size_t)part);
}
