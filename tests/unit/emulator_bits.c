// Logic, shifts and bit fields, bit by bit.
#include "tests/unit/emulator_scalar.h"

static int bit(uint64_t v, int64_t i) { return i >= 0 && i < 64 ? (int)(v >> i & 1) : 0; }

#define SIMPLE(name, expression)                                                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (expression);                                                                       \
    }
SIMPLE(and_, a &b)
SIMPLE(or_, a | b)
SIMPLE(xor_, a ^ b)
SIMPLE(not_, ~a)
SIMPLE(cnot, a == 0)
SIMPLE(and_not, a && !b)
SIMPLE(not_or, !a || b)
SIMPLE(not_pred, !a)

// Shifts: one place at a time.
static uint64_t shift(uint64_t a, uint64_t n, int width, bool left, bool is_signed) {
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1, sign;
    a &= mask;
    for (uint64_t i = 0; i < n && i < 70; i++) {
        sign = is_signed ? a & (UINT64_C(1) << (width - 1)) : 0;
        a = left ? a << 1 & mask : (a >> 1 | sign);
    }
    return a;
}
SIMPLE(shl_16, shift(a, b, 16, true, false))
SIMPLE(shl_32, shift(a, b, 32, true, false))
SIMPLE(shl_64, shift(a, b, 64, true, false))
SIMPLE(shr_u16, shift(a, b, 16, false, false))
SIMPLE(shr_u32, shift(a, b, 32, false, false))
SIMPLE(shr_u64, shift(a, b, 64, false, false))
SIMPLE(shr_s16, shift(a, b, 16, false, true))
SIMPLE(shr_s32, shift(a, b, 32, false, true))
SIMPLE(shr_s64, shift(a, b, 64, false, true))
#define JOIN (b << 32 | a)
SIMPLE(shf_l_clamp, shift(JOIN, c > 32 ? 32 : c, 64, true, false) >> 32)
SIMPLE(shf_l_wrap, shift(JOIN, c % 32, 64, true, false) >> 32)
SIMPLE(shf_r_clamp, shift(JOIN, c > 32 ? 32 : c, 64, false, false))
SIMPLE(shf_r_wrap, shift(JOIN, c % 32, 64, false, false))

static uint64_t count(uint64_t a) {
    uint64_t n = 0;
    for (int i = 0; i < 64; i++) n += (uint64_t)bit(a, i);
    return n;
}
static uint64_t leading(uint64_t a, int width) {
    int i = width - 1;
    while (i >= 0 && !bit(a, i)) i--;
    return (uint64_t)(width - 1 - i);
}
static uint64_t reverse(uint64_t a, int width) {
    uint64_t v = 0;
    for (int i = 0; i < width; i++) v |= (uint64_t)bit(a, i) << (width - 1 - i);
    return v;
}
static uint64_t find(uint64_t a, int width, bool is_signed, bool amount) {
    int sign = is_signed ? bit(a, width - 1) : 0, i = width - 1;
    while (i >= 0 && bit(a, i) == sign) i--;
    return i < 0 ? 0xffffffff : (uint64_t)(amount ? width - 1 - i : i);
}
SIMPLE(popc, count(a))
SIMPLE(clz_32, leading(a, 32))
SIMPLE(clz_64, leading(a, 64))
SIMPLE(brev_32, reverse(a, 32))
SIMPLE(brev_64, reverse(a, 64))
SIMPLE(bfind_u32, find(a, 32, false, false))
SIMPLE(bfind_s32, find(a, 32, true, false))
SIMPLE(bfind_u64, find(a, 64, false, false))
SIMPLE(bfind_s64, find(a, 64, true, false))
SIMPLE(bfind_shift_u32, find(a, 32, false, true))
SIMPLE(bfind_shift_s32, find(a, 32, true, true))
SIMPLE(bfind_shift_u64, find(a, 64, false, true))
SIMPLE(bfind_shift_s64, find(a, 64, true, true))

// The manual's own loop.
static uint64_t fns(uint64_t mask, uint64_t base, uint64_t offset, uint64_t unused) {
    (void)unused;
    int32_t by = (int32_t)offset;
    if (by == 0) return bit(mask & 0xffffffff, (int64_t)base) ? base : 0xffffffff;
    int64_t position = (int64_t)base, left = by > 0 ? by : -(int64_t)by;
    for (; position >= 0 && position<32; position += by> 0 ? 1 : -1)
        if (bit(mask, position) && --left == 0) return (uint64_t)position;
    return 0xffffffff;
}

static uint64_t extract(uint64_t a, uint64_t b, uint64_t c, int width, bool is_signed) {
    int position = (int)(b & 255), length = (int)(c & 255), last = position + length - 1;
    int sign = !is_signed || length == 0 ? 0 : bit(a, last < width - 1 ? last : width - 1);
    uint64_t v = 0;
    for (int i = 0; i < width; i++) {
        bool in = i < length && position + i < width;
        v |= (uint64_t)(in ? bit(a, position + i) : sign) << i;
    }
    return v;
}
SIMPLE(bfe_u32, extract(a, b, c, 32, false))
SIMPLE(bfe_s32, extract(a, b, c, 32, true))
SIMPLE(bfe_u64, extract(a, b, c, 64, false))
SIMPLE(bfe_s64, extract(a, b, c, 64, true))

