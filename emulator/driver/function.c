/* Functions: what they need, what may be set, and how many of their blocks fit. */
#include "emulator/driver/driver.h"

enum { WARP = 32, PORTABLE_CLUSTER = 8, REGISTER_UNIT = 256 };

/* ---- attributes ------------------------------------------------------------------------------ */

static CUresult read_attribute(const Function *f, CUfunction_attribute attribute, int *value) {
    const EmuFunctionInfo *info = &f->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = info->ptx_version; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = info->binary_version; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->dynamic_shared_limit; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = 0; /* a kernel that needs a cluster says which */
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)info->required_cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)info->required_cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)info->required_cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = f->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    const Function *f = function_from_handle(handle);
    if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
    return f != NULL ? read_attribute(f, attribute, value) : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult set_attribute(Function *f, CUfunction_attribute attribute, int value) {
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 ||
            value > driver_model()->shared_per_block_optin - (int)f->info.static_shared)
            return CUDA_ERROR_INVALID_VALUE;
        f->dynamic_shared_limit = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        f->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value >= 0 && value <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult function_set_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    Function *f = function_from_handle(handle);
    return f != NULL ? set_attribute(f, attribute, value) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult kernel_attribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                          CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return function_attribute(value, attribute, (CUfunction)(void *)kernel);
}

CUresult kernel_set_attribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    return function_set_attribute((CUfunction)(void *)kernel, attribute, value);
}

/* A preference that nothing here depends on. */
CUresult function_set_cache(CUfunction handle, CUfunc_cache cache) {
    if (function_from_handle(handle) == NULL) return CUDA_ERROR_INVALID_HANDLE;
    return (unsigned)cache <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult function_module(CUmodule *module, CUfunction handle) {
    const Function *f = function_from_handle(handle);
    if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *module = f->module;
    return CUDA_SUCCESS;
}

CUresult function_name(const char **name, CUfunction handle) {
    const Function *f = function_from_handle(handle);
    if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *name = f->name;
    return CUDA_SUCCESS;
}

CUresult kernel_name(const char **name, CUkernel kernel) {
    return function_name(name, (CUfunction)(void *)kernel);
}

CUresult function_parameter(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    const Function *f = function_from_handle(handle);
    if (offset == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (index >= f->info.parameter_count) return CUDA_ERROR_INVALID_VALUE;
    uint64_t at, bytes;
    emu_function_parameter(f->machine, (uint32_t)index, &at, &bytes);
    *offset = (size_t)at;
    if (size != NULL) *size = (size_t)bytes;
    return CUDA_SUCCESS;
}

CUresult kernel_parameter(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    return function_parameter((CUfunction)(void *)kernel, index, offset, size);
}

/* All functions are loaded with their module. */
CUresult function_is_loaded(int *state, CUfunction handle) {
    enum { LOADED = 1 };
    if (state == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (function_from_handle(handle) == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *state = LOADED;
    return CUDA_SUCCESS;
}

CUresult function_load(CUfunction handle) {
    return function_from_handle(handle) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

int function_blocks(const Function *f, int block_size, size_t dynamic) {
    const EmuModel *m = driver_model();
    int warps = (block_size + WARP - 1) / WARP;
    int blocks = m->max_blocks_per_multiprocessor;
    blocks = least(blocks, m->max_threads_per_multiprocessor / WARP / warps);
    size_t shared = f->info.static_shared + dynamic + (size_t)m->shared_reserved;
    if (f->info.static_shared + dynamic > (size_t)m->shared_per_block_optin) return 0;
    blocks = least(blocks, (int)((size_t)m->shared_per_multiprocessor / shared));
    int registers = (int)f->info.registers * WARP;
    registers = (registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    if (registers > 0) blocks = least(blocks, m->registers_per_multiprocessor / registers / warps);
    return blocks;
}

CUresult occupancy_blocks_flags(int *blocks, CUfunction handle, int block_size, size_t shared,
                                unsigned flags) {
    const Function *f = function_from_handle(handle);
    if (blocks == NULL || block_size <= 0 ||
        (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *blocks = block_size <= (int)f->info.max_threads ? function_blocks(f, block_size, shared) : 0;
    return CUDA_SUCCESS;
}

CUresult occupancy_blocks(int *blocks, CUfunction handle, int block_size, size_t shared) {
    return occupancy_blocks_flags(blocks, handle, block_size, shared, 0);
}

/* The block size with most threads at a time; the larger of equals. */
CUresult occupancy_block_size_flags(int *grid, int *block, CUfunction handle,
                                    CUoccupancyB2DSize *shared_of, size_t shared, int limit,
                                    unsigned flags) {
    const Function *f = function_from_handle(handle);
    if (grid == NULL || block == NULL || limit < 0 ||
        (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    int most = (int)f->info.max_threads, best = 0;
    if (limit > 0) most = least(most, limit);
    *grid = *block = 0;
    for (int size = (most + WARP - 1) / WARP * WARP; size > 0; size -= WARP) {
        int threads = least(size, most);
        size_t dynamic = shared_of != NULL ? shared_of(threads) : shared;
        int blocks = function_blocks(f, threads, dynamic);
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *grid = blocks * driver_model()->multiprocessors;
    }
    return CUDA_SUCCESS;
}

CUresult occupancy_block_size(int *grid, int *block, CUfunction handle,
                              CUoccupancyB2DSize *shared_of, size_t shared, int limit) {
    return occupancy_block_size_flags(grid, block, handle, shared_of, shared, limit, 0);
}

CUresult occupancy_shared(size_t *shared, CUfunction handle, int blocks, int block_size) {
    const Function *f = function_from_handle(handle);
    if (shared == NULL || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    const EmuModel *m = driver_model();
    int most =
        m->shared_per_multiprocessor / blocks - m->shared_reserved - (int)f->info.static_shared;
    most = least(most, m->shared_per_block_optin - (int)f->info.static_shared);
    *shared = most > 0 ? (size_t)most / 16 * 16 : 0;
    return CUDA_SUCCESS;
}

static const CUlaunchAttribute *find_cluster(const CUlaunchConfig *config) {
    for (uint32_t i = 0; config->attributes != NULL && i < config->attribute_count; i++)
        if (config->attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return &config->attributes[i];
    return NULL;
}

CUresult occupancy_cluster_size(int *size, CUfunction handle, const CUlaunchConfig *config) {
    const Function *f = function_from_handle(handle);
    if (size == NULL || config == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    int most = driver_model()->max_cluster;
    *size = f->non_portable_cluster ? most : least(most, PORTABLE_CLUSTER);
    return CUDA_SUCCESS;
}

/* As many as the multiprocessors hold, as if clusters could lie across them anyhow. */
CUresult occupancy_clusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
    const Function *f = function_from_handle(handle);
    if (clusters == NULL || config == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
    const CUlaunchAttribute *attribute = find_cluster(config);
    uint32_t size = attribute == NULL ? 1
                                      : attribute->value.cluster.x * attribute->value.cluster.y *
                                            attribute->value.cluster.z;
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    if (size == 0 || size > (uint32_t)driver_model()->max_cluster)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (threads == 0 || threads > f->info.max_threads) return CUDA_ERROR_INVALID_VALUE;
    int blocks = function_blocks(f, (int)threads, config->shared);
    *clusters = blocks * driver_model()->multiprocessors / (int)size;
    return CUDA_SUCCESS;
}
