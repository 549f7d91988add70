#include "peer.h"

#include "measure.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct Member {
    Team *team;
    int32_t number;
    pthread_t thread;
} Member;

struct Team {
    int32_t threads;
    Member *members;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_int sleepers, pending;
    _Atomic uint64_t generation;
    atomic_bool stop;
    void (*body)(void *user, int32_t i, int32_t threads);
    void *user;
};

enum { SPINS = 2000 };

static void wait_for_work(Team *team, uint64_t seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&team->generation) != seen) return;
        _mm_pause();
    }
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(&team->generation) == seen) pthread_cond_wait(&team->wake, &team->lock);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->lock);
}

static void *work(void *argument) {
    Member *member = argument;
    Team *team = member->team;
    for (uint64_t seen = 0;; seen++) {
        wait_for_work(team, seen);
        if (atomic_load(&team->stop)) return NULL;
        team->body(team->user, member->number, team->threads);
        atomic_fetch_sub(&team->pending, 1);
    }
}

static int32_t core_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

Team *team_new(int32_t threads) {
    Team *team = calloc(1, sizeof *team);
    expect(team != NULL, "out of memory");
    team->threads = threads > 0 ? threads : core_count();
    team->members = calloc((size_t)team->threads, sizeof *team->members);
    expect(team->members != NULL, "out of memory");
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    for (int32_t i = 1; i < team->threads; i++) {
        team->members[i] = (Member){.team = team, .number = i};
        int error = pthread_create(&team->members[i].thread, NULL, work, &team->members[i]);
        expect(error == 0, "no thread could be started");
    }
    return team;
}

static void publish(Team *team) {
    atomic_fetch_add(&team->generation, 1);
    if (atomic_load(&team->sleepers) == 0) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

void team_free(Team *team) {
    atomic_store(&team->stop, true);
    publish(team);
    for (int32_t i = 1; i < team->threads; i++) pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

int32_t team_threads(const Team *team) { return team->threads; }

void team_run(Team *team, void (*body)(void *user, int32_t i, int32_t threads), void *user) {
    team->body = body;
    team->user = user;
    atomic_store(&team->pending, team->threads - 1);
    publish(team);
    body(user, 0, team->threads);
    while (atomic_load(&team->pending) > 0) _mm_pause();
}

/* ---- copies ---------------------------------------------------------------------------------- */

typedef struct Part {
    char *to;
    const char *from;
    size_t bytes;
} Part;

static Part part_of(const Copy *copy, int32_t i, int32_t threads) {
    size_t lines = copy->bytes / 64, first = lines * (size_t)i / (size_t)threads;
    size_t end = lines * ((size_t)i + 1) / (size_t)threads;
    return (Part){copy->to + 64 * first, copy->from + 64 * first, 64 * (end - first)};
}

__attribute__((target("avx2"))) static void stream_part(void *user, int32_t i, int32_t threads) {
    Part part = part_of(user, i, threads);
    for (size_t at = 0; at + 128 <= part.bytes; at += 128) {
        const __m256i *from = (const __m256i *)(const void *)(part.from + at);
        __m256i *to = (__m256i *)(void *)(part.to + at);
        __m256i a = _mm256_load_si256(from), b = _mm256_load_si256(from + 1);
        __m256i c = _mm256_load_si256(from + 2), d = _mm256_load_si256(from + 3);
        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
        _mm256_stream_si256(to + 2, c);
        _mm256_stream_si256(to + 3, d);
    }
    _mm_sfence();
}

static void memcpy_part(void *user, int32_t i, int32_t threads) {
    Part part = part_of(user, i, threads);
    memcpy(part.to, part.from, part.bytes);
}

void copy_past_caches(void *copy) { team_run(((Copy *)copy)->team, stream_part, copy); }
void copy_by_memcpy(void *copy) { team_run(((Copy *)copy)->team, memcpy_part, copy); }

/* ---- the most multiply-adds ------------------------------------------------------------------ */

enum { PEAK_STEPS = 200000, PEAK_SUMS = 12, PEAK_ROUNDS = 25 };

__attribute__((target("avx2,fma"))) static float peak_256(void) {
    __m256 sums[PEAK_SUMS], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < PEAK_SUMS; i++) sums[i] = _mm256_set1_ps((float)i);
    for (int step = 0; step < PEAK_STEPS; step++) {
#pragma GCC unroll 12
        for (int i = 0; i < PEAK_SUMS; i++) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
    }
    for (int i = 1; i < PEAK_SUMS; i++) sums[0] = _mm256_add_ps(sums[0], sums[i]);
    return sums[0][0];
}

__attribute__((target("avx512f"))) static float peak_512(void) {
    __m512 sums[PEAK_SUMS], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < PEAK_SUMS; i++) sums[i] = _mm512_set1_ps((float)i);
    for (int step = 0; step < PEAK_STEPS; step++) {
#pragma GCC unroll 12
        for (int i = 0; i < PEAK_SUMS; i++) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
    }
    for (int i = 1; i < PEAK_SUMS; i++) sums[0] = _mm512_add_ps(sums[0], sums[i]);
    return sums[0][0];
}

double fma_peak(void) {
    bool wide = __builtin_cpu_supports("avx512f");
    double times[PEAK_ROUNDS];
    volatile float kept = 0;
    for (int i = 0; i < PEAK_ROUNDS; i++) {
        double begin = seconds_now();
        kept = wide ? peak_512() : peak_256();
        times[i] = seconds_now() - begin;
    }
    (void)kept;
    double flops = 2.0 * (wide ? 16 : 8) * PEAK_SUMS * PEAK_STEPS;
    return flops / least(times, PEAK_ROUNDS) * 1e-9;
}
