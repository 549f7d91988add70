/* Where a run on a GPU uses the caller's tensors. */
#include "runtime/copy.h"
#include "runtime/cuda_session.h"
#include "runtime/messages.h"

#include <string.h>

enum {
    PART = 256,         /* alignment of parts */
    DEVICE_ORDINAL = 9, /* of a pointer, CU_POINTER_ATTRIBUTE_… */
    INVALID_VALUE = 1
};

/* One input or output of a run. */
typedef struct Port {
    const TccPort *port;
    const tcc_tensor *tensor;
    const char *kind;
} Port;

/* The port of a buffer; false when it is the model's own. */
static bool find_port(const tcc_session *s, uint32_t buffer, const tcc_tensor *inputs,
                      const tcc_tensor *outputs, Port *out_port) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *b = (const TccBuffer *)image_at(image, image->buffers) + buffer;
    const TccPort *in = image_at(image, image->inputs), *out = image_at(image, image->outputs);
    if (b->kind == TCC_BUFFER_input)
        *out_port = (Port){&in[b->index], &inputs[b->index], "input"};
    else if (b->kind == TCC_BUFFER_output)
        *out_port = (Port){&out[b->index], &outputs[b->index], "output"};
    return b->kind == TCC_BUFFER_input || b->kind == TCC_BUFFER_output;
}

static uint32_t element_bytes(const TccPort *port) { return port->bits < 8 ? 1 : port->bits / 8; }

static bool is_on_device(const tcc_tensor *tensor) { return tensor->device == TCC_CUDA; }

/* ---- places ---------------------------------------------------------------------------------- */

static bool overlap(const Port *a, const Port *b) {
    uintptr_t a0, a1, b0, b1;
    tensor_span(a->tensor, a->port->bits, &a0, &a1);
    tensor_span(b->tensor, b->port->bits, &b0, &b1);
    return is_on_device(a->tensor) && is_on_device(b->tensor) && a0 < b1 && b0 < a1;
}

/* Kernels assume that an output shares no memory with an input or another output. */
static bool is_shared(const tcc_session *s, uint32_t buffer, const Port *output,
                      const tcc_tensor *inputs, const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    Port other;
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        bool before = buffers[i].kind == TCC_BUFFER_input || i < buffer;
        if (before && find_port(s, i, inputs, outputs, &other) && overlap(output, &other))
            return true;
    }
    return false;
}

static CudaPlace choose_place(const tcc_session *s, uint32_t buffer, const Port *p,
                              const tcc_tensor *inputs, const tcc_tensor *outputs) {
    bool output = *p->kind == 'o';
    if (!is_on_device(p->tensor) || s->buffer_bytes[buffer] == 0) return PLACE_host;
    if ((uintptr_t)tensor_begin(p->tensor) % element_bytes(p->port) != 0) return PLACE_staged;
    if (!output) return PLACE_direct;
    return p->port->bits < 8 || is_shared(s, buffer, p, inputs, outputs) ? PLACE_staged
                                                                         : PLACE_direct;
}

/* Whether a tensor in the device's memory may be used; what is in the host's has been looked at. */
static tcc_status check_tensor(tcc_session *s, const Port *p, uint64_t known) {
    const Cuda *cuda = s->model->cuda;
    const char *name = image_string(s->model->artefact.image, p->port->name);
    uint64_t address = (uintptr_t)tensor_begin(p->tensor);
    int ordinal = -1;
    if (!tensor_is_dense(p->tensor))
        return session_fail(s, TCC_INVALID, RUN_DEVICE_STRIDES, p->kind, name);
    if (address == known) return TCC_OK;
    int result = cuda->f.pointer_attribute(&ordinal, DEVICE_ORDINAL, address);
    if (result == 0 && ordinal == cuda->device) return TCC_OK;
    if (result == 0 || result == INVALID_VALUE)
        return session_fail(s, TCC_INVALID, RUN_DEVICE_POINTER, p->kind, name, cuda->name);
    CudaError error = {.result = result, .call = "pointer_attribute"};
    return cuda_session_fail(s, &error);
}

/* Takes over where the tensors are; whether the places are others, or only the addresses. */
static tcc_status look(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                       bool *out_places, bool *out_addresses) {
    CudaSession *c = s->cuda;
    uint32_t count = s->model->artefact.image->buffers.count;
    Port p;
    *out_places = *out_addresses = !c->placed;
    for (uint32_t i = 0; i < count; i++) {
        if (!find_port(s, i, inputs, outputs, &p)) continue;
        CudaPlace place = choose_place(s, i, &p, inputs, outputs);
        uint64_t given = place == PLACE_host ? 0 : (uintptr_t)tensor_begin(p.tensor);
        tcc_status status =
            place == PLACE_host ? TCC_OK : check_tensor(s, &p, c->placed ? c->given[i] : 0);
        if (status != TCC_OK) return status;
        if (place != c->place[i]) *out_places = true;
        if (given != c->given[i]) *out_addresses = true;
    }
    return TCC_OK;
}

