#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

/* A piece of work is known by its word: a number that is counted up, and in the lower COUNT_BITS
 * how many parts it has.
 *
 * Part i is meant for worker i, whose caches may know its data. But whoever comes first takes it: a
 * caller that is done with its own part does not wait for a worker that still sleeps, or whose core
 * does something else. `taken` of a part holds the word of the last work for which somebody took
 * it. The caller leaves a piece of work only when all its parts are taken and finished, so a worker
 * that comes late finds nothing to take, and one that has taken a part finds body and data as they
 * were published. */
enum {
    SPIN_NS = 100000,
    SPINS_A_LOOK = 64,
    SPINS_ALONE = 4096, /* of a caller that waits, before it lends its core to others */
    MAX_THREADS = 1024,
    LINE = MEMORY_LINE, /* what several threads write lies apart */
    COUNT_BITS = 16
};

typedef struct Worker {
    Pool *pool;
    int32_t number; /* from 1; the caller is 0 */
    pthread_t thread;
    _Alignas(LINE) _Atomic uint64_t taken; /* of part `number` */
} Worker;

struct Pool {
    Memory memory;
    int32_t threads;
    int32_t started;       /* workers that run; fewer when the system refuses more */
    Worker *workers;       /* by number; the first is the caller's, without a thread */
    _Atomic pid_t owner;   /* the process that they run in; 0 while that changes */
    pthread_mutex_t busy;  /* held by the caller that has the workers */
    pthread_mutex_t sleep; /* with `wake`, for workers that have stopped spinning */
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_uint rouses; /* how often they were woken without work */
    atomic_bool stop;
    /* A piece of work: written before its word, read after a part of it was taken. They come to
     * a worker in the cache line of the word. */
    _Alignas(LINE) _Atomic uint64_t word;
    void (*body)(void *data, int32_t i);
    void *data;
    _Alignas(LINE) atomic_int finished; /* parts */
    atomic_int members;                 /* workers that had some */
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* False when there is no other work than `seen` for SPIN_NS. */
static bool spin_for_work(Pool *pool, uint64_t seen) {
    int64_t give_up = now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < SPINS_A_LOOK; i++) {
            if (atomic_load_explicit(&pool->word, memory_order_acquire) != seen) return true;
            __builtin_ia32_pause();
        }
    } while (now_ns() < give_up);
    return false;
}

/* Until there is other work than `seen`: spinning first, then asleep. */
static void wait_for_work(Pool *pool, uint64_t seen) {
    while (!spin_for_work(pool, seen)) {
        pthread_mutex_lock(&pool->sleep);
        atomic_fetch_add(&pool->sleepers, 1);
        unsigned rouses = atomic_load(&pool->rouses);
        while (atomic_load(&pool->word) == seen && atomic_load(&pool->rouses) == rouses)
            pthread_cond_wait(&pool->wake, &pool->sleep);
        atomic_fetch_sub(&pool->sleepers, 1);
        pthread_mutex_unlock(&pool->sleep);
    }
}

/* Whether the part is the calling thread's from now on. */
static bool take_part(Pool *pool, uint64_t word, int32_t i) {
    uint64_t before = atomic_load_explicit(&pool->workers[i].taken, memory_order_relaxed);
    return before < word && atomic_compare_exchange_strong(&pool->workers[i].taken, &before, word);
}

/* Runs what nobody has taken, beginning with part `first`. Returns how many parts that were. */
static int32_t run_parts(Pool *pool, uint64_t word, int32_t first) {
    int32_t count = (int32_t)(word & ((1u << COUNT_BITS) - 1)), done = 0;
    for (int32_t k = 0; k < count; k++) {
        int32_t i = (first + k) % count;
        if (!take_part(pool, word, i)) continue;
        pool->body(pool->data, i);
        done++;
    }
    return done;
}

static void *work(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    uint64_t seen = 0;
    for (;;) {
        wait_for_work(pool, seen);
        seen = atomic_load_explicit(&pool->word, memory_order_acquire);
        if (atomic_load(&pool->stop)) return NULL;
        int32_t done = run_parts(pool, seen, worker->number);
        if (done == 0) continue;
        atomic_fetch_add_explicit(&pool->members, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&pool->finished, done, memory_order_release);
    }
}

/* The cores that this process may run on. */
static int32_t core_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count;
}

/* No workers, nothing locked, no work under way. */
static void forget_workers(Pool *pool) {
    pool->started = 0;
    pthread_mutex_init(&pool->busy, NULL);
    pthread_mutex_init(&pool->sleep, NULL);
    pthread_cond_init(&pool->wake, NULL);
    atomic_store(&pool->sleepers, 0);
    atomic_store(&pool->word, 0);
    for (int32_t i = 0; i < pool->threads; i++) atomic_store(&pool->workers[i].taken, 0);
}

