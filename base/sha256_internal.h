/* What the files of SHA-256 share. */
#ifndef TCC_BASE_SHA256_INTERNAL_H
#define TCC_BASE_SHA256_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_round_constants[64];

/* Whether this processor has instructions for it; only then may the other function be called. */
bool sha256_has_instructions(void);
/* Takes `count` blocks of 64 bytes into the state. */
void sha256_compress_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);

#endif