static uint64_t insert(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int width) {
    int position = (int)(c & 255), length = (int)(d & 255);
    for (int i = 0; i < length && position + i < width; i++) {
        b &= ~(UINT64_C(1) << (position + i));
        b |= (uint64_t)bit(a, i) << (position + i);
    }
    return b;
}
SIMPLE(bfi_32, insert(a, b, c, d, 32))
SIMPLE(bfi_64, insert(a, b, c, d, 64))

static uint64_t extend(uint64_t a, uint64_t n, bool clamp, bool is_signed) {
    if (clamp && n >= 32) return a;
    n %= 32;
    uint64_t v = 0;
    for (int i = 0; i < 32; i++)
        v |= (uint64_t)((uint64_t)i < n  ? bit(a, i)
                        : is_signed && n ? bit(a, (int64_t)n - 1)
                                         : 0)
             << i;
    return v;
}
SIMPLE(szext_clamp_u, extend(a, b, true, false))
SIMPLE(szext_clamp_s, extend(a, b, true, true))
SIMPLE(szext_wrap_u, extend(a, b, false, false))
SIMPLE(szext_wrap_s, extend(a, b, false, true))

static uint64_t mask(uint64_t a, uint64_t b, bool clamp) {
    if (clamp && a >= 32) return 0;
    uint64_t first = a % 32, length = clamp && b > 32 ? 32 : clamp ? b : b % 32, v = 0;
    for (uint64_t i = first; i < first + length && i < 32; i++) v |= UINT64_C(1) << i;
    return v;
}
SIMPLE(bmsk_clamp, mask(a, b, true))
SIMPLE(bmsk_wrap, mask(a, b, false))

static uint64_t permute(uint64_t a, uint64_t b, const int *from, unsigned signs) {
    uint64_t bytes = b << 32 | a, v = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t byte = bytes >> (8 * from[i]) & 255;
        if (signs >> i & 1) byte = byte & 128 ? 255 : 0;
        v |= byte << (8 * i);
    }
    return v;
}
static uint64_t prmt(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    int from[4];
    unsigned signs = 0;
    for (int i = 0; i < 4; i++) {
        from[i] = (int)(c >> (4 * i) & 7);
        signs |= (unsigned)(c >> (4 * i + 3) & 1) << i;
    }
    return permute(a, b, from, signs);
}
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
// The modes by what they are for: a window that moves up or down, a copy, an edge clamped.
#define MODE(name, expression)                                                                     \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)d;                                                                                   \
        int s = (int)(c & 3), from[4];                                                             \
        for (int i = 0; i < 4; i++) from[i] = (expression);                                        \
        return permute(a, b, from, 0);                                                             \
    }
MODE(f4e, i + s)
MODE(b4e, (s - i + 8) % 8)
MODE(rc8, s)
MODE(ecl, most(i, s))
MODE(ecr, least(i, s))
MODE(rc16, i % 2 + 2 * (s % 2))

