/* Events: each record is a marker in a stream, and the event stands for its last one. */
#include "emulator/driver/driver.h"

#include <stdlib.h>

CUresult event_create(CUevent *event, unsigned flags) {
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if (event == NULL || (flags & ~(known | CU_EVENT_INTERPROCESS)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    Event *made = object_new(OBJECT_event, sizeof *made, context_current_any());
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->flags = flags;
    *event = made;
    return CUDA_SUCCESS;
}

CUresult event_destroy(CUevent event) {
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_HANDLE;
    marker_drop(event->marker);
    free(event->nodes);
    object_free(event);
    return CUDA_SUCCESS;
}

Marker *event_new_marker(Event *event) {
    Marker *marker = marker_new();
    if (marker == NULL) return NULL;
    marker_drop(event->marker);
    event->marker = marker;
    event->capture_id = 0;
    marker->references++; /* the stream's */
    return marker;
}

CUresult event_record_flags(CUevent event, CUstream handle, unsigned flags) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (event->object.context != stream->object.context) return CUDA_ERROR_INVALID_HANDLE;
    if (flags == CU_EVENT_RECORD_EXTERNAL) {
        if (stream->capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
        Action external = {.kind = ACTION_event_record, .as.event = event};
        return stream_submit(stream, &external);
    }
    if (stream->capture != NULL) return capture_record(stream, event);
    if (stream_disturbs_capture(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    Marker *marker = event_new_marker(event);
    if (marker == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    Action action = {.kind = ACTION_record, .as.marker = marker};
    result = stream_submit(stream, &action);
    if (result != CUDA_SUCCESS) { /* as if never recorded: nobody is to wait for this marker */
        marker_drop(event->marker);
        event->marker = NULL;
    }
    return result;
}

CUresult event_record(CUevent event, CUstream stream) {
    return event_record_flags(event, stream, 0);
}

/* An event that was recorded in a capture is of the graph: nothing can be waited for. */
static CUresult find_waitable(CUevent event) {
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_HANDLE;
    return event->capture_id != 0 ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult event_query(CUevent event) {
    CUresult result = find_waitable(event);
    if (result != CUDA_SUCCESS || event->marker == NULL || event->marker->done) return result;
    stream_step(event->marker->stream);
    Context *context;
    CUresult error = context_current(&context);
    return error != CUDA_SUCCESS ? error : CUDA_ERROR_NOT_READY;
}

CUresult event_synchronize(CUevent event) {
    CUresult result = find_waitable(event);
    if (result != CUDA_SUCCESS || event->marker == NULL) return result;
    return stream_finish_marker(event->object.context, event->marker);
}

static CUresult find_timed(CUevent event) {
    CUresult result = find_waitable(event);
    if (result != CUDA_SUCCESS) return result;
    bool timed = (event->flags & CU_EVENT_DISABLE_TIMING) == 0 && event->marker != NULL;
    if (!timed) return CUDA_ERROR_INVALID_HANDLE;
    return event->marker->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult event_elapsed(float *milliseconds, CUevent begin, CUevent end) {
    if (milliseconds == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult first = find_timed(begin), second = find_timed(end);
    if (first != CUDA_SUCCESS && first != CUDA_ERROR_NOT_READY) return first;
    if (second != CUDA_SUCCESS) return second;
    if (first != CUDA_SUCCESS) return first;
    int64_t ns = (int64_t)(end->marker->time_ns - begin->marker->time_ns);
    *milliseconds = (float)((double)ns / 1e6);
    return CUDA_SUCCESS;
}
