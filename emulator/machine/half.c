/* Arithmetic of f16 and bf16, alone and in pairs: computed in a wider type and rounded once.
 *
 * f16 sums and products are rounded correctly when they are computed in f32 first (24 >= 2 * 11 + 2
 * bits). A fused product needs more than a double has, so its rounding error is kept as the last
 * bit ("rounding to odd"), which no later rounding to so few bits can mistake. */
#include "emulator/machine/floats.h"
#include "emulator/machine/lanes.h"

#include <math.h>

/* x * y + z of 16-bit floats, as a double that rounds to them as the exact value does. */
static inline double fused_to_odd(double x, double y, double z) {
    double product = x * y, sum = product + z; /* the product is exact */
    double back = sum - product, error = (product - (sum - back)) + (z - back);
    union {
        double value;
        uint64_t bits;
    } odd = {.value = sum};
    if (error != 0 && isfinite(sum) && !(odd.bits & 1))
        odd.bits = (error > 0) == (sum > 0) ? odd.bits + 1 : odd.bits - 1;
    return odd.value;
}

static inline uint16_t f16_add(uint16_t x, uint16_t y) {
    return emu_f32_to_f16(emu_f16_to_f32(x) + emu_f16_to_f32(y));
}
static inline uint16_t f16_sub(uint16_t x, uint16_t y) {
    return emu_f32_to_f16(emu_f16_to_f32(x) - emu_f16_to_f32(y));
}
static inline uint16_t f16_mul(uint16_t x, uint16_t y) {
    return emu_f32_to_f16(emu_f16_to_f32(x) * emu_f16_to_f32(y));
}
static uint16_t f16_fma(uint16_t x, uint16_t y, uint16_t z) {
    return emu_f64_to_f16(fused_to_odd((double)emu_f16_to_f32(x), (double)emu_f16_to_f32(y),
                                       (double)emu_f16_to_f32(z)));
}
static inline uint16_t bf16_add(uint16_t x, uint16_t y) {
    return emu_f32_to_bf16(emu_bf16_to_f32(x) + emu_bf16_to_f32(y));
}
static inline uint16_t bf16_sub(uint16_t x, uint16_t y) {
    return emu_f32_to_bf16(emu_bf16_to_f32(x) - emu_bf16_to_f32(y));
}
static uint16_t bf16_mul(uint16_t x, uint16_t y) {
    return emu_f64_to_bf16((double)emu_bf16_to_f32(x) * (double)emu_bf16_to_f32(y));
}
static uint16_t bf16_fma(uint16_t x, uint16_t y, uint16_t z) {
    return emu_f64_to_bf16(fused_to_odd((double)emu_bf16_to_f32(x), (double)emu_bf16_to_f32(y),
                                        (double)emu_bf16_to_f32(z)));
}

/* Both halves of a word. */
#define BOTH_2(f, x, y)                                                                            \
    ((uint32_t)f((uint16_t)(x), (uint16_t)(y)) |                                                   \
     (uint32_t)f((uint16_t)((x) >> 16), (uint16_t)((y) >> 16)) << 16)
#define BOTH_3(f, x, y, z)                                                                         \
    ((uint32_t)f((uint16_t)(x), (uint16_t)(y), (uint16_t)(z)) |                                    \
     (uint32_t)f((uint16_t)((x) >> 16), (uint16_t)((y) >> 16), (uint16_t)((z) >> 16)) << 16)

