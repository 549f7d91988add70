/* cp.async, its groups, and its arrivals at mbarriers. Groups are counted by every lane for itself,
 * since lanes may part between copies. */
#include "emulator/machine/access.h"
#include "emulator/machine/async.h"
#include "emulator/machine/count.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

#include <string.h>

enum { POISON = 0xff }; /* a NaN in every float type */

AsyncBlock *async_block(Cta *cta) {
    if (cta->async) return cta->async;
    Arena *arena = arena_new(NULL);
    AsyncBlock *block = NEW(arena, AsyncBlock);
    block->arena = arena;
    block->warps = NEW_ARRAY(arena, AsyncWarp, cta->warp_count);
    cta->async = block;
    return block;
}

void async_block_end(Cta *cta) {
    AsyncBlock *block = cta->async;
    if (block) arena_free(block->arena);
    cta->async = NULL;
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static void copy_bytes(const AsyncCopy *copy, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        memcpy(copy->to[lane], copy->from[lane], copy->from_size[lane]);
        memset(copy->to[lane] + copy->from_size[lane], 0, copy->size - copy->from_size[lane]);
    }
}

static void end_copy(Warp *warp, AsyncCopy *copy, const ObserveSite *site, uint32_t lanes,
                     bool awaited) {
    Observer *deep = warp->worker->deep;
    lanes &= copy->lanes;
    if (!lanes) return;
    if (!copy->done) copy_bytes(copy, lanes);
    copy->lanes &= ~lanes;
    if (deep) deep->copy_end(warp->cta->observer, site, copy->number, lanes, awaited);
}

static void drop_ended(AsyncWarp *async) {
    size_t kept = 0;
    for (size_t i = 0; i < async->copies.count; i++)
        if (async->copies.data[i].lanes) async->copies.data[kept++] = async->copies.data[i];
    async->copies.count = kept;
}

void async_finish(Warp *warp, const ObserveSite *site, uint32_t lanes, uint32_t sequence,
                  bool awaited) {
    AsyncWarp *async = &async_block(warp->cta)->warps[warp->index];
    for (size_t i = 0; i < async->copies.count; i++)
        if (async->copies.data[i].sequence < sequence)
            end_copy(warp, &async->copies.data[i], site, lanes, awaited);
    drop_ended(async);
}

uint32_t async_under_way(const AsyncWarp *async, uint32_t lanes, uint32_t sequence) {
    uint32_t found = 0;
    for (size_t i = 0; i < async->copies.count; i++)
        if (async->copies.data[i].sequence < sequence) found |= async->copies.data[i].lanes & lanes;
    return found;
}

Step async_exit(Warp *warp, const ObserveSite *site, uint32_t lanes) {
    if (!warp->cta->async) return STEP_next;
    async_finish(warp, site, lanes, UINT32_MAX, false);
    return async_settle(warp->cta);
}

/* Arrivals of lanes that have nothing under way any more. */
Step async_settle(Cta *cta) {
    AsyncBlock *block = async_block(cta);
    Step step = STEP_next;
    size_t kept = 0;
    for (size_t i = 0; i < block->arrivals.count; i++) {
        AsyncArrival arrival = block->arrivals.data[i];
        uint32_t rest =
            async_under_way(&block->warps[arrival.warp], arrival.lanes, arrival.sequence);
        for (uint32_t ready = arrival.lanes & ~rest; ready && step == STEP_next; ready &= ready - 1)
            step = mbarrier_arrive_copied(cta, &arrival, (uint32_t)__builtin_ctz(ready));
        arrival.lanes = rest;
        if (rest) block->arrivals.data[kept++] = arrival;
    }
    block->arrivals.count = kept;
    return step;
}

/* ---- cp.async: slots 1 destination, 2 bytes of the source or 3 the predicate that ignores it - */

/* The list of a record: the source's address and offset, and facts. */
enum {
    LIST_SOURCE,
    LIST_OFFSET_LOW,
    LIST_OFFSET_HIGH,
    LIST_OPTIONS,
    LIST_SIZE,
    LIST_LIMIT,
    LIST_COUNT
};
enum { LIMIT_none, LIMIT_bytes, LIMIT_ignore };

static bool find_sizes(Warp *warp, const Record *record, uint32_t lanes, AsyncCopy *copy,
                       Step *out_step) {
    const uint32_t *list = record->list;
    const LaneU32 *bytes = warp_slot(warp, record->slot[2]);
    uint32_t ignored = list[LIST_LIMIT] == LIMIT_ignore ? warp_predicate(warp, record->slot[3]) : 0;
    if (record->options & OPTION_invert_c) ignored = ~ignored;
    if (list[LIST_LIMIT] != LIMIT_ignore) ignored = 0;
    copy->size = list[LIST_SIZE];
    for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
        if (!(lanes >> lane & 1)) continue;
        uint32_t size = list[LIST_LIMIT] == LIMIT_bytes ? bytes[lane] : copy->size;
        copy->from_size[lane] = ignored >> lane & 1 ? 0 : size;
        if (size <= copy->size) continue;
        *out_step = warp_fatal(warp, record, EMU_FINDING_copy_size, 1u << lane, 0, 0, NULL);
        return false;
    }
    return true;
}

