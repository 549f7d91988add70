/* What the .sync instructions of a warp have in common. */
#ifndef TCC_EMULATOR_MACHINE_SYNC_H
#define TCC_EMULATOR_MACHINE_SYNC_H

#include "emulator/machine/execute.h"

/* Whether the lanes named by the mask in record->slot[slot] are all here; their accesses to memory
 * are ordered then. Lanes that name another mask are put aside: the handler executes the record for
 * *lanes. False: it returns *out_step. */
bool sync_lanes(Warp *warp, const Record *record, uint32_t *lanes, uint32_t slot, Step *out_step);

/* barrier.c: a barrier may be complete because a warp ended. */
void barrier_recheck(Cta *cta);
/* The lanes of `warp` have come, in several fragments, to unaligned barriers of one number. */
Step barrier_arrive_apart(Warp *warp, const Record *record, uint32_t barrier, uint32_t lanes);

#endif
