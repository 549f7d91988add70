/* Stream capture: what is submitted to a captured stream becomes a node of a graph behind the
 * stream's tail, the nodes that came last in it. An event that is recorded takes the tail along,
 * and a stream that waits for it gets that tail too: so other streams join, and come back. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- captures that are going on -------------------------------------------------------------- */

void capture_invalidate(Capture *capture) { capture->invalidated = true; }

static Capture *find_by_id(uint64_t id) {
    Capture *capture = driver.captures;
    while (capture != NULL && capture->id != id) capture = capture->next;
    return capture;
}

/* A capture of the global mode is disturbed by every thread that has not said otherwise, one of
 * the thread-local mode by its own. */
static bool is_disturbed(const Capture *capture) {
    if (thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
        return thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL || capture->owner == &thread;
    return capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && capture->owner == &thread;
}

bool capture_forbids(Context *context) {
    bool forbidden = false;
    for (Capture *capture = driver.captures; capture != NULL; capture = capture->next) {
        if (capture->context != context || !is_disturbed(capture)) continue;
        capture_invalidate(capture);
        forbidden = true;
    }
    return forbidden;
}

CUresult capture_exchange_mode(CUstreamCaptureMode *mode) {
    if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = thread.capture_mode;
    thread.capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* ---- tails ----------------------------------------------------------------------------------- */

static bool set_tail(Node ***list, size_t *count, Node *const *nodes, size_t node_count) {
    Node **copy = malloc((node_count + 1) * sizeof *copy);
    if (copy == NULL) return false;
    if (node_count > 0) memcpy(copy, nodes, node_count * sizeof *copy);
    free(*list);
    *list = copy;
    *count = node_count;
    return true;
}

static bool tail_has(const Stream *stream, const Node *node) {
    for (size_t i = 0; i < stream->tail_count; i++)
        if (stream->tail[i] == node) return true;
    return false;
}

/* Adds the nodes that are not in the tail yet. */
static bool extend_tail(Stream *stream, Node *const *nodes, size_t count) {
    Node **tail = realloc(stream->tail, (stream->tail_count + count + 1) * sizeof *tail);
    if (tail == NULL) return false;
    stream->tail = tail;
    for (size_t i = 0; i < count; i++)
        if (!tail_has(stream, nodes[i])) tail[stream->tail_count++] = nodes[i];
    return true;
}

/* ---- what happens in a captured stream ------------------------------------------------------- */

CUresult capture_add(Stream *stream, Action *action) {
    Capture *capture = stream->capture;
    if (capture->invalidated) {
        action_clear(action);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    Node *node;
    CUresult result = graph_add(capture->graph, stream->tail, stream->tail_count, action, &node);
    if (result == CUDA_SUCCESS && !set_tail(&stream->tail, &stream->tail_count, &node, 1))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) capture_invalidate(capture);
    return result;
}

CUresult capture_record(Stream *stream, Event *event) {
    Capture *capture = stream->capture;
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!set_tail(&event->nodes, &event->node_count, stream->tail, stream->tail_count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->capture_id = capture->id;
    return CUDA_SUCCESS;
}

static CUresult spoil(Capture *capture, CUresult result) {
    capture_invalidate(capture);
    return result;
}

CUresult capture_wait(Stream *stream, Event *event) {
    if (event->capture_id == 0) /* something that happened outside, or has yet to */
        return spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    Capture *capture = find_by_id(event->capture_id);
    if (capture == NULL) return CUDA_ERROR_INVALID_VALUE; /* it has ended */
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture != NULL && stream->capture != capture) {
        capture_invalidate(stream->capture);
        return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (stream == stream->object.context->legacy)
        return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    stream->capture = capture;
    return extend_tail(stream, event->nodes, event->node_count) ? CUDA_SUCCESS
                                                                : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- begin and end --------------------------------------------------------------------------- */

CUresult capture_begin(CUstream handle, CUstreamCaptureMode mode) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->object.context->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture != NULL) return CUDA_ERROR_ILLEGAL_STATE;
    Capture *capture = calloc(1, sizeof *capture);
    Graph *graph = NULL;
    if (capture == NULL || graph_create(&graph, 0) != CUDA_SUCCESS) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph->captured_into = true;
    *capture = (Capture){.next = driver.captures,
                         .id = ++driver.last_id,
                         .graph = graph,
                         .origin = stream,
                         .mode = mode,
                         .owner = &thread,
                         .context = stream->object.context};
    driver.captures = capture;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

/* Every node nothing depends on has to be in the tail of the stream where the capture ends. */
static bool all_have_joined(const Capture *capture) {
    const Graph *graph = capture->graph;
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->mark = 0;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            graph->nodes[i]->dependencies[k]->mark = 1;
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->mark == 0 && !tail_has(capture->origin, graph->nodes[i])) return false;
    return true;
}

/* Ends the capture for all its streams, which may be of several contexts; the graph is the
 * caller's. */
static Graph *finish(Capture *capture) {
    for (size_t i = 0; i < driver.object_room; i++) {
        Stream *s = (Stream *)driver.objects[i];
        if (s == NULL || s->object.kind != OBJECT_stream || s->capture != capture) continue;
        s->capture = NULL;
        free(s->tail);
        s->tail = NULL;
        s->tail_count = 0;
    }
    Capture **link = &driver.captures;
    while (*link != capture) link = &(*link)->next;
    *link = capture->next;
    Graph *graph = capture->graph;
    graph->captured_into = false;
    free(capture);
    return graph;
}

void capture_leave(Stream *stream) {
    Capture *capture = stream->capture;
    if (capture == NULL) return;
    if (capture->origin == stream)
        graph_free(finish(capture));
    else
        capture_invalidate(capture);
    stream->capture = NULL;
}

CUresult capture_end(CUstream handle, CUgraph *graph) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
    *graph = NULL;
    Capture *capture = stream->capture;
    if (capture == NULL) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream) return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->owner != &thread)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    bool spoiled = capture->invalidated, joined = all_have_joined(capture);
    Graph *made = finish(capture);
    if (!spoiled && joined) {
        *graph = made;
        return CUDA_SUCCESS;
    }
    graph_free(made);
    return spoiled ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

/* ---- questions ------------------------------------------------------------------------------- */

static CUstreamCaptureStatus status_of(const Stream *stream) {
    if (stream->capture == NULL) return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult capture_status(CUstream handle, CUstreamCaptureStatus *status) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (stream_disturbs_capture(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = status_of(stream);
    return CUDA_SUCCESS;
}

CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                      const CUgraphNode **dependencies, size_t *count) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (stream_disturbs_capture(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = status_of(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id != NULL) *id = stream->capture->id;
    if (graph != NULL) *graph = stream->capture->graph;
    if (dependencies != NULL) *dependencies = stream->tail;
    if (count != NULL) *count = stream->tail_count;
    return CUDA_SUCCESS;
}

CUresult capture_info_edges(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                            CUgraph *graph, const CUgraphNode **dependencies,
                            const CUgraphEdgeData **edges, size_t *count) {
    if (edges != NULL) *edges = NULL; /* all are plain */
    return capture_info(stream, status, id, graph, dependencies, count);
}
