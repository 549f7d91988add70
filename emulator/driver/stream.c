/* Streams: queues of work that is done as late as it may be.
 *
 * Nothing runs when it is submitted. What a host waits for, and what that stands behind, is run by
 * the thread that waits, so that a host which forgot to wait reads old bytes every time and not
 * once a month. TCC_EMU_STREAMS=eager runs all at once, random picks any work that may be next.
 *
 * Work may begin when it is the first of its stream and
 *   - the marker that it waits for, if it does, is done;
 *   - in the default stream: no blocking stream has older work;
 *   - in a blocking stream: the default stream has no older work.
 * Every such reason leads to work that was submitted earlier, so that following them ends. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <time.h>

/* ---- what may run ---------------------------------------------------------------------------- */

static bool is_blocking(const Stream *s) {
    return (s->flags & CU_STREAM_NON_BLOCKING) == 0 && s != s->object.context->legacy;
}

static bool has_older(const Stream *s, uint64_t serial) {
    return s->first != NULL && s->first->serial < serial;
}

/* The stream whose work has to be done before the first of `s`; NULL when there is none. */
static Stream *blocker(const Stream *s) {
    const Work *work = s->first;
    Context *context = s->object.context;
    if (work->action.kind == ACTION_wait && !work->action.as.marker->done)
        return work->action.as.marker->stream;
    if (is_blocking(s) && has_older(context->legacy, work->serial)) return context->legacy;
    if (s != context->legacy) return NULL;
    for (Stream *other = context->streams; other != NULL; other = other->next)
        if (is_blocking(other) && has_older(other, work->serial)) return other;
    return NULL;
}

static uint64_t next_random(uint64_t below) {
    driver.random = driver.random * 6364136223846793005u + 1442695040888963407u;
    return (driver.random >> 33) * below >> 31;
}

static bool may_run(const Stream *s) {
    return s->first != NULL && !s->first->running && blocker(s) == NULL;
}

/* Any of the context's streams that may run, each as likely; NULL when others run all of them. */
static Stream *pick_random(const Context *context) {
    Stream *picked = NULL;
    uint64_t seen = 0;
    for (Stream *s = context->streams; s != NULL; s = s->next)
        if (may_run(s) && next_random(++seen) == 0) picked = s;
    return picked;
}

/* The stream with what has to run next so that `s`, which has work, gets on; NULL when another
 * thread runs it. */
static Stream *pick(Stream *s) {
    if (driver.order == STREAMS_random) {
        Stream *any = pick_random(s->object.context);
        if (any != NULL) return any;
    }
    for (Stream *before; (before = blocker(s)) != NULL;) s = before;
    return s->first->running ? NULL : s;
}

/* ---- running --------------------------------------------------------------------------------- */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void reach(Marker *marker) {
    marker->done = true;
    marker->time_ns = now_ns();
    marker->stream = NULL;
}

/* Runs the first work of the stream, without the lock. After an error nothing is done any more. */
static void run_first(Stream *s) {
    Work *work = s->first;
    Context *context = s->object.context;
    CUresult error = context->error;
    work->running = true;
    pthread_mutex_unlock(&driver.lock);
    CUresult result = action_run(&work->action, error);
    pthread_mutex_lock(&driver.lock);
    if (result != CUDA_SUCCESS) context_fail(context, result);
    if (work->action.kind == ACTION_record) reach(work->action.as.marker);
    s->first = work->next;
    if (s->first == NULL) s->last = NULL;
    action_clear(&work->action);
    free(work);
    pthread_cond_broadcast(&driver.changed);
}

/* One step towards the end of `s`, which has work: of our own, or waiting for another thread's. */
static void step(Stream *s) {
    Stream *next = pick(s);
    if (next != NULL)
        run_first(next);
    else
        pthread_cond_wait(&driver.changed, &driver.lock);
}

void stream_step(Stream *s) {
    Stream *next = s->first != NULL ? pick(s) : NULL;
    if (next != NULL) run_first(next);
}

static void finish_until(Stream *s, uint64_t serial) {
    while (s->first != NULL && s->first->serial <= serial) step(s);
}

/* A blocking stream that has such work, when `s` is the default stream. */
static Stream *blocking_with_work(const Context *context, const Stream *s, uint64_t serial) {
    if (s != context->legacy) return NULL;
    for (Stream *other = context->streams; other != NULL; other = other->next)
        if (is_blocking(other) && other->first != NULL && other->first->serial <= serial)
            return other;
    return NULL;
}

