/* Addresses of 32 lanes to pointers. Nearly every access lies in one block: then the least and the
 * greatest address are looked at, and nothing else. What does not is taken lane by lane, which also
 * finds the lane at fault and says what is wrong with it. */
#include "emulator/machine/access.h"

#include "emulator/machine/count.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

#include <string.h>

/* What the addresses of all lanes have in common. */
typedef struct Extent {
    uint64_t least, most, low_bits;
    bool consecutive;
} Extent;

EMU_VECTOR static void add_offset_64(uint64_t *restrict out, const LaneU64 *restrict base,
                                     uint64_t offset, uint64_t first, uint32_t lanes) {
    LANE_LOOP out[i] = lanes >> i & 1 ? base[i] + offset : first;
}

EMU_VECTOR static void add_offset_32(uint64_t *restrict out, const LaneU32 *restrict base,
                                     uint32_t offset, uint64_t first, uint32_t lanes) {
    LANE_LOOP out[i] = lanes >> i & 1 ? (uint64_t)(base[i] + offset) : first;
}

EMU_VECTOR static void measure(Extent *restrict out, const uint64_t *restrict address,
                               uint64_t size) {
    uint64_t least = UINT64_MAX, most = 0, low = 0, gaps = 0, first = address[0];
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t v = address[i];
        least = v < least ? v : least;
        most = v > most ? v : most;
        low |= v;
        gaps |= (v - first) ^ (size * (uint64_t)i);
    }
    *out = (Extent){least, most, low, gaps == 0};
}

/* Of lanes that take no part, the first one's. */
static void find_addresses(const Warp *warp, const Record *record, uint32_t lanes, uint32_t size,
                           Access *access, Extent *extent) {
    const void *base = warp_slot(warp, record->slot[1]);
    int leader = __builtin_ctz(lanes);
    if (record->options & OPTION_address32) {
        const LaneU32 *words = base;
        uint32_t offset = (uint32_t)record->immediate;
        add_offset_32(access->address, words, offset, words[leader] + offset, lanes);
    } else {
        const LaneU64 *longs = base;
        add_offset_64(access->address, longs, record->immediate, longs[leader] + record->immediate,
                      lanes);
    }
    measure(extent, access->address, size);
}

/* Views of global memory: blocks that were looked up before. */

static const View *view_of(Warp *warp, const Record *record, uint64_t least, uint64_t end) {
    Worker *worker = warp->worker;
    View *view = &worker->views[record->instruction % EMU_VIEWS];
    if (view->first <= least && end <= view->end) return view;
    EmuBlock block;
    const EmuMemory *memory = emu_device_memory(worker->launch->device);
    if (end < least || !emu_memory_find(memory, least, end - least, &block) || !block.live)
        return NULL;
    *view = (View){block.address, block.address + block.size, block.bytes, block.read_only};
    return view;
}

/* The window of a generic address. */
static PtxSpace space_of(uint64_t address) {
    switch (address >> 56) {
    case EMU_WINDOW_shared >> 56: return PTX_SPACE_shared;
    case EMU_WINDOW_local >> 56: return PTX_SPACE_local;
    case EMU_WINDOW_param >> 56: return PTX_SPACE_param;
    case 0: return PTX_SPACE_global;
    default: return PTX_SPACE_generic; /* nowhere */
    }
}

static uint64_t window_of(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_shared: return EMU_WINDOW_shared;
    case PTX_SPACE_local: return EMU_WINDOW_local;
    case PTX_SPACE_param: return EMU_WINDOW_param;
    default: return 0;
    }
}

typedef struct Range {
    uint64_t first, end;
    uint8_t *bytes; /* of `first` */
    bool read_only;
} Range;

/* The memory of a space that holds [least, end); first > end: none does. */
static Range range_of(Warp *warp, const Record *record, PtxSpace space, uint64_t least,
                      uint64_t end) {
    const Cta *cta = warp->cta;
    switch (space) {
    case PTX_SPACE_shared:
        return (Range){cta->shared_first, cta->shared_end, cta->shared + cta->shared_first, false};
    case PTX_SPACE_local: return (Range){0, warp->program->local_stride, warp->local, false};
    case PTX_SPACE_param:
        return (Range){0, warp->program->entry->parameter_bytes,
                       (uint8_t *)(uintptr_t)cta->launch->parameters, true};
    case PTX_SPACE_global:
    case PTX_SPACE_const: {
        const View *view = view_of(warp, record, least, end);
        if (view)
            return (Range){view->first, view->end, view->bytes,
                           view->read_only || space == PTX_SPACE_const};
        return (Range){1, 0, NULL, false};
    }
    case PTX_SPACE_generic: break;
    }
    return (Range){1, 0, NULL, false};
}

