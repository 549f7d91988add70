#include "emulator/machine/convert.h"

#include <string.h>

/* A float format: sign, exponent, fraction, from the top bit down, and `shift` bits that are zero
 * below (tf32 is kept in the upper 19 bits of a word). */
typedef struct Format {
    int exponent_bits, fraction_bits, shift;
    uint64_t greatest; /* finite magnitude, without the shift, like the next two */
    uint64_t infinity; /* 0: the format has none */
    uint64_t nan;
} Format;

static const Format formats[PTX_TYPE_count] = {
    [PTX_TYPE_f16] = {5, 10, 0, 0x7bff, 0x7c00, 0x7fff},
    [PTX_TYPE_bf16] = {8, 7, 0, 0x7f7f, 0x7f80, 0x7fff},
    [PTX_TYPE_tf32] = {8, 10, 13, 0x3fbff, 0x3fc00, 0x3ffff},
    [PTX_TYPE_f32] = {8, 23, 0, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    [PTX_TYPE_f64] = {11, 52, 0, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fffffffffffffff},
    [PTX_TYPE_e4m3] = {4, 3, 0, 0x7e, 0, 0x7f},
    [PTX_TYPE_e5m2] = {5, 2, 0, 0x7b, 0x7c, 0x7f},
};

/* A value taken apart. Finite: significand * 2^exponent, the top bit of the significand set. */
typedef enum Kind { KIND_zero, KIND_finite, KIND_infinity, KIND_nan } Kind;

typedef struct Number {
    Kind kind;
    bool negative;
    int exponent;
    uint64_t significand;
} Number;

static int bias_of(const Format *f) { return (1 << (f->exponent_bits - 1)) - 1; }
static int sign_bit_of(const Format *f) { return f->exponent_bits + f->fraction_bits + f->shift; }

static Number number_normalise(bool negative, uint64_t significand, int exponent) {
    if (significand == 0) return (Number){KIND_zero, negative, 0, 0};
    int zeros = __builtin_clzll(significand);
    return (Number){KIND_finite, negative, exponent - zeros, significand << zeros};
}

static Number number_from_float(const Format *f, uint64_t bits) {
    int sign_bit = sign_bit_of(f);
    bool negative = bits >> sign_bit & 1;
    uint64_t magnitude = (bits & ((UINT64_C(1) << sign_bit) - 1)) >> f->shift;
    if (f->infinity && magnitude == f->infinity) return (Number){KIND_infinity, negative, 0, 0};
    if (magnitude > f->greatest) return (Number){KIND_nan, negative, 0, 0};
    uint64_t fraction = magnitude & ((UINT64_C(1) << f->fraction_bits) - 1);
    int exponent = (int)(magnitude >> f->fraction_bits);
    int scale = -bias_of(f) - f->fraction_bits;
    if (exponent == 0) return number_normalise(negative, fraction, 1 + scale);
    return number_normalise(negative, fraction | UINT64_C(1) << f->fraction_bits, exponent + scale);
}

static bool type_is_signed(PtxType type) { return ptx_type_class(type) == PTX_CLASS_signed; }

static uint64_t extend(uint64_t value, int bits, bool is_signed) {
    if (bits >= 64) return value;
    value &= (UINT64_C(1) << bits) - 1;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return is_signed ? (value ^ sign) - sign : value;
}

static Number number_from_integer(uint64_t value, bool is_signed) {
    bool negative = is_signed && value >> 63;
    return number_normalise(negative, negative ? 0 - value : value, 0);
}

/* Whether a magnitude `kept`, with `rest` below it as a fraction of 2^64, goes up by one. */
static bool rounds_up(EmuRounding rounding, bool negative, uint64_t kept, uint64_t rest) {
    const uint64_t half = UINT64_C(1) << 63;
    switch (rounding) {
    case EMU_ROUND_nearest_even: return rest > half || (rest == half && (kept & 1));
    case EMU_ROUND_nearest_away: return rest >= half;
    case EMU_ROUND_zero: return false;
    case EMU_ROUND_down: return negative && rest;
    case EMU_ROUND_up: return !negative && rest;
    }
    return false;
}

/* significand / 2^shift as an integer, rounded; shift > 0. What is beyond 64 bits is too small to
 * matter but as not zero. */
static uint64_t shift_rounded(const Number *n, int shift, EmuRounding rounding) {
    uint64_t kept = shift < 64 ? n->significand >> shift : 0;
    uint64_t rest = shift < 64 ? n->significand << (64 - shift) : shift == 64 ? n->significand : 1;
    return kept + rounds_up(rounding, n->negative, kept, rest);
}

/* The magnitude that overflows become: the greatest finite one where the rounding leads there. */
static uint64_t overflow_of(const Format *f, const Number *n, EmuRounding rounding, bool finite) {
    bool toward_zero = rounding == EMU_ROUND_zero || (rounding == EMU_ROUND_down && !n->negative) ||
                       (rounding == EMU_ROUND_up && n->negative);
    if (finite || toward_zero) return f->greatest;
    return f->infinity ? f->infinity : f->nan;
}

static uint64_t magnitude_of(const Format *f, const Number *n, EmuRounding rounding, bool finite) {
    int leading = n->exponent + 63, least = 1 - bias_of(f);
    int quantum = (leading > least ? leading : least) - f->fraction_bits;
    uint64_t kept = shift_rounded(n, quantum - n->exponent, rounding);
    /* A carry out of the fraction counts the exponent up by itself. */
    if (leading > least) kept += (uint64_t)(leading - least) << f->fraction_bits;
    return kept > f->greatest ? overflow_of(f, n, rounding, finite) : kept;
}

static uint64_t float_from_number(const Format *f, const Number *n, EmuRounding rounding,
                                  bool finite) {
    uint64_t magnitude = 0;
    if (n->kind == KIND_nan) return f->nan << f->shift;
    if (n->kind == KIND_infinity) magnitude = finite || !f->infinity ? f->greatest : f->infinity;
    if (n->kind == KIND_finite) magnitude = magnitude_of(f, n, rounding, finite);
    return magnitude << f->shift | (uint64_t)n->negative << sign_bit_of(f);
}

/* The number rounded to an integer, as a number. */
static Number number_integral(Number n, EmuRounding rounding) {
    if (n.kind != KIND_finite || n.exponent >= 0) return n;
    return number_normalise(n.negative, shift_rounded(&n, -n.exponent, rounding), 0);
}

/* NaN as an integer: PTX ISA, 9.7.9.21, "in float-to-integer conversions". */
static uint64_t integer_of_nan(PtxType to, PtxType from) {
    int bits = ptx_type_bits(to);
    return from == PTX_TYPE_f64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
}

static uint64_t integer_greatest(PtxType type) {
    uint64_t all = ~UINT64_C(0) >> (64 - ptx_type_bits(type));
    return type_is_signed(type) ? all >> 1 : all;
}

static uint64_t integer_least_magnitude(PtxType type) {
    return type_is_signed(type) ? integer_greatest(type) + 1 : 0;
}

/* An integral number clamped to the range of an integer type. */
static uint64_t integer_from_number(const Number *n, PtxType to) {
    uint64_t limit = n->negative ? integer_least_magnitude(to) : integer_greatest(to);
    uint64_t magnitude = 0;
    if (n->kind == KIND_infinity || (n->kind == KIND_finite && n->exponent > 0)) magnitude = limit;
    if (n->kind == KIND_finite && n->exponent <= 0)
        magnitude = n->exponent > -64 ? n->significand >> -n->exponent : 0;
    if (magnitude > limit) magnitude = limit;
    return extend(n->negative ? 0 - magnitude : magnitude, ptx_type_bits(to), type_is_signed(to));
}

static uint64_t convert_integers(const EmuConversion *c, uint64_t a) {
    uint64_t value = extend(a, ptx_type_bits(c->from), type_is_signed(c->from));
    if (c->sat) {
        Number n = number_from_integer(value, type_is_signed(c->from));
        return integer_from_number(&n, c->to);
    }
    return extend(value, ptx_type_bits(c->to), type_is_signed(c->to));
}

static bool type_is_float(PtxType type) { return ptx_type_class(type) == PTX_CLASS_float; }

/* [0, 1] of .sat; the clamp may come before the rounding, since both ends are in every format. */
static Number number_saturate(Number n) {
    const Number zero = {KIND_zero, false, 0, 0},
                 one = {KIND_finite, false, -63, UINT64_C(1) << 63};
    if (n.kind == KIND_nan || n.kind == KIND_zero || n.negative) return zero;
    return n.kind == KIND_infinity || n.exponent >= -63 ? one : n;
}

static bool f32_subnormal(uint64_t bits) { return (bits & 0x7f800000) == 0; }

static Number source_number(const EmuConversion *c, uint64_t a) {
    int bits = ptx_type_bits(c->from);
    if (!type_is_float(c->from))
        return number_from_integer(extend(a, bits, type_is_signed(c->from)),
                                   type_is_signed(c->from));
    if (c->ftz && c->from == PTX_TYPE_f32 && f32_subnormal(a)) a &= 0x80000000;
    return number_from_float(&formats[c->from], a);
}

/* A NaN that keeps its payload, where the target is wider and the format of the source is cut from
 * it: bf16 is the upper half of an f32, and hardware moves its bits. */
static bool keeps_payload(const EmuConversion *c) {
    return c->from == PTX_TYPE_bf16 && c->to == PTX_TYPE_f32;
}

static uint64_t convert_to_float(const EmuConversion *c, Number n, uint64_t a) {
    if (n.kind == KIND_nan && !c->sat && keeps_payload(c)) return (a & 0xffff) << 16;
    if (c->integral) n = number_integral(n, c->rounding);
    if (c->sat) n = number_saturate(n);
    if (c->relu && n.negative && n.kind != KIND_nan) n = (Number){KIND_zero, false, 0, 0};
    uint64_t bits = float_from_number(&formats[c->to], &n, c->rounding, c->satfinite);
    if (c->ftz && c->to == PTX_TYPE_f32 && f32_subnormal(bits)) bits &= 0x80000000;
    return bits;
}

static uint64_t convert_scalar(const EmuConversion *c, uint64_t a) {
    bool to_float = type_is_float(c->to);
    if (!to_float && !type_is_float(c->from)) return convert_integers(c, a);
    Number n = source_number(c, a);
    if (to_float) return convert_to_float(c, n, a);
    if (n.kind == KIND_nan)
        return extend(integer_of_nan(c->to, c->from), ptx_type_bits(c->to), type_is_signed(c->to));
    n = number_integral(n, c->rounding);
    return integer_from_number(&n, c->to);
}

/* The element of a packed type; any other type is its own element. */
static PtxType element_of(PtxType type) {
    switch (type) {
    case PTX_TYPE_f16x2: return PTX_TYPE_f16;
    case PTX_TYPE_bf16x2: return PTX_TYPE_bf16;
    case PTX_TYPE_e4m3x2: return PTX_TYPE_e4m3;
    case PTX_TYPE_e5m2x2: return PTX_TYPE_e5m2;
    default: return type;
    }
}

uint64_t emu_convert_pair(const EmuConversion *c, uint64_t a, uint64_t b) {
    EmuConversion element = *c;
    element.to = (uint8_t)element_of(c->to);
    element.from = (uint8_t)element_of(c->from);
    return convert_scalar(&element, a) << ptx_type_bits(element.to) | convert_scalar(&element, b);
}

uint64_t emu_convert(const EmuConversion *c, uint64_t a) {
    if (ptx_type_class(c->to) != PTX_CLASS_packed) return convert_scalar(c, a);
    return emu_convert_pair(c, a >> ptx_type_bits(element_of(c->from)), a);
}

uint32_t emu_convert_pack(PtxType type, int32_t a, int32_t b, uint32_t c) {
    EmuConversion clamp = {.to = (uint8_t)type, .from = PTX_TYPE_s32, .sat = true};
    int bits = ptx_type_bits(type);
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t pair = (emu_convert(&clamp, (uint32_t)a) & mask) << bits |
                    (emu_convert(&clamp, (uint32_t)b) & mask);
    return (uint32_t)(pair | (uint64_t)c << 2 * bits);
}

uint64_t emu_canonical_nan(PtxType type) { return formats[type].nan << formats[type].shift; }

static uint16_t f64_to_16(double value, PtxType to) {
    EmuConversion c = {.to = (uint8_t)to, .from = PTX_TYPE_f64};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)convert_scalar(&c, bits);
}

uint16_t emu_f64_to_f16(double value) { return f64_to_16(value, PTX_TYPE_f16); }
uint16_t emu_f64_to_bf16(double value) { return f64_to_16(value, PTX_TYPE_bf16); }
