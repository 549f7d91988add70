/* Graphs that can be launched: the nodes in an order in which they may run, children unfolded. What
 * is launched is a copy, so that a graph may be changed or destroyed behind it. */
#include "emulator/driver/driver.h"

#include <stdlib.h>

typedef struct Step {
    const Node *node; /* that it was made from; never followed, but compared */
    Action action;
    bool enabled;
    uint64_t shape; /* of what it depends on: equal where the dependencies are the same steps */
} Step;

struct GraphExec {
    Object object;
    uint64_t flags;
    Step *steps;
    size_t count, room;
};

/* ---- the order ------------------------------------------------------------------------------- */

static bool add_step(GraphExec *exec, const Node *node) {
    if (exec->count == exec->room) {
        size_t room = exec->room == 0 ? 16 : exec->room * 2;
        Step *steps = realloc(exec->steps, room * sizeof *steps);
        if (steps == NULL) return false;
        exec->steps = steps;
        exec->room = room;
    }
    Step *step = &exec->steps[exec->count];
    *step = (Step){.node = node, .enabled = true};
    for (size_t i = 0; i < node->dependency_count; i++)
        step->shape += (node->dependencies[i]->mark + 1) * 0x9E3779B97F4A7C15u;
    if (!action_copy(&step->action, &node->action)) return false;
    exec->count++;
    return true;
}

static CUresult add_graph(GraphExec *exec, const Graph *graph);

static CUresult add_node(GraphExec *exec, const Node *node) {
    if (node->action.kind == ACTION_child) return add_graph(exec, node->action.as.child);
    return add_step(exec, node) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Adds `node` behind what it depends on; marks: 0 not seen, 1 being added, from 2 on added, with
 * how many steps there were then. Chains may be long: the walk keeps a stack of its own. */
static CUresult add_behind(GraphExec *exec, Node *node, Node **stack) {
    size_t depth = 0;
    stack[depth++] = node;
    while (depth > 0) {
        Node *top = stack[depth - 1], *before = NULL;
        top->mark = 1;
        for (size_t i = 0; i < top->dependency_count && before == NULL; i++)
            if (top->dependencies[i]->mark < 2) before = top->dependencies[i];
        if (before != NULL && before->mark == 1) return CUDA_ERROR_INVALID_VALUE; /* a cycle */
        if (before != NULL) {
            stack[depth++] = before;
            continue;
        }
        CUresult result = add_node(exec, top);
        if (result != CUDA_SUCCESS) return result;
        top->mark = 2 + exec->count;
        depth--;
    }
    return CUDA_SUCCESS;
}

static CUresult add_graph(GraphExec *exec, const Graph *graph) {
    Node **stack = malloc((graph->count + 1) * sizeof *stack);
    if (stack == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->mark = 0;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++)
        if (graph->nodes[i]->mark == 0) result = add_behind(exec, graph->nodes[i], stack);
    free(stack);
    return result;
}

/* ---- making and ending ----------------------------------------------------------------------- */

CUresult exec_destroy(CUgraphExec exec) {
    if (!object_is(exec, OBJECT_exec)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < exec->count; i++) action_clear(&exec->steps[i].action);
    free(exec->steps);
    object_free(exec);
    return CUDA_SUCCESS;
}

CUresult exec_create(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    const uint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                           CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (exec == NULL || !object_is(graph, OBJECT_graph)) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~known) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    GraphExec *made = object_new(OBJECT_exec, sizeof *made, context_current_any());
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->flags = flags;
    CUresult result = add_graph(made, graph);
    if (result != CUDA_SUCCESS)
        exec_destroy(made);
    else
        *exec = made;
    return result;
}

