/* From the inputs' shapes to everything that depends on dims alone: kept for the next run with the
 * same dims. */
#include "runtime/session_internal.h"

#include "runtime/copy.h"
#include "runtime/expr.h"
#include "runtime/messages.h"

/* ---- dims ------------------------------------------------------------------------------------ */

bool session_evaluate(const tcc_session *s, TccExpr expr, int64_t *out_value) {
    const TccImage *image = s->model->artefact.image;
    const int64_t *code = image_at(image, image->code);
    return expr_evaluate(code + expr.offset, expr.count, s->dims, image->dims.count, out_value);
}

static const char *dtype_name(int32_t dtype) {
    static const char *const names[] = {"bool",   "i4",  "u4",   "i8",  "u8",  "i16",
                                        "u16",    "i32", "u32",  "i64", "u64", "f8e4m3",
                                        "f8e5m2", "f16", "bf16", "f32", "f64"};
    return dtype >= 0 && dtype < (int32_t)(sizeof names / sizeof *names) ? names[dtype] : "unknown";
}

/* Everything about a tensor but its dims against the model's; `data` says whether it must have
 * any. */
static tcc_status check_tensor(tcc_session *s, const TccPort *port, const char *kind,
                               const tcc_tensor *tensor, bool data) {
    const char *name = image_string(s->model->artefact.image, port->name);
    int64_t count;
    if (tensor->size != sizeof *tensor)
        return session_fail(s, TCC_INVALID, RUN_STRUCT_SIZE, kind, name);
    if (tensor->device != TCC_CPU && tensor->device != TCC_CUDA)
        return session_fail(s, TCC_INVALID, RUN_DEVICE_NUMBER, kind, name);
    if (tensor->device != TCC_CPU && s->model->cuda == NULL)
        return session_fail(s, TCC_INVALID, RUN_DEVICE, kind, name);
    if (tensor->dtype != port->dtype)
        return session_fail(s, TCC_INVALID, RUN_DTYPE, kind, name, dtype_name(tensor->dtype),
                            dtype_name(port->dtype));
    if (tensor->rank != port->rank)
        return session_fail(s, TCC_INVALID, RUN_RANK, kind, name, tensor->rank, port->rank);
    if (!tensor_count(tensor, &count))
        return session_fail(s, TCC_INVALID, RUN_WRONG_DIM, kind, name);
    if (data && tensor->data == NULL && count > 0)
        return session_fail(s, TCC_INVALID, RUN_NO_DATA, kind, name);
    if (port->bits < 8 && !tensor_is_dense(tensor))
        return session_fail(s, TCC_INVALID, RUN_DENSE, kind, name);
    if (!tensor_has_sound_strides(tensor))
        return session_fail(s, TCC_INVALID, RUN_STRIDES, kind, name);
    return TCC_OK;
}

static tcc_status check_dim(tcc_session *s, const TccPort *port, const char *kind, uint32_t axis,
                            int64_t got) {
    const char *name = image_string(s->model->artefact.image, port->name);
    int64_t expected;
    if (!session_evaluate(s, port->dims[axis], &expected))
        return session_fail(s, TCC_INVALID, RUN_PORT_OVERFLOW, kind, name);
    if (got == expected) return TCC_OK;
    return session_fail(s, TCC_INVALID, RUN_AXIS, kind, name, axis, (long long)got,
                        (long long)expected);
}

/* Gives each dim the size of the axis that binds it. */
static tcc_status bind_dims(tcc_session *s, const tcc_tensor *inputs, bool *out_changed) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->inputs);
    const TccDim *dims = image_at(image, image->dims);
    *out_changed = !s->bound;
    for (uint32_t d = 0; d < image->dims.count; d++) {
        int64_t value = inputs[dims[d].input].dims[dims[d].axis];
        if (value < dims[d].lo || value > dims[d].hi)
            return session_fail(s, TCC_INVALID, RUN_DIM_RANGE,
                                image_string(image, ports[dims[d].input].name),
                                image_string(image, dims[d].name), (long long)value,
                                (long long)dims[d].lo, (long long)dims[d].hi);
        if (s->dims[d] != value) *out_changed = true;
        s->dims[d] = value;
    }
    return TCC_OK;
}

