/* Conversions of 32 lanes: loops for the pairs that kernels use all the time, one call a lane for
 * the rest. A loop is taken only where it gives the bits of emu_convert. */
#include "emulator/machine/convert.h"

#include "emulator/machine/vector.h"

enum { LANES = 32 };

static EMU_VECTOR void f16_to_f32(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = emu_float_bits(emu_f16_to_f32((uint16_t)a[i]));
}

static EMU_VECTOR void bf16_to_f32(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = a[i] << 16;
}

static EMU_VECTOR void f32_to_f16(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = emu_f32_to_f16(emu_float(a[i]));
}

static EMU_VECTOR void f32_to_bf16(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = emu_f32_to_bf16(emu_float(a[i]));
}

static EMU_VECTOR void s32_to_f32(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = emu_float_bits((float)(int32_t)a[i]);
}

static EMU_VECTOR void u32_to_f32(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = emu_float_bits((float)a[i]);
}

static EMU_VECTOR void f32_to_s32(uint32_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) {
        float x = emu_float(a[i]);
        float clamped = x >= -0x1p31f ? x : -0x1p31f; /* NaN too, and is replaced below */
        int32_t inside = (int32_t)(clamped < 0x1p31f ? clamped : 0);
        uint32_t value = x >= 0x1p31f ? INT32_MAX : (uint32_t)inside;
        d[i] = x == x ? value : 0;
    }
}

static EMU_VECTOR void widen_signed(uint64_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = (uint64_t)(int64_t)(int32_t)a[i];
}

static EMU_VECTOR void widen_unsigned(uint64_t *restrict d, const uint32_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = a[i];
}

static EMU_VECTOR void narrow(uint32_t *restrict d, const uint64_t *restrict a) {
    for (int i = 0; i < LANES; i++) d[i] = (uint32_t)a[i];
}

/* The loops, by what they need of the conversion and of the registers. */
typedef enum Loop {
    LOOP_none,
    LOOP_f16_to_f32,
    LOOP_bf16_to_f32,
    LOOP_f32_to_f16,
    LOOP_f32_to_bf16,
    LOOP_s32_to_f32,
    LOOP_u32_to_f32,
    LOOP_f32_to_s32,
    LOOP_widen_signed,
    LOOP_widen_unsigned,
    LOOP_narrow
} Loop;

enum { ROUND_ANY = -1 };

typedef struct LoopRow {
    uint8_t to, from;
    int8_t rounding; /* EmuRounding or ROUND_ANY */
    uint8_t d_bytes, a_bytes;
    uint8_t loop;
} LoopRow;

static const LoopRow loops[] = {
    {PTX_TYPE_f32, PTX_TYPE_f16, ROUND_ANY, 4, 4, LOOP_f16_to_f32},
    {PTX_TYPE_f32, PTX_TYPE_bf16, ROUND_ANY, 4, 4, LOOP_bf16_to_f32},
    {PTX_TYPE_f16, PTX_TYPE_f32, EMU_ROUND_nearest_even, 4, 4, LOOP_f32_to_f16},
    {PTX_TYPE_bf16, PTX_TYPE_f32, EMU_ROUND_nearest_even, 4, 4, LOOP_f32_to_bf16},
    {PTX_TYPE_f32, PTX_TYPE_s32, EMU_ROUND_nearest_even, 4, 4, LOOP_s32_to_f32},
    {PTX_TYPE_f32, PTX_TYPE_u32, EMU_ROUND_nearest_even, 4, 4, LOOP_u32_to_f32},
    {PTX_TYPE_s32, PTX_TYPE_f32, EMU_ROUND_zero, 4, 4, LOOP_f32_to_s32},
    {PTX_TYPE_s64, PTX_TYPE_s32, ROUND_ANY, 8, 4, LOOP_widen_signed},
    {PTX_TYPE_u64, PTX_TYPE_s32, ROUND_ANY, 8, 4, LOOP_widen_signed},
    {PTX_TYPE_u64, PTX_TYPE_u32, ROUND_ANY, 8, 4, LOOP_widen_unsigned},
    {PTX_TYPE_s64, PTX_TYPE_u32, ROUND_ANY, 8, 4, LOOP_widen_unsigned},
    {PTX_TYPE_u32, PTX_TYPE_u64, ROUND_ANY, 4, 8, LOOP_narrow},
    {PTX_TYPE_u32, PTX_TYPE_s64, ROUND_ANY, 4, 8, LOOP_narrow},
    {PTX_TYPE_s32, PTX_TYPE_s64, ROUND_ANY, 4, 8, LOOP_narrow},
    {PTX_TYPE_s32, PTX_TYPE_u64, ROUND_ANY, 4, 8, LOOP_narrow},
};

static Loop loop_of(const EmuConversion *c, int d_bytes, int a_bytes) {
    if (c->integral || c->ftz || c->sat || c->satfinite || c->relu) return LOOP_none;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        const LoopRow *row = &loops[i];
        if (row->to == c->to && row->from == c->from && row->d_bytes == d_bytes &&
            row->a_bytes == a_bytes &&
            (row->rounding == ROUND_ANY || row->rounding == (int)c->rounding))
            return row->loop;
    }
    return LOOP_none;
}

static uint64_t lane_read(const void *a, int bytes, int i) {
    return bytes == 4 ? ((const uint32_t *)a)[i] : ((const uint64_t *)a)[i];
}

static void lane_write(void *d, int bytes, int i, uint64_t value) {
    if (bytes == 4) ((uint32_t *)d)[i] = (uint32_t)value;
    if (bytes == 8) ((uint64_t *)d)[i] = value;
}

static void convert_each(const EmuConversion *c, void *d, int d_bytes, const void *a, int a_bytes) {
    uint64_t values[LANES]; /* d may be a */
    for (int i = 0; i < LANES; i++) values[i] = emu_convert(c, lane_read(a, a_bytes, i));
    for (int i = 0; i < LANES; i++) lane_write(d, d_bytes, i, values[i]);
}

static void run_loop(Loop loop, void *restrict d, const void *restrict a) {
    switch (loop) {
    case LOOP_none: break;
    case LOOP_f16_to_f32: f16_to_f32(d, a); break;
    case LOOP_bf16_to_f32: bf16_to_f32(d, a); break;
    case LOOP_f32_to_f16: f32_to_f16(d, a); break;
    case LOOP_f32_to_bf16: f32_to_bf16(d, a); break;
    case LOOP_s32_to_f32: s32_to_f32(d, a); break;
    case LOOP_u32_to_f32: u32_to_f32(d, a); break;
    case LOOP_f32_to_s32: f32_to_s32(d, a); break;
    case LOOP_widen_signed: widen_signed(d, a); break;
    case LOOP_widen_unsigned: widen_unsigned(d, a); break;
    case LOOP_narrow: narrow(d, a); break;
    }
}

void emu_convert_lanes(const EmuConversion *c, void *d, int d_bytes, const void *a, int a_bytes) {
    Loop loop = d == a ? LOOP_none : loop_of(c, d_bytes, a_bytes);
    if (loop == LOOP_none)
        convert_each(c, d, d_bytes, a, a_bytes);
    else
        run_loop(loop, d, a);
}