#define HALVES_2(name)                                                                             \
    BINARY(name##_one, u16, u16, u16, name(x, y))                                                  \
    BINARY(name##_two, u32, u32, u32, BOTH_2(name, x, y))
HALVES_2(f16_add)
HALVES_2(f16_sub)
HALVES_2(f16_mul)
HALVES_2(bf16_add)
HALVES_2(bf16_sub)
HALVES_2(bf16_mul)
TERNARY(f16_fma_one, u16, u16, u16, u16, f16_fma(x, y, z))
TERNARY(f16_fma_two, u32, u32, u32, u32, BOTH_3(f16_fma, x, y, z))
TERNARY(bf16_fma_one, u16, u16, u16, u16, bf16_fma(x, y, z))
TERNARY(bf16_fma_two, u32, u32, u32, u32, BOTH_3(bf16_fma, x, y, z))

/* With .ftz (of f16), .sat and .relu. */
static inline uint16_t f16_flush(uint16_t x) { return x & 0x7c00 ? x : x & 0x8000; }

static uint16_t f16_finish(uint16_t v, uint32_t options) {
    if (options & OPTION_ftz) v = f16_flush(v);
    bool nan = (v & 0x7fff) > 0x7c00, negative = v & 0x8000;
    if (options & OPTION_sat) return nan || negative ? 0 : v > 0x3c00 ? 0x3c00 : v;
    if (options & OPTION_relu) return nan ? 0x7fff : negative ? 0 : v;
    return v;
}
static uint16_t f16_general(uint64_t operation, uint16_t x, uint16_t y, uint16_t z,
                            uint32_t options) {
    if (options & OPTION_ftz) x = f16_flush(x), y = f16_flush(y), z = f16_flush(z);
    uint16_t v = operation == 0   ? f16_add(x, y)
                 : operation == 1 ? f16_sub(x, y)
                 : operation == 2 ? f16_mul(x, y)
                                  : f16_fma(x, y, z);
    return f16_finish(v, options);
}
static uint16_t bf16_fma_relu(uint16_t x, uint16_t y, uint16_t z) {
    uint16_t v = bf16_fma(x, y, z);
    return (v & 0x7fff) > 0x7f80 ? 0x7fff : v & 0x8000 ? 0 : v;
}
#define F16_GENERAL(x, y, z) f16_general(record->immediate, x, y, z, record->options)
TERNARY(f16_options_one, u16, u16, u16, u16, F16_GENERAL(x, y, z))
TERNARY(f16_options_two, u32, u32, u32, u32, BOTH_3(F16_GENERAL, x, y, z))
TERNARY(bf16_relu_one, u16, u16, u16, u16, bf16_fma_relu(x, y, z))
TERNARY(bf16_relu_two, u32, u32, u32, u32, BOTH_3(bf16_fma_relu, x, y, z))

static bool prepare_half(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    (void)decoder;
    if (instruction->operand_count < 4) record->slot[3] = record->slot[2];
    return true;
}

/* Least and greatest, by order of the bits: negative values count downwards. Immediate: 1 greatest,
 * 2 of bf16. */
static inline int32_t half_order(uint16_t x) { return x & 0x8000 ? -(x & 0x7fff) - 1 : x; }
static uint16_t half_bound(uint16_t x, uint16_t y, uint64_t kind, uint32_t options) {
    uint16_t infinity = kind & 2 ? 0x7f80 : 0x7c00;
    if (options & OPTION_ftz) x = f16_flush(x), y = f16_flush(y);
    bool x_nan = (x & 0x7fff) > infinity, y_nan = (y & 0x7fff) > infinity;
    uint16_t sign = (x ^ y) & 0x8000;
    if ((x_nan && y_nan) || ((x_nan || y_nan) && options & OPTION_nan)) return 0x7fff;
    if (options & OPTION_xorsign) x &= 0x7fff, y &= 0x7fff;
    bool first = kind & 1 ? half_order(x) > half_order(y) : half_order(x) < half_order(y);
    uint16_t v = x_nan ? y : y_nan ? x : first ? x : y;
    return options & OPTION_xorsign ? v | sign : v;
}
#define HALF_BOUND(x, y) half_bound(x, y, record->immediate, record->options)
BINARY(bound_one, u16, u16, u16, HALF_BOUND(x, y))
BINARY(bound_two, u32, u32, u32, BOTH_2(HALF_BOUND, x, y))

UNARY(abs_one, u16, u16, x & 0x7fff)
UNARY(abs_two, u32, u32, x & 0x7fff7fff)
UNARY(neg_one, u16, u16, x ^ 0x8000)
UNARY(neg_two, u32, u32, x ^ 0x80008000)
static inline uint32_t flush_pair(uint32_t x) {
    return (uint32_t)f16_flush((uint16_t)x) | (uint32_t)f16_flush((uint16_t)(x >> 16)) << 16;
}
UNARY(abs_ftz_one, u16, u16, f16_flush(x) & 0x7fff)
UNARY(abs_ftz_two, u32, u32, flush_pair(x) & 0x7fff7fff)
UNARY(neg_ftz_one, u16, u16, f16_flush(x) ^ 0x8000)
UNARY(neg_ftz_two, u32, u32, flush_pair(x) ^ 0x80008000)

#define HALF_OPTIONS (ACCEPT_ftz | ACCEPT_sat | ACCEPT_relu)
#define HALF(row, name, n, number)                                                                 \
    FORM(row, "Ww" n, f16_##name##_one, T(f16)), FORM(row, "Ww" n, f16_##name##_two, T(f16x2)),    \
        FORM(row, "Ww" n, bf16_##name##_one, T(bf16)),                                             \
        FORM(row, "Ww" n, bf16_##name##_two, T(bf16x2)),                                           \
        FORM(row, "Ww" n, f16_options_one, T(f16), .accepts = HALF_OPTIONS,                        \
             .prepare = prepare_half, .immediate = number),                                        \
        FORM(row, "Ww" n, f16_options_two, T(f16x2), .accepts = HALF_OPTIONS,                      \
             .prepare = prepare_half, .immediate = number)
#define HALF_BOUNDS(row, greatest)                                                                 \
    FORM(row, "Www", bound_one, T(f16), .immediate = greatest, .accepts = BOUND_OPTIONS),          \
        FORM(row, "Www", bound_two, T(f16x2), .immediate = greatest, .accepts = BOUND_OPTIONS),    \
        FORM(row, "Www", bound_one, T(bf16), .immediate = (greatest) | 2,                          \
             .accepts = BOUND_OPTIONS),                                                            \
        FORM(row, "Www", bound_two, T(bf16x2), .immediate = (greatest) | 2,                        \
             .accepts = BOUND_OPTIONS)
#define BOUND_OPTIONS (ACCEPT_ftz | ACCEPT_nan | ACCEPT_xorsign)
#define SIGN(row)                                                                                  \
    FORM(row, "Ww", row##_one, T(f16)), FORM(row, "Ww", row##_two, T(f16x2)),                      \
        FORM(row, "Ww", row##_one, T(bf16)), FORM(row, "Ww", row##_two, T(bf16x2)),                \
        FORM(row, "Ww", row##_ftz_one, T(f16), M(ftz)),                                            \
        FORM(row, "Ww", row##_ftz_two, T(f16x2), M(ftz))

static const Form emu_forms_half_forms[] = {
    HALF(add, add, "w", 0),
    HALF(sub, sub, "w", 1),
    HALF(mul, mul, "w", 2),
    HALF(fma, fma, "ww", 3),
    FORM(fma, "Wwww", bf16_relu_one, T(bf16), M(relu)),
    FORM(fma, "Wwww", bf16_relu_two, T(bf16x2), M(relu)),
    HALF_BOUNDS(min, 0),
    HALF_BOUNDS(max, 1),
    SIGN(abs),
    SIGN(neg),
};
FORM_TABLE(emu_forms_half);
