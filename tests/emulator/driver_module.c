// Modules, libraries, functions: loading with a log, containers, launches and their errors.
#include "tests/emulator/host.h"

static void test_log(void) {
    host_begin();
    char error[200] = "", info[50] = "x", small[8];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {error, (void *)sizeof error, info, (void *)sizeof info, (void *)4};
    CUmodule module = NULL;
    static const char bad[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry k()\n{\n    bogus.u32 %r1;\n    ret;\n}\n";
    CHECK_INT(cuda.cuModuleLoadDataEx(&module, bad, 5, options, values), CUDA_ERROR_INVALID_PTX);
    CHECK(strstr(error, "bogus") != NULL);
    CHECK_INT((uintptr_t)values[1], strlen(error) + 1);
    CHECK_STR(info, "");
    CUjit_option few[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *short_values[] = {small, (void *)sizeof small};
    CHECK_INT(cuda.cuModuleLoadDataEx(&module, bad, 2, few, short_values), CUDA_ERROR_INVALID_PTX);
    CHECK_INT(strlen(small), sizeof small - 1);
    CHECK(module == NULL);
    values[1] = (void *)sizeof error;
    CHECK_INT(cuda.cuModuleLoadDataEx(&module, host_ptx, 5, options, values), CUDA_SUCCESS);
    CHECK_STR(error, "");
    CUjit_option wrong[] = {(CUjit_option)99};
    CHECK_INT(cuda.cuModuleLoadDataEx(&module, host_ptx, 1, wrong, values),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuModuleLoadData(&module, "\177ELF\2\1\1"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_INT(cuda.cuModuleLoadData(&module, "\1\2\3\4"), CUDA_ERROR_INVALID_IMAGE);
    CHECK_INT(cuda.cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
}

static void test_module(void) {
    host_begin();
    CUmodule module = host_module(), of;
    CUfunction add = host_function(module, "add"), got[3];
    CUdeviceptr address;
    size_t size, offset;
    unsigned count;
    const char *name;
    int value;
    CHECK_INT(cuda.cuModuleGetFunction(&got[0], module, "nothing"), CUDA_ERROR_NOT_FOUND);
    CHECK_INT(cuda.cuModuleGetGlobal_v2(&address, &size, module, "counter"), CUDA_SUCCESS);
    CHECK_INT(size, 4);
    CHECK_INT(host_word(address, 0), 0);
    CHECK_INT(cuda.cuMemsetD32_v2(address, 5, 1), CUDA_SUCCESS);
    CHECK_INT(host_word(address, 0), 5);
    CHECK_INT(cuda.cuModuleGetGlobal_v2(&address, &size, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    CHECK_INT(cuda.cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
    CHECK_INT(count, 3);
    CHECK_INT(cuda.cuModuleEnumerateFunctions(got, 3, module), CUDA_SUCCESS);
    CHECK_INT(cuda.cuFuncGetName(&name, got[0]), CUDA_SUCCESS);
    CHECK_STR(name, "add");
    CHECK_INT(cuda.cuFuncGetModule(&of, add), CUDA_SUCCESS);
    CHECK(of == module);
    CHECK_INT(cuda.cuFuncGetParamInfo(add, 2, &offset, &size), CUDA_SUCCESS);
    CHECK(offset == 16 && size == 8);
    CHECK_INT(cuda.cuFuncGetParamInfo(add, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuFuncIsLoaded(&value, add), CUDA_SUCCESS);
    CHECK_INT(cuda.cuFuncLoad(add), CUDA_SUCCESS);
    CUmoduleLoadingMode mode;
    CHECK_INT(cuda.cuModuleGetLoadingMode(&mode), CUDA_SUCCESS);
    CHECK_INT(cuda.cuModuleUnload(module), CUDA_SUCCESS);
    CHECK_INT(cuda.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuFuncGetName(&name, add), CUDA_ERROR_INVALID_HANDLE);
}

static void test_attributes(void) {
    host_begin();
    CUmodule module = host_module();
    CUfunction add = host_function(module, "add"), small = host_function(module, "small");
    int value;
    CHECK_INT(cuda.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small),
              CUDA_SUCCESS);
    CHECK_INT(value, 64);
    CHECK_INT(cuda.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, add), CUDA_SUCCESS);
    CHECK(value > 0 && value < 64);
    CHECK_INT(cuda.cuFuncGetAttribute(&value, (CUfunction_attribute)99, add),
              CUDA_ERROR_INVALID_VALUE);
    CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CHECK_INT(cuda.cuFuncSetAttribute(add, dynamic, 100000), CUDA_SUCCESS);
    CHECK_INT(cuda.cuFuncGetAttribute(&value, dynamic, add), CUDA_SUCCESS);
    CHECK_INT(value, 100000);
    CHECK_INT(cuda.cuFuncSetAttribute(add, dynamic, 1 << 20), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuFuncSetCacheConfig(add, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
}

static void test_launches(void) {
    host_begin();
    CUmodule module = host_module();
    CUfunction add = host_function(module, "add"), small = host_function(module, "small");
    CUdeviceptr data = host_words(300, 5);
    CHECK_INT(host_add(add, data, 299, 2, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 0), 7);
    CHECK_INT(host_word(data, 298), 7);
    CHECK_INT(host_word(data, 299), 5);
    uint64_t packed[3] = {data, 300, 10};
    size_t size = sizeof packed, less = 16;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CHECK_INT(cuda.cuLaunchKernel(add, 3, 1, 1, 128, 1, 1, 0, NULL, NULL, extra), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 299), 15);
    extra[3] = &less;
    CHECK_INT(cuda.cuLaunchKernel(add, 3, 1, 1, 128, 1, 1, 0, NULL, NULL, extra),
              CUDA_ERROR_INVALID_VALUE);
    void *list[] = {&packed[0], &packed[1], &packed[2]};
    CHECK_INT(cuda.cuLaunchKernel(add, 3, 1, 1, 128, 1, 1, 0, NULL, list, extra),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 3, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 0, 1, 1, 128, 1, 1, 0, NULL, list, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 1, 65536, 1, 128, 1, 1, 0, NULL, list, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 1, 1, 1, 1, 1, 65, 0, NULL, list, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 1, 1, 1, 1024, 2, 1, 0, NULL, list, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 49153, NULL, list, NULL),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuLaunchKernel(small, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL),
              CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    CHECK_INT(cuda.cuLaunchKernel(NULL, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL),
              CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS); // none of those spoiled anything
}

static void test_launch_attributes(void) {
    host_begin();
    CUfunction small = host_function(host_module(), "small");
    CUlaunchAttribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    CUlaunchConfig config = {
        .grid = {4, 1, 1}, .block = {64, 1, 1}, .attributes = attributes, .attribute_count = 2};
    CHECK_INT(cuda.cuLaunchKernelEx(&config, small, NULL, NULL), CUDA_SUCCESS);
    config.grid[0] = 1000000;
    CHECK_INT(cuda.cuLaunchKernelEx(&config, small, NULL, NULL),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CHECK_INT(cuda.cuLaunchCooperativeKernel(small, 1000000, 1, 1, 64, 1, 1, 0, NULL, NULL),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CHECK_INT(cuda.cuLaunchCooperativeKernel(small, 4, 1, 1, 64, 1, 1, 0, NULL, NULL),
              CUDA_SUCCESS);
    attributes[1] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        .value.cluster = {2, 1, 1}};
    config.grid[0] = 4;
    CHECK_INT(cuda.cuLaunchKernelEx(&config, small, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    attributes[1].id = (CUlaunchAttributeID)7;
    CHECK_INT(cuda.cuLaunchKernelEx(&config, small, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
}

// What a kernel did wrong is told by every later call, until there is another context.
static void test_sticky(void) {
    CUcontext context = host_begin();
    CUfunction fail = host_function(host_module(), "fail");
    CUdeviceptr data = host_words(4, 1);
    CHECK_INT(cuda.cuLaunchKernel(fail, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD8_v2(data, 0, 4), CUDA_SUCCESS); // nobody has looked yet
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    CHECK_INT(cuda.cuMemFree_v2(data), CUDA_ERROR_LAUNCH_FAILED);
    CUdevice device;
    CHECK_INT(cuda.cuDeviceGet(&device, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxDestroy_v2(context), CUDA_SUCCESS);
    CHECK_INT(cuda.emuMemoryBlocks(), 0); // the context took its memory along
    host_begin();
    CHECK_INT(cuda.cuMemFree_v2(data), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
}

static void test_illegal_address(void) {
    host_begin();
    CUfunction add = host_function(host_module(), "add");
    CUdeviceptr data = host_words(4, 1);
    uint64_t findings = cuda.emuFindingCount();
    CHECK_INT(host_add(add, data, 5, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuda.emuFindingCount() > findings);
    emu_finding finding = {.size = sizeof finding};
    CHECK_INT(cuda.emuFindingGet(0, &finding), 0);
    CHECK_STR(finding.kind, "out_of_bounds");
    CHECK_STR(finding.kernel, "add");
    CHECK(finding.text != NULL && *finding.text != 0);
    emu_counters counters = {.size = sizeof counters};
    cuda.emuGetCounters(&counters);
    CHECK_INT(counters.launches, 1);
    CHECK(counters.instructions > 0);
    cuda.emuClear();
    CHECK_INT(cuda.emuFindingCount(), 0);
    CHECK_INT(cuda.emuFindingGet(0, &finding), 1);
}

static size_t shared_of(int block_size) { return (size_t)block_size * 100; }

static void test_occupancy(void) {
    host_begin();
    CUmodule module = host_module();
    CUfunction add = host_function(module, "add"), small = host_function(module, "small");
    int blocks = -1, grid, block;
    size_t shared;
    CHECK_INT(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0),
              CUDA_SUCCESS);
    CHECK_INT(blocks, 2);
    CHECK_INT(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 50000),
              CUDA_SUCCESS);
    CHECK_INT(blocks, 3); // 164 KiB by 50000 + 1024
    CHECK_INT(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, small, 65, 0, 0),
              CUDA_SUCCESS);
    CHECK_INT(blocks, 0);
    CHECK_INT(cuda.cuOccupancyMaxPotentialBlockSize(&grid, &block, add, NULL, 0, 0), CUDA_SUCCESS);
    CHECK_INT(block, 1024);
    CHECK_INT(grid, 216);
    CHECK_INT(
        cuda.cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add, shared_of, 0, 256, 0),
        CUDA_SUCCESS);
    CHECK(block > 0 && block <= 256);
    CHECK_INT(cuda.cuOccupancyAvailableDynamicSMemPerBlock(&shared, add, 2, 128), CUDA_SUCCESS);
    CHECK(shared > 48 << 10 && shared < 84 << 10);
    CUlaunchConfig config = {.grid = {4, 1, 1}, .block = {64, 1, 1}};
    CHECK_INT(cuda.cuOccupancyMaxPotentialClusterSize(&blocks, small, &config), CUDA_SUCCESS);
    CHECK_INT(blocks, 1);
    CHECK_INT(cuda.cuOccupancyMaxActiveClusters(&blocks, small, &config), CUDA_SUCCESS);
    CHECK(blocks > 100);
}

static void test_library(void) {
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CUlibrary library, of;
    CUkernel add, all[3];
    unsigned count;
    const char *name;
    CHECK_INT(cuda.cuLibraryLoadData(&library, host_ptx, NULL, NULL, 0, NULL, NULL, 0),
              CUDA_SUCCESS); // without a context
    CHECK_INT(cuda.cuLibraryGetKernel(&add, library, "add"), CUDA_SUCCESS);
    CHECK_INT(cuda.cuLibraryGetKernel(&all[0], library, "nothing"), CUDA_ERROR_NOT_FOUND);
    CHECK_INT(cuda.cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
    CHECK_INT(count, 3);
    CHECK_INT(cuda.cuLibraryEnumerateKernels(all, 3, library), CUDA_SUCCESS);
    CHECK_INT(cuda.cuKernelGetName(&name, add), CUDA_SUCCESS);
    CHECK_STR(name, "add");
    CHECK_INT(cuda.cuKernelGetLibrary(&of, add), CUDA_SUCCESS);
    CHECK(of == library);
    host_begin();
    CUfunction function;
    CUmodule module;
    CUdeviceptr address;
    size_t size, offset;
    int value;
    CHECK_INT(cuda.cuLibraryGetModule(&module, library), CUDA_SUCCESS);
    CHECK_INT(cuda.cuLibraryGetGlobal(&address, &size, library, "counter"), CUDA_SUCCESS);
    CHECK_INT(cuda.cuKernelGetFunction(&function, add), CUDA_SUCCESS);
    CHECK_INT(cuda.cuKernelGetParamInfo(add, 1, &offset, &size), CUDA_SUCCESS);
    CHECK_INT(offset, 8);
    CHECK_INT(cuda.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, add, 0), CUDA_SUCCESS);
    CHECK_INT(
        cuda.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50, add, 0),
        CUDA_SUCCESS);
    CUdeviceptr data = host_words(4, 1);
    CHECK_INT(host_add((CUfunction)(void *)add, data, 4, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(host_add(function, data, 4, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(host_word(data, 3), 3);
    CHECK_INT(cuda.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE); // it is the library's
    CHECK_INT(cuda.cuLibraryUnload(library), CUDA_SUCCESS);
    CHECK_INT(cuda.cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    CHECK_INT(cuda.cuKernelGetName(&name, add), CUDA_ERROR_INVALID_HANDLE);
}

// A file, and a fat binary with the text in it: plain, and as LZ4 does it without finding anything.
static void put(FILE *file, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) fputc((int)(value >> 8 * i & 255), file);
}

static void put_lz4(FILE *file, const char *text, size_t size) {
    fputc(0xF0, file);
    size_t left = size - 15;
    for (; left >= 255; left -= 255) fputc(255, file);
    fputc((int)left, file);
    fwrite(text, 1, size, file);
}

static void write_fat(const char *path, bool compressed) {
    FILE *file = fopen(path, "wb");
    size_t size = sizeof host_ptx, packed = compressed ? size + 2 + (size - 15) / 255 : size;
    put(file, 0xBA55ED50, 4);
    put(file, 1, 2);
    put(file, 16, 2);
    put(file, 64 + packed, 8);
    put(file, 1, 2);
    put(file, 0x101, 2);
    put(file, 64, 4);
    put(file, packed, 8);
    put(file, compressed ? packed : 0, 4);
    put(file, 0, 4 + 2 + 2);
    put(file, 80, 4);
    put(file, 0, 8);
    put(file, compressed ? 0x2000 : 0, 8);
    put(file, 0, 8);
    put(file, compressed ? size : 0, 8);
    if (compressed)
        put_lz4(file, host_ptx, size);
    else
        fwrite(host_ptx, 1, size, file);
    fclose(file);
}

static void test_files(void) {
    host_begin();
    char path[] = "/tmp/tcc-emu-XXXXXX";
    int handle = mkstemp(path);
    CHECK(handle >= 0);
    CHECK(write(handle, host_ptx, sizeof host_ptx - 1) > 0);
    close(handle);
    CUmodule module;
    CUlibrary library;
    CHECK_INT(cuda.cuModuleLoad(&module, path), CUDA_SUCCESS);
    host_function(module, "add");
    CHECK_INT(cuda.cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
              CUDA_SUCCESS);
    for (int compressed = 0; compressed < 2; compressed++) {
        write_fat(path, compressed != 0);
        CHECK_INT(cuda.cuModuleLoad(&module, path), CUDA_SUCCESS);
        host_function(module, "small");
    }
    unlink(path);
}

int main(void) {
    RUN_FRESH(test_log, NULL);
    RUN_FRESH(test_module, NULL);
    RUN_FRESH(test_attributes, NULL);
    RUN_FRESH(test_launches, NULL);
    RUN_FRESH(test_launch_attributes, "TCC_EMU_DEVICE=sm_80");
    RUN_FRESH(test_sticky, NULL);
    RUN_FRESH(test_illegal_address, NULL);
    RUN_FRESH(test_occupancy, "TCC_EMU_DEVICE=sm_80");
    RUN_FRESH(test_library, NULL);
    RUN_FRESH(test_files, NULL);
    return test_done();
}
