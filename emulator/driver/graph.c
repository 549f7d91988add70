/* Graphs: nodes with what they depend on. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- making and ending ----------------------------------------------------------------------- */

CUresult graph_create(CUgraph *graph, unsigned flags) {
    if (graph == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = object_new(OBJECT_graph, sizeof(Graph), NULL);
    return *graph != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void node_free(Node *node) {
    action_clear(&node->action);
    free(node->dependencies);
    free(node->parameter_list);
    object_free(node);
}

void graph_free(Graph *graph) {
    if (graph == NULL) return;
    for (size_t i = 0; i < graph->count; i++) node_free(graph->nodes[i]);
    free(graph->nodes);
    object_free(graph);
}

CUresult graph_destroy(CUgraph graph) {
    if (!object_is(graph, OBJECT_graph) || graph->captured_into || graph->nested)
        return CUDA_ERROR_INVALID_VALUE;
    graph_free(graph);
    return CUDA_SUCCESS;
}

static bool append(Graph *graph, Node *node) {
    if (graph->count == graph->room) {
        size_t room = graph->room == 0 ? 16 : graph->room * 2;
        Node **nodes = realloc(graph->nodes, room * sizeof(Node *));
        if (nodes == NULL) return false;
        graph->nodes = nodes;
        graph->room = room;
    }
    graph->nodes[graph->count++] = node;
    return true;
}

static bool depends_on(const Node *node, const Node *other) {
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] == other) return true;
    return false;
}

static bool add_dependency(Node *node, Node *before) {
    Node **list = realloc(node->dependencies, (node->dependency_count + 1) * sizeof *list);
    if (list == NULL) return false;
    node->dependencies = list;
    list[node->dependency_count++] = before;
    return true;
}

static bool are_of_graph(const Graph *graph, Node *const *nodes, size_t count) {
    if (count > 0 && nodes == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        if (!object_is(nodes[i], OBJECT_node) || nodes[i]->graph != graph) return false;
        for (size_t k = 0; k < i; k++)
            if (nodes[k] == nodes[i]) return false;
    }
    return true;
}

