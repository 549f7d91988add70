/* The observer of a launch: what the machine tells goes from here to the files that know about it.
 * README.md teaches what is remembered and why. */
#include "emulator/check/check.h"
#include "emulator/machine/execute.h"

#include <stdlib.h>
#include <string.h>

static void unlock(void *lock) { pthread_mutex_unlock(lock); }

void check_lock(CheckObserver *o) {
    pthread_mutex_lock(&o->lock);
    guard_defer(&o->unlock, unlock, &o->lock);
}

void check_unlock(CheckObserver *o) {
    guard_undefer(&o->unlock);
    pthread_mutex_unlock(&o->lock);
}

/* ---- CTAs ------------------------------------------------------------------------------------ */

static ObserverCta *cta_new(CheckObserver *o, const ObserveCta *what) {
    Arena *arena = arena_new(NULL);
    ObserverCta *cta = NEW(arena, ObserverCta);
    cta->observer = &o->base;
    cta->arena = arena;
    if (!o->base.deep) return cta;
    clocks_init(&cta->clocks, arena, what->threads);
    shadow_init(&cta->shadow, arena, what->shared_first + what->shared_bytes, what->warps);
    cta->local_written = NEW_ARRAY(arena, uint8_t *, what->warps * CLOCK_LANES);
    cta->local_bytes = NEW_ARRAY(arena, uint32_t, what->warps * CLOCK_LANES);
    return cta;
}

/* Whole words only. */
static void mark_gap(ObserverCta *cta, uint32_t from, uint32_t to) {
    uint32_t end = cta->what.shared_first + cta->what.shared_bytes;
    from = (from + 3) / 4 * 4;
    to = (to < end ? to : end) / 4 * 4;
    if (from >= to) return;
    shadow_set_copy(&cta->shadow, from, to - from, SHADOW_NOBODY);
    cta->gaps = true;
}

static void mark_gaps(ObserverCta *cta) {
    uint32_t at = cta->what.shared_first;
    cta->gaps = false;
    for (uint32_t i = 0; i < cta->what.variable_count; i++) {
        const ObserveVariable *v = &cta->what.variables[i];
        if (v->size == 0) continue;
        mark_gap(cta, at, v->offset);
        at = v->offset + v->size;
    }
    mark_gap(cta, at, cta->what.shared_dynamic);
}

/* All CTAs of a launch have the same size, so what one leaves the next can take. */
static void cta_clear(CheckObserver *o, ObserverCta *cta, const ObserveCta *what) {
    if (!o->base.deep) return;
    clocks_reset(&cta->clocks, what->threads);
    shadow_reset(&cta->shadow, what->shared_first + what->shared_bytes, what->warps);
    memset(&cta->meetings, 0, sizeof cta->meetings);
    memset(cta->fenced, 0, sizeof cta->fenced);
    memset(cta->local_bytes, 0, sizeof *cta->local_bytes * what->warps * CLOCK_LANES);
    cta->copies.count = 0;
    cta->copies_under_way = cta->mbarriers = 0;
    cta->publishes = false;
}

/* Memory that an arena has grown by is only given back with the arena. */
enum { CTA_MEMORY_MOST = 64 << 20 };

static ObserverCta *check_cta_begin(Observer *observer, const ObserveCta *what) {
    CheckObserver *o = check_of(observer);
    pthread_mutex_lock(&o->lock);
    ObserverCta *cta = o->unused;
    if (cta) o->unused = cta->next;
    pthread_mutex_unlock(&o->lock);
    if (cta)
        cta_clear(o, cta, what);
    else
        cta = cta_new(o, what);
    cta->what = *what;
    if (!o->base.deep) return cta;
    mark_gaps(cta);
    global_begin(cta);
    return cta;
}

