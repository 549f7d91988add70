/* Sessions on a GPU. Tensors come and go through one block of pinned memory, whose places depend on
 * the dims alone, as all device addresses do: so a run with the dims of the one before is the same
 * work on the same addresses, and is recorded as a CUDA graph.
 *
 *     pinned   | inputs | outputs | error words |      one part each, aligned
 *     device   | inputs | outputs | error words |      the same layout
 *     arena, scratch                                   by the plan; per block of a launch
 */
#include "runtime/cuda.h"

#include "runtime/copy.h"
#include "runtime/messages.h"

#include <string.h>

enum {
    PART = 256,        /* alignment of parts */
    BLOCKS_PER_SM = 8, /* more have nothing to do meanwhile */
    NON_BLOCKING = 1,  /* a stream that does not wait for the default one */
    THREAD_LOCAL_CAPTURE = 1,
    PORTABLE = 1
};

typedef struct CudaBlock {
    uint64_t address, size;
} CudaBlock;

struct CudaSession {
    void *stream, *begin, *end; /* the events around a kernel, for profiles */
    CudaBlock io, arena, scratch;
    void *pinned;
    size_t pinned_size;
    uint64_t *part;      /* by buffer: an input's or output's place in io and pinned */
    uint64_t *buffers;   /* by buffer: its device address */
    int64_t *points;     /* by launch */
    uint32_t *blocks;    /* likewise */
    uint64_t *arguments; /* room for those of one launch */
    uint64_t errors;     /* the place of the error words */
    uint64_t io_bytes;
    void *tables;
    size_t tables_size;
    void *exec;    /* the recorded run; NULL: none yet */
    uint32_t runs; /* with these dims */
};

static tcc_status fail(tcc_session *s, const CudaError *error) {
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
    c->tables_size = (size_t)(2 * buffers + 2 * launches + most_arguments(image)) * 8 + 8;
    c->tables = memory_new(&s->model->memory, c->tables_size);
    char *at = c->tables;
    c->part = take(&at, buffers);
    c->buffers = take(&at, buffers);
    c->points = take(&at, launches);
    c->blocks = take(&at, launches);
    c->arguments = take(&at, most_arguments(image));
    return c->tables != NULL;
}

static void free_block(const Cuda *cuda, CudaBlock *block) {
    if (block->size > 0) cuda->f.release(block->address);
    *block = (CudaBlock){0};
}

static void forget_run(const Cuda *cuda, CudaSession *c) {
    if (c->exec != NULL) cuda->f.exec_destroy(c->exec);
    c->exec = NULL;
    c->runs = 0;
}

