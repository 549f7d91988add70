/* Allocations: of the device, of pinned and of managed memory, and what a pointer is. */
#include "emulator/driver/driver.h"
#include "emulator/driver/emu.h"

#include <stdlib.h>

enum { ALIGN = 512, PITCH = 512 };

/* ---- device memory --------------------------------------------------------------------------- */

CUresult memory_info(size_t *free_bytes, size_t *total) {
    if (free_bytes == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
    *total = (size_t)emu_memory_capacity(driver.memory);
    *free_bytes = *total - (size_t)emu_memory_used(driver.memory);
    return CUDA_SUCCESS;
}

/* The block is the current context's from here; false without memory. */
static bool own(uint64_t address) {
    OwnedBlock *owned = malloc(sizeof *owned);
    if (owned == NULL) return false;
    *owned = (OwnedBlock){address, context_current_any(), driver.owned_blocks};
    driver.owned_blocks = owned;
    return true;
}

static void disown(uint64_t address) {
    OwnedBlock **link = &driver.owned_blocks;
    while (*link != NULL && (*link)->address != address) link = &(*link)->next;
    OwnedBlock *owned = *link;
    if (owned == NULL) return;
    *link = owned->next;
    free(owned);
}

static CUresult allocate(CUdeviceptr *address, size_t size, EmuBlockKind kind) {
    if (address == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
    uint64_t got = emu_memory_allocate(driver.memory, size, ALIGN, kind, NULL);
    if (got != 0 && !own(got)) {
        emu_memory_release(driver.memory, got);
        got = 0;
    }
    if (got == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = got;
    return CUDA_SUCCESS;
}

CUresult memory_alloc(CUdeviceptr *address, size_t size) {
    return allocate(address, size, EMU_BLOCK_device);
}

CUresult memory_alloc_pitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element) {
    if (pitch == NULL || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    size_t row, size;
    if (__builtin_add_overflow(width, (size_t)PITCH - 1, &row)) return CUDA_ERROR_OUT_OF_MEMORY;
    row -= row % PITCH;
    if (__builtin_mul_overflow(row, height, &size)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = allocate(address, size, EMU_BLOCK_device);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
}

static bool find(CUdeviceptr address, EmuBlock *out_block) {
    return emu_memory_find(driver.memory, address, 1, out_block) && out_block->live;
}

/* What is still to be done may use the memory, so that all of it is done first. */
CUresult memory_free(CUdeviceptr address) {
    if (address == 0) return CUDA_SUCCESS;
    EmuBlock block;
    if (!find(address, &block) || block.address != address) return CUDA_ERROR_INVALID_VALUE;
    if (block.kind != EMU_BLOCK_device && block.kind != EMU_BLOCK_managed)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_finish_all();
    if (result != CUDA_SUCCESS) return result;
    pool_forget(address);
    disown(address);
    return emu_memory_release(driver.memory, address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult memory_range(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    EmuBlock block;
    if (!find(address, &block)) return CUDA_ERROR_NOT_FOUND;
    if (base != NULL) *base = block.address;
    if (size != NULL) *size = (size_t)block.size;
    return CUDA_SUCCESS;
}

uint64_t emuMemoryBlocks(void) {
    return driver.memory != NULL ? emu_memory_blocks(driver.memory) : 0;
}

uint64_t emuMemoryBytes(void) { return driver.memory != NULL ? emu_memory_used(driver.memory) : 0; }

/* ---- memory of the host ---------------------------------------------------------------------- */

static HostBlock *host_find(uint64_t address) {
    HostBlock *block = driver.host_blocks;
    while (block != NULL && address - block->address >= block->size) block = block->next;
    return block;
}

static CUresult host_add(uint64_t address, size_t size, unsigned flags, bool registered) {
    HostBlock *block = malloc(sizeof *block);
    if (block == NULL || (registered && !own(address))) {
        free(block);
        disown(address);
        emu_memory_release(driver.memory, address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *block = (HostBlock){address, size, flags, registered, driver.host_blocks};
    driver.host_blocks = block;
    return CUDA_SUCCESS;
}

static void host_forget(HostBlock **link) {
    HostBlock *block = *link;
    emu_memory_release(driver.memory, block->address);
    disown(block->address);
    *link = block->next;
    free(block);
}

static HostBlock **host_link(uint64_t address) {
    HostBlock **link = &driver.host_blocks;
    while (*link != NULL && (*link)->address != address) link = &(*link)->next;
    return link;
}

/* Whoever waits lets the lock go, and others add and remove blocks meanwhile. */
static CUresult host_remove(const void *host, bool registered, CUresult missing) {
    uint64_t address = (uint64_t)(uintptr_t)host;
    const HostBlock *block = *host_link(address);
    if (block == NULL || block->registered != registered) return missing;
    CUresult result = context_finish_all();
    if (result != CUDA_SUCCESS) return result;
    HostBlock **link = host_link(address);
    if (*link == NULL) return missing;
    host_forget(link);
    return CUDA_SUCCESS;
}

static uint64_t owned_by(const Context *context) {
    const OwnedBlock *owned = driver.owned_blocks;
    while (owned != NULL && owned->context != context) owned = owned->next;
    return owned != NULL ? owned->address : 0;
}

void memory_end_context(const Context *context) {
    for (uint64_t address; (address = owned_by(context)) != 0;) {
        HostBlock **link = host_link(address);
        if (*link != NULL) {
            host_forget(link);
        } else {
            emu_memory_release(driver.memory, address);
            disown(address);
        }
    }
}

CUresult memory_host_alloc(void **host, size_t size, unsigned flags) {
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (host == NULL || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address;
    CUresult result = allocate(&address, size, EMU_BLOCK_host);
    if (result == CUDA_SUCCESS) result = host_add(address, size, flags, false);
    if (result == CUDA_SUCCESS) *host = (void *)(uintptr_t)address;
    return result;
}

CUresult memory_alloc_host(void **host, size_t size) {
    return memory_host_alloc(host, size, CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult memory_free_host(void *host) {
    return host == NULL ? CUDA_SUCCESS : host_remove(host, false, CUDA_ERROR_INVALID_VALUE);
}

CUresult memory_host_register(void *host, size_t size, unsigned flags) {
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (host == NULL || size == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (!emu_memory_register(driver.memory, host, size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    uint64_t address = (uint64_t)(uintptr_t)host;
    if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0)
        emu_memory_set_read_only(driver.memory, address, true);
    return host_add(address, size, flags, true);
}

CUresult memory_host_unregister(void *host) {
    return host_remove(host, true, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* One address serves both sides. */
CUresult memory_host_pointer(CUdeviceptr *address, void *host, unsigned flags) {
    if (address == NULL || flags != 0 || host_find((uint64_t)(uintptr_t)host) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *address = (CUdeviceptr)(uintptr_t)host;
    return CUDA_SUCCESS;
}

CUresult memory_host_flags(unsigned *flags, void *host) {
    const HostBlock *block = host_find((uint64_t)(uintptr_t)host);
    if (flags == NULL || block == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = block->flags;
    return CUDA_SUCCESS;
}

/* ---- managed memory -------------------------------------------------------------------------- */

CUresult memory_alloc_managed(CUdeviceptr *address, size_t size, unsigned flags) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(address, size, EMU_BLOCK_managed);
}

/* Both say where managed memory had better be, and there is one place. */
static CUresult check_managed(CUdeviceptr address, size_t size) {
    EmuBlock block;
    if (size == 0 || !emu_memory_find(driver.memory, address, size, &block) || !block.live)
        return CUDA_ERROR_INVALID_VALUE;
    return block.kind == EMU_BLOCK_managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool location_is_good(CUmemLocation location) {
    return location.type == CU_MEM_LOCATION_TYPE_HOST ||
           (location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0);
}

CUresult memory_prefetch(CUdeviceptr address, size_t size, CUmemLocation location, unsigned flags,
                         CUstream stream) {
    Stream *known;
    CUresult result = stream_from_handle(stream, &known);
    if (result != CUDA_SUCCESS) return result;
    if (flags != 0 || !location_is_good(location)) return CUDA_ERROR_INVALID_VALUE;
    return check_managed(address, size);
}

CUresult memory_advise(CUdeviceptr address, size_t size, CUmem_advise advice,
                       CUmemLocation location) {
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    if (!location_is_good(location)) return CUDA_ERROR_INVALID_VALUE;
    return check_managed(address, size);
}

/* ---- what a pointer is ----------------------------------------------------------------------- */

static void put_word(void *data, uint64_t value) { *(uint64_t *)data = value; }

static bool host_sees(const EmuBlock *block) {
    return block->kind == EMU_BLOCK_host || block->kind == EMU_BLOCK_managed;
}

static CUresult block_attribute(void *data, CUpointer_attribute attribute, const EmuBlock *block,
                                CUdeviceptr address) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = context_current_any(); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data =
            block->kind == EMU_BLOCK_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: put_word(data, address); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host_sees(block)) return CUDA_ERROR_INVALID_VALUE;
        put_word(data, address);
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(unsigned *)data = 0; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: put_word(data, block->serial); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = block->kind == EMU_BLOCK_managed;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: put_word(data, block->address); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: put_word(data, block->size); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)data = 1; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)data = pool_holding(address); break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    EmuBlock block;
    if (data == NULL || !find(address, &block)) return CUDA_ERROR_INVALID_VALUE;
    return block_attribute(data, attribute, &block, address);
}

/* Of a pointer that the driver does not know all are zero. */
CUresult pointer_attributes(unsigned count, CUpointer_attribute *attributes, void **data,
                            CUdeviceptr address) {
    if (count == 0 || attributes == NULL || data == NULL) return CUDA_ERROR_INVALID_VALUE;
    EmuBlock block;
    bool known = find(address, &block);
    const EmuBlock none = {0};
    for (unsigned i = 0; i < count; i++) {
        CUresult result =
            block_attribute(data[i], attributes[i], known ? &block : &none, known ? address : 0);
        if (result == CUDA_ERROR_NOT_SUPPORTED) return result;
        if (result != CUDA_SUCCESS) put_word(data[i], 0);
        if (known) continue;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT) put_word(data[i], 0);
        if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) *(unsigned *)data[i] = 0;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED) *(unsigned *)data[i] = 0;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)data[i] = -2;
    }
    return CUDA_SUCCESS;
}