static void check_cta_end(Observer *observer, ObserverCta *cta) {
    CheckObserver *o = check_of(observer);
    if (!cta) return; /* it never began: there was no memory */
    if (arena_used(cta->arena) > CTA_MEMORY_MOST) {
        arena_free(cta->arena);
        return;
    }
    pthread_mutex_lock(&o->lock);
    cta->next = o->unused;
    o->unused = cta;
    pthread_mutex_unlock(&o->lock);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Once in 2^32 events the clock is used up; then all that was is forgotten. */
static void keep_time(ObserverCta *cta) {
    if (!clocks_exhausted(&cta->clocks)) return;
    uint32_t live[CLOCK_WARPS];
    memcpy(live, cta->clocks.live, sizeof live);
    clocks_reset(&cta->clocks, cta->what.threads);
    memcpy(cta->clocks.live, live, sizeof live);
    shadow_forget_epochs(&cta->shadow);
    memset(&cta->meetings, 0, sizeof cta->meetings);
    memset(cta->fenced, 0, sizeof cta->fenced);
    cta->global.blind = true;
}

static uint32_t event_access(ObserverCta *cta, const ObserveAccess *access) {
    keep_time(cta);
    return check_access(cta, access);
}

static void check_warp_sync(ObserverCta *cta, const ObserveSite *site) {
    clocks_meet(&cta->clocks, site->warp, site->lanes);
}

static void check_exit(ObserverCta *cta, const ObserveSite *site) {
    clocks_exit(&cta->clocks, site->warp, site->lanes);
}

typedef struct Use {
    const char *name;
    EmuFindingKind kind;
} Use;

static const Use uses[] = {{"address", EMU_FINDING_uninitialised_address},
                           {"branch", EMU_FINDING_uninitialised_branch},
                           {"store", EMU_FINDING_uninitialised_store},
                           {"operand", EMU_FINDING_uninitialised_operand}};

static void check_undefined(ObserverCta *cta, const ObserveSite *site, uint32_t lanes,
                            const char *use) {
    Finding f = {.place = place_of(site, (uint32_t)__builtin_ctz(lanes)),
                 .kind = EMU_FINDING_uninitialised_operand};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        if (strcmp(uses[i].name, use) == 0) f.kind = uses[i].kind;
    report(cta->observer, cta, &f);
}

static const EmuStatus statuses[] = {
#define FINDING(name, text, status) status,
#include "emulator/check/findings.def"
#undef FINDING
};

/* Faults give generic addresses: in the windows of other spaces they are offsets. */
static PtxSpace space_of(uint64_t address) {
    switch (address & ~(EMU_WINDOWS - 1)) {
    case EMU_WINDOW_shared: return PTX_SPACE_shared;
    case EMU_WINDOW_local: return PTX_SPACE_local;
    case EMU_WINDOW_param: return PTX_SPACE_param;
    default: return PTX_SPACE_global;
    }
}

static EmuStatus check_fault(Observer *observer, ObserverCta *cta, const ObserveFault *fault) {
    Finding f = {.kind = fault->kind,
                 .place = place_of(&fault->site, fault->lane),
                 .space = space_of(fault->address),
                 .address = fault->address & (EMU_WINDOWS - 1),
                 .size = fault->size,
                 .text = fault->text};
    report(observer, cta, &f);
    EmuStatus status = statuses[fault->kind];
    bool fails = status == EMU_OK && check_of(observer)->setup.options->findings_fail;
    return fails ? EMU_LAUNCH_FAILED : status;
}

/* ---- the observer ---------------------------------------------------------------------------- */

static bool function_reads_as_constant(const PtxFunction *function) {
    for (uint32_t i = 0; i < function->instruction_count; i++)
        if (ptx_has(&function->instructions[i].modifiers, PTX_MOD_nc)) return true;
    return false;
}

static void fill_events(Observer *base, bool deep) {
    *base = (Observer){.deep = deep,
                       .cta_begin = check_cta_begin,
                       .cta_end = check_cta_end,
                       .access = event_access,
                       .barrier = check_barrier,
                       .warp_sync = check_warp_sync,
                       .fence = check_fence,
                       .undefined = check_undefined,
                       .exit = check_exit,
                       .copy_begin = check_copy_begin,
                       .copy_end = check_copy_end,
                       .mbarrier = check_mbarrier,
                       .fault = check_fault};
}

static CheckObserver *make(const ObserverSetup *setup) {
    Arena *arena = arena_new(NULL);
    CheckObserver *o = NEW(arena, CheckObserver);
    o->arena = arena;
    o->setup = *setup;
    o->uses_read_only = function_reads_as_constant(setup->entry);
    fill_events(&o->base, setup->options->checks == EMU_CHECKS_full);
    pthread_mutex_init(&o->lock, NULL);
    global_init(&o->global);
    return o;
}

Observer *observer_new(const ObserverSetup *setup) {
    Guard guard;
    CheckObserver *volatile o = NULL;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) o = make(setup);
    guard_leave(&guard);
    return o ? &o->base : NULL;
}

uint64_t observer_end(Observer *observer) {
    CheckObserver *o = check_of(observer);
    uint64_t findings = o->findings;
    while (o->unused) {
        ObserverCta *cta = o->unused;
        o->unused = cta->next;
        arena_free(cta->arena);
    }
    global_end(&o->global);
    pthread_mutex_destroy(&o->lock);
    arena_free(o->arena);
    return findings;
}
