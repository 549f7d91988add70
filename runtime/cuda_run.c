/* The work of a run on a GPU: copies, launches, and the same recorded. */
#include "runtime/cuda_session.h"
#include "runtime/messages.h"

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
    error->kernel = image_string(image, kernel->name);
    return CUDA_TRY(error, cuda, launch, cuda->functions[record->kernel], c->blocks[number], 1, 1,
                    kernel->shape.threads, 1, 1, kernel->shape.shared_bytes, c->on, NULL, extra);
}

/* Between the caller's memory on the device and ours. */
static bool copy_staged(tcc_session *s, uint32_t kind, CudaError *error) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    CudaSession *c = s->cuda;
    bool good = true;
    for (uint32_t i = 0; i < image->buffers.count && good; i++) {
        if (buffers[i].kind != kind || c->place[i] != PLACE_staged) continue;
        bool in = kind == TCC_BUFFER_input;
        uint64_t to = in ? c->buffers[i] : c->given[i], from = in ? c->given[i] : c->buffers[i];
        good = CUDA_TRY(error, s->model->cuda, copy_async, to, from, (size_t)s->buffer_bytes[i],
                        c->on);
    }
    return good;
}

static bool copy_in(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    return (c->host_in_end == 0 || CUDA_TRY(error, s->model->cuda, copy_in_async, c->io.address,
                                            c->pinned, (size_t)c->host_in_end, c->on)) &&
           copy_staged(s, TCC_BUFFER_input, error);
}

/* Outputs in the host's memory and the error words are one piece. */
static bool copy_out(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    uint64_t from = c->host_out_begin, size = c->io_bytes - from;
    return copy_staged(s, TCC_BUFFER_output, error) &&
           (size == 0 || CUDA_TRY(error, s->model->cuda, copy_out_async, (char *)c->pinned + from,
                                  c->io.address + from, (size_t)size, c->on));
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
        good = CUDA_TRY(error, cuda, event_record, c->begin, c->on) && launch(s, i, error) &&
               CUDA_TRY(error, cuda, event_record, c->end, c->on) &&
               CUDA_TRY(error, cuda, stream_sync, c->on) &&
               CUDA_TRY(error, cuda, event_elapsed, &ms, c->begin, c->end);
        if (good)
            s->profile(s->profile_user,
                       image_string(image, session_kernel(s, launches[i].kernel)->name),
                       (uint64_t)((double)ms * 1e6), c->blocks[i]);
    }
    return good && copy_out(s, error);
}

/* ---- the same run again ---------------------------------------------------------------------- */

/* A stream whose capture does not end is of no more use; the next run makes another. */
static void drop_stream(const Cuda *cuda, CudaSession *c) {
    if (c->on == c->stream) c->on = NULL;
    cuda->f.stream_destroy(c->stream);
    c->stream = NULL;
}

/* On our own stream, whatever the run is on. Ends the capture in any case, so that the stream can
 * be used again. */
static bool record_run(tcc_session *s, CudaError *error) {
    const Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    void *graph = NULL, *on = c->on;
    if (!CUDA_TRY(error, cuda, capture_begin, c->stream, THREAD_LOCAL_CAPTURE)) return false;
    c->on = c->stream;
    bool good = submit(s, error);
    c->on = on;
    bool ended = CUDA_TRY(error, cuda, capture_end, c->stream, &graph);
    if (!ended) drop_stream(cuda, c);
    good = good && ended && CUDA_TRY(error, cuda, graph_instantiate, &c->exec, graph, 0);
    if (graph != NULL) cuda->f.graph_destroy(graph);
    if (!good) c->exec = NULL;
    return good;
}

/* The first run with some dims and addresses is submitted piece by piece, the second recorded. */
static bool submit_or_replay(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    if (s->profile != NULL) return submit_profiled(s, error);
    if (c->exec == NULL && c->runs > 0 && !record_run(s, error)) return false;
    if (c->exec == NULL) return submit(s, error);
    return CUDA_TRY(error, s->model->cuda, graph_launch, c->exec, c->on);
}

