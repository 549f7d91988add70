/* What models are compared with, written by hand: copies by all threads. */
#ifndef TCC_TESTS_BENCH_PEER_H
#define TCC_TESTS_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

/* Threads that wait for work as those of a model do: spinning first, then asleep. */
typedef struct Team Team;
Team *team_new(int32_t threads); /* 0: one a core */
void team_free(Team *team);
int32_t team_threads(const Team *team);
/* body(user, i, threads) on each thread, the caller being number 0. */
void team_run(Team *team, void (*body)(void *user, int32_t i, int32_t threads), void *user);

typedef struct Copy {
    Team *team;
    char *to;
    const char *from;
    size_t bytes; /* a multiple of 64 a thread; both ends aligned to 64 */
} Copy;

/* Contestants over a Copy: loads and stores that bypass the caches, and memcpy, an equal part a
 * thread. */
void copy_past_caches(void *copy);
void copy_by_memcpy(void *copy);

/* GFLOP/s of f32 multiply-adds in registers on the calling thread, the most this core does. */
double fma_peak(void);

#endif
