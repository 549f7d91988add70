/* The caller's tensors: used where they lie when they are dense, aligned and alone, else copied. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include "runtime/copy.h"

#include <string.h>

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
    if (!block_reserve(s, &s->staged[i], (size_t)count * bytes + 1)) return NULL;
    if (port->bits < 8)
        memcpy(s->staged[i].data, tensor_begin(tensor), (size_t)count);
    else
        tensor_gather(tensor, bytes, s->staged[i].data);
    return s->staged[i].data;
}

static bool overlaps(const tcc_tensor *a, uint32_t a_bits, const tcc_tensor *b, uint32_t b_bits) {
    uintptr_t a0, a1, b0, b1;
    tensor_span(a, a_bits, &a0, &a1);
    tensor_span(b, b_bits, &b0, &b1);
    return a0 < b1 && b0 < a1;
}

/* Kernels assume that an output shares no memory with an input or another output. */
static bool output_is_shared(const tcc_session *s, uint32_t o, const tcc_tensor *inputs,
                             const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *in = image_at(image, image->inputs), *out = image_at(image, image->outputs);
    for (uint32_t i = 0; i < image->inputs.count; i++)
        if (overlaps(&outputs[o], out[o].bits, &inputs[i], in[i].bits)) return true;
    for (uint32_t i = 0; i < o; i++)
        if (overlaps(&outputs[o], out[o].bits, &outputs[i], out[i].bits)) return true;
    return false;
}

/* Kernels write single 4-bit values; the half byte behind an odd number of them is 0. */
static void clear_last_nibble(const tcc_session *s, uint32_t buffer, uint32_t output) {
    const TccImage *image = s->model->artefact.image;
    const TccPort *port = (const TccPort *)image_at(image, image->outputs) + output;
    int64_t bytes = s->buffer_bytes[buffer];
    if (port->bits < 8 && bytes > 0) ((char *)s->buffers[buffer])[bytes - 1] = 0;
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
    return block_reserve(s, block, (size_t)count * element_bytes(port) + 1) ? block->data : NULL;
}

void session_unstage_outputs(tcc_session *s, const tcc_tensor *outputs) {
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

/* The arena's allocator: places are the plan's, what has been handed out is counted here. */
static void *take_arena(tcc_session *s, uint32_t buffer, int64_t offset) {
    uint64_t end = (uint64_t)(offset + s->buffer_bytes[buffer]);
    end = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (end > s->arena_high) s->arena_high = end;
    return s->arena.data + offset;
}

tcc_status session_point_buffers(tcc_session *s, const tcc_tensor *inputs,
                                 const tcc_tensor *outputs) {
    const TccImage *image = s->model->artefact.image;
    const TccBuffer *buffers = image_at(image, image->buffers);
    const TccConstant *constants = image_at(image, image->constants);
    const TccPort *ports = image_at(image, image->inputs);
    s->arena_high = 0;
    for (uint32_t i = 0; i < image->buffers.count; i++) {
        uint32_t k = buffers[i].index;
        switch (buffers[i].kind) {
        case TCC_BUFFER_input: s->buffers[i] = stage_input(s, k, &ports[k], &inputs[k]); break;
        case TCC_BUFFER_output: s->buffers[i] = stage_output(s, k, inputs, outputs); break;
        case TCC_BUFFER_constant:
            s->buffers[i] = (void *)(uintptr_t)(s->model->artefact.weights + constants[k].offset);
            break;
        default: s->buffers[i] = take_arena(s, i, buffers[i].offset[s->bucket]);
        }
        if (s->buffers[i] == NULL && s->buffer_bytes[i] > 0)
            return session_fail(s, TCC_MEMORY, RUN_MEMORY);
        if (buffers[i].kind == TCC_BUFFER_output) clear_last_nibble(s, i, k);
    }
    const uint32_t *launch_buffers = image_at(image, image->launch_buffers);
    for (uint32_t i = 0; i < image->launch_buffers.count; i++)
        s->arguments[i] = s->buffers[launch_buffers[i]];
    return TCC_OK;
}
