/* mbarrier: a barrier in shared memory with phases. A phase ends when all expected arrivals have
 * come and all expected bytes; then the next begins. Every lane's operation is one by itself. */
#include "emulator/machine/access.h"
#include "emulator/machine/async.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

enum { COUNT_MOST = (1 << 20) - 1, MBARRIER_BYTES = 8 };

bool async_shared_address(Warp *warp, const Record *record, uint32_t lane, uint32_t size,
                          uint32_t *out_offset, Step *out_step) {
    const void *base = warp_slot(warp, record->slot[1]);
    const Cta *cta = warp->cta;
    bool narrow = record->options & OPTION_address32;
    uint64_t address = narrow ? ((const LaneU32 *)base)[lane] + (uint32_t)record->immediate
                              : ((const LaneU64 *)base)[lane] + record->immediate;
    if (narrow) address = (uint32_t)address;
    bool windowed = address >> 56 == EMU_WINDOW_shared >> 56;
    uint64_t offset = windowed ? address - EMU_WINDOW_shared : address;
    bool shared = memory_op(record).space == PTX_SPACE_shared ? address >> 56 == 0 : windowed;
    bool inside = offset >= cta->shared_first && offset + size <= cta->shared_end;
    *out_offset = (uint32_t)offset;
    if (shared && inside && offset % size == 0) return true;
    EmuFindingKind wrong = !shared  ? EMU_FINDING_wrong_space
                           : inside ? EMU_FINDING_misaligned
                                    : EMU_FINDING_out_of_bounds;
    *out_step = warp_fatal(warp, record, wrong, 1u << lane,
                           shared ? EMU_WINDOW_shared + offset : address, size, NULL);
    return false;
}

Mbarrier *mbarrier_find(AsyncBlock *block, uint32_t address) {
    for (size_t i = 0; i < block->mbarriers.count; i++)
        if (block->mbarriers.data[i].address == address) return &block->mbarriers.data[i];
    return NULL;
}

static void tell(Cta *cta, ObserveSite site, uint32_t lanes, uint32_t address,
                 ObserveMbarrier what) {
    Observer *deep = cta->worker->deep;
    site.lanes = lanes;
    if (deep) deep->mbarrier(cta->observer, &site, address, what);
}

static void end_phase_if_due(Cta *cta, const ObserveSite *site, Mbarrier *m) {
    if (m->pending || m->bytes) return;
    m->phase++;
    m->pending = m->expected;
    tell(cta, *site, 0, m->address, OBSERVE_mbarrier_complete);
}

Step mbarrier_arrive_copied(Cta *cta, const AsyncArrival *arrival, uint32_t lane) {
    Mbarrier *m = mbarrier_find(async_block(cta), arrival->address);
    EmuFindingKind wrong = m ? EMU_FINDING_mbarrier_arrivals : EMU_FINDING_mbarrier_state;
    if (!m || m->pending == 0)
        return warp_fatal(&cta->warps[arrival->warp], arrival->record, wrong, 1u << lane,
                          EMU_WINDOW_shared + arrival->address, MBARRIER_BYTES, NULL);
    tell(cta, arrival->site, 1u << lane, m->address, OBSERVE_mbarrier_arrive);
    m->pending--;
    end_phase_if_due(cta, &arrival->site, m);
    return STEP_next;
}

/* ---- what an instruction does to one lane's mbarrier ----------------------------------------- */

/* Facts of a row, in record->slot[4]. */
enum {
    FACT_arrive = 1,       /* operand 2 is a count, 1 if missing ... */
    FACT_bytes = 2,        /* ... or bytes that are expected */
    FACT_complete = 4,     /* ... or bytes that have come */
    FACT_drop = 8,         /* the next phases expect fewer */
    FACT_no_complete = 16, /* the arrival must not end the phase */
    FACT_parity = 32,      /* operand 2 of a wait is a parity, else a state */
    FACT_no_increment = 64
};

static Step fail(Warp *warp, const Record *record, EmuFindingKind kind, uint32_t lane,
                 uint32_t address) {
    return warp_fatal(warp, record, kind, 1u << lane, EMU_WINDOW_shared + address, MBARRIER_BYTES,
                      NULL);
}

