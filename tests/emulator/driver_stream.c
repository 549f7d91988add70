// Streams and events: when work is done, in which order, and what waits for what.
#include "tests/emulator/host.h"

#include <pthread.h>
#include <stdatomic.h>

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

static void test_stream(void) {
    CUcontext context = host_begin(), of;
    CUstream stream;
    int priority, device;
    unsigned flags;
    unsigned long long id, other;
    CHECK_INT(cuda.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -99), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
    CHECK_INT(priority, -5);
    CHECK_INT(cuda.cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
    CHECK_INT(flags, CU_STREAM_NON_BLOCKING);
    CHECK_INT(cuda.cuStreamGetId(stream, &id), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamGetId(NULL, &other), CUDA_SUCCESS);
    CHECK(id != other);
    CHECK_INT(cuda.cuStreamGetCtx(stream, &of), CUDA_SUCCESS);
    CHECK(of == context);
    CHECK_INT(cuda.cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
    CHECK_INT(device, 0);
    CHECK_INT(cuda.cuStreamCreate(&stream, 8), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuStreamGetId(CU_STREAM_LEGACY, &id), CUDA_SUCCESS);
    CHECK_INT(id, other);
    CHECK_INT(cuda.cuStreamGetId(CU_STREAM_PER_THREAD, &id), CUDA_SUCCESS);
    CHECK(id != other);
    stream = new_stream(0);
    CHECK_INT(cuda.cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

// A host that does not wait reads old bytes: nothing is done before it has to be.
static void test_late(void) {
    host_begin();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(4, 1);
    uint32_t *pinned;
    CHECK_INT(cuda.cuMemAllocHost_v2((void **)&pinned, 16), CUDA_SUCCESS);
    pinned[0] = 77;
    CHECK_INT(cuda.cuMemsetD32Async(data, 5, 4, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoHAsync_v2(pinned, data, 4, stream), CUDA_SUCCESS);
    CHECK_INT(pinned[0], 77);
    CHECK_INT(host_word(data, 0), 1); // the default stream does not wait for this one
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
    CHECK_INT(pinned[0], 5);
    // from pinned memory the bytes are taken when the copy is carried out
    pinned[0] = 6;
    CHECK_INT(cuda.cuMemcpyHtoDAsync_v2(data, pinned, 4, stream), CUDA_SUCCESS);
    pinned[0] = 8;
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 8);
    // from pageable memory at once
    uint32_t own = 9;
    CHECK_INT(cuda.cuMemcpyHtoDAsync_v2(data, &own, 4, stream), CUDA_SUCCESS);
    own = 10;
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 9);
    // to pageable memory it is waited for
    CHECK_INT(cuda.cuMemcpyDtoHAsync_v2(&own, data, 4, stream), CUDA_SUCCESS);
    CHECK_INT(own, 9);
}

static void test_eager(void) {
    host_begin();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(1, 1);
    CHECK_INT(cuda.cuMemsetD32Async(data, 5, 1, stream), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 5);
}

// The default stream and blocking ones wait for each other.
static void test_default_stream(void) {
    host_begin();
    CUstream a = new_stream(0), b = new_stream(0);
    CUdeviceptr data = host_words(2, 0);
    CUfunction add = host_function(host_module(), "add");
    CHECK_INT(host_add(add, data, 1, 1, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoDAsync_v2(data + 4, data, 4, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32Async(data, 50, 1, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(b), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 50);
    CHECK_INT(host_word(data, 1), 1);
    CHECK_INT(cuda.cuStreamQuery(a), CUDA_SUCCESS); // it has been done for the others
}

static void test_events(void) {
    host_begin();
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(), end = new_event();
    CUdeviceptr data = host_words(2, 0);
    float ms = -1;
    CHECK_INT(cuda.cuEventQuery(event), CUDA_SUCCESS); // never recorded
    CHECK_INT(cuda.cuEventSynchronize(event), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventElapsedTime(&ms, event, end), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuMemsetD32Async(data, 3, 1, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32Async(data, 4, 1, a), CUDA_SUCCESS); // behind the event
    CHECK_INT(cuda.cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoDAsync_v2(data + 4, data, 4, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecordWithFlags(end, b, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventElapsedTime(&ms, event, end), CUDA_ERROR_NOT_READY);
    CHECK_INT(cuda.cuEventSynchronize(end), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 1), 3);
    CHECK_INT(host_word(data, 0), 3);
    CHECK_INT(cuda.cuEventElapsedTime(&ms, event, end), CUDA_SUCCESS);
    CHECK(ms >= 0);
    CHECK_INT(cuda.cuEventElapsedTime_v2(&ms, end, event), CUDA_SUCCESS);
    CHECK(ms <= 0);
    CHECK_INT(cuda.cuStreamSynchronize(a), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 4);
    CUevent untimed;
    CHECK_INT(cuda.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(untimed, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventSynchronize(untimed), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventElapsedTime(&ms, event, untimed), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuEventDestroy_v2(event), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuEventRecord(event, a), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuEventCreate(&event, 4), CUDA_ERROR_NOT_SUPPORTED);
}

// An event may go while somebody waits for it.
static void test_event_destroyed_early(void) {
    host_begin();
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    CUdeviceptr data = host_words(2, 0);
    CHECK_INT(cuda.cuMemsetD32Async(data, 3, 1, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventDestroy_v2(event), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoDAsync_v2(data + 4, data, 4, b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamDestroy_v2(b), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 1), 3);
}

// Asking again and again gets there, and not at the first time.
static void test_query(void) {
    host_begin();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    CUdeviceptr data = host_words(1, 0);
    for (int i = 0; i < 3; i++) CHECK_INT(cuda.cuMemsetD8Async(data, 1, 1, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventRecord(event, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    int asked = 0;
    while (cuda.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && asked < 100) asked++;
    CHECK(asked > 0 && asked < 100);
    CHECK_INT(cuda.cuEventQuery(event), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamQuery(stream), CUDA_SUCCESS);
}

typedef struct Called {
    int order[8], count;
    CUresult inside;
    CUstream stream;
    CUresult status;
} Called;

static void host_function_called(void *user) {
    Called *called = user;
    called->order[called->count++] = 1;
    called->inside = cuda.cuCtxSynchronize();
}

static void callback_called(CUstream stream, CUresult status, void *user) {
    Called *called = user;
    called->order[called->count++] = 2;
    called->stream = stream;
    called->status = status;
}

static void test_host_functions(void) {
    host_begin();
    CUstream stream = new_stream(0);
    Called called = {.inside = CUDA_SUCCESS};
    CHECK_INT(cuda.cuLaunchHostFunc(stream, host_function_called, &called), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamAddCallback(stream, callback_called, &called, 0), CUDA_SUCCESS);
    CHECK_INT(called.count, 0);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    CHECK_INT(called.count, 2);
    CHECK(called.order[0] == 1 && called.order[1] == 2);
    CHECK_INT(called.inside, CUDA_ERROR_NOT_PERMITTED);
    CHECK(called.stream == stream && called.status == CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamAddCallback(stream, callback_called, &called, 1),
              CUDA_ERROR_INVALID_VALUE);
    // after a failure callbacks are told, and functions left out
    CUfunction fail = host_function(host_module(), "fail");
    CHECK_INT(cuda.cuLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuLaunchHostFunc(stream, host_function_called, &called), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamAddCallback(stream, callback_called, &called, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    CHECK_INT(called.count, 3);
    CHECK_INT(called.status, CUDA_ERROR_LAUNCH_FAILED);
}

// A program with all its dependencies said gives the same in every order of streams: a diamond of
// events over three streams, many times over.
static void test_orders(void) {
    host_begin();
    CUfunction add = host_function(host_module(), "add");
    CUstream s[3];
    CUevent forked = new_event(), joined[2] = {new_event(), new_event()};
    for (int i = 0; i < 3; i++) s[i] = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(2, 0);
    for (int round = 0; round < 20; round++) {
        CHECK_INT(host_add(add, data, 2, 1, s[0]), CUDA_SUCCESS);
        CHECK_INT(cuda.cuEventRecord(forked, s[0]), CUDA_SUCCESS);
        for (int i = 1; i < 3; i++) {
            CUdeviceptr mine = data + 4 * (CUdeviceptr)(i - 1);
            CHECK_INT(cuda.cuStreamWaitEvent(s[i], forked, 0), CUDA_SUCCESS);
            CHECK_INT(host_add(add, mine, 1, (uint64_t)i * 100, s[i]), CUDA_SUCCESS);
            CHECK_INT(cuda.cuEventRecord(joined[i - 1], s[i]), CUDA_SUCCESS);
            CHECK_INT(cuda.cuStreamWaitEvent(s[0], joined[i - 1], 0), CUDA_SUCCESS);
        }
    }
    CHECK_INT(cuda.cuStreamSynchronize(s[0]), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 20 * 101);
    CHECK_INT(host_word(data, 1), 20 * 201);
}

// Without the wait, some orders show the fault: what the random one is for.
static void unordered(void) {
    CUfunction add = host_function(host_module(), "add");
    CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = host_words(20, 1);
    for (CUdeviceptr i = 0; i < 20; i++) {
        CHECK_INT(host_add(add, data + 4 * i, 1, 1, a), CUDA_SUCCESS);
        CHECK_INT(cuda.cuMemsetD32Async(data + 4 * i, 10, 1, b), CUDA_SUCCESS);
        CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    }
    int tens = 0, elevens = 0;
    for (size_t i = 0; i < 20; i++) {
        uint32_t word = host_word(data, i);
        tens += word == 10;
        elevens += word == 11;
    }
    CHECK_INT(tens + elevens, 20);
    CHECK(tens > 0 && elevens > 0);
}

static void test_random_order_shows(void) {
    host_begin();
    unordered();
}

typedef struct Share {
    CUcontext context;
    CUfunction add;
    CUdeviceptr data;
    long wrong;
} Share;

static void *work_alone(void *user) {
    Share *share = user;
    CUstream stream;
    share->wrong += cuda.cuCtxSetCurrent(share->context) != CUDA_SUCCESS;
    share->wrong += cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
    for (int i = 0; i < 50; i++) {
        share->wrong += host_add(share->add, share->data, 8, 1, stream) != CUDA_SUCCESS;
        if (i % 7 == 0) share->wrong += cuda.cuStreamSynchronize(stream) != CUDA_SUCCESS;
    }
    share->wrong += cuda.cuStreamDestroy_v2(stream) != CUDA_SUCCESS;
    return NULL;
}

static void test_threads(void) {
    CUcontext context = host_begin();
    CUfunction add = host_function(host_module(), "add");
    pthread_t threads[4];
    Share shares[4];
    for (int i = 0; i < 4; i++) {
        shares[i] = (Share){context, add, host_words(8, 0), 0};
        CHECK(pthread_create(&threads[i], NULL, work_alone, &shares[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(shares[i].wrong, 0);
        CHECK_INT(host_word(shares[i].data, 7), 50);
    }
}

static atomic_int released;
static void wait_for_release(void *user) {
    (void)user;
    while (atomic_load(&released) == 0) usleep(100);
}

static void *release_later(void *user) {
    CUcontext context = user;
    size_t free_bytes, total;
    cuda.cuCtxSetCurrent(context);
    cuda.cuMemGetInfo_v2(&free_bytes, &total); // while the function is being waited for
    atomic_store(&released, 1);
    return NULL;
}

// A function of the host that waits for another thread, which calls the driver: no deadlock.
static void test_host_function_waits(void) {
    CUcontext context = host_begin();
    pthread_t thread;
    CHECK_INT(cuda.cuLaunchHostFunc(NULL, wait_for_release, NULL), CUDA_SUCCESS);
    CHECK(pthread_create(&thread, NULL, release_later, context) == 0);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    pthread_join(thread, NULL);
}

int main(void) {
    RUN_FRESH(test_stream, NULL);
    RUN_FRESH(test_late, NULL);
    RUN_FRESH(test_eager, "TCC_EMU_STREAMS=eager");
    RUN_FRESH(test_default_stream, NULL);
    RUN_FRESH(test_default_stream, "TCC_EMU_STREAMS=random");
    RUN_FRESH(test_events, NULL);
    RUN_FRESH(test_event_destroyed_early, NULL);
    RUN_FRESH(test_query, NULL);
    RUN_FRESH(test_host_functions, NULL);
    RUN_FRESH(test_orders, NULL);
    RUN_FRESH(test_orders, "TCC_EMU_STREAMS=eager");
    static char seeds[8][32];
    for (int i = 0; i < 8; i++) {
        snprintf(seeds[i], sizeof seeds[i], "TCC_EMU_SEED=%d", i);
        RUN_FRESH(test_orders, "TCC_EMU_STREAMS=random", seeds[i]);
    }
    RUN_FRESH(test_random_order_shows, "TCC_EMU_STREAMS=random", "TCC_EMU_SEED=5");
    RUN_FRESH(test_threads, NULL);
    RUN_FRESH(test_threads, "TCC_EMU_STREAMS=random");
    RUN_FRESH(test_host_function_waits, NULL);
    return test_done();
}
