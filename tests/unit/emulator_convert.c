// Conversions of the emulator against NVIDIA's host code (tests/emulator/conversions.txt), against
// the CPU's own in every rounding mode, and against the words of the PTX manual where neither has
// the form.
#include "emulator/machine/convert.h"
#include "tests/unit/test.h"

#include <fenv.h>

// The sets of tests/emulator/make_conversions.cc.
static const uint32_t fractions[] = {
    0,        1,        2,        0x0fff,   0x1000,   0x1001,   0x1fff,   0x2000,
    0x3000,   0x3001,   0x7fff,   0x8000,   0x8001,   0x10000,  0x17fff,  0x18000,
    0x18001,  0x7ffff,  0x80000,  0x80001,  0xfffff,  0x100000, 0x180000, 0x180001,
    0x200000, 0x300000, 0x300001, 0x400000, 0x5fffff, 0x600000, 0x7f7fff, 0x7f8000,
    0x7fefff, 0x7ff000, 0x7ff001, 0x7ffffe, 0x7fffff};
enum { FRACTIONS = sizeof fractions / sizeof fractions[0] };

static uint64_t input_all(uint64_t i) { return i; }

static uint64_t input_edges32(uint64_t i) {
    return (i / FRACTIONS) << 23 | fractions[i % FRACTIONS];
}

static uint64_t input_dense32(uint64_t i) { return (uint32_t)(i * 2654435761u); }

static uint64_t input_edges64(uint64_t i) {
    uint64_t e = i / FRACTIONS, fraction = fractions[i % FRACTIONS];
    return (e >> 10 & 1) << 63 | ((e & 1023) + 512) << 52 | fraction << 29 | (e % 3);
}

static uint64_t input_ints32(uint64_t i) {
    return i < 64 ? (1u << (i & 31)) - (uint32_t)(i >> 5) : (uint32_t)(i * 2654435761u) >> i % 31;
}

static uint64_t input_ints64(uint64_t i) {
    return i < 128 ? ((uint64_t)1 << (i & 63)) - (i >> 6) : (i * 0x9e3779b97f4a7c15u) >> i % 63;
}

typedef struct Set {
    const char *name;
    uint64_t count;
    uint64_t (*input)(uint64_t);
} Set;

static const Set sets[] = {
    {"all8", 256, input_all},
    {"all16", 65536, input_all},
    {"edges32", (uint64_t)512 * FRACTIONS, input_edges32},
    {"dense32", 1 << 20, input_dense32},
    {"edges64", (uint64_t)2048 * FRACTIONS, input_edges64},
    {"ints32", 1 << 16, input_ints32},
    {"ints64", 1 << 16, input_ints64},
};

static const Set *set_named(const char *name) {
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i].name, name) == 0) return &sets[i];
    return NULL;
}

static PtxType type_named(const char *name) {
    for (int type = PTX_TYPE_none; type < PTX_TYPE_count; type++)
        if (strcmp(ptx_type_name((PtxType)type), name) == 0) return (PtxType)type;
    return PTX_TYPE_none;
}

static EmuConversion conversion_named(const char *to, const char *from, const char *modifiers) {
    static const char *const roundings[] = {"rn", "rz", "rm", "rp"};
    EmuConversion c = {.to = (uint8_t)type_named(to), .from = (uint8_t)type_named(from)};
    for (int i = 0; i < 4; i++)
        if (strncmp(modifiers, roundings[i], 2) == 0) c.rounding = (uint8_t)i;
    c.satfinite = strstr(modifiers, "satfinite") != NULL;
    return c;
}