/* The mbarrier of a lane's address. */
static Mbarrier *mbarrier_of(Warp *warp, const Record *record, uint32_t lane, Step *out_step) {
    uint32_t address;
    if (!async_shared_address(warp, record, lane, MBARRIER_BYTES, &address, out_step)) return NULL;
    Mbarrier *m = mbarrier_find(async_block(warp->cta), address);
    if (!m) *out_step = fail(warp, record, EMU_FINDING_mbarrier_state, lane, address);
    return m;
}

/* What arrive gives: the phase, and how many were pending before. */
static uint64_t state_of(const Mbarrier *m) { return (uint64_t)m->phase << 32 | m->pending; }

static bool add_bytes(Mbarrier *m, int64_t bytes) {
    int64_t sum = m->bytes + bytes;
    if (sum > COUNT_MOST || sum < -COUNT_MOST) return false;
    m->bytes = (int32_t)sum;
    return true;
}

static Step arrive_lane(Warp *warp, const Record *record, uint32_t lane, Mbarrier *m) {
    uint32_t facts = record->slot[4], value = ((LaneU32 *)warp_slot(warp, record->slot[2]))[lane];
    uint32_t count = facts & FACT_arrive ? (facts & FACT_bytes ? 1 : value) : 0;
    ObserveSite site = warp_site(warp, record, 1u << lane);
    int64_t bytes = facts & FACT_bytes      ? (int64_t)value
                    : facts & FACT_complete ? -(int64_t)value
                                            : 0;
    if (!add_bytes(m, bytes) || (facts & FACT_arrive && (count < 1 || count > COUNT_MOST)))
        return fail(warp, record, EMU_FINDING_mbarrier_count, lane, m->address);
    if (count > m->pending || (facts & FACT_no_complete && count == m->pending))
        return fail(warp, record, EMU_FINDING_mbarrier_arrivals, lane, m->address);
    if (facts & FACT_drop) m->expected -= count;
    m->pending -= count;
    if (count) tell(warp->cta, site, 1u << lane, m->address, OBSERVE_mbarrier_arrive);
    end_phase_if_due(warp->cta, &site, m);
    return STEP_next;
}

PLAIN_HANDLER(arrive) {
    Step step = STEP_next;
    LaneU64 *states = warp_slot(warp, record->slot[0]);
    for (uint32_t rest = lanes; rest && step == STEP_next; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        Mbarrier *m = mbarrier_of(warp, record, lane, &step);
        if (!m) return step;
        if (record->slot[4] & FACT_arrive) states[lane] = state_of(m);
        step = arrive_lane(warp, record, lane, m);
    }
    return step;
}

static Step init_lane(Warp *warp, const Record *record, uint32_t lane, uint32_t address,
                      uint32_t count) {
    AsyncBlock *block = async_block(warp->cta);
    Mbarrier *m = mbarrier_find(block, address),
             fresh = {.address = address, .expected = count, .pending = count};
    Step step = STEP_next;
    if (count < 1 || count > COUNT_MOST)
        return fail(warp, record, EMU_FINDING_mbarrier_count, lane, address);
    if (m)
        step = warp_fault(warp, record, EMU_FINDING_mbarrier_reinit, 1u << lane,
                          EMU_WINDOW_shared + address, MBARRIER_BYTES, NULL);
    if (m)
        *m = fresh;
    else
        vec_push(block->arena, &block->mbarriers, fresh);
    tell(warp->cta, warp_site(warp, record, 1u << lane), 1u << lane, address,
         OBSERVE_mbarrier_init);
    return step;
}

PLAIN_HANDLER(init) {
    const LaneU32 *counts = warp_slot(warp, record->slot[2]);
    Step step = STEP_next;
    for (uint32_t rest = lanes; rest && step == STEP_next; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), address;
        if (!async_shared_address(warp, record, lane, MBARRIER_BYTES, &address, &step)) return step;
        step = init_lane(warp, record, lane, address, counts[lane]);
    }
    return step;
}

PLAIN_HANDLER(invalidate) {
    AsyncBlock *block = async_block(warp->cta);
    Step step = STEP_next;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        Mbarrier *m = mbarrier_of(warp, record, lane, &step);
        if (!m) return step;
        tell(warp->cta, warp_site(warp, record, 1u << lane), 1u << lane, m->address,
             OBSERVE_mbarrier_inval);
        *m = block->mbarriers.data[--block->mbarriers.count];
    }
    return STEP_next;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Copies whose end the mbarrier is to be told of are carried out: they may have ended by now. As
 * late as can be means that the first who asks is told that they have not. */
