/* A run: bind the dims from the inputs' shapes, check them, choose the memory plan, point every
 * kernel at its buffers, run the launches in order. What depends on the dims alone is kept for the
 * next run with the same dims. */
#include "runtime/session.h"

#include "runtime/copy.h"
#include "runtime/expr.h"
#include "runtime/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE_SIZE = 512, ALIGNMENT = 64, PAGE = 4096 };

/* Below this much work no thread is woken. */
static const double MIN_PARALLEL_NS = 50000;

/* Memory that grows and never shrinks. */
typedef struct Block {
    char *data;
    size_t size;
} Block;

struct tcc_session {
    tcc_model *model;
    char message[MESSAGE_SIZE];
    int64_t *dims; /* by slot */
    bool bound;    /* what follows is that of `dims` */
    uint32_t bucket;
    int64_t *points;       /* by launch */
    int64_t *buffer_bytes; /* by buffer */
    size_t scratch_bytes;  /* the greatest of all launches */
    uint64_t arena_high;
    Block arena, scratch; /* scratch: one of scratch_stride bytes a thread */
    size_t scratch_stride;
    Block *staged;      /* by port: inputs, then outputs */
    void **buffers;     /* the address of each buffer */
    void **arguments;   /* the same by launch buffer table */
    tcc_status pending; /* what sync will say */
    tcc_profile_callback *profile;
    void *profile_user;
};

/* ---- making and freeing ---------------------------------------------------------------------- */

static void *new_array(uint32_t count, size_t size) { return calloc(count == 0 ? 1 : count, size); }

tcc_status session_new(tcc_model *model, tcc_session **out_session) {
    const TccImage *image = model->artefact.image;
    *out_session = NULL;
    tcc_session *s = calloc(1, sizeof *s);
    if (s == NULL) return TCC_MEMORY;
    s->model = model;
    model_hold(model);
    s->dims = new_array(image->dims.count, sizeof *s->dims);
    s->points = new_array(image->launches.count, sizeof *s->points);
    s->buffer_bytes = new_array(image->buffers.count, sizeof *s->buffer_bytes);
    s->staged = new_array(image->inputs.count + image->outputs.count, sizeof *s->staged);
    s->buffers = new_array(image->buffers.count, sizeof *s->buffers);
    s->arguments = new_array(image->launch_buffers.count, sizeof *s->arguments);
    if (s->dims && s->points && s->buffer_bytes && s->staged && s->buffers && s->arguments) {
        *out_session = s;
        return TCC_OK;
    }
    session_free(s);
    return TCC_MEMORY;
}

void session_free(tcc_session *s) {
    if (s == NULL) return;
    const TccImage *image = s->model->artefact.image;
    for (uint32_t i = 0; s->staged != NULL && i < image->inputs.count + image->outputs.count; i++)
        free(s->staged[i].data);
    free(s->arena.data);
    free(s->scratch.data);
    free(s->arguments);
    free(s->buffers);
    free(s->staged);
    free(s->buffer_bytes);
    free(s->points);
    free(s->dims);
    model_release(s->model);
    free(s);
}

const char *session_message(const tcc_session *session) { return session->message; }

static tcc_status fail(tcc_session *s, tcc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static tcc_status fail(tcc_session *s, tcc_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->message, sizeof s->message, format, args);
    va_end(args);
    return status;
}

/* At least `size` bytes, aligned; the contents are not kept. */
static bool block_reserve(Block *block, size_t size) {
    if (block->size >= size) return true;
    size_t rounded = (size + PAGE - 1) / PAGE * PAGE;
    if (rounded < size) return false;
    char *data = aligned_alloc(ALIGNMENT, rounded);
    if (data == NULL) return false;
    free(block->data);
    *block = (Block){data, rounded};
    return true;
}

/* ---- dims ------------------------------------------------------------------------------------ */

