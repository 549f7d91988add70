/* SHA-256 (FIPS 180-4): names of blobs, build ids and keys of caches. */
#ifndef TCC_BASE_SHA256_H
#define TCC_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
    bool by_instructions; /* of the processor; the digest is the same without them */
} Sha256;

void sha256_begin(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t size);
/* The digest; `hash` must begin anew before its next use. */
void sha256_end(Sha256 *hash, uint8_t out_digest[32]);

/* All three for one piece of memory. */
void sha256(const void *bytes, size_t size, uint8_t out_digest[32]);

/* 64 lower-case hex digits and a zero. */
void sha256_hex(const uint8_t digest[32], char out_text[65]);

#endif
