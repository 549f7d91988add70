/* Integer arithmetic: what wraps, what saturates, and the chains of carries. */
#include "emulator/machine/lanes.h"

/* Sums, differences and low products are the same for signed and unsigned values. */
BINARY(add_16, u16, u16, u16, x + y)
BINARY(add_32, u32, u32, u32, x + y)
BINARY(add_64, u64, u64, u64, x + y)
BINARY(sub_16, u16, u16, u16, x - y)
BINARY(sub_32, u32, u32, u32, x - y)
BINARY(sub_64, u64, u64, u64, x - y)
BINARY(mul_16, u16, u16, u16, (uint32_t)x *y)
BINARY(mul_32, u32, u32, u32, x *y)
BINARY(mul_64, u64, u64, u64, x *y)
TERNARY(mad_16, u16, u16, u16, u16, (uint32_t)x *y + z)
TERNARY(mad_32, u32, u32, u32, u32, x *y + z)
TERNARY(mad_64, u64, u64, u64, u64, x *y + z)

static inline int64_t clamp_32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}
BINARY(add_sat, s32, s32, s32, clamp_32((int64_t)x + y))
BINARY(sub_sat, s32, s32, s32, clamp_32((int64_t)x - y))

/* Two 16-bit sums in a word: the carry of the low half is kept out of the high one. */
BINARY(add_16x2, u32, u32, u32, ((x & 0x7fff7fff) + (y & 0x7fff7fff)) ^ ((x ^ y) & 0x80008000))

__extension__ typedef unsigned __int128 u64_128;
__extension__ typedef __int128 s64_128;
static inline uint64_t high_u64(uint64_t x, uint64_t y) { return (uint64_t)((u64_128)x * y >> 64); }
static inline int64_t high_s64(int64_t x, int64_t y) { return (int64_t)((s64_128)x * y >> 64); }

BINARY(mul_hi_u16, u16, u16, u16, (uint32_t)x *y >> 16)
BINARY(mul_hi_s16, s16, s16, s16, (int32_t)x *y >> 16)
BINARY(mul_hi_u32, u32, u32, u32, (uint64_t)x *y >> 32)
BINARY(mul_hi_s32, s32, s32, s32, (int64_t)x *y >> 32)
BINARY(mul_hi_u64, u64, u64, u64, high_u64(x, y))
BINARY(mul_hi_s64, s64, s64, s64, high_s64(x, y))
TERNARY(mad_hi_u16, u16, u16, u16, u16, ((uint32_t)x * y >> 16) + z)
TERNARY(mad_hi_s16, s16, s16, s16, s16, ((int32_t)x * y >> 16) + z)
TERNARY(mad_hi_u32, u32, u32, u32, u32, (uint32_t)((uint64_t)x *y >> 32) + z)
TERNARY(mad_hi_s32, s32, s32, s32, s32, (uint32_t)((int64_t)x *y >> 32) + (uint32_t)z)
TERNARY(mad_hi_u64, u64, u64, u64, u64, high_u64(x, y) + z)
TERNARY(mad_hi_s64, s64, s64, s64, s64, (uint64_t)high_s64(x, y) + (uint64_t)z)
TERNARY(mad_hi_sat, s32, s32, s32, s32, clamp_32(((int64_t)x * y >> 32) + z))

BINARY(mul_wide_u16, u32, u16, u16, (uint32_t)x *y)
BINARY(mul_wide_s16, s32, s16, s16, (int32_t)x *y)
BINARY(mul_wide_u32, u64, u32, u32, (uint64_t)x *y)
BINARY(mul_wide_s32, s64, s32, s32, (int64_t)x *y)
TERNARY(mad_wide_u16, u32, u16, u16, u32, (uint32_t)x *y + z)
TERNARY(mad_wide_s16, u32, s16, s16, u32, (uint32_t)((int32_t)x *y) + z)
TERNARY(mad_wide_u32, u64, u32, u32, u64, (uint64_t)x *y + z)
TERNARY(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)x *y) + z)

