/* The run loop of a warp, and how its lanes diverge and meet again; README.md has the idea.
 *
 * The lanes of a warp stand at one or more places. Those at one place (a frame and a pc) are a
 * fragment; one fragment runs, the others are in warp->others. The one that runs is always the
 * deepest in calls and among those the one with the lowest pc, so that lanes that took the short
 * way wait where the ways meet: there the fragments become one again. `limit` is the next such
 * place, and the loop compares its pc with it and with nothing else.
 *
 * So that a lane that spins cannot keep the lane that it waits for from running, a fragment
 * gives way after EMU_TURN steps to the one that has not run for the longest time ("fair"). */
#include "emulator/machine/warp.h"

enum { EMU_TURN = 2048 };

void warp_begin(Warp *warp, uint32_t lanes) {
    warp->born = warp->live = warp->active = lanes;
    warp->pc = warp->program->functions[0].first;
    warp->limit = UINT32_MAX;
    warp->turn = UINT64_MAX;
    warp->fragment_count = 0;
    warp->carry = warp->undefined = 0;
    warp->passing = warp->fair = warp->polling = warp->blocked = warp->finished = false;
    warp->steps = 0;
    warp->entry_frame.lanes = lanes;
    warp->entry_frame.depth = 0;
    warp->entry_frame.local = 0;
    warp->entry_frame.top = warp->program->functions[0].local_bytes;
    warp->entry_frame.function = 0;
    warp_poison_local(warp, lanes, 0, warp->entry_frame.top);
    warp_enter_frame(warp, &warp->entry_frame);
}

/* Fragments. */

/* Fragments at one place are one, also those that wait there for the same. */
static bool joins(const Fragment *a, const Fragment *b) {
    return a->frame == b->frame && a->pc == b->pc && a->wait == b->wait && a->need == b->need &&
           a->key == b->key && a->passes == b->passes;
}

static void put_aside(Warp *warp, Fragment fragment) {
    fragment.since = warp->steps;
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->others[i];
        if (!joins(other, &fragment)) continue;
        other->lanes |= fragment.lanes;
        return;
    }
    warp->others[warp->fragment_count++] = fragment;
}

void warp_put(Warp *warp, Frame *frame, uint32_t lanes, uint32_t pc) {
    if (lanes) put_aside(warp, (Fragment){.frame = frame, .lanes = lanes, .pc = pc});
}

/* A fragment that waits for lanes can go on once they are all in it. */
static bool is_ready(const Warp *warp, const Fragment *fragment) {
    switch (fragment->wait) {
    case WAIT_none: return true;
    case WAIT_lanes: return !(fragment->need & warp->live & ~fragment->lanes);
    case WAIT_live: return !(warp->live & ~fragment->lanes);
    case WAIT_barrier: return false;
    }
    return false;
}

static bool runs_before(const Fragment *a, const Fragment *b, bool fair) {
    if (fair) return a->since < b->since;
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static void run_fragment(Warp *warp, uint32_t at) {
    Fragment chosen = warp->others[at];
    warp->others[at] = warp->others[--warp->fragment_count];
    warp->active = chosen.lanes;
    warp->pc = chosen.pc;
    warp->passing = chosen.passes;
    warp->reduction = chosen.reduction;
    warp_enter_frame(warp, chosen.frame);
}

/* Where the loop has to stop: where the next fragment of this frame stands. */
static void set_limit(Warp *warp, bool fair) {
    bool rivals = false;
    warp->limit = UINT32_MAX;
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->others[i];
        if (other->wait == WAIT_none) rivals = true;
        if (other->frame == warp->frame && other->pc > warp->pc && other->pc < warp->limit)
            warp->limit = other->pc;
    }
    warp->fair = fair && rivals;
    if (warp->fair) warp->limit = 0;
    warp->turn = rivals ? warp->steps + EMU_TURN : UINT64_MAX;
}

/* Puts the running fragment, if there is one, to the others and takes the one whose turn it is.
 * False: none can run. */
static bool choose(Warp *warp, bool fair) {
    if (warp->active) {
        put_aside(warp, (Fragment){.frame = warp->frame,
                                   .lanes = warp->active,
                                   .pc = warp->pc,
                                   .passes = warp->passing,
                                   .reduction = warp->reduction});
        warp->active = 0;
    }
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->others[i];
        if (!is_ready(warp, other)) continue;
        other->wait = WAIT_none;
        other->need = other->key = 0;
        if (best == UINT32_MAX || runs_before(other, &warp->others[best], fair)) best = i;
    }
    if (best == UINT32_MAX) return false;
    run_fragment(warp, best);
    set_limit(warp, fair);
    return true;
}