static bool evaluate(const tcc_session *s, TccExpr expr, int64_t *out_value) {
    const TccImage *image = s->model->artefact.image;
    const int64_t *code = image_at(image, image->code);
    return expr_evaluate(code + expr.offset, expr.count, s->dims, image->dims.count, out_value);
}

/* The slot of an expression that is one dim, else -1. */
static int64_t lone_dim(const TccImage *image, TccExpr expr) {
    const int64_t *code = image_at(image, image->code);
    return expr.count == 2 && code[expr.offset] == EXPR_dim ? code[expr.offset + 1] : -1;
}

static const char *dtype_name(int32_t dtype) {
    static const char *const names[] = {"bool",   "i4",  "u4",   "i8",  "u8",  "i16",
                                        "u16",    "i32", "u32",  "i64", "u64", "f8e4m3",
                                        "f8e5m2", "f16", "bf16", "f32", "f64"};
    return dtype >= 0 && dtype < (int32_t)(sizeof names / sizeof *names) ? names[dtype] : "unknown";
}

static tcc_status check_tensor(tcc_session *s, const TccPort *port, const char *kind,
                               const tcc_tensor *tensor) {
    const char *name = image_string(s->model->artefact.image, port->name);
    int64_t count;
    if (tensor->size < sizeof *tensor)
        return fail(s, TCC_INVALID, "%s \"%s\": tcc_tensor.size is wrong", kind, name);
    if (tensor->device != TCC_CPU)
        return fail(s, TCC_INVALID, "%s \"%s\" is not in the CPU's memory", kind, name);
    if (tensor->dtype != port->dtype)
        return fail(s, TCC_INVALID, "%s \"%s\" is %s, expected %s", kind, name,
                    dtype_name(tensor->dtype), dtype_name(port->dtype));
    if (tensor->rank != port->rank)
        return fail(s, TCC_INVALID, "%s \"%s\" has rank %u, expected %u", kind, name, tensor->rank,
                    port->rank);
    if (!tensor_count(tensor, &count))
        return fail(s, TCC_INVALID, "%s \"%s\" has a wrong dim", kind, name);
    if (tensor->data == NULL && count > 0)
        return fail(s, TCC_INVALID, "%s \"%s\" has no data", kind, name);
    if (port->bits < 8 && !tensor_is_dense(tensor))
        return fail(s, TCC_INVALID, "%s \"%s\" has 4-bit elements and must be dense", kind, name);
    return TCC_OK;
}

static tcc_status check_dim(tcc_session *s, const TccPort *port, const char *kind, uint32_t axis,
                            int64_t got) {
    const char *name = image_string(s->model->artefact.image, port->name);
    int64_t expected;
    if (!evaluate(s, port->dims[axis], &expected))
        return fail(s, TCC_INVALID, "the dims of %s \"%s\" overflow", kind, name);
    if (got == expected) return TCC_OK;
    return fail(s, TCC_INVALID, "%s \"%s\": axis %u has %lld elements, expected %lld", kind, name,
                axis, (long long)got, (long long)expected);
}

/* Gives each dim the size of the first input axis that is just this dim. */
static tcc_status bind_dims(tcc_session *s, const tcc_tensor *inputs, bool *out_changed) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->inputs);
    const TccDim *dims = image_at(image, image->dims);
    uint64_t seen[4] = {0};
    *out_changed = !s->bound;
    for (uint32_t i = 0; i < image->inputs.count; i++) {
        for (uint32_t a = 0; a < ports[i].rank; a++) {
            int64_t slot = lone_dim(image, ports[i].dims[a]), value = inputs[i].dims[a];
            if (slot < 0 || slot >= 256 || (seen[slot / 64] >> (slot % 64) & 1)) continue;
            seen[slot / 64] |= (uint64_t)1 << (slot % 64);
            if (value < dims[slot].lo || value > dims[slot].hi)
                return fail(s, TCC_INVALID, "input \"%s\": dim %s is %lld, not in %lld..%lld",
                            image_string(image, ports[i].name),
                            image_string(image, dims[slot].name), (long long)value,
                            (long long)dims[slot].lo, (long long)dims[slot].hi);
            if (s->dims[slot] != value) *out_changed = true;
            s->dims[slot] = value;
        }
    }
    return TCC_OK;
}

