/* Waiting for the lanes of a mask. */
#include "emulator/machine/sync.h"

static uint32_t mask_of(const Warp *warp, uint32_t slot, uint32_t lanes) {
    const uint32_t *masks = warp_slot(warp, slot);
    return masks[__builtin_ctz(lanes)];
}

bool sync_lanes(Warp *warp, const Record *record, uint32_t lanes, uint32_t slot, Step *out_step) {
    uint32_t mask = mask_of(warp, record->slot[slot], lanes), outside = lanes & ~mask;
    if (outside && warp->cta->launch->observer) {
        *out_step = warp_fault(warp, record, EMU_FINDING_not_in_mask, outside, 0, 0, NULL);
        if (*out_step == STEP_fault) return false;
    }
    if (!warp_gather(warp, record, lanes, WAIT_lanes, mask, out_step)) return false;
    Observer *deep = warp->worker->deep;
    if (deep) {
        ObserveSite site = warp_site(warp, record, lanes);
        deep->warp_sync(warp->cta->observer, &site);
    }
    return true;
}
