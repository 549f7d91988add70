/* What the machine tells whoever watches a launch. The machine knows nothing of races or of bytes
 * that were never written: it reports one stream of events, and emulator/check makes findings of
 * them. Without an observer (checks off) no event is made; with `deep` false (cheap checks) only
 * faults are told, so that they become findings with names and lines.
 *
 * Events of one CTA come from one thread at a time; different CTAs may run on different threads. */
#ifndef TCC_EMULATOR_MACHINE_OBSERVE_H
#define TCC_EMULATOR_MACHINE_OBSERVE_H

#include "emulator/machine/machine.h"
#include "emulator/ptx/ptx.h"

/* Who executes what. */
typedef struct ObserveSite {
    const PtxFunction *function;
    uint32_t instruction; /* of function->instructions */
    uint32_t warp;        /* in the CTA */
    uint32_t lanes;       /* a bit a lane that takes part */
} ObserveSite;

typedef enum ObserveKind { OBSERVE_load, OBSERVE_store, OBSERVE_atomic } ObserveKind;
typedef enum ObserveOrder {
    OBSERVE_weak,
    OBSERVE_relaxed, /* volatile and mmio too */
    OBSERVE_acquire,
    OBSERVE_release,
    OBSERVE_acq_rel,
    OBSERVE_sc
} ObserveOrder;
typedef enum ObserveScope { OBSERVE_cta, OBSERVE_cluster, OBSERVE_gpu, OBSERVE_sys } ObserveScope;
typedef enum ObserveProxy { OBSERVE_generic, OBSERVE_async, OBSERVE_tensormap } ObserveProxy;

/* A memory instruction of a warp whose addresses were found good. */
typedef struct ObserveAccess {
    ObserveSite site;
    uint8_t kind, order, scope, proxy;
    PtxSpace space;            /* global, shared, local, const or param, never generic */
    uint32_t size;             /* bytes that each lane reads or writes */
    const uint64_t *addresses; /* of 32 lanes; of shared, offsets in the CTA's shared memory */
} ObserveAccess;

typedef enum ObserveBarrier {
    OBSERVE_arrive, /* the warp arrived (also before it waits) */
    OBSERVE_pass    /* the warp goes on: all that arrived in this phase comes before */
} ObserveBarrier;

/* cp.async of a warp, when it is issued. Until the copy is known to have ended nobody may touch its
 * destination or write its source. */
typedef struct ObserveCopy {
    ObserveSite site;
    uint32_t size;             /* bytes of the destination that each lane writes */
    const uint64_t *to;        /* of 32 lanes: offsets in the CTA's shared memory, */
    const uint64_t *from;      /* global addresses, */
    const uint32_t *from_size; /* and how many bytes are read; the rest become zeros */
} ObserveCopy;

typedef enum ObserveMbarrier {
    OBSERVE_mbarrier_init,
    OBSERVE_mbarrier_inval,
    OBSERVE_mbarrier_arrive,   /* what the lanes did comes before the phase's end */
    OBSERVE_mbarrier_complete, /* the phase ends; site.lanes are 0 */
    OBSERVE_mbarrier_wait      /* the lanes saw the end of the last phase that ended */
} ObserveMbarrier;

/* A fault or misuse that the machine itself sees. */
typedef struct ObserveFault {
    EmuFindingKind kind;
    ObserveSite site;
    uint32_t lane;    /* the first lane at fault; 32: none in particular */
    uint64_t address; /* generic, of faults of memory; else 0 */
    uint32_t size;    /* bytes */
    const char *text; /* what happened, without the place: "lane 3 waits at ..."; may be NULL */
} ObserveFault;

/* A CTA that begins. `shared` and the rest live until cta_end. */
typedef struct ObserveCta {
    uint32_t index[3];
    uint32_t warps, threads;
    const uint8_t *shared;
    uint32_t shared_bytes; /* static and dynamic; offsets below shared_first are no memory */
    uint32_t shared_first;
    uint32_t shared_dynamic; /* where dynamic shared memory begins; before it only variables are */
    /* Names of the shared variables are those of `entry` and the module; offsets by variable. */
    const struct ObserveVariable *variables;
    uint32_t variable_count; /* by offset, but those of size 0 */
} ObserveCta;

typedef struct ObserveVariable {
    const PtxVariable *variable;
    uint32_t offset, size; /* in the CTA's shared memory */
} ObserveVariable;

typedef struct Observer Observer;
typedef struct ObserverCta ObserverCta; /* what the observer keeps of a CTA */

/* The events. Every function may be called only when `deep` is set, but for cta_begin, cta_end and
 * fault, which always are. */
struct Observer {
    bool deep;
    ObserverCta *(*cta_begin)(Observer *observer, const ObserveCta *cta);
    void (*cta_end)(Observer *observer, ObserverCta *cta);
    /* Called before the access is done. Of a load: the lanes that read bytes nobody wrote. */
    uint32_t (*access)(ObserverCta *cta, const ObserveAccess *access);
    /* Warp-level barriers of a CTA; `barrier` is 0..15, lanes are those of the warp that live. */
    void (*barrier)(ObserverCta *cta, const ObserveSite *site, uint32_t barrier,
                    ObserveBarrier what);
    /* bar.warp.sync and all .sync instructions: site.lanes order their memory accesses. */
    void (*warp_sync)(ObserverCta *cta, const ObserveSite *site);
    void (*fence)(ObserverCta *cta, const ObserveSite *site, ObserveOrder order, ObserveScope scope,
                  ObserveProxy proxy);
    /* A register that was never written decides: `use` is "address", "branch" or "store". */
    void (*undefined)(ObserverCta *cta, const ObserveSite *site, uint32_t lanes, const char *use);
    void (*exit)(ObserverCta *cta, const ObserveSite *site);
    /* Copies: begin gives a number by which the end of it for some lanes is told; `awaited` is
     * false when the lanes ended without a wait. */
    uint32_t (*copy_begin)(ObserverCta *cta, const ObserveCopy *copy);
    void (*copy_end)(ObserverCta *cta, const ObserveSite *site, uint32_t number, uint32_t lanes,
                     bool awaited);
    /* The mbarrier at `address` of shared memory. */
    void (*mbarrier)(ObserverCta *cta, const ObserveSite *site, uint32_t address,
                     ObserveMbarrier what);
    /* Makes a finding and returns the status the launch gets: EMU_OK to go on. */
    EmuStatus (*fault)(Observer *observer, ObserverCta *cta, const ObserveFault *fault);
};

/* Made by emulator/check for a launch; NULL: out of memory. `reporter` may be NULL. */
typedef struct ObserverSetup {
    const PtxFunction *entry;
    const EmuMemory *memory;
    const EmuOptions *options;
    const EmuReporter *reporter;
    uint32_t grid[3], block[3];
} ObserverSetup;

Observer *observer_new(const ObserverSetup *setup);
/* Frees it and returns how many findings were made. */
uint64_t observer_end(Observer *observer);

#endif