static tcc_status check_relations(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccCheck *checks = image_at(image, image->checks);
    for (uint32_t i = 0; i < image->checks.count; i++) {
        int64_t a, b;
        bool known = evaluate(s, checks[i].a, &a) && evaluate(s, checks[i].b, &b);
        if (known && (checks[i].at_most ? a <= b : a == b)) continue;
        if (!known) return fail(s, TCC_INVALID, "the model's dims overflow");
        return fail(s, TCC_INVALID, "%s: %lld %s %lld", image_string(image, checks[i].message),
                    (long long)a, checks[i].at_most ? "is more than" : "is not", (long long)b);
    }
    return TCC_OK;
}

/* ---- what follows from the dims -------------------------------------------------------------- */

/* The first plan that holds the dims; the last holds all. */
static uint32_t choose_bucket(const tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    for (uint32_t b = 0; b + 1 < image->buckets.count; b++) {
        const int64_t *hi = (const int64_t *)(const void *)image_string(image, buckets[b].hi);
        bool fits = true;
        for (uint32_t d = 0; d < image->dims.count && fits; d++) fits = s->dims[d] <= hi[d];
        if (fits) return b;
    }
    return image->buckets.count - 1;
}

/* How many kernels a variant has, and the record of one of the variant in use. */
static uint32_t kernel_count(const TccImage *image) {
    return image->kernels.count / image->variants.count;
}

static const TccKernelInfo *kernel_info(const tcc_session *s, uint32_t kernel) {
    const TccImage *image = s->model->artefact.image;
    const TccKernelInfo *kernels = image_at(image, image->kernels);
    return &kernels[s->model->variant * kernel_count(image) + kernel];
}

static tcc_status evaluate_sizes(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccLaunch *launches = image_at(image, image->launches);
    bool known = true;
    s->scratch_bytes = 0;
    for (uint32_t i = 0; i < image->buffers.count; i++)
        known = known && evaluate(s, buffers[i].bytes, &s->buffer_bytes[i]);
    for (uint32_t i = 0; i < image->launches.count; i++) {
        const TccKernelInfo *kernel = kernel_info(s, launches[i].kernel);
        int64_t scratch = 0;
        known = known && evaluate(s, kernel->points, &s->points[i]) &&
                evaluate(s, kernel->scratch, &scratch);
        if (known && scratch > 0 && (uint64_t)scratch > s->scratch_bytes)
            s->scratch_bytes = (size_t)scratch;
    }
    return known ? TCC_OK : fail(s, TCC_INVALID, "the model's sizes overflow");
}

static tcc_status reserve_memory(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    const TccBuffer *buffers = image_at(image, image->buffers);
    s->bucket = choose_bucket(s);
    s->scratch_stride = (s->scratch_bytes + PAGE - 1) / PAGE * PAGE;
    size_t threads = (size_t)s->model->threads;
    if (!block_reserve(&s->arena, (size_t)buckets[s->bucket].arena_bytes) ||
        !block_reserve(&s->scratch, s->scratch_stride * threads))
        return fail(s, TCC_MEMORY, "out of memory: the model needs %llu bytes between kernels",
                    (unsigned long long)buckets[s->bucket].arena_bytes);
    s->arena_high = 0;
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        if (buffers[i].kind != TCC_BUFFER_arena) continue;
        uint64_t end = (uint64_t)(buffers[i].offset[s->bucket] + s->buffer_bytes[i]);
        end = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (end > s->arena_high) s->arena_high = end;
    }
    return TCC_OK;
}

