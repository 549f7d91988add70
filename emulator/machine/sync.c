/* Waiting for the lanes of a mask. */
#include "emulator/machine/sync.h"

#include "emulator/machine/warp.h"

/* The lanes that name the same mask as the first one; the others run the record again, by
 * themselves. */
static uint32_t same_mask(Warp *warp, uint32_t slot, uint32_t lanes, uint32_t *out_mask) {
    const uint32_t *masks = warp_slot(warp, slot);
    uint32_t mask = masks[__builtin_ctz(lanes)], others = 0;
    for (int i = 0; i < EMU_LANES; i++)
        if ((lanes >> i & 1) && masks[i] != mask) others |= 1u << i;
    *out_mask = mask;
    if (!others) return lanes;
    warp->active &= ~others;
    warp_put(warp, warp->frame, others, warp->pc - 1);
    warp->limit = 0; /* they stand behind, and are to run next */
    return lanes & ~others;
}

bool sync_lanes(Warp *warp, const Record *record, uint32_t *lanes, uint32_t slot, Step *out_step) {
    uint32_t mask;
    *lanes = same_mask(warp, record->slot[slot], *lanes, &mask);
    uint32_t outside = *lanes & ~mask;
    if (outside && warp->cta->launch->observer) {
        *out_step = warp_fault(warp, record, EMU_FINDING_not_in_mask, outside, 0, 0, NULL);
        if (*out_step == STEP_fault) return false;
    }
    if (!warp_gather(warp, record, lanes, WAIT_lanes, mask, out_step)) return false;
    Observer *deep = warp->worker->deep;
    if (deep) {
        ObserveSite site = warp_site(warp, record, *lanes);
        deep->warp_sync(warp->cta->observer, &site);
    }
    return true;
}
