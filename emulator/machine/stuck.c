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

/* Whether two fragments wait for the same at places that may differ: PTX allows that of
 * bar.warp.sync, and of barrier.sync without .aligned (those have the number as `key`). */
static bool waits_alike(const Warp *warp, const Fragment *a, const Fragment *b) {
    if (a->wait != b->wait || a->need != b->need || a->key != b->key) return false;
    if (a->wait == WAIT_live) return a->key != 0;
    return a->wait == WAIT_lanes &&
           instruction_of(warp, record_of(warp, a))->row == PTX_bar_warp_sync &&
           instruction_of(warp, record_of(warp, b))->row == PTX_bar_warp_sync;
}

static uint32_t lanes_alike(const Warp *warp, const Fragment *fragment) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < warp->fragment_count; i++)
        if (waits_alike(warp, fragment, &warp->others[i])) lanes |= warp->others[i].lanes;
    return lanes;
}

/* All lanes of a bar.warp.sync have come: their fragments pass. */
static Step pass_warp(Warp *warp, const Fragment *first, uint32_t lanes) {
    const Fragment alike = *first;
    Observer *deep = warp->worker->deep;
    ObserveSite site = warp_site(warp, record_of(warp, first), lanes);
    if (deep) deep->warp_sync(warp->cta->observer, &site);
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->others[i];
        if (!waits_alike(warp, &alike, other)) continue;
        other->wait = WAIT_none, other->need = 0;
        other->passes = true;
    }
    return STEP_switch;
}

/* All live lanes have come to barriers of one number: the warp arrives. */
static Step arrive_apart(Warp *warp, const Fragment *first, uint32_t lanes) {
    const Fragment alike = *first;
    const Record *record = record_of(warp, first);
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        Fragment *other = &warp->others[i];
        if (!waits_alike(warp, &alike, other)) continue;
        other->wait = WAIT_barrier;
        other->key = alike.key - 1;
    }
    return barrier_arrive_apart(warp, record, alike.key - 1, lanes);
}

/* Whether fragments at different places are complete together. */
static bool unite(Warp *warp, Step *out_step) {
    for (uint32_t i = 0; i < warp->fragment_count; i++) {
        const Fragment *first = &warp->others[i];
        uint32_t lanes = lanes_alike(warp, first); /* none: it waits for its own place */
        uint32_t need = first->wait == WAIT_live ? warp->live : first->need & warp->live;
        if (!lanes || need & ~lanes) continue;
        *out_step = first->wait == WAIT_live ? arrive_apart(warp, first, lanes)
                                             : pass_warp(warp, first, lanes);
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
