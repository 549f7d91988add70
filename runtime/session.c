/* A run: bind the dims from the inputs' shapes, check them, choose the memory plan, point every
 * kernel at its buffers, run the launches in order. What depends on the dims alone is kept for the
 * next run with the same dims. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"
#include "runtime/structs.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- making and freeing ---------------------------------------------------------------------- */

/* Hands out a part of the tables, or counts it while there are none. */
static void *take_table(tcc_session *s, size_t *used, uint32_t count, size_t size) {
    size_t begin = *used;
    *used += ((size_t)count * size + MEMORY_LINE - 1) / MEMORY_LINE * MEMORY_LINE;
    return s->tables == NULL ? NULL : (char *)s->tables + begin;
}

/* The size of all tables; they lie in s->tables once that is there. */
static size_t lay_out_tables(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    size_t used = 0;
    s->dims = take_table(s, &used, image->dims.count, sizeof *s->dims);
    s->points = take_table(s, &used, image->launches.count, sizeof *s->points);
    s->shares = take_table(s, &used, (uint32_t)s->model->threads, sizeof *s->shares);
    s->buffer_bytes = take_table(s, &used, image->buffers.count, sizeof *s->buffer_bytes);
    s->staged = take_table(s, &used, image->inputs.count + image->outputs.count, sizeof *s->staged);
    s->buffers = take_table(s, &used, image->buffers.count, sizeof *s->buffers);
    s->arguments = take_table(s, &used, image->launch_buffers.count, sizeof *s->arguments);
    return used + 1;
}

tcc_status session_new(tcc_model *model, tcc_session **out_session) {
    if (out_session != NULL) *out_session = NULL;
    if (model == NULL || out_session == NULL) return TCC_INVALID;
    tcc_session *s = memory_new(&model->memory, sizeof *s);
    if (s == NULL) return TCC_MEMORY;
    s->model = model;
    s->tables_size = lay_out_tables(s);
    s->tables = memory_new(&model->memory, s->tables_size);
    if (s->tables == NULL) {
        memory_free(&model->memory, s, sizeof *s);
        return TCC_MEMORY;
    }
    lay_out_tables(s);
    tcc_status status = model->device->session_begin(s);
    if (status != TCC_OK) {
        memory_free(&model->memory, s->tables, s->tables_size);
        memory_free(&model->memory, s, sizeof *s);
        return status;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->idle, NULL);
    model_hold(model);
    *out_session = s;
    return TCC_OK;
}

static void free_block(const tcc_session *s, Block *block) {
    memory_free(&s->model->memory, block->data, block->size);
}

void session_free(tcc_session *s) {
    if (s == NULL) return;
    session_settle(s);
    tcc_model *model = s->model;
    model->device->session_end(s);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->lock);
    memory_free(&model->memory, s->tables, s->tables_size);
    memory_free(&model->memory, s, sizeof *s);
    model_release(model);
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
bool block_reserve(const tcc_session *s, Block *block, size_t size) {
    if (block->size >= size) return true;
    size_t rounded = (size + PAGE - 1) / PAGE * PAGE;
    if (rounded < size) return false;
    char *data = memory_take(&s->model->memory, rounded, ALIGNMENT);
    if (data == NULL) return false;
    free_block(s, block);
    *block = (Block){data, rounded};
    return true;
}

/* ---- the CPU --------------------------------------------------------------------------------- */

static tcc_status cpu_begin(tcc_session *s) {
    (void)s; /* all it has is reserved when dims are bound */
    return TCC_OK;
}

static void cpu_end(tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    for (uint32_t i = 0; i < image->inputs.count + image->outputs.count; i++)
        free_block(s, &s->staged[i]);
    free_block(s, &s->arena);
    free_block(s, &s->scratch);
}

static tcc_status cpu_run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs) {
    tcc_status status = session_point_buffers(s, inputs, outputs);
    uint32_t launches = s->model->artefact.image->launches.count;
    session_begin_launches(s);
    for (uint32_t i = 0; i < launches && status == TCC_OK; i++) status = session_launch(s, i);
    session_end_launches(s);
    if (status == TCC_OK) session_unstage_outputs(s, outputs);
    return status;
}

const DeviceTable cpu_device = {
    .session_begin = cpu_begin, .session_end = cpu_end, .reserve = session_reserve, .run = cpu_run};

/* ---- the API --------------------------------------------------------------------------------- */

tcc_status session_run_now(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count) {
    tcc_status status = session_bind_inputs(s, inputs, input_count, true);
    if (status == TCC_OK) status = session_check_outputs(s, outputs, output_count);
    return status == TCC_OK ? s->model->device->run(s, inputs, outputs) : status;
}

tcc_status session_run(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                       const tcc_tensor *outputs, uint32_t output_count) {
    if (s == NULL) return TCC_INVALID;
    session_settle(s);
    return session_run_now(s, inputs, input_count, outputs, output_count);
}

tcc_status session_output_dims(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                               uint32_t index, int64_t *out_dims) {
    if (s == NULL) return TCC_INVALID;
    const TccImage *image = s->model->artefact.image;
    session_settle(s);
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

tcc_status session_run_info(const tcc_session *session, tcc_run_info *out_info) {
    tcc_session *s = (tcc_session *)(uintptr_t)session;
    if (s == NULL || out_info == NULL) return TCC_INVALID;
    session_settle(s);
    const TccImage *image = s->model->artefact.image;
    const TccBucket *buckets = image_at(image, image->buckets);
    if (!s->bound) return TCC_INVALID;
    tcc_run_info info = {.bucket = s->bucket,
                         .planned_bytes = buckets[s->bucket].arena_bytes,
                         .arena_bytes = s->arena_high,
                         .scratch_bytes = s->scratch_bytes,
                         .launches = image->launches.count};
    size_t least = STRUCT_UPTO(tcc_run_info, launches);
    return struct_give(out_info, &info, sizeof info, least) ? TCC_OK : TCC_INVALID;
}

void session_profile(tcc_session *s, tcc_profile_callback *callback, void *user) {
    if (s == NULL) return;
    session_settle(s);
    s->profile = callback;
    s->profile_user = user;
}
