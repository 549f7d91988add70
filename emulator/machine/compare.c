/* Comparing and choosing. A comparison of two registers gives a mask of lanes; setp and set make
 * what the program wants of it. */
#include "emulator/machine/floats.h"
#include "emulator/machine/lanes.h"

/* The lanes in which `a` and `b` compare so; all 32 are compared. */
typedef uint32_t Compare(const void *a, const void *b);

typedef enum Relation {
    RELATION_eq,
    RELATION_ne,
    RELATION_lt,
    RELATION_le,
    RELATION_gt,
    RELATION_ge,
    RELATION_equ,
    RELATION_neu,
    RELATION_ltu,
    RELATION_leu,
    RELATION_gtu,
    RELATION_geu,
    RELATION_num,
    RELATION_nan,
    RELATION_count
} Relation;

static const uint32_t lane_bit[EMU_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

#define COMPARE(name, stored, V, convert, expression)                                              \
    EMU_VECTOR static uint32_t name(const void *left, const void *right) {                         \
        const stored *a = left, *b = right;                                                        \
        uint32_t found = 0;                                                                        \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            V x = convert(a[i]), y = convert(b[i]);                                                \
            found |= (expression) ? lane_bit[i] : 0;                                               \
        }                                                                                          \
        return found;                                                                              \
    }

