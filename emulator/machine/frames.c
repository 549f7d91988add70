/* Activations of functions. Lanes that call together share a frame until each of them has returned;
 * they return one fragment at a time, each to the caller's frame, where they meet again. */
#include "emulator/machine/warp.h"

#include <stdlib.h>
#include <string.h>

void warp_enter_frame(Warp *warp, Frame *frame) {
    warp->frame = frame;
    warp->bases[BASE_registers] = frame->registers;
    warp->bases[BASE_predicates] = frame->predicates;
}

typedef struct FrameSizes {
    size_t registers, predicates, defined, total;
} FrameSizes;

static FrameSizes frame_sizes(const ProgramFunction *function, bool deep) {
    FrameSizes sizes = {.registers = function->register_bytes,
                        .predicates = (4 * (size_t)function->predicate_count + 63) / 64 * 64};
    if (deep) sizes.defined = 4 * (function->register_bytes / 128 + 1);
    sizes.total = sizeof(Frame) + 64 + sizes.registers + 2 * sizes.predicates + sizes.defined;
    return sizes;
}

static Frame *frame_new(const ProgramFunction *function, bool deep) {
    FrameSizes sizes = frame_sizes(function, deep);
    Frame *frame = calloc(1, sizes.total);
    if (!frame) return NULL;
    uint8_t *next = (uint8_t *)(frame + 1);
    frame->registers = next + (-(uintptr_t)next & 63);
    frame->predicates = frame->registers + sizes.registers;
    memset(frame->registers, EMU_POISON, sizes.registers);
    memset(frame->predicates, EMU_POISON_PREDICATE, sizes.predicates);
    if (!deep) return frame;
    frame->defined_predicates = (uint32_t *)(void *)(frame->predicates + sizes.predicates);
    frame->defined = (uint32_t *)(void *)(frame->predicates + 2 * sizes.predicates);
    return frame;
}

void warp_poison_local(const Warp *warp, uint32_t lanes, uint64_t from, uint64_t to) {
    if (!warp->worker->deep) return;
    for (uint64_t lane = 0; lane < EMU_LANES; lane++)
        if (lanes >> lane & 1)
            memset(warp->local + lane * warp->program->local_stride + from, EMU_POISON, to - from);
}

Step warp_call(Warp *warp, const Record *record, uint32_t lanes, uint32_t function) {
    const Program *program = warp->program;
    const ProgramFunction *callee = &program->functions[function];
    uint64_t align = callee->local_align, local = (warp->frame->top + align - 1) / align * align;
    Frame *frame = NULL;
    if (local + callee->local_bytes <= program->local_stride && warp->frame->depth < EMU_DEPTH)
        frame = frame_new(callee, warp->worker->deep != NULL);
    if (!frame) return warp_fatal(warp, record, EMU_FINDING_stack_overflow, lanes, 0, 0, NULL);
    frame->caller = warp->frame;
    frame->function = function;
    frame->lanes = lanes;
    frame->return_pc = warp->pc;
    frame->depth = warp->frame->depth + 1;
    frame->local = local;
    frame->top = local + callee->local_bytes;
    warp_poison_local(warp, lanes, local, frame->top);
    warp_put(warp, warp->frame, warp->active & ~lanes, warp->pc);
    warp->active = lanes;
    warp->pc = callee->first;
    warp_enter_frame(warp, frame);
    return STEP_switch;
}

/* Nobody stands in a frame that has no lanes. */
static Frame *drop_lanes(Frame *frame, uint32_t lanes) {
    Frame *caller = frame->caller;
    frame->lanes &= ~lanes;
    if (!frame->lanes && caller) free(frame);
    return caller;
}

void warp_leave_frames(Warp *warp, Frame *frame, uint32_t lanes) {
    if (!(warp->active & ~lanes)) warp_enter_frame(warp, &warp->entry_frame);
    while (frame) frame = drop_lanes(frame, lanes);
}

Step warp_return(Warp *warp, uint32_t lanes) {
    Frame *frame = warp->frame, *caller = frame->caller;
    warp->active &= ~lanes;
    warp_put(warp, caller, lanes, frame->return_pc);
    if (!(frame->lanes & ~lanes)) warp_enter_frame(warp, caller);
    drop_lanes(frame, lanes);
    return STEP_switch;
}

void warp_end(Warp *warp) {
    Frame *first = warp->active ? warp->frame : NULL;
    if (first) warp_leave_frames(warp, first, warp->active);
    for (uint32_t i = 0; i < warp->fragment_count; i++)
        warp_leave_frames(warp, warp->others[i].frame, warp->others[i].lanes);
    warp->fragment_count = 0;
    warp->active = 0;
}