/* Out of turn, a fragment keeps running; it only looks whether others stand where it is. */
static void meet(Warp *warp) {
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->others[i];
        if (other->frame != warp->frame || other->pc != warp->pc || other->passes ||
            other->wait != WAIT_none)
            continue;
        choose(warp, false);
        return;
    }
}

/* Waiting. */

Step warp_wait(Warp *warp, uint32_t lanes, Wait wait, uint32_t need, uint32_t key) {
    warp_put(warp, warp->frame, warp->active & ~lanes, warp->pc);
    warp->active = 0;
    put_aside(warp, (Fragment){.frame = warp->frame,
                               .lanes = lanes,
                               .pc = warp->pc - 1,
                               .wait = wait,
                               .need = need,
                               .key = key});
    return STEP_switch;
}

/* Lanes that wait at the record that runs for the same as those that run it: they are here. */
static uint32_t take_waiting(Warp *warp, Wait wait, uint32_t need, uint32_t key) {
    uint32_t taken = 0;
    for (uint32_t i = warp->fragment_count; i-- > 0;) {
        const Fragment *other = &warp->others[i];
        if (other->frame != warp->frame || other->pc != warp->pc - 1 || other->wait != wait ||
            other->need != need || other->key != key)
            continue;
        taken |= other->lanes;
        warp->others[i] = warp->others[--warp->fragment_count];
    }
    return taken;
}

bool warp_gather(Warp *warp, const Record *record, uint32_t *lanes, Wait wait, uint32_t need,
                 Step *out_step) {
    if (warp->passing) {
        warp->passing = false;
        return true;
    }
    uint32_t key = wait == WAIT_live ? need : 0, mask = wait == WAIT_live ? 0 : need;
    if (wait == WAIT_live) need = warp->live;
    if (!(need & ~*lanes)) return true;
    uint32_t waiting = take_waiting(warp, wait, mask, key);
    *lanes |= waiting, warp->active |= waiting;
    uint32_t missing = need & ~*lanes, gone = missing & warp->born & ~warp->live;
    if (gone && warp->cta->launch->observer) {
        *out_step = warp_fault(warp, record, EMU_FINDING_lane_missing, gone, 0, 0,
                               "a lane of the mask has exited");
        if (*out_step == STEP_fault) return false;
    }
    if (!(missing & warp->live)) return true;
    *out_step = warp_wait(warp, *lanes, wait, mask, key);
    return false;
}

void warp_release(Warp *warp, uint32_t barrier, Reduction reduction) {
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->others[i];
        if (other->wait != WAIT_barrier || other->key != barrier) continue;
        other->wait = WAIT_none;
        other->passes = true;
        other->reduction = reduction;
    }
    warp->blocked = false;
}

Step warp_exit(Warp *warp, uint32_t lanes) {
    warp_leave_frames(warp, warp->frame, lanes);
    warp->live &= ~lanes;
    warp->active &= ~lanes;
    warp->cta->live_threads -= (uint32_t)__builtin_popcount(lanes);
    return STEP_switch;
}

/* The loop. */

/* A full warp is what is nearly always counted. */
static inline uint32_t count_lanes(uint32_t lanes) {
    return lanes == ~0u ? EMU_LANES : (uint32_t)__builtin_popcount(lanes);
}

/* One fragment, until it must not go on alone. Executions are counted by the stretches between
 * jumps: the first record of a stretch is counted up, and what follows its last one down. */
static Step run_records(Warp *warp, uint64_t end) {
    const Record *records = warp->program->records;
    uint64_t *counts = warp->worker->counts, lane_steps = 0, steps = warp->steps;
    uint32_t pc = warp->pc, start = pc;
    Step step = STEP_next;
    while (steps < end && pc < warp->limit) {
        const Record *record = &records[pc];
        uint32_t lanes = warp->active;
        if (record->guard != SLOT_always)
            lanes &= warp_predicate(warp, record->guard) ^ record->guard_flip;
        warp->pc = ++pc;
        warp->steps = ++steps;
        if (!lanes) continue;
        lane_steps += count_lanes(lanes);
        step = record->run(warp, record, lanes);
        if (warp->pc != pc) {
            counts[start]++, counts[pc]--;
            start = pc = warp->pc;
        }
        if (step != STEP_next) break;
    }
    counts[start]++, counts[pc]--;
    warp->worker->lane_steps += lane_steps;
    return step;
}

/* Lanes whose register was never written, by register; constants always were. */
static uint32_t undefined_lanes(const Warp *warp, uint32_t slot) {
    const Frame *frame = warp->frame;
    if (slot >> 30 == BASE_registers) return ~frame->defined[(slot & SLOT_OFFSET) / 128];
    if (slot >> 30 == BASE_predicates) return ~frame->defined_predicates[(slot & SLOT_OFFSET) / 4];
    return 0;
}

