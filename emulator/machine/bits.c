/* Logic, shifts, bit fields and bytes. */
#include "emulator/machine/lanes.h"

#define LOGIC(name, expression)                                                                    \
    BINARY(name##_32, u32, u32, u32, expression)                                                   \
    BINARY(name##_64, u64, u64, u64, expression)                                                   \
    PLAIN_HANDLER(name##_pred) {                                                                   \
        uint32_t flip_a = record->options & OPTION_invert_a ? ~0u : 0;                             \
        uint32_t flip_b = record->options & OPTION_invert_b ? ~0u : 0;                             \
        uint32_t x = warp_predicate(warp, record->slot[1]) ^ flip_a;                               \
        uint32_t y = warp_predicate(warp, record->slot[2]) ^ flip_b;                               \
        warp_predicate_set(warp, record->slot[0], lanes, expression);                              \
        return STEP_next;                                                                          \
    }
LOGIC(and, x &y)
LOGIC(or, x | y)
LOGIC(xor, x ^ y)
UNARY(not_32, u32, u32, ~x)
UNARY(not_64, u64, u64, ~x)
UNARY(cnot_16, u16, u16, x == 0)
UNARY(cnot_32, u32, u32, x == 0)
UNARY(cnot_64, u64, u64, x == 0)

PLAIN_HANDLER(not_pred) {
    uint32_t flip = record->options & OPTION_invert_a ? 0 : ~0u;
    warp_predicate_set(warp, record->slot[0], lanes, warp_predicate(warp, record->slot[1]) ^ flip);
    return STEP_next;
}

/* Any function of three bits: bit (a << 2 | b << 1 | c) of the table is its value. */
#define TERM(k, value) (record->immediate >> (k)&1 ? (value) : 0)
#define LOP3                                                                                       \
    (TERM(0, ~x & ~y & ~z) | TERM(1, ~x & ~y & z) | TERM(2, ~x & y & ~z) | TERM(3, ~x & y & z) |   \
     TERM(4, x & ~y & ~z) | TERM(5, x & ~y & z) | TERM(6, x & y & ~z) | TERM(7, x & y & z))
TERNARY(lop3, u32, u32, u32, u32, LOP3)

/* lop3.BoolOp d|p, a, b, c, lut, q: p is (d != 0) BoolOp q. Slots: d, p, a, b, c, q. */
PLAIN_HANDLER(lop3_bool) {
    Record plain = *record;
    for (int i = 1; i < 4; i++) plain.slot[i] = record->slot[i + 1];
    lop3(warp, &plain, lanes);
    const LaneU32 *d = warp_slot(warp, record->slot[0]);
    uint32_t set = 0, q = warp_predicate(warp, record->slot[5]);
    if (record->options & OPTION_invert_c) q = ~q;
    for (int i = 0; i < EMU_LANES; i++) set |= (uint32_t)(d[i] != 0) << i;
    set = record->immediate >> 8 ? set | q : set & q;
    warp_predicate_set(warp, record->slot[1], lanes, set);
    return STEP_next;
}

static bool prepare_lop3_bool(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    (void)decoder;
    const PtxOperand *q = &instruction->operands[instruction->operand_count - 1];
    record->immediate &= 0xff;
    if (ptx_has(&instruction->modifiers, PTX_MOD_or)) record->immediate |= 0x100;
    if (q->negated) record->options |= OPTION_invert_c;
    return true;
}

/* Amounts beyond the width shift everything out. */
BINARY(shl_16, u16, u16, u32, y > 15 ? 0 : (uint32_t)x << y)
BINARY(shl_32, u32, u32, u32, y > 31 ? 0 : x << (y & 31))
BINARY(shl_64, u64, u64, u32, y > 63 ? 0 : x << (y & 63))
BINARY(shr_u16, u16, u16, u32, y > 15 ? 0 : x >> y)
BINARY(shr_u32, u32, u32, u32, y > 31 ? 0 : x >> (y & 31))
BINARY(shr_u64, u64, u64, u32, y > 63 ? 0 : x >> (y & 63))
BINARY(shr_s16, s16, s16, u32, x >> (y > 15 ? 15 : y))
BINARY(shr_s32, s32, s32, u32, x >> (y > 31 ? 31 : y))
BINARY(shr_s64, s64, s64, u32, x >> (y > 63 ? 63 : y))

/* Shifts of the 64 bits y:x; shf.l gives the upper word, shf.r the lower one. */
static inline uint64_t joined(uint32_t x, uint32_t y) { return (uint64_t)y << 32 | x; }
#define CLAMP_32(z) ((z) > 32 ? 32 : (z))
TERNARY(shf_l_clamp, u32, u32, u32, u32, joined(x, y) << CLAMP_32(z) >> 32)
TERNARY(shf_l_wrap, u32, u32, u32, u32, joined(x, y) << (z & 31) >> 32)
TERNARY(shf_r_clamp, u32, u32, u32, u32, joined(x, y) >> CLAMP_32(z))
TERNARY(shf_r_wrap, u32, u32, u32, u32, joined(x, y) >> (z & 31))

UNARY(popc_32, u32, u32, __builtin_popcount(x))
UNARY(popc_64, u32, u64, __builtin_popcountll(x))
UNARY(clz_32, u32, u32, x ? __builtin_clz(x) : 32)
UNARY(clz_64, u32, u64, x ? __builtin_clzll(x) : 64)

static inline uint32_t reverse_32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
UNARY(brev_32, u32, u32, reverse_32(x))
UNARY(brev_64, u64, u64, joined(reverse_32((uint32_t)(x >> 32)), reverse_32((uint32_t)x)))

/* The highest bit that differs from the sign, or ~0; with .shiftamt the left shift that takes it to
 * the top. */
static inline uint32_t find_32(uint32_t x) { return x ? 31 - (uint32_t)__builtin_clz(x) : ~0u; }
static inline uint32_t find_64(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : ~0u; }
static inline uint32_t shift_amount(uint32_t found, uint32_t top) {
    return found == ~0u ? found : top - found;
}
UNARY(bfind_u32, u32, u32, find_32(x))
UNARY(bfind_s32, u32, s32, find_32((uint32_t)(x < 0 ? ~x : x)))
UNARY(bfind_u64, u32, u64, find_64(x))
UNARY(bfind_s64, u32, s64, find_64((uint64_t)(x < 0 ? ~x : x)))
UNARY(bfind_shift_u32, u32, u32, shift_amount(find_32(x), 31))
UNARY(bfind_shift_s32, u32, s32, shift_amount(find_32((uint32_t)(x < 0 ? ~x : x)), 31))
UNARY(bfind_shift_u64, u32, u64, shift_amount(find_64(x), 63))
UNARY(bfind_shift_s64, u32, s64, shift_amount(find_64((uint64_t)(x < 0 ? ~x : x)), 63))

/* The n-th set bit of `mask` from `base`, upwards or downwards. */
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    int64_t count = offset > 0 ? offset : -(int64_t)offset;
    for (int64_t at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
        if ((mask >> at & 1) && --count == 0) return (uint32_t)at;
    return ~0u;
}
TERNARY(fns, u32, u32, u32, s32, find_nth(x, y, z))

/* Fields: `length` bits from `position`, both taken modulo 256. */
static inline uint64_t field_mask(uint32_t length) {
    return length > 63 ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1;
}
static inline uint64_t field_unsigned(uint64_t x, uint32_t position, uint32_t length) {
    return (position > 63 ? 0 : x >> position) & field_mask(length);
}
static inline int64_t field_signed(int64_t x, uint32_t position, uint32_t length) {
    int64_t v = x >> (position > 63 ? 63 : position);
    uint32_t top = 64 - (length > 64 ? 64 : length);
    return length == 0 ? 0 : (int64_t)((uint64_t)v << top) >> top;
}
static inline uint64_t field_insert(uint64_t from, uint64_t into, uint32_t position,
                                    uint32_t length) {
    uint64_t mask = position > 63 ? 0 : field_mask(length) << position;
    return (into & ~mask) | ((position > 63 ? 0 : from << position) & mask);
}
TERNARY(bfe_u32, u32, u32, u32, u32, field_unsigned(x, y & 255, z & 255))
TERNARY(bfe_s32, s32, s32, u32, u32, field_signed(x, y & 255, z & 255))
TERNARY(bfe_u64, u64, u64, u32, u32, field_unsigned(x, y & 255, z & 255))
TERNARY(bfe_s64, s64, s64, u32, u32, field_signed(x, y & 255, z & 255))
QUATERNARY(bfi_32, u32, u32, u32, u32, u32, field_insert(x, y, z & 255, w & 255))
QUATERNARY(bfi_64, u64, u64, u64, u32, u32, field_insert(x, y, z & 255, w & 255))

/* The low `y` bits of x, extended by sign or with zeros. */
static inline uint32_t extend(uint32_t x, uint32_t bits, bool clamp, bool is_signed) {
    if (clamp && bits >= 32) return x;
    bits &= 31;
    return is_signed ? (uint32_t)field_signed((int32_t)x, 0, bits)
                     : (uint32_t)field_unsigned(x, 0, bits);
}
BINARY(szext_clamp_u32, u32, u32, u32, extend(x, y, true, false))
BINARY(szext_clamp_s32, u32, u32, u32, extend(x, y, true, true))
BINARY(szext_wrap_u32, u32, u32, u32, extend(x, y, false, false))
BINARY(szext_wrap_s32, u32, u32, u32, extend(x, y, false, true))

/* A mask of y bits from bit x. */
static inline uint32_t mask_of(uint32_t x, uint32_t y, bool clamp) {
    if (clamp && x >= 32) return 0;
    uint32_t from = ~0u << (x & 31), end = (x & 31) + (y & 31);
    if ((clamp && y >= 32) || end >= 32) return from;
    return y & 31 ? from & ~(~0u << end) : 0;
}
BINARY(bmsk_clamp, u32, u32, u32, mask_of(x, y, true))
BINARY(bmsk_wrap, u32, u32, u32, mask_of(x, y, false))

/* Bytes of y:x chosen by the nibbles of z; bit 3 of a nibble asks for the byte's sign instead. */
static inline uint32_t choose_byte(uint64_t bytes, uint32_t nibble) {
    uint32_t byte = (uint32_t)(bytes >> (nibble & 7) * 8) & 255;
    return nibble & 8 ? (byte & 128 ? 255 : 0) : byte;
}
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t nibbles) {
    uint64_t bytes = joined(x, y);
    uint32_t low = choose_byte(bytes, nibbles) | choose_byte(bytes, nibbles >> 4) << 8;
    return low | choose_byte(bytes, nibbles >> 8) << 16 | choose_byte(bytes, nibbles >> 12) << 24;
}
TERNARY(prmt, u32, u32, u32, u32, permute(x, y, z))

/* The six modes are permutations by one of four selectors each. */
static const uint16_t permute_modes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */ {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */ {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */ {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
TERNARY(prmt_mode, u32, u32, u32, u32, permute(x, y, permute_modes[record->immediate][z & 3]))

static bool prepare_logic_pred(Decoder *decoder, const PtxInstruction *instruction,
                               Record *record) {
    (void)decoder;
    if (instruction->operands[1].negated) record->options |= OPTION_invert_a;
    if (instruction->operand_count > 2 && instruction->operands[2].negated)
        record->options |= OPTION_invert_b;
    return true;
}

#define LOGIC_FORMS(row)                                                                           \
    FORM(row, "Www", row##_32, T(b16)), FORM(row, "Www", row##_32, T(b32)),                        \
        FORM(row, "Lll", row##_64, T(b64)),                                                        \
        FORM(row, "Ppp", row##_pred, T(pred), .prepare = prepare_logic_pred)
#define PRMT(mode, number) FORM(prmt, "Wwww", prmt_mode, T(b32), M(mode), .immediate = number)

static const Form emu_forms_bits_forms[] = {
    LOGIC_FORMS(and),
    LOGIC_FORMS(or),
    LOGIC_FORMS(xor),
    FORM(not, "Ww", not_32, T(b16)),
    FORM(not, "Ww", not_32, T(b32)),
    FORM(not, "Ll", not_64, T(b64)),
    FORM(not, "Pp", not_pred, T(pred), .prepare = prepare_logic_pred),
    FORM(cnot, "Ww", cnot_16, T(b16)),
    FORM(cnot, "Ww", cnot_32, T(b32)),
    FORM(cnot, "Ll", cnot_64, T(b64)),
    FORM(lop3, "Wwwwi", lop3, T(b32)),
    FORM(lop3, "WPwwwip", lop3_bool, T(b32), M(or), .prepare = prepare_lop3_bool),
    FORM(lop3, "WPwwwip", lop3_bool, T(b32), M(and), .prepare = prepare_lop3_bool),
    FORM(shl, "Www", shl_16, T(b16)),
    FORM(shl, "Www", shl_32, T(b32)),
    FORM(shl, "Llw", shl_64, T(b64)),
    FORM(shr, "Www", shr_u16, T(b16)),
    FORM(shr, "Www", shr_u16, T(u16)),
    FORM(shr, "Www", shr_s16, T(s16)),
    FORM(shr, "Www", shr_u32, T(b32)),
    FORM(shr, "Www", shr_u32, T(u32)),
    FORM(shr, "Www", shr_s32, T(s32)),
    FORM(shr, "Llw", shr_u64, T(b64)),
    FORM(shr, "Llw", shr_u64, T(u64)),
    FORM(shr, "Llw", shr_s64, T(s64)),
    FORM(shf_l, "Wwww", shf_l_clamp, T(b32), M(clamp)),
    FORM(shf_l, "Wwww", shf_l_wrap, T(b32), M(wrap)),
    FORM(shf_r, "Wwww", shf_r_clamp, T(b32), M(clamp)),
    FORM(shf_r, "Wwww", shf_r_wrap, T(b32), M(wrap)),
    FORM(popc, "Ww", popc_32, T(b32)),
    FORM(popc, "Wl", popc_64, T(b64)),
    FORM(clz, "Ww", clz_32, T(b32)),
    FORM(clz, "Wl", clz_64, T(b64)),
    FORM(brev, "Ww", brev_32, T(b32)),
    FORM(brev, "Ll", brev_64, T(b64)),
    FORM(bfind, "Ww", bfind_u32, T(u32)),
    FORM(bfind, "Ww", bfind_s32, T(s32)),
    FORM(bfind, "Wl", bfind_u64, T(u64)),
    FORM(bfind, "Wl", bfind_s64, T(s64)),
    FORM(bfind, "Ww", bfind_shift_u32, T(u32), M(shiftamt)),
    FORM(bfind, "Ww", bfind_shift_s32, T(s32), M(shiftamt)),
    FORM(bfind, "Wl", bfind_shift_u64, T(u64), M(shiftamt)),
    FORM(bfind, "Wl", bfind_shift_s64, T(s64), M(shiftamt)),
    FORM(fns, "Wwww", fns, T(b32)),
    FORM(bfe, "Wwww", bfe_u32, T(u32)),
    FORM(bfe, "Wwww", bfe_s32, T(s32)),
    FORM(bfe, "Llww", bfe_u64, T(u64)),
    FORM(bfe, "Llww", bfe_s64, T(s64)),
    FORM(bfi, "Wwwww", bfi_32, T(b32)),
    FORM(bfi, "Lllww", bfi_64, T(b64)),
    FORM(szext, "Www", szext_clamp_u32, T(u32), M(clamp)),
    FORM(szext, "Www", szext_clamp_s32, T(s32), M(clamp)),
    FORM(szext, "Www", szext_wrap_u32, T(u32), M(wrap)),
    FORM(szext, "Www", szext_wrap_s32, T(s32), M(wrap)),
    FORM(bmsk, "Www", bmsk_clamp, T(b32), M(clamp)),
    FORM(bmsk, "Www", bmsk_wrap, T(b32), M(wrap)),
    FORM(prmt, "Wwww", prmt, T(b32)),
    PRMT(f4e, 0),
    PRMT(b4e, 1),
    PRMT(rc8, 2),
    PRMT(ecl, 3),
    PRMT(ecr, 4),
    PRMT(rc16, 5),
};
FORM_TABLE(emu_forms_bits);
