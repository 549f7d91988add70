/* Vector clocks by warp. A warp's lanes nearly always know the same, since barriers are passed by
 * whole warps; so a vector belongs to the warp, and a lane gets one of its own only when it waited
 * alone. `met` stands for the part of the vector that is about the warp's own lanes. */
#include "emulator/check/clocks.h"
#include "emulator/machine/vector.h"

#include <string.h>

static uint32_t max_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t lanes_of(uint32_t threads, uint32_t warp) {
    uint32_t left = threads - warp * CLOCK_LANES;
    return left >= CLOCK_LANES ? ~0u : (1u << left) - 1;
}

static void forget_alone(Clocks *c, uint32_t warp) {
    for (uint32_t i = 0; i < CLOCK_LANES && c->split[warp]; i++) {
        ClockVector *alone = &c->alone[warp * CLOCK_LANES + i];
        if (*alone) c->unused[c->unused_count++] = *alone;
        *alone = NULL;
    }
    c->split[warp] = false;
}

static uint32_t *known_of(const Clocks *c, uint32_t warp) {
    return c->known + (size_t)warp * c->threads;
}

/* Lanes that there are not have nothing to be known. */
static void know_nobody(Clocks *c, uint32_t warp, uint32_t threads) {
    uint32_t *known = known_of(c, warp);
    for (uint32_t i = 0; i < c->threads; i++) known[i] = i < threads ? 0 : UINT32_MAX;
}

void clocks_reset(Clocks *c, uint32_t threads) {
    for (uint32_t warp = 0; warp < c->warps; warp++) forget_alone(c, warp);
    c->warps = (threads + CLOCK_LANES - 1) / CLOCK_LANES;
    c->threads = c->warps * CLOCK_LANES;
    c->now = 1;
    for (uint32_t warp = 0; warp < c->warps; warp++) {
        c->live[warp] = lanes_of(threads, warp);
        c->met[warp] = c->floor[warp] = c->acted[warp] = 0;
        c->others[warp] = c->warps == 1 ? UINT32_MAX : 0;
        know_nobody(c, warp, threads);
    }
}

void clocks_init(Clocks *c, Arena *arena, uint32_t threads) {
    uint32_t warps = (threads + CLOCK_LANES - 1) / CLOCK_LANES, room = warps * CLOCK_LANES;
    *c = (Clocks){.arena = arena};
    c->known = NEW_ARRAY(arena, uint32_t, (size_t)warps * room);
    c->alone = NEW_ARRAY(arena, ClockVector, room);
    c->unused = NEW_ARRAY(arena, ClockVector, room);
    c->spare = NEW_ARRAY(arena, uint32_t, room);
    clocks_reset(c, threads);
}

ClockVector clocks_vector(Clocks *c) { return NEW_ARRAY(c->arena, uint32_t, c->threads); }

static EMU_VECTOR void join(uint32_t *restrict into, const uint32_t *restrict from,
                            uint32_t count) {
    for (uint32_t i = 0; i < count; i++) into[i] = max_of(into[i], from[i]);
}

/* Adds to `vector` what one lane knows; what it did itself is for the caller. */
static void add_alone(const Clocks *c, uint32_t thread, uint32_t *vector) {
    if (c->alone[thread]) join(vector, c->alone[thread], c->threads);
}

static void add_lanes(const Clocks *c, uint32_t warp, uint32_t lanes, uint32_t *vector) {
    uint32_t first = warp * CLOCK_LANES;
    join(vector, known_of(c, warp), c->threads);
    for (uint32_t lane = 0; lane < CLOCK_LANES; lane++) {
        uint32_t own = lanes >> lane & 1 ? c->now : c->met[warp];
        vector[first + lane] = max_of(vector[first + lane], own);
        if (c->split[warp] && lanes >> lane & 1) add_alone(c, first + lane, vector);
    }
}

static void find_floor(Clocks *c, uint32_t warp) {
    c->floor[warp] = c->met[warp] < c->others[warp] ? c->met[warp] : c->others[warp];
}

