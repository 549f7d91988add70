/* Memory in the order of streams. An allocation is there at once; the end of one is work of its
 * stream, and whoever uses it behind that, or in another stream without waiting, uses what is
 * freed. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- who has what ---------------------------------------------------------------------------- */

static PoolBlock **find_link(CUdeviceptr address) {
    PoolBlock **link = &driver.pool_blocks;
    while (*link != NULL && address - (*link)->address >= (*link)->size) link = &(*link)->next;
    return link;
}

Pool *pool_holding(CUdeviceptr address) {
    const PoolBlock *block = *find_link(address);
    return block != NULL ? block->pool : NULL;
}

bool pool_forget(CUdeviceptr address) {
    PoolBlock **link = find_link(address), *block = *link;
    if (block == NULL || block->address != address) return false;
    if (block->pool != NULL) block->pool->used -= block->size;
    *link = block->next;
    free(block);
    return true;
}

static CUresult allocate(Pool *pool, CUdeviceptr *address, size_t size) {
    if (pool->max_size != 0 && size > pool->max_size - pool->used) return CUDA_ERROR_OUT_OF_MEMORY;
    PoolBlock *block = malloc(sizeof *block);
    if (block == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t got = emu_memory_allocate(driver.memory, size, 512, EMU_BLOCK_device, NULL);
    if (got == 0) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *block = (PoolBlock){got, size, pool, driver.pool_blocks};
    driver.pool_blocks = block;
    pool->used += size;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    *address = got;
    return CUDA_SUCCESS;
}

/* ---- allocations ----------------------------------------------------------------------------- */

CUresult pool_alloc(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream handle) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (address == NULL || size == 0 || !object_is(pool, OBJECT_pool))
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) return CUDA_ERROR_NOT_SUPPORTED; /* nodes that allocate */
    return allocate(pool, address, size);
}

CUresult pool_alloc_default(CUdeviceptr *address, size_t size, CUstream stream) {
    return pool_alloc(address, size, driver.pool, stream);
}

CUresult pool_free(CUdeviceptr address, CUstream handle) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    EmuBlock block;
    if (!emu_memory_find(driver.memory, address, 1, &block) || !block.live ||
        block.address != address || block.kind != EMU_BLOCK_device)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) return CUDA_ERROR_NOT_SUPPORTED;
    pool_forget(address);
    Action action = {.kind = ACTION_free, .as.address = address};
    return stream_submit(stream, &action);
}

/* ---- pools ----------------------------------------------------------------------------------- */

CUresult pool_create(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    if (pool == NULL || properties == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (properties->handle_types != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Pool *made = object_new(OBJECT_pool, sizeof *made, NULL);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->max_size = properties->max_size;
    made->access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    made->reuse[0] = made->reuse[1] = made->reuse[2] = 1;
    *pool = made;
    return CUDA_SUCCESS;
}

/* Allocations outlive their pool. */
CUresult pool_destroy(CUmemoryPool pool) {
    if (!object_is(pool, OBJECT_pool) || pool == driver.default_pool)
        return CUDA_ERROR_INVALID_VALUE;
    for (PoolBlock *block = driver.pool_blocks; block != NULL; block = block->next)
        if (block->pool == pool) block->pool = NULL;
    if (driver.pool == pool) driver.pool = driver.default_pool;
    object_free(pool);
    return CUDA_SUCCESS;
}

/* Nothing is kept that was freed, so that there is nothing to give back. */
CUresult pool_trim(CUmemoryPool pool, size_t keep) {
    (void)keep;
    return object_is(pool, OBJECT_pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    if (!object_is(pool, OBJECT_pool) || value == NULL) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *(int *)value;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->threshold = *(uint64_t *)value;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: /* may only be set to 0, which begins it anew */
        if (*(uint64_t *)value != 0) return CUDA_ERROR_INVALID_VALUE;
        pool->used_high = pool->used;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    if (!object_is(pool, OBJECT_pool) || value == NULL) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = pool->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = pool->used_high; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static bool is_device(const CUmemLocation *location) {
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == 0;
}

CUresult pool_set_access(CUmemoryPool pool, const CUmemAccessDesc *accesses, size_t count) {
    if (!object_is(pool, OBJECT_pool) || (accesses == NULL && count > 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) /* its own device cannot be shut out */
        if (!is_device(&accesses[i].location) ||
            accesses[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult pool_access(int *flags, CUmemoryPool pool, CUmemLocation *location) {
    if (flags == NULL || location == NULL || !object_is(pool, OBJECT_pool) || !is_device(location))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = pool->access;
    return CUDA_SUCCESS;
}

static CUresult give_pool(CUmemoryPool *pool, CUdevice device, Pool *which) {
    if (pool == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *pool = which;
    return CUDA_SUCCESS;
}

CUresult pool_default(CUmemoryPool *pool, CUdevice device) {
    return give_pool(pool, device, driver.default_pool);
}

CUresult pool_of_device(CUmemoryPool *pool, CUdevice device) {
    return give_pool(pool, device, driver.pool);
}

CUresult pool_set_of_device(CUdevice device, CUmemoryPool pool) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (!object_is(pool, OBJECT_pool)) return CUDA_ERROR_INVALID_VALUE;
    driver.pool = pool;
    return CUDA_SUCCESS;
}
