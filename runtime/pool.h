/* Threads that run the parts of a kernel. Workers are started when they are first needed; one that
 * has nothing to do spins for a while, since the next kernel is often microseconds away, and then
 * sleeps. After a fork the child's pool starts workers of its own. */
#ifndef TCC_RUNTIME_POOL_H
#define TCC_RUNTIME_POOL_H

#include "runtime/memory.h"

#include <stdint.h>

typedef struct Pool Pool;

/* A pool of `threads` including the caller's (0: one a core this process may use). NULL without
 * memory. */
Pool *pool_new(const Memory *memory, int32_t threads);
void pool_free(Pool *pool); /* joins the workers; NULL is allowed */
int32_t pool_threads(const Pool *pool);

/* Workers that neither sleep nor serve another caller: work for so many and the caller begins at
 * once. */
int32_t pool_awake(Pool *pool);
/* Wakes the workers, and starts them when there are none, for work that is about to come. */
void pool_rouse(Pool *pool);

/* Runs body(data, i) for i in 0..count-1, count <= pool_threads, and returns when all are done. The
 * caller runs one of them, and those that no worker has begun by then. While another caller has the
 * workers, the calling thread runs all by itself. Returns how many threads took part. */
int32_t pool_run(Pool *pool, int32_t count, void (*body)(void *data, int32_t i), void *data);

#endif
