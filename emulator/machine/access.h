/* Where the bytes of a memory instruction are: addresses of 32 lanes, checked and turned into
 * pointers. */
#ifndef TCC_EMULATOR_MACHINE_ACCESS_H
#define TCC_EMULATOR_MACHINE_ACCESS_H

#include "emulator/machine/forms.h"

/* What a memory record says of its access; kept in record->slot[5]. */
typedef struct MemoryOp {
    uint8_t space;   /* PtxSpace */
    uint8_t element; /* bytes of one register's part: 1, 2, 4, 8 or 16 */
    uint8_t count;   /* of the vector */
    uint8_t order;   /* ObserveOrder, and ObserveScope in the upper half */
} MemoryOp;

static inline MemoryOp memory_op(const Record *record) {
    union {
        uint32_t word;
        MemoryOp op;
    } both = {.word = record->slot[5]};
    return both.op;
}

typedef struct Access {
    uint64_t address[EMU_LANES]; /* in its space; of idle lanes, the first one's */
    uint64_t base, stride;       /* what makes them the host's: see access_at */
    bool consecutive;            /* every lane takes part, and its bytes follow the last one's */
} Access;

/* The bytes of a lane that takes part. */
static inline uint8_t *access_at(const Access *access, int64_t lane) {
    return (uint8_t *)(uintptr_t)(access->base + access->address[lane] +
                                  access->stride * (uint64_t)lane);
}

/* Finds the bytes of record->slot[1] + immediate, `size` a lane. False: the access is at fault, and
 * the handler returns *out_step. */
bool access_resolve(Warp *warp, const Record *record, uint32_t lanes, uint32_t size,
                    ObserveKind kind, Access *out, Step *out_step);

/* Tells counters and observer of an access to `addresses` of 32 lanes, in their space. */
void access_tell(Warp *warp, const Record *record, uint32_t lanes, PtxSpace space, uint32_t size,
                 ObserveKind kind, const uint64_t *addresses);

/* The bytes of one lane at a generic address, for built-in functions; NULL: they are in no memory.
 * Nothing is told to the observer. */
uint8_t *access_pointer(Warp *warp, const Record *record, int lane, uint64_t generic,
                        uint32_t size);

/* Decoding: space, size, order and the address of a memory instruction, from operand `at`. */
bool access_prepare(Decoder *decoder, const PtxInstruction *instruction, uint32_t at,
                    Record *record);

#endif
