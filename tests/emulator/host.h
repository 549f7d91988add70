// A host of the software device, as programs are one: the library by dlopen, its functions by name.
//
//     static void test_x(void) { CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS); ... }
//     int main(void) { RUN_FRESH(test_x, NULL); return test_done(); }
//
// RUN_FRESH runs a test in a process of its own, where the driver is new; behind the test come
// settings of the environment, "TCC_EMU_STREAMS=random", or NULL.
#ifndef TCC_TESTS_EMULATOR_HOST_H
#define TCC_TESTS_EMULATOR_HOST_H

#include "tests/emulator/library.h"

#include <sys/wait.h>
#include <unistd.h>

// cuInit, and a context of the test's own.
static inline CUcontext host_begin(void) {
    CUcontext context = NULL;
    CHECK_INT(cuda.cuInit(0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    return context;
}

#define RUN_FRESH(test, ...) host_run(#test, test, (const char *const[]){__VA_ARGS__, NULL})

static inline void host_run(const char *name, void (*test)(void), const char *const *settings) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (; *settings != NULL; settings++) putenv((char *)(uintptr_t)*settings);
        test_counts = (TestCounts){0};
        if (!library_open()) _exit(1);
        test();
        fflush(stdout);
        _exit(test_counts.failures > 0 || test_counts.checks == 0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    CHECK(child > 0 && status == 0);
    printf("%s %s\n", status == 0 ? "ok    " : "FAILED", name);
}

// data[i] += value for i < count; a kernel that fails; one for blocks of 64 threads at most; one
// whose only use is to be there.
static const char host_ptx[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".visible .entry add(.param .u64 data, .param .u64 count, .param .u64 value)\n"
    "{\n"
    "    .reg .pred %p<2>;\n"
    "    .reg .b32 %r<8>;\n"
    "    .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [data];\n"
    "    ld.param.u64 %rd2, [count];\n"
    "    ld.param.u64 %rd3, [value];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "    cvt.u64.u32 %rd4, %r4;\n"
    "    setp.ge.u64 %p1, %rd4, %rd2;\n"
    "    @%p1 bra DONE;\n"
    "    cvta.to.global.u64 %rd5, %rd1;\n"
    "    shl.b64 %rd6, %rd4, 2;\n"
    "    add.u64 %rd7, %rd5, %rd6;\n"
    "    ld.global.u32 %r5, [%rd7];\n"
    "    cvt.u32.u64 %r6, %rd3;\n"
    "    add.u32 %r7, %r5, %r6;\n"
    "    st.global.u32 [%rd7], %r7;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n"
    ".visible .entry fail()\n"
    "{\n"
    "    trap;\n"
    "}\n"
    ".visible .entry small()\n"
    ".maxntid 64, 1, 1\n"
    "{\n"
    "    ret;\n"
    "}\n";

static inline CUmodule host_module(void) {
    CUmodule module = NULL;
    CHECK_INT(cuda.cuModuleLoadData(&module, host_ptx), CUDA_SUCCESS);
    return module;
}

static inline CUfunction host_function(CUmodule module, const char *name) {
    CUfunction function = NULL;
    CHECK_INT(cuda.cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
}

// Launches `add` over `count` elements.
static inline CUresult host_add(CUfunction add, CUdeviceptr data, uint64_t count, uint64_t value,
                                CUstream stream) {
    void *parameters[] = {&data, &count, &value};
    unsigned blocks = (unsigned)(count + 127) / 128;
    return cuda.cuLaunchKernel(add, blocks, 1, 1, 128, 1, 1, 0, stream, parameters, NULL);
}

// Device memory for `count` words, all `value`, which has been written when it returns.
static inline CUdeviceptr host_words(size_t count, uint32_t value) {
    CUdeviceptr data = 0;
    CHECK_INT(cuda.cuMemAlloc_v2(&data, count * 4), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32_v2(data, value, count), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    return data;
}

static inline uint32_t host_word(CUdeviceptr data, size_t index) {
    uint32_t word = 0xDEAD;
    CHECK_INT(cuda.cuMemcpyDtoH_v2(&word, data + index * 4, 4), CUDA_SUCCESS);
    return word;
}

#endif
