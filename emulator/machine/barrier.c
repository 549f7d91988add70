/* The sixteen barriers of a CTA: bar and barrier, .sync, .arrive and .red.
 *
 * A warp arrives as one, once all its live lanes have come (at one place for bar and .aligned; at
 * any barrier.sync of the same number otherwise), and counts as 32 threads. The phase ends when as
 * many threads as expected have arrived: a number of the instruction, or all warps that have not
 * ended. The warps that wait then run the same record again, which sees that it may pass. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/sync.h"
#include "emulator/machine/warp.h"

typedef enum BarrierKind {
    BARRIER_sync,
    BARRIER_arrive,
    BARRIER_popc,
    BARRIER_and,
    BARRIER_or
} BarrierKind;

/* record->immediate. Slots: result, number, count, predicate. */
enum { BARRIER_KIND = 7, BARRIER_ALIGNED = 8, BARRIER_COUNTED = 16 };

static void tell(const Warp *warp, const Record *record, uint32_t barrier, ObserveBarrier what) {
    Observer *deep = warp->worker->deep;
    if (!deep) return;
    ObserveSite site = warp_site(warp, record, warp->live);
    deep->barrier(warp->cta->observer, &site, barrier, what);
}

static uint32_t leader_word(const Warp *warp, uint32_t slot, uint32_t lanes) {
    const LaneU32 *words = warp_slot(warp, slot);
    return words[__builtin_ctz(lanes)];
}

/* The end of a phase. */

static bool is_complete(const Cta *cta, const Barrier *barrier) {
    uint32_t all = EMU_LANES * (cta->warp_count - cta->finished_warps);
    return barrier->used && barrier->arrived >= (barrier->expected ? barrier->expected : all);
}

static Reduction complete(Cta *cta, uint32_t number) {
    Barrier *barrier = &cta->barriers[number];
    uint32_t waiting = barrier->waiting;
    Reduction reduction = {(uint16_t)barrier->popc, barrier->popc == barrier->lanes,
                           barrier->popc != 0};
    *barrier = (Barrier){0};
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (waiting >> i & 1) warp_release(&cta->warps[i], number, reduction);
    return reduction;
}

void barrier_recheck(Cta *cta) {
    for (uint32_t i = 0; i < EMU_BARRIERS; i++)
        if (!cta->barriers[i].expected && is_complete(cta, &cta->barriers[i])) complete(cta, i);
}

/* What may go wrong when a warp comes. */
static Step check_arrival(Warp *warp, const Record *record, uint32_t number, uint32_t count,
                          uint32_t lanes) {
    bool reduces = (record->immediate & BARRIER_KIND) >= BARRIER_popc;
    if (number >= EMU_BARRIERS || count % EMU_LANES || count > 1024 ||
        (record->immediate & BARRIER_COUNTED && !count)) {
        warp_fault(warp, record, EMU_FINDING_undefined_operand, lanes, 0, 0,
                   number >= EMU_BARRIERS ? "there are 16 barriers"
                                          : "the count must be a multiple of 32, at most 1024");
        return STEP_fault;
    }
    const Barrier *barrier = &warp->cta->barriers[number];
    EmuFindingKind kind = EMU_FINDING_count;
    if (barrier->came >> warp->index & 1)
        kind = EMU_FINDING_barrier_twice;
    else if (barrier->used && barrier->expected != count)
        kind = EMU_FINDING_barrier_count;
    else if (barrier->used && barrier->reduces != reduces)
        kind = EMU_FINDING_barrier_mixed;
    if (kind == EMU_FINDING_count) return STEP_next;
    return warp_fault(warp, record, kind, lanes, 0, 0, NULL);
}

static void add_arrival(Warp *warp, const Record *record, uint32_t number, uint32_t count,
                        uint32_t lanes) {
    Barrier *barrier = &warp->cta->barriers[number];
    barrier->used = true;
    barrier->expected = count;
    barrier->arrived += EMU_LANES;
    barrier->came |= 1u << warp->index;
    if ((record->immediate & BARRIER_KIND) < BARRIER_popc) return;
    uint32_t c = warp_predicate(warp, record->slot[3]);
    if (record->options & OPTION_invert_c) c = ~c;
    barrier->reduces = true;
    barrier->popc += (uint32_t)__builtin_popcount(c & lanes);
    barrier->lanes += (uint32_t)__builtin_popcount(lanes);
}

