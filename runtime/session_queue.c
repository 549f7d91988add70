/* Runs on streams. What is queued has its own copy of the tensors; the stream's thread alone
 * touches the session until the last one is done, and whoever calls meanwhile waits for that. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include <string.h>

typedef struct QueuedRun {
    StreamWork work; /* first: the stream knows this part */
    tcc_session *session;
    uint32_t input_count, output_count;
    tcc_tensor tensors[]; /* inputs, then outputs */
} QueuedRun;

static size_t run_size(uint32_t inputs, uint32_t outputs) {
    return sizeof(QueuedRun) + ((size_t)inputs + outputs) * sizeof(tcc_tensor);
}

/* Behind an error nothing of the session is run until sync has told it. */
static void run_queued(StreamWork *work) {
    QueuedRun *run = (QueuedRun *)work;
    tcc_session *s = run->session;
    const tcc_tensor *outputs = run->tensors + run->input_count;
    if (s->pending == TCC_OK)
        s->pending = session_run_now(s, run->tensors, run->input_count, outputs, run->output_count);
    memory_free(&s->model->memory, run, run_size(run->input_count, run->output_count));
    pthread_mutex_lock(&s->lock);
    if (atomic_fetch_sub(&s->queued, 1) == 1) pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->lock);
}

/* Waits for what is queued. The lock is taken even when nothing is, if ever anything was: the
 * stream's thread may be about to open it. */
static void wait_for_queue(tcc_session *s) {
    if (s->stream == NULL) return;
    pthread_mutex_lock(&s->lock);
    while (atomic_load(&s->queued) > 0) pthread_cond_wait(&s->idle, &s->lock);
    pthread_mutex_unlock(&s->lock);
    s->stream = NULL;
}

void session_settle(tcc_session *s) {
    wait_for_queue(s);
    if (s->model->device->settle != NULL) s->model->device->settle(s);
}

static tcc_status queue(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                        tcc_stream *stream) {
    const TccImage *image = s->model->artefact.image;
    uint32_t ins = image->inputs.count, outs = image->outputs.count;
    QueuedRun *run = memory_new(&s->model->memory, run_size(ins, outs));
    if (s->stream != stream || run == NULL) wait_for_queue(s);
    if (run == NULL) return session_fail(s, TCC_MEMORY, RUN_MEMORY);
    *run =
        (QueuedRun){.work.run = run_queued, .session = s, .input_count = ins, .output_count = outs};
    if (ins > 0) memcpy(run->tensors, inputs, ins * sizeof *inputs);
    if (outs > 0) memcpy(run->tensors + ins, outputs, outs * sizeof *outputs);
    s->stream = stream;
    atomic_fetch_add(&s->queued, 1);
    stream_queue(stream, &run->work);
    return TCC_OK;
}

/* What is wrong with the call itself; the session is settled when something is. */
static tcc_status check_call(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                             const tcc_tensor *outputs, uint32_t output_count,
                             const tcc_stream *stream) {
    const TccImage *image = s->model->artefact.image;
    bool counts = input_count == image->inputs.count && output_count == image->outputs.count;
    bool arrays = (inputs != NULL || input_count == 0) && (outputs != NULL || output_count == 0);
    bool known = stream_is_known(stream);
    bool here = known && stream_fits(stream, s->model);
    if (here && counts && arrays) return TCC_OK;
    session_settle(s);
    if (!known) return session_fail(s, TCC_INVALID, RUN_STREAM);
    if (!here) return session_fail(s, TCC_INVALID, RUN_STREAM_DEVICE);
    if (input_count != image->inputs.count)
        return session_fail(s, TCC_INVALID, RUN_COUNT, input_count, "inputs", image->inputs.count);
    if (output_count != image->outputs.count)
        return session_fail(s, TCC_INVALID, RUN_COUNT, output_count, "outputs",
                            image->outputs.count);
    bool first = inputs == NULL && input_count > 0;
    return session_fail(s, TCC_INVALID, RUN_NULL, first ? "inputs" : "outputs");
}

/* On a stream of the device's own, which keeps the order; nothing is queued here. */
static tcc_status enqueue_native(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                                 const tcc_tensor *outputs, uint32_t output_count, void *native) {
    wait_for_queue(s);
    if (s->pending != TCC_OK) return TCC_OK;
    tcc_status status = session_bind_inputs(s, inputs, input_count, true);
    if (status == TCC_OK) status = session_check_outputs(s, outputs, output_count);
    return status == TCC_OK ? s->model->device->enqueue(s, inputs, outputs, native) : status;
}

tcc_status session_enqueue(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count, void *stream) {
    if (s == NULL) return TCC_INVALID;
    if (stream != NULL) {
        tcc_status status = check_call(s, inputs, input_count, outputs, output_count, stream);
        if (status != TCC_OK) return status;
        void *native = stream_native(stream);
        return native == NULL
                   ? queue(s, inputs, outputs, stream)
                   : enqueue_native(s, inputs, input_count, outputs, output_count, native);
    }
    session_settle(s);
    if (s->pending != TCC_OK) return TCC_OK;
    tcc_status status = session_run_now(s, inputs, input_count, outputs, output_count);
    if (status == TCC_INDEX) s->pending = status;
    return status == TCC_INDEX ? TCC_OK : status;
}

tcc_status session_sync(tcc_session *s) {
    if (s == NULL) return TCC_INVALID;
    session_settle(s);
    tcc_status status = s->pending;
    s->pending = TCC_OK;
    return status;
}
