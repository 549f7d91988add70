/* vote, activemask, and bar.warp.sync: what the lanes of a warp agree on. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/sync.h"

typedef enum VoteKind { VOTE_all, VOTE_any, VOTE_uni, VOTE_ballot } VoteKind;

/* Slots d, a, mask; immediate: the kind. */
static void vote_lanes(Warp *warp, const Record *record, uint32_t lanes) {
    uint32_t a = warp_predicate(warp, record->slot[1]);
    if (record->options & OPTION_invert_a) a = ~a;
    a &= lanes;
    VoteKind kind = (VoteKind)record->immediate;
    if (kind == VOTE_ballot) {
        LaneU32 *d = warp_slot(warp, record->slot[0]);
        for (int i = 0; i < EMU_LANES; i++)
            if (lanes >> i & 1) d[i] = a;
        return;
    }
    bool holds = kind == VOTE_all ? a == lanes : kind == VOTE_any ? a != 0 : a == lanes || !a;
    warp_predicate_set(warp, record->slot[0], lanes, holds ? ~0u : 0);
}

PLAIN_HANDLER(vote_sync) {
    Step step;
    if (!sync_lanes(warp, record, &lanes, 2, &step)) return step;
    vote_lanes(warp, record, lanes);
    return STEP_next;
}

PLAIN_HANDLER(vote) {
    vote_lanes(warp, record, lanes);
    return STEP_next;
}

static bool prepare_vote(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxModifiers *has = &instruction->modifiers;
    const PtxOperand *operands = instruction->operands;
    bool ballot = ptx_has(has, PTX_MOD_ballot), sync = ptx_has(has, PTX_MOD_sync);
    record->slot[0] = decoder_target(decoder, &operands[0], ballot ? WIDTH_word : WIDTH_predicate,
                                     ballot ? PTX_TYPE_b32 : PTX_TYPE_pred);
    record->slot[1] = decoder_source(decoder, &operands[1], WIDTH_predicate);
    if (operands[1].negated) record->options |= OPTION_invert_a;
    if (sync) record->slot[2] = decoder_source(decoder, &operands[2], WIDTH_word);
    record->immediate = ballot                      ? VOTE_ballot
                        : ptx_has(has, PTX_MOD_all) ? VOTE_all
                        : ptx_has(has, PTX_MOD_any) ? VOTE_any
                                                    : VOTE_uni;
    record->run = sync ? vote_sync : vote;
    return !decoder->failed;
}

PLAIN_HANDLER(activemask) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = lanes;
    return STEP_next;
}

PLAIN_HANDLER(bar_warp_sync) {
    Step step;
    return sync_lanes(warp, record, &lanes, 0, &step) ? STEP_next : step;
}

static const Form emu_forms_vote_forms[] = {
    {.row = PTX_vote, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_vote},
    FORM(activemask, "W", activemask, T(b32)),
    FORM(bar_warp_sync, "w", bar_warp_sync, ),
};
FORM_TABLE(emu_forms_vote);
