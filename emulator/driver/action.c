/* Actions: what streams do and graphs are made of. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

Marker *marker_new(void) {
    Marker *marker = calloc(1, sizeof *marker);
    if (marker != NULL) marker->references = 1;
    return marker;
}

void marker_drop(Marker *marker) {
    if (marker != NULL && --marker->references == 0) free(marker);
}

void action_clear(Action *action) {
    switch (action->kind) {
    case ACTION_kernel: free(action->as.kernel.parameters); break;
    case ACTION_copy: free(action->as.copy.staged); break;
    case ACTION_record:
    case ACTION_wait: marker_drop(action->as.marker); break;
    case ACTION_child: graph_free(action->as.child); break;
    case ACTION_graph:
        for (size_t i = 0; i < action->as.graph.count; i++)
            action_clear(&action->as.graph.actions[i]);
        free(action->as.graph.actions);
        break;
    default: break;
    }
    *action = (Action){.kind = ACTION_none};
}

static bool copy_bytes(void **out, const void *bytes, size_t size) {
    *out = NULL;
    if (bytes == NULL) return true;
    *out = malloc(size + 1);
    if (*out != NULL && size > 0) memcpy(*out, bytes, size);
    return *out != NULL;
}

/* Staged copies, markers and launched graphs are of streams alone: nobody copies them. */
bool action_copy(Action *out_action, const Action *action) {
    *out_action = *action;
    if (action->kind == ACTION_kernel)
        return copy_bytes(&out_action->as.kernel.parameters, action->as.kernel.parameters,
                          action->as.kernel.parameter_bytes);
    if (action->kind == ACTION_child) {
        out_action->as.child = graph_copy(action->as.child);
        return out_action->as.child != NULL;
    }
    return true;
}

/* While a function of the host runs, its thread may not call the driver. */
static void call_host(const CUDA_HOST_NODE_PARAMS *host) {
    thread.in_callback = true;
    host->function(host->user);
    thread.in_callback = false;
}

static void call_back(const CallbackAction *callback, CUresult status) {
    thread.in_callback = true;
    callback->function(callback->stream, status, callback->user);
    thread.in_callback = false;
}

static CUresult run_graph(const Action *action) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < action->as.graph.count && result == CUDA_SUCCESS; i++)
        result = action_run(&action->as.graph.actions[i], CUDA_SUCCESS);
    return result;
}

CUresult action_run(const Action *action, CUresult error) {
    if (action->kind == ACTION_callback) call_back(&action->as.callback, error);
    if (error != CUDA_SUCCESS) return error;
    switch (action->kind) {
    case ACTION_kernel: return launch_run(&action->as.kernel);
    case ACTION_copy: return copy_run(&action->as.copy);
    case ACTION_fill: return fill_run(&action->as.fill);
    case ACTION_host: call_host(&action->as.host); return CUDA_SUCCESS;
    case ACTION_free: emu_memory_release(driver.memory, action->as.address); return CUDA_SUCCESS;
    case ACTION_graph: return run_graph(action);
    default: return CUDA_SUCCESS;
    }
}
