// Integer instructions, each type and modifier, against plain C on wide integers.
#include "tests/unit/emulator_scalar.h"

__extension__ typedef __int128 Wide;

// A source as a value of its type: w bits, signed or not.
static Wide value(uint64_t bits, int width, bool is_signed) {
    Wide v = width == 64 ? (Wide)bits : (Wide)(bits & ((UINT64_C(1) << width) - 1));
    if (is_signed && v >> (width - 1) & 1) v -= (Wide)1 << width;
    return v;
}

static Wide shift_right(Wide v, int n) { return v >> n; } // of negative values: rounds down
static Wide clamp(Wide v, Wide least, Wide most) { return v < least ? least : v > most ? most : v; }

// An oracle of each type for an expression of x, y, z of that type.
#define ORACLE(name, w, s, expression)                                                             \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        Wide x = value(a, w, s), y = value(b, w, s), z = value(c, w, s);                           \
        (void)x, (void)y, (void)z, (void)d;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#define EACH_TYPE(name, expression)                                                                \
    ORACLE(name##_u16, 16, false, expression)                                                      \
    ORACLE(name##_s16, 16, true, expression)                                                       \
    ORACLE(name##_u32, 32, false, expression)                                                      \
    ORACLE(name##_s32, 32, true, expression)                                                       \
    ORACLE(name##_u64, 64, false, expression)                                                      \
    ORACLE(name##_s64, 64, true, expression)
// High halves: the type's width is W there.
#define EACH_HIGH(name, tail)                                                                      \
    ORACLE(name##_u16, 16, false, shift_right(x *y, 16) tail)                                      \
    ORACLE(name##_s16, 16, true, shift_right(x *y, 16) tail)                                       \
    ORACLE(name##_u32, 32, false, shift_right(x *y, 32) tail)                                      \
    ORACLE(name##_s32, 32, true, shift_right(x *y, 32) tail)

EACH_TYPE(add, x + y)
EACH_TYPE(sub, x - y)
EACH_TYPE(mul, (uint64_t)x *(uint64_t)y)
EACH_TYPE(mad, (uint64_t)x *(uint64_t)y + (uint64_t)z)
EACH_HIGH(mul_hi, )
EACH_HIGH(mad_hi, +z)
EACH_TYPE(sad, (x < y ? y - x : x - y) + z)
EACH_TYPE(div, y == 0 ? -1 : x / y)
EACH_TYPE(rem, y == 0 ? x : x % y)
EACH_TYPE(min, x < y ? x : y)
EACH_TYPE(max, x > y ? x : y)
ORACLE(abs_s16, 16, true, x < 0 ? -x : x)
ORACLE(abs_s32, 32, true, x < 0 ? -x : x)
ORACLE(abs_s64, 64, true, x < 0 ? -x : x)
ORACLE(neg_s16, 16, true, -x)
ORACLE(neg_s32, 32, true, -x)
ORACLE(neg_s64, 64, true, -x)

// 64-bit high halves, by schoolbook multiplication of 32-bit digits.
static uint64_t high_u64(uint64_t a, uint64_t b) {
    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (middle & 0xffffffff);
    return a1 * b1 + (middle >> 32) + (cross >> 32);
}
static uint64_t mul_hi_u64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)c, (void)d;
    return high_u64(a, b);
}
static uint64_t mul_hi_s64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)c, (void)d;
    return high_u64(a, b) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}
static uint64_t mad_hi_u64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return mul_hi_u64(a, b, 0, d) + c;
}
static uint64_t mad_hi_s64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return mul_hi_s64(a, b, 0, d) + c;
}

ORACLE(add_sat, 32, true, clamp(x + y, INT32_MIN, INT32_MAX))
ORACLE(sub_sat, 32, true, clamp(x - y, INT32_MIN, INT32_MAX))
ORACLE(mad_hi_sat, 32, true, clamp(shift_right(x *y, 32) + z, INT32_MIN, INT32_MAX))
ORACLE(min_relu, 32, true, clamp(x < y ? x : y, 0, INT32_MAX))
ORACLE(max_relu, 32, true, clamp(x > y ? x : y, 0, INT32_MAX))
ORACLE(wide_u16, 16, false, x *y)
ORACLE(wide_s16, 16, true, x *y)
ORACLE(wide_u32, 32, false, x *y)
ORACLE(wide_s32, 32, true, x *y)
static uint64_t mad_wide_u16(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return wide_u16(a, b, 0, d) + c;
}
static uint64_t mad_wide_s16(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return wide_s16(a, b, 0, d) + c;
}
static uint64_t mad_wide_u32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return wide_u32(a, b, 0, d) + c;
}
static uint64_t mad_wide_s32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return wide_s32(a, b, 0, d) + c;
}

// 24-bit products: sources of 24 bits, c of 32.
#define PRODUCT_24(s) (value(a, 24, s) * value(b, 24, s))
ORACLE(mul24_lo_u, 32, false, PRODUCT_24(false))
ORACLE(mul24_lo_s, 32, true, PRODUCT_24(true))
ORACLE(mul24_hi_u, 32, false, shift_right(PRODUCT_24(false), 16))
ORACLE(mul24_hi_s, 32, true, shift_right(PRODUCT_24(true), 16))
ORACLE(mad24_lo_u, 32, false, PRODUCT_24(false) + z)
ORACLE(mad24_lo_s, 32, true, PRODUCT_24(true) + z)
ORACLE(mad24_hi_u, 32, false, shift_right(PRODUCT_24(false), 16) + z)
ORACLE(mad24_hi_s, 32, true, shift_right(PRODUCT_24(true), 16) + z)
ORACLE(mad24_hi_sat, 32, true, clamp(shift_right(PRODUCT_24(true), 16) + z, INT32_MIN, INT32_MAX))

// Pairs of halves.
static uint64_t pair(uint64_t a, uint64_t b, bool is_signed, int how) {
    uint64_t result = 0;
    for (int i = 0; i < 32; i += 16) {
        Wide x = value(a >> i, 16, is_signed), y = value(b >> i, 16, is_signed);
        Wide v = how == 0 ? x + y : how % 2 ? (x < y ? x : y) : (x > y ? x : y);
        if (how > 2 && v < 0) v = 0;
        result |= ((uint64_t)v & 0xffff) << i;
    }
    return result;
}
#define PAIR(name, s, how)                                                                         \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)c, (void)d;                                                                          \
        return pair(a, b, s, how);                                                                 \
    }
PAIR(add_pair, true, 0)
PAIR(min_u16x2, false, 1)
PAIR(max_u16x2, false, 2)
PAIR(min_s16x2, true, 1)
PAIR(max_s16x2, true, 2)
PAIR(min_relu_pair, true, 3)
PAIR(max_relu_pair, true, 4)

// Chains: two instructions; the second takes the carry of the first, on (a, b) then (c, 0).
static uint64_t chain_add_32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return c + ((a + b) >> 32);
}
static uint64_t chain_sub_32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return c - (a < b);
}
static uint64_t chain_add_64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return c + (uint64_t)(((Wide)value(a, 64, false) + value(b, 64, false)) >> 64 != 0);
}
static uint64_t chain_sub_64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return chain_sub_32(a, b, c, d);
}
// a * b + c of 64 bits from 32-bit parts with c as both words: lower word, then upper with carry.
static uint64_t chain_mad_32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return (a * b + (c | c << 32)) >> 32;
}