static bool finish_copies(Warp *warp, uint32_t address) {
    AsyncBlock *block = async_block(warp->cta);
    Mbarrier *m = mbarrier_find(block, address);
    bool asked = m->polled == m->phase + 1;
    m->polled = m->phase + 1;
    if (!asked && warp->cta->launch->options.completion == EMU_COMPLETION_latest) return true;
    for (size_t i = 0; i < block->arrivals.count; i++) {
        const AsyncArrival *a = &block->arrivals.data[i];
        if (a->address != address) continue;
        async_finish(&warp->cta->warps[a->warp], &a->site, a->lanes, a->sequence, true);
    }
    return !block->arrivals.count || async_settle(warp->cta) == STEP_next;
}

/* Where the mbarriers of the lanes are; all live. */
static bool find_all(Warp *warp, const Record *record, uint32_t lanes, uint32_t *out_at,
                     Step *out_step) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        const Mbarrier *m = mbarrier_of(warp, record, lane, out_step);
        if (!m) return false;
        out_at[lane] = m->address;
    }
    return true;
}

static uint32_t lanes_at(const uint32_t *at, uint32_t lanes, uint32_t address) {
    uint32_t same = 0;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (lanes >> lane & 1 && at[lane] == address) same |= 1u << lane;
    return same;
}

static bool phase_over(const Mbarrier *m, const Record *record, const void *operand, uint32_t lane,
                       bool *out_old) {
    *out_old = false;
    if (record->slot[4] & FACT_parity)
        return (m->phase & 1) != (((const LaneU32 *)operand)[lane] & 1);
    uint32_t phase = (uint32_t)(((const LaneU64 *)operand)[lane] >> 32);
    *out_old = phase != m->phase && phase + 1 != m->phase;
    return phase != m->phase;
}

PLAIN_HANDLER(wait) {
    const void *operand = warp_slot(warp, record->slot[2]);
    Step step = STEP_next;
    uint32_t at[EMU_LANES], over = 0;
    if (!find_all(warp, record, lanes, at, &step)) return step;
    for (uint32_t rest = lanes; rest; rest &= ~lanes_at(at, lanes, at[__builtin_ctz(rest)]))
        if (!finish_copies(warp, at[__builtin_ctz(rest)])) return STEP_fault;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        bool old;
        Mbarrier *m = mbarrier_find(async_block(warp->cta), at[lane]);
        if (phase_over(m, record, operand, lane, &old)) over |= 1u << lane;
        if (old) return fail(warp, record, EMU_FINDING_mbarrier_phase, lane, at[lane]);
    }
    warp_predicate_set(warp, record->slot[0], lanes, over);
    for (uint32_t rest = over, same; rest; rest &= ~same) {
        uint32_t address = at[__builtin_ctz(rest)];
        same = lanes_at(at, rest, address);
        tell(warp->cta, warp_site(warp, record, same), same, address, OBSERVE_mbarrier_wait);
    }
    if (over == lanes) return STEP_next;
    warp->polling = true;
    return STEP_yield;
}

/* ---- cp.async.mbarrier.arrive ---------------------------------------------------------------- */

/* The lanes will arrive once the copies that they have issued have ended. Without .noinc their own
 * arrivals are added to what the phase waits for. */
PLAIN_HANDLER(arrive_after_copies) {
    AsyncBlock *block = async_block(warp->cta);
    Step step = STEP_next;
    uint32_t at[EMU_LANES];
    if (!find_all(warp, record, lanes, at, &step)) return step;
    for (uint32_t rest = lanes, same; rest; rest &= ~same) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        Mbarrier *m = mbarrier_find(block, at[lane]);
        same = lanes_at(at, rest, at[lane]);
        uint32_t more =
            record->slot[4] & FACT_no_increment ? 0 : (uint32_t)__builtin_popcount(same);
        if (m->pending + more > COUNT_MOST)
            return fail(warp, record, EMU_FINDING_mbarrier_count, lane, at[lane]);
        m->pending += more;
        AsyncArrival arrival = {.warp = warp->index,
                                .lanes = same,
                                .address = at[lane],
                                .sequence = block->warps[warp->index].sequence,
                                .record = record,
                                .site = warp_site(warp, record, same)};
        vec_push(block->arena, &block->arrivals, arrival);
    }
    return async_settle(warp->cta);
}

