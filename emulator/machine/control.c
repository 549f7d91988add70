/* Where lanes go on: branches, the end of a thread, traps and sleep. */
#include "emulator/machine/async.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/warp.h"

/* Lanes that do not take the branch are the rest of the fragment. */
static Step jump(Warp *warp, uint32_t lanes, uint32_t target) {
    uint32_t rest = warp->active & ~lanes;
    if (!rest) {
        warp->pc = target;
        return STEP_next;
    }
    warp_put(warp, warp->frame, rest, warp->pc);
    warp->active = lanes;
    warp->pc = target;
    return STEP_switch;
}

PLAIN_HANDLER(bra) { return jump(warp, lanes, (uint32_t)record->immediate); }

static Step check_uniform(Warp *warp, const Record *record, uint32_t lanes) {
    uint32_t rest = warp->active & ~lanes;
    if (!rest || !warp->cta->launch->observer) return STEP_next;
    return warp_fault(warp, record, EMU_FINDING_not_uniform, rest, 0, 0,
                      "some lanes take a .uni branch and some do not");
}

PLAIN_HANDLER(bra_uni) {
    Step step = check_uniform(warp, record, lanes);
    return step == STEP_fault ? step : jump(warp, lanes, (uint32_t)record->immediate);
}

static bool prepare_bra(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    record->immediate = instruction->operands[0].index;
    if (ptx_has(&instruction->modifiers, PTX_MOD_uni)) record->run = bra_uni;
    decoder->effect = EFFECT_branch;
    decoder_fixup(decoder, FIXUP_immediate);
    return true;
}

/* brx.idx: the lanes of each target become a fragment; the first of them runs on. */
PLAIN_HANDLER(brx) {
    const LaneU32 *index = warp_slot(warp, record->slot[0]);
    uint32_t wrong = 0;
    for (int i = 0; i < EMU_LANES; i++)
        if ((lanes >> i & 1) && index[i] >= record->immediate) wrong |= 1u << i;
    if (wrong) return warp_fatal(warp, record, EMU_FINDING_branch_target, wrong, 0, 0, NULL);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) warp_put(warp, warp->frame, 1u << i, record->list[index[i]]);
    warp->active &= ~lanes;
    return STEP_switch;
}

static bool prepare_brx(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxTargets *targets =
        &decoder->function->function->targets[instruction->operands[1].index];
    record->slot[0] = decoder_source(decoder, &instruction->operands[0], WIDTH_word);
    uint32_t *list = decoder_list(decoder, targets->count);
    for (uint32_t i = 0; i < targets->count; i++) list[i] = targets->labels[i];
    record->list = list;
    record->immediate = targets->count;
    record->run = brx;
    decoder->effect = EFFECT_branch;
    decoder_fixup(decoder, FIXUP_list);
    return true;
}

static Step end_lanes(Warp *warp, const Record *record, uint32_t lanes) {
    Observer *deep = warp->worker->deep;
    ObserveSite site = warp_site(warp, record, lanes);
    Step step = async_exit(warp, &site, lanes);
    if (step != STEP_next) return step;
    if (deep) deep->exit(warp->cta->observer, &site);
    return warp_exit(warp, lanes);
}

PLAIN_HANDLER(exit_lanes) { return end_lanes(warp, record, lanes); }

Step control_end(Warp *warp, const Record *record, uint32_t lanes) {
    return warp->frame->caller ? call_return(warp, record, lanes) : end_lanes(warp, record, lanes);
}

PLAIN_HANDLER(trap) {
    return warp_fatal(warp, record, EMU_FINDING_trap, lanes, 0, 0,
                      record->immediate ? "brkpt without a debugger" : NULL);
}

PLAIN_HANDLER(sleep_lanes) {
    (void)warp, (void)record, (void)lanes;
    return STEP_yield;
}

PLAIN_HANDLER(nothing) {
    (void)warp, (void)record, (void)lanes;
    return STEP_next;
}

static const Form emu_forms_control_forms[] = {
    {.row = PTX_bra, .accepts = ACCEPT_any, .run = bra, .prepare = prepare_bra},
    {.row = PTX_brx_idx, .accepts = ACCEPT_any, .prepare = prepare_brx},
    FORM(ret, "", control_end, .accepts = ACCEPT_any),
    FORM(exit, "", exit_lanes, ),
    FORM(trap, "", trap, ),
    FORM(brkpt, "", trap, .immediate = 1),
    FORM(nanosleep, "w", sleep_lanes, T(u32)),
    FORM(pmevent, NULL, nothing, .accepts = ACCEPT_any),
    FORM(griddepcontrol_launch_dependents, "", nothing, ),
    FORM(griddepcontrol_wait, "", nothing, ),
    FORM(prefetch, NULL, nothing, .accepts = ACCEPT_any),
    FORM(prefetchu, NULL, nothing, .accepts = ACCEPT_any),
    FORM(applypriority, NULL, nothing, .accepts = ACCEPT_any),
};
FORM_TABLE(emu_forms_control);