static Step pass(Warp *warp, const Record *record, uint32_t number, uint32_t lanes,
                 Reduction reduction) {
    tell(warp, record, number, OBSERVE_pass);
    switch ((BarrierKind)(record->immediate & BARRIER_KIND)) {
    case BARRIER_sync:
    case BARRIER_arrive: break;
    case BARRIER_popc: {
        LaneU32 *d = warp_slot(warp, record->slot[0]);
        for (int i = 0; i < EMU_LANES; i++)
            if (lanes >> i & 1) d[i] = reduction.popc;
        break;
    }
    case BARRIER_and:
        warp_predicate_set(warp, record->slot[0], lanes, reduction.all ? ~0u : 0);
        break;
    case BARRIER_or:
        warp_predicate_set(warp, record->slot[0], lanes, reduction.any ? ~0u : 0);
        break;
    }
    return STEP_next;
}

static uint32_t count_of(const Warp *warp, const Record *record, uint32_t lanes) {
    return record->immediate & BARRIER_COUNTED ? leader_word(warp, record->slot[2], lanes) : 0;
}

PLAIN_HANDLER(barrier) {
    Cta *cta = warp->cta;
    uint32_t number = leader_word(warp, record->slot[1], lanes);
    if (warp->passing) {
        warp->passing = false;
        return pass(warp, record, number, lanes, warp->reduction);
    }
    Step step;
    bool apart = (record->immediate & (BARRIER_KIND | BARRIER_ALIGNED)) == BARRIER_sync;
    if (!warp_gather(warp, record, &lanes, WAIT_live, apart ? number + 1 : 0, &step)) return step;
    uint32_t count = count_of(warp, record, lanes);
    step = check_arrival(warp, record, number, count, lanes);
    if (step != STEP_next) return step;
    add_arrival(warp, record, number, count, lanes);
    tell(warp, record, number, OBSERVE_arrive);
    if (is_complete(cta, &cta->barriers[number])) {
        Reduction reduction = complete(cta, number);
        bool waits = (record->immediate & BARRIER_KIND) != BARRIER_arrive;
        return waits ? pass(warp, record, number, lanes, reduction) : STEP_next;
    }
    if ((record->immediate & BARRIER_KIND) == BARRIER_arrive) return STEP_next;
    cta->barriers[number].waiting |= 1u << warp->index;
    return warp_wait(warp, lanes, WAIT_barrier, 0, number);
}

Step barrier_arrive_apart(Warp *warp, const Record *record, uint32_t number, uint32_t lanes) {
    Cta *cta = warp->cta;
    uint32_t count = count_of(warp, record, lanes);
    Step step = check_arrival(warp, record, number, count, lanes);
    if (step != STEP_next) return step;
    add_arrival(warp, record, number, count, lanes);
    tell(warp, record, number, OBSERVE_arrive);
    cta->barriers[number].waiting |= 1u << warp->index;
    if (is_complete(cta, &cta->barriers[number])) complete(cta, number);
    return STEP_next;
}

static bool prepare_barrier(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxOperand *operands = instruction->operands;
    uint32_t row = instruction->row, at = 0, left = instruction->operand_count;
    bool popc = ptx_has(&instruction->modifiers, PTX_MOD_popc);
    bool reduces = row == PTX_bar_red || row == PTX_barrier_red;
    BarrierKind kind = row == PTX_bar_arrive || row == PTX_barrier_arrive ? BARRIER_arrive
                       : !reduces                                         ? BARRIER_sync
                       : popc                                             ? BARRIER_popc
                       : ptx_has(&instruction->modifiers, PTX_MOD_and)    ? BARRIER_and
                                                                          : BARRIER_or;
    record->immediate = kind;
    if (row == PTX_bar_sync || row == PTX_bar_arrive || row == PTX_bar_red ||
        ptx_has(&instruction->modifiers, PTX_MOD_aligned))
        record->immediate |= BARRIER_ALIGNED;
    if (reduces) {
        const PtxOperand *c = &operands[--left];
        record->slot[0] = decoder_target(decoder, &operands[at++],
                                         popc ? WIDTH_word : WIDTH_predicate, PTX_TYPE_u32);
        record->slot[3] = decoder_source(decoder, c, WIDTH_predicate);
        if (c->negated) record->options |= OPTION_invert_c;
    }
    record->slot[1] = decoder_source(decoder, &operands[at++], WIDTH_word);
    if (at < left) {
        record->slot[2] = decoder_source(decoder, &operands[at], WIDTH_word);
        record->immediate |= BARRIER_COUNTED;
    }
    record->run = barrier;
    return !decoder->failed;
}

#define BAR(row_name)                                                                              \
    { .row = PTX_##row_name, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_barrier }

static const Form emu_forms_barrier_forms[] = {
    BAR(bar_sync),     BAR(bar_arrive),     BAR(bar_red),
    BAR(barrier_sync), BAR(barrier_arrive), BAR(barrier_red),
};
FORM_TABLE(emu_forms_barrier);
