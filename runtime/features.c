#include "runtime/features.h"

#include <cpuid.h>
#include <stdbool.h>

/* The register states that the operating system saves (XCR0). */
static uint64_t saved_states(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool bit(uint32_t word, int number) { return word >> number & 1; }

static uint32_t wide_features(uint32_t b, uint32_t c, uint32_t d, uint64_t states) {
    enum { ZMM_STATES = 0xe6, TILE_STATES = 0x60000 };
    uint32_t features = 0, a1 = 0, b1, c1, d1;
    __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1);
    bool zmm = (states & ZMM_STATES) == ZMM_STATES && bit(b, 16) && bit(b, 17) && bit(b, 28) &&
               bit(b, 30) && bit(b, 31);
    if (zmm) features |= CPU_avx512;
    if (zmm && bit(c, 11)) features |= CPU_avx512_vnni;
    if (zmm && bit(a1, 5)) features |= CPU_avx512_bf16;
    if (zmm && bit(d, 23)) features |= CPU_avx512_fp16;
    bool tiles = (states & TILE_STATES) == TILE_STATES && bit(d, 24);
    if (tiles && bit(d, 22)) features |= CPU_amx_bf16;
    if (tiles && bit(d, 25)) features |= CPU_amx_int8;
    return features;
}

uint32_t cpu_features(void) {
    uint32_t a, b, c, d, b7, c7, d7;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    bool fma = bit(c, 12), xsave = bit(c, 27), avx = bit(c, 28), f16c = bit(c, 29);
    if (!xsave || !avx || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return 0;
    uint64_t states = saved_states();
    bool avx2 = (states & 6) == 6 && fma && f16c && bit(b7, 5) && bit(b7, 3) && bit(b7, 8);
    return avx2 ? CPU_avx2 | wide_features(b7, c7, d7, states) : 0;
}