static void take_places(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    CudaSession *c = s->cuda;
    Port p;
    for (uint32_t i = 0; i < s->model->artefact.image->buffers.count; i++) {
        if (!find_port(s, i, inputs, outputs, &p)) continue;
        c->place[i] = choose_place(s, i, &p, inputs, outputs);
        c->given[i] = c->place[i] == PLACE_host ? 0 : (uintptr_t)tensor_begin(p.tensor);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t part_of(uint64_t *end, uint64_t bytes) {
    uint64_t at = *end;
    *end += (bytes + PART - 1) / PART * PART;
    return at;
}

static void lay_out_kind(tcc_session *s, uint32_t kind, CudaPlace place, uint64_t *end) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    CudaSession *c = s->cuda;
    for (uint32_t i = 0; i < image->buffers.count; i++)
        if (buffers[i].kind == kind && c->place[i] == place)
            c->part[i] = part_of(end, (uint64_t)s->buffer_bytes[i]);
}

/* What goes one way lies together, so that each way is one copy. */
static void lay_out(tcc_session *s) {
    CudaSession *c = s->cuda;
    uint64_t end = 0, launches = s->model->artefact.image->launches.count;
    lay_out_kind(s, TCC_BUFFER_input, PLACE_host, &end);
    c->host_in_end = end;
    lay_out_kind(s, TCC_BUFFER_input, PLACE_staged, &end);
    lay_out_kind(s, TCC_BUFFER_output, PLACE_staged, &end);
    c->host_out_begin = end;
    lay_out_kind(s, TCC_BUFFER_output, PLACE_host, &end);
    c->errors = part_of(&end, launches * sizeof(TccErrorWord));
    c->io_bytes = end > 0 ? end : PART;
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
        default:
            c->buffers[i] = c->place[i] == PLACE_direct ? c->given[i] : c->io.address + c->part[i];
        }
}

static tcc_status reserve_io(tcc_session *s) {
    const Cuda *cuda = s->model->cuda;
    CudaSession *c = s->cuda;
    CudaError error = {0};
    cuda_finish(s);
    lay_out(s);
    if (!cuda_reserve_block(cuda, &c->io, c->io_bytes, &error) ||
        !cuda_reserve_pinned(cuda, c, c->io_bytes, &error))
        return cuda_session_fail(s, &error);
    c->is_stale = true;
    return TCC_OK;
}

tcc_status cuda_place_tensors(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    CudaSession *c = s->cuda;
    bool places, addresses;
    tcc_status status = look(s, inputs, outputs, &places, &addresses);
    if (status != TCC_OK || (!places && !addresses)) return status;
    c->placed = false;
    cuda_forget_run(s->model->cuda, c);
    take_places(s, inputs, outputs);
    if (places) status = reserve_io(s);
    if (status == TCC_OK) point_buffers(s);
    c->placed = status == TCC_OK;
    return status;
}

/* ---- pinned memory --------------------------------------------------------------------------- */

void cuda_take_inputs(tcc_session *s, const tcc_tensor *inputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    Port p;
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        bool host = buffers[i].kind == TCC_BUFFER_input && s->cuda->place[i] == PLACE_host;
        if (!host || s->buffer_bytes[i] == 0) continue;
        char *to = (char *)s->cuda->pinned + s->cuda->part[i];
        find_port(s, i, inputs, NULL, &p);
        if (tensor_is_dense(p.tensor))
            memcpy(to, tensor_begin(p.tensor), (size_t)s->buffer_bytes[i]);
        else
            tensor_gather(p.tensor, element_bytes(p.port), to);
    }
}

void cuda_give_outputs(tcc_session *s, const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    Port p;
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        bool host = buffers[i].kind == TCC_BUFFER_output && s->cuda->place[i] == PLACE_host;
        if (!host || s->buffer_bytes[i] == 0) continue;
        const char *from = (const char *)s->cuda->pinned + s->cuda->part[i];
        find_port(s, i, NULL, outputs, &p);
        if (tensor_is_dense(p.tensor))
            memcpy(tensor_begin(p.tensor), from, (size_t)s->buffer_bytes[i]);
        else
            tensor_scatter(p.tensor, element_bytes(p.port), from);
    }
}