static tcc_status bind_inputs(tcc_session *s, const tcc_tensor *inputs, uint32_t count) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->inputs);
    bool changed = false;
    if (count != image->inputs.count)
        return fail(s, TCC_INVALID, "%u inputs were given, the model has %u", count,
                    image->inputs.count);
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < count && status == TCC_OK; i++)
        status = check_tensor(s, &ports[i], "input", &inputs[i]);
    if (status == TCC_OK) status = bind_dims(s, inputs, &changed);
    for (uint32_t i = 0; i < count && status == TCC_OK; i++)
        for (uint32_t a = 0; a < ports[i].rank && status == TCC_OK; a++)
            status = check_dim(s, &ports[i], "input", a, inputs[i].dims[a]);
    if (status != TCC_OK || !changed) {
        if (status != TCC_OK) s->bound = false;
        return status;
    }
    s->bound = false;
    status = check_relations(s);
    if (status == TCC_OK) status = evaluate_sizes(s);
    if (status == TCC_OK) status = reserve_memory(s);
    s->bound = status == TCC_OK;
    return status;
}

/* ---- the caller's tensors -------------------------------------------------------------------- */

static uint32_t element_bytes(const TccPort *port) { return port->bits < 8 ? 1 : port->bits / 8; }

static bool is_usable(const TccPort *port, const tcc_tensor *tensor) {
    return tensor_is_dense(tensor) && (uintptr_t)tensor_begin(tensor) % element_bytes(port) == 0;
}

/* The address of input i for the kernels: the caller's, or a dense copy. */
static void *stage_input(tcc_session *s, uint32_t i, const TccPort *port,
                         const tcc_tensor *tensor) {
    if (is_usable(port, tensor)) return tensor_begin(tensor);
    int64_t count = 0;
    tensor_count(tensor, &count);
    uint32_t bytes = element_bytes(port);
    if (port->bits < 8) count = (count + 1) / 2;
    if (!block_reserve(&s->staged[i], (size_t)count * bytes + 1)) return NULL;
    if (port->bits < 8)
        memcpy(s->staged[i].data, tensor_begin(tensor), (size_t)count);
    else
        tensor_gather(tensor, bytes, s->staged[i].data);
    return s->staged[i].data;
}

static bool overlaps(const tcc_tensor *a, uint32_t a_bytes, const tcc_tensor *b, uint32_t b_bytes) {
    uintptr_t a0, a1, b0, b1;
    tensor_span(a, a_bytes, &a0, &a1);
    tensor_span(b, b_bytes, &b0, &b1);
    return a0 < b1 && b0 < a1;
}

/* Kernels assume that an output shares no memory with an input or another output. */
static bool output_is_shared(const tcc_session *s, uint32_t o, const tcc_tensor *inputs,
                             const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *in = image_at(image, image->inputs), *out = image_at(image, image->outputs);
    for (uint32_t i = 0; i < image->inputs.count; i++)
        if (overlaps(&outputs[o], element_bytes(&out[o]), &inputs[i], element_bytes(&in[i])))
            return true;
    for (uint32_t i = 0; i < o; i++)
        if (overlaps(&outputs[o], element_bytes(&out[o]), &outputs[i], element_bytes(&out[i])))
            return true;
    return false;
}

static void *stage_output(tcc_session *s, uint32_t o, const tcc_tensor *inputs,
                          const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *port = (const TccPort *)image_at(image, image->outputs) + o;
    if (is_usable(port, &outputs[o]) && !output_is_shared(s, o, inputs, outputs))
        return tensor_begin(&outputs[o]);
    int64_t count = 0;
    tensor_count(&outputs[o], &count);
    Block *block = &s->staged[image->inputs.count + o];
    return block_reserve(block, (size_t)count * element_bytes(port) + 1) ? block->data : NULL;
}

static void unstage_outputs(tcc_session *s, const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->outputs);
    const TccBuffer *buffers = image_at(image, image->buffers);
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        if (buffers[i].kind != TCC_BUFFER_output) continue;
        uint32_t o = buffers[i].index;
        if (s->buffers[i] == tensor_begin(&outputs[o])) continue;
        if (ports[o].bits < 8)
            memcpy(tensor_begin(&outputs[o]), s->buffers[i], (size_t)s->buffer_bytes[i]);
        else
            tensor_scatter(&outputs[o], element_bytes(&ports[o]), s->buffers[i]);
    }
}

