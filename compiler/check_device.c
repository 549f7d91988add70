#include "compiler/check_device.h"

#include "runtime/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { WORD = 4, BLOCKS_PER_PROCESSOR = 8 };

struct CheckDevice {
    tcc_model *model;
    tcc_session *session; /* NULL before the first run */
};

/* ---- begin and end --------------------------------------------------------------------------- */

tcc_status check_device_open(const TccArtefact *artefact, const tcc_open_options *options,
                             Arena *arena, CheckDevice **out_device, char *text, size_t size) {
    CheckDevice *d = NEW(arena, CheckDevice);
    *out_device = NULL;
    tcc_status status = model_open(artefact, options, NULL, &d->model, text, size);
    if (status != TCC_OK) return status;
    if (d->model->cuda != NULL)
        *out_device = d;
    else
        model_release(d->model);
    return TCC_OK;
}

void check_device_close(CheckDevice *device) {
    if (device == NULL) return;
    session_free(device->session);
    model_release(device->model);
}

/* ---- one kernel ------------------------------------------------------------------------------ */

typedef struct Attempt {
    Cuda *cuda;
    const TccGpuKernel *kernel;
    const uint32_t *slots; /* of the dims that it takes */
    const DeviceLaunch *launch;
    uint32_t blocks;
    uint64_t *memory; /* as it was allocated, 0: not; of buffers, the error word, scratch */
    uint64_t *words;  /* the parameters, which begin with the buffers */
    CudaError error;
} Attempt;

/* `bytes` of memory of its own for parameter `number`, so that an access beyond is one outside of
 * any allocation. */
static bool take(Attempt *a, uint32_t number, uint32_t parameter, size_t bytes, size_t shift) {
    if (!CUDA_TRY(&a->error, a->cuda, allocate, &a->memory[number], bytes + shift)) return false;
    a->words[parameter] = a->memory[number] + shift;
    return true;
}

static bool put_buffer(Attempt *a, uint32_t i) {
    const DeviceBuffer *b = &a->launch->buffers[i];
    size_t shift = a->launch->misaligned ? b->element : 0;
    size_t bytes = b->packed ? (b->bytes + shift + WORD - 1) / WORD * WORD - shift : b->bytes;
    if (b->bytes == 0) return take(a, i, i, WORD, shift);
    if (!take(a, i, i, bytes, shift)) return false;
    if (b->packed &&
        !CUDA_TRY(&a->error, a->cuda, fill_async, a->memory[i], 0, bytes + shift, NULL))
        return false;
    return b->output || CUDA_TRY(&a->error, a->cuda, copy_in, a->words[i], b->data, b->bytes);
}

static bool put_arguments(Attempt *a, const TccErrorWord *error) {
    uint32_t count = a->launch->buffer_count, n = count;
    uint64_t scratch = (uint64_t)a->launch->scratch * a->blocks;
    for (uint32_t i = 0; i < count; i++)
        if (!put_buffer(a, i)) return false;
    for (uint32_t i = 0; i < a->kernel->shape.dim_count; i++)
        a->words[n++] = (uint64_t)a->launch->dims[a->slots[i]];
    a->words[n + 2] = (uint64_t)a->launch->points;
    return take(a, count, n, sizeof *error, 0) &&
           CUDA_TRY(&a->error, a->cuda, copy_in, a->words[n], error, sizeof *error) &&
           (scratch == 0 || take(a, count + 1, n + 1, scratch, 0));
}

static bool start(Attempt *a) {
    const TccGpuLaunch *shape = &a->kernel->shape;
    size_t bytes = (a->launch->buffer_count + shape->dim_count + 3) * sizeof *a->words;
    void *extra[] = {(void *)1, a->words, (void *)2, &bytes, NULL}; /* buffer, its size, end */
    return CUDA_TRY(&a->error, a->cuda, stream_sync, NULL) &&       /* the fills are done */
           CUDA_TRY(&a->error, a->cuda, launch, a->cuda->functions[a->launch->kernel], a->blocks, 1,
                    1, shape->threads, 1, 1, shape->shared_bytes, NULL, NULL, extra) &&
           CUDA_TRY(&a->error, a->cuda, stream_sync, NULL);
}