void access_tell(Warp *warp, const Record *record, uint32_t lanes, PtxSpace space, uint32_t size,
                 ObserveKind kind, const uint64_t *addresses) {
    if (warp->cta->launch->observer) count_access(warp, record, lanes, space, size, addresses);
    Observer *deep = warp->worker->deep;
    if (!deep) return;
    MemoryOp op = memory_op(record);
    ObserveAccess access = {.site = warp_site(warp, record, lanes),
                            .kind = (uint8_t)kind,
                            .order = op.order & 15,
                            .scope = op.order >> 4,
                            .space = space,
                            .size = size,
                            .addresses = addresses};
    uint32_t undefined = deep->access(warp->cta->observer, &access);
    if (kind != OBSERVE_store) warp->undefined |= undefined;
}

static bool resolve_together(Warp *warp, const Record *record, uint32_t lanes, uint32_t size,
                             ObserveKind kind, Extent extent, Access *out) {
    PtxSpace space = (PtxSpace)memory_op(record).space;
    if (space == PTX_SPACE_generic) {
        space = space_of(extent.least);
        if (space != space_of(extent.most)) return false;
        uint64_t window = window_of(space);
        for (int i = 0; window && i < EMU_LANES; i++) out->address[i] -= window;
        extent.least -= window, extent.most -= window;
    }
    uint64_t end = extent.most + size;
    Range range = range_of(warp, record, space, extent.least, end);
    if (extent.least < range.first || end > range.end || end < extent.most ||
        (range.read_only && kind != OBSERVE_load) || extent.low_bits & (size - 1))
        return false;
    out->base = (uintptr_t)range.bytes - range.first;
    out->stride = space == PTX_SPACE_local ? warp->program->local_stride : 0;
    out->consecutive = extent.consecutive && lanes == ~0u && !out->stride;
    access_tell(warp, record, lanes, space, size, kind, out->address);
    return true;
}

/* Lane by lane. */

/* What is wrong with an address in no memory. */
static EmuFindingKind why_not(Warp *warp, PtxSpace space, uint64_t address, uint32_t size) {
    EmuBlock block;
    const EmuMemory *memory = emu_device_memory(warp->cta->launch->device);
    if (space == PTX_SPACE_generic) return EMU_FINDING_wrong_space;
    if (space != PTX_SPACE_global && space != PTX_SPACE_const)
        return space_of(address) != PTX_SPACE_global ? EMU_FINDING_wrong_space
                                                     : EMU_FINDING_out_of_bounds;
    if (address >= EMU_WINDOWS) return EMU_FINDING_wrong_space;
    if (emu_memory_find(memory, address, size, &block) && !block.live)
        return EMU_FINDING_use_after_free;
    return address < 4096 ? EMU_FINDING_null_pointer : EMU_FINDING_out_of_bounds;
}

/* EMU_FINDING_count: the lane is fine. */
static EmuFindingKind resolve_lane(Warp *warp, const Record *record, int lane, uint32_t size,
                                   ObserveKind kind, uint64_t *address, PtxSpace *space,
                                   uint8_t **out_bytes) {
    uint64_t generic = *address;
    if (*space == PTX_SPACE_generic) {
        *space = space_of(generic);
        *address -= window_of(*space);
    }
    if (generic & (size - 1)) return EMU_FINDING_misaligned;
    uint64_t end = *address + size;
    Range range = range_of(warp, record, *space, *address, end);
    if (*address < range.first || end > range.end || end < *address)
        return why_not(warp, *space, *address, size);
    if (range.read_only && kind != OBSERVE_load) return EMU_FINDING_read_only;
    uint64_t stride = *space == PTX_SPACE_local ? warp->program->local_stride : 0;
    *out_bytes = range.bytes + (*address - range.first) + stride * (uint64_t)lane;
    return EMU_FINDING_count;
}

static Step tell_lane(Warp *warp, const Record *record, EmuFindingKind kind, int lane,
                      PtxSpace space, uint64_t address, uint32_t size) {
    uint64_t generic = address + window_of(space);
    warp_fault(warp, record, kind, 1u << lane, generic, size, NULL);
    return STEP_fault;
}

