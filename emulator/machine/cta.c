/* Warps of a CTA take turns on one host thread. A turn ends when the warp waits, polls, ends or has
 * run for a quantum; which warp is next is the order of the options. Nothing else interleaves, so a
 * run is a function of the program, the order and the seed. */
#include "emulator/machine/cta.h"

#include "emulator/machine/async.h"
#include "emulator/machine/special.h"
#include "emulator/machine/stuck.h"
#include "emulator/machine/sync.h"
#include "emulator/machine/warp.h"

#include <stdlib.h>
#include <string.h>

/* Turns in instructions, and how many rounds of nothing but polling are a deadlock. */
enum { QUANTUM = 1024, RANDOM_QUANTUM = 256, LONG_QUANTUM = 1 << 20, POLLS = 1 << 14 };

/* What a warp has in the CTA's block of memory; each part begins on a line of the cache. */
typedef struct Layout {
    size_t registers, predicates, defined, defined_predicates, specials, local, warp;
    size_t warps, shared, total;
} Layout;

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static Layout layout_of(const Launch *launch) {
    const Program *program = launch->program;
    const ProgramFunction *entry = &program->functions[0];
    bool deep = launch->observer && launch->observer->deep;
    Layout l = {.registers = lines(entry->register_bytes),
                .predicates = lines(4 * (size_t)entry->predicate_count),
                .specials = lines(program->special_bytes),
                .local = lines((size_t)program->local_stride * EMU_LANES)};
    if (deep) {
        l.defined = lines(4 * (size_t)(entry->register_bytes / 128 + 1));
        l.defined_predicates = l.predicates;
    }
    l.warp = l.registers + l.predicates + l.defined + l.defined_predicates + l.specials + l.local;
    l.warps = lines(launch->warp_count * sizeof(Warp));
    l.shared = lines(launch->shared_end);
    l.total = lines(sizeof(Cta)) + l.warps + launch->warp_count * l.warp + l.shared;
    return l;
}

static uint8_t *take(uint8_t **next, size_t bytes) {
    uint8_t *taken = *next;
    *next += bytes;
    return taken;
}

static void give_memory(Cta *cta, Warp *warp, const Layout *l, uint8_t **next) {
    const Program *program = cta->launch->program;
    bool deep = l->defined > 0;
    warp->entry_frame.registers = take(next, l->registers);
    warp->entry_frame.predicates = take(next, l->predicates);
    warp->entry_frame.defined = deep ? (uint32_t *)(void *)take(next, l->defined) : NULL;
    warp->entry_frame.defined_predicates =
        deep ? (uint32_t *)(void *)take(next, l->defined_predicates) : NULL;
    warp->bases[BASE_specials] = take(next, l->specials);
    warp->bases[BASE_constants] = program->constants;
    warp->local = take(next, l->local);
    warp->cta = cta;
    warp->worker = cta->worker;
    warp->program = program;
}

Cta *cta_new(Launch *launch, Worker *worker) {
    Layout l = layout_of(launch);
    uint8_t *next = aligned_alloc(64, l.total);
    if (!next) return NULL;
    Cta *cta = memset(take(&next, lines(sizeof(Cta))), 0, sizeof(Cta));
    cta->launch = launch;
    cta->worker = worker;
    cta->warp_count = launch->warp_count;
    cta->warps = memset(take(&next, l.warps), 0, l.warps);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        cta->warps[i].index = i;
        give_memory(cta, &cta->warps[i], &l, &next);
    }
    cta->shared = take(&next, l.shared);
    cta->shared_first = launch->program->shared_first;
    cta->shared_end = launch->shared_end;
    return cta;
}

void cta_free(Cta *cta) { free(cta); }

/* Beginning and end. */

static void begin_warp(Warp *warp) {
    const ProgramFunction *entry = &warp->program->functions[0];
    uint32_t threads = warp->cta->thread_count, first = warp->index * EMU_LANES;
    uint32_t count = threads - first < EMU_LANES ? threads - first : EMU_LANES;
    memset(warp->entry_frame.registers, EMU_POISON, entry->register_bytes);
    memset(warp->entry_frame.predicates, EMU_POISON_PREDICATE, 4 * (size_t)entry->predicate_count);
    if (warp->entry_frame.defined) {
        memset(warp->entry_frame.defined, 0, 4 * (entry->register_bytes / 128 + 1));
        memset(warp->entry_frame.defined_predicates, 0, 4 * (size_t)entry->predicate_count);
    }
    warp_begin(warp, count == EMU_LANES ? ~0u : (1u << count) - 1);
    special_fill(warp, !warp->cta->used);
}