/* Lanes that read all bytes together, the others one by one: they may end inside an element. */
static bool find_sources(Warp *warp, const Record *record, uint32_t lanes, AsyncCopy *copy,
                         uint64_t *out_addresses, Step *out_step) {
    const uint32_t *list = record->list;
    Record source = *record;
    source.slot[1] = list[LIST_SOURCE];
    source.immediate = (uint64_t)list[LIST_OFFSET_HIGH] << 32 | list[LIST_OFFSET_LOW];
    source.options = (uint16_t)list[LIST_OPTIONS];
    source.slot[5] = record->slot[4];
    const void *base = warp_slot(warp, source.slot[1]);
    uint32_t whole = 0;
    for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
        bool narrow = source.options & OPTION_address32;
        uint64_t start = narrow ? ((const LaneU32 *)base)[lane] : ((const LaneU64 *)base)[lane];
        out_addresses[lane] = start + source.immediate;
        copy->from[lane] = copy->to[lane]; /* of nothing */
        if ((lanes >> lane & 1) && copy->from_size[lane] == copy->size) whole |= 1u << lane;
    }
    Access access;
    if (whole && !access_resolve(warp, &source, whole, copy->size, OBSERVE_load, &access, out_step))
        return false;
    for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
        uint32_t size = copy->from_size[lane];
        if (!(lanes >> lane & 1) || size == 0) continue;
        copy->from[lane] = whole >> lane & 1
                               ? access_at(&access, lane)
                               : access_pointer(warp, record, (int)lane, out_addresses[lane], size);
        EmuFindingKind wrong =
            !copy->from[lane] ? EMU_FINDING_out_of_bounds : EMU_FINDING_misaligned;
        if (copy->from[lane] && out_addresses[lane] % copy->size == 0) continue;
        *out_step = warp_fatal(warp, record, wrong, 1u << lane, out_addresses[lane], size, NULL);
        return false;
    }
    return true;
}

static bool find_targets(Warp *warp, const Record *record, uint32_t lanes, AsyncCopy *copy,
                         uint64_t *out_offsets, Step *out_step) {
    for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
        uint32_t offset;
        out_offsets[lane] = 0;
        if (!(lanes >> lane & 1)) continue;
        if (!async_shared_address(warp, record, lane, copy->size, &offset, out_step)) return false;
        out_offsets[lane] = offset;
        copy->to[lane] = warp->cta->shared + offset;
    }
    return true;
}

static uint64_t random_next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool at_once(const Warp *warp) {
    EmuCompletion completion = warp->cta->launch->options.completion;
    if (completion == EMU_COMPLETION_random) return random_next(&warp->worker->random) & 1;
    return completion == EMU_COMPLETION_eager;
}

/* Lanes that fill groups of different numbers are kept apart. */
static void issue(Warp *warp, AsyncWarp *async, AsyncCopy *copy, uint32_t lanes) {
    Arena *arena = async_block(warp->cta)->arena;
    while (lanes) {
        AsyncCopy part = *copy;
        part.group = async->groups[__builtin_ctz(lanes)];
        part.lanes = 0;
        for (uint32_t lane = 0; lane < EMU_LANES; lane++)
            if ((lanes >> lane & 1) && async->groups[lane] == part.group) part.lanes |= 1u << lane;
        lanes &= ~part.lanes;
        part.sequence = async->sequence++;
        vec_push(arena, &async->copies, part);
    }
}

static uint32_t tell(Warp *warp, const AsyncCopy *copy, uint32_t lanes, const uint64_t *to,
                     const uint64_t *from) {
    Observer *deep = warp->worker->deep;
    if (warp->cta->launch->observer)
        count_access(warp, NULL, lanes, PTX_SPACE_shared, copy->size, to);
    if (!deep) return 0;
    ObserveCopy event = {copy->site, copy->size, to, from, copy->from_size};
    return deep->copy_begin(warp->cta->observer, &event);
}