static uint64_t bits_of(const EmuConversion *c, uint64_t value) {
    int bits = ptx_type_bits(c->to);
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t convert(const EmuConversion *c, uint64_t a) {
    return bits_of(c, emu_convert(c, a));
}

// A line of the table: the pairs first, since they say more than the checksum.
static void check_line(char *line) {
    char to[8], from[8], modifiers[32], set_name[16];
    uint64_t want, in, out;
    int used;
    if (sscanf(line, "%7s %7s %31s %15s %" SCNx64 "%n", to, from, modifiers, set_name, &want,
               &used) < 5) {
        CHECK(!"a line of conversions.txt has five fields");
        return;
    }
    EmuConversion c = conversion_named(to, from, modifiers);
    const Set *set = set_named(set_name);
    CHECK(set && c.to && c.from);
    for (char *p = line + used; sscanf(p, " %" SCNx64 ":%" SCNx64 "%n", &in, &out, &used) >= 2;
         p += used)
        if (!CHECK_INT(convert(&c, in), out)) printf("    %s of %" PRIx64 "\n", line, in);
    uint64_t sum = 0;
    for (uint64_t i = 0; set && i < set->count; i++)
        sum = sum * 6364136223846793005u + convert(&c, set->input(i)) + 1;
    if (!CHECK(sum == want)) printf("    %s.%s %s %s\n", to, from, modifiers, set_name);
}

static void test_table_of_nvidias_headers(void) {
    FILE *file = fopen("tests/emulator/conversions.txt", "r");
    char line[1024];
    int lines = 0;
    for (; file && fgets(line, sizeof line, file); lines++) check_line(line);
    if (file) fclose(file);
    CHECK(lines >= 60);
}

static double double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static const int host_modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static bool wrong_f32(PtxType from, EmuRounding rounding, uint64_t in, volatile float want) {
    EmuConversion c = {.to = PTX_TYPE_f32, .from = (uint8_t)from, .rounding = (uint8_t)rounding};
    float got = emu_float((uint32_t)emu_convert(&c, in));
    return emu_float_bits(got) != emu_float_bits(want) && !(isnan(got) && isnan(want));
}

// What the CPU rounds by itself when told how.
static void test_roundings_of_the_host(void) {
    int wrong = 0;
    for (int mode = 0; mode < 4; mode++) {
        fesetround(host_modes[mode]);
        for (uint64_t i = 0; i < (uint64_t)2048 * FRACTIONS; i++) {
            volatile double d = double_of(input_edges64(i));
            volatile float want = (float)d;
            wrong += wrong_f32(PTX_TYPE_f64, (EmuRounding)mode, input_edges64(i), want);
        }
        for (uint64_t i = 0; i < 1 << 16; i++) {
            volatile int64_t s64 = (int64_t)input_ints64(i);
            volatile uint64_t u64 = input_ints64(i);
            volatile int32_t s32 = (int32_t)input_ints32(i);
            volatile float a = (float)s64, b = (float)u64, c = (float)s32;
            wrong += wrong_f32(PTX_TYPE_s64, (EmuRounding)mode, (uint64_t)s64, a);
            wrong += wrong_f32(PTX_TYPE_u64, (EmuRounding)mode, u64, b);
            wrong += wrong_f32(PTX_TYPE_s32, (EmuRounding)mode, (uint32_t)s32, c);
        }
        fesetround(FE_TONEAREST);
    }
    CHECK_INT(wrong, 0);
}

static double integral(double x, EmuRounding rounding) {
    switch (rounding) {
    case EMU_ROUND_zero: return trunc(x);
    case EMU_ROUND_down: return floor(x);
    case EMU_ROUND_up: return ceil(x);
    default: return nearbyint(x);
    }
}

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static int wrong_integers(uint32_t bits, EmuRounding rounding) {
    float x = emu_float(bits);
    double rounded = integral((double)x, rounding);
    EmuConversion c = {.from = PTX_TYPE_f32, .rounding = (uint8_t)rounding, .to = PTX_TYPE_s32};
    int64_t want = isnan(x) ? 0 : (int64_t)clamp(rounded, INT32_MIN, INT32_MAX);
    int wrong = (int64_t)emu_convert(&c, bits) != want;
    c.to = PTX_TYPE_u8;
    want = isnan(x) ? 0 : (int64_t)clamp(rounded, 0, 255);
    wrong += (int64_t)emu_convert(&c, bits) != want;
    c.to = PTX_TYPE_f32;
    c.integral = true;
    uint32_t same = isnan(x) ? 0x7fffffff : emu_float_bits((float)rounded);
    return wrong + (emu_convert(&c, bits) != same);
}

static void test_float_to_integer_and_integral(void) {
    int wrong = 0;
    for (int rounding = EMU_ROUND_nearest_even; rounding <= EMU_ROUND_up; rounding++)
        for (uint64_t i = 0; i < (uint64_t)512 * FRACTIONS; i++) {
            wrong += wrong_integers((uint32_t)input_edges32(i), (EmuRounding)rounding);
            wrong += wrong_integers((uint32_t)input_dense32(i), (EmuRounding)rounding);
        }
    CHECK_INT(wrong, 0);
}

typedef struct Case {
    EmuConversion c;
    uint64_t in, want;
} Case;

#define CVT(d, s) .to = PTX_TYPE_##d, .from = PTX_TYPE_##s

// From facts of the manual: section 9.7.9.21 and 5.2.3 of the PTX ISA.
static const Case cases[] = {
    {{CVT(e4m3, f32), .satfinite = true}, 0x43e00000, 0x7e},               // 448
    {{CVT(e4m3, f32), .satfinite = true}, 0x43e80000, 0x7e},               // 464
    {{CVT(e4m3, f32), .satfinite = true}, 0xff800000, 0xfe},               // -inf
    {{CVT(e4m3, f32), .satfinite = true}, 0xffc00000, 0x7f},               // NaN
    {{CVT(e4m3, f32), .satfinite = true}, 0x3a800000, 0x00},               // 2^-10
    {{CVT(e4m3, f32), .satfinite = true}, 0x3ac00000, 0x01},               // 1.5 * 2^-10
    {{CVT(e4m3, f32), .satfinite = true}, 0x80000000, 0x80},               // -0
    {{CVT(e5m2, f32), .satfinite = true}, 0x47600000, 0x7b},               // 57344
    {{CVT(e5m2, f32), .satfinite = true}, 0x4e6e6b28, 0x7b},               // 1e9
    {{CVT(e5m2, f32), .satfinite = true}, 0x37000000, 0x00},               // 2^-17
    {{CVT(e5m2, f32), .satfinite = true}, 0x37400000, 0x01},               // 1.5 * 2^-17
    {{CVT(e4m3, f32), .satfinite = true, .relu = true}, 0xc0000000, 0x00}, // -2
    {{CVT(e4m3, f32), .satfinite = true, .relu = true}, 0xffffffff, 0x7f}, // NaN
    {{CVT(bf16, f32)}, 0x3f808000, 0x3f80},                                // a tie
    {{CVT(bf16, f32)}, 0x3f818000, 0x3f82},                                // a tie
    {{CVT(bf16, f32), .relu = true}, 0xbf800000, 0},                       // -1
    {{CVT(bf16, f32), .satfinite = true}, 0x7f800000, 0x7f7f},             // inf
    {{CVT(f16, f32), .satfinite = true}, 0xc7c35000, 0xfbff},              // -100000
    {{CVT(tf32, f32), .rounding = EMU_ROUND_nearest_away}, 0x3f801000, 0x3f802000},
    {{CVT(tf32, f32), .rounding = EMU_ROUND_nearest_even}, 0x3f801000, 0x3f800000},
    {{CVT(tf32, f32), .rounding = EMU_ROUND_zero}, 0x3f801fff, 0x3f800000},
    {{CVT(tf32, f32), .rounding = EMU_ROUND_nearest_away}, 0x7f7fffff, 0x7f800000},
    {{CVT(tf32, f32), .satfinite = true}, 0x7f7fffff, 0x7f7fe000},
    {{CVT(f16x2, e4m3x2)}, 0x7f38, 0x7fff3c00},                    // NaN, 1
    {{CVT(f16x2, e4m3x2), .relu = true}, 0x38b8, 0x3c000000},      // 1, -1
    {{CVT(e5m2x2, f16x2), .satfinite = true}, 0x7c003c00, 0x7b3c}, // inf, 1
    {{CVT(f32, f32), .sat = true}, 0xbf800000, 0},
    {{CVT(f32, f32), .sat = true}, 0x7fc00000, 0},
    {{CVT(f32, f32), .sat = true}, 0x40000000, 0x3f800000},
    {{CVT(f32, f32), .sat = true}, 0x3f000000, 0x3f000000},
    {{CVT(f32, f32), .ftz = true}, 0x80000001, 0x80000000},
    {{CVT(f32, f64), .ftz = true}, 0x37f0000000000000, 0}, // 2^-128
    {{CVT(f64, f32), .ftz = true}, 0x00000001, 0},
    {{CVT(f64, f32)}, 0x00000001, 0x36a0000000000000},
    {{CVT(s64, f32), .rounding = EMU_ROUND_zero}, 0x7fc00000, 0x8000000000000000},
    {{CVT(u64, f32), .rounding = EMU_ROUND_zero}, 0x7f800000, 0xffffffffffffffff},
    {{CVT(s32, f64), .rounding = EMU_ROUND_zero}, 0x7ff8000000000000, 0xffffffff80000000},
    {{CVT(u32, f64), .rounding = EMU_ROUND_zero}, 0x7ff8000000000000, 0x80000000},
    {{CVT(u32, f64), .rounding = EMU_ROUND_zero}, 0xbff0000000000000, 0}, // -1
    {{CVT(s8, s32)}, 0x1ff, UINT64_MAX},
    {{CVT(s8, s32), .sat = true}, 0x1ff, 127},
    {{CVT(u8, s32), .sat = true}, 0xffffff00, 0},
    {{CVT(s16, u32), .sat = true}, 0xffffffff, 0x7fff},
    {{CVT(u64, s32)}, 0xffffffff, UINT64_MAX},
    {{CVT(u64, u32)}, 0xffffffff, 0xffffffff},
    {{CVT(s32, u8)}, 0x1ff, 0xff},
};

static void test_cases_of_the_manual(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t got = emu_convert(&cases[i].c, cases[i].in);
        if (!CHECK(got == cases[i].want))
            printf("    case %zu: %" PRIx64 ", want %" PRIx64 "\n", i, got, cases[i].want);
    }
    EmuConversion pair = {CVT(f16x2, f32)};
    CHECK_INT(emu_convert_pair(&pair, 0x3f800000, 0x40000000), 0x3c004000);
    CHECK_INT(emu_convert_pack(PTX_TYPE_u8, 300, -5, 0xabcd), 0xabcdff00);
    CHECK_INT(emu_convert_pack(PTX_TYPE_s16, 70000, -70000, 0), 0x7fff8000);
    CHECK_INT(emu_canonical_nan(PTX_TYPE_f16), 0x7fff);
}

