// Hosts of many threads: what one waits for is done while others make and end things, and what two
// end at once is ended once.
#include "tests/emulator/host.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 30, WORDS = 256, ELEMENTS = 1 << 16 };

static CUcontext shared_context;
static CUmodule shared_module;
static CUfunction shared_add;

static void begin(void) {
    shared_context = host_begin();
    shared_module = host_module();
    shared_add = host_function(shared_module, "add");
}

// Runs `body` in threads, each with its own number, the context current in all; the sum of results.
typedef int Body(int number);
typedef struct Running {
    pthread_t thread;
    Body *body;
    int number, result;
} Running;

static void *run_body(void *data) {
    Running *r = data;
    cuda.cuCtxSetCurrent(shared_context);
    r->result = r->body(r->number);
    return NULL;
}

static int in_threads(int count, Body *body) {
    Running running[THREADS];
    int sum = 0;
    for (int i = 0; i < count; i++) {
        running[i] = (Running){.body = body, .number = i};
        CHECK_INT(pthread_create(&running[i].thread, NULL, run_body, &running[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(running[i].thread, NULL);
        sum += running[i].result;
    }
    return sum;
}

// ---- memory of one's own ----

// One thread's way there and back, with memory that is made and ended each time; what went wrong.
static int go_round(CUstream stream, uint32_t value) {
    uint32_t *in = NULL, *out = NULL;
    CUdeviceptr data = 0;
    const size_t bytes = WORDS * sizeof *in;
    int wrong = cuda.cuMemHostAlloc((void **)&in, bytes, 0) != CUDA_SUCCESS ||
                cuda.cuMemHostAlloc((void **)&out, bytes, 0) != CUDA_SUCCESS ||
                cuda.cuMemAlloc_v2(&data, bytes) != CUDA_SUCCESS;
    if (wrong) return 1;
    for (uint32_t i = 0; i < WORDS; i++) in[i] = value + i;
    wrong += cuda.cuMemcpyHtoDAsync_v2(data, in, bytes, stream) != CUDA_SUCCESS;
    wrong += host_add(shared_add, data, WORDS, 1, stream) != CUDA_SUCCESS;
    wrong += cuda.cuMemcpyDtoHAsync_v2(out, data, bytes, stream) != CUDA_SUCCESS;
    wrong += cuda.cuStreamSynchronize(stream) != CUDA_SUCCESS;
    for (uint32_t i = 0; i < WORDS; i++) wrong += out[i] != value + i + 1;
    wrong += cuda.cuMemFreeHost(in) != CUDA_SUCCESS;
    wrong += cuda.cuMemFree_v2(data) != CUDA_SUCCESS;
    return wrong + (cuda.cuMemFreeHost(out) != CUDA_SUCCESS);
}

static int go_rounds(int number) {
    CUstream stream;
    int wrong = cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
    for (int i = 0; i < ROUNDS && wrong == 0; i++)
        wrong += go_round(stream, (uint32_t)(number * 1000 + i));
    return wrong + (cuda.cuStreamDestroy_v2(stream) != CUDA_SUCCESS);
}

static void test_own_memory(void) {
    begin();
    uint64_t blocks = cuda.emuMemoryBlocks();
    CHECK_INT(in_threads(THREADS, go_rounds), 0);
    CHECK_INT(cuda.emuMemoryBlocks(), blocks);
}

// ---- ended by two ----

static CUstream shared_stream;
static CUdeviceptr shared_data;

static void submit_work(void) {
    CHECK_INT(cuda.cuStreamCreate(&shared_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK_INT(host_add(shared_add, shared_data, ELEMENTS, 1, shared_stream), CUDA_SUCCESS);
}

static int end_stream(int number) {
    (void)number;
    return cuda.cuStreamDestroy_v2(shared_stream) == CUDA_SUCCESS;
}

static int end_module(int number) {
    (void)number;
    return cuda.cuModuleUnload(shared_module) == CUDA_SUCCESS;
}

static int end_context(int number) {
    (void)number;
    return cuda.cuCtxDestroy_v2(shared_context) == CUDA_SUCCESS;
}

// Some wait for what the others end.
static int end_or_wait(int number) {
    if (number % 2 == 0) return end_context(number);
    cuda.cuStreamSynchronize(shared_stream);
    cuda.cuStreamQuery(shared_stream);
    cuda.cuCtxSynchronize();
    return 0;
}

static void test_ended_by_two(void) {
    begin();
    shared_data = host_words(ELEMENTS, 0);
    submit_work();
    CHECK(in_threads(THREADS, end_stream) >= 1);
    CHECK_INT(host_word(shared_data, 7), 4);
    submit_work();
    CHECK_INT(in_threads(THREADS, end_module), 1);
    CHECK_INT(host_word(shared_data, 7), 8);
    shared_module = host_module();
    shared_add = host_function(shared_module, "add");
    submit_work();
    CHECK_INT(in_threads(THREADS, end_or_wait), 1);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_INT(cuda.cuCtxDestroy_v2(shared_context), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.emuMemoryBlocks(), 0);
    host_begin();
    CHECK_INT(host_word(host_words(4, 3), 3), 3);
}

// ---- ended before its use ----

// A graph that was made of a kernel outlives the kernel's module.
static void test_graph_without_module(void) {
    begin();
    CUgraph graph;
    CUgraphExec exec;
    shared_data = host_words(WORDS, 0);
    CHECK_INT(cuda.cuStreamCreate(&shared_stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(shared_stream, CU_STREAM_CAPTURE_MODE_RELAXED),
              CUDA_SUCCESS);
    CHECK_INT(host_add(shared_add, shared_data, WORDS, 1, shared_stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamEndCapture(shared_stream, &graph), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGraphLaunch(exec, shared_stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuModuleUnload(shared_module), CUDA_SUCCESS);
    CHECK_INT(host_word(shared_data, 7), 1);
    CHECK_INT(cuda.cuGraphLaunch(exec, shared_stream), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

// Work of a library's kernels, and with the memory of one context, while another one is current.
static void test_work_of_another_context(void) {
    begin();
    CUlibrary library;
    CUkernel kernel;
    CUfunction add;
    CHECK_INT(cuda.cuLibraryLoadData(&library, host_ptx, NULL, NULL, 0, NULL, NULL, 0),
              CUDA_SUCCESS);
    CHECK_INT(cuda.cuLibraryGetKernel(&kernel, library, "add"), CUDA_SUCCESS);
    CHECK_INT(cuda.cuKernelGetFunction(&add, kernel), CUDA_SUCCESS);
    CUdeviceptr kept = host_words(WORDS, 0), freed = host_words(WORDS, 0);
    CHECK_INT(host_add(add, kept, WORDS, 5, NULL), CUDA_SUCCESS);
    CHECK_INT(host_add(add, freed, WORDS, 5, NULL), CUDA_SUCCESS);
    host_begin();
    CHECK_INT(cuda.cuMemFree_v2(freed), CUDA_SUCCESS);
    CHECK_INT(cuda.cuLibraryUnload(library), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSetCurrent(shared_context), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    CHECK_INT(host_word(kept, 7), 5);
    CHECK_INT(cuda.emuFindingCount(), 0);
}

// A capture that a stream of another context has joined ends for it too.
static void test_capture_of_two_contexts(void) {
    begin();
    CUstream first, second;
    CUevent event;
    CUgraph graph;
    CUstreamCaptureStatus status;
    CHECK_INT(cuda.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventCreate(&event, 0), CUDA_SUCCESS);
    host_begin();
    CHECK_INT(cuda.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, first), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamIsCapturing(second, &status), CUDA_SUCCESS);
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_INT(cuda.cuStreamEndCapture(first, &graph), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamIsCapturing(second, &status), CUDA_SUCCESS);
    CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK_INT(cuda.cuStreamSynchronize(second), CUDA_SUCCESS);
}

int main(void) {
    RUN_FRESH(test_own_memory, NULL);
    RUN_FRESH(test_own_memory, "TCC_EMU_STREAMS=eager");
    RUN_FRESH(test_own_memory, "TCC_EMU_STREAMS=random", "TCC_EMU_CHECKS=cheap");
    RUN_FRESH(test_ended_by_two, NULL);
    RUN_FRESH(test_ended_by_two, "TCC_EMU_STREAMS=random");
    RUN_FRESH(test_graph_without_module, NULL);
    RUN_FRESH(test_work_of_another_context, NULL);
    RUN_FRESH(test_capture_of_two_contexts, NULL);
    return test_done();
}
