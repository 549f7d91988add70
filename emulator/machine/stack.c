/* alloca, stacksave and stackrestore: local memory that a function takes as it goes. A frame's
 * lanes share the top of its stack, so what they take together is as much as the greediest lane
 * wants. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/warp.h"

enum { STACK_ALIGN = 8 }; /* when nothing is said */

/* Slots: target, size; immediate: the alignment. */
static uint64_t most_wanted(const Warp *warp, const Record *record, uint32_t lanes) {
    const LaneU32 *words = warp_slot(warp, record->slot[1]);
    const LaneU64 *longs = warp_slot(warp, record->slot[1]);
    uint64_t most = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint64_t size = record->slot[2] ? longs[i] : words[i];
        most = size > most ? size : most;
    }
    return most;
}

static void put_lanes(const Warp *warp, const Record *record, uint32_t lanes, uint64_t value) {
    LaneU32 *words = warp_slot(warp, record->slot[0]);
    LaneU64 *longs = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        if (record->slot[2])
            longs[i] = value;
        else
            words[i] = (uint32_t)value;
    }
}

PLAIN_HANDLER(take) {
    Frame *frame = warp->frame;
    uint64_t align = record->immediate, size = most_wanted(warp, record, lanes);
    uint64_t start = emu_place_barely(frame->top, align);
    if (size > warp->program->local_stride || start + size > warp->program->local_stride)
        return warp_fatal(warp, record, EMU_FINDING_stack_overflow, lanes, 0, 0, NULL);
    frame->top = start + size;
    warp_poison_local(warp, lanes, start, frame->top);
    put_lanes(warp, record, lanes, start);
    return STEP_next;
}

PLAIN_HANDLER(save) {
    put_lanes(warp, record, lanes, warp->frame->top);
    return STEP_next;
}

PLAIN_HANDLER(restore) {
    uint64_t top = most_wanted(warp, record, lanes);
    if (top > warp->program->local_stride)
        return warp_fatal(warp, record, EMU_FINDING_stack_overflow, lanes, 0, 0,
                          "the stack is restored to what stacksave never gave");
    warp->frame->top = top;
    return STEP_next;
}

static bool prepare_stack(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxOperand *operands = instruction->operands;
    PtxType type = (PtxType)instruction->types[0];
    Width width = decoder_width(type);
    bool writes = instruction->row != PTX_stackrestore, reads = instruction->row != PTX_stacksave;
    if (writes) record->slot[0] = decoder_target(decoder, &operands[0], width, type);
    if (reads) record->slot[1] = decoder_source(decoder, &operands[writes ? 1 : 0], width);
    record->slot[2] = width == WIDTH_long;
    record->immediate = STACK_ALIGN;
    if (instruction->operand_count == 3) record->immediate = operands[2].bits;
    record->run = !reads ? save : writes ? take : restore;
    decoder->program->has_stack = true;
    return !decoder->failed;
}

#define STACK(row_name)                                                                            \
    { .row = PTX_##row_name, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_stack }

static const Form emu_forms_stack_forms[] = {
    STACK(alloca),
    STACK(stacksave),
    STACK(stackrestore),
};
FORM_TABLE(emu_forms_stack);