static tcc_status point_buffers(tcc_session *s, const tcc_tensor *inputs,
                                const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccConstant *constants = image_at(image, image->constants);
    const TccPort *ports = image_at(image, image->inputs);
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        uint32_t k = buffers[i].index;
        switch (buffers[i].kind) {
        case TCC_BUFFER_input: s->buffers[i] = stage_input(s, k, &ports[k], &inputs[k]); break;
        case TCC_BUFFER_output: s->buffers[i] = stage_output(s, k, inputs, outputs); break;
        case TCC_BUFFER_constant:
            s->buffers[i] = (void *)(uintptr_t)(s->model->artefact.weights + constants[k].offset);
            break;
        default: s->buffers[i] = s->arena.data + buffers[i].offset[s->bucket];
        }
        if (s->buffers[i] == NULL && s->buffer_bytes[i] > 0)
            return fail(s, TCC_MEMORY, "out of memory");
    }
    const uint32_t *launch_buffers = image_at(image, image->launch_buffers);
    for (uint32_t i = 0; i < image->launch_buffers.count; i++)
        s->arguments[i] = s->buffers[launch_buffers[i]];
    return TCC_OK;
}

static tcc_status check_outputs(tcc_session *s, const tcc_tensor *outputs, uint32_t count) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->outputs);
    if (count != image->outputs.count)
        return fail(s, TCC_INVALID, "%u outputs were given, the model has %u", count,
                    image->outputs.count);
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < count && status == TCC_OK; i++) {
        status = check_tensor(s, &ports[i], "output", &outputs[i]);
        for (uint32_t a = 0; a < ports[i].rank && status == TCC_OK; a++)
            status = check_dim(s, &ports[i], "output", a, outputs[i].dims[a]);
    }
    return status;
}

/* ---- kernels
 * ---------------------------------------------------------------------------------------------------
 */

/* One launch, divided among threads. */
typedef struct Work {
    tcc_session *session;
    TccKernel *kernel;
    void *const *buffers;
    TccErrorWord error;
    int64_t points;
    int32_t parts;
} Work;

static void run_part(void *data, int32_t i) {
    Work *work = data;
    tcc_session *s = work->session;
    TccKernelArgs args = {.buffers = work->buffers,
                          .dims = s->dims,
                          .scratch = s->scratch.data + (size_t)i * s->scratch_stride,
                          .error = &work->error};
    int64_t share = work->points / work->parts, more = work->points % work->parts;
    int64_t begin = i * share + (i < more ? i : more);
    work->kernel(&args, begin, begin + share + (i < more));
}

/* As many threads as the work is worth, never more than points. */
static int32_t choose_parts(const tcc_model *model, int64_t points, double ns_per_point) {
    double ns = (double)points * ns_per_point;
    if (ns < MIN_PARALLEL_NS || points < 2 || model->threads < 2) return 1;
    double worth = ns / (MIN_PARALLEL_NS / 2);
    int32_t parts = worth < model->threads ? (int32_t)worth : model->threads;
    return points < parts ? (int32_t)points : parts;
}

static uint32_t divide(Work *work) {
    tcc_model *model = work->session->model;
    if (work->parts == 1) {
        run_part(work, 0);
        return 1;
    }
    if (model->parallel_for != NULL) {
        model->parallel_for(model->parallel_user, work->parts, run_part, work);
        return (uint32_t)work->parts;
    }
    return (uint32_t)pool_run(model->pool, work->parts, run_part, work);
}

