/* What moves between the lanes of a warp: shfl, match, redux, elect. All first wait for the
 * lanes of their mask. */
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/sync.h"

/* shfl: slots d, p, a, b, c, mask; immediate: the mode. The segment of a lane and the lanes that it
 * may read follow from c. */
typedef enum ShuffleMode { SHUFFLE_up, SHUFFLE_down, SHUFFLE_bfly, SHUFFLE_idx } ShuffleMode;

static bool shuffle_source(ShuffleMode mode, uint32_t lane, uint32_t b, uint32_t c,
                           uint32_t *out_source) {
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    b &= 31;
    switch (mode) {
    case SHUFFLE_up: *out_source = lane - b; return (int32_t)(lane - b) >= (int32_t)most;
    case SHUFFLE_down: *out_source = lane + b; return lane + b <= most;
    case SHUFFLE_bfly: *out_source = lane ^ b; return (lane ^ b) <= most;
    case SHUFFLE_idx: *out_source = least | (b & ~segment); return *out_source <= most;
    }
    return false;
}

static Step shuffle_lanes(Warp *warp, const Record *record, uint32_t lanes) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *a = warp_slot(warp, record->slot[2]), *b = warp_slot(warp, record->slot[3]);
    const LaneU32 *c = warp_slot(warp, record->slot[4]);
    uint32_t values[EMU_LANES], good = 0, idle = 0;
    for (uint32_t i = 0; i < EMU_LANES; i++) {
        uint32_t from;
        values[i] = a[i];
        if (!(lanes >> i & 1)) continue;
        if (!shuffle_source((ShuffleMode)record->immediate, i, b[i], c[i], &from)) continue;
        good |= 1u << i;
        values[i] = a[from];
        if (!(lanes >> from & 1)) idle |= 1u << i;
    }
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = values[i];
    warp_predicate_set(warp, record->slot[1], lanes, good);
    if (idle && warp->cta->launch->observer)
        return warp_fault(warp, record, EMU_FINDING_inactive_lane, idle, 0, 0, NULL);
    return STEP_next;
}

PLAIN_HANDLER(shfl_sync) {
    Step step;
    if (!sync_lanes(warp, record, &lanes, 5, &step)) return step;
    return shuffle_lanes(warp, record, lanes);
}

/* Without .sync (old targets): of the lanes that happen to be here. */
PLAIN_HANDLER(shfl) { return shuffle_lanes(warp, record, lanes); }

static bool prepare_shfl(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    static const PtxOperand sink = {.kind = PTX_OPERAND_sink};
    const PtxModifiers *has = &instruction->modifiers;
    const PtxOperand *operands = instruction->operands;
    bool pair = operands[0].kind == PTX_OPERAND_pair, sync = ptx_has(has, PTX_MOD_sync);
    record->slot[0] = decoder_target(decoder, pair ? &operands[0].parts[0] : &operands[0],
                                     WIDTH_word, PTX_TYPE_b32);
    record->slot[1] = decoder_target(decoder, pair ? &operands[0].parts[1] : &sink, WIDTH_predicate,
                                     PTX_TYPE_pred);
    for (int i = 1; i < (sync ? 5 : 4); i++)
        record->slot[i + 1] = decoder_source(decoder, &operands[i], WIDTH_word);
    record->immediate = ptx_has(has, PTX_MOD_up)     ? SHUFFLE_up
                        : ptx_has(has, PTX_MOD_down) ? SHUFFLE_down
                        : ptx_has(has, PTX_MOD_bfly) ? SHUFFLE_bfly
                                                     : SHUFFLE_idx;
    record->run = sync ? shfl_sync : shfl;
    return !decoder->failed;
}

/* match: slots d, p, a, mask. immediate: 1 all, 2 of 64 bits. */
PLAIN_HANDLER(match) {
    Step step;
    if (!sync_lanes(warp, record, &lanes, 3, &step)) return step;
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const void *a = warp_slot(warp, record->slot[2]);
    bool is_long = record->immediate & 2;
    uint32_t equal[EMU_LANES], same = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t mine = is_long ? ((const LaneU64 *)a)[i] : ((const LaneU32 *)a)[i];
        equal[i] = 0;
        for (int k = 0; k < EMU_LANES; k++) {
            uint64_t other = is_long ? ((const LaneU64 *)a)[k] : ((const LaneU32 *)a)[k];
            if ((lanes >> k & 1) && other == mine) equal[i] |= 1u << k;
        }
        if ((lanes >> i & 1) && equal[i] == lanes) same |= 1u << i;
    }
    bool all = record->immediate & 1;
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = all ? (same >> i & 1 ? lanes : 0) : equal[i];
    warp_predicate_set(warp, record->slot[1], lanes, same);
    return STEP_next;
}

