/* Fences order a thread's accesses for others: of the host's memory as well, and for the
 * observer. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

/* Immediate: order, scope << 8, proxy << 16. */
PLAIN_HANDLER(fence) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    Observer *deep = warp->worker->deep;
    if (!deep) return STEP_next;
    ObserveSite site = warp_site(warp, record, lanes);
    deep->fence(warp->cta->observer, &site, (ObserveOrder)(record->immediate & 255),
                (ObserveScope)(record->immediate >> 8 & 255),
                (ObserveProxy)(record->immediate >> 16));
    return STEP_next;
}

static ObserveOrder order_of(const PtxInstruction *instruction) {
    const PtxModifiers *has = &instruction->modifiers;
    if (instruction->row == PTX_membar || ptx_has(has, PTX_MOD_sc)) return OBSERVE_sc;
    if (ptx_has(has, PTX_MOD_acquire)) return OBSERVE_acquire;
    if (ptx_has(has, PTX_MOD_release)) return OBSERVE_release;
    return OBSERVE_acq_rel;
}

static ObserveScope scope_of(const PtxInstruction *instruction) {
    const PtxModifiers *has = &instruction->modifiers;
    if (ptx_has(has, PTX_MOD_cta)) return OBSERVE_cta;
    if (ptx_has(has, PTX_MOD_cluster)) return OBSERVE_cluster;
    if (ptx_has(has, PTX_MOD_gpu) || ptx_has(has, PTX_MOD_gl)) return OBSERVE_gpu;
    return OBSERVE_sys;
}

static ObserveProxy proxy_of(const PtxInstruction *instruction) {
    const PtxModifiers *has = &instruction->modifiers;
    if (ptx_has(has, PTX_MOD_async) || ptx_has(has, PTX_MOD_async_generic)) return OBSERVE_async;
    if (ptx_has(has, PTX_MOD_tensormap_generic)) return OBSERVE_tensormap;
    return OBSERVE_generic;
}

static bool prepare_fence(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    (void)decoder;
    record->immediate = (uint64_t)order_of(instruction) | (uint64_t)scope_of(instruction) << 8 |
                        (uint64_t)proxy_of(instruction) << 16;
    record->run = fence;
    return true;
}

#define FENCE(row_name)                                                                            \
    { .row = PTX_##row_name, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_fence }

static const Form emu_forms_fence_forms[] = {
    FENCE(membar),      FENCE(membar_proxy), FENCE(fence), FENCE(fence_mbarrier_init),
    FENCE(fence_proxy),
};
FORM_TABLE(emu_forms_fence);
