// Makes conversions.txt from the host code of NVIDIA's headers; run by make_conversions.
//
// A line is a conversion over a set of inputs: to, from, modifiers, set, checksum of all results,
// then some pairs input:result for a reader of a failure. The sets are the ones that
// tests/unit/emulator_convert.c walks, in the same order.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

typedef uint64_t u64;
typedef u64 (*Conversion)(u64);

static float f32(u64 bits) { uint32_t b = (uint32_t)bits; float f; memcpy(&f, &b, 4); return f; }
static double f64(u64 bits) { double d; memcpy(&d, &bits, 8); return d; }
static u64 bits(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
static __half f16(u64 b) { __half_raw r; r.x = (unsigned short)b; return r; }
static __nv_bfloat16 bf16(u64 b) { __nv_bfloat16_raw r; r.x = (unsigned short)b; return r; }
static u64 bits(__half h) { return __half_raw(h).x; }
static u64 bits(__nv_bfloat16 h) { return __nv_bfloat16_raw(h).x; }
static __half_raw raw(u64 b) { __half_raw r; r.x = (unsigned short)b; return r; }

// Fractions at and beside the places where some format rounds, for every sign and exponent.
static const uint32_t fractions[] = {
    0, 1, 2, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x3001, 0x7fff, 0x8000, 0x8001,
    0x10000, 0x17fff, 0x18000, 0x18001, 0x7ffff, 0x80000, 0x80001, 0xfffff, 0x100000, 0x180000,
    0x180001, 0x200000, 0x300000, 0x300001, 0x400000, 0x5fffff, 0x600000, 0x7f7fff, 0x7f8000,
    0x7fefff, 0x7ff000, 0x7ff001, 0x7ffffe, 0x7fffff};
static const int fraction_count = (int)(sizeof fractions / sizeof fractions[0]);

struct Set { const char *name; u64 count; u64 (*input)(u64 index); };
static u64 input_all(u64 i) { return i; }
static u64 input_edges32(u64 i) {
    return (i / fraction_count) << 23 | fractions[i % fraction_count];
}
static u64 input_dense32(u64 i) { return (uint32_t)(i * 2654435761u); }
static u64 input_edges64(u64 i) {
    u64 e = i / fraction_count, fraction = fractions[i % fraction_count];
    return (e >> 10 & 1) << 63 | (u64)((e & 1023) + 512) << 52 | fraction << 29 | (e % 3);
}
static u64 input_ints32(u64 i) {
    return i < 64 ? (1u << (i & 31)) - (uint32_t)(i >> 5) : (uint32_t)(i * 2654435761u) >> i % 31;
}
static u64 input_ints64(u64 i) {
    return i < 128 ? ((u64)1 << (i & 63)) - (i >> 6) : (i * 0x9e3779b97f4a7c15u) >> i % 63;
}
static const Set sets[] = {
    {"all8", 256, input_all},
    {"all16", 65536, input_all},
    {"edges32", (u64)512 * fraction_count, input_edges32},
    {"dense32", 1 << 20, input_dense32},
    {"edges64", (u64)2048 * fraction_count, input_edges64},
    {"ints32", 1 << 16, input_ints32},
    {"ints64", 1 << 16, input_ints64},
};

static void line(const char *to, const char *from, const char *modifiers, const char *set_name,
                 Conversion convert) {
    for (const Set &set : sets) {
        if (strcmp(set.name, set_name)) continue;
        u64 sum = 0;
        for (u64 i = 0; i < set.count; i++)
            sum = sum * 6364136223846793005u + convert(set.input(i)) + 1;
        printf("%s %s %s %s %016llx", to, from, modifiers, set.name, (unsigned long long)sum);
        for (u64 k = 0; k < 8; k++) {
            u64 in = set.input((2 * k + 1) * set.count / 16 + k);
            printf(" %llx:%llx", (unsigned long long)in, (unsigned long long)convert(in));
        }
        putchar('\n');
    }
}

#define LINE(to, from, modifiers, set, result) \
    line(#to, #from, modifiers, set, [](u64 x) -> u64 { return (u64)(result); })
#define FLOATS(to, from, modifiers, result) \
    LINE(to, from, modifiers, "edges32", result); LINE(to, from, modifiers, "dense32", result)
#define ROUNDED(to, from, set, name, value) \
    LINE(to, from, "rn", set, bits(name##_rn(value))); LINE(to, from, "rz", set, bits(name##_rz(value))); \
    LINE(to, from, "rm", set, bits(name##_rd(value))); LINE(to, from, "rp", set, bits(name##_ru(value)))
// Only truncation is host code; the other roundings to integers have no instruction of the CPU's.
#define TRUNCATED(to, from, mask, name, value) LINE(to, from, "rz", "all16", name##_rz(value) & mask)
#define FP8(to, interpretation) \
    FLOATS(to, f32, "rn.satfinite", __nv_cvt_float_to_fp8(f32(x), __NV_SATFINITE, interpretation)); \
    LINE(to, f16, "rn.satfinite", "all16", __nv_cvt_halfraw_to_fp8(raw(x), __NV_SATFINITE, interpretation)); \
    LINE(f16, to, "rn", "all8", __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, interpretation).x)
#define INTEGERS(format, get, name) \
    TRUNCATED(s32, format, 0xffffffff, __##name##2int, get(x)) ; \
    TRUNCATED(u32, format, 0xffffffff, __##name##2uint, get(x)); \
    TRUNCATED(s16, format, 0xffff, __##name##2short, get(x)); \
    TRUNCATED(u16, format, 0xffff, __##name##2ushort, get(x)); \
    TRUNCATED(s64, format, ~0ull, __##name##2ll, get(x)); \
    TRUNCATED(u64, format, ~0ull, __##name##2ull, get(x))

int main() {
    LINE(f32, f16, "none", "all16", bits(__half2float(f16(x))));
    LINE(f32, bf16, "none", "all16", bits(__bfloat162float(bf16(x))));
    ROUNDED(f16, f32, "edges32", __float2half, f32(x));
    ROUNDED(f16, f32, "dense32", __float2half, f32(x));
    ROUNDED(bf16, f32, "edges32", __float2bfloat16, f32(x));
    ROUNDED(bf16, f32, "dense32", __float2bfloat16, f32(x));
    LINE(f16, f64, "rn", "edges64", bits(__double2half(f64(x))));
    LINE(bf16, f64, "rn", "edges64", bits(__double2bfloat16(f64(x))));
    FP8(e4m3, __NV_E4M3);
    FP8(e5m2, __NV_E5M2);
    INTEGERS(f16, f16, half);
    INTEGERS(bf16, bf16, bfloat16);
    ROUNDED(f16, s32, "ints32", __int2half, (int)x);
    ROUNDED(f16, u32, "ints32", __uint2half, (unsigned)x);
    ROUNDED(f16, s64, "ints64", __ll2half, (long long)x);
    ROUNDED(f16, u64, "ints64", __ull2half, x);
    ROUNDED(f16, s16, "all16", __short2half, (short)x);
    ROUNDED(f16, u16, "all16", __ushort2half, (unsigned short)x);
    LINE(bf16, s32, "rn", "ints32", bits(__int2bfloat16_rn((int)x)));
    LINE(bf16, u32, "rn", "ints32", bits(__uint2bfloat16_rn((unsigned)x)));
    LINE(bf16, s64, "rn", "ints64", bits(__ll2bfloat16_rn((long long)x)));
    LINE(bf16, u64, "rn", "ints64", bits(__ull2bfloat16_rn(x)));
}
