/* The work of a run on a GPU: copies, launches, and the same recorded. */
#include "runtime/cuda_session.h"

#include <string.h>

enum { THREAD_LOCAL_CAPTURE = 1 };

/* ---- the work of a run ----------------------------------------------------------------------- */

/* The parameters as runtime/abi_gpu.h has them; returns how many. */
static uint32_t put_arguments(tcc_session *s, uint32_t number) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launch = (const TccLaunch *)image_at(image, image->launches) + number;
    const TccGpuKernel *kernels = image_at(image, image->gpu_kernels);
    const TccGpuKernel *kernel = &kernels[launch->kernel];
    const uint32_t *buffers = image_at(image, image->launch_buffers);
    const uint32_t *slots = image_at(image, image->gpu_dims);
    CudaSession *c = s->cuda;
    uint32_t n = 0;
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        c->arguments[n++] = c->buffers[buffers[launch->first_buffer + i]];
    for (uint32_t i = 0; i < kernel->shape.dim_count; i++)
        c->arguments[n++] = (uint64_t)s->dims[slots[kernel->first_dim + i]];
    c->arguments[n++] = c->io.address + c->errors + number * sizeof(TccErrorWord);
    c->arguments[n++] = c->scratch.address;
    c->arguments[n++] = (uint64_t)c->points[number];
    return n;
}

static bool launch(tcc_session *s, uint32_t number, CudaError *error) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *record = (const TccLaunch *)image_at(image, image->launches) + number;
    const TccGpuKernel *kernel =
        (const TccGpuKernel *)image_at(image, image->gpu_kernels) + record->kernel;
    Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    if (c->points[number] <= 0) return true;
    size_t bytes = put_arguments(s, number) * sizeof(uint64_t);
    void *extra[] = {(void *)1, c->arguments, (void *)2, &bytes, NULL}; /* buffer, its size, end */
    return CUDA_TRY(error, cuda, launch, cuda->functions[record->kernel], c->blocks[number], 1, 1,
                    kernel->shape.threads, 1, 1, kernel->shape.shared_bytes, c->stream, NULL,
                    extra);
}

/* As on the CPU: 4-bit outputs are whole bytes, of which the last may be written by half. */
static bool clear_nibbles(tcc_session *s, CudaError *error) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccPort *ports = image_at(image, image->outputs);
    CudaSession *c = s->cuda;
    bool good = true;
    for (uint32_t i = 0; i < image->buffers.count && good; i++) {
        bool packed = buffers[i].kind == TCC_BUFFER_output && ports[buffers[i].index].bits < 8;
        if (!packed || s->buffer_bytes[i] == 0) continue;
        uint64_t last = c->buffers[i] + (uint64_t)s->buffer_bytes[i] - 1;
        good = CUDA_TRY(error, s->model->cuda, fill_async, last, 0, 1, c->stream);
    }
    return good;
}

/* The bytes of all inputs: outputs begin behind them. */
static uint64_t inputs_end(const tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    uint64_t end = s->cuda->errors;
    for (uint32_t i = 0; i < image->buffers.count; i++)
        if (buffers[i].kind == TCC_BUFFER_output && s->cuda->part[i] < end) end = s->cuda->part[i];
    return end;
}

static bool copy_in(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    uint64_t inputs = inputs_end(s), words = c->io_bytes - c->errors;
    return (inputs == 0 || CUDA_TRY(error, s->model->cuda, copy_in_async, c->io.address, c->pinned,
                                    (size_t)inputs, c->stream)) &&
           (words == 0 || CUDA_TRY(error, s->model->cuda, fill_async, c->io.address + c->errors, 0,
                                   (size_t)words, c->stream)) &&
           clear_nibbles(s, error);
}

static bool copy_out(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    uint64_t from = inputs_end(s), size = c->io_bytes - from;
    return size == 0 || CUDA_TRY(error, s->model->cuda, copy_out_async, (char *)c->pinned + from,
                                 c->io.address + from, (size_t)size, c->stream);
}

static bool submit(tcc_session *s, CudaError *error) {
    uint32_t count = s->model->artefact.image->launches.count;
    bool good = copy_in(s, error);
    for (uint32_t i = 0; i < count && good; i++) good = launch(s, i, error);
    return good && copy_out(s, error);
}

/* Each kernel by itself, with its time. */
static bool submit_profiled(tcc_session *s, CudaError *error) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launches = image_at(image, image->launches);
    Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    bool good = copy_in(s, error);
    for (uint32_t i = 0; i < image->launches.count && good; i++) {
        float ms = 0;
        good = CUDA_TRY(error, cuda, event_record, c->begin, c->stream) && launch(s, i, error) &&
               CUDA_TRY(error, cuda, event_record, c->end, c->stream) &&
               CUDA_TRY(error, cuda, stream_sync, c->stream) &&
               CUDA_TRY(error, cuda, event_elapsed, &ms, c->begin, c->end);
        if (good)
            s->profile(s->profile_user,
                       image_string(image, session_kernel(s, launches[i].kernel)->name),
                       (uint64_t)((double)ms * 1e6), c->blocks[i]);
    }
    return good && copy_out(s, error);
}

/* ---- the same run again ---------------------------------------------------------------------- */

/* Ends a capture in any case, so that the stream can be used again. */
static bool record_run(tcc_session *s, CudaError *error) {
    const Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    void *graph = NULL;
    if (!CUDA_TRY(error, cuda, capture_begin, c->stream, THREAD_LOCAL_CAPTURE)) return false;
    bool good = submit(s, error);
    bool ended = CUDA_TRY(error, cuda, capture_end, c->stream, &graph);
    good = good && ended && CUDA_TRY(error, cuda, graph_instantiate, &c->exec, graph, 0);
    if (graph != NULL) cuda->f.graph_destroy(graph);
    if (!good) c->exec = NULL;
    return good;
}

/* The first run with some dims is submitted piece by piece, the second recorded. */
static bool start(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    if (s->profile != NULL) return submit_profiled(s, error);
    if (c->exec == NULL && c->runs > 0 && !record_run(s, error)) return false;
    if (c->exec == NULL) return submit(s, error);
    return CUDA_TRY(error, s->model->cuda, graph_launch, c->exec, c->stream);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* The first launch that met a wrong index, if one did. */
static tcc_status check_words(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launches = image_at(image, image->launches);
    const char *words = (const char *)s->cuda->pinned + s->cuda->errors;
    for (uint32_t i = 0; i < image->launches.count; i++) {
        TccErrorWord word;
        memcpy(&word, words + i * sizeof word, sizeof word);
        if (word.state != 0)
            return session_say_index(s, session_kernel(s, launches[i].kernel), &word);
    }
    return TCC_OK;
}

tcc_status cuda_run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    CudaError error = {0};
    void *popped;
    if (!CUDA_TRY(&error, cuda, context_push, cuda->context)) return cuda_session_fail(s, &error);
    cuda_take_inputs(s, inputs);
    bool good = start(s, &error);
    CUDA_TRY(&error, cuda, stream_sync, c->stream); /* what was submitted uses our memory */
    cuda->f.context_pop(&popped);
    if (!good || error.result != 0) {
        s->bound = false; /* the next run begins from its memory again */
        return cuda_session_fail(s, &error);
    }
    c->runs++;
    tcc_status status = check_words(s);
    if (status == TCC_OK) cuda_give_outputs(s, outputs);
    return status;
}
