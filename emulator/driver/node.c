/* Nodes of graphs: adding one of each kind, and what it does. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- adding ---------------------------------------------------------------------------------- */

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    Action *action) {
    if (node != NULL && object_is(graph, OBJECT_graph))
        return graph_add(graph, dependencies, count, action, node);
    action_clear(action);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_add_empty(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                         size_t count) {
    Action action = {.kind = ACTION_none};
    return add(node, graph, dependencies, count, &action);
}

CUresult graph_add_kernel(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    Action action;
    CUresult result = launch_action(parameters, &action);
    return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, &action) : result;
}

CUresult node_copy_action(const CUDA_MEMCPY3D *copy, Action *out_action) {
    if (copy == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out_action = (Action){.kind = ACTION_copy, .as.copy.copy = *copy};
    return copy_check(copy);
}

CUresult graph_add_copy(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, const CUDA_MEMCPY3D *copy, CUcontext context) {
    Action action;
    if (!object_is(context, OBJECT_context)) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = node_copy_action(copy, &action);
    return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, &action) : result;
}

CUresult node_fill_action(const CUDA_MEMSET_NODE_PARAMS *fill, Action *out_action) {
    if (fill == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out_action = (Action){.kind = ACTION_fill, .as.fill = *fill};
    return fill_check(fill);
}

CUresult graph_add_fill(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context) {
    Action action;
    if (!object_is(context, OBJECT_context)) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = node_fill_action(fill, &action);
    return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, &action) : result;
}

CUresult node_host_action(const CUDA_HOST_NODE_PARAMS *host, Action *out_action) {
    if (host == NULL || host->function == NULL) return CUDA_ERROR_INVALID_VALUE;
    *out_action = (Action){.kind = ACTION_host, .as.host = *host};
    return CUDA_SUCCESS;
}

CUresult graph_add_host(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, const CUDA_HOST_NODE_PARAMS *host) {
    Action action;
    CUresult result = node_host_action(host, &action);
    return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, &action) : result;
}

CUresult graph_add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                         size_t count, CUgraph child) {
    if (!object_is(child, OBJECT_graph)) return CUDA_ERROR_INVALID_VALUE;
    Action action = {.kind = ACTION_child, .as.child = graph_copy(child)};
    if (action.as.child == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    return add(node, graph, dependencies, count, &action);
}

CUresult graph_add_record(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count, CUevent event) {
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_VALUE;
    Action action = {.kind = ACTION_event_record, .as.event = event};
    return add(node, graph, dependencies, count, &action);
}

CUresult graph_add_wait(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUevent event) {
    if (!object_is(event, OBJECT_event)) return CUDA_ERROR_INVALID_VALUE;
    Action action = {.kind = ACTION_event_wait, .as.event = event};
    return add(node, graph, dependencies, count, &action);
}

/* ---- asking and changing --------------------------------------------------------------------- */

static bool is_of_kind(const Node *node, ActionKind kind, const void *out) {
    return out != NULL && object_is(node, OBJECT_node) && node->action.kind == kind;
}

CUresult node_type(CUgraphNode node, CUgraphNodeType *type) {
    static const CUgraphNodeType types[] = {
        [ACTION_none] = CU_GRAPH_NODE_TYPE_EMPTY,
        [ACTION_kernel] = CU_GRAPH_NODE_TYPE_KERNEL,
        [ACTION_copy] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [ACTION_fill] = CU_GRAPH_NODE_TYPE_MEMSET,
        [ACTION_host] = CU_GRAPH_NODE_TYPE_HOST,
        [ACTION_event_record] = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        [ACTION_event_wait] = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        [ACTION_child] = CU_GRAPH_NODE_TYPE_GRAPH,
    };
    if (type == NULL || !object_is(node, OBJECT_node)) return CUDA_ERROR_INVALID_VALUE;
    *type = types[node->action.kind];
    return CUDA_SUCCESS;
}

/* The list of addresses that a launch would be given, into the node's own parameters. */
static void **list_parameters(Node *node) {
    const KernelAction *kernel = &node->action.as.kernel;
    uint32_t count = kernel->function->info.parameter_count;
    free(node->parameter_list);
    node->parameter_list = calloc((size_t)count + 1, sizeof(void *));
    for (uint32_t i = 0; node->parameter_list != NULL && i < count; i++) {
        uint64_t offset, size;
        emu_function_parameter(kernel->function->machine, i, &offset, &size);
        node->parameter_list[i] = (char *)kernel->parameters + offset;
    }
    return node->parameter_list;
}

CUresult node_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters) {
    if (!is_of_kind(node, ACTION_kernel, parameters)) return CUDA_ERROR_INVALID_VALUE;
    const KernelAction *kernel = &node->action.as.kernel;
    *parameters = (CUDA_KERNEL_NODE_PARAMS){.function = kernel->function,
                                            .shared = kernel->shared,
                                            .parameters = list_parameters(node),
                                            .context = kernel->function->object.context};
    memcpy(parameters->grid, kernel->grid, sizeof parameters->grid);
    memcpy(parameters->block, kernel->block, sizeof parameters->block);
    return parameters->parameters != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The node does something else of its kind from now on. */
static CUresult replace(Node *node, CUresult result, const Action *action) {
    if (result != CUDA_SUCCESS) return result;
    action_clear(&node->action);
    node->action = *action;
    return CUDA_SUCCESS;
}

CUresult node_set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    if (!is_of_kind(node, ACTION_kernel, parameters)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = launch_action(parameters, &action);
    return replace(node, result, &action);
}

CUresult node_copy(CUgraphNode node, CUDA_MEMCPY3D *copy) {
    if (!is_of_kind(node, ACTION_copy, copy)) return CUDA_ERROR_INVALID_VALUE;
    *copy = node->action.as.copy.copy;
    return CUDA_SUCCESS;
}

CUresult node_set_copy(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
    if (!is_of_kind(node, ACTION_copy, copy)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_copy_action(copy, &action);
    return replace(node, result, &action);
}

CUresult node_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill) {
    if (!is_of_kind(node, ACTION_fill, fill)) return CUDA_ERROR_INVALID_VALUE;
    *fill = node->action.as.fill;
    return CUDA_SUCCESS;
}

CUresult node_set_fill(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill) {
    if (!is_of_kind(node, ACTION_fill, fill)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_fill_action(fill, &action);
    return replace(node, result, &action);
}

CUresult node_host(CUgraphNode node, CUDA_HOST_NODE_PARAMS *host) {
    if (!is_of_kind(node, ACTION_host, host)) return CUDA_ERROR_INVALID_VALUE;
    *host = node->action.as.host;
    return CUDA_SUCCESS;
}

CUresult node_set_host(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host) {
    if (!is_of_kind(node, ACTION_host, host)) return CUDA_ERROR_INVALID_VALUE;
    Action action;
    CUresult result = node_host_action(host, &action);
    return replace(node, result, &action);
}

CUresult node_child(CUgraphNode node, CUgraph *child) {
    if (!is_of_kind(node, ACTION_child, child)) return CUDA_ERROR_INVALID_VALUE;
    *child = node->action.as.child;
    return CUDA_SUCCESS;
}