/* 24-bit products, of the low 24 bits of each source: bits 31..0 or 47..16 of 48. */
static inline uint64_t product_u24(uint32_t x, uint32_t y) {
    return (uint64_t)(x & 0xffffff) * (y & 0xffffff);
}
static inline int64_t product_s24(uint32_t x, uint32_t y) {
    return (int64_t)((int32_t)(x << 8) >> 8) * ((int32_t)(y << 8) >> 8);
}
BINARY(mul24_lo_u32, u32, u32, u32, product_u24(x, y))
BINARY(mul24_lo_s32, u32, u32, u32, product_s24(x, y))
BINARY(mul24_hi_u32, u32, u32, u32, product_u24(x, y) >> 16)
BINARY(mul24_hi_s32, u32, u32, u32, product_s24(x, y) >> 16)
TERNARY(mad24_lo_u32, u32, u32, u32, u32, (uint32_t)product_u24(x, y) + z)
TERNARY(mad24_lo_s32, u32, u32, u32, u32, (uint32_t)product_s24(x, y) + z)
TERNARY(mad24_hi_u32, u32, u32, u32, u32, (uint32_t)(product_u24(x, y) >> 16) + z)
TERNARY(mad24_hi_s32, u32, u32, u32, u32, (uint32_t)(product_s24(x, y) >> 16) + z)
TERNARY(mad24_hi_sat, s32, u32, u32, s32, clamp_32((product_s24(x, y) >> 16) + z))

TERNARY(sad_u16, u16, u16, u16, u16, (x < y ? y - x : x - y) + z)
TERNARY(sad_s16, s16, s16, s16, s16, (x < y ? y - x : x - y) + z)
TERNARY(sad_u32, u32, u32, u32, u32, (x < y ? y - x : x - y) + z)
TERNARY(sad_s32, u32, s32, s32, u32,
        (x < y ? (uint32_t)y - (uint32_t)x : (uint32_t)x - (uint32_t)y) + z)
TERNARY(sad_u64, u64, u64, u64, u64, (x < y ? y - x : x - y) + z)
TERNARY(sad_s64, u64, s64, s64, u64,
        (x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y) + z)

/* Quotients. By zero PTX promises nothing: all ones, and the dividend as the rest, and it is told.
 * The least value by -1 wraps. */
#define QUOTIENT(name, T, expression)                                                              \
    HANDLER(name) {                                                                                \
        TARGET(T);                                                                                 \
        SOURCE(a, T, 1);                                                                           \
        SOURCE(b, T, 2);                                                                           \
        uint32_t zeros = 0;                                                                        \
        LANE_LOOP {                                                                                \
            GET(x, T, a);                                                                          \
            GET(y, T, b);                                                                          \
            zeros |= (uint32_t)(y == 0) << i;                                                      \
            PUT(T, expression);                                                                    \
        }                                                                                          \
        return zeros & lanes ? tell_zero(warp, record, zeros & lanes) : STEP_next;                 \
    }

static Step tell_zero(Warp *warp, const Record *record, uint32_t lanes) {
    if (!warp->cta->launch->observer) return STEP_next;
    return warp_fault(warp, record, EMU_FINDING_division_by_zero, lanes, 0, 0, NULL);
}

QUOTIENT(div_u16, u16, y ? x / y : 0xffff)
QUOTIENT(div_u32, u32, y ? x / y : UINT32_MAX)
QUOTIENT(div_u64, u64, y ? x / y : UINT64_MAX)
QUOTIENT(div_s16, s16, y ? x / y : -1)
QUOTIENT(div_s32, s32, y == 0 ? -1 : y == -1 ? (int32_t)(0 - (uint32_t)x) : x / y)
QUOTIENT(div_s64, s64, y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y)
QUOTIENT(rem_u16, u16, y ? x % y : x)
QUOTIENT(rem_u32, u32, y ? x % y : x)
QUOTIENT(rem_u64, u64, y ? x % y : x)
QUOTIENT(rem_s16, s16, y ? x % y : x)
QUOTIENT(rem_s32, s32, y == 0 ? x : y == -1 ? 0 : x % y)
QUOTIENT(rem_s64, s64, y == 0 ? x : y == -1 ? 0 : x % y)

