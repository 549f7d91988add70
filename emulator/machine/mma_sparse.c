/* Metadata of sparse products: which columns the kept elements of A have (PTX ISA, 9.7.14.6).
 *
 * A row of A is cut into chunks, of which two units are kept. A nibble of metadata holds their
 * numbers in the chunk, two bits each, the first in the low ones. A unit is one element, two of
 * 4-bit types; of tf32 a chunk has two elements and one is kept, and its nibble is that of the two
 * halves that it would be as f16: 0b0100 for the first, 0b1110 for the second.
 *
 * Where the nibble of a row's chunk lies is a row of `places`: g is the row modulo 8, high its
 * fourth bit, f the selector. */
#include "emulator/machine/mma.h"

typedef struct Place {
    uint8_t bits;   /* of an element of A */
    uint8_t chunks; /* in a row */
    uint8_t selectors;
    uint8_t lane_selector; /* lane = 4g + f * this ... */
    uint8_t lane_high;     /* + high * this ... */
    uint8_t lane_chunk;    /* + (chunk / per_word) * this */
    uint8_t per_word;      /* chunks of a row in one lane's word */
    uint8_t bit_high;      /* bit = 4 * (chunk % per_word) + high * this */
} Place;

static const Place places[] = {
    {16, 4, 4, 1, 0, 0, 4, 16}, /* m16n8k16 */
    {16, 8, 2, 2, 0, 1, 4, 16}, /* m16n8k32 */
    {32, 4, 4, 1, 0, 0, 4, 16}, /* tf32 m16n8k8 */
    {32, 8, 2, 2, 0, 1, 4, 16}, /* tf32 m16n8k16 */
    {8, 8, 2, 2, 1, 0, 8, 0},   /* m16n8k32 */
    {8, 16, 1, 0, 1, 2, 8, 0},  /* m16n8k64 */
    {4, 8, 2, 2, 1, 0, 8, 0},   /* m16n8k64 */
    {4, 16, 1, 0, 1, 2, 8, 0},  /* m16n8k128 */
};

static int unit_of(int bits) { return bits == 4 ? 2 : 1; }
static int chunk_of(int bits) { return bits == 32 ? 2 : 4 * unit_of(bits); }

static const Place *place_of(const Mma *mma) {
    int bits = mma->layout_a.bits;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i].bits == bits && places[i].chunks * chunk_of(bits) == mma->k)
            return &places[i];
    return NULL;
}

bool mma_selector_valid(const Mma *mma) {
    const Place *place = place_of(mma);
    return place && mma->selector < place->selectors;
}

typedef struct Kept {
    int first, second;
} Kept;

static bool kept_valid(const Mma *mma, Kept kept) {
    if (mma->layout_a.bits == 32) /* the halves of one element */
        return kept.second == kept.first + 1 && kept.first % 2 == 0;
    return mma->ordered ? kept.first < kept.second : kept.first != kept.second;
}

/* The columns of one chunk's packed elements. */
static void fill_chunk(int bits, int chunk, Kept kept, uint16_t *out) {
    int base = chunk * chunk_of(bits), unit = unit_of(bits);
    if (bits == 32) {
        out[chunk] = (uint16_t)(base + kept.first / 2);
        return;
    }
    for (int i = 0; i < unit; i++) {
        out[2 * unit * chunk + i] = (uint16_t)(base + kept.first * unit + i);
        out[2 * unit * chunk + unit + i] = (uint16_t)(base + kept.second * unit + i);
    }
}

uint32_t mma_sparse_columns(const Mma *mma, const uint32_t *metadata, uint16_t *out_columns) {
    const Place *p = place_of(mma);
    for (int row = 0; p && row < 16; row++)
        for (int chunk = 0; chunk < p->chunks; chunk++) {
            int high = row >> 3;
            int lane = 4 * (row & 7) + mma->selector * p->lane_selector + high * p->lane_high +
                       chunk / p->per_word * p->lane_chunk;
            int bit = 4 * (chunk % p->per_word) + high * p->bit_high;
            uint32_t nibble = metadata[lane & 31] >> bit & 15;
            Kept kept = {(int)(nibble & 3), (int)(nibble >> 2)};
            if (!kept_valid(mma, kept)) return (uint32_t)lane & 31;
            fill_chunk(mma->layout_a.bits, chunk, kept, out_columns + row * mma->k / 2);
        }
    return ~0u;
}
