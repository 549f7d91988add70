/* Who knows what: the happens-before relation of one CTA's threads.
 *
 * The CTA has one clock, which every event moves on. What a thread did at time t comes before what
 * another does now if that one *knows* the first up to t at least: they met at barriers, directly
 * or through others. README.md teaches the rules, and why this is cheap. */
#ifndef TCC_EMULATOR_CHECK_CLOCKS_H
#define TCC_EMULATOR_CHECK_CLOCKS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_LANES = 32, CLOCK_WARPS = 32 };

/* What some lanes of a warp did at a time. */
typedef struct Epoch {
    uint32_t time; /* 0: nothing */
    uint32_t lanes;
    uint32_t site; /* the instruction, numbered by report.h */
    uint8_t warp;
    bool strong; /* atomic, volatile, relaxed ...: two such accesses are no race */
} Epoch;

/* A vector with a time for every thread: what whoever acquires it gets to know. */
typedef uint32_t *ClockVector;

typedef struct Clocks {
    Arena *arena;
    uint32_t now;
    uint32_t warps, threads; /* threads: 32 a warp */
    uint32_t live[CLOCK_WARPS];
    uint32_t acted[CLOCK_WARPS];  /* when the warp touched something last */
    uint32_t met[CLOCK_WARPS];    /* all lanes of the warp know each other up to here, */
    uint32_t others[CLOCK_WARPS]; /* all other warps up to here, */
    uint32_t floor[CLOCK_WARPS];  /* so everybody up to here */
    uint32_t *known;              /* [warp][thread]: what all lanes of the warp know */
    ClockVector *alone;           /* [thread]: what one lane knows beyond that; NULL: nothing */
    bool split[CLOCK_WARPS];      /* a lane of the warp has an `alone` */
    ClockVector spare;            /* for sums */
    ClockVector *unused;          /* vectors to be used again */
    uint32_t unused_count;
} Clocks;

/* A CTA of `threads` threads; reset begins another one with no more of them. */
void clocks_init(Clocks *clocks, Arena *arena, uint32_t threads);
void clocks_reset(Clocks *clocks, uint32_t threads);

/* The time of what the warp does now; what comes next is later. */
static inline uint32_t clocks_tick(Clocks *clocks, uint32_t warp) {
    return clocks->acted[warp] = clocks->now++;
}
/* Whether the times are used up: everything must be forgotten (clocks_reset). */
static inline bool clocks_exhausted(const Clocks *clocks) { return clocks->now > 0xfffff000; }

ClockVector clocks_vector(Clocks *clocks); /* new, of zeros */

/* `lanes` of `warp` meet: each knows what the others know and did. */
void clocks_meet(Clocks *clocks, uint32_t warp, uint32_t lanes);
/* What `lanes` know and did is added to the vector. */
void clocks_release(Clocks *clocks, uint32_t warp, uint32_t lanes, ClockVector vector);
/* `lanes` get to know what is in the vector. */
void clocks_acquire(Clocks *clocks, uint32_t warp, uint32_t lanes, const uint32_t *vector);
/* Of a vector: the lanes of `warp` that released at `time` have done nothing since, so that their
 * release may as well be one of now. */
void clocks_renew(Clocks *clocks, uint32_t warp, uint32_t time, ClockVector vector);
void clocks_exit(Clocks *clocks, uint32_t warp, uint32_t lanes);

/* Whether a lane knows everything that the epoch's lanes did then. */
bool clocks_knows_slowly(const Clocks *clocks, uint32_t warp, uint32_t lane, const Epoch *epoch);

static inline bool clocks_knows(const Clocks *clocks, uint32_t warp, uint32_t lane,
                                const Epoch *epoch) {
    return epoch->time <= clocks->floor[warp] || clocks_knows_slowly(clocks, warp, lane, epoch);
}

#endif
