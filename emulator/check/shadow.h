/* What is remembered of every word of a CTA's shared memory: who wrote it last, who read it since,
 * which bytes were written at all, and which copy is still on its way to it.
 *
 * A cell stands for 4 bytes. Once a half or a byte of a word is accessed, the word gets cells of
 * that size: kernels with 8- and 16-bit elements let neighbours share words. */
#ifndef TCC_EMULATOR_CHECK_SHADOW_H
#define TCC_EMULATOR_CHECK_SHADOW_H

#include "base/vec.h"
#include "emulator/check/clocks.h"

typedef struct Cell {
    Epoch write;   /* the last that was not strong */
    Epoch read;    /* the last of one warp; its time is that of the last of all */
    uint32_t more; /* one more than the place in `mores`; 0: there is no more */
    uint32_t copy; /* one more than the number of the copy that will write it, or ... */
} Cell;

/* What few cells need. */
typedef struct CellMore {
    Epoch strong;   /* the last strong write */
    Epoch *readers; /* the last reads, by warp, */
    bool shared;    /* when `read` cannot say them */
    Cell *parts;    /* cells of 1 << part_shift bytes, once a part of the word was accessed */
    uint8_t part_shift;
} CellMore;

/* ... these: the word belongs to an mbarrier, or to no variable. */
#define SHADOW_MBARRIER UINT32_MAX
#define SHADOW_NOBODY (UINT32_MAX - 1)

typedef struct Shadow {
    Arena *arena;
    uint32_t bytes;   /* of shared memory */
    Cell *cells;      /* a word each */
    uint8_t *written; /* a bit a byte */
    uint32_t warps;
    VEC(CellMore) mores;
} Shadow;

void shadow_init(Shadow *shadow, Arena *arena, uint32_t bytes, uint32_t warps);
void shadow_reset(Shadow *shadow, uint32_t bytes, uint32_t warps);

/* Forgets who did what, but not what is written. */
void shadow_forget_epochs(Shadow *shadow);

/* Whether all of [at, at + size) was written; and that it is now. */
bool shadow_written(const Shadow *shadow, uint32_t at, uint32_t size);
void shadow_set_written(Shadow *shadow, uint32_t at, uint32_t size);

/* An access by one lane of the event `self` (whose `lanes` are those of the whole instruction). */
typedef enum ShadowAccess {
    SHADOW_read,
    SHADOW_write,
    SHADOW_claim /* a write that is only announced: the bytes are not written by it */
} ShadowAccess;

/* The access of [at, at + size), which lies in shared memory, is remembered. When it races with an
 * earlier one, true, and *out_earlier is that one and *out_kind what it did. */
bool shadow_access(Shadow *shadow, const Clocks *clocks, ShadowAccess kind, uint32_t lane,
                   const Epoch *self, uint32_t at, uint32_t size, Epoch *out_earlier,
                   ShadowAccess *out_kind);

/* The quick way for many: words, or parts of words accessed so before, that nobody touched but who
 * is known to have. Lanes that are not like that are returned, and told one by one; the others are
 * done. `addresses` are of 32 lanes; *out_unwritten gets the lanes that read what nobody wrote. */
uint32_t shadow_access_quickly(Shadow *shadow, const Clocks *clocks, ShadowAccess kind,
                               const Epoch *self, const uint64_t *addresses, uint32_t size,
                               uint32_t *out_unwritten);

/* The copy on its way to [at, at + size): its number plus one; 0: none. */
uint32_t shadow_copy(const Shadow *shadow, uint32_t at, uint32_t size);
void shadow_set_copy(Shadow *shadow, uint32_t at, uint32_t size, uint32_t copy);

#endif