CUresult graph_add(Graph *graph, Node *const *dependencies, size_t count, Action *action,
                   Node **out_node) {
    if (!are_of_graph(graph, dependencies, count)) {
        action_clear(action);
        return CUDA_ERROR_INVALID_VALUE;
    }
    Node *node = object_new(OBJECT_node, sizeof *node, NULL);
    if (node == NULL) {
        action_clear(action);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->graph = graph;
    node->action = *action;
    if (action->kind == ACTION_child) action->as.child->nested = true;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) good = add_dependency(node, dependencies[i]);
    if (!good || !append(graph, node)) {
        node_free(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out_node = node;
    return CUDA_SUCCESS;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool copy_nodes(Graph *copy, const Graph *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        Action action;
        Node *node;
        if (!action_copy(&action, &graph->nodes[i]->action) ||
            graph_add(copy, NULL, 0, &action, &node) != CUDA_SUCCESS)
            return false;
        node->cloned_from = graph->nodes[i];
        graph->nodes[i]->mark = i;
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            if (!add_dependency(copy->nodes[i],
                                copy->nodes[graph->nodes[i]->dependencies[k]->mark]))
                return false;
    return true;
}

Graph *graph_copy(const Graph *graph) {
    Graph *copy;
    if (graph_create(&copy, 0) != CUDA_SUCCESS) return NULL;
    if (copy_nodes(copy, graph)) return copy;
    graph_free(copy);
    return NULL;
}

CUresult graph_clone(CUgraph *clone, CUgraph graph) {
    if (clone == NULL || !object_is(graph, OBJECT_graph)) return CUDA_ERROR_INVALID_VALUE;
    *clone = graph_copy(graph);
    return *clone != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult graph_find_in_clone(CUgraphNode *node, CUgraphNode original, CUgraph clone) {
    if (node == NULL || original == NULL || !object_is(clone, OBJECT_graph))
        return CUDA_ERROR_INVALID_VALUE;
    *node = NULL;
    for (size_t i = 0; i < clone->count && *node == NULL; i++)
        if (clone->nodes[i]->cloned_from == original) *node = clone->nodes[i];
    return *node != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- lists that are asked for ---------------------------------------------------------------- */

/* Hosts ask for the count with no list, then for a list of that many; room that is left over is
 * filled with NULL. */
typedef struct List {
    CUgraphNode *nodes;
    size_t room, count;
} List;

static void list_add(List *list, Node *node) {
    if (list->nodes != NULL && list->count < list->room) list->nodes[list->count] = node;
    list->count++;
}

static void list_end(const List *list, size_t *out_count) {
    for (size_t i = list->count; list->nodes != NULL && i < list->room; i++) list->nodes[i] = NULL;
    *out_count = list->nodes != NULL && list->count > list->room ? list->room : list->count;
}

CUresult graph_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (!object_is(graph, OBJECT_graph) || count == NULL) return CUDA_ERROR_INVALID_VALUE;
    List list = {nodes, *count, 0};
    for (size_t i = 0; i < graph->count; i++) list_add(&list, graph->nodes[i]);
    list_end(&list, count);
    return CUDA_SUCCESS;
}

CUresult graph_roots(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (!object_is(graph, OBJECT_graph) || count == NULL) return CUDA_ERROR_INVALID_VALUE;
    List list = {nodes, *count, 0};
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->dependency_count == 0) list_add(&list, graph->nodes[i]);
    list_end(&list, count);
    return CUDA_SUCCESS;
}

CUresult graph_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                     size_t *count) {
    if (!object_is(graph, OBJECT_graph) || count == NULL || (from == NULL) != (to == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (edges != NULL) memset(edges, 0, *count * sizeof *edges);
    List before = {from, *count, 0}, behind = {to, *count, 0};
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++) {
            list_add(&before, graph->nodes[i]->dependencies[k]);
            list_add(&behind, graph->nodes[i]);
        }
    list_end(&before, count);
    list_end(&behind, count);
    return CUDA_SUCCESS;
}

CUresult graph_edges_v1(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return graph_edges(graph, from, to, NULL, count);
}

CUresult node_dependencies(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                           size_t *count) {
    if (!object_is(node, OBJECT_node) || count == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (edges != NULL) memset(edges, 0, *count * sizeof *edges);
    List list = {nodes, *count, 0};
    for (size_t i = 0; i < node->dependency_count; i++) list_add(&list, node->dependencies[i]);
    list_end(&list, count);
    return CUDA_SUCCESS;
}

CUresult node_dependencies_v1(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return node_dependencies(node, nodes, NULL, count);
}

CUresult node_dependents(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                         size_t *count) {
    if (!object_is(node, OBJECT_node) || count == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (edges != NULL) memset(edges, 0, *count * sizeof *edges);
    List list = {nodes, *count, 0};
    for (size_t i = 0; i < node->graph->count; i++)
        if (depends_on(node->graph->nodes[i], node)) list_add(&list, node->graph->nodes[i]);
    list_end(&list, count);
    return CUDA_SUCCESS;
}

CUresult node_dependents_v1(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return node_dependents(node, nodes, NULL, count);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static bool are_plain(const CUgraphEdgeData *edges, size_t count) {
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0) return false;
    return true;
}

static CUresult check_edges(const Graph *graph, const CUgraphNode *from, const CUgraphNode *to,
                            const CUgraphEdgeData *edges, size_t count) {
    if (!object_is(graph, OBJECT_graph)) return CUDA_ERROR_INVALID_VALUE;
    if (count > 0 && (from == NULL || to == NULL)) return CUDA_ERROR_INVALID_VALUE;
    if (!are_plain(edges, count)) return CUDA_ERROR_NOT_SUPPORTED; /* programmatic launches */
    for (size_t i = 0; i < count; i++)
        if (!are_of_graph(graph, &from[i], 1) || !are_of_graph(graph, &to[i], 1) ||
            from[i] == to[i])
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult graph_add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                         const CUgraphEdgeData *edges, size_t count) {
    CUresult result = check_edges(graph, from, to, edges, count);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (depends_on(to[i], from[i])) result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!add_dependency(to[i], from[i])) result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

CUresult graph_add_edges_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count) {
    return graph_add_edges(graph, from, to, NULL, count);
}

static void remove_dependency(Node *node, const Node *before) {
    size_t kept = 0;
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] != before) node->dependencies[kept++] = node->dependencies[i];
    node->dependency_count = kept;
}

CUresult graph_remove_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            const CUgraphEdgeData *edges, size_t count) {
    CUresult result = check_edges(graph, from, to, edges, count);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!depends_on(to[i], from[i])) result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) remove_dependency(to[i], from[i]);
    return result;
}

CUresult graph_remove_edges_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                               size_t count) {
    return graph_remove_edges(graph, from, to, NULL, count);
}

CUresult node_destroy(CUgraphNode node) {
    if (!object_is(node, OBJECT_node) || node->graph->captured_into)
        return CUDA_ERROR_INVALID_VALUE;
    Graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        remove_dependency(graph->nodes[i], node);
        if (graph->nodes[i] != node) graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    node_free(node);
    return CUDA_SUCCESS;
}