static bool resolve_apart(Warp *warp, const Record *record, uint32_t lanes, uint32_t size,
                          ObserveKind kind, Access *out, Step *out_step) {
    uint64_t addresses[EMU_LANES];
    uint32_t masks[PTX_SPACE_param + 1] = {0};
    for (int i = 0; i < EMU_LANES; i++) {
        PtxSpace space = (PtxSpace)memory_op(record).space;
        uint8_t *bytes = NULL;
        addresses[i] = out->address[i];
        if (!(lanes >> i & 1)) continue;
        EmuFindingKind wrong =
            resolve_lane(warp, record, i, size, kind, &addresses[i], &space, &bytes);
        if (wrong != EMU_FINDING_count) {
            *out_step = tell_lane(warp, record, wrong, i, space, addresses[i], size);
            return false;
        }
        out->address[i] = (uintptr_t)bytes;
        masks[space] |= 1u << i;
    }
    out->base = out->stride = 0;
    out->consecutive = false;
    for (int space = 0; space <= PTX_SPACE_param; space++)
        if (masks[space])
            access_tell(warp, record, masks[space], (PtxSpace)space, size, kind, addresses);
    return true;
}

bool access_resolve(Warp *warp, const Record *record, uint32_t lanes, uint32_t size,
                    ObserveKind kind, Access *out, Step *out_step) {
    Extent extent;
    find_addresses(warp, record, lanes, size, out, &extent);
    if (resolve_together(warp, record, lanes, size, kind, extent, out)) return true;
    find_addresses(warp, record, lanes, size, out, &extent);
    return resolve_apart(warp, record, lanes, size, kind, out, out_step);
}

uint8_t *access_pointer(Warp *warp, const Record *record, int lane, uint64_t generic,
                        uint32_t size) {
    PtxSpace space = space_of(generic);
    uint64_t address = generic - window_of(space), end = address + size;
    Range range = range_of(warp, record, space, address, end);
    if (address < range.first || end > range.end || end < address) return NULL;
    uint64_t stride = space == PTX_SPACE_local ? warp->program->local_stride : 0;
    return range.bytes + (address - range.first) + stride * (uint64_t)lane;
}

/* Decoding. */

static uint8_t order_of(const PtxModifiers *has) {
    ObserveOrder order = ptx_has(has, PTX_MOD_acq_rel)    ? OBSERVE_acq_rel
                         : ptx_has(has, PTX_MOD_acquire)  ? OBSERVE_acquire
                         : ptx_has(has, PTX_MOD_release)  ? OBSERVE_release
                         : ptx_has(has, PTX_MOD_relaxed)  ? OBSERVE_relaxed
                         : ptx_has(has, PTX_MOD_volatile) ? OBSERVE_relaxed
                                                          : OBSERVE_weak;
    ObserveScope scope = ptx_has(has, PTX_MOD_cta)       ? OBSERVE_cta
                         : ptx_has(has, PTX_MOD_cluster) ? OBSERVE_cluster
                         : ptx_has(has, PTX_MOD_sys)     ? OBSERVE_sys
                                                         : OBSERVE_gpu;
    return (uint8_t)(order | scope << 4);
}

bool access_prepare(Decoder *decoder, const PtxInstruction *instruction, uint32_t at,
                    Record *record) {
    const PtxOperand *operand = &instruction->operands[at];
    PtxType type = (PtxType)instruction->types[instruction->type_count - 1];
    union {
        uint32_t word;
        MemoryOp op;
    } both = {.op = {.space = instruction->space,
                     .element = (uint8_t)((ptx_type_bits(type) + 7) / 8),
                     .count = instruction->vector ? instruction->vector : 1,
                     .order = order_of(&instruction->modifiers)}};
    uint64_t offset;
    bool frame = operand->base == PTX_BASE_variable &&
                 layout_local(decoder->function, operand->variable, &offset);
    if (frame) both.op.space = PTX_SPACE_local;
    if (ptx_has(&instruction->modifiers, PTX_MOD_shared_cluster))
        return decoder_fail(decoder, "clusters cannot be executed");
    if (both.op.order & 15) record->options |= OPTION_strong;
    record->slot[5] = both.word;
    return decoder_address(decoder, operand, record, 1);
}