/* ---- decoding -------------------------------------------------------------------------------- */

typedef struct RowFacts {
    uint16_t row;
    uint8_t facts;
    uint8_t address; /* the operand; the one before it is written, the one behind it read */
    Handler *run;
} RowFacts;

static const RowFacts rows[] = {
    {PTX_mbarrier_init, 0, 0, init},
    {PTX_mbarrier_inval, 0, 0, invalidate},
    {PTX_mbarrier_expect_tx, FACT_bytes, 0, arrive},
    {PTX_mbarrier_complete_tx, FACT_complete, 0, arrive},
    {PTX_mbarrier_arrive, FACT_arrive, 1, arrive},
    {PTX_mbarrier_arrive_expect_tx, FACT_arrive | FACT_bytes, 1, arrive},
    {PTX_mbarrier_arrive_noComplete, FACT_arrive | FACT_no_complete, 1, arrive},
    {PTX_mbarrier_arrive_drop, FACT_arrive | FACT_drop, 1, arrive},
    {PTX_mbarrier_arrive_drop_expect_tx, FACT_arrive | FACT_drop | FACT_bytes, 1, arrive},
    {PTX_mbarrier_arrive_drop_noComplete, FACT_arrive | FACT_drop | FACT_no_complete, 1, arrive},
    {PTX_mbarrier_test_wait, 0, 1, wait},
    {PTX_mbarrier_test_wait_parity, FACT_parity, 1, wait},
    {PTX_mbarrier_try_wait, 0, 1, wait},
    {PTX_mbarrier_try_wait_parity, FACT_parity, 1, wait},
    {PTX_cp_async_mbarrier_arrive, 0, 0, arrive_after_copies},
};

static const RowFacts *facts_of(uint16_t row) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].row == row) return &rows[i];
    return NULL;
}

static bool prepare(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const RowFacts *row = facts_of(instruction->row);
    const PtxOperand *operands = instruction->operands;
    bool waits = row->run == wait, state = waits && !(row->facts & FACT_parity);
    uint32_t value = row->address + 1u;
    if (!access_prepare(decoder, instruction, row->address, record)) return false;
    record->slot[2] =
        value < instruction->operand_count
            ? decoder_source(decoder, &operands[value], state ? WIDTH_long : WIDTH_word)
            : decoder_constant(decoder, WIDTH_word, 1);
    if (row->address)
        record->slot[0] = waits ? decoder_target(decoder, operands, WIDTH_predicate, PTX_TYPE_pred)
                                : decoder_target(decoder, operands, WIDTH_long, PTX_TYPE_b64);
    record->slot[4] = row->facts;
    if (ptx_has(&instruction->modifiers, PTX_MOD_noinc)) record->slot[4] |= FACT_no_increment;
    record->run = row->run;
    return !decoder->failed;
}

/* The low half of a state. */
HANDLER(pending_count) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU64 *a = warp_slot(warp, record->slot[1]);
    LANE_LOOP d[i] = lanes >> i & 1 ? (uint32_t)a[i] : d[i];
    return STEP_next;
}

#define MBARRIER(name)                                                                             \
    { .row = PTX_##name, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare }

static const Form emu_forms_mbarrier_forms[] = {
    MBARRIER(mbarrier_init),
    MBARRIER(mbarrier_inval),
    MBARRIER(mbarrier_expect_tx),
    MBARRIER(mbarrier_complete_tx),
    MBARRIER(mbarrier_arrive),
    MBARRIER(mbarrier_arrive_expect_tx),
    MBARRIER(mbarrier_arrive_noComplete),
    MBARRIER(mbarrier_arrive_drop),
    MBARRIER(mbarrier_arrive_drop_expect_tx),
    MBARRIER(mbarrier_arrive_drop_noComplete),
    MBARRIER(mbarrier_test_wait),
    MBARRIER(mbarrier_test_wait_parity),
    MBARRIER(mbarrier_try_wait),
    MBARRIER(mbarrier_try_wait_parity),
    MBARRIER(cp_async_mbarrier_arrive),
    {.row = PTX_mbarrier_pending_count,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .operands = "Wl",
     .run = pending_count},
};
FORM_TABLE(emu_forms_mbarrier);
