/* Launches: what a host asks for is checked when it asks, and carried out by the stream. */
#include "emulator/driver/driver.h"

#include "base/guard.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK_Z = 64, PORTABLE_CLUSTER = 8, MAX_GRID_YZ = 65535 };

/* ---- checks ---------------------------------------------------------------------------------- */

static bool dims_are_good(const KernelAction *k, uint32_t most_threads) {
    uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
    if (k->grid[0] == 0 || k->grid[1] == 0 || k->grid[2] == 0 || threads == 0) return false;
    if (k->grid[0] > INT32_MAX || k->grid[1] > MAX_GRID_YZ || k->grid[2] > MAX_GRID_YZ)
        return false;
    return k->block[0] <= most_threads && k->block[1] <= most_threads &&
           k->block[2] <= MAX_BLOCK_Z && threads <= most_threads;
}

/* The cluster of the launch is the one that the kernel was compiled for, if it was for one. */
static CUresult check_cluster(KernelAction *k) {
    const uint32_t *required = k->function->info.required_cluster;
    if (required[0] != 0) {
        if (k->cluster[0] != 0 && memcmp(k->cluster, required, sizeof k->cluster) != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        memcpy(k->cluster, required, sizeof k->cluster);
    }
    if (k->cluster[0] == 0) return CUDA_SUCCESS;
    uint64_t size = (uint64_t)k->cluster[0] * k->cluster[1] * k->cluster[2];
    uint64_t most = (uint64_t)driver_model()->max_cluster;
    if (!k->function->non_portable_cluster && most > PORTABLE_CLUSTER) most = PORTABLE_CLUSTER;
    if (size == 0 || size > most) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (int i = 0; i < 3; i++)
        if (k->grid[i] % k->cluster[i] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

static CUresult check(KernelAction *k) {
    const Function *f = k->function;
    if (!dims_are_good(k, (uint32_t)driver_model()->max_threads_per_block))
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t threads = k->block[0] * k->block[1] * k->block[2];
    if (threads > f->info.max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (k->shared > (uint32_t)(f->dynamic_shared_limit > 0 ? f->dynamic_shared_limit : 0))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_cluster(k);
    if (result != CUDA_SUCCESS || !k->cooperative) return result;
    uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    int each = function_blocks(f, (int)threads, k->shared);
    bool fits = blocks <= (uint64_t)each * (uint64_t)driver_model()->multiprocessors;
    return fits ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static CUresult copy_list(const Function *f, void *const *list, char *out) {
    for (uint32_t i = 0; i < f->info.parameter_count; i++) {
        uint64_t offset, size;
        emu_function_parameter(f->machine, i, &offset, &size);
        if (list[i] == NULL) return CUDA_ERROR_INVALID_VALUE;
        memcpy(out + offset, list[i], (size_t)size);
    }
    return CUDA_SUCCESS;
}

/* `extra` is a list of names and values that ends with CU_LAUNCH_PARAM_END. */
static CUresult copy_buffer(const Function *f, void *const *extra, char *out) {
    const void *buffer = NULL;
    size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != NULL)
            size = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (size < f->info.parameter_bytes || (buffer == NULL && size > 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (f->info.parameter_bytes > 0) memcpy(out, buffer, f->info.parameter_bytes);
    return CUDA_SUCCESS;
}

static CUresult take_parameters(KernelAction *k, void *const *list, void *const *extra) {
    const Function *f = k->function;
    if (list != NULL && extra != NULL) return CUDA_ERROR_INVALID_VALUE;
    if (list == NULL && extra == NULL && f->info.parameter_count > 0)
        return CUDA_ERROR_INVALID_VALUE;
    k->parameter_bytes = f->info.parameter_bytes;
    k->parameters = calloc(1, k->parameter_bytes + 1);
    if (k->parameters == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_SUCCESS;
    if (extra != NULL)
        result = copy_buffer(f, extra, k->parameters);
    else if (list != NULL)
        result = copy_list(f, list, k->parameters);
    if (result != CUDA_SUCCESS) free(k->parameters);
    return result;
}

/* ---- launches -------------------------------------------------------------------------------- */

CUresult launch_action(const CUDA_KERNEL_NODE_PARAMS *p, Action *out_action) {
    if (p == NULL || (p->function != NULL && p->kernel != NULL)) return CUDA_ERROR_INVALID_VALUE;
    const void *handle = p->function != NULL ? (const void *)p->function : p->kernel;
    KernelAction k = {.function = function_from_handle(handle), .shared = p->shared};
    if (k.function == NULL) return CUDA_ERROR_INVALID_HANDLE;
    memcpy(k.grid, p->grid, sizeof k.grid);
    memcpy(k.block, p->block, sizeof k.block);
    CUresult result = check(&k);
    if (result == CUDA_SUCCESS) result = take_parameters(&k, p->parameters, p->extra);
    if (result == CUDA_SUCCESS) *out_action = (Action){.kind = ACTION_kernel, .as.kernel = k};
    return result;
}

static CUresult submit(KernelAction *k, const void *handle, CUstream stream_handle, void **list,
                       void **extra) {
    Stream *stream;
    CUresult result = stream_from_handle(stream_handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    k->function = function_from_handle(handle);
    if (k->function == NULL) return CUDA_ERROR_INVALID_HANDLE;
    Context *home = k->function->object.context;
    if (home != NULL && home != stream->object.context) return CUDA_ERROR_INVALID_HANDLE;
    result = check(k);
    if (result == CUDA_SUCCESS) result = take_parameters(k, list, extra);
    if (result != CUDA_SUCCESS) return result;
    Action action = {.kind = ACTION_kernel, .as.kernel = *k};
    return stream_submit(stream, &action);
}

CUresult launch_kernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void **list,
                       void **extra) {
    KernelAction k = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};
    return submit(&k, function, stream, list, extra);
}

CUresult launch_cooperative(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                            void **list) {
    KernelAction k = {
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .cooperative = true};
    return submit(&k, function, stream, list, NULL);
}

/* Attributes that only say how fast something should be are read and left. */
static CUresult take_attribute(KernelAction *k, const CUlaunchAttribute *attribute) {
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        k->cooperative = attribute->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        k->cluster[0] = attribute->value.cluster.x;
        k->cluster[1] = attribute->value.cluster.y;
        k->cluster[2] = attribute->value.cluster.z;
        return k->cluster[0] != 0 && k->cluster[1] != 0 && k->cluster[2] != 0
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: /* may begin early, need not */
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult launch_kernel_config(const CUlaunchConfig *config, CUfunction function, void **list,
                              void **extra) {
    if (config == NULL || (config->attributes == NULL && config->attribute_count > 0))
        return CUDA_ERROR_INVALID_VALUE;
    KernelAction k = {.shared = config->shared};
    memcpy(k.grid, config->grid, sizeof k.grid);
    memcpy(k.block, config->block, sizeof k.block);
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        CUresult result = take_attribute(&k, &config->attributes[i]);
        if (result != CUDA_SUCCESS) return result;
    }
    return submit(&k, function, config->stream, list, extra);
}

CUresult launch_run(const KernelAction *k) {
    EmuLaunch launch = {.function = k->function->machine,
                        .dynamic_shared = k->shared,
                        .dynamic_shared_limit = (uint32_t)k->function->dynamic_shared_limit,
                        .parameters = k->parameters,
                        .cooperative = k->cooperative};
    memcpy(launch.grid, k->grid, sizeof launch.grid);
    memcpy(launch.block, k->block, sizeof launch.block);
    memcpy(launch.cluster, k->cluster, sizeof launch.cluster);
    EmuCounters counters = {0};
    volatile EmuStatus status = EMU_LAUNCH_FAILED;
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0)
        status = emu_launch(driver.device, &launch, &driver.options, &driver_reporter, &counters);
    else
        report_line("%s: the launch could not be run: %s", k->function->name, guard.message);
    guard_leave(&guard);
    report_launch(&counters);
    return result_from_status(status);
}
