/* A run: bind the dims from the inputs' shapes, check them, choose the memory plan, point every
 * kernel at its buffers, run the launches in order. What depends on the dims alone is kept for the
 * next run with the same dims. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making and freeing ---------------------------------------------------------------------- */

static void *new_array(uint32_t count, size_t size) { return calloc(count == 0 ? 1 : count, size); }

tcc_status session_new(tcc_model *model, tcc_session **out_session) {
    if (out_session != NULL) *out_session = NULL;
    if (model == NULL || out_session == NULL) return TCC_INVALID;
    const TccImage *image = model->artefact.image;
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

const char *session_message(const tcc_session *session) {
    return session == NULL ? "there is no session" : session->message;
}

/* The id stays whole however long the words are. */
tcc_status session_fail(tcc_session *s, tcc_status status, const char *id, const char *format,
                        ...) {
    size_t room = sizeof s->message - strlen(id) - sizeof " []" + 1;
    va_list args;
    va_start(args, format);
    vsnprintf(s->message, room, format, args);
    va_end(args);
    size_t used = strlen(s->message);
    snprintf(s->message + used, sizeof s->message - used, " [%s]", id);
    return status;
}

/* At least `size` bytes, aligned; the contents are not kept. */
bool block_reserve(Block *block, size_t size) {
    if (block->size >= size) return true;
    size_t rounded = (size + PAGE - 1) / PAGE * PAGE;
    if (rounded < size) return false;
    char *data = aligned_alloc(ALIGNMENT, rounded);
    if (data == NULL) return false;
    free(block->data);
    *block = (Block){data, rounded};
    return true;
}

/* ---- the API --------------------------------------------------------------------------------- */

tcc_status session_run(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                       const tcc_tensor *outputs, uint32_t output_count) {
    if (s == NULL) return TCC_INVALID;
    tcc_status status = session_bind_inputs(s, inputs, input_count, true);
    if (status == TCC_OK) status = session_check_outputs(s, outputs, output_count);
    if (status == TCC_OK) status = session_point_buffers(s, inputs, outputs);
    uint32_t launches = s->model->artefact.image->launches.count;
    for (uint32_t i = 0; i < launches && status == TCC_OK; i++) status = session_launch(s, i);
    if (status == TCC_OK) session_unstage_outputs(s, outputs);
    return status;
}

tcc_status session_enqueue(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count, void *stream) {
    if (s == NULL) return TCC_INVALID;
    if (stream != NULL) return session_fail(s, TCC_INVALID, RUN_STREAM);
    tcc_status status = session_run(s, inputs, input_count, outputs, output_count);
    s->pending = status == TCC_INDEX ? status : TCC_OK;
    return status == TCC_INDEX ? TCC_OK : status;
}

tcc_status session_sync(tcc_session *s) {
    if (s == NULL) return TCC_INVALID;
    tcc_status status = s->pending;
    s->pending = TCC_OK;
    return status;
}

tcc_status session_output_dims(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                               uint32_t index, int64_t *out_dims) {
    if (s == NULL) return TCC_INVALID;
    const TccImage *image = s->model->artefact.image;
    if (out_dims == NULL) return session_fail(s, TCC_INVALID, RUN_NULL, "out_dims");
    if (index >= image->outputs.count)
        return session_fail(s, TCC_INVALID, RUN_OUTPUT_INDEX, image->outputs.count);
    tcc_status status = session_bind_inputs(s, inputs, input_count, false);
    const TccPort *port = (const TccPort *)image_at(image, image->outputs) + index;
    for (uint32_t a = 0; a < port->rank && status == TCC_OK; a++)
        if (!session_evaluate(s, port->dims[a], &out_dims[a]))
            status = session_fail(s, TCC_INVALID, RUN_SIZES_OVERFLOW);
    return status;
}

tcc_status session_run_info(const tcc_session *s, tcc_run_info *out_info) {
    if (s == NULL || out_info == NULL) return TCC_INVALID;
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
    if (s == NULL) return;
    s->profile = callback;
    s->profile_user = user;
}