static bool prepare_match(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    static const PtxOperand sink = {.kind = PTX_OPERAND_sink};
    const PtxOperand *operands = instruction->operands;
    bool pair = operands[0].kind == PTX_OPERAND_pair;
    bool is_long = instruction->types[0] == PTX_TYPE_b64;
    record->slot[0] = decoder_target(decoder, pair ? &operands[0].parts[0] : &operands[0],
                                     WIDTH_word, PTX_TYPE_b32);
    record->slot[1] = decoder_target(decoder, pair ? &operands[0].parts[1] : &sink, WIDTH_predicate,
                                     PTX_TYPE_pred);
    record->slot[2] = decoder_source(decoder, &operands[1], is_long ? WIDTH_long : WIDTH_word);
    record->slot[3] = decoder_source(decoder, &operands[2], WIDTH_word);
    record->immediate = (ptx_has(&instruction->modifiers, PTX_MOD_all) ? 1 : 0) | (is_long ? 2 : 0);
    record->run = match;
    return !decoder->failed;
}

/* redux: slots d, a, mask. */
#define REDUX(name, T, expression)                                                                 \
    PLAIN_HANDLER(redux_##name) {                                                                  \
        Step step;                                                                                 \
        if (!sync_lanes(warp, record, &lanes, 2, &step)) return step;                              \
        LaneU32 *d = warp_slot(warp, record->slot[0]);                                             \
        const LaneU32 *a = warp_slot(warp, record->slot[1]);                                       \
        T x = (T)a[__builtin_ctz(lanes)];                                                          \
        for (int i = __builtin_ctz(lanes) + 1; i < EMU_LANES; i++) {                               \
            T y = (T)a[i];                                                                         \
            if (lanes >> i & 1) x = (T)(expression);                                               \
        }                                                                                          \
        for (int i = 0; i < EMU_LANES; i++)                                                        \
            if (lanes >> i & 1) d[i] = (uint32_t)x;                                                \
        return STEP_next;                                                                          \
    }
REDUX(add, uint32_t, x + y)
REDUX(and, uint32_t, x &y)
REDUX(or, uint32_t, x | y)
REDUX(xor, uint32_t, x ^ y)
REDUX(min_u32, uint32_t, x < y ? x : y)
REDUX(max_u32, uint32_t, x > y ? x : y)
REDUX(min_s32, int32_t, x < y ? x : y)
REDUX(max_s32, int32_t, x > y ? x : y)

/* elect d|p, mask: the lowest lane of the mask; in adversarial order the highest, which is as
 * good. */
PLAIN_HANDLER(elect) {
    Step step;
    if (!sync_lanes(warp, record, &lanes, 2, &step)) return step;
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    bool last = warp->cta->launch->options.order == EMU_ORDER_adversarial;
    uint32_t leader = (uint32_t)(last ? 31 - __builtin_clz(lanes) : __builtin_ctz(lanes));
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = leader;
    warp_predicate_set(warp, record->slot[1], lanes, 1u << leader);
    return STEP_next;
}

static const Form emu_forms_shuffle_forms[] = {
    {.row = PTX_shfl, T(b32), .accepts = ACCEPT_any, .prepare = prepare_shfl},
    {.row = PTX_match, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_match},
    FORM(redux, "Www", redux_add, T(u32), M(add)),
    FORM(redux, "Www", redux_add, T(s32), M(add)),
    FORM(redux, "Www", redux_min_u32, T(u32), M(min)),
    FORM(redux, "Www", redux_max_u32, T(u32), M(max)),
    FORM(redux, "Www", redux_min_s32, T(s32), M(min)),
    FORM(redux, "Www", redux_max_s32, T(s32), M(max)),
    FORM(redux, "Www", redux_and, T(b32), M(and)),
    FORM(redux, "Www", redux_or, T(b32), M(or)),
    FORM(redux, "Www", redux_xor, T(b32), M(xor)),
    FORM(elect, "WPw", elect, ),
};
FORM_TABLE(emu_forms_shuffle);
