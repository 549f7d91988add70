/* Conversions between the number formats of PTX: what `cvt` does to one value, and to 32 lanes.
 *
 * Every float is taken apart into sign, exponent and a 64-bit significand, and put together again
 * in the other format with one rounding; formats are rows of a table (convert.c). So there is no
 * code for a pair of formats, and no double rounding. Pairs that kernels use all the time have
 * loops of their own in convert_lanes.c, which give the same bits.
 *
 * Pure functions: no state, any thread. */
#ifndef TCC_EMULATOR_MACHINE_CONVERT_H
#define TCC_EMULATOR_MACHINE_CONVERT_H

#include "emulator/ptx/ptx.h"

typedef enum EmuRounding {
    EMU_ROUND_nearest_even,
    EMU_ROUND_zero,
    EMU_ROUND_down,
    EMU_ROUND_up,
    EMU_ROUND_nearest_away /* .rna, of tf32 */
} EmuRounding;

/* One `cvt`. Of integers .sat clamps to the range of `to`; from float to integer that happens
 * always. .satfinite puts the greatest finite value where there would be an infinity. */
typedef struct EmuConversion {
    uint8_t to, from; /* PtxType: integers, floats of 8 bits (e4m3, e5m2) and more, and packed */
    uint8_t rounding; /* EmuRounding; of exact conversions any */
    bool integral;    /* .rni .rzi .rmi .rpi from float to float: to an integral value */
    bool ftz;         /* f32 subnormals, given or made, are zeros of their sign */
    bool sat;         /* floats into [0, 1], NaN to +0 */
    bool satfinite;
    bool relu; /* negative values to +0 */
} EmuConversion;

/* `a` holds a value of c->from in its low bits, what is above is ignored. The result is extended to
 * 64 bits by the sign where c->to is signed, with zeros otherwise. Packed formats convert element
 * by element (f16x2 from e4m3x2). */
uint64_t emu_convert(const EmuConversion *c, uint64_t a);

/* The form with two operands, cvt.rn.f16x2.f32 d, a, b: `a` lands in the upper half. */
uint64_t emu_convert_pair(const EmuConversion *c, uint64_t a, uint64_t b);

/* emu_convert of 32 lanes. `a` and `d` are registers as the machine keeps them: 32 words of
 * `a_bytes` or `d_bytes` bytes (4 or 8), narrower values in the low bits. d may be a. */
void emu_convert_lanes(const EmuConversion *c, void *d, int d_bytes, const void *a, int a_bytes);

/* cvt.pack.sat.TYPE.s32: `a` and `b` saturated to `type` (of 16, 8 or 4 bits), a above b in the
 * low bits, and the low bits of `c` above them. */
uint32_t emu_convert_pack(PtxType type, int32_t a, int32_t b, uint32_t c);

/* The canonical NaN of a float type: 0x7fffffff of f32. */
uint64_t emu_canonical_nan(PtxType type);

/* Bits of an f32 and back. */
static inline float emu_float(uint32_t bits) {
    union {
        uint32_t bits;
        float value;
    } both = {.bits = bits};
    return both.value;
}

static inline uint32_t emu_float_bits(float value) {
    union {
        float value;
        uint32_t bits;
    } both = {.value = value};
    return both.bits;
}

/* f16 to f32, exact, without a branch: a product corrects the exponent, which also normalises
 * subnormals; infinities get the largest exponent. NaN becomes 0x7fffffff. */
static inline float emu_f16_to_f32(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t bits = emu_float_bits(emu_float(magnitude) * 0x1p112f);
    bits = magnitude >= 0x0f800000 ? 0x7f800000 : bits;
    bits |= (uint32_t)(half & 0x8000) << 16;
    return emu_float(magnitude > 0x0f800000 ? 0x7fffffff : bits);
}

/* f32 to f16, to nearest even, without a branch: the sum with 1/2 rounds a subnormal result at its
 * last bit, a carry rounds the others. NaN becomes 0x7fff. */
static inline uint16_t emu_f32_to_f16(float value) {
    uint32_t sign = emu_float_bits(value) & 0x80000000;
    uint32_t magnitude = emu_float_bits(value) ^ sign;
    uint32_t small = emu_float_bits(emu_float(magnitude) + 0.5f) - 0x3f000000;
    uint32_t normal = (magnitude - 0x37fff001 + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude < 0x38800000 ? small : normal;
    half = (magnitude >= 0x47800000 ? 0x7c00 : half) | sign >> 16;
    return (uint16_t)(magnitude > 0x7f800000 ? 0x7fff : half);
}

static inline float emu_bf16_to_f32(uint16_t half) { return emu_float((uint32_t)half << 16); }

/* f32 to bf16, to nearest even. NaN becomes 0x7fff. */
static inline uint16_t emu_f32_to_bf16(float value) {
    uint32_t bits = emu_float_bits(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

/* f64 to a 16-bit format in one rounding, to nearest even (of f16 arithmetic done in double). */
uint16_t emu_f64_to_f16(double value);
uint16_t emu_f64_to_bf16(double value);

#endif
