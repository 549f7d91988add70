/* Sessions on a GPU: what each has there, and memory for the dims. */
#include "runtime/cuda_session.h"
#include "runtime/messages.h"

enum {
    BLOCKS_PER_SM = 8, /* more have nothing to do meanwhile */
    NON_BLOCKING = 1,  /* a stream that does not wait for the default one */
    DISABLE_TIMING = 2,
    PORTABLE = 1
};

tcc_status cuda_session_fail(tcc_session *s, const CudaError *error) {
    char text[MESSAGE_SIZE / 2];
    tcc_status status = cuda_describe(s->model->cuda, error, text, sizeof text);
    return session_fail(s, status, RUN_CUDA, text);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static uint32_t most_arguments(const TccImage *image) {
    const TccLaunch *launches = image_at(image, image->launches);
    uint32_t most = 0;
    for (uint32_t i = 0; i < image->launches.count; i++)
        if (launches[i].buffer_count > most) most = launches[i].buffer_count;
    return most + image->dims.count + 3;
}

static void *take(char **at, uint64_t count) {
    void *table = *at;
    if (*at != NULL) *at += count * 8;
    return table;
}

static bool make_tables(tcc_session *s, CudaSession *c) {
    const TccImage *image = s->model->artefact.image;
    uint64_t buffers = image->buffers.count, launches = image->launches.count;
    uint64_t later = image->outputs.count * sizeof(tcc_tensor) / 8;
    c->tables_size = (size_t)(4 * buffers + 2 * launches + most_arguments(image) + later) * 8 + 8;
    c->tables = memory_new(&s->model->memory, c->tables_size);
    char *at = c->tables;
    c->given = take(&at, buffers);
    c->place = take(&at, buffers);
    c->part = take(&at, buffers);
    c->buffers = take(&at, buffers);
    c->points = take(&at, launches);
    c->blocks = take(&at, launches);
    c->arguments = take(&at, most_arguments(image));
    c->later = take(&at, later);
    return c->tables != NULL;
}

static void free_block(const Cuda *cuda, CudaBlock *block) {
    if (block->size > 0) cuda->f.release(block->address);
    *block = (CudaBlock){0};
}

void cuda_forget_run(const Cuda *cuda, CudaSession *c) {
    if (c->exec != NULL) cuda->f.exec_destroy(c->exec);
    c->exec = NULL;
    c->runs = 0;
}

static void free_all(const Cuda *cuda, CudaSession *c) {
    cuda_forget_run(cuda, c);
    free_block(cuda, &c->io);
    free_block(cuda, &c->arena);
    free_block(cuda, &c->scratch);
    if (c->pinned != NULL) cuda->f.host_release(c->pinned);
    if (c->begin != NULL) cuda->f.event_destroy(c->begin);
    if (c->end != NULL) cuda->f.event_destroy(c->end);
    if (c->done != NULL) cuda->f.event_destroy(c->done);
    if (c->stream != NULL) cuda->f.stream_destroy(c->stream);
}

static void session_end(tcc_session *s) {
    CudaSession *c = s->cuda;
    const Cuda *cuda = s->model->cuda;
    void *popped;
    if (c == NULL) return;
    if (cuda->f.context_push(cuda->context) == 0) {
        free_all(cuda, c);
        cuda->f.context_pop(&popped);
    }
    memory_free(&s->model->memory, c->tables, c->tables_size);
    memory_free(&s->model->memory, c, sizeof *c);
    s->cuda = NULL;
}

/* The stream and its events are made by the first run, which can say what is wrong. */
static tcc_status session_begin(tcc_session *s) {
    CudaSession *c = s->cuda = memory_new(&s->model->memory, sizeof *c);
    if (c == NULL) return TCC_MEMORY;
    if (make_tables(s, c)) return TCC_OK;
    session_end(s);
    return TCC_MEMORY;
}

static bool make_stream(const Cuda *cuda, CudaSession *c, CudaError *error) {
    return (c->stream != NULL || CUDA_TRY(error, cuda, stream_create, &c->stream, NON_BLOCKING)) &&
           (c->begin != NULL || CUDA_TRY(error, cuda, event_create, &c->begin, 0)) &&
           (c->end != NULL || CUDA_TRY(error, cuda, event_create, &c->end, 0)) &&
           (c->done != NULL || CUDA_TRY(error, cuda, event_create, &c->done, DISABLE_TIMING));
}

/* ---- memory for the dims --------------------------------------------------------------------- */

bool cuda_reserve_block(const Cuda *cuda, CudaBlock *block, uint64_t size, CudaError *error) {
    if (block->size >= size) return true;
    free_block(cuda, block);
    if (!CUDA_TRY(error, cuda, allocate, &block->address, (size_t)size)) return false;
    block->size = size;
    return true;
}

bool cuda_reserve_pinned(const Cuda *cuda, CudaSession *c, uint64_t size, CudaError *error) {
    if (c->pinned_size >= size) return true;
    if (c->pinned != NULL) cuda->f.host_release(c->pinned);
    c->pinned = NULL;
    c->pinned_size = 0;
    if (!CUDA_TRY(error, cuda, host_allocate, &c->pinned, (size_t)size, PORTABLE)) return false;
    c->pinned_size = (size_t)size;
    return true;
}

/* Grids, and the scratch memory that the largest launch needs; false when a size overflows. */
static bool size_launches(tcc_session *s, uint64_t *out_scratch) {
    const TccImage *image = s->model->artefact.image;
    const TccGpuKernel *kernels = image_at(image, image->gpu_kernels);
    const TccLaunch *launches = image_at(image, image->launches);
    CudaSession *c = s->cuda;
    int64_t most = (int64_t)s->model->cuda->multiprocessors * BLOCKS_PER_SM;
    *out_scratch = 0;
    for (uint32_t i = 0; i < image->launches.count; i++) {
        const TccGpuKernel *kernel = &kernels[launches[i].kernel];
        int64_t scratch, each = kernel->shape.points_per_block;
        if (!session_evaluate(s, kernel->points, &c->points[i]) ||
            !session_evaluate(s, kernel->scratch, &scratch))
            return false;
        int64_t blocks = c->points[i] / each + (c->points[i] % each != 0);
        c->blocks[i] = (uint32_t)(blocks < most ? blocks : most);
        int64_t bytes;
        if (__builtin_mul_overflow(scratch, (int64_t)c->blocks[i], &bytes)) return false;
        if (bytes > 0 && (uint64_t)bytes > *out_scratch) *out_scratch = (uint64_t)bytes;
    }
    return true;
}

/* What is in flight uses the memory and the grids of the dims before. */
static bool reserve_all(tcc_session *s, CudaError *error) {
    const Cuda *cuda = s->model->cuda;
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    CudaSession *c = s->cuda;
    uint64_t scratch = 0;
    void *popped;
    if (!CUDA_TRY(error, cuda, context_push, cuda->context)) return false;
    cuda_finish(s);
    cuda_forget_run(cuda, c);
    c->placed = false;
    bool sized = size_launches(s, &scratch);
    if (sized && make_stream(cuda, c, error) &&
        cuda_reserve_block(cuda, &c->arena, buckets[s->bucket].arena_bytes, error))
        cuda_reserve_block(cuda, &c->scratch, scratch, error);
    cuda->f.context_pop(&popped);
    s->arena_high = buckets[s->bucket].arena_bytes;
    return sized;
}

static tcc_status reserve(tcc_session *s) {
    CudaError error = {0};
    bool sized = reserve_all(s, &error);
    if (error.result != 0) return cuda_session_fail(s, &error);
    return sized ? TCC_OK : session_fail(s, TCC_INVALID, RUN_SIZES_OVERFLOW);
}

const DeviceTable cuda_device = {.session_begin = session_begin,
                                 .session_end = session_end,
                                 .reserve = reserve,
                                 .run = cuda_run,
                                 .enqueue = cuda_enqueue,
                                 .settle = cuda_settle};
