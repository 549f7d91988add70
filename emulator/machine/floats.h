/* What PTX does to floats beyond IEEE 754: canonical NaNs, flushed subnormals, saturation. All
 * without a branch, for loops over lanes. */
#ifndef TCC_EMULATOR_MACHINE_FLOATS_H
#define TCC_EMULATOR_MACHINE_FLOATS_H

#include "emulator/machine/convert.h"

/* f32 results that are NaN are one NaN. (f64 keeps payloads.) */
static inline float emu_canonical(float x) { return x == x ? x : emu_float(0x7fffffff); }

/* .ftz: a subnormal becomes the zero of its sign. */
static inline float emu_flush(float x) {
    uint32_t bits = emu_float_bits(x);
    return emu_float(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/* .sat: into [0, 1]; NaN and -0 become +0. */
static inline float emu_saturate(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

#endif