// The same of 64-bit parts, of which the upper result is looked at; the signed high half differs.
static uint64_t chain_mad_u64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return high_u64(a, b) + c + (a * b + c < c);
}
static uint64_t chain_mad_s64(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return chain_mad_u64(a, b, c, d) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}
static uint64_t chain_mad_s32(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return chain_mad_32(a, b, c, d) - (a >> 31 ? b : 0) - (b >> 31 ? a : 0);
}
// The carry of a high half, added to zero.
static uint64_t carry_of_high(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return ((a * b >> 32) + c) >> 32;
}

static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, bool a_signed, bool b_signed, int width,
                    int from) {
    Wide sum = (Wide)c;
    for (int i = 0; i < 32 / width; i++)
        sum += value(a >> (width * i), width, a_signed) * value(b >> (8 * (i + from)), 8, b_signed);
    return (uint64_t)sum;
}
#define DOT(name, as, bs, width, from)                                                             \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)d;                                                                                   \
        return dot(a, b, c, as, bs, width, from);                                                  \
    }
#define DOTS(suffix, as, bs)                                                                       \
    DOT(dp4a_##suffix, as, bs, 8, 0)                                                               \
    DOT(dp2a_lo_##suffix, as, bs, 16, 0)                                                           \
    DOT(dp2a_hi_##suffix, as, bs, 16, 2)
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

#define TYPES(text, k16, k32, k64, name)                                                           \
    {text ".u16", k16, name##_u16, NULL}, {text ".s16", k16, name##_s16, NULL},                    \
        {text ".u32", k32, name##_u32, NULL}, {text ".s32", k32, name##_s32, NULL},                \
        {text ".u64", k64, name##_u64, NULL}, {                                                    \
        text ".s64", k64, name##_s64, NULL                                                         \
    }
#define SIGNED(text, name)                                                                         \
    {text ".s16", "hh", name##_s16, NULL}, {text ".s32", "ww", name##_s32, NULL}, {                \
        text ".s64", "ll", name##_s64, NULL                                                        \
    }

static const ScalarRow rows[] = {
    TYPES("add", "hhh", "www", "lll", add),
    TYPES("sub", "hhh", "www", "lll", sub),
    TYPES("mul.lo", "hhh", "www", "lll", mul),
    TYPES("mul.hi", "hhh", "www", "lll", mul_hi),
    TYPES("mad.lo", "hhhh", "wwww", "llll", mad),
    TYPES("mad.hi", "hhhh", "wwww", "llll", mad_hi),
    TYPES("sad", "hhhh", "wwww", "llll", sad),
    TYPES("div", "hhh", "www", "lll", div),
    TYPES("rem", "hhh", "www", "lll", rem),
    TYPES("min", "hhh", "www", "lll", min),
    TYPES("max", "hhh", "www", "lll", max),
    SIGNED("abs", abs),
    SIGNED("neg", neg),
    {"add.sat.s32", "www", add_sat, NULL},
    {"sub.sat.s32", "www", sub_sat, NULL},
    {"mad.hi.sat.s32", "wwww", mad_hi_sat, NULL},
    {"min.relu.s32", "www", min_relu, NULL},
    {"max.relu.s32", "www", max_relu, NULL},
    {"mul.wide.u16", "whh", wide_u16, NULL},
    {"mul.wide.s16", "whh", wide_s16, NULL},
    {"mul.wide.u32", "lww", wide_u32, NULL},
    {"mul.wide.s32", "lww", wide_s32, NULL},
    {"mad.wide.u16", "whhw", mad_wide_u16, NULL},
    {"mad.wide.s16", "whhw", mad_wide_s16, NULL},
    {"mad.wide.u32", "lwwl", mad_wide_u32, NULL},
    {"mad.wide.s32", "lwwl", mad_wide_s32, NULL},
    {"mul24.lo.u32", "www", mul24_lo_u, NULL},
    {"mul24.lo.s32", "www", mul24_lo_s, NULL},
    {"mul24.hi.u32", "www", mul24_hi_u, NULL},
    {"mul24.hi.s32", "www", mul24_hi_s, NULL},
    {"mad24.lo.u32", "wwww", mad24_lo_u, NULL},
    {"mad24.lo.s32", "wwww", mad24_lo_s, NULL},
    {"mad24.hi.u32", "wwww", mad24_hi_u, NULL},
    {"mad24.hi.s32", "wwww", mad24_hi_s, NULL},
    {"mad24.hi.sat.s32", "wwww", mad24_hi_sat, NULL},
    {"add.u16x2", "www", add_pair, NULL},
    {"add.s16x2", "www", add_pair, NULL},
    {"min.u16x2", "www", min_u16x2, NULL},
    {"max.u16x2", "www", max_u16x2, NULL},
    {"min.s16x2", "www", min_s16x2, NULL},
    {"max.s16x2", "www", max_s16x2, NULL},
    {"min.relu.s16x2", "www", min_relu_pair, NULL},
    {"max.relu.s16x2", "www", max_relu_pair, NULL},
    {"add.cc.u32 $w4, $w1, $w2; addc.u32 $w0, $w3, 0", "wwww", chain_add_32, NULL},
    {"add.cc.s32 $w4, $w1, $w2; addc.cc.s32 $w0, $w3, 0", "wwww", chain_add_32, NULL},
    {"add.cc.u64 $l4, $l1, $l2; addc.u64 $l0, $l3, 0", "llll", chain_add_64, NULL},
    {"add.cc.s64 $l4, $l1, $l2; addc.cc.s64 $l0, $l3, 0", "llll", chain_add_64, NULL},
    {"sub.cc.u32 $w4, $w1, $w2; subc.u32 $w0, $w3, 0", "wwww", chain_sub_32, NULL},
    {"sub.cc.s32 $w4, $w1, $w2; subc.cc.s32 $w0, $w3, 0", "wwww", chain_sub_32, NULL},
    {"sub.cc.u64 $l4, $l1, $l2; subc.u64 $l0, $l3, 0", "llll", chain_sub_64, NULL},
    {"sub.cc.s64 $l4, $l1, $l2; subc.cc.s64 $l0, $l3, 0", "llll", chain_sub_64, NULL},
    {"mad.lo.cc.u32 $w4, $w1, $w2, $w3; madc.hi.u32 $w0, $w1, $w2, $w3", "wwww", chain_mad_32,
     NULL},
    {"mul.lo.u32 $w4, $w1, $w2; add.cc.u32 $w4, $w4, $w3; mad.hi.u32 $w5, $w1, $w2, $w3; "
     "addc.u32 $w0, $w5, 0",
     "wwww", chain_mad_32, NULL},
    {"mad.lo.cc.s32 $w4, $w1, $w2, $w3; madc.hi.s32 $w0, $w1, $w2, $w3", "wwww", chain_mad_s32,
     NULL},
    {"mad.lo.cc.u64 $l4, $l1, $l2, $l3; madc.hi.u64 $l0, $l1, $l2, $l3", "llll", chain_mad_u64,
     NULL},
    {"mad.lo.cc.s64 $l4, $l1, $l2, $l3; madc.hi.cc.s64 $l0, $l1, $l2, $l3", "llll", chain_mad_s64,
     NULL},
    {"mad.hi.cc.u32 $w4, $w1, $w2, $w3; madc.lo.u32 $w0, 0, 0, 0", "wwww", carry_of_high, NULL},
    {"mad.hi.cc.u32 $w4, $w1, $w2, $w3; madc.lo.cc.s32 $w0, 0, $w1, 0", "wwww", carry_of_high,
     NULL},
    {"dp4a.u32.u32", "wwww", dp4a_uu, NULL},
    {"dp4a.u32.s32", "wwww", dp4a_us, NULL},
    {"dp4a.s32.u32", "wwww", dp4a_su, NULL},
    {"dp4a.s32.s32", "wwww", dp4a_ss, NULL},
    {"dp2a.lo.u32.u32", "wwww", dp2a_lo_uu, NULL},
    {"dp2a.lo.u32.s32", "wwww", dp2a_lo_us, NULL},
    {"dp2a.lo.s32.u32", "wwww", dp2a_lo_su, NULL},
    {"dp2a.lo.s32.s32", "wwww", dp2a_lo_ss, NULL},
    {"dp2a.hi.u32.u32", "wwww", dp2a_hi_uu, NULL},
    {"dp2a.hi.u32.s32", "wwww", dp2a_hi_us, NULL},
    {"dp2a.hi.s32.u32", "wwww", dp2a_hi_su, NULL},
    {"dp2a.hi.s32.s32", "wwww", dp2a_hi_ss, NULL},
};

static void test_integer(void) {
    EmuOptions options = {.checks = EMU_CHECKS_cheap, .workers = 1};
    scalar_run(rows, sizeof rows / sizeof *rows, "sm_90a", &options);
}

int main(void) {
    RUN(test_integer);
    return test_done();
}