static uint32_t least_of(const uint32_t *times) {
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < CLOCK_LANES; i++) least = times[i] < least ? times[i] : least;
    return least;
}

/* The least entry of the vector about others; those who did nothing since are known up to now. */
static void find_others(Clocks *c, uint32_t warp) {
    const uint32_t *known = known_of(c, warp);
    uint32_t least = c->now - 1;
    for (uint32_t other = 0; other < c->warps; other++) {
        if (other == warp) continue;
        uint32_t time = least_of(known + other * CLOCK_LANES);
        if (time < c->acted[other] && time < least) least = time;
    }
    c->others[warp] = least;
    find_floor(c, warp);
}

static ClockVector take_vector(Clocks *c) {
    if (c->unused_count == 0) return clocks_vector(c);
    ClockVector vector = c->unused[--c->unused_count];
    memset(vector, 0, sizeof *vector * c->threads);
    return vector;
}

static void give_alone(Clocks *c, uint32_t warp, uint32_t lanes, const uint32_t *vector) {
    for (uint32_t lane = 0; lane < CLOCK_LANES; lane++) {
        uint32_t thread = warp * CLOCK_LANES + lane;
        if (!(lanes >> lane & 1)) continue;
        if (!c->alone[thread]) c->alone[thread] = take_vector(c);
        join(c->alone[thread], vector, c->threads);
        c->split[warp] = true;
    }
}

static bool is_whole(const Clocks *c, uint32_t warp, uint32_t lanes) {
    return (c->live[warp] & ~lanes) == 0;
}

void clocks_release(Clocks *c, uint32_t warp, uint32_t lanes, ClockVector vector) {
    add_lanes(c, warp, lanes, vector);
    c->now++;
}

void clocks_acquire(Clocks *c, uint32_t warp, uint32_t lanes, const uint32_t *vector) {
    if (!is_whole(c, warp, lanes)) {
        give_alone(c, warp, lanes, vector);
        return;
    }
    join(known_of(c, warp), vector, c->threads);
    find_others(c, warp);
}

void clocks_meet(Clocks *c, uint32_t warp, uint32_t lanes) {
    if (!is_whole(c, warp, lanes) || c->split[warp]) {
        memset(c->spare, 0, sizeof *c->spare * c->threads);
        add_lanes(c, warp, lanes, c->spare);
    }
    if (!is_whole(c, warp, lanes)) {
        give_alone(c, warp, lanes, c->spare);
    } else {
        if (c->split[warp]) clocks_acquire(c, warp, lanes, c->spare);
        forget_alone(c, warp);
        c->met[warp] = c->now;
        find_floor(c, warp);
    }
    c->now++;
}

void clocks_renew(Clocks *c, uint32_t warp, uint32_t time, ClockVector vector) {
    uint32_t *entries = vector + warp * CLOCK_LANES;
    if (c->acted[warp] > time) return;
    for (int i = 0; i < CLOCK_LANES; i++)
        if (entries[i] == time) entries[i] = c->now;
}

void clocks_exit(Clocks *c, uint32_t warp, uint32_t lanes) { c->live[warp] &= ~lanes; }

static uint32_t time_known(const Clocks *c, uint32_t warp, uint32_t lane, uint32_t other) {
    const uint32_t *alone = c->alone[warp * CLOCK_LANES + lane];
    uint32_t time = known_of(c, warp)[other];
    if (other / CLOCK_LANES == warp) time = max_of(time, c->met[warp]);
    return alone ? max_of(time, alone[other]) : time;
}

bool clocks_knows_slowly(const Clocks *c, uint32_t warp, uint32_t lane, const Epoch *e) {
    uint32_t lanes = e->warp == warp ? e->lanes & ~(1u << lane) : e->lanes;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t other = e->warp * CLOCK_LANES + (uint32_t)__builtin_ctz(lanes);
        if (time_known(c, warp, lane, other) < e->time) return false;
    }
    return true;
}
