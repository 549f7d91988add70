/* Memory of a device: a range of addresses of its own, in which nothing can be read by the host
 * (a host that follows a device pointer faults, as it would with a real device), and a second
 * mapping of the same bytes through which the machine reads and writes.
 *
 * Also registered host memory (pinned, managed), which the machine may access at its address. */
#ifndef TCC_EMULATOR_MACHINE_MEMORY_H
#define TCC_EMULATOR_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct EmuMemory EmuMemory;

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

/* Gives `size` bytes aligned to `align` (a power of two, at least 256 is used), poisoned.
 * 0: none is left. */
uint64_t emu_memory_allocate(EmuMemory *memory, uint64_t size, uint64_t align, EmuBlockKind kind,
                             const char *name);
/* Host memory the caller owns; false when it overlaps a block. */
bool emu_memory_register(EmuMemory *memory, void *host, uint64_t size);
/* Ends a block; false when `address` begins none that lives. */
bool emu_memory_release(EmuMemory *memory, uint64_t address);

/* The block that holds [address, address + size), or that held it; false when no block did.
 * The copy is valid until the block is released. */
bool emu_memory_find(const EmuMemory *memory, uint64_t address, uint64_t size, EmuBlock *out_block);

uint64_t emu_memory_capacity(const EmuMemory *memory);
uint64_t emu_memory_used(const EmuMemory *memory);
uint64_t emu_memory_blocks(const EmuMemory *memory); /* live ones */

#endif
