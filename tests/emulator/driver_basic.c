// The driver itself: initialisation, devices, contexts, names, failures on request.
#include "tests/emulator/host.h"

#include <pthread.h>

static void test_before_init(void) {
    int count, version = 0;
    CUcontext context;
    CHECK_INT(cuda.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_INT(cuda.cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_INT(cuda.cuDriverGetVersion(&version), CUDA_SUCCESS);
    CHECK(version >= 12000);
    CHECK_INT(cuda.cuInit(1), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetCount(&count), CUDA_SUCCESS);
    CHECK_INT(count, 1);
}

static void test_bad_environment(void) { CHECK(cuda.cuInit(0) != CUDA_SUCCESS); }

static int attribute(CUdevice_attribute which) {
    int value = -1;
    CHECK_INT(cuda.cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
}

static void test_device(void) {
    CUdevice device = -1;
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGet(&device, 0), CUDA_SUCCESS);
    CHECK_INT(device, 0);
    CHECK_INT(cuda.cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    CHECK_INT(cuda.cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    char name[64], cut[5], bus[16];
    CHECK_INT(cuda.cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    CHECK(strncmp(name, "NVIDIA H200", 11) == 0);
    CHECK_INT(cuda.cuDeviceGetName(cut, sizeof cut, 0), CUDA_SUCCESS);
    CHECK_STR(cut, "NVID");
    size_t bytes = 0;
    CHECK_INT(cuda.cuDeviceTotalMem_v2(&bytes, 0), CUDA_SUCCESS);
    CHECK(bytes > 0);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 1);
    CHECK_INT(attribute((CUdevice_attribute)21), 0); // of textures, which it does not have
    int value;
    CHECK_INT(cuda.cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuDeviceGetAttribute(&value, (CUdevice_attribute)999, 0),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3),
              CUDA_ERROR_INVALID_DEVICE);
    CHECK_INT(cuda.cuDeviceGetPCIBusId(bus, sizeof bus, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetByPCIBusId(&device, bus), CUDA_SUCCESS);
    CUuuid one, two;
    CHECK_INT(cuda.cuDeviceGetUuid(&one, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetUuid_v2(&two, 0), CUDA_SUCCESS);
    CHECK_MEM(&one, &two, sizeof one);
    int major, minor;
    CHECK_INT(cuda.cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
    CHECK_INT(major * 10 + minor, 90);
    CHECK_INT(cuda.cuDeviceCanAccessPeer(&value, 0, 0), CUDA_SUCCESS);
}

static void test_a100(void) {
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 108);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 0);
}

static void test_errors(void) {
    const char *text = NULL;
    CHECK_INT(cuda.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
    CHECK_STR(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_INT(cuda.cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
    CHECK_STR(text, "an illegal memory access was encountered");
    CHECK_INT(cuda.cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(text == NULL);
}

// What each name and version leads to is what the table says.
static void test_names(void) {
    void *address = NULL;
    CUdriverProcAddressQueryResult status;
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    CHECK_INT(cuda.cuGetProcAddress_v2(#name, &address, since, 0, &status), CUDA_SUCCESS);         \
    CHECK(address == dlsym(cuda_library, #symbol));
#define ALIAS(name, symbol, since)                                                                 \
    CHECK_INT(cuda.cuGetProcAddress(#name, &address, since, 0), CUDA_SUCCESS);                     \
    CHECK(address == dlsym(cuda_library, #symbol));
#include "emulator/driver/functions.def"
    CHECK_INT(cuda.cuGetProcAddress_v2("cuNoSuch", &address, 13000, 0, &status),
              CUDA_ERROR_NOT_FOUND);
    CHECK_INT(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK_INT(cuda.cuGetProcAddress_v2("cuGraphCreate", &address, 9000, 0, &status),
              CUDA_ERROR_NOT_FOUND);
    CHECK_INT(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CHECK_INT(cuda.cuGetProcAddress_v2("cuInit", &address, 13000, 2, &status),
              CUDA_ERROR_NOT_SUPPORTED);
}

static void test_contexts(void) {
    CUcontext a, b, got;
    unsigned flags, version;
    unsigned long long id_a, id_b;
    CUdevice device = -1;
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxPopCurrent_v2(&got), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxCreate_v2(&a, 4, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxCreate_v4(&b, NULL, 0, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetCurrent(&got), CUDA_SUCCESS);
    CHECK(got == b);
    CHECK_INT(cuda.cuCtxPopCurrent_v2(&got), CUDA_SUCCESS);
    CHECK(got == b);
    CHECK_INT(cuda.cuCtxGetFlags(&flags), CUDA_SUCCESS);
    CHECK_INT(flags, 4);
    CHECK_INT(cuda.cuCtxGetId(a, &id_a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetId(b, &id_b), CUDA_SUCCESS);
    CHECK(id_a != id_b);
    CHECK_INT(cuda.cuCtxGetApiVersion(a, &version), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetDevice(&device), CUDA_SUCCESS);
    CHECK_INT(device, 0);
    CHECK_INT(cuda.cuCtxPushCurrent_v2(b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxDestroy_v2(b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxDestroy_v2(b), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxSetCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxGetCurrent(&got), CUDA_SUCCESS);
    CHECK(got == a);
    CHECK_INT(cuda.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxDestroy_v2(a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxCreate_v2(&a, 0x300, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuCtxCreate_v2(&a, 3, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuCtxCreate_v2(&a, 0, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void test_primary(void) {
    CUcontext one, two;
    unsigned flags;
    int active = 9;
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    CHECK_INT(active, 0);
    CHECK_INT(cuda.cuDevicePrimaryCtxRetain(&one, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxRetain(&two, 0), CUDA_SUCCESS);
    CHECK(one == two);
    CHECK_INT(cuda.cuCtxDestroy_v2(one), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuDevicePrimaryCtxSetFlags_v2(0, 2), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    CHECK_INT(active, 1);
    CHECK_INT(flags, 2);
    CHECK_INT(cuda.cuCtxSetCurrent(one), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_INT(cuda.cuDevicePrimaryCtxRetain(&one, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    CHECK_INT(active, 0);
}

static void test_limits(void) {
    host_begin();
    size_t value;
    CHECK_INT(cuda.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
    CHECK(value > 0);
    CHECK_INT(cuda.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
    CHECK_INT(value, 4096);
    CHECK_INT(cuda.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1),
              CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK_INT(cuda.cuCtxGetLimit(&value, (CUlimit)99), CUDA_ERROR_INVALID_VALUE);
    CUfunc_cache cache;
    CHECK_INT(cuda.cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxGetCacheConfig(&cache), CUDA_SUCCESS);
    CHECK_INT(cache, CU_FUNC_CACHE_PREFER_L1);
    int least, greatest;
    CHECK_INT(cuda.cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
    CHECK(greatest < least);
    CHECK_INT(cuda.cuCtxSetFlags(1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
    CHECK_INT(cuda.cuProfilerStart(), CUDA_SUCCESS);
    CHECK_INT(cuda.cuProfilerStop(), CUDA_SUCCESS);
}

static void *other_thread(void *user) {
    CUcontext got = user;
    CHECK_INT(cuda.cuCtxGetCurrent(&got), CUDA_SUCCESS);
    return got;
}

static void test_threads_have_their_own_context(void) {
    CUcontext context = host_begin();
    pthread_t thread;
    void *got = NULL;
    CHECK(pthread_create(&thread, NULL, other_thread, context) == 0);
    pthread_join(thread, &got);
    CHECK(got == NULL);
}

typedef CUresult AnyFunction(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static CUresult call_with(const char *symbol, uint64_t value) {
    void *address = dlsym(cuda_library, symbol);
    AnyFunction *function;
    memcpy(&function, &address, sizeof function);
    return function(value, value, value, value, value, value, value, value, value, value, value,
                    value);
}

// Every function with nothing but zeros: no crash, and few of them have anything to do then.
static void test_zeros(void) {
    host_begin();
    int successes = 0;
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    successes += call_with(#symbol, 0) == CUDA_SUCCESS;
#include "emulator/driver/functions.def"
    CHECK(successes > 0 && successes < 40);
}

// A context in which nothing has failed, instead of the current one.
static void begin_anew(void) {
    CUcontext context = NULL;
    cuda.cuCtxPopCurrent_v2(&context);
    cuda.cuCtxDestroy_v2(context);
    CHECK_INT(cuda.cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
}

// Memory, a module and a launch.
static void do_work(void) {
    CUmodule module = host_module();
    CUdeviceptr data = host_words(4, 1);
    CHECK_INT(host_add(host_function(module, "add"), data, 4, 2, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 3), 3);
    CHECK_INT(cuda.cuMemFree_v2(data), CUDA_SUCCESS);
    CHECK_INT(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

// The call fails with the error of its row, leaves nothing behind, and is as ever the next time.
static void fail_once(const char *symbol, CUresult error) {
    char fault[96];
    uint64_t handles = cuda.emuHandles(), blocks = cuda.emuMemoryBlocks();
    snprintf(fault, sizeof fault, "%s:1", symbol);
    CHECK_INT(cuda.emuFail(fault), 0);
    if (!CHECK_INT(call_with(symbol, 0), error)) printf("    %s\n", symbol);
    CHECK_INT(cuda.emuFailures(), 1);
    CHECK_INT(cuda.emuFail(NULL), 0);
    if (!CHECK_INT(cuda.emuHandles(), handles)) printf("    %s\n", symbol);
    CHECK_INT(cuda.emuMemoryBlocks(), blocks);
    call_with(symbol, 0);
    begin_anew();
    do_work();
}

static void test_each_fails_once(void) {
    host_begin();
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    fail_once(#symbol, CUDA_ERROR_##failure);
#include "emulator/driver/functions.def"
}

static void test_faults(void) {
    host_begin();
    CUdeviceptr a;
    CHECK_INT(cuda.emuFail("cuMemAlloc:2"), 0);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.emuFail("*:2:801"), 0);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_INT(cuda.emuCalls(), 2);
    CHECK_INT(cuda.emuFail("cuCtxSynchronize:1:700"), 0);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_ERROR_ILLEGAL_ADDRESS); // it stays
    begin_anew();
    CHECK_INT(cuda.emuFail("cuMemAlloc:1,cuMemAlloc_v2:3,cuGetErrorName:1:801"), 0);
    const char *text;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.cuGetErrorName(1, &text), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.emuFailures(), 3);
    static const char *const bad[] = {"*",
                                      "*:",
                                      "*:0",
                                      "*:1:",
                                      "*:1y",
                                      "*:-1",
                                      "*:1,",
                                      ",*:1",
                                      "*:1,*",
                                      "*:1:1,",
                                      "*:1,*:1:y,*:1",
                                      "*:1,*:1,*:1,*:1,*:1,*:1,*:1,*:1,*:1",
                                      "x:1",
                                      "cuMemAlloc_v3:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_INT(cuda.emuFail(bad[i]), 1);
}

static void test_fault_of_environment(void) {
    CHECK_INT(cuda.cuInit(0), CUDA_ERROR_NO_DEVICE);
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
}

int main(void) {
    RUN_FRESH(test_before_init, NULL);
    RUN_FRESH(test_bad_environment, "TCC_EMU_DEVICE=sm_1");
    RUN_FRESH(test_bad_environment, "TCC_EMU_STREAMS=never");
    RUN_FRESH(test_bad_environment, "TCC_EMU_FAIL=cuMemAlloc");
    RUN_FRESH(test_bad_environment, "TCC_EMU_FAIL=cuMemAllocate:1");
    RUN_FRESH(test_device, "TCC_EMU_DEVICE=sm_90a");
    RUN_FRESH(test_a100, "TCC_EMU_DEVICE=sm_80");
    RUN_FRESH(test_errors, NULL);
    RUN_FRESH(test_names, NULL);
    RUN_FRESH(test_contexts, NULL);
    RUN_FRESH(test_primary, NULL);
    RUN_FRESH(test_limits, NULL);
    RUN_FRESH(test_threads_have_their_own_context, NULL);
    RUN_FRESH(test_zeros, NULL);
    RUN_FRESH(test_each_fails_once, NULL);
    RUN_FRESH(test_faults, NULL);
    RUN_FRESH(test_fault_of_environment, "TCC_EMU_FAIL=cuInit:1");
    return test_done();
}
