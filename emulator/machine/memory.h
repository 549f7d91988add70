/* Memory of a device: a range of addresses of its own, in which nothing can be read by the host
 * (a host that follows a device pointer faults, as it would with a real device), and a second
 * mapping of the same bytes through which the machine reads and writes.
 *
 * Also registered host memory, which the machine may access at its address.
 *
 * All functions may be called by several threads. A block of which the written bytes are tracked
 * has a bit for each; pinned, managed and module blocks are not tracked, since the host may write
 * them and variables begin with a value. Memory that is freed is remembered (the last 1024 blocks)
 * until its addresses are used again, which is put off as long as there are others. */
#ifndef TCC_EMULATOR_MACHINE_MEMORY_H
#define TCC_EMULATOR_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct EmuMemory EmuMemory;

/* The next multiple of `align` (a power of two) from `at` on that is no multiple of twice as much:
 * whoever needs more than was asked for does not get it by luck. */
static inline uint64_t emu_place_barely(uint64_t at, uint64_t align) {
    uint64_t place = (at + align - 1) & ~(align - 1);
    return place & align ? place : place + align;
}

typedef enum EmuBlockKind {
    EMU_BLOCK_device,
    EMU_BLOCK_host,    /* pinned or registered: device address = host address */
    EMU_BLOCK_managed, /* both sides use one address */
    EMU_BLOCK_module   /* a variable of a module */
} EmuBlockKind;

/* An allocation, live or freed (kept for a while so that its use can be told from mere noise). */
typedef struct EmuBlock {
    uint64_t address, size;
    EmuBlockKind kind;
    bool live;
    bool read_only;
    uint64_t serial;  /* in the order of allocation */
    const char *name; /* of a variable; else NULL */
    uint8_t *bytes;   /* where the machine finds the bytes: bytes[a - address] */
    uint8_t *written; /* a bit a byte: what was written since it was allocated; NULL: not tracked */
} EmuBlock;

EmuMemory *emu_memory_new(uint64_t capacity); /* NULL: no memory or no address space */
void emu_memory_free(EmuMemory *memory);

/* Gives `size` bytes aligned to `align` (a power of two; at least 256 is used, but for variables
 * of modules) and to no more, poisoned (the first 64 MiB); variables of modules are zeros. Host
 * and managed blocks can be used by the host at the same address. `name` is copied, NULL is
 * allowed. 0: none is left, or the size is 0. */
uint64_t emu_memory_allocate(EmuMemory *memory, uint64_t size, uint64_t align, EmuBlockKind kind,
                             const char *name);
/* Host memory the caller owns; false when it overlaps a block. */
bool emu_memory_register(EmuMemory *memory, void *host, uint64_t size);
/* Ends a block; false when `address` begins none that lives. */
bool emu_memory_release(EmuMemory *memory, uint64_t address);

/* The block that `address` lies in or that ends before it, for saying what an access missed. */
bool emu_memory_nearest(const EmuMemory *memory, uint64_t address, EmuBlock *out_block);
/* Whether the machine may write the live block that begins at `address`; false: there is none. */
bool emu_memory_set_read_only(EmuMemory *memory, uint64_t address, bool read_only);
/* Marks bytes of a live block as written; those of one word may be marked by several threads. */
void emu_block_mark_written(const EmuBlock *block, uint64_t address, uint64_t size);

/* Bytes that are copied are as written as those they come from, which is whole where that is not
 * tracked. */
void emu_block_copy_written(const EmuBlock *to, uint64_t to_address, const EmuBlock *from,
                            uint64_t from_address, uint64_t size);

/* The block that holds [address, address + size), or that held it; false when no block did.
 * The copy is valid until the block is released. */
bool emu_memory_find(const EmuMemory *memory, uint64_t address, uint64_t size, EmuBlock *out_block);

/* Whether `address` is one of the device's own, in a block or in none. */
bool emu_memory_owns(const EmuMemory *memory, uint64_t address);

uint64_t emu_memory_capacity(const EmuMemory *memory);
uint64_t emu_memory_used(const EmuMemory *memory);
uint64_t emu_memory_blocks(const EmuMemory *memory); /* live ones */

#endif