/* Memory that kernels store single elements of 4 bits to, in whole words (abi_gpu.h). */
static bool clear_packed(tcc_session *s, CudaError *error) {
    enum { WORD = 4 };
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    CudaSession *c = s->cuda;
    bool good = true;
    for (uint32_t i = 0; i < image->buffers.count && good; i++) {
        bool ours = buffers[i].kind == TCC_BUFFER_output || buffers[i].kind == TCC_BUFFER_arena;
        if (!ours || buffers[i].bits >= 8 || s->buffer_bytes[i] == 0) continue;
        size_t bytes = ((size_t)s->buffer_bytes[i] + WORD - 1) / WORD * WORD;
        good = CUDA_TRY(error, s->model->cuda, fill_async, c->buffers[i], 0, bytes, c->on);
    }
    return good;
}

/* Where the memory is new, and the error words also behind an error. */
static bool clear_memory(tcc_session *s, CudaError *error) {
    CudaSession *c = s->cuda;
    uint64_t words = c->io_bytes - c->errors;
    if (!c->is_stale) return true;
    if (words > 0 && !CUDA_TRY(error, s->model->cuda, fill_async, c->io.address + c->errors, 0,
                               (size_t)words, c->on))
        return false;
    c->is_stale = !clear_packed(s, error);
    return !c->is_stale;
}

/* ---- what is in flight ----------------------------------------------------------------------- */

/* The first launch that met a wrong index, if one did. */
static tcc_status check_words(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launches = image_at(image, image->launches);
    const char *words = (const char *)s->cuda->pinned + s->cuda->errors;
    for (uint32_t i = 0; i < image->launches.count; i++) {
        TccErrorWord word;
        memcpy(&word, words + i * sizeof word, sizeof word);
        if (word.state == 0) continue;
        s->cuda->is_stale = true;
        return session_say_index(s, session_kernel(s, launches[i].kernel), &word);
    }
    return TCC_OK;
}

/* After a failure of the driver the next run begins from its memory again. */
static tcc_status fail(tcc_session *s, const CudaError *error) {
    s->bound = false;
    return cuda_session_fail(s, error);
}

void cuda_finish(tcc_session *s) {
    CudaSession *c = s->cuda;
    CudaError error = {0};
    tcc_status status = TCC_OK;
    if (!c->in_flight) return;
    c->in_flight = false;
    if (!CUDA_TRY(&error, s->model->cuda, event_sync, c->done)) status = fail(s, &error);
    if (status == TCC_OK) status = check_words(s);
    if (status == TCC_OK && c->has_later) cuda_give_outputs(s, c->later);
    if (s->pending == TCC_OK) s->pending = status;
}

