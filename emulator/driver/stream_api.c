/* The functions of streams. */
#include "emulator/driver/driver.h"

CUresult stream_create_priority(CUstream *stream, unsigned flags, int priority) {
    if (stream == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
    if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
    Stream *made = stream_new(context_current_any(), flags, priority);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult stream_create(CUstream *stream, unsigned flags) {
    return stream_create_priority(stream, flags, LEAST_PRIORITY);
}

CUresult stream_destroy(CUstream stream) {
    if (!object_is(stream, OBJECT_stream)) return CUDA_ERROR_INVALID_HANDLE;
    stream_free(stream);
    return CUDA_SUCCESS;
}

/* CUDA_SUCCESS when the stream is known and may be waited for. */
static CUresult find_waitable(CUstream handle, Stream **out_stream) {
    CUresult result = stream_from_handle(handle, out_stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream_disturbs_capture(*out_stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if ((*out_stream)->capture == NULL) return CUDA_SUCCESS;
    capture_invalidate((*out_stream)->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* Whoever asks brings the work on by a step, so that asking again and again ends. */
CUresult stream_query(CUstream handle) {
    Stream *stream;
    CUresult result = find_waitable(handle, &stream);
    if (result != CUDA_SUCCESS || stream->first == NULL) return result;
    stream_step(stream);
    Context *context;
    CUresult error = context_current(&context);
    return error != CUDA_SUCCESS ? error : CUDA_ERROR_NOT_READY;
}

CUresult stream_synchronize(CUstream handle) {
    Stream *stream;
    CUresult result = find_waitable(handle, &stream);
    return result == CUDA_SUCCESS ? stream_finish(stream) : result;
}

CUresult stream_wait_event(CUstream handle, CUevent event, unsigned flags) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_EVENT_WAIT_EXTERNAL) {
        if (stream->capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
        Action external = {.kind = ACTION_event_wait, .as.event = event};
        return stream_submit(stream, &external);
    }
    if (stream->capture != NULL || event->capture_id != 0) return capture_wait(stream, event);
    if (event->marker == NULL || event->marker->done) return CUDA_SUCCESS;
    event->marker->references++;
    Action action = {.kind = ACTION_wait, .as.marker = event->marker};
    return stream_submit(stream, &action);
}

CUresult stream_add_callback(CUstream handle, CUstreamCallback *callback, void *user,
                             unsigned flags) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (callback == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) {
        capture_invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    Action action = {.kind = ACTION_callback, .as.callback = {callback, user, handle}};
    return stream_submit(stream, &action);
}

CUresult stream_host_function(CUstream handle, CUhostFn *function, void *user) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (function == NULL) return CUDA_ERROR_INVALID_VALUE;
    Action action = {.kind = ACTION_host, .as.host = {function, user}};
    return stream_submit(stream, &action);
}

/* ---- what a stream is asked ------------------------------------------------------------------ */

static CUresult find_asked(CUstream handle, const void *out, Stream **out_stream) {
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    return stream_from_handle(handle, out_stream);
}

CUresult stream_priority(CUstream handle, int *priority) {
    Stream *stream;
    CUresult result = find_asked(handle, priority, &stream);
    if (result == CUDA_SUCCESS) *priority = stream->priority;
    return result;
}

CUresult stream_flags(CUstream handle, unsigned *flags) {
    Stream *stream;
    CUresult result = find_asked(handle, flags, &stream);
    if (result == CUDA_SUCCESS) *flags = stream->flags;
    return result;
}

CUresult stream_id(CUstream handle, unsigned long long *id) {
    Stream *stream;
    CUresult result = find_asked(handle, id, &stream);
    if (result == CUDA_SUCCESS) *id = stream->object.id;
    return result;
}

CUresult stream_context(CUstream handle, CUcontext *context) {
    Stream *stream;
    CUresult result = find_asked(handle, context, &stream);
    if (result == CUDA_SUCCESS) *context = stream->object.context;
    return result;
}

CUresult stream_device(CUstream handle, CUdevice *device) {
    Stream *stream;
    CUresult result = find_asked(handle, device, &stream);
    if (result == CUDA_SUCCESS) *device = 0;
    return result;
}