static tcc_status say_index(tcc_session *s, const TccKernelInfo *kernel,
                            const TccErrorWord *error) {
    const TccImage *image = s->model->artefact.image;
    const char *place = kernel->place != 0 ? image_string(image, kernel->place) : "";
    return fail(s, TCC_INDEX, "%s%sindex %lld is not in %lld..%lld (kernel %s)", place,
                *place != 0 ? ": " : "", (long long)error->index, (long long)-error->bound,
                (long long)(error->bound - 1), image_string(image, kernel->name));
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static tcc_status run_launch(tcc_session *s, uint32_t number) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launch = (const TccLaunch *)image_at(image, image->launches) + number;
    const TccKernelInfo *kernel = kernel_info(s, launch->kernel);
    if (s->points[number] <= 0) return TCC_OK;
    uint32_t first = s->model->variant * kernel_count(image);
    Work work = {.session = s,
                 .kernel = s->model->artefact.kernels[first + launch->kernel],
                 .buffers = s->arguments + launch->first_buffer,
                 .points = s->points[number]};
    work.parts = choose_parts(s->model, work.points, kernel->ns_per_point);
    uint64_t begin = s->profile != NULL ? now_ns() : 0;
    uint32_t threads = divide(&work);
    if (s->profile != NULL)
        s->profile(s->profile_user, image_string(image, kernel->name), now_ns() - begin, threads);
    return work.error.state == 0 ? TCC_OK : say_index(s, kernel, &work.error);
}

/* ---- the API
 * ------------------------------------------------------------------------------------------------------
 */

tcc_status session_run(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                       const tcc_tensor *outputs, uint32_t output_count) {
    tcc_status status = bind_inputs(s, inputs, input_count);
    if (status == TCC_OK) status = check_outputs(s, outputs, output_count);
    if (status == TCC_OK) status = point_buffers(s, inputs, outputs);
    uint32_t launches = s->model->artefact.image->launches.count;
    for (uint32_t i = 0; i < launches && status == TCC_OK; i++) status = run_launch(s, i);
    if (status == TCC_OK) unstage_outputs(s, outputs);
    return status;
}

tcc_status session_enqueue(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count, void *stream) {
    if (stream != NULL) return fail(s, TCC_INVALID, "a stream was given to a model on the CPU");
    tcc_status status = session_run(s, inputs, input_count, outputs, output_count);
    s->pending = status == TCC_INDEX ? status : TCC_OK;
    return status == TCC_INDEX ? TCC_OK : status;
}

tcc_status session_sync(tcc_session *s) {
    tcc_status status = s->pending;
    s->pending = TCC_OK;
    return status;
}

tcc_status session_output_dims(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                               uint32_t index, int64_t *out_dims) {
    const TccImage *image = s->model->artefact.image;
    if (index >= image->outputs.count)
        return fail(s, TCC_INVALID, "the model has %u outputs", image->outputs.count);
    tcc_tensor probes[256];
    static char nothing;
    if (input_count > sizeof probes / sizeof *probes)
        return fail(s, TCC_INVALID, "too many inputs");
    for (uint32_t i = 0; i < input_count; i++) {
        probes[i] = inputs[i];
        probes[i].data = &nothing;
    }
    tcc_status status = bind_inputs(s, probes, input_count);
    const TccPort *port = (const TccPort *)image_at(image, image->outputs) + index;
    for (uint32_t a = 0; a < port->rank && status == TCC_OK; a++)
        if (!evaluate(s, port->dims[a], &out_dims[a]))
            status = fail(s, TCC_INVALID, "the model's sizes overflow");
    return status;
}

tcc_status session_run_info(const tcc_session *s, tcc_run_info *out_info) {
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    if (!s->bound || out_info->size < sizeof *out_info) return TCC_INVALID;
    *out_info = (tcc_run_info){.size = out_info->size,
                               .bucket = s->bucket,
                               .planned_bytes = buckets[s->bucket].arena_bytes,
                               .arena_bytes = s->arena_high,
                               .scratch_bytes = s->scratch_bytes,
                               .launches = image->launches.count};
    return TCC_OK;
}

void session_profile(tcc_session *s, tcc_profile_callback *callback, void *user) {
    s->profile = callback;
    s->profile_user = user;
}
