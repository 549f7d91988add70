/* When no lane of a warp, or no warp of a CTA, can go on: who waits for what. */
#include "emulator/machine/stuck.h"

#include "emulator/machine/sync.h"
#include "emulator/machine/warp.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 2048 };

typedef struct Text {
    char bytes[TEXT_SIZE];
    size_t size;
} Text;

static void add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(Text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(text->bytes + text->size, TEXT_SIZE - text->size, format, args);
    va_end(args);
    size_t room = TEXT_SIZE - 1 - text->size;
    if (more > 0) text->size += (size_t)more < room ? (size_t)more : room;
}

static const Record *record_of(const Warp *warp, const Fragment *fragment) {
    return &warp->program->records[fragment->pc];
}

static const PtxInstruction *instruction_of(const Warp *warp, const Record *record) {
    const PtxFunction *function = warp->program->functions[record->function].function;
    return &function->instructions[record->instruction];
}

static void add_fragment(Text *text, const Warp *warp, const Fragment *fragment) {
    const PtxInstruction *instruction = instruction_of(warp, record_of(warp, fragment));
    add(text, "\n    warp %u lanes 0x%08x wait at line %u (%s)", warp->index, fragment->lanes,
        instruction->line, ptx_row_text((PtxRow)instruction->row));
    if (fragment->wait == WAIT_lanes)
        add(text, " for lanes 0x%08x", fragment->need & warp->live & ~fragment->lanes);
    if (fragment->wait == WAIT_live) add(text, " for lanes 0x%08x", warp->live & ~fragment->lanes);
    if (fragment->wait == WAIT_barrier) {
        const Barrier *barrier = &warp->cta->barriers[fragment->key];
        add(text, ", barrier %u: %u threads came", fragment->key, barrier->arrived);
        if (barrier->expected) add(text, " of %u", barrier->expected);
    }
}

/* Lanes at several bar.warp.sync, or at several barrier.sync of one number, are together all the
 * same: each of the fragments may pass. */
static bool unite(Warp *warp, Step *out_step) {
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *first = &warp->others[i];
        const Record *record = record_of(warp, first);
        bool apart = first->wait == WAIT_live && first->key;
        bool masks =
            first->wait == WAIT_lanes && instruction_of(warp, record)->row == PTX_bar_warp_sync;
        uint32_t lanes = 0, need = apart ? warp->live : first->need & warp->live;
        if (!apart && !masks) continue;
        for (uint32_t k = 0; k < warp->fragment_count; k++) {
            const Fragment *other = &warp->others[k];
            const PtxInstruction *at = instruction_of(warp, record_of(warp, other));
            if (other->wait != first->wait) continue;
            if (apart ? other->key == first->key
                      : at->row == PTX_bar_warp_sync && other->need == first->need)
                lanes |= other->lanes;
        }
        if (need & ~lanes) continue;
        uint32_t key = first->key, number = key - 1, mask = first->need;
        Wait wait = first->wait;
        for (uint32_t k = 0; k < warp->fragment_count; k++) {
            Fragment *other = &warp->others[k];
            const PtxInstruction *at = instruction_of(warp, record_of(warp, other));
            if (other->wait != wait || (apart ? other->key != key : other->need != mask)) continue;
            if (!apart && at->row != PTX_bar_warp_sync) continue;
            other->wait = apart ? WAIT_barrier : WAIT_none;
            other->key = apart ? number : 0;
            other->passes = !apart;
        }
        *out_step = apart ? barrier_arrive_apart(warp, record, number, lanes) : STEP_switch;
        return true;
    }
    return false;
}

Step warp_stuck(Warp *warp) {
    Step step;
    if (unite(warp, &step)) return step == STEP_fault ? step : STEP_switch;
    Text text = {.size = 0};
    const Fragment *first = &warp->others[0];
    add(&text, "lanes of a warp wait for each other:");
    for (uint32_t i = 0; i < warp->fragment_count; i++) add_fragment(&text, warp, &warp->others[i]);
    EmuFindingKind kind =
        first->wait == WAIT_live ? EMU_FINDING_divergent : EMU_FINDING_lane_missing;
    return warp_fatal(warp, record_of(warp, first), kind, first->lanes, 0, 0, text.bytes);
}

void cta_stuck(Cta *cta) {
    Text text = {.size = 0};
    Warp *teller = NULL;
    add(&text, "no warp of the CTA can go on:");
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        Warp *warp = &cta->warps[w];
        if (warp->finished) continue;
        for (uint32_t i = 0; i < warp->fragment_count; i++) {
            add_fragment(&text, warp, &warp->others[i]);
            if (!teller) teller = warp;
        }
        if (warp->polling) {
            const Record *record = &warp->program->records[warp->pc];
            add(&text, "\n    warp %u polls at line %u", w, instruction_of(warp, record)->line);
            if (!teller) teller = warp;
        }
    }
    if (!teller) return;
    const Fragment *first = &teller->others[0];
    bool waits = teller->fragment_count > 0;
    uint32_t pc = waits ? first->pc : teller->pc;
    warp_fatal(teller, &teller->program->records[pc], EMU_FINDING_deadlock,
               waits ? first->lanes : teller->active, 0, 0, text.bytes);
}
