/* FIPS 180-4, sections 4.1.2 (functions), 4.2.2 (constants), 5.1.1 (padding) and 6.2.2 (the
 * rounds). */
#include "base/sha256.h"

#include "base/sha256_internal.h"

#include <string.h>

const uint32_t sha256_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned count) { return x >> count | x << (32 - count); }

static uint32_t load_big(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_big(uint8_t *at, uint32_t word) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void expand(uint32_t w[64], const uint8_t *block) {
    for (int t = 0; t < 16; t++) w[t] = load_big(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
}

static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64], v[8];
    expand(w, block);
    memcpy(v, state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + sha256_round_constants[t] + w[t];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void compress_all(Sha256 *hash, const uint8_t *blocks, size_t count) {
    if (hash->by_instructions) {
        sha256_compress_blocks(hash->state, blocks, count);
        return;
    }
    for (size_t i = 0; i < count; i++) compress(hash->state, blocks + 64 * i);
}

void sha256_begin(Sha256 *hash) {
    *hash = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                               0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
                     .by_instructions = sha256_has_instructions()};
}

void sha256_add(Sha256 *hash, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    size_t held = hash->size % 64;
    hash->size += size;
    if (held && held + size >= 64) {
        memcpy(hash->block + held, at, 64 - held);
        compress_all(hash, hash->block, 1);
        at += 64 - held;
        size -= 64 - held;
        held = 0;
    }
    if (!held) {
        compress_all(hash, at, size / 64);
        at += size / 64 * 64;
        size %= 64;
    }
    if (size) memcpy(hash->block + held, at, size);
}

void sha256_end(Sha256 *hash, uint8_t out_digest[32]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->size * 8;
    uint8_t length[8];
    store_big(length, (uint32_t)(bits >> 32));
    store_big(length + 4, (uint32_t)bits);
    sha256_add(hash, padding, 1 + (119 - hash->size % 64) % 64);
    sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 8; i++) store_big(out_digest + 4 * i, hash->state[i]);
}

void sha256(const void *bytes, size_t size, uint8_t out_digest[32]) {
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, bytes, size);
    sha256_end(&hash, out_digest);
}

void sha256_hex(const uint8_t digest[32], char out_text[65]) {
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        out_text[2 * i] = hex[digest[i] >> 4];
        out_text[2 * i + 1] = hex[digest[i] & 15];
    }
    out_text[64] = '\0';
}
