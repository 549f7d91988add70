/* atom and red: read, change and write in one step, by the host's compare-and-swap. Lanes go one
 * after another, as the device may take them. */
#include "emulator/machine/access.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/floats.h"
#include "emulator/machine/lanes.h"

#include <math.h>

/* What becomes of a value; all in the low bits of a word. */
typedef uint64_t Update(uint64_t old, uint64_t b, uint64_t c);

#define UPDATE(name, T, expression)                                                                \
    static uint64_t name(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits) {                    \
        T x = (T)old_bits, y = (T)b_bits, z = (T)c_bits;                                           \
        (void)x, (void)y, (void)z;                                                                 \
        return (uint64_t)(expression);                                                             \
    }
UPDATE(update_and, uint64_t, x &y)
UPDATE(update_or, uint64_t, x | y)
UPDATE(update_xor, uint64_t, x ^ y)
UPDATE(update_exch, uint64_t, y)
UPDATE(update_cas_16, uint16_t, x == y ? z : x)
UPDATE(update_cas_32, uint32_t, x == y ? z : x)
UPDATE(update_cas_64, uint64_t, x == y ? z : x)
UPDATE(update_add, uint64_t, x + y)
UPDATE(update_inc, uint32_t, x >= y ? 0 : x + 1)
UPDATE(update_dec, uint32_t, x == 0 || x > y ? y : x - 1)
UPDATE(min_u32, uint32_t, x < y ? x : y)
UPDATE(max_u32, uint32_t, x > y ? x : y)
UPDATE(min_s32, int32_t, (uint32_t)(x < y ? x : y))
UPDATE(max_s32, int32_t, (uint32_t)(x > y ? x : y))
UPDATE(min_u64, uint64_t, x < y ? x : y)
UPDATE(max_u64, uint64_t, x > y ? x : y)
UPDATE(min_s64, int64_t, x < y ? x : y)
UPDATE(max_s64, int64_t, x > y ? x : y)

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    return emu_float_bits(emu_canonical(emu_float((uint32_t)old) + emu_float((uint32_t)b)));
}

/* Global memory adds f32 where there are no subnormals. */
static uint64_t add_f32_global(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    float x = emu_flush(emu_float((uint32_t)old)), y = emu_flush(emu_float((uint32_t)b));
    return emu_float_bits(emu_flush(emu_canonical(x + y)));
}

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    union {
        uint64_t bits;
        double value;
    } x = {.bits = old}, y = {.bits = b};
    x.value += y.value;
    return x.bits;
}