// Each pair of types, rounding and modifier: the lanes do what one value does.
static int wrong_lanes(const EmuConversion *c, uint64_t start) {
    int d_bytes = ptx_type_bits(c->to) > 32 ? 8 : 4;
    int a_bytes = ptx_type_bits(c->from) > 32 ? 8 : 4;
    uint64_t d[32], a[32];
    for (uint64_t i = 0; i < 32; i++) {
        uint64_t in = a_bytes == 8 ? input_edges64(start + i) : input_dense32(start * 32 + i);
        memcpy((char *)a + i * (uint64_t)a_bytes, &in, (size_t)a_bytes);
    }
    emu_convert_lanes(c, d, d_bytes, a, a_bytes);
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        uint64_t in = 0, got = 0, want;
        memcpy(&in, (char *)a + i * a_bytes, (size_t)a_bytes);
        memcpy(&got, (char *)d + i * d_bytes, (size_t)d_bytes);
        want = emu_convert(c, in);
        wrong += memcmp(&got, &want, (size_t)d_bytes) != 0;
    }
    return wrong;
}

static bool converts(PtxType type) {
    PtxTypeClass class = ptx_type_class(type);
    if (class == PTX_CLASS_float && emu_canonical_nan(type) == 0) return false; // of newer devices
    return (class == PTX_CLASS_float || class == PTX_CLASS_signed || class == PTX_CLASS_unsigned) &&
           ptx_type_bits(type) >= 8;
}