static void tell_begin(Cta *cta) {
    Observer *observer = cta->launch->observer;
    const Program *program = cta->launch->program;
    ObserveCta what = {.warps = cta->warp_count,
                       .threads = cta->thread_count,
                       .shared = cta->shared,
                       .shared_bytes = cta->shared_end - cta->shared_first,
                       .shared_first = cta->shared_first,
                       .shared_dynamic = program->shared_dynamic,
                       .variables = program->shared,
                       .variable_count = program->shared_count};
    memcpy(what.index, cta->index, sizeof what.index);
    if (observer) cta->observer = observer->cta_begin(observer, &what);
}

void cta_begin(Cta *cta, uint64_t number) {
    const EmuLaunch *what = cta->launch->what;
    cta->index[0] = (uint32_t)(number % what->grid[0]);
    cta->index[1] = (uint32_t)(number / what->grid[0] % what->grid[1]);
    cta->index[2] = (uint32_t)(number / what->grid[0] / what->grid[1]);
    cta->thread_count = what->block[0] * what->block[1] * what->block[2];
    cta->live_threads = cta->thread_count;
    cta->finished_warps = 0;
    cta->turn = 0;
    cta->age = 0;
    cta->polls = 0;
    memset(cta->barriers, 0, sizeof cta->barriers);
    memset(cta->shared, EMU_POISON, cta->shared_end);
    for (uint32_t i = 0; i < cta->warp_count; i++) begin_warp(&cta->warps[i]);
    cta->used = true;
    tell_begin(cta);
}

void cta_end(Cta *cta) {
    async_block_end(cta);
    Observer *observer = cta->launch->observer;
    if (observer) observer->cta_end(observer, cta->observer);
    cta->observer = NULL;
    for (uint32_t i = 0; i < cta->warp_count; i++) warp_end(&cta->warps[i]);
}

/* Turns. */

static uint64_t next_random(Worker *worker) { /* splitmix64 */
    uint64_t z = worker->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool can_run(const Warp *warp) { return !warp->finished && !warp->blocked; }

/* The warp whose turn it is, counted from `turn`; NULL: none can run. Round robin takes the next
 * one, random any; adversarial runs the last one as far as it goes, and then the one before. */
static Warp *next_warp(Cta *cta, uint64_t *out_quantum) {
    EmuOrder order = cta->launch->options.order;
    uint32_t count = cta->warp_count, start = cta->turn % count;
    *out_quantum = QUANTUM;
    if (order == EMU_ORDER_random) {
        start = (uint32_t)(next_random(cta->worker) % count);
        *out_quantum = 1 + next_random(cta->worker) % RANDOM_QUANTUM;
    }
    if (order == EMU_ORDER_adversarial) *out_quantum = LONG_QUANTUM;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = (start + k) % count;
        if (order == EMU_ORDER_adversarial) i = count - 1 - i;
        if (!can_run(&cta->warps[i])) continue;
        cta->turn = start + k + 1;
        return &cta->warps[i];
    }
    return NULL;
}

/* All that can run only polls: asynchronous work must go on, or nothing ever will. */
static bool only_polls(const Cta *cta) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (can_run(&cta->warps[i]) && !cta->warps[i].polling) return false;
    return true;
}

static CtaState stuck(Cta *cta) {
    cta_stuck(cta);
    return CTA_fault;
}

static CtaState after_turn(Cta *cta, Warp *warp) {
    if (warp->finished) {
        cta->finished_warps++;
        barrier_recheck(cta);
    }
    if (cta->finished_warps == cta->warp_count) return CTA_finished;
    if (!warp->polling)
        cta->polls = 0;
    else if (only_polls(cta) && ++cta->polls > POLLS)
        return stuck(cta);
    return CTA_running;
}

static bool over_limit(Cta *cta, Warp *warp, uint64_t done) {
    Launch *launch = cta->launch;
    uint64_t limit = launch->options.step_limit ? launch->options.step_limit : UINT64_C(1) << 40;
    if (atomic_fetch_add_explicit(&launch->steps, done, memory_order_relaxed) + done <= limit)
        return false;
    const Record *last = &warp->program->records[warp->pc ? warp->pc - 1 : 0];
    warp_fatal(warp, last, EMU_FINDING_step_limit, warp->active, 0, 0, NULL);
    return true;
}

CtaState cta_run(Cta *cta, uint64_t steps) {
    uint64_t done = 0;
    while (done < steps) {
        uint64_t quantum;
        Warp *warp = next_warp(cta, &quantum);
        if (!warp) return stuck(cta);
        uint64_t before = warp->steps;
        Step step = warp_run(warp, quantum);
        done += warp->steps - before;
        if (step == STEP_fault || atomic_load(&cta->launch->status) != EMU_OK) return CTA_fault;
        if (over_limit(cta, warp, warp->steps - before)) return CTA_fault;
        CtaState state = after_turn(cta, warp);
        if (state != CTA_running) return state;
        if (step == STEP_yield) done++; /* a turn of nothing but waiting takes time as well */
    }
    return CTA_running;
}
