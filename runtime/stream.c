/* One queue, one lock. Work is taken off by a thread of the stream's own, started by the first
 * piece, or by the host's, which is asked again whenever the queue has run empty. */
#include "runtime/stream.h"

#include "runtime/cuda.h"
#include "runtime/model.h"
#include "runtime/structs.h"

#include <pthread.h>
#include <signal.h>

/* In front of every stream: models of other artefacts, with a runtime of their own, know by it
 * that they may use one. A change of the struct or of StreamWork changes it. */
enum { STREAM_MAGIC = 0x32727473 /* "str2" */ };

struct tcc_stream {
    uint32_t magic;
    bool started, stop;
    bool busy;          /* with work that was taken off, or the host was asked to take some */
    tcc_model *model;   /* whose memory it is in */
    tcc_submit *submit; /* NULL: a thread of its own */
    void *submit_user;
    void *native, *context; /* the host's stream on a GPU, and where it is; NULL: a queue */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some, none;
    StreamWork *first, **end;
};

/* ---- taking work off ------------------------------------------------------------------------- */

/* Under the lock, which is open while the work is done. */
static void run_all(tcc_stream *s) {
    s->busy = true;
    while (s->first != NULL) {
        StreamWork *work = s->first;
        s->first = work->next;
        if (s->first == NULL) s->end = &s->first;
        pthread_mutex_unlock(&s->lock);
        work->run(work);
        pthread_mutex_lock(&s->lock);
    }
    s->busy = false;
    pthread_cond_broadcast(&s->none);
}

static void *serve(void *data) {
    tcc_stream *s = data;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        run_all(s);
        while (s->first == NULL && !s->stop) pthread_cond_wait(&s->some, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* What the host's thread calls. */
static void run_submitted(void *data) {
    tcc_stream *s = data;
    pthread_mutex_lock(&s->lock);
    run_all(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- queueing -------------------------------------------------------------------------------- */

bool stream_is_known(const tcc_stream *stream) { return stream->magic == STREAM_MAGIC; }

void *stream_native(const tcc_stream *stream) { return stream->native; }

bool stream_fits(const tcc_stream *stream, const tcc_model *model) {
    return stream->native == NULL ||
           (model->cuda != NULL && model->cuda->context == stream->context);
}

/* The thread takes no signals: those are for the host's. */
static bool start(tcc_stream *s) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&s->thread, NULL, serve, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void stream_queue(tcc_stream *s, StreamWork *work) {
    work->next = NULL;
    pthread_mutex_lock(&s->lock);
    *s->end = work;
    s->end = &work->next;
    bool ask = s->submit != NULL && !s->busy;
    if (ask) s->busy = true;
    if (s->submit == NULL && !s->started) s->started = start(s);
    if (s->submit == NULL && !s->started && !s->busy) run_all(s);
    pthread_cond_signal(&s->some);
    pthread_mutex_unlock(&s->lock);
    if (ask) s->submit(s->submit_user, run_submitted, s);
}

/* ---- the handle ------------------------------------------------------------------------------ */

tcc_status stream_new(tcc_model *model, const tcc_stream_options *options,
                      tcc_stream **out_stream) {
    tcc_stream_options o = {0};
    if (out_stream != NULL) *out_stream = NULL;
    if (model == NULL || out_stream == NULL) return TCC_INVALID;
    if (!struct_take(&o, sizeof o, options, STRUCT_UPTO(tcc_stream_options, submit_user)))
        return TCC_INVALID;
    if (o.native != NULL && (model->cuda == NULL || o.submit != NULL)) return TCC_INVALID;
    tcc_stream *s = memory_new(&model->memory, sizeof *s);
    if (s == NULL) return TCC_MEMORY;
    s->magic = STREAM_MAGIC;
    s->model = model;
    s->submit = o.submit;
    s->submit_user = o.submit_user;
    s->native = o.native;
    s->context = o.native != NULL ? model->cuda->context : NULL;
    s->end = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->some, NULL);
    pthread_cond_init(&s->none, NULL);
    model_hold(model);
    *out_stream = s;
    return TCC_OK;
}

static void wait_until_idle(tcc_stream *s) {
    while (s->first != NULL || s->busy) pthread_cond_wait(&s->none, &s->lock);
}

tcc_status stream_sync(tcc_stream *s) {
    if (s == NULL) return TCC_INVALID;
    if (s->native != NULL) return cuda_stream_sync(s->model->cuda, s->native);
    pthread_mutex_lock(&s->lock);
    wait_until_idle(s);
    pthread_mutex_unlock(&s->lock);
    return TCC_OK;
}

void stream_free(tcc_stream *s) {
    if (s == NULL) return;
    tcc_model *model = s->model;
    stream_sync(s);
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->some);
    pthread_mutex_unlock(&s->lock);
    if (s->started) pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->none);
    pthread_cond_destroy(&s->some);
    pthread_mutex_destroy(&s->lock);
    memory_free(&model->memory, s, sizeof *s);
    model_release(model);
}