#define HALF_UPDATES(type)                                                                         \
    static uint16_t type##_sum(uint16_t x, uint16_t y) {                                           \
        return emu_f32_to_##type(emu_##type##_to_f32(x) + emu_##type##_to_f32(y));                 \
    }                                                                                              \
    static uint16_t type##_least(uint16_t x, uint16_t y) {                                         \
        float a = emu_##type##_to_f32(x), b = emu_##type##_to_f32(y);                              \
        return a != a ? y : b != b ? x : a < b || (a == b && signbit(a)) ? x : y;                  \
    }                                                                                              \
    static uint16_t type##_greatest(uint16_t x, uint16_t y) {                                      \
        float a = emu_##type##_to_f32(x), b = emu_##type##_to_f32(y);                              \
        return a != a ? y : b != b ? x : a > b || (a == b && signbit(b)) ? x : y;                  \
    }                                                                                              \
    HALF_UPDATE(add, type, type##_sum)                                                             \
    HALF_UPDATE(min, type, type##_least)                                                           \
    HALF_UPDATE(max, type, type##_greatest)
#define HALF_UPDATE(op, type, f)                                                                   \
    static uint64_t op##_##type(uint64_t x, uint64_t y, uint64_t c) {                              \
        (void)c;                                                                                   \
        return f((uint16_t)x, (uint16_t)y);                                                        \
    }                                                                                              \
    static uint64_t op##_##type##x2(uint64_t x, uint64_t y, uint64_t c) {                          \
        (void)c;                                                                                   \
        return (uint32_t)f((uint16_t)x, (uint16_t)y) |                                             \
               (uint32_t)f((uint16_t)(x >> 16), (uint16_t)(y >> 16)) << 16;                        \
    }
HALF_UPDATES(f16)
HALF_UPDATES(bf16)

/* Operations by modifier and type; the first row that fits, any type where none is named. */
static const struct {
    uint16_t modifier;
    uint8_t type; /* PTX_TYPE_none: any */
    Update *update;
} updates[] = {
    {PTX_MOD_and, PTX_TYPE_none, update_and},   {PTX_MOD_or, PTX_TYPE_none, update_or},
    {PTX_MOD_xor, PTX_TYPE_none, update_xor},   {PTX_MOD_exch, PTX_TYPE_none, update_exch},
    {PTX_MOD_cas, PTX_TYPE_b16, update_cas_16}, {PTX_MOD_cas, PTX_TYPE_b32, update_cas_32},
    {PTX_MOD_cas, PTX_TYPE_b64, update_cas_64}, {PTX_MOD_inc, PTX_TYPE_u32, update_inc},
    {PTX_MOD_dec, PTX_TYPE_u32, update_dec},    {PTX_MOD_add, PTX_TYPE_u32, update_add},
    {PTX_MOD_add, PTX_TYPE_s32, update_add},    {PTX_MOD_add, PTX_TYPE_u64, update_add},
    {PTX_MOD_add, PTX_TYPE_f32, add_f32},       {PTX_MOD_add, PTX_TYPE_f64, add_f64},
    {PTX_MOD_add, PTX_TYPE_f16, add_f16},       {PTX_MOD_add, PTX_TYPE_bf16, add_bf16},
    {PTX_MOD_add, PTX_TYPE_f16x2, add_f16x2},   {PTX_MOD_add, PTX_TYPE_bf16x2, add_bf16x2},
    {PTX_MOD_min, PTX_TYPE_u32, min_u32},       {PTX_MOD_min, PTX_TYPE_s32, min_s32},
    {PTX_MOD_min, PTX_TYPE_u64, min_u64},       {PTX_MOD_min, PTX_TYPE_s64, min_s64},
    {PTX_MOD_min, PTX_TYPE_f16, min_f16},       {PTX_MOD_min, PTX_TYPE_bf16, min_bf16},
    {PTX_MOD_min, PTX_TYPE_f16x2, min_f16x2},   {PTX_MOD_min, PTX_TYPE_bf16x2, min_bf16x2},
    {PTX_MOD_max, PTX_TYPE_u32, max_u32},       {PTX_MOD_max, PTX_TYPE_s32, max_s32},
    {PTX_MOD_max, PTX_TYPE_u64, max_u64},       {PTX_MOD_max, PTX_TYPE_s64, max_s64},
    {PTX_MOD_max, PTX_TYPE_f16, max_f16},       {PTX_MOD_max, PTX_TYPE_bf16, max_bf16},
    {PTX_MOD_max, PTX_TYPE_f16x2, max_f16x2},   {PTX_MOD_max, PTX_TYPE_bf16x2, max_bf16x2},
};

#define SWAP(T)                                                                                    \
    static T swap_##T(uint8_t *bytes, Update *update, uint64_t b, uint64_t c) {                    \
        T *at = (T *)(void *)bytes, old = __atomic_load_n(at, __ATOMIC_RELAXED), fresh;            \
        do fresh = (T)update(old, b, c);                                                           \
        while (!__atomic_compare_exchange_n(at, &old, fresh, true, __ATOMIC_SEQ_CST,               \
                                            __ATOMIC_RELAXED));                                    \
        return old;                                                                                \
    }
SWAP(uint16_t)
SWAP(uint32_t)
SWAP(uint64_t)

static uint64_t swap(uint8_t *bytes, uint32_t size, Update *update, uint64_t b, uint64_t c) {
    if (size == 2) return swap_uint16_t(bytes, update, b, c);
    if (size == 4) return swap_uint32_t(bytes, update, b, c);
    return swap_uint64_t(bytes, update, b, c);
}

static inline uint64_t lane_of(const void *slot, bool is_long, int i) {
    return is_long ? ((const LaneU64 *)slot)[i] : ((const LaneU32 *)slot)[i];
}

/* What an atomic record does; record->list points to it. */
typedef struct AtomicPlan {
    Update *update, *global_update; /* the other one in global memory */
    uint32_t targets[8], values[8], compare;
} AtomicPlan;

static const AtomicPlan *plan_of(const Record *record) {
    return (const AtomicPlan *)(const void *)record->list;
}

static Update *update_of(const Warp *warp, const AtomicPlan *plan, const uint8_t *bytes) {
    const Cta *cta = warp->cta;
    bool shared = bytes >= cta->shared + cta->shared_first && bytes < cta->shared + cta->shared_end;
    return shared ? plan->update : plan->global_update;
}