/* Six relations of any type, and of floats also those that are true of NaNs. */
#define ORDERED(type, stored, V, convert)                                                          \
    COMPARE(eq_##type, stored, V, convert, x == y)                                                 \
    COMPARE(lt_##type, stored, V, convert, x < y)                                                  \
    COMPARE(le_##type, stored, V, convert, x <= y)                                                 \
    COMPARE(gt_##type, stored, V, convert, x > y)                                                  \
    COMPARE(ge_##type, stored, V, convert, x >= y)
#define INTEGERS(type, stored, V)                                                                  \
    ORDERED(type, stored, V, (V))                                                                  \
    COMPARE(ne_##type, stored, V, (V), x != y)                                                     \
    static Compare *const compare_##type[RELATION_count] = {eq_##type, ne_##type, lt_##type,       \
                                                            le_##type, gt_##type, ge_##type};
#define FLOATS(type, stored, V, convert)                                                           \
    ORDERED(type, stored, V, convert)                                                              \
    COMPARE(ne_##type, stored, V, convert, x<y || x> y)                                            \
    COMPARE(equ_##type, stored, V, convert, !(x < y || x > y))                                     \
    COMPARE(neu_##type, stored, V, convert, x != y)                                                \
    COMPARE(ltu_##type, stored, V, convert, !(x >= y))                                             \
    COMPARE(leu_##type, stored, V, convert, !(x > y))                                              \
    COMPARE(gtu_##type, stored, V, convert, !(x <= y))                                             \
    COMPARE(geu_##type, stored, V, convert, !(x < y))                                              \
    COMPARE(num_##type, stored, V, convert, x == x && y == y)                                      \
    COMPARE(nan_##type, stored, V, convert, x != x || y != y)                                      \
    static Compare *const compare_##type[RELATION_count] = {                                       \
        eq_##type,  ne_##type,  lt_##type,  le_##type,  gt_##type,  ge_##type,  equ_##type,        \
        neu_##type, ltu_##type, leu_##type, gtu_##type, geu_##type, num_##type, nan_##type};

static inline float flush_f32(float x) { return emu_flush(x); }
static inline float from_f16(uint32_t x) { return emu_f16_to_f32((uint16_t)x); }
static inline float from_f16_flushed(uint32_t x) {
    return emu_f16_to_f32((uint16_t)(x & 0x7c00 ? x : x & 0x8000));
}
static inline float from_bf16(uint32_t x) { return emu_bf16_to_f32((uint16_t)x); }

INTEGERS(u16, LaneU32, uint16_t)
INTEGERS(s16, LaneU32, int16_t)
INTEGERS(u32, LaneU32, uint32_t)
INTEGERS(s32, LaneU32, int32_t)
INTEGERS(u64, LaneU64, uint64_t)
INTEGERS(s64, LaneU64, int64_t)
FLOATS(f32, LaneF32, float, )
FLOATS(f32_ftz, LaneF32, float, flush_f32)
FLOATS(f64, LaneF64, double, )
FLOATS(f16, LaneU32, float, from_f16)
FLOATS(f16_ftz, LaneU32, float, from_f16_flushed)
FLOATS(bf16, LaneU32, float, from_bf16)

static Compare *const *const compares[PTX_TYPE_count][2] = {
    [PTX_TYPE_u16] = {compare_u16},     [PTX_TYPE_b16] = {compare_u16},
    [PTX_TYPE_s16] = {compare_s16},     [PTX_TYPE_u32] = {compare_u32},
    [PTX_TYPE_b32] = {compare_u32},     [PTX_TYPE_s32] = {compare_s32},
    [PTX_TYPE_u64] = {compare_u64},     [PTX_TYPE_b64] = {compare_u64},
    [PTX_TYPE_s64] = {compare_s64},     [PTX_TYPE_f32] = {compare_f32, compare_f32_ftz},
    [PTX_TYPE_f64] = {compare_f64},     [PTX_TYPE_f16] = {compare_f16, compare_f16_ftz},
    [PTX_TYPE_bf16] = {compare_bf16},   [PTX_TYPE_f16x2] = {compare_f16, compare_f16_ftz},
    [PTX_TYPE_bf16x2] = {compare_bf16},
};

/* Modifiers by relation; those of unsigned integers name the same relations. */
static const struct {
    uint16_t modifier;
    uint8_t relation;
} relations[] = {
    {PTX_MOD_eq, RELATION_eq},   {PTX_MOD_ne, RELATION_ne},   {PTX_MOD_lt, RELATION_lt},
    {PTX_MOD_le, RELATION_le},   {PTX_MOD_gt, RELATION_gt},   {PTX_MOD_ge, RELATION_ge},
    {PTX_MOD_lo, RELATION_lt},   {PTX_MOD_ls, RELATION_le},   {PTX_MOD_hi, RELATION_gt},
    {PTX_MOD_hs, RELATION_ge},   {PTX_MOD_equ, RELATION_equ}, {PTX_MOD_neu, RELATION_neu},
    {PTX_MOD_ltu, RELATION_ltu}, {PTX_MOD_leu, RELATION_leu}, {PTX_MOD_gtu, RELATION_gtu},
    {PTX_MOD_geu, RELATION_geu}, {PTX_MOD_num, RELATION_num}, {PTX_MOD_nan, RELATION_nan},
};

/* Where the records of this file keep the rest: bits 0..1 how to join with c (0: c does not
 * count), and the comparison in immediate. */
enum { JOIN_none, JOIN_and, JOIN_or, JOIN_xor };
#define JOIN(options) ((options)&3)

static Compare *record_compare(const Record *record) {
    return (Compare *)(uintptr_t)record->immediate;
}

static uint32_t join(const Warp *warp, const Record *record, uint32_t found) {
    uint32_t c = warp_predicate(warp, record->slot[4]);
    if (record->options & OPTION_invert_c) c = ~c;
    switch (JOIN(record->options)) {
    case JOIN_and: return found & c;
    case JOIN_or: return found | c;
    case JOIN_xor: return found ^ c;
    default: return found;
    }
}

/* setp p|q, a, b, c: q is of the opposite. */
PLAIN_HANDLER(setp) {
    uint32_t found =
        record_compare(record)(warp_slot(warp, record->slot[2]), warp_slot(warp, record->slot[3]));
    uint32_t p = join(warp, record, found), q = join(warp, record, ~found);
    warp_predicate_set(warp, record->slot[0], lanes, p);
    warp_predicate_set(warp, record->slot[1], lanes, q);
    return STEP_next;
}

/* The most frequent form: one result, nothing joined. */
PLAIN_HANDLER(setp_alone) {
    uint32_t found =
        record_compare(record)(warp_slot(warp, record->slot[2]), warp_slot(warp, record->slot[3]));
    warp_predicate_set(warp, record->slot[0], lanes, found);
    return STEP_next;
}

/* The lanes in which the upper halves compare so. */
static uint32_t compare_upper(const Warp *warp, const Record *record) {
    const LaneU32 *a = warp_slot(warp, record->slot[2]), *b = warp_slot(warp, record->slot[3]);
    uint32_t x[EMU_LANES], y[EMU_LANES];
    for (int i = 0; i < EMU_LANES; i++) x[i] = a[i] >> 16, y[i] = b[i] >> 16;
    return record_compare(record)(x, y);
}

/* Of pairs of halves, p is of the lower ones and q of the upper ones. */
PLAIN_HANDLER(setp_pair) {
    uint32_t low =
        record_compare(record)(warp_slot(warp, record->slot[2]), warp_slot(warp, record->slot[3]));
    uint32_t p = join(warp, record, low), q = join(warp, record, compare_upper(warp, record));
    warp_predicate_set(warp, record->slot[0], lanes, p);
    warp_predicate_set(warp, record->slot[1], lanes, q);
    return STEP_next;
}

/* set d, a, b, c. Slot 1 holds the value of true; of pairs it is put into each half. */
static void set_lanes(Warp *warp, const Record *record, uint32_t lanes, uint32_t low,
                      uint32_t high) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *truth = warp_slot(warp, record->slot[1]);
    for (int i = 0; i < EMU_LANES; i++) {
        uint32_t value =
            (low >> i & 1 ? truth[i] & 0xffff : 0) | (high >> i & 1 ? truth[i] & 0xffff0000 : 0);
        if (lanes >> i & 1) d[i] = value;
    }
}

PLAIN_HANDLER(set) {
    uint32_t found =
        record_compare(record)(warp_slot(warp, record->slot[2]), warp_slot(warp, record->slot[3]));
    found = join(warp, record, found);
    set_lanes(warp, record, lanes, found, found);
    return STEP_next;
}

PLAIN_HANDLER(set_pair) {
    uint32_t low =
        record_compare(record)(warp_slot(warp, record->slot[2]), warp_slot(warp, record->slot[3]));
    uint32_t high = join(warp, record, compare_upper(warp, record));
    set_lanes(warp, record, lanes, join(warp, record, low), high);
    return STEP_next;
}

static bool choose_compare(Decoder *decoder, const PtxInstruction *instruction, PtxType type,
                           Record *record) {
    const PtxModifiers *has = &instruction->modifiers;
    Compare *const *const *table = compares[type];
    Compare *const *row = ptx_has(has, PTX_MOD_ftz) && table[1] ? table[1] : table[0];
    for (size_t i = 0; row && i < sizeof relations / sizeof *relations; i++)
        if (ptx_has(has, (PtxModifier)relations[i].modifier))
            record->immediate = (uintptr_t)row[relations[i].relation];
    if (!record->immediate) return decoder_fail(decoder, "this comparison cannot be executed");
    if (ptx_has(has, PTX_MOD_and)) record->options |= JOIN_and;
    if (ptx_has(has, PTX_MOD_or)) record->options |= JOIN_or;
    if (ptx_has(has, PTX_MOD_xor)) record->options |= JOIN_xor;
    return true;
}

/* The sources from operand 1 on: a, b and perhaps c. */
static void choose_sources(Decoder *decoder, const PtxInstruction *instruction, PtxType type,
                           Record *record) {
    const PtxOperand *operands = instruction->operands;
    Width width = decoder_width(type);
    record->slot[2] = decoder_source(decoder, &operands[1], width);
    record->slot[3] = decoder_source(decoder, &operands[2], width);
    record->slot[4] = decoder_constant(decoder, WIDTH_predicate, ~UINT64_C(0));
    if (instruction->operand_count < 4) return;
    record->slot[4] = decoder_source(decoder, &operands[3], WIDTH_predicate);
    if (operands[3].negated) record->options |= OPTION_invert_c;
}

static bool is_pair(PtxType type) { return type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2; }

static bool prepare_setp(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType type = (PtxType)instruction->types[0];
    const PtxOperand *target = &instruction->operands[0], sink = {.kind = PTX_OPERAND_sink};
    bool pair = target->kind == PTX_OPERAND_pair;
    record->slot[0] =
        decoder_target(decoder, pair ? &target->parts[0] : target, WIDTH_predicate, PTX_TYPE_pred);
    record->slot[1] =
        decoder_target(decoder, pair ? &target->parts[1] : &sink, WIDTH_predicate, PTX_TYPE_pred);
    choose_sources(decoder, instruction, type, record);
    if (!choose_compare(decoder, instruction, type, record)) return false;
    bool alone = !pair && !JOIN(record->options);
    record->run = is_pair(type) ? setp_pair : alone ? setp_alone : setp;
    return true;
}

static uint64_t truth_of(PtxType type, bool pair) {
    switch (type) {
    case PTX_TYPE_f32: return 0x3f800000;
    case PTX_TYPE_f16: return 0x3c00;
    case PTX_TYPE_bf16: return 0x3f80;
    case PTX_TYPE_f16x2: return 0x3c003c00;
    case PTX_TYPE_bf16x2: return 0x3f803f80;
    case PTX_TYPE_u16:
    case PTX_TYPE_s16: return pair ? 0xffffffff : 0xffff;
    default: return 0xffffffff;
    }
}

static bool prepare_set(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    PtxType to = (PtxType)instruction->types[0], type = (PtxType)instruction->types[1];
    record->slot[0] = decoder_target(decoder, &instruction->operands[0], WIDTH_word, to);
    record->slot[1] = decoder_constant(decoder, WIDTH_word, truth_of(to, is_pair(type)));
    choose_sources(decoder, instruction, type, record);
    record->run = is_pair(type) ? set_pair : set;
    return choose_compare(decoder, instruction, type, record);
}

/* selp d, a, b, c: slot 3 is the predicate. */
#define SELECT(name, type)                                                                         \
    HANDLER(name) {                                                                                \
        TARGET(type);                                                                              \
        SOURCE(a, type, 1);                                                                        \
        SOURCE(b, type, 2);                                                                        \
        uint32_t c = warp_predicate(warp, record->slot[3]);                                        \
        if (record->options & OPTION_invert_c) c = ~c;                                             \
        LANE_LOOP {                                                                                \
            GET(x, type, a);                                                                       \
            GET(y, type, b);                                                                       \
            PUT(type, c >> i & 1 ? x : y);                                                         \
        }                                                                                          \
        return STEP_next;                                                                          \
    }
SELECT(selp_32, u32)
SELECT(selp_64, u64)

static bool prepare_selp(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    (void)decoder;
    if (instruction->operands[3].negated) record->options |= OPTION_invert_c;
    return true;
}

TERNARY(slct_s32_32, u32, u32, u32, s32, z >= 0 ? x : y)
TERNARY(slct_s32_64, u64, u64, u64, s32, z >= 0 ? x : y)
TERNARY(slct_f32_32, u32, u32, u32, f32, z >= 0 ? x : y)
TERNARY(slct_f32_64, u64, u64, u64, f32, z >= 0 ? x : y)
TERNARY(slct_ftz_32, u32, u32, u32, f32, emu_flush(z) >= 0 ? x : y)
TERNARY(slct_ftz_64, u64, u64, u64, f32, emu_flush(z) >= 0 ? x : y)

#define CHOOSE(type, words, w)                                                                     \
    FORM(selp, words "p", selp_##w, T(type), .prepare = prepare_selp),                             \
        FORM(slct, words "w", slct_s32_##w, T(type, s32)),                                         \
        FORM(slct, words "w", slct_f32_##w, T(type, f32)),                                         \
        FORM(slct, words "w", slct_ftz_##w, T(type, f32), M(ftz))

static const Form emu_forms_compare_forms[] = {
    {.row = PTX_setp, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_setp},
    {.row = PTX_set, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_set},
    CHOOSE(b16, "Www", 32),
    CHOOSE(u16, "Www", 32),
    CHOOSE(s16, "Www", 32),
    CHOOSE(b32, "Www", 32),
    CHOOSE(u32, "Www", 32),
    CHOOSE(s32, "Www", 32),
    CHOOSE(f32, "Www", 32),
    CHOOSE(b64, "Lll", 64),
    CHOOSE(u64, "Lll", 64),
    CHOOSE(s64, "Lll", 64),
    CHOOSE(f64, "Lll", 64),
};
FORM_TABLE(emu_forms_compare);