void cuda_settle(tcc_session *s) {
    Cuda *cuda = s->model->cuda;
    CudaError error = {0};
    void *popped;
    if (!s->cuda->in_flight) return;
    if (CUDA_TRY(&error, cuda, context_push, cuda->context)) {
        cuda_finish(s);
        cuda->f.context_pop(&popped);
        return;
    }
    s->cuda->in_flight = false;
    tcc_status status = fail(s, &error);
    if (s->pending == TCC_OK) s->pending = status;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool has_host_tensor(const tcc_tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (tensors[i].device != TCC_CUDA) return true;
    return false;
}

/* Places the tensors, and puts the run behind what is in flight: on the device, or, where the
 * host's memory has a part in it, by waiting here. */
static tcc_status prepare(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                          void *stream) {
    const TccImage *image = s->model->artefact.image;
    CudaSession *c = s->cuda;
    CudaError error = {0};
    tcc_status status = cuda_place_tensors(s, inputs, outputs);
    if (status != TCC_OK) return status;
    if (c->in_flight && (c->has_later || has_host_tensor(inputs, image->inputs.count)))
        cuda_finish(s);
    if (c->in_flight && c->on != stream &&
        !CUDA_TRY(&error, s->model->cuda, stream_wait, stream, c->done, 0))
        return fail(s, &error);
    c->on = stream;
    return TCC_OK;
}

/* All of a run up to what is to be waited for. What was submitted uses our memory, so that a
 * failure waits for it. */
static tcc_status start(tcc_session *s, const tcc_tensor *inputs) {
    CudaSession *c = s->cuda;
    CudaError error = {0};
    cuda_take_inputs(s, inputs);
    if (clear_memory(s, &error) && submit_or_replay(s, &error)) {
        c->runs++;
        return TCC_OK;
    }
    if (c->on != NULL) s->model->cuda->f.stream_sync(c->on);
    return fail(s, &error);
}

static tcc_status finish_run(tcc_session *s, const tcc_tensor *outputs) {
    CudaSession *c = s->cuda;
    CudaError error = {0};
    if (!CUDA_TRY(&error, s->model->cuda, stream_sync, c->on)) return fail(s, &error);
    tcc_status status = check_words(s);
    if (status == TCC_OK) cuda_give_outputs(s, outputs);
    return status;
}

tcc_status cuda_run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    Cuda *cuda = s->model->cuda;
    CudaError error = {0};
    void *popped;
    if (!CUDA_TRY(&error, cuda, context_push, cuda->context)) return cuda_session_fail(s, &error);
    tcc_status status = prepare(s, inputs, outputs, s->cuda->stream);
    if (status == TCC_OK) status = start(s, inputs);
    if (status == TCC_OK) status = finish_run(s, outputs);
    cuda->f.context_pop(&popped);
    return status;
}

/* A graph of the host's would use our memory whenever it is launched, also after we gave that away,
 * and nobody could wait for its runs. */
static tcc_status refuse_capture(tcc_session *s, void *stream) {
    int status = 0;
    CudaError error = {0};
    if (!CUDA_TRY(&error, s->model->cuda, stream_is_captured, stream, &status))
        return cuda_session_fail(s, &error);
    return status == 0 ? TCC_OK : session_fail(s, TCC_INVALID, RUN_STREAM_CAPTURED);
}

/* Behind an error nothing more is run until sync has told it. */
static tcc_status put_on(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                         void *stream) {
    const Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    CudaError error = {0};
    uint32_t count = s->model->artefact.image->outputs.count;
    tcc_status status = refuse_capture(s, stream);
    if (status == TCC_OK) status = prepare(s, inputs, outputs, stream);
    if (status == TCC_OK && s->pending != TCC_OK) return TCC_OK;
    if (status == TCC_OK) status = start(s, inputs);
    if (status != TCC_OK) return status;
    if (!CUDA_TRY(&error, cuda, event_record, c->done, stream)) {
        cuda->f.stream_sync(stream);
        return fail(s, &error);
    }
    c->has_later = has_host_tensor(outputs, count);
    if (c->has_later) memcpy(c->later, outputs, count * sizeof *outputs);
    c->in_flight = true;
    return TCC_OK;
}

tcc_status cuda_enqueue(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                        void *stream) {
    Cuda *cuda = s->model->cuda;
    CudaError error = {0};
    void *popped;
    if (!CUDA_TRY(&error, cuda, context_push, cuda->context)) return cuda_session_fail(s, &error);
    tcc_status status = put_on(s, inputs, outputs, stream);
    cuda->f.context_pop(&popped);
    return status;
}

tcc_status cuda_stream_sync(const Cuda *cuda, void *stream) {
    void *popped;
    if (cuda->f.context_push(cuda->context) != 0) return TCC_ENVIRONMENT;
    int result = cuda->f.stream_sync(stream);
    cuda->f.context_pop(&popped);
    return result == 0 ? TCC_OK : TCC_ENVIRONMENT;
}