static void test_lanes_agree(void) {
    int wrong = 0;
    for (int to = 0; to < PTX_TYPE_count; to++)
        for (int from = 0; from < PTX_TYPE_count; from++)
            for (int rounding = 0; rounding < 4; rounding++)
                for (uint64_t start = 0; start < 2000; start += 50) {
                    EmuConversion c = {(uint8_t)to, (uint8_t)from, .rounding = (uint8_t)rounding};
                    if (converts((PtxType)to) && converts((PtxType)from))
                        wrong += wrong_lanes(&c, start);
                }
    CHECK_INT(wrong, 0);
}

// The short forms in the header, over all there is.
static void test_inline_forms(void) {
    EmuConversion up = {CVT(f32, f16)}, down = {CVT(f16, f32)}, bdown = {CVT(bf16, f32)};
    long wrong = 0;
    for (uint32_t i = 0; i < 65536; i++)
        wrong += emu_float_bits(emu_f16_to_f32((uint16_t)i)) != emu_convert(&up, i);
    for (uint64_t i = 0; i < 1 << 20; i++) {
        uint32_t in = (uint32_t)(i < 512 * FRACTIONS ? input_edges32(i) : input_dense32(i));
        wrong += emu_f32_to_f16(emu_float(in)) != emu_convert(&down, in);
        wrong += emu_f32_to_bf16(emu_float(in)) != emu_convert(&bdown, in);
    }
    EmuConversion wide = {CVT(f16, f64)};
    for (uint64_t i = 0; i < (uint64_t)2048 * FRACTIONS; i++)
        wrong +=
            emu_f64_to_f16(double_of(input_edges64(i))) != emu_convert(&wide, input_edges64(i));
    CHECK_INT(wrong, 0);
    CHECK_INT(emu_f64_to_f16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01); // through f32 it would be a tie
}

int main(void) {
    RUN(test_table_of_nvidias_headers);
    RUN(test_roundings_of_the_host);
    RUN(test_float_to_integer_and_integral);
    RUN(test_cases_of_the_manual);
    RUN(test_lanes_agree);
    RUN(test_inline_forms);
    return test_done();
}
