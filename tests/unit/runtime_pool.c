// The pool of threads: every part runs once, by whoever comes first, and nothing of a piece of work
// is touched when its call has returned.
#include "runtime/pool.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 5000, CALLERS = 3 };

typedef struct Piece {
    int32_t count;
    atomic_int runs[THREADS];
    bool slow;
} Piece;

static Pool *new_pool(int32_t threads) {
    Memory memory;
    CHECK(memory_from(NULL, &memory));
    Pool *pool = pool_new(&memory, threads);
    CHECK(pool != NULL);
    return pool;
}

static void rest(long ns) { nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

static void run_part(void *data, int32_t i) {
    Piece *piece = data;
    if (piece->slow) rest(2000000);
    atomic_fetch_add(&piece->runs[i >= 0 && i < piece->count ? i : 0], 1);
}

// The piece lies on the stack and is overwritten after the call: a late worker would be seen.
static bool run_once(Pool *pool, int32_t count, bool slow) {
    Piece piece = {.count = count, .slow = slow};
    int32_t members = pool_run(pool, count, run_part, &piece);
    bool good = members >= 1 && members <= THREADS;
    for (int32_t i = 0; i < THREADS; i++)
        good = good && atomic_load(&piece.runs[i]) == (i < count ? 1 : 0);
    memset(&piece, 0x55, sizeof piece);
    return good;
}

static void test_each_part_runs_once(void) {
    Pool *pool = new_pool(THREADS);
    bool good = true;
    for (int round = 0; round < ROUNDS; round++) {
        good = run_once(pool, round * 7 % (THREADS + 1), false) && good;
        if (round % 500 == 0) rest(300000); // long enough to fall asleep
    }
    CHECK(good);
    CHECK_INT(pool_threads(pool), THREADS);
    pool_free(pool);
}

// Parts that wait are shared out, however many cores there are: each thread gets one of them.
static void test_long_parts_are_shared(void) {
    Pool *pool = new_pool(THREADS);
    CHECK(run_once(pool, THREADS, true));
    Piece piece = {.count = THREADS, .slow = true};
    CHECK(pool_run(pool, THREADS, run_part, &piece) > 1);
    pool_free(pool);
}

// How many are awake at once is the system's to say: one must have been.
static void test_rouse_wakes(void) {
    Pool *pool = new_pool(THREADS);
    CHECK_INT(pool_awake(pool), 0);
    int most = 0;
    for (int look = 0; look < 10000 && most == 0; look++) {
        pool_rouse(pool);
        most = pool_awake(pool);
        rest(10000);
    }
    CHECK(most >= 1 && most < THREADS);
    int awake = most;
    for (int look = 0; look < 1000 && awake > 0; look++) {
        rest(1000000);
        awake = pool_awake(pool);
    }
    CHECK_INT(awake, 0);
    CHECK(run_once(pool, THREADS, false));
    pool_free(pool);
}

static void test_one_thread(void) {
    Pool *pool = new_pool(1);
    CHECK(run_once(pool, 1, false));
    CHECK(run_once(pool, THREADS, false)); // the caller's alone
    pool_rouse(pool);
    CHECK_INT(pool_awake(pool), 0);
    pool_free(pool);
}

typedef struct Caller {
    Pool *pool;
    bool good;
} Caller;

static void *call_often(void *data) {
    Caller *caller = data;
    caller->good = true;
    for (int round = 0; round < ROUNDS / 10; round++) {
        pool_rouse(caller->pool);
        caller->good = run_once(caller->pool, 1 + round % THREADS, false) && caller->good;
    }
    return NULL;
}

static void test_several_callers(void) {
    Pool *pool = new_pool(THREADS);
    Caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i].pool = pool;
        CHECK_INT(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(callers[i].good);
    }
    pool_free(pool);
}

// The thread sanitizer cannot follow threads that a forked child starts.
#ifdef __SANITIZE_THREAD__
static const bool can_fork = false;
#else
static const bool can_fork = true;
#endif

static void test_a_child_goes_on(void) {
    if (!can_fork) return;
    Pool *pool = new_pool(THREADS);
    CHECK(run_once(pool, THREADS, false));
    pid_t child = fork();
    if (child == 0) {
        bool good = pool_awake(pool) == 0;
        for (int round = 0; round < 100; round++) good = run_once(pool, THREADS, false) && good;
        pool_free(pool);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK(run_once(pool, THREADS, false));
    pool_free(pool);
}

int main(void) {
    RUN(test_each_part_runs_once);
    RUN(test_long_parts_are_shared);
    RUN(test_rouse_wakes);
    RUN(test_one_thread);
    RUN(test_several_callers);
    RUN(test_a_child_goes_on);
    return test_done();
}