UNARY(abs_s16, s16, s16, x < 0 ? -x : x)
UNARY(abs_s32, u32, s32, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)
UNARY(abs_s64, u64, s64, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
UNARY(neg_16, u16, u16, 0 - x)
UNARY(neg_32, u32, u32, 0 - x)
UNARY(neg_64, u64, u64, 0 - x)

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MIN_MAX(type)                                                                              \
    BINARY(min_##type, type, type, type, MIN(x, y))                                                \
    BINARY(max_##type, type, type, type, MAX(x, y))
MIN_MAX(u16)
MIN_MAX(s16)
MIN_MAX(u32)
MIN_MAX(s32)
MIN_MAX(u64)
MIN_MAX(s64)
BINARY(min_relu, s32, s32, s32, MAX(MIN(x, y), 0))
BINARY(max_relu, s32, s32, s32, MAX(MAX(x, y), 0))

#define HALVES(x, y, f, T)                                                                         \
    ((uint32_t)(uint16_t)(f((T)(x), (T)(y))) |                                                     \
     (uint32_t)(uint16_t)(f((T)((x) >> 16), (T)((y) >> 16))) << 16)
#define MIN_RELU(x, y) MAX(MIN(x, y), 0)
#define MAX_RELU(x, y) MAX(MAX(x, y), 0)
BINARY(min_u16x2, u32, u32, u32, HALVES(x, y, MIN, uint16_t))
BINARY(max_u16x2, u32, u32, u32, HALVES(x, y, MAX, uint16_t))
BINARY(min_s16x2, u32, u32, u32, HALVES(x, y, MIN, int16_t))
BINARY(max_s16x2, u32, u32, u32, HALVES(x, y, MAX, int16_t))
BINARY(min_relu_s16x2, u32, u32, u32, HALVES(x, y, MIN_RELU, int16_t))
BINARY(max_relu_s16x2, u32, u32, u32, HALVES(x, y, MAX_RELU, int16_t))

/* Chains: the carry (of differences the borrow) of each lane is a bit of warp->carry. `sum` gets
 * x, y, z and the carry that comes in, and says what goes out. */
#define CHAIN(name, type, takes, sum)                                                              \
    PLAIN_HANDLER(name) {                                                                          \
        TARGET(type);                                                                              \
        SOURCE(a, type, 1);                                                                        \
        SOURCE(b, type, 2);                                                                        \
        SOURCE(c, type, 3);                                                                        \
        uint32_t carries = 0;                                                                      \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            if (!(lanes >> i & 1)) continue;                                                       \
            GET(x, type, a);                                                                       \
            GET(y, type, b);                                                                       \
            GET(z, type, c);                                                                       \
            VALUE_##type in = (takes) ? warp->carry >> i & 1 : 0, first, v;                        \
            (void)z;                                                                               \
            bool out = sum;                                                                        \
            d[i] = v;                                                                              \
            carries |= (uint32_t)out << i;                                                         \
        }                                                                                          \
        if (record->options & OPTION_carry_out) warp->carry = (warp->carry & ~lanes) | carries;    \
        return STEP_next;                                                                          \
    }
#define ADD_CARRY(x, y)                                                                            \
    __builtin_add_overflow((x), (y), &first) | __builtin_add_overflow(first, in, &v)
#define SUB_BORROW(x, y)                                                                           \
    __builtin_sub_overflow((x), (y), &first) | __builtin_sub_overflow(first, in, &v)
#define CHAINS(type, wide, bits)                                                                   \
    CHAIN(add_cc_##type, type, false, ADD_CARRY(x, y))                                             \
    CHAIN(addc_##type, type, true, ADD_CARRY(x, y))                                                \
    CHAIN(sub_cc_##type, type, false, SUB_BORROW(x, y))                                            \
    CHAIN(subc_##type, type, true, SUB_BORROW(x, y))                                               \
    CHAIN(mad_lo_cc_##type, type, false, ADD_CARRY(x *y, z))                                       \
    CHAIN(madc_lo_##type, type, true, ADD_CARRY(x *y, z))                                          \
    CHAIN(mad_hi_cc_##type, type, false, ADD_CARRY((VALUE_##type)((u64_128)x * y >> bits), z))     \
    CHAIN(madc_hi_##type, type, true, ADD_CARRY((VALUE_##type)((u64_128)x * y >> bits), z))
CHAINS(u32, uint64_t, 32)
CHAINS(u64, u64_128, 64)

static inline uint32_t signed_high_32(uint32_t x, uint32_t y) {
    return (uint32_t)((int64_t)(int32_t)x * (int32_t)y >> 32);
}
static inline uint64_t signed_high_64(uint64_t x, uint64_t y) {
    return (uint64_t)high_s64((int64_t)x, (int64_t)y);
}
CHAIN(mad_hi_cc_s32, u32, false, ADD_CARRY(signed_high_32(x, y), z))
CHAIN(madc_hi_s32, u32, true, ADD_CARRY(signed_high_32(x, y), z))
CHAIN(mad_hi_cc_s64, u64, false, ADD_CARRY(signed_high_64(x, y), z))
CHAIN(madc_hi_s64, u64, true, ADD_CARRY(signed_high_64(x, y), z))

/* Dot products of bytes, and of two halves with two of four bytes. */
#define BYTE(T, v, k) ((int32_t)(T)((v) >> (8 * (k))))
#define HALF(T, v, k) ((int32_t)(T)((v) >> (16 * (k))))
#define DP4A(A, B)                                                                                 \
    z + (uint32_t)(BYTE(A, x, 0) * BYTE(B, y, 0)) + (uint32_t)(BYTE(A, x, 1) * BYTE(B, y, 1)) +    \
        (uint32_t)(BYTE(A, x, 2) * BYTE(B, y, 2)) + (uint32_t)(BYTE(A, x, 3) * BYTE(B, y, 3))
#define DP2A(A, B, k)                                                                              \
    z + (uint32_t)(HALF(A, x, 0) * BYTE(B, y, k)) + (uint32_t)(HALF(A, x, 1) * BYTE(B, y, k + 1))
#define DOTS(name, A8, A16, B8)                                                                    \
    TERNARY(dp4a_##name, u32, u32, u32, u32, DP4A(A8, B8))                                         \
    TERNARY(dp2a_lo_##name, u32, u32, u32, u32, DP2A(A16, B8, 0))                                  \
    TERNARY(dp2a_hi_##name, u32, u32, u32, u32, DP2A(A16, B8, 2))
DOTS(uu, uint8_t, uint16_t, uint8_t)
DOTS(us, uint8_t, uint16_t, int8_t)
DOTS(su, int8_t, int16_t, uint8_t)
DOTS(ss, int8_t, int16_t, int8_t)

/* Rows of one operation: unsigned and signed of 16, 32 and 64 bits. */
#define SAME(row, h16, h32, h64, n)                                                                \
    FORM(row, "W" n, h16, T(u16)), FORM(row, "W" n, h16, T(s16)), FORM(row, "W" n, h32, T(u32)),   \
        FORM(row, "W" n, h32, T(s32))
#define SAME_2(row, h)                                                                             \
    SAME(row, h##_16, h##_32, h##_64, "ww"), FORM(row, "Lll", h##_64, T(u64)),                     \
        FORM(row, "Lll", h##_64, T(s64))
#define SAME_3(row, h)                                                                             \
    SAME(row, h##_16, h##_32, h##_64, "www"), FORM(row, "Llll", h##_64, T(u64)),                   \
        FORM(row, "Llll", h##_64, T(s64))
#define EACH(row, h, words, longs)                                                                 \
    FORM(row, words, h##_u16, T(u16)), FORM(row, words, h##_s16, T(s16)),                          \
        FORM(row, words, h##_u32, T(u32)), FORM(row, words, h##_s32, T(s32)),                      \
        FORM(row, longs, h##_u64, T(u64)), FORM(row, longs, h##_s64, T(s64))
#define CARRIED(row, h, words, longs, ...)                                                         \
    FORM(row, words, h##_u32, T(u32), .accepts = ACCEPT_carry, __VA_ARGS__),                       \
        FORM(row, words, h##_u32, T(s32), .accepts = ACCEPT_carry, __VA_ARGS__),                   \
        FORM(row, longs, h##_u64, T(u64), .accepts = ACCEPT_carry, __VA_ARGS__),                   \
        FORM(row, longs, h##_u64, T(s64), .accepts = ACCEPT_carry, __VA_ARGS__)
#define CARRIED_HIGH(row, h)                                                                       \
    FORM(row, "Wwww", h##_u32, T(u32), .accepts = ACCEPT_carry),                                   \
        FORM(row, "Wwww", h##_s32, T(s32), .accepts = ACCEPT_carry),                               \
        FORM(row, "Llll", h##_u64, T(u64), .accepts = ACCEPT_carry),                               \
        FORM(row, "Llll", h##_s64, T(s64), .accepts = ACCEPT_carry)
#define WIDE(row, h, n16, n32)                                                                     \
    FORM(row, "Www" n16, h##_u16, T(u16)), FORM(row, "Www" n16, h##_s16, T(s16)),                  \
        FORM(row, "Lww" n32, h##_u32, T(u32)), FORM(row, "Lww" n32, h##_s32, T(s32))
#define WORDS(row, h, n) FORM(row, "Www" n, h##_u32, T(u32)), FORM(row, "Www" n, h##_s32, T(s32))
#define DOT(row, h)                                                                                \
    FORM(row, "Wwww", h##_uu, T(u32, u32)), FORM(row, "Wwww", h##_us, T(u32, s32)),                \
        FORM(row, "Wwww", h##_su, T(s32, u32)), FORM(row, "Wwww", h##_ss, T(s32, s32))

static const Form emu_forms_integer_forms[] = {
    SAME_2(add, add),
    SAME_2(sub, sub),
    SAME_2(mul_lo, mul),
    SAME_3(mad_lo, mad),
    FORM(add, "Www", add_sat, T(s32), M(sat)),
    FORM(sub, "Www", sub_sat, T(s32), M(sat)),
    FORM(add, "Www", add_16x2, T(u16x2)),
    FORM(add, "Www", add_16x2, T(s16x2)),
    EACH(mul_hi, mul_hi, "Www", "Lll"),
    EACH(mad_hi, mad_hi, "Wwww", "Llll"),
    FORM(mad_hi, "Wwww", mad_hi_sat, T(s32), M(sat)),
    WIDE(mul_wide, mul_wide, "", ""),
    WIDE(mad_wide, mad_wide, "w", "l"),
    WORDS(mul24_lo, mul24_lo, ""),
    WORDS(mul24_hi, mul24_hi, ""),
    WORDS(mad24_lo, mad24_lo, "w"),
    WORDS(mad24_hi, mad24_hi, "w"),
    FORM(mad24_hi, "Wwww", mad24_hi_sat, T(s32), M(sat)),
    EACH(sad, sad, "Wwww", "Llll"),
    EACH(div, div, "Www", "Lll"),
    EACH(rem, rem, "Www", "Lll"),
    EACH(min, min, "Www", "Lll"),
    EACH(max, max, "Www", "Lll"),
    FORM(min, "Www", min_relu, T(s32), M(relu)),
    FORM(max, "Www", max_relu, T(s32), M(relu)),
    FORM(min, "Www", min_u16x2, T(u16x2)),
    FORM(max, "Www", max_u16x2, T(u16x2)),
    FORM(min, "Www", min_s16x2, T(s16x2)),
    FORM(max, "Www", max_s16x2, T(s16x2)),
    FORM(min, "Www", min_relu_s16x2, T(s16x2), M(relu)),
    FORM(max, "Www", max_relu_s16x2, T(s16x2), M(relu)),
    FORM(abs, "Ww", abs_s16, T(s16)),
    FORM(abs, "Ww", abs_s32, T(s32)),
    FORM(abs, "Ll", abs_s64, T(s64)),
    FORM(neg, "Ww", neg_16, T(s16)),
    FORM(neg, "Ww", neg_32, T(s32)),
    FORM(neg, "Ll", neg_64, T(s64)),
    CARRIED(add, add_cc, "Www", "Lll", ),
    CARRIED(sub, sub_cc, "Www", "Lll", ),
    CARRIED(addc, addc, "Www", "Lll", ),
    CARRIED(subc, subc, "Www", "Lll", ),
    CARRIED(mad_lo, mad_lo_cc, "Wwww", "Llll", ),
    CARRIED(madc_lo, madc_lo, "Wwww", "Llll", ),
    CARRIED_HIGH(mad_hi, mad_hi_cc),
    CARRIED_HIGH(madc_hi, madc_hi),
    DOT(dp4a, dp4a),
    DOT(dp2a_lo, dp2a_lo),
    DOT(dp2a_hi, dp2a_hi),
};
FORM_TABLE(emu_forms_integer);