static bool bring_back(Attempt *a, TccErrorWord *out_error) {
    uint32_t count = a->launch->buffer_count, word = count + a->kernel->shape.dim_count;
    bool good = CUDA_TRY(&a->error, a->cuda, copy_out_async, out_error, a->words[word],
                         sizeof *out_error, NULL);
    for (uint32_t i = 0; i < count && good; i++) {
        const DeviceBuffer *b = &a->launch->buffers[i];
        if (b->output && b->bytes > 0)
            good =
                CUDA_TRY(&a->error, a->cuda, copy_out_async, b->data, a->words[i], b->bytes, NULL);
    }
    return CUDA_TRY(&a->error, a->cuda, stream_sync, NULL) && good;
}

static void attempt(Attempt *a, TccErrorWord *out_error) {
    void *popped;
    if (!CUDA_TRY(&a->error, a->cuda, context_push, a->cuda->context)) return;
    if (put_arguments(a, out_error) && start(a)) bring_back(a, out_error);
    for (uint32_t i = 0; i < a->launch->buffer_count + 2; i++)
        if (a->memory[i] != 0) a->cuda->f.release(a->memory[i]);
    a->cuda->f.context_pop(&popped);
}

static uint32_t count_blocks(const Attempt *a) {
    int64_t each = a->kernel->shape.points_per_block;
    int64_t blocks = (a->launch->points + each - 1) / each;
    int64_t most = (int64_t)a->cuda->multiprocessors * BLOCKS_PER_PROCESSOR;
    return (uint32_t)(blocks < most ? blocks : most);
}

tcc_status check_device_launch(CheckDevice *device, const DeviceLaunch *launch, Arena *arena,
                               TccErrorWord *out_error, char *text, size_t size) {
    const TccImage *image = device->model->artefact.image;
    const TccGpuKernel *kernels = image_at(image, image->gpu_kernels);
    const TccGpuKernel *kernel = &kernels[launch->kernel];
    Attempt a = {.cuda = device->model->cuda, .kernel = kernel, .launch = launch};
    a.error.kernel = image_string(image, kernel->name);
    *out_error = (TccErrorWord){.state = 0};
    if (launch->points <= 0) return TCC_OK;
    a.slots = (const uint32_t *)image_at(image, image->gpu_dims) + kernel->first_dim;
    a.blocks = count_blocks(&a);
    a.memory = NEW_ARRAY(arena, uint64_t, launch->buffer_count + 2);
    a.words = NEW_ARRAY(arena, uint64_t, launch->buffer_count + kernel->shape.dim_count + 3);
    attempt(&a, out_error);
    return a.error.result == 0 ? TCC_OK : cuda_describe(a.cuda, &a.error, text, size);
}

/* ---- the whole ------------------------------------------------------------------------------- */

tcc_status check_device_run(CheckDevice *device, const tcc_tensor *inputs, uint32_t input_count,
                            const tcc_tensor *outputs, uint32_t output_count, char *text,
                            size_t size) {
    tcc_status status = TCC_OK;
    if (device->session == NULL) status = session_new(device->model, &device->session);
    if (status != TCC_OK) snprintf(text, size, "no session could be made");
    if (status != TCC_OK) return status;
    status = session_run(device->session, inputs, input_count, outputs, output_count);
    if (status != TCC_OK) snprintf(text, size, "%s", session_message(device->session));
    return status;
}

uint64_t check_device_findings(const CheckDevice *device) {
    uint64_t (*count)(void);
    void *address = dlsym(device->model->cuda->library, "emuFindingCount");
    if (address == NULL) return 0;
    memcpy(&count, &address, sizeof count);
    return count();
}