CUresult exec_create_params(CUgraphExec *exec, CUgraph graph,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    if (parameters == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = exec_create(exec, graph, parameters->flags);
    parameters->error_node = NULL;
    parameters->result = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                         : result == CUDA_ERROR_INVALID_VALUE
                             ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                             : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult exec_flags(CUgraphExec exec, uint64_t *flags) {
    if (flags == NULL || !object_is(exec, OBJECT_exec)) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* ---- launching ------------------------------------------------------------------------------- */

/* Nothing has to be brought anywhere before a launch. */
CUresult exec_upload(CUgraphExec exec, CUstream handle) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    return object_is(exec, OBJECT_exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_device_work(const Step *step) {
    ActionKind kind = step->action.kind;
    return step->enabled && (kind == ACTION_kernel || kind == ACTION_copy || kind == ACTION_fill ||
                             kind == ACTION_host);
}

/* Modules may have been unloaded since the graph was made. */
static bool has_functions(const GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        const Action *action = &exec->steps[i].action;
        if (action->kind == ACTION_kernel &&
            !object_is(action->as.kernel.function, OBJECT_function))
            return false;
    }
    return true;
}

/* The device's work of the graph as one action. */
static bool make_action(const GraphExec *exec, Action *out_action) {
    *out_action = (Action){.kind = ACTION_graph};
    Action *actions = calloc(exec->count + 1, sizeof *actions);
    out_action->as.graph.actions = actions;
    bool good = actions != NULL;
    for (size_t i = 0; i < exec->count && good; i++) {
        if (!is_device_work(&exec->steps[i])) continue;
        good = action_copy(&actions[out_action->as.graph.count++], &exec->steps[i].action);
    }
    if (!good) action_clear(out_action);
    return good;
}

/* Waits for events stand before the graph's work and records of events behind it: coarser than the
 * graph says, and never earlier. Where work is done at once, another thread may end the graph. */
static CUresult submit_waits(const GraphExec *exec, Stream *stream) {
    for (size_t i = 0; object_is(exec, OBJECT_exec) && i < exec->count; i++) {
        const Action *action = &exec->steps[i].action;
        if (action->kind != ACTION_event_wait || !exec->steps[i].enabled) continue;
        if (!object_is(action->as.event, OBJECT_event)) return CUDA_ERROR_INVALID_VALUE;
        CUresult result = stream_wait_event(stream, action->as.event, 0);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

static CUresult submit_records(const GraphExec *exec, Stream *stream) {
    for (size_t i = 0; object_is(exec, OBJECT_exec) && i < exec->count; i++) {
        const Action *action = &exec->steps[i].action;
        if (action->kind != ACTION_event_record || !exec->steps[i].enabled) continue;
        if (!object_is(action->as.event, OBJECT_event)) return CUDA_ERROR_INVALID_VALUE;
        CUresult result = event_record_flags(action->as.event, stream, 0);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

/* The steps one behind the other: coarser than the graph said that they were made from, which may
 * have ended since, and never earlier. */
static Graph *graph_of_steps(const GraphExec *exec) {
    CUgraph graph;
    Node *last = NULL;
    if (graph_create(&graph, 0) != CUDA_SUCCESS) return NULL;
    for (size_t i = 0; i < exec->count; i++) {
        Action action;
        if (!exec->steps[i].enabled) continue;
        if (action_copy(&action, &exec->steps[i].action) &&
            graph_add(graph, &last, last != NULL, &action, &last) == CUDA_SUCCESS)
            continue;
        graph_free(graph);
        return NULL;
    }
    return graph;
}

/* In a capture, a launched graph becomes a child of the one that is made. */
static CUresult launch_captured(const GraphExec *exec, Stream *stream) {
    Action action = {.kind = ACTION_child, .as.child = graph_of_steps(exec)};
    if (action.as.child == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    return stream_submit(stream, &action);
}

CUresult exec_launch(CUgraphExec exec, CUstream handle) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!object_is(exec, OBJECT_exec) || !has_functions(exec)) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) return launch_captured(exec, stream);
    result = submit_waits(exec, stream);
    if (result != CUDA_SUCCESS) return result;
    if (!object_is(exec, OBJECT_exec) || !has_functions(exec)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    if (!make_action(exec, &action)) return CUDA_ERROR_OUT_OF_MEMORY;
    result = stream_submit(stream, &action);
    return result == CUDA_SUCCESS ? submit_records(exec, stream) : result;
}

/* ---- changing -------------------------------------------------------------------------------- */

static Step *find_step(GraphExec *exec, const Node *node) {
    if (!object_is(exec, OBJECT_exec) || node == NULL) return NULL;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->steps[i].node == node) return &exec->steps[i];
    return NULL;
}

/* The step of a node that does something of that kind. */
static Step *find_kind(GraphExec *exec, const Node *node, ActionKind kind) {
    Step *step = find_step(exec, node);
    return step != NULL && step->action.kind == kind ? step : NULL;
}

static CUresult replace(Step *step, CUresult result, const Action *action) {
    if (result != CUDA_SUCCESS) return result;
    action_clear(&step->action);
    step->action = *action;
    return CUDA_SUCCESS;
}

CUresult exec_set_kernel(CUgraphExec exec, CUgraphNode node,
                         const CUDA_KERNEL_NODE_PARAMS *parameters) {
    Step *step = find_kind(exec, node, ACTION_kernel);
    if (step == NULL) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = launch_action(parameters, &action);
    return replace(step, result, &action);
}

CUresult exec_set_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                       CUcontext context) {
    Step *step = find_kind(exec, node, ACTION_copy);
    if (step == NULL || !object_is(context, OBJECT_context)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_copy_action(copy, &action);
    return replace(step, result, &action);
}

CUresult exec_set_fill(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill,
                       CUcontext context) {
    Step *step = find_kind(exec, node, ACTION_fill);
    if (step == NULL || !object_is(context, OBJECT_context)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_fill_action(fill, &action);
    return replace(step, result, &action);
}

CUresult exec_set_host(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host) {
    Step *step = find_kind(exec, node, ACTION_host);
    if (step == NULL) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_host_action(host, &action);
    return replace(step, result, &action);
}

CUresult exec_set_enabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
    Step *step = find_step(exec, node);
    if (step == NULL || !(step->action.kind == ACTION_kernel || step->action.kind == ACTION_copy ||
                          step->action.kind == ACTION_fill))
        return CUDA_ERROR_INVALID_VALUE;
    step->enabled = enabled != 0;
    return CUDA_SUCCESS;
}

CUresult exec_enabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled) {
    const Step *step = find_step(exec, node);
    if (step == NULL || enabled == NULL) return CUDA_ERROR_INVALID_VALUE;
    *enabled = step->enabled;
    return CUDA_SUCCESS;
}

/* ---- updating as a whole --------------------------------------------------------------------- */

static CUgraphExecUpdateResult compare(const GraphExec *exec, const GraphExec *with,
                                       CUgraphNode *out_node) {
    *out_node = NULL;
    if (exec->count != with->count) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < exec->count; i++) {
        *out_node = (CUgraphNode)(uintptr_t)with->steps[i].node;
        if (exec->steps[i].action.kind != with->steps[i].action.kind)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (exec->steps[i].shape != with->steps[i].shape)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    *out_node = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The steps keep the nodes by which hosts name them, and do what the new graph's do. */
static void take_actions(GraphExec *exec, GraphExec *from) {
    for (size_t i = 0; i < exec->count; i++) {
        Action old = exec->steps[i].action;
        exec->steps[i].action = from->steps[i].action;
        from->steps[i].action = old;
    }
}

CUresult exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    if (info == NULL || !object_is(exec, OBJECT_exec)) return CUDA_ERROR_INVALID_VALUE;
    GraphExec *made;
    CUresult result = exec_create(&made, graph, exec->flags);
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    if (result != CUDA_SUCCESS) return result;
    info->result = compare(exec, made, &info->error_node);
    if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) take_actions(exec, made);
    exec_destroy(made);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                        : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