Pool *pool_new(const Memory *memory, int32_t threads) {
    Pool *pool = memory_new(memory, sizeof *pool);
    if (pool == NULL) return NULL;
    pool->memory = *memory;
    if (threads <= 0) threads = core_count();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    pool->threads = threads;
    pool->workers = memory_new(memory, (size_t)threads * sizeof *pool->workers);
    if (pool->workers == NULL) {
        memory_free(memory, pool, sizeof *pool);
        return NULL;
    }
    forget_workers(pool);
    atomic_store(&pool->owner, getpid());
    return pool;
}

/* A fork leaves the child a pool without its workers, in whatever state it was: the first caller
 * there begins anew. False while another one does. */
static bool is_of_this_process(Pool *pool) {
    pid_t owner = atomic_load(&pool->owner), here = getpid();
    if (owner == here) return true;
    if (owner == 0 || !atomic_compare_exchange_strong(&pool->owner, &owner, 0)) return false;
    forget_workers(pool);
    atomic_store(&pool->owner, here);
    return true;
}

static void wake_all(Pool *pool) {
    pthread_mutex_lock(&pool->sleep);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->sleep);
}

void pool_free(Pool *pool) {
    if (pool == NULL) return;
    if (!is_of_this_process(pool)) forget_workers(pool);
    atomic_store(&pool->stop, true);
    atomic_fetch_add(&pool->word, (uint64_t)1 << COUNT_BITS);
    wake_all(pool);
    for (int32_t i = 1; i <= pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->sleep);
    pthread_mutex_destroy(&pool->busy);
    Memory memory = pool->memory;
    memory_free(&memory, pool->workers, (size_t)pool->threads * sizeof *pool->workers);
    memory_free(&memory, pool, sizeof *pool);
}

int32_t pool_threads(const Pool *pool) { return pool->threads; }

static bool start_worker(Pool *pool) {
    Worker *worker = &pool->workers[pool->started + 1];
    worker->pool = pool;
    worker->number = pool->started + 1;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) return false;
    pool->started++;
    return true;
}

/* Workers take no signals: those are for the host's threads. */
static void start_workers(Pool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < pool->threads - 1 && start_worker(pool)) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The workers are the caller's until it unlocks `busy`. False when another has them, or when there
 * are none. */
static bool have_workers(Pool *pool) {
    if (!is_of_this_process(pool) || pthread_mutex_trylock(&pool->busy) != 0) return false;
    if (pool->started == 0) start_workers(pool);
    if (pool->started > 0) return true;
    pthread_mutex_unlock(&pool->busy);
    return false;
}

static int32_t count_awake(Pool *pool) { return pool->started - atomic_load(&pool->sleepers); }

int32_t pool_awake(Pool *pool) {
    if (!is_of_this_process(pool) || pthread_mutex_trylock(&pool->busy) != 0) return 0;
    int32_t awake = count_awake(pool);
    pthread_mutex_unlock(&pool->busy);
    return awake;
}

void pool_rouse(Pool *pool) {
    if (!have_workers(pool)) return;
    if (atomic_load(&pool->sleepers) > 0) {
        atomic_fetch_add(&pool->rouses, 1);
        wake_all(pool);
    }
    pthread_mutex_unlock(&pool->busy);
}

/* Workers that sleep are woken only when those that do not are too few. */
static uint64_t publish(Pool *pool, int32_t count, void (*body)(void *data, int32_t i),
                        void *data) {
    uint64_t number = (atomic_load(&pool->word) >> COUNT_BITS) + 1;
    uint64_t word = number << COUNT_BITS | (uint64_t)count;
    pool->body = body;
    pool->data = data;
    atomic_store_explicit(&pool->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->members, 0, memory_order_relaxed);
    atomic_store(&pool->word, word);
    if (count_awake(pool) < count - 1) wake_all(pool);
    return word;
}

/* A worker that shares the caller's core must get to run. */
static void wait_until_finished(Pool *pool, int32_t parts) {
    for (int spins = 0; atomic_load_explicit(&pool->finished, memory_order_acquire) < parts;) {
        if (spins++ < SPINS_ALONE)
            __builtin_ia32_pause();
        else
            sched_yield();
    }
}

int32_t pool_run(Pool *pool, int32_t count, void (*body)(void *data, int32_t i), void *data) {
    if (count <= 1 || !have_workers(pool)) {
        for (int32_t i = 0; i < count; i++) body(data, i);
        return 1;
    }
    int32_t mine = run_parts(pool, publish(pool, count, body, data), 0);
    wait_until_finished(pool, count - mine);
    int32_t members = 1 + atomic_load(&pool->members);
    pthread_mutex_unlock(&pool->busy);
    return members;
}
