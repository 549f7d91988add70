// Graphs: built node by node, recorded from streams, changed, launched; what a capture forbids.
#include "tests/emulator/host.h"

#include <pthread.h>

static CUcontext context;
static CUfunction add;

static void begin(void) {
    context = host_begin();
    add = host_function(host_module(), "add");
}

static CUstream new_stream(unsigned flags) {
    CUstream stream = NULL;
    CHECK_INT(cuda.cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
}

static CUevent new_event(void) {
    CUevent event = NULL;
    CHECK_INT(cuda.cuEventCreate(&event, 0), CUDA_SUCCESS);
    return event;
}

// A node that adds `value` to one word, behind `count` others.
static CUgraphNode add_node(CUgraph graph, const CUgraphNode *behind, size_t count,
                            CUdeviceptr data, uint64_t value) {
    uint64_t one = 1;
    void *parameters[] = {&data, &one, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = {
        .function = add, .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = parameters};
    CUgraphNode node = NULL;
    CHECK_INT(cuda.cuGraphAddKernelNode_v2(&node, graph, behind, count, &kernel), CUDA_SUCCESS);
    return node;
}

static void counted(void *user) { ++*(int *)user; }

static void test_nodes(void) {
    begin();
    CUgraph graph;
    CUgraphNode fill, kernel, copy, host, empty, nodes[8];
    CUgraphExec exec;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(4, 0);
    int calls = 0;
    size_t count = 8;
    CUDA_MEMSET_NODE_PARAMS set = {data, 0, 5, 4, 2, 1}, got_set;
    CUDA_HOST_NODE_PARAMS function = {counted, &calls}, got_function;
    CUDA_MEMCPY3D move = {.src_type = CU_MEMORYTYPE_DEVICE,
                          .src_device = data,
                          .dst_type = CU_MEMORYTYPE_DEVICE,
                          .dst_device = data + 8,
                          .width = 4,
                          .height = 1,
                          .depth = 1},
                  got_move;
    CHECK_INT(cuda.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, context), CUDA_SUCCESS);
    kernel = add_node(graph, &fill, 1, data, 2);
    CHECK_INT(cuda.cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &move, context), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddHostNode(&host, graph, &copy, 1, &function), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddEmptyNode(&empty, graph, &host, 1), CUDA_SUCCESS);
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL,
                                            CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_HOST,
                                            CU_GRAPH_NODE_TYPE_EMPTY};
    CHECK_INT(cuda.cuGraphGetNodes(graph, nodes, &count), CUDA_SUCCESS);
    CHECK_INT(count, 5);
    CHECK(nodes[5] == NULL);
    for (int i = 0; i < 5; i++) {
        CUgraphNodeType type;
        CHECK_INT(cuda.cuGraphNodeGetType(nodes[i], &type), CUDA_SUCCESS);
        CHECK_INT(type, types[i]);
    }
    CHECK_INT(cuda.cuGraphMemsetNodeGetParams(fill, &got_set), CUDA_SUCCESS);
    CHECK_INT(got_set.value, 5);
    CHECK_INT(cuda.cuGraphHostNodeGetParams(host, &got_function), CUDA_SUCCESS);
    CHECK(got_function.user == &calls);
    CHECK_INT(cuda.cuGraphMemcpyNodeGetParams(copy, &got_move), CUDA_SUCCESS);
    CHECK(got_move.dst_device == data + 8);
    CUDA_KERNEL_NODE_PARAMS got_kernel;
    CHECK_INT(cuda.cuGraphKernelNodeGetParams_v2(kernel, &got_kernel), CUDA_SUCCESS);
    CHECK(got_kernel.function == add && *(uint64_t *)got_kernel.parameters[2] == 2);
    CHECK_INT(cuda.cuGraphHostNodeGetParams(fill, &got_function), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphUpload(exec, stream), CUDA_SUCCESS);
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(cuda.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
        CHECK_INT(calls, i - 1);
        CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
        CHECK_INT(calls, i);
    }
    CHECK_INT(host_word(data, 0), 7);
    CHECK_INT(host_word(data, 1), 5);
    CHECK_INT(host_word(data, 2), 7);
    CHECK_INT(host_word(data, 3), 0);
    set.value = 50;
    CHECK_INT(cuda.cuGraphMemsetNodeSetParams(fill, &set), CUDA_SUCCESS); // not of `exec`
    CHECK_INT(cuda.cuGraphMemcpyNodeSetParams(copy, &move), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphHostNodeSetParams(host, &function), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphKernelNodeSetParams_v2(kernel, &got_kernel), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphDestroy(graph), CUDA_SUCCESS); // while it is pending
    CHECK_INT(cuda.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 7);
    CHECK_INT(calls, 4);
    CHECK_INT(cuda.cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
}