PLAIN_HANDLER(atom) {
    Access access;
    Step step;
    MemoryOp op = memory_op(record);
    const AtomicPlan *plan = plan_of(record);
    uint32_t size = op.element, total = size * op.count;
    if (!access_resolve(warp, record, lanes, total, OBSERVE_atomic, &access, &step)) return step;
    bool is_long = size == 8;
    const void *c = warp_slot(warp, plan->compare);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        Update *update = update_of(warp, plan, access_at(&access, i));
        for (uint32_t k = 0; k < op.count; k++) {
            uint64_t b = lane_of(warp_slot(warp, plan->values[k]), is_long, i);
            uint64_t old =
                swap(access_at(&access, i) + k * size, size, update, b, lane_of(c, is_long, i));
            void *d = warp_slot(warp, plan->targets[k]);
            if (is_long)
                ((LaneU64 *)d)[i] = old;
            else
                ((LaneU32 *)d)[i] = (uint32_t)old;
        }
    }
    return STEP_next;
}

/* 128 bits: exchange, or compare and swap (immediate of `compares`). */
__extension__ typedef unsigned __int128 Quad;

static Quad swap_quad(uint8_t *bytes, Quad value, Quad expected, bool compares) {
    Quad *at = (Quad *)(void *)bytes, old = 0, found;
    if (compares) return __sync_val_compare_and_swap(at, expected, value);
    while ((found = __sync_val_compare_and_swap(at, old, value)) != old) old = found;
    return old;
}

static Quad quad_lane(const void *slot, int i) {
    const LaneU64 *longs = slot;
    return (Quad)longs[EMU_LANES + i] << 64 | longs[i];
}

PLAIN_HANDLER(atom_quad) {
    Access access;
    Step step;
    const AtomicPlan *plan = plan_of(record);
    if (!access_resolve(warp, record, lanes, 16, OBSERVE_atomic, &access, &step)) return step;
    bool compares = plan->update != NULL;
    LaneU64 *d = warp_slot(warp, plan->targets[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        Quad b = quad_lane(warp_slot(warp, plan->values[0]), i);
        Quad c = compares ? quad_lane(warp_slot(warp, plan->compare), i) : 0;
        Quad old = swap_quad(access_at(&access, i), compares ? c : b, b, compares);
        d[i] = (uint64_t)old;
        d[EMU_LANES + i] = (uint64_t)(old >> 64);
    }
    return STEP_next;
}

static Update *find_update(const PtxInstruction *instruction, PtxType type) {
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
        if (ptx_has(&instruction->modifiers, (PtxModifier)updates[i].modifier) &&
            (updates[i].type == PTX_TYPE_none || updates[i].type == type))
            return updates[i].update;
    return NULL;
}

static const PtxOperand *part_of(const PtxOperand *operand, uint32_t k) {
    return operand->kind == PTX_OPERAND_vector ? &operand->parts[k] : operand;
}

/* atom d, [a], b, c and red [a], b; a cache hint at the end is not looked at. */
static bool take_values(Decoder *decoder, const PtxInstruction *instruction, AtomicPlan *plan,
                        Width width, PtxType type, uint32_t count) {
    static const PtxOperand sink = {.kind = PTX_OPERAND_sink};
    uint32_t at = instruction->row == PTX_atom ? 1 : 0;
    const PtxOperand *target = at ? &instruction->operands[0] : &sink;
    for (uint32_t k = 0; k < count; k++) {
        plan->targets[k] = decoder_target(decoder, part_of(target, k), width, type);
        plan->values[k] =
            decoder_source(decoder, part_of(&instruction->operands[at + 1], k), width);
    }
    plan->compare = plan->values[0];
    if (ptx_has(&instruction->modifiers, PTX_MOD_cas))
        plan->compare = decoder_source(decoder, &instruction->operands[at + 2], width);
    return !decoder->failed;
}

static bool prepare_atom(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    AtomicPlan *plan = NEW(decoder->arena, AtomicPlan);
    if (!access_prepare(decoder, instruction, instruction->row == PTX_atom ? 1 : 0, record))
        return false;
    uint32_t count = memory_op(record).count;
    plan->update = plan->global_update = find_update(instruction, type);
    if (plan->update == add_f32) plan->global_update = add_f32_global;
    record->list = (const uint32_t *)(const void *)plan;
    record->run = type == PTX_TYPE_b128 ? atom_quad : atom;
    if (type == PTX_TYPE_b128 && !ptx_has(&instruction->modifiers, PTX_MOD_cas))
        plan->update = NULL; /* an exchange */
    else if (type == PTX_TYPE_b128)
        plan->update = update_cas_64;
    else if (!plan->update || count > 8)
        return decoder_fail(decoder, "this atomic operation cannot be executed");
    return take_values(decoder, instruction, plan, decoder_width(type), type, count);
}

static const Form emu_forms_atomic_forms[] = {
    {.row = PTX_atom, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_atom},
    {.row = PTX_red, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_atom},
};
FORM_TABLE(emu_forms_atomic);
