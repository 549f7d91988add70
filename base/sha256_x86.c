/* The rounds by the processor's own instructions: each does two of them, on the state as the two
 * vectors ABEF and CDGH, and two others make the next four words of the schedule. */
#include "base/sha256_internal.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1")))

bool sha256_has_instructions(void) {
    unsigned a, b, c, d;
    bool vectors = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1);
    return vectors && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/* Words 4i … 4i + 3 of the message. */
WITH_SHA static __m128i load_words(const uint8_t *block, int i) {
    const __m128i big = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
    return _mm_shuffle_epi8(bytes, big);
}

/* The next four words of the schedule from the last sixteen. */
WITH_SHA static __m128i next_words(const __m128i w[4]) {
    __m128i sum = _mm_sha256msg1_epu32(w[0], w[1]);
    sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[3], w[2], 4));
    return _mm_sha256msg2_epu32(sum, w[3]);
}

WITH_SHA static void four_rounds(__m128i *abef, __m128i *cdgh, __m128i words, int t) {
    const void *constants = sha256_round_constants + 4 * t;
    __m128i sum = _mm_add_epi32(words, _mm_loadu_si128(constants));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

WITH_SHA void sha256_compress_blocks(uint32_t state[8], const uint8_t *blocks, size_t count) {
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        __m128i before_abef = abef, before_cdgh = cdgh, w[4];
        for (int t = 0; t < 16; t++) {
            __m128i words = t < 4 ? load_words(blocks, t) : next_words(w);
            if (t >= 4) {
                w[0] = w[1];
                w[1] = w[2];
                w[2] = w[3];
            }
            w[t < 4 ? t : 3] = words;
            four_rounds(&abef, &cdgh, words, t);
        }
        abef = _mm_add_epi32(abef, before_abef);
        cdgh = _mm_add_epi32(cdgh, before_cdgh);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha256_has_instructions(void) { return false; }

void sha256_compress_blocks(uint32_t state[8], const uint8_t *blocks, size_t count) {
    (void)state, (void)blocks, (void)count;
}

#endif