static tcc_status check_relations(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccCheck *checks = image_at(image, image->checks);
    for (uint32_t i = 0; i < image->checks.count; i++) {
        int64_t a, b;
        bool known = session_evaluate(s, checks[i].a, &a) && session_evaluate(s, checks[i].b, &b);
        if (known && (checks[i].at_most ? a <= b : a == b)) continue;
        if (!known) return session_fail(s, TCC_INVALID, RUN_DIMS_OVERFLOW);
        return session_fail(s, TCC_INVALID, RUN_CHECK, image_string(image, checks[i].message),
                            (long long)a, checks[i].at_most ? "is more than" : "is not",
                            (long long)b);
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

const TccKernelInfo *session_kernel(const tcc_session *s, uint32_t kernel) {
    const TccImage *image = s->model->artefact.image;
    const TccKernelInfo *kernels = image_at(image, image->kernels);
    return &kernels[s->model->variant * image_kernel_count(image) + kernel];
}

static tcc_status evaluate_sizes(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccLaunch *launches = image_at(image, image->launches);
    bool known = true;
    s->scratch_bytes = 0;
    for (uint32_t i = 0; i < image->buffers.count; i++)
        known = known && session_evaluate(s, buffers[i].bytes, &s->buffer_bytes[i]);
    for (uint32_t i = 0; i < image->launches.count; i++) {
        const TccKernelInfo *kernel = session_kernel(s, launches[i].kernel);
        int64_t scratch = 0;
        known = known && session_evaluate(s, kernel->points, &s->points[i]) &&
                session_evaluate(s, kernel->scratch, &scratch);
        if (known && scratch > 0 && (uint64_t)scratch > s->scratch_bytes)
            s->scratch_bytes = (size_t)scratch;
    }
    return known ? TCC_OK : session_fail(s, TCC_INVALID, RUN_SIZES_OVERFLOW);
}

tcc_status session_reserve(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    s->scratch_stride = (s->scratch_bytes + PAGE - 1) / PAGE * PAGE;
    s->shared_ns = session_shared_ns(s);
    size_t threads = (size_t)s->model->threads;
    if (!block_reserve(s, &s->arena, (size_t)buckets[s->bucket].arena_bytes) ||
        !block_reserve(s, &s->scratch, s->scratch_stride * threads))
        return session_fail(s, TCC_MEMORY, RUN_ARENA_MEMORY,
                            (unsigned long long)buckets[s->bucket].arena_bytes);
    return TCC_OK;
}

tcc_status session_bind_inputs(tcc_session *s, const tcc_tensor *inputs, uint32_t count,
                               bool data) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->inputs);
    bool changed = false;
    if (count != image->inputs.count)
        return session_fail(s, TCC_INVALID, RUN_COUNT, count, "inputs", image->inputs.count);
    if (inputs == NULL && count > 0) return session_fail(s, TCC_INVALID, RUN_NULL, "inputs");
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < count && status == TCC_OK; i++)
        status = check_tensor(s, &ports[i], "input", &inputs[i], data);
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
    if (status == TCC_OK) s->bucket = choose_bucket(s);
    if (status == TCC_OK) status = s->model->device->reserve(s);
    s->bound = status == TCC_OK;
    return status;
}

tcc_status session_check_outputs(tcc_session *s, const tcc_tensor *outputs, uint32_t count) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *ports = image_at(image, image->outputs);
    if (count != image->outputs.count)
        return session_fail(s, TCC_INVALID, RUN_COUNT, count, "outputs", image->outputs.count);
    if (outputs == NULL && count > 0) return session_fail(s, TCC_INVALID, RUN_NULL, "outputs");
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < count && status == TCC_OK; i++) {
        status = check_tensor(s, &ports[i], "output", &outputs[i], true);
        for (uint32_t a = 0; a < ports[i].rank && status == TCC_OK; a++)
            status = check_dim(s, &ports[i], "output", a, outputs[i].dims[a]);
    }
    return status;
}