static void test_edges(void) {
    begin();
    CUgraph graph, clone;
    CUgraphNode a, b, c, from[4], to[4], list[4];
    CUgraphEdgeData edges[4];
    CUgraphExec exec;
    size_t count = 0;
    CHECK_INT(cuda.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddEmptyNode(&a, graph, NULL, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddEmptyNode(&b, graph, NULL, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddEmptyNode(&c, graph, &a, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddDependencies(graph, &b, &c, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddDependencies_v2(graph, &b, &c, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphGetEdges(graph, NULL, NULL, &count), CUDA_SUCCESS);
    CHECK_INT(count, 2);
    count = 4;
    CHECK_INT(cuda.cuGraphGetEdges_v2(graph, from, to, edges, &count), CUDA_SUCCESS);
    CHECK(count == 2 && to[0] == c && to[1] == c && from[0] == a && from[1] == b);
    count = 4;
    CHECK_INT(cuda.cuGraphGetRootNodes(graph, list, &count), CUDA_SUCCESS);
    CHECK_INT(count, 2);
    count = 4;
    CHECK_INT(cuda.cuGraphNodeGetDependencies(c, list, &count), CUDA_SUCCESS);
    CHECK_INT(count, 2);
    count = 4;
    CHECK_INT(cuda.cuGraphNodeGetDependentNodes_v2(a, list, edges, &count), CUDA_SUCCESS);
    CHECK(count == 1 && list[0] == c);
    count = 4;
    CHECK_INT(cuda.cuGraphNodeGetDependentNodes(c, list, &count), CUDA_SUCCESS);
    CHECK_INT(count, 0);
    CHECK_INT(cuda.cuGraphClone(&clone, graph), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphNodeFindInClone(&list[0], c, clone), CUDA_SUCCESS);
    CHECK(list[0] != c);
    CHECK_INT(cuda.cuGraphNodeFindInClone(&list[0], c, graph), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphRemoveDependencies(graph, &b, &c, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphRemoveDependencies_v2(graph, &b, &c, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    count = 4;
    CHECK_INT(cuda.cuGraphNodeGetDependencies_v2(c, list, NULL, &count), CUDA_SUCCESS);
    CHECK_INT(count, 1);
    CHECK_INT(cuda.cuGraphGetEdges(clone, NULL, NULL, &count), CUDA_SUCCESS);
    CHECK_INT(count, 2); // the clone is its own
    CHECK_INT(cuda.cuGraphAddDependencies(graph, &c, &a, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE); // cycle
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {0};
    CHECK_INT(cuda.cuGraphInstantiateWithParams(&exec, graph, &parameters),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(parameters.result, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK_INT(cuda.cuGraphDestroyNode(c), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithParams(&exec, graph, &parameters), CUDA_SUCCESS);
    uint64_t flags = 9;
    CHECK_INT(cuda.cuGraphExecGetFlags(exec, &flags), CUDA_SUCCESS);
    CHECK_INT(flags, 0);
    CHECK_INT(cuda.cuGraphAddEmptyNode(&c, clone, &a, 1), CUDA_ERROR_INVALID_VALUE); // another's
}

static void test_children(void) {
    begin();
    CUgraph inner, outer, got;
    CUgraphNode first, child, last;
    CUgraphExec exec;
    CUdeviceptr data = host_words(1, 1);
    CHECK_INT(cuda.cuGraphCreate(&inner, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphCreate(&outer, 0), CUDA_SUCCESS);
    CUDA_MEMSET_NODE_PARAMS set = {data, 0, 20, 4, 1, 1};
    CHECK_INT(cuda.cuGraphAddMemsetNode(&first, inner, NULL, 0, &set, context), CUDA_SUCCESS);
    add_node(inner, &first, 1, data, 3);
    first = add_node(outer, NULL, 0, data, 1000);
    CHECK_INT(cuda.cuGraphAddChildGraphNode(&child, outer, &first, 1, inner), CUDA_SUCCESS);
    last = add_node(outer, &child, 1, data, 100);
    CHECK(last != NULL);
    CHECK_INT(cuda.cuGraphChildGraphNodeGetGraph(child, &got), CUDA_SUCCESS);
    CHECK(got != inner);
    CHECK_INT(cuda.cuGraphDestroy(got), CUDA_ERROR_INVALID_VALUE); // it is the node's
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, outer, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 123);
}

static void test_changes(void) {
    begin();
    CUgraph graph, other;
    CUgraphNode fill, kernel, host;
    CUgraphExec exec;
    CUdeviceptr data = host_words(2, 0);
    int calls = 0, more = 0;
    uint64_t one = 1, ten = 10;
    void *list[] = {&data, &one, &ten};
    CHECK_INT(cuda.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CUDA_MEMSET_NODE_PARAMS set = {data, 0, 1, 4, 1, 1};
    CUDA_HOST_NODE_PARAMS function = {counted, &calls};
    CHECK_INT(cuda.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, context), CUDA_SUCCESS);
    kernel = add_node(graph, &fill, 1, data, 1);
    CHECK_INT(cuda.cuGraphAddHostNode(&host, graph, &kernel, 1, &function), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    set.value = 3;
    function.user = &more;
    CUDA_KERNEL_NODE_PARAMS changed = {
        .function = add, .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = list};
    CHECK_INT(cuda.cuGraphExecMemsetNodeSetParams(exec, fill, &set, context), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecKernelNodeSetParams_v2(exec, kernel, &changed), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecHostNodeSetParams(exec, host, &function), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecHostNodeSetParams(exec, fill, &function), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 13);
    CHECK(calls == 0 && more == 1);
    unsigned enabled = 9;
    CHECK_INT(cuda.cuGraphNodeSetEnabled(exec, kernel, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphNodeGetEnabled(exec, kernel, &enabled), CUDA_SUCCESS);
    CHECK_INT(enabled, 0);
    CHECK_INT(cuda.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 3);
    CHECK_INT(cuda.cuGraphNodeSetEnabled(exec, kernel, 1), CUDA_SUCCESS);
    // as a whole, from a graph of the same shape
    CUgraphExecUpdateResultInfo info;
    CHECK_INT(cuda.cuGraphClone(&other, graph), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecUpdate_v2(exec, other, &info), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(exec, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 2);
    CHECK_INT(calls, 1);
    CUgraphNode extra;
    CHECK_INT(cuda.cuGraphAddEmptyNode(&extra, other, NULL, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK_INT(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CUDA_MEMCPY3D move = {.src_type = CU_MEMORYTYPE_DEVICE,
                          .src_device = data,
                          .dst_type = CU_MEMORYTYPE_DEVICE,
                          .dst_device = data + 4,
                          .width = 4,
                          .height = 1,
                          .depth = 1};
    CHECK_INT(cuda.cuGraphExecMemcpyNodeSetParams(exec, fill, &move, context),
              CUDA_ERROR_INVALID_VALUE);
}

static void test_event_nodes(void) {
    begin();
    CUgraph graph;
    CUgraphNode wait, kernel, record;
    CUgraphExec exec;
    CUevent before = new_event(), behind = new_event();
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(1, 0);
    CHECK_INT(cuda.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphAddEventWaitNode(&wait, graph, NULL, 0, before), CUDA_SUCCESS);
    kernel = add_node(graph, &wait, 1, data, 1);
    CHECK_INT(cuda.cuGraphAddEventRecordNode(&record, graph, &kernel, 1, behind), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32Async(data, 40, 1, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(before, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(exec, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventSynchronize(behind), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 41);
}

// Two streams joined by events, recorded; then launched twice.
static void test_capture(void) {
    begin();
    CUstream a = new_stream(0), b = new_stream(0);
    CUevent forked = new_event(), joined = new_event();
    CUdeviceptr data = host_words(2, 0);
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    uint64_t id = 0;
    size_t count = 0;
    const CUgraphNode *tail;
    CUgraph into;
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_ERROR_ILLEGAL_STATE);
    CHECK_INT(host_add(add, data, 2, 1, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(forked, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamWaitEvent(b, forked, 0), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data, 1, 10, a), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data + 4, 1, 100, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(joined, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventQuery(joined), CUDA_ERROR_CAPTURED_EVENT);
    CHECK_INT(cuda.cuStreamIsCapturing(b, &status), CUDA_SUCCESS);
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_INT(cuda.cuStreamWaitEvent(a, joined, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamGetCaptureInfo_v2(a, &status, &id, &into, &tail, &count), CUDA_SUCCESS);
    CHECK(id != 0 && count == 2 && into != NULL && tail != NULL);
    CHECK_INT(cuda.cuStreamGetCaptureInfo_v3(a, &status, &id, NULL, NULL, NULL, &count),
              CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphDestroy(into), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(host_add(add, data, 2, 1000, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamIsCapturing(b, &status), CUDA_SUCCESS);
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK_INT(host_word(data, 0), 0); // nothing has been done
    count = 0;
    CHECK_INT(cuda.cuGraphGetNodes(graph, NULL, &count), CUDA_SUCCESS);
    CHECK_INT(count, 4);
    CHECK_INT(cuda.cuGraphGetEdges(graph, NULL, NULL, &count), CUDA_SUCCESS);
    CHECK_INT(count, 4);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) CHECK_INT(cuda.cuGraphLaunch(exec, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(a), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 2 * 1011);
    CHECK_INT(host_word(data, 1), 2 * 1101);
}

// A launch in a capture is a part of the graph, and all that it does is known then: the graph that
// it was made from has ended.
static void test_launch_captured(void) {
    begin();
    CUstream a = new_stream(0);
    CUdeviceptr data = host_words(2, 0);
    CUgraph inner, outer;
    CUgraphExec first, second;
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data, 2, 1, a), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data, 1, 10, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &inner), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&first, inner, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphDestroy(inner), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(first, a), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data, 2, 100, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(first, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &outer), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphExecDestroy(first), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&second, outer, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(second, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(a), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 122);
    CHECK_INT(host_word(data, 1), 102);
}

typedef CUresult Forbidden(CUstream stream, CUdeviceptr data);

static CUresult f_synchronize(CUstream s, CUdeviceptr d) {
    return (void)d, cuda.cuStreamSynchronize(s);
}
static CUresult f_query(CUstream s, CUdeviceptr d) { return (void)d, cuda.cuStreamQuery(s); }
static CUresult f_context(CUstream s, CUdeviceptr d) {
    (void)s;
    (void)d;
    return cuda.cuCtxSynchronize();
}
static CUresult f_alloc(CUstream s, CUdeviceptr d) {
    (void)s;
    return cuda.cuMemAlloc_v2(&d, 16);
}
static CUresult f_free(CUstream s, CUdeviceptr d) { return (void)s, cuda.cuMemFree_v2(d); }
static CUresult f_copy(CUstream s, CUdeviceptr d) {
    return (void)s, cuda.cuMemcpyDtoD_v2(d, d + 4, 4);
}
static CUresult f_legacy(CUstream s, CUdeviceptr d) {
    (void)s;
    return cuda.cuMemsetD8Async(d, 0, 1, NULL);
}
static CUresult f_outside(CUstream s, CUdeviceptr d) {
    CUevent event = new_event();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    (void)d;
    CHECK_INT(cuda.cuEventRecord(event, other), CUDA_SUCCESS);
    return cuda.cuStreamWaitEvent(s, event, 0);
}
static CUresult f_callback(CUstream s, CUdeviceptr d) {
    return (void)d, cuda.cuStreamAddCallback(s, (CUstreamCallback *)(void (*)(void))abort, NULL, 0);
}

static void test_forbidden(void) {
    static const struct {
        Forbidden *call;
        CUresult want;
    } cases[] = {{f_synchronize, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_query, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_context, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_alloc, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_free, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_copy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                 {f_legacy, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT},
                 {f_outside, CUDA_ERROR_STREAM_CAPTURE_ISOLATION},
                 {f_callback, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}};
    begin();
    CUdeviceptr data = host_words(4, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUstream stream = new_stream(0);
        CUstreamCaptureStatus status;
        CUgraph graph = (CUgraph)1;
        CHECK_INT(cuda.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                  CUDA_SUCCESS);
        CHECK_INT(cases[i].call(stream, data), cases[i].want);
        CHECK_INT(cuda.cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
        CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        CHECK_INT(host_add(add, data, 1, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        CHECK_INT(cuda.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        CHECK(graph == NULL);
        CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS); // the stream is as it was
        CHECK_INT(cuda.cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    }
    CHECK_INT(host_word(data, 0), 7);
}

static void test_unjoined(void) {
    begin();
    CUstream a = new_stream(0), b = new_stream(0);
    CUevent event = new_event();
    CUdeviceptr data = host_words(1, 0);
    CUgraph graph;
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_ERROR_ILLEGAL_STATE);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
    CHECK_INT(host_add(add, data, 1, 1, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(b, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamWaitEvent(b, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_INT(cuda.cuStreamDestroy_v2(b), CUDA_SUCCESS); // with its capture
    // relaxed: what is unsafe is the host's to know
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&data, 4), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK_INT(cuda.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    CHECK_INT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&data, 4), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
}

static void *end_elsewhere(void *user) {
    CUgraph graph;
    cuda.cuCtxSetCurrent(context);
    CHECK_INT(cuda.cuStreamEndCapture(user, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    return NULL;
}

static void test_wrong_thread(void) {
    begin();
    CUstream a = new_stream(0);
    CUgraph graph;
    pthread_t thread;
    CHECK_INT(cuda.cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    CHECK(pthread_create(&thread, NULL, end_elsewhere, a) == 0);
    pthread_join(thread, NULL);
    CHECK_INT(cuda.cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
}

int main(void) {
    RUN_FRESH(test_nodes, NULL);
    RUN_FRESH(test_edges, NULL);
    RUN_FRESH(test_children, NULL);
    RUN_FRESH(test_changes, NULL);
    RUN_FRESH(test_event_nodes, NULL);
    RUN_FRESH(test_capture, NULL);
    RUN_FRESH(test_launch_captured, NULL);
    RUN_FRESH(test_capture, "TCC_EMU_STREAMS=random");
    RUN_FRESH(test_forbidden, NULL);
    RUN_FRESH(test_unjoined, NULL);
    RUN_FRESH(test_wrong_thread, NULL);
    return test_done();
}
