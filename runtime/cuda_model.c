/* A model on a GPU: context, module, weights. */
#include "runtime/cuda.h"
#include "runtime/cuda_refused.h"
#include "runtime/messages.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MULTIPROCESSORS = 16, /* of the device, CU_DEVICE_ATTRIBUTE_… */
    DYNAMIC_SHARED = 8,   /* of a function, CU_FUNC_ATTRIBUTE_… */
    ERROR_LOG = 5,        /* of the just-in-time compiler, CU_JIT_… */
    ERROR_LOG_SIZE = 6,
    PLAIN_SHARED = 48 << 10, /* what a block may have without asking */
    LOG_ROOM = 4096
};

static const TccGpuKernel *gpu_kernels(const tcc_model *model) {
    return image_at(model->artefact.image, model->artefact.image->gpu_kernels);
}

/* ---- the device ------------------------------------------------------------------------------ */

static tcc_status choose_device(Cuda *cuda, const char *device, char *text, size_t size) {
    const char *part = strchr(device, ':');
    int ordinal = strncmp(device, "cuda", 4) == 0 && part != NULL ? atoi(part + 1) : 0;
    char name[64] = "";
    CudaError error = {0};
    int count = 0;
    if (!CUDA_TRY(&error, cuda, device_count, &count))
        return cuda_describe(cuda, &error, text, size);
    if (ordinal < 0 || ordinal >= count) {
        snprintf(text, size, "device %s: there are %d devices", device, count);
        return TCC_ENVIRONMENT;
    }
    bool good = CUDA_TRY(&error, cuda, device_get, &cuda->device, ordinal) &&
                CUDA_TRY(&error, cuda, device_name, name, sizeof name, cuda->device) &&
                CUDA_TRY(&error, cuda, device_attribute, &cuda->multiprocessors, MULTIPROCESSORS,
                         cuda->device) &&
                CUDA_TRY(&error, cuda, context_retain, &cuda->context, cuda->device);
    cuda->retained = good;
    if (!good) return cuda_describe(cuda, &error, text, size);
    snprintf(cuda->name, sizeof cuda->name, "%s (%s)", device, name);
    return TCC_OK;
}

/* ---- what the model has there ---------------------------------------------------------------- */

/* What the compiler in the driver says is the error that helps. */
static tcc_status load_module(tcc_model *model, char *text, size_t size) {
    Cuda *cuda = model->cuda;
    const TccImage *image = model->artefact.image;
    CudaError error = {0};
    char log[LOG_ROOM] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *values[] = {log, (void *)sizeof log};
    if (CUDA_TRY(&error, cuda, module_load, &cuda->module, image_at(image, image->ptx), 2, options,
                 values))
        return TCC_OK;
    tcc_status status = cuda_describe(cuda, &error, text, size);
    size_t used = strlen(text);
    log[sizeof log - 1] = 0;
    if (*log == 0 || used + 3 > size) return status;
    used += (size_t)snprintf(text + used, size - used, ": ");
    cuda_explain_refusal(image_at(image, image->ptx), log, text + used, size - used);
    return status;
}

static tcc_status find_functions(tcc_model *model, char *text, size_t size) {
    Cuda *cuda = model->cuda;
    const TccImage *image = model->artefact.image;
    const TccGpuKernel *kernels = gpu_kernels(model);
    CudaError error = {0};
    for (uint32_t k = 0; k < cuda->function_count && error.result == 0; k++) {
        uint32_t shared = kernels[k].shape.shared_bytes;
        error.kernel = image_string(image, kernels[k].name);
        if (!CUDA_TRY(&error, cuda, module_function, &cuda->functions[k], cuda->module,
                      image_string(image, kernels[k].name)))
            break;
        if (shared > PLAIN_SHARED)
            CUDA_TRY(&error, cuda, function_set, cuda->functions[k], DYNAMIC_SHARED, (int)shared);
    }
    return error.result == 0 ? TCC_OK : cuda_describe(cuda, &error, text, size);
}

/* A copy from pageable memory may still be under way when it returns, and the streams of sessions
 * do not wait for the one that it is in. */
static tcc_status bring_weights(tcc_model *model, char *text, size_t size) {
    Cuda *cuda = model->cuda;
    uint64_t bytes = model->artefact.image->weight_bytes;
    CudaError error = {0};
    if (bytes == 0) return TCC_OK;
    if (CUDA_TRY(&error, cuda, allocate, &cuda->weights, (size_t)bytes) &&
        CUDA_TRY(&error, cuda, copy_in, cuda->weights, model->artefact.weights, (size_t)bytes) &&
        cuda_good(&error, "context_sync", cuda->f.context_sync()))
        return TCC_OK;
    return cuda_describe(cuda, &error, text, size);
}

static tcc_status fill_model(tcc_model *model, char *text, size_t size) {
    Cuda *cuda = model->cuda;
    CudaError error = {0};
    void *popped;
    if (!CUDA_TRY(&error, cuda, context_push, cuda->context))
        return cuda_describe(cuda, &error, text, size);
    tcc_status status = load_module(model, text, size);
    if (status == TCC_OK) status = find_functions(model, text, size);
    if (status == TCC_OK) status = bring_weights(model, text, size);
    cuda->f.context_pop(&popped);
    return status;
}

tcc_status cuda_model_begin(tcc_model *model, const char *device, char *text, size_t size) {
    const TccImage *image = model->artefact.image;
    if (image->gpu_target == 0) {
        snprintf(text, size,
                 "device %s: the model was not compiled for a GPU (--target=native,sm_80)", device);
        return TCC_INVALID;
    }
    Cuda *cuda = model->cuda = memory_new(&model->memory, sizeof *cuda);
    if (cuda == NULL) return TCC_MEMORY;
    cuda->function_count = image->gpu_kernels.count;
    cuda->functions = memory_new(&model->memory, cuda->function_count * sizeof(void *) + 1);
    tcc_status status = TCC_MEMORY;
    if (cuda->functions != NULL) status = cuda_load(cuda, device, text, size);
    if (status == TCC_OK) status = choose_device(cuda, device, text, size);
    if (status == TCC_OK) status = fill_model(model, text, size);
    if (status == TCC_OK) model->device = &cuda_device;
    return status;
}

/* On a lost device the calls fail, and there is nothing to do about that. */
void cuda_model_end(tcc_model *model) {
    Cuda *cuda = model->cuda;
    void *popped;
    if (cuda == NULL) return;
    if (cuda->retained && cuda->f.context_push(cuda->context) == 0) {
        if (cuda->weights != 0) cuda->f.release(cuda->weights);
        if (cuda->module != NULL) cuda->f.module_unload(cuda->module);
        cuda->f.context_pop(&popped);
    }
    if (cuda->retained) cuda->f.context_release(cuda->device);
    memory_free(&model->memory, cuda->functions, cuda->function_count * sizeof(void *) + 1);
    memory_free(&model->memory, cuda, sizeof *cuda);
    model->cuda = NULL;
}