PLAIN_HANDLER(copy_async) {
    Step step;
    AsyncCopy copy = {.site = warp_site(warp, record, lanes)};
    uint64_t to[EMU_LANES], from[EMU_LANES];
    AsyncWarp *async = &async_block(warp->cta)->warps[warp->index];
    if (!find_sizes(warp, record, lanes, &copy, &step)) return step;
    if (!find_targets(warp, record, lanes, &copy, to, &step)) return step;
    if (!find_sources(warp, record, lanes, &copy, from, &step)) return step;
    copy.number = tell(warp, &copy, lanes, to, from);
    copy.done = at_once(warp);
    if (copy.done) copy_bytes(&copy, lanes);
    for (uint32_t rest = copy.done ? 0 : lanes; rest; rest &= rest - 1)
        memset(copy.to[__builtin_ctz(rest)], POISON, copy.size);
    issue(warp, async, &copy, lanes);
    return STEP_next;
}

PLAIN_HANDLER(commit_group) {
    (void)record;
    AsyncWarp *async = &async_block(warp->cta)->warps[warp->index];
    for (int lane = 0; lane < EMU_LANES; lane++) async->groups[lane] += lanes >> lane & 1;
    return STEP_next;
}

/* Of the groups that a lane has committed only the newest `immediate` may still be under way. */
PLAIN_HANDLER(wait_group) {
    AsyncWarp *async = &async_block(warp->cta)->warps[warp->index];
    ObserveSite site = warp_site(warp, record, lanes);
    for (size_t i = 0; i < async->copies.count; i++) {
        AsyncCopy *copy = &async->copies.data[i];
        uint32_t old = 0;
        for (int lane = 0; lane < EMU_LANES; lane++)
            if ((uint64_t)copy->group + record->immediate < async->groups[lane]) old |= 1u << lane;
        end_copy(warp, copy, &site, old & lanes, true);
    }
    drop_ended(async);
    return async_settle(warp->cta);
}

PLAIN_HANDLER(wait_all) {
    ObserveSite site = warp_site(warp, record, lanes);
    async_finish(warp, &site, lanes, UINT32_MAX, true);
    return async_settle(warp->cta);
}

/* ---- decoding -------------------------------------------------------------------------------- */

static uint32_t op_word(PtxSpace space, uint32_t size) {
    union {
        uint32_t word;
        MemoryOp op;
    } both = {.op = {.space = (uint8_t)space, .element = (uint8_t)size, .count = 1}};
    return both.word;
}

static void take_limit(Decoder *decoder, const PtxInstruction *instruction, Record *record,
                       uint32_t *list) {
    bool policy = ptx_has(&instruction->modifiers, PTX_MOD_L2_cache_hint);
    const PtxOperand *limit = &instruction->operands[3];
    list[LIST_LIMIT] = LIMIT_none;
    record->slot[2] = decoder_constant(decoder, WIDTH_word, 0);
    if (instruction->operand_count < (policy ? 5 : 4)) return;
    const PtxFunction *function = decoder->function->function;
    bool predicate = limit->kind == PTX_OPERAND_register &&
                     function->registers[limit->index].type == PTX_TYPE_pred;
    list[LIST_LIMIT] = predicate ? LIMIT_ignore : LIMIT_bytes;
    record->slot[predicate ? 3 : 2] =
        decoder_source(decoder, limit, predicate ? WIDTH_predicate : WIDTH_word);
    if (predicate && limit->negated) record->options |= OPTION_invert_c;
}

static bool prepare_copy(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    uint32_t *list = decoder_list(decoder, LIST_COUNT);
    uint64_t size = instruction->operands[2].bits;
    Record source = {.options = 0};
    if ((size != 4 && size != 8 && size != 16) ||
        (ptx_has(&instruction->modifiers, PTX_MOD_cg) && size != 16))
        return decoder_fail(decoder, "an asynchronous copy has 4, 8 or 16 bytes, with .cg 16");
    if (!decoder_address(decoder, &instruction->operands[0], record, 1)) return false;
    if (!decoder_address(decoder, &instruction->operands[1], &source, 1)) return false;
    list[LIST_SOURCE] = source.slot[1];
    list[LIST_OFFSET_LOW] = (uint32_t)source.immediate;
    list[LIST_OFFSET_HIGH] = (uint32_t)(source.immediate >> 32);
    list[LIST_OPTIONS] = source.options;
    list[LIST_SIZE] = (uint32_t)size;
    take_limit(decoder, instruction, record, list);
    record->slot[4] = op_word(PTX_SPACE_global, (uint32_t)size);
    record->slot[5] = op_word(PTX_SPACE_shared, (uint32_t)size);
    record->list = list;
    return !decoder->failed;
}

static const Form emu_forms_async_forms[] = {
    {.row = PTX_cp_async,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .run = copy_async,
     .prepare = prepare_copy},
    {.row = PTX_cp_async_commit_group, .operands = "", .run = commit_group},
    {.row = PTX_cp_async_wait_group, .operands = "i", .run = wait_group},
    {.row = PTX_cp_async_wait_all, .operands = "", .run = wait_all},
};
FORM_TABLE(emu_forms_async);