/* To wait for the default stream is to wait for all that an operation in it would wait for. */
CUresult stream_finish(Stream *s) {
    Context *context = s->object.context;
    uint64_t serial = driver.last_serial;
    finish_until(s, serial);
    for (Stream *other; (other = blocking_with_work(context, s, serial)) != NULL;) step(other);
    return context->error;
}

CUresult stream_finish_marker(Context *context, Marker *marker) {
    marker->references++;
    while (!marker->done) step(marker->stream);
    marker_drop(marker);
    return context->error;
}

static Stream *first_with_work(const Context *context, uint64_t serial) {
    for (Stream *s = context->streams; s != NULL; s = s->next)
        if (s->first != NULL && s->first->serial <= serial) return s;
    return NULL;
}

CUresult context_finish(Context *context) {
    uint64_t serial = driver.last_serial;
    for (Stream *s; (s = first_with_work(context, serial)) != NULL;) step(s);
    return context->error;
}

static Context *context_with_work(uint64_t serial) {
    for (size_t i = 0; i < driver.object_room; i++) {
        Object *object = driver.objects[i];
        if (object == NULL || object->kind != OBJECT_context) continue;
        if (first_with_work((Context *)object, serial) != NULL) return (Context *)object;
    }
    return NULL;
}

CUresult context_finish_all(void) {
    uint64_t serial = driver.last_serial;
    for (Context *context; (context = context_with_work(serial)) != NULL;) context_finish(context);
    const Context *current = context_current_any();
    return current != NULL ? current->error : CUDA_SUCCESS;
}

/* ---- submitting ------------------------------------------------------------------------------ */

bool stream_disturbs_capture(const Stream *stream) {
    const Context *context = stream->object.context;
    bool disturbs = false;
    if (stream != context->legacy) return false;
    for (const Stream *s = context->streams; s != NULL; s = s->next)
        if (s->capture != NULL && is_blocking(s)) {
            capture_invalidate(s->capture);
            disturbs = true;
        }
    return disturbs;
}

static void append(Stream *s, Work *work) {
    work->serial = ++driver.last_serial;
    if (s->last != NULL)
        s->last->next = work;
    else
        s->first = work;
    s->last = work;
    if (work->action.kind != ACTION_record) return;
    work->action.as.marker->stream = s;
    work->action.as.marker->serial = work->serial;
}

CUresult stream_submit(Stream *s, Action *action) {
    if (s->capture != NULL) return capture_add(s, action);
    Work *work = NULL;
    CUresult result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (!stream_disturbs_capture(s)) {
        work = calloc(1, sizeof *work);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (work == NULL) {
        action_clear(action);
        return result;
    }
    work->action = *action;
    append(s, work);
    if (driver.order == STREAMS_eager) finish_until(s, work->serial);
    return CUDA_SUCCESS;
}

/* ---- making and ending ----------------------------------------------------------------------- */

Stream *stream_new(Context *context, unsigned flags, int priority) {
    Stream *s = object_new(OBJECT_stream, sizeof *s, context);
    if (s == NULL) return NULL;
    s->flags = flags;
    s->priority = priority;
    s->next = context->streams;
    context->streams = s;
    return s;
}

void stream_free(Stream *s) {
    capture_leave(s);
    while (s->first != NULL) step(s);
    if (!object_is(s, OBJECT_stream)) return; /* another thread has ended it meanwhile */
    Stream **link = &s->object.context->streams;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    free(s->tail);
    object_free(s);
}

/* The default stream of this thread, made when it is first asked for. */
static CUresult thread_stream(Context *context, Stream **out_stream) {
    Stream *s = context->streams;
    while (s != NULL && s->owner != &thread) s = s->next;
    if (s == NULL) s = stream_new(context, CU_STREAM_DEFAULT, LEAST_PRIORITY);
    if (s == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    s->owner = &thread;
    *out_stream = s;
    return CUDA_SUCCESS;
}

CUresult stream_from_handle(CUstream handle, Stream **out_stream) {
    Context *context = context_current_any();
    if (handle == CU_STREAM_PER_THREAD) return thread_stream(context, out_stream);
    bool legacy = handle == NULL || handle == CU_STREAM_LEGACY;
    if (!legacy && !object_is(handle, OBJECT_stream)) return CUDA_ERROR_INVALID_HANDLE;
    *out_stream = legacy ? context->legacy : handle;
    return CUDA_SUCCESS;
}