static void free_all(const Cuda *cuda, CudaSession *c) {
    forget_run(cuda, c);
    free_block(cuda, &c->io);
    free_block(cuda, &c->arena);
    free_block(cuda, &c->scratch);
    if (c->pinned != NULL) cuda->f.host_release(c->pinned);
    if (c->begin != NULL) cuda->f.event_destroy(c->begin);
    if (c->end != NULL) cuda->f.event_destroy(c->end);
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

static bool make_stream(const Cuda *cuda, CudaSession *c, CudaError *error) {
    void *popped;
    if (!CUDA_TRY(error, cuda, context_push, cuda->context)) return false;
    bool good = CUDA_TRY(error, cuda, stream_create, &c->stream, NON_BLOCKING) &&
                CUDA_TRY(error, cuda, event_create, &c->begin, 0) &&
                CUDA_TRY(error, cuda, event_create, &c->end, 0);
    cuda->f.context_pop(&popped);
    return good;
}

static tcc_status session_begin(tcc_session *s) {
    CudaError error = {0};
    CudaSession *c = s->cuda = memory_new(&s->model->memory, sizeof *c);
    if (c == NULL) return TCC_MEMORY;
    bool tables = make_tables(s, c);
    if (tables && make_stream(s->model->cuda, c, &error)) return TCC_OK;
    session_end(s);
    return tables ? TCC_ENVIRONMENT : TCC_MEMORY;
}

/* ---- memory for the dims --------------------------------------------------------------------- */

static uint64_t part_of(uint64_t *end, uint64_t bytes) {
    uint64_t at = *end;
    *end += (bytes + PART - 1) / PART * PART;
    return at;
}

static bool reserve_block(const Cuda *cuda, CudaBlock *block, uint64_t size, CudaError *error) {
    if (block->size >= size) return true;
    free_block(cuda, block);
    if (!CUDA_TRY(error, cuda, allocate, &block->address, (size_t)size)) return false;
    block->size = size;
    return true;
}

static bool reserve_pinned(const Cuda *cuda, CudaSession *c, uint64_t size, CudaError *error) {
    if (c->pinned_size >= size) return true;
    if (c->pinned != NULL) cuda->f.host_release(c->pinned);
    c->pinned = NULL;
    c->pinned_size = 0;
    if (!CUDA_TRY(error, cuda, host_allocate, &c->pinned, (size_t)size, PORTABLE)) return false;
    c->pinned_size = (size_t)size;
    return true;
}

/* Where inputs, outputs and error words lie; inputs first, so that each way is one copy. */
static void lay_out(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    CudaSession *c = s->cuda;
    uint64_t end = 0;
    for (uint32_t kind = TCC_BUFFER_input; kind <= TCC_BUFFER_output; kind++)
        for (uint32_t i = 0; i < image->buffers.count; i++)
            if (buffers[i].kind == kind) c->part[i] = part_of(&end, (uint64_t)s->buffer_bytes[i]);
    c->errors = part_of(&end, (uint64_t)image->launches.count * sizeof(TccErrorWord));
    c->io_bytes = end > 0 ? end : PART;
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

static void point_buffers(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccConstant *constants = image_at(image, image->constants);
    CudaSession *c = s->cuda;
    for (uint32_t i = 0; i < image->buffers.count; i++) switch (buffers[i].kind) {
        case TCC_BUFFER_constant:
            c->buffers[i] = s->model->cuda->weights + constants[buffers[i].index].offset;
            break;
        case TCC_BUFFER_arena:
            c->buffers[i] = c->arena.address + (uint64_t)buffers[i].offset[s->bucket];
            break;
        default: c->buffers[i] = c->io.address + c->part[i];
        }
}

static bool reserve_all(tcc_session *s, uint64_t scratch, CudaError *error) {
    const Cuda *cuda = s->model->cuda;
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    CudaSession *c = s->cuda;
    void *popped;
    if (!CUDA_TRY(error, cuda, context_push, cuda->context)) return false;
    forget_run(cuda, c);
    bool good = reserve_block(cuda, &c->io, c->io_bytes, error) &&
                reserve_block(cuda, &c->arena, buckets[s->bucket].arena_bytes, error) &&
                reserve_block(cuda, &c->scratch, scratch, error) &&
                reserve_pinned(cuda, c, c->io_bytes, error);
    cuda->f.context_pop(&popped);
    return good;
}

static tcc_status reserve(tcc_session *s) {
    uint64_t scratch;
    CudaError error = {0};
    lay_out(s);
    if (!size_launches(s, &scratch)) return session_fail(s, TCC_INVALID, RUN_SIZES_OVERFLOW);
    if (!reserve_all(s, scratch, &error)) return fail(s, &error);
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    s->arena_high = buckets[s->bucket].arena_bytes;
    point_buffers(s);
    return TCC_OK;
}

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

/* ---- tensors --------------------------------------------------------------------------------- */

static uint32_t element_bytes(const TccPort *port) { return port->bits < 8 ? 1 : port->bits / 8; }

static void take_inputs(tcc_session *s, const tcc_tensor *inputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccPort *ports = image_at(image, image->inputs);
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        if (buffers[i].kind != TCC_BUFFER_input || s->buffer_bytes[i] == 0) continue;
        const tcc_tensor *tensor = &inputs[buffers[i].index];
        char *to = (char *)s->cuda->pinned + s->cuda->part[i];
        if (tensor_is_dense(tensor))
            memcpy(to, tensor_begin(tensor), (size_t)s->buffer_bytes[i]);
        else
            tensor_gather(tensor, element_bytes(&ports[buffers[i].index]), to);
    }
}

static void give_outputs(tcc_session *s, const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccPort *ports = image_at(image, image->outputs);
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        if (buffers[i].kind != TCC_BUFFER_output || s->buffer_bytes[i] == 0) continue;
        const tcc_tensor *tensor = &outputs[buffers[i].index];
        const char *from = (const char *)s->cuda->pinned + s->cuda->part[i];
        if (tensor_is_dense(tensor))
            memcpy(tensor_begin(tensor), from, (size_t)s->buffer_bytes[i]);
        else
            tensor_scatter(tensor, element_bytes(&ports[buffers[i].index]), from);
    }
}

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

static tcc_status run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    CudaError error = {0};
    void *popped;
    if (!CUDA_TRY(&error, cuda, context_push, cuda->context)) return fail(s, &error);
    take_inputs(s, inputs);
    bool good = start(s, &error);
    CUDA_TRY(&error, cuda, stream_sync, c->stream); /* what was submitted uses our memory */
    cuda->f.context_pop(&popped);
    if (!good || error.result != 0) {
        s->bound = false; /* the next run begins from its memory again */
        return fail(s, &error);
    }
    c->runs++;
    tcc_status status = check_words(s);
    if (status == TCC_OK) give_outputs(s, outputs);
    return status;
}

const DeviceTable cuda_device = {
    .session_begin = session_begin, .session_end = session_end, .reserve = reserve, .run = run};