static uint64_t lop3(uint64_t a, uint64_t b, uint64_t c, int table) {
    uint64_t v = 0;
    for (int i = 0; i < 32; i++)
        v |= (uint64_t)(table >> (bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1) << i;
    return v;
}
SIMPLE(lop3_96, lop3(a, b, c, 0x96))
SIMPLE(lop3_e8, lop3(a, b, c, 0xe8))
SIMPLE(lop3_ca, lop3(a, b, c, 0xca))
SIMPLE(lop3_01, lop3(a, b, c, 0x01))
SIMPLE(lop3_or, lop3(a, b, c, 0x80) != 0 || (d & 1))
SIMPLE(lop3_and_not, lop3(a, b, c, 0x40) != 0 && !(d & 1))

static const ScalarRow rows[] = {
    {"and.b16", "hhh", and_, NULL},
    {"and.b32", "www", and_, NULL},
    {"and.b64", "lll", and_, NULL},
    {"and.pred", "ppp", and_, NULL},
    {"or.b16", "hhh", or_, NULL},
    {"or.b32", "www", or_, NULL},
    {"or.b64", "lll", or_, NULL},
    {"or.pred", "ppp", or_, NULL},
    {"xor.b16", "hhh", xor_, NULL},
    {"xor.b32", "www", xor_, NULL},
    {"xor.b64", "lll", xor_, NULL},
    {"xor.pred", "ppp", xor_, NULL},
    {"xor.pred $p0, $p1, -1", "pp", not_pred, NULL},
    {"and.pred $p0, $p1, !$p2", "ppp", and_not, NULL},
    {"or.pred $p0, !$p1, $p2", "ppp", not_or, NULL},
    {"not.b16", "hh", not_, NULL},
    {"not.b32", "ww", not_, NULL},
    {"not.b64", "ll", not_, NULL},
    {"not.pred", "pp", not_pred, NULL},
    {"cnot.b16", "hh", cnot, NULL},
    {"cnot.b32", "ww", cnot, NULL},
    {"cnot.b64", "ll", cnot, NULL},
    {"shl.b16", "hhw", shl_16, NULL},
    {"shl.b32", "www", shl_32, NULL},
    {"shl.b64", "llw", shl_64, NULL},
    {"shr.b16", "hhw", shr_u16, NULL},
    {"shr.b32", "www", shr_u32, NULL},
    {"shr.b64", "llw", shr_u64, NULL},
    {"shr.u16", "hhw", shr_u16, NULL},
    {"shr.u32", "www", shr_u32, NULL},
    {"shr.u64", "llw", shr_u64, NULL},
    {"shr.s16", "hhw", shr_s16, NULL},
    {"shr.s32", "www", shr_s32, NULL},
    {"shr.s64", "llw", shr_s64, NULL},
    {"shf.l.clamp.b32", "wwww", shf_l_clamp, NULL},
    {"shf.l.wrap.b32", "wwww", shf_l_wrap, NULL},
    {"shf.r.clamp.b32", "wwww", shf_r_clamp, NULL},
    {"shf.r.wrap.b32", "wwww", shf_r_wrap, NULL},
    {"popc.b32", "ww", popc, NULL},
    {"popc.b64", "wl", popc, NULL},
    {"clz.b32", "ww", clz_32, NULL},
    {"clz.b64", "wl", clz_64, NULL},
    {"brev.b32", "ww", brev_32, NULL},
    {"brev.b64", "ll", brev_64, NULL},
    {"bfind.u32", "ww", bfind_u32, NULL},
    {"bfind.s32", "ww", bfind_s32, NULL},
    {"bfind.u64", "wl", bfind_u64, NULL},
    {"bfind.s64", "wl", bfind_s64, NULL},
    {"bfind.shiftamt.u32", "ww", bfind_shift_u32, NULL},
    {"bfind.shiftamt.s32", "ww", bfind_shift_s32, NULL},
    {"bfind.shiftamt.u64", "wl", bfind_shift_u64, NULL},
    {"bfind.shiftamt.s64", "wl", bfind_shift_s64, NULL},
    {"fns.b32", "wwww", fns, NULL},
    {"bfe.u32", "wwww", bfe_u32, NULL},
    {"bfe.s32", "wwww", bfe_s32, NULL},
    {"bfe.u64", "llww", bfe_u64, NULL},
    {"bfe.s64", "llww", bfe_s64, NULL},
    {"bfi.b32", "wwwww", bfi_32, NULL},
    {"bfi.b64", "lllww", bfi_64, NULL},
    {"szext.clamp.u32", "www", szext_clamp_u, NULL},
    {"szext.clamp.s32", "www", szext_clamp_s, NULL},
    {"szext.wrap.u32", "www", szext_wrap_u, NULL},
    {"szext.wrap.s32", "www", szext_wrap_s, NULL},
    {"bmsk.clamp.b32", "www", bmsk_clamp, NULL},
    {"bmsk.wrap.b32", "www", bmsk_wrap, NULL},
    {"prmt.b32", "wwww", prmt, NULL},
    {"prmt.b32.f4e", "wwww", f4e, NULL},
    {"prmt.b32.b4e", "wwww", b4e, NULL},
    {"prmt.b32.rc8", "wwww", rc8, NULL},
    {"prmt.b32.ecl", "wwww", ecl, NULL},
    {"prmt.b32.ecr", "wwww", ecr, NULL},
    {"prmt.b32.rc16", "wwww", rc16, NULL},
    {"lop3.b32 $w0, $w1, $w2, $w3, 0x96", "wwww", lop3_96, NULL},
    {"lop3.b32 $w0, $w1, $w2, $w3, 0xe8", "wwww", lop3_e8, NULL},
    {"lop3.b32 $w0, $w1, $w2, $w3, 0xca", "wwww", lop3_ca, NULL},
    {"lop3.b32 $w0, $w1, $w2, $w3, 0x01", "wwww", lop3_01, NULL},
    {"lop3.or.b32 $w0|$p0, $w1, $w2, $w3, 0x80, $p4", "pwwwp", lop3_or, NULL},
    {"lop3.and.b32 $w0|$p0, $w1, $w2, $w3, 0x40, !$p4", "pwwwp", lop3_and_not, NULL},
};

static void test_bits(void) {
    EmuOptions options = {.checks = EMU_CHECKS_cheap, .workers = 1};
    scalar_run(rows, sizeof rows / sizeof *rows, "sm_90a", &options);
}

int main(void) {
    RUN(test_bits);
    return test_done();
}
