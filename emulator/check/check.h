/* What the files of emulator/check share: the observer of a launch, and what it keeps of a CTA. */
#ifndef TCC_EMULATOR_CHECK_CHECK_H
#define TCC_EMULATOR_CHECK_CHECK_H

#include "base/guard.h"
#include "base/vec.h"
#include "emulator/check/global.h"
#include "emulator/check/shadow.h"
#include "emulator/machine/observe.h"

#include <pthread.h>

/* Instructions by number, so that an epoch holds one in a word: those of a function follow its
 * `first`; numbers begin with 1. */
typedef struct SiteRange {
    const PtxFunction *function;
    uint32_t first;
} SiteRange;
typedef VEC(SiteRange) Sites;

/* One place of a finding, before it is put into words. */
typedef struct Place {
    const PtxFunction *function; /* NULL: there is none */
    uint32_t instruction;
    uint32_t warp, lane; /* lane 32: none in particular */
} Place;

typedef struct Finding {
    EmuFindingKind kind;
    Place place, other;
    const uint32_t *other_cta; /* where `other` was; NULL: in the same CTA */
    PtxSpace space;
    uint64_t address; /* in its space */
    uint32_t size;
    const char *text; /* may be NULL */
} Finding;

/* A pair of threads' meetings: what whoever waits for it gets to know. A barrier or mbarrier has
 * two vectors, so that who arrives for the next phase is not yet known to those of this one. */
typedef struct Meeting {
    uint64_t key; /* 0: empty */
    ClockVector gathering, complete;
    uint32_t phase;
    uint32_t phase_of[CLOCK_WARPS]; /* of a barrier: in which a warp arrived last, */
    uint32_t came_at[CLOCK_WARPS];  /* and when */
    Epoch begin;                    /* of an mbarrier: its initialisation */
} Meeting;

typedef struct Meetings {
    Meeting *items; /* a table of `slots` by hash */
    uint32_t slots, count;
} Meetings;

/* A copy on its way; slots are used again. */
typedef struct Copy {
    Place place;
    uint32_t lanes, size; /* lanes 0: the slot is free */
    uint32_t to[CLOCK_LANES], from_size[CLOCK_LANES];
    uint64_t from[CLOCK_LANES];
    uint64_t least, end; /* of the sources */
    uint32_t unwritten;  /* lanes whose source nobody wrote */
} Copy;

/* What fences make of relaxed accesses: what the warp knew at its last fence, and what it read of
 * others since. */
typedef struct Fenced {
    ClockVector released, pending;
    uint32_t lanes;
} Fenced;

struct ObserverCta {
    Observer *observer;
    ObserverCta *next; /* among those that wait to be used again */
    Arena *arena;
    ObserveCta what;
    Sites sites; /* of the observer, as far as they were needed here */
    Clocks clocks;
    Shadow shadow;
    Meetings meetings;
    Fenced fenced[CLOCK_WARPS];
    VEC(Copy) copies;
    uint32_t copies_under_way;
    uint64_t copy_least, copy_end; /* bounds of all sources under way */
    uint32_t mbarriers;            /* that live */
    GlobalView global;
    bool gaps;               /* there are words between variables */
    bool publishes;          /* there were fences or accesses with release or acquire */
    uint8_t **local_written; /* [thread]: a bit a byte of local memory */
    uint32_t *local_bytes;   /* [thread]: for how many bytes there are bits */
    EmuBlock blocks[4];      /* of global memory, those looked up last */
    uint32_t block_next;
};

/* What the launch read through .nc and wrote, of a block: a bit a word of 4 bytes. */
typedef struct ReadOnly {
    uint64_t address, size;
    uint32_t *read, *written;
    Place read_at, written_at; /* the first of each */
    struct ReadOnly *next;
} ReadOnly;

typedef struct CheckObserver {
    Observer base;
    ObserverSetup setup;
    pthread_mutex_t lock; /* of all below; released when memory runs out under it */
    GuardDefer unlock;
    Arena *arena;
    ObserverCta *unused;
    VEC(uint64_t) known; /* findings that were made: hashes of kind and instructions */
    uint64_t findings;
    Sites sites; /* in the order of their numbers */
    GlobalShadow global;
    bool uses_read_only; /* a kernel of the launch has an .nc load */
    ReadOnly *read_only;
} CheckObserver;

static inline CheckObserver *check_of(Observer *observer) { return (CheckObserver *)observer; }

/* observer.c */
void check_lock(CheckObserver *observer);
void check_unlock(CheckObserver *observer);

/* report.c */
uint32_t sites_number(ObserverCta *cta, const PtxFunction *function, uint32_t instruction);
Place sites_place(const ObserverCta *cta, const Epoch *epoch);
Place place_of(const ObserveSite *site, uint32_t lane);
/* Makes a finding, if it is new. `cta` may be NULL. */
void report(Observer *observer, const ObserverCta *cta, const Finding *finding);

/* access.c: the event, and parts of it for copies. */
uint32_t check_access(ObserverCta *cta, const ObserveAccess *access);
/* Lanes of whose bytes in global memory none was written. */
uint32_t global_unwritten(ObserverCta *cta, uint32_t lanes, const uint64_t *addresses,
                          const uint32_t *sizes, uint32_t size);
/* One lane's access of shared memory, told to the shadow. */
void shared_touch(ObserverCta *cta, ShadowAccess kind, const Epoch *self, uint32_t lane,
                  const Place *place, uint32_t at, uint32_t size);

/* Shared memory that belongs to a copy, an mbarrier or nobody (shadow_copy said `owner`) was
 * touched. */
void report_owned(ObserverCta *cta, uint32_t owner, const Place *place, uint32_t at, uint32_t size);

/* copies.c */
uint32_t check_copy_begin(ObserverCta *cta, const ObserveCopy *copy);
void check_copy_end(ObserverCta *cta, const ObserveSite *site, uint32_t number, uint32_t lanes,
                    bool awaited);
/* A store to global memory: is it the source of a copy? */
void copies_check_source(ObserverCta *cta, const ObserveAccess *access);

/* meetings.c: what orders. */
void check_barrier(ObserverCta *cta, const ObserveSite *site, uint32_t barrier,
                   ObserveBarrier what);
void check_mbarrier(ObserverCta *cta, const ObserveSite *site, uint32_t address,
                    ObserveMbarrier what);
void check_fence(ObserverCta *cta, const ObserveSite *site, ObserveOrder order, ObserveScope scope,
                 ObserveProxy proxy);
/* A strong access: what it publishes, and what it learns. */
void meetings_strong(ObserverCta *cta, const ObserveAccess *access);

bool order_releases(ObserveOrder order);
bool order_acquires(ObserveOrder order);

/* global.c: a CTA begins; one of its threads releases or acquires; an access, of which each lane
 * has the size that `sizes` says, or, when it is NULL, that of the access. */
void global_begin(ObserverCta *cta);
void global_order(ObserverCta *cta, ObserveOrder order, ObserveScope scope);
void global_access(ObserverCta *cta, const ObserveAccess *access, const uint32_t *sizes);

/* read_only.c */
void read_only_access(ObserverCta *cta, const ObserveAccess *access, bool read_as_constant);

#endif
