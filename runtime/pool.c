#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_NS = 100000, SPINS_A_LOOK = 64, MAX_THREADS = 1024 };

typedef struct Worker {
    Pool *pool;
    int32_t number; /* from 1; the caller is 0 */
    pthread_t thread;
} Worker;

struct Pool {
    Memory memory;
    int32_t threads;
    int32_t started; /* workers that run; fewer when the system refuses more */
    Worker *workers;
    _Atomic pid_t owner;   /* the process that they run in; 0 while that changes */
    pthread_mutex_t busy;  /* held by the caller that has the workers */
    pthread_mutex_t sleep; /* with `wake`, for workers that have stopped spinning */
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_bool stop;
    /* A piece of work: written before `generation` is advanced, read after it was seen to. */
    _Atomic uint64_t generation;
    atomic_int pending; /* workers that have not finished it */
    int32_t count;
    void (*body)(void *data, int32_t i);
    void *data;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Until the generation differs from `seen`: spinning first, then asleep. */
static void wait_for_work(Pool *pool, uint64_t seen) {
    int64_t give_up = now_ns() + SPIN_NS;
    while (now_ns() < give_up) {
        for (int i = 0; i < SPINS_A_LOOK; i++) {
            if (atomic_load_explicit(&pool->generation, memory_order_acquire) != seen) return;
            __builtin_ia32_pause();
        }
    }
    pthread_mutex_lock(&pool->sleep);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->sleep);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->sleep);
}

static void *work(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    uint64_t seen = 0;
    for (;;) {
        wait_for_work(pool, seen);
        seen = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (atomic_load(&pool->stop)) return NULL;
        if (worker->number < pool->count) pool->body(pool->data, worker->number);
        atomic_fetch_sub_explicit(&pool->pending, 1, memory_order_release);
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
    atomic_store(&pool->generation, 0);
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

static void publish(Pool *pool) {
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_seq_cst);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->sleep);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->sleep);
}

void pool_free(Pool *pool) {
    if (pool == NULL) return;
    if (!is_of_this_process(pool)) forget_workers(pool);
    atomic_store(&pool->stop, true);
    publish(pool);
    pthread_mutex_lock(&pool->sleep);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->sleep);
    for (int32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->sleep);
    pthread_mutex_destroy(&pool->busy);
    Memory memory = pool->memory;
    memory_free(&memory, pool->workers, (size_t)pool->threads * sizeof *pool->workers);
    memory_free(&memory, pool, sizeof *pool);
}

int32_t pool_threads(const Pool *pool) { return pool->threads; }

static bool start_worker(Pool *pool) {
    Worker *worker = &pool->workers[pool->started];
    *worker = (Worker){.pool = pool, .number = pool->started + 1};
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) return false;
    pool->started++;
    return true;
}

/* Workers take no signals: those are for the host's threads. */
static void start_workers(Pool *pool, int32_t wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < wanted && start_worker(pool)) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int32_t pool_run(Pool *pool, int32_t count, void (*body)(void *data, int32_t i), void *data) {
    bool alone = count <= 1 || !is_of_this_process(pool) || pthread_mutex_trylock(&pool->busy) != 0;
    if (!alone) {
        if (pool->started == 0) start_workers(pool, pool->threads - 1);
        alone = pool->started == 0;
        if (alone) pthread_mutex_unlock(&pool->busy);
    }
    if (alone) {
        for (int32_t i = 0; i < count; i++) body(data, i);
        return 1;
    }
    int32_t parts = count < pool->started + 1 ? count : pool->started + 1;
    pool->count = parts;
    pool->body = body;
    pool->data = data;
    atomic_store(&pool->pending, pool->started);
    publish(pool);
    body(data, 0);
    for (int32_t i = parts; i < count; i++) body(data, i);
    while (atomic_load_explicit(&pool->pending, memory_order_acquire) > 0) __builtin_ia32_pause();
    pthread_mutex_unlock(&pool->busy);
    return parts;
}