static void define_lanes(const Warp *warp, uint32_t slot, uint32_t lanes, uint32_t undefined) {
    const Frame *frame = warp->frame;
    uint32_t *defined;
    if (slot >> 30 == BASE_registers)
        defined = &frame->defined[(slot & SLOT_OFFSET) / 128];
    else if (slot >> 30 == BASE_predicates)
        defined = &frame->defined_predicates[(slot & SLOT_OFFSET) / 4];
    else
        return;
    *defined = (*defined & ~lanes) | (lanes & ~undefined);
}

static void tell_undefined(const Warp *warp, const Record *record, uint32_t lanes,
                           const char *use) {
    if (!lanes) return;
    ObserveSite site = warp_site(warp, record, lanes);
    warp->worker->deep->undefined(warp->cta->observer, &site, lanes, use);
}

/* Executes one record and follows what it makes of registers that nobody wrote: a result is as
 * undefined as its sources; addresses, branches and stores tell. */
static Step run_watched(Warp *warp, const Record *record, const Effects *effects, uint32_t lanes) {
    const uint32_t *slots = &warp->program->effect_slots[effects->first];
    uint32_t unknown = 0, unknown_address = 0;
    for (int i = 0; i < effects->reads; i++) {
        uint32_t undefined = undefined_lanes(warp, slots[i]);
        if (i < effects->addresses)
            unknown_address |= undefined;
        else
            unknown |= undefined;
    }
    tell_undefined(warp, record, unknown_address & lanes, "address");
    if (effects->kind == EFFECT_store) tell_undefined(warp, record, unknown & lanes, "store");
    if (effects->kind == EFFECT_operand) tell_undefined(warp, record, unknown & lanes, "operand");
    Frame *frame = warp->frame;
    warp->undefined = 0;
    Step step = record->run(warp, record, lanes);
    if (warp->frame != frame) return step; /* a call: its results come with its return */
    for (int i = effects->reads; i < effects->reads + effects->writes; i++)
        define_lanes(warp, slots[i], lanes, unknown | warp->undefined);
    return step;
}

static Step run_records_watched(Warp *warp, uint64_t end) {
    const Record *records = warp->program->records;
    Step step = STEP_next;
    while (warp->steps < end && warp->pc < warp->limit) {
        const Record *record = &records[warp->pc];
        const Effects *effects = &warp->program->effects[warp->pc];
        uint32_t lanes = warp->active & (warp_predicate(warp, record->guard) ^ record->guard_flip);
        uint32_t undefined = warp->active & undefined_lanes(warp, record->guard);
        tell_undefined(warp, record, undefined, "branch");
        warp->worker->counts[warp->pc]++;
        warp->pc++;
        warp->worker->counts[warp->pc]--;
        warp->steps++;
        if (!lanes) continue;
        warp->worker->lane_steps += count_lanes(lanes);
        step = run_watched(warp, record, effects, lanes);
        if (step != STEP_next) break;
    }
    return step;
}

static bool waits_for_barrier(const Warp *warp) {
    for (uint32_t i = 0; i < warp->fragment_count; i++)
        if (warp->others[i].wait == WAIT_barrier) return true;
    return false;
}

/* No fragment can run: the warp has ended, waits for others, or never can. */
static Step rest(Warp *warp) {
    if (!warp->live) {
        warp->finished = true;
        return STEP_switch;
    }
    if (waits_for_barrier(warp)) {
        warp->blocked = true;
        return STEP_switch;
    }
    return warp_stuck(warp);
}

Step warp_run(Warp *warp, uint64_t quantum) {
    uint64_t end = warp->steps + quantum;
    bool deep = warp->worker->deep != NULL;
    warp->polling = false;
    if (!warp->active && !choose(warp, false)) return rest(warp);
    while (warp->steps < end) {
        uint64_t until = end < warp->turn ? end : warp->turn;
        if (warp->fair && warp->steps + 1 < until) until = warp->steps + 1;
        if (warp->fair) warp->limit = UINT32_MAX;
        Step step = deep ? run_records_watched(warp, until) : run_records(warp, until);
        if (step == STEP_fault) return step;
        if (step == STEP_yield && warp->fragment_count == 0) return step;
        bool out_of_turn = warp->steps >= warp->turn || step == STEP_yield;
        if (warp->fair && step == STEP_next && !out_of_turn) {
            meet(warp);
            continue;
        }
        if (step == STEP_next && !out_of_turn && warp->pc < warp->limit) break; /* the quantum */
        if (!choose(warp, out_of_turn && !warp->fair)) return rest(warp);
        if (step == STEP_yield) return step;
    }
    return STEP_next;
}

ObserveSite warp_site(const Warp *warp, const Record *record, uint32_t lanes) {
    return (ObserveSite){.function = warp->program->functions[record->function].function,
                         .instruction = record->instruction,
                         .warp = warp->index,
                         .lanes = lanes};
}
