/* The caller's tensors and pinned memory. */
#include "runtime/copy.h"
#include "runtime/cuda_session.h"

#include <string.h>

static uint32_t element_bytes(const TccPort *port) { return port->bits < 8 ? 1 : port->bits / 8; }

void cuda_take_inputs(tcc_session *s, const tcc_tensor *inputs) {
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

void cuda_give_outputs(tcc_session *s, const tcc_tensor *outputs) {
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
