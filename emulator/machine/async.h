/* What goes on while a block's threads do other things: copies by cp.async, and the mbarriers that
 * tell of their end. A block gets its state here with its first such instruction.
 *
 * A copy is carried out when the options say: at once, or as late as a program can rely on, when a
 * wait of its thread or on its mbarrier needs it. Until then its destination is full of NaN, so
 * that a program that does not wait sees it in its results, checks or not. */
#ifndef TCC_EMULATOR_MACHINE_ASYNC_H
#define TCC_EMULATOR_MACHINE_ASYNC_H

#include "base/vec.h"
#include "emulator/machine/execute.h"

/* cp.async of some lanes of a warp. */
typedef struct AsyncCopy {
    uint32_t lanes;        /* that have not waited for it */
    uint32_t group;        /* in each lane's count of groups */
    uint32_t sequence;     /* in the warp's order */
    uint32_t size, number; /* bytes; the observer's number */
    bool done;             /* the bytes are there already */
    ObserveSite site;
    uint8_t *to[EMU_LANES];
    const uint8_t *from[EMU_LANES];
    uint32_t from_size[EMU_LANES];
} AsyncCopy;

typedef struct AsyncWarp {
    VEC(AsyncCopy) copies;      /* under way, oldest first */
    uint32_t groups[EMU_LANES]; /* that the lane has committed: the number of the one it fills */
    uint32_t sequence;
} AsyncWarp;

typedef struct Mbarrier {
    uint32_t address; /* in shared memory */
    uint32_t phase, expected, pending;
    int32_t bytes;   /* that are still to come (tx-count) */
    uint32_t polled; /* one more than the last phase that a wait found not to be over */
} Mbarrier;

/* cp.async.mbarrier.arrive of lanes whose copies are still under way. */
typedef struct AsyncArrival {
    uint32_t warp, lanes, address;
    uint32_t sequence; /* copies of the warp before this one */
    const Record *record;
    ObserveSite site;
} AsyncArrival;

typedef struct AsyncBlock {
    Arena *arena;
    AsyncWarp *warps;
    VEC(Mbarrier) mbarriers;
    VEC(AsyncArrival) arrivals;
} AsyncBlock;

/* The block's state; it is made when there is none. */
AsyncBlock *async_block(Cta *cta);
/* Ends it; called for every block that ends. */
void async_block_end(Cta *cta);
/* Lanes exit: their copies are carried out, though nobody waited. */
Step async_exit(Warp *warp, const ObserveSite *site, uint32_t lanes);

/* async_copy.c: copies of `lanes` of a warp that were issued before `sequence` are carried out. */
void async_finish(Warp *warp, const ObserveSite *site, uint32_t lanes, uint32_t sequence,
                  bool awaited);
uint32_t async_under_way(const AsyncWarp *warp, uint32_t lanes, uint32_t sequence);

/* async_mbarrier.c: NULL: no mbarrier lives there. */
Mbarrier *mbarrier_find(AsyncBlock *block, uint32_t address);
/* One arrival that was announced by cp.async.mbarrier.arrive; STEP_fault when it was one too many.
 */
Step mbarrier_arrive_copied(Cta *cta, const AsyncArrival *arrival, uint32_t lane);
/* Arrivals whose copies have ended by now take place. */
Step async_settle(Cta *cta);
/* The offset in shared memory of a lane's address, of `size` bytes in existing memory and aligned;
 * false: the handler returns *out_step. */
bool async_shared_address(Warp *warp, const Record *record, uint32_t lane, uint32_t size,
                          uint32_t *out_offset, Step *out_step);

#endif
