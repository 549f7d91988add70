// Memory: allocations of all kinds, copies, fills, pointers, pools.
#include "tests/emulator/host.h"

static void test_allocations(void) {
    host_begin();
    CUdeviceptr a = 0, b = 0, base;
    size_t size, before, after, total, pitch;
    uint64_t blocks = cuda.emuMemoryBlocks();
    CHECK_INT(cuda.cuMemGetInfo_v2(&before, &total), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 1000), CUDA_SUCCESS);
    CHECK_INT(a % 256, 0);
    CHECK_INT(cuda.cuMemGetInfo_v2(&after, &total), CUDA_SUCCESS);
    CHECK_INT(before - after, 1000);
    CHECK_INT(cuda.emuMemoryBytes(), total - after);
    CHECK_INT(cuda.cuMemGetAddressRange_v2(&base, &size, a + 999), CUDA_SUCCESS);
    CHECK(base == a && size == 1000);
    CHECK_INT(cuda.cuMemGetAddressRange_v2(&base, &size, a + 1000), CUDA_ERROR_NOT_FOUND);
    CHECK_INT(cuda.cuMemAllocPitch_v2(&b, &pitch, 100, 3, 4), CUDA_SUCCESS);
    CHECK(pitch >= 100 && pitch % 256 == 0);
    CHECK_INT(cuda.cuMemAllocPitch_v2(&b, &pitch, 100, 3, 5), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemAlloc_v2(&base, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(cuda.cuMemFree_v2(a + 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemFree_v2(a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemFree_v2(b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFree_v2(0), CUDA_SUCCESS);
    CHECK_INT(cuda.emuMemoryBlocks(), blocks);
}

static void test_flat_copies(void) {
    host_begin();
    uint8_t in[256], out[256] = {0};
    for (int i = 0; i < 256; i++) in[i] = (uint8_t)i;
    CUdeviceptr a, b;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 256), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAlloc_v2(&b, 256), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyHtoD_v2(a, in, 256), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoD_v2(b + 1, a + 3, 200), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoH_v2(out, b + 1, 200), CUDA_SUCCESS);
    CHECK_MEM(out, in + 3, 200);
    CHECK_INT(cuda.cuMemcpy(b, (CUdeviceptr)(uintptr_t)in, 256), CUDA_SUCCESS);
    memset(out, 0, sizeof out);
    CHECK_INT(cuda.cuMemcpy((CUdeviceptr)(uintptr_t)out, b, 256), CUDA_SUCCESS);
    CHECK_MEM(out, in, 256);
    CHECK_INT(cuda.cuMemcpyHtoD_v2(a + 1, in, 256), CUDA_ERROR_INVALID_VALUE); // one too many
    CHECK_INT(cuda.cuMemcpyHtoD_v2(a, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)out, in, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpyDtoH_v2((void *)(uintptr_t)b, a, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpyDtoD_v2(b, a, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFree_v2(a), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoH_v2(out, a, 4), CUDA_ERROR_INVALID_VALUE); // it is freed
}

// A box of 3 x 2 x 2 out of a host's 5 x 4 x 3 into a device's 8 x 3 x 4, and back.
static void test_boxes(void) {
    host_begin();
    uint8_t in[60], out[60], want[60];
    for (int i = 0; i < 60; i++) in[i] = (uint8_t)(i + 1);
    memset(out, 0, sizeof out);
    memset(want, 0, sizeof want);
    CUdeviceptr a;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 96), CUDA_SUCCESS);
    CUDA_MEMCPY3D to = {.src_x = 1,
                        .src_y = 1,
                        .src_z = 1,
                        .src_type = CU_MEMORYTYPE_HOST,
                        .src_host = in,
                        .src_pitch = 5,
                        .src_height = 4,
                        .dst_x = 2,
                        .dst_z = 1,
                        .dst_type = CU_MEMORYTYPE_DEVICE,
                        .dst_device = a,
                        .dst_pitch = 8,
                        .dst_height = 3,
                        .width = 3,
                        .height = 2,
                        .depth = 2};
    CHECK_INT(cuda.cuMemcpy3D_v2(&to), CUDA_SUCCESS);
    CUDA_MEMCPY3D back = {.src_x = 2,
                          .src_z = 1,
                          .src_type = CU_MEMORYTYPE_DEVICE,
                          .src_device = a,
                          .src_pitch = 8,
                          .src_height = 3,
                          .dst_x = 1,
                          .dst_y = 1,
                          .dst_z = 1,
                          .dst_type = CU_MEMORYTYPE_UNIFIED,
                          .dst_device = (CUdeviceptr)(uintptr_t)out,
                          .dst_pitch = 5,
                          .dst_height = 4,
                          .width = 3,
                          .height = 2,
                          .depth = 2};
    CHECK_INT(cuda.cuMemcpy3DAsync_v2(&back, NULL), CUDA_SUCCESS);
    for (int z = 1; z < 3; z++)
        for (int y = 1; y < 3; y++)
            for (int x = 1; x < 4; x++) want[(z * 4 + y) * 5 + x] = in[(z * 4 + y) * 5 + x];
    CHECK_MEM(out, want, sizeof out);
    to.depth = 4; // beyond the device's block
    CHECK_INT(cuda.cuMemcpy3D_v2(&to), CUDA_ERROR_INVALID_VALUE);
    to.depth = 1;
    to.src_type = CU_MEMORYTYPE_ARRAY;
    CHECK_INT(cuda.cuMemcpy3D_v2(&to), CUDA_ERROR_NOT_SUPPORTED);
}

// Extents that are no number of 64 bits, and slices that overlap.
static void test_extents(void) {
    host_begin();
    uint8_t bytes[64] = {0};
    const size_t half = (size_t)1 << 32;
    CUdeviceptr a;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 64), CUDA_SUCCESS);
    const CUDA_MEMCPY3D good = {.src_type = CU_MEMORYTYPE_HOST,
                                .src_host = bytes,
                                .dst_type = CU_MEMORYTYPE_DEVICE,
                                .dst_device = a,
                                .width = 4,
                                .height = 2,
                                .depth = 2};
    CHECK_INT(cuda.cuMemcpy3D_v2(&good), CUDA_SUCCESS);
    enum { BAD = 6 };
    CUDA_MEMCPY3D bad[BAD];
    for (int i = 0; i < BAD; i++) bad[i] = good;
    bad[0].height = half + 1;
    bad[0].src_pitch = bad[0].dst_pitch = half;
    bad[1].depth = half + 1;
    bad[1].src_height = bad[1].dst_height = half / 4;
    bad[2].src_x = SIZE_MAX - 1;
    bad[3].dst_y = SIZE_MAX - 1;
    bad[4].src_height = 1;
    bad[5].dst_height = 1;
    for (int i = 0; i < BAD; i++) CHECK_INT(cuda.cuMemcpy3D_v2(&bad[i]), CUDA_ERROR_INVALID_VALUE);
}

// Behind a block lies what is nobody's but the device's: no memory of the host.
static void test_nobodys(void) {
    host_begin();
    CUdeviceptr a;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 64), CUDA_SUCCESS);
    const void *behind = (const void *)(uintptr_t)(a + 64);
    CHECK_INT(cuda.cuMemcpy(a, a + 64, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpy(a + 64, a, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpyHtoD_v2(a, behind, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemcpyAsync(a, a + 64, 4, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void test_rows(void) {
    host_begin();
    uint8_t in[40], out[40];
    for (int i = 0; i < 40; i++) in[i] = (uint8_t)i;
    memset(out, 99, sizeof out);
    CUdeviceptr a;
    size_t pitch;
    CHECK_INT(cuda.cuMemAllocPitch_v2(&a, &pitch, 10, 4, 4), CUDA_SUCCESS);
    CUDA_MEMCPY2D to = {.src_type = CU_MEMORYTYPE_HOST,
                        .src_host = in,
                        .src_pitch = 10,
                        .dst_type = CU_MEMORYTYPE_DEVICE,
                        .dst_device = a,
                        .dst_pitch = pitch,
                        .width = 10,
                        .height = 4};
    CHECK_INT(cuda.cuMemcpy2D_v2(&to), CUDA_SUCCESS);
    CUDA_MEMCPY2D back = {.src_type = CU_MEMORYTYPE_DEVICE,
                          .src_device = a,
                          .src_pitch = pitch,
                          .dst_type = CU_MEMORYTYPE_HOST,
                          .dst_host = out,
                          .dst_pitch = 10,
                          .width = 10,
                          .height = 4};
    CHECK_INT(cuda.cuMemcpy2DUnaligned_v2(&back), CUDA_SUCCESS);
    CHECK_MEM(out, in, 40);
    memset(out, 99, sizeof out);
    CHECK_INT(cuda.cuMemcpy2DAsync_v2(&back, NULL), CUDA_SUCCESS);
    CHECK_MEM(out, in, 40);
    back.src_pitch = 9; // less than a row
    CHECK_INT(cuda.cuMemcpy2D_v2(&back), CUDA_ERROR_INVALID_VALUE);
}

static void test_fills(void) {
    host_begin();
    CUdeviceptr a;
    uint32_t words[16];
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 64), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32_v2(a, 0x01020304, 16), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD16_v2(a + 2, 0xABCD, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD8_v2(a + 5, 0xEE, 2), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D8_v2(a + 16, 16, 0x11, 2, 2), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D16_v2(a + 20, 16, 0x2222, 1, 2), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D32_v2(a + 24, 16, 0x33333333, 1, 2), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD8Async(a + 48, 1, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD16Async(a + 52, 2, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD32Async(a + 56, 3, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D8Async(a + 49, 8, 4, 1, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D16Async(a + 50, 8, 5, 1, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD2D32Async(a + 60, 8, 6, 1, 1, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemcpyDtoH_v2(words, a, 64), CUDA_SUCCESS);
    static const uint32_t want[16] = {0xABCD0304, 0x01EEEE04, 0x01020304, 0x01020304,
                                      0x01021111, 0x01022222, 0x33333333, 0x01020304,
                                      0x01021111, 0x01022222, 0x33333333, 0x01020304,
                                      0x00050401, 0x01020002, 3,          6};
    for (int i = 0; i < 16; i++) CHECK_INT(words[i], want[i]);
    CHECK_INT(cuda.cuMemsetD32_v2(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE); // misaligned
    CHECK_INT(cuda.cuMemsetD32_v2(a, 0, 17), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemsetD8_v2(a, 0, 0), CUDA_SUCCESS);
}

static void test_host_memory(void) {
    host_begin();
    void *pinned, *other;
    CUdeviceptr address;
    unsigned flags;
    uint64_t blocks = cuda.emuMemoryBlocks();
    CHECK_INT(cuda.cuMemAllocHost_v2(&pinned, 100), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemHostAlloc(&other, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
    memset(pinned, 7, 100);
    CHECK_INT(cuda.cuMemHostGetDevicePointer_v2(&address, pinned, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemHostGetFlags(&flags, other), CUDA_SUCCESS);
    CHECK_INT(flags, CU_MEMHOSTALLOC_PORTABLE);
    CHECK_INT(cuda.cuMemsetD8_v2(address, 9, 50), CUDA_SUCCESS); // waited for: the host's memory
    CHECK_INT(((char *)pinned)[49], 9);
    CHECK_INT(((char *)pinned)[50], 7);
    CHECK_INT(cuda.cuMemHostAlloc(&other, 100, 64), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemFreeHost(pinned), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemHostUnregister(other), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK_INT(cuda.cuMemFreeHost(other), CUDA_SUCCESS);
    char own[256];
    CHECK_INT(cuda.cuMemHostRegister_v2(own, sizeof own, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemHostRegister_v2(own + 8, 8, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CHECK_INT(cuda.cuMemHostGetDevicePointer_v2(&address, own + 8, 0), CUDA_SUCCESS);
    CHECK(address == (CUdeviceptr)(uintptr_t)(own + 8));
    CHECK_INT(cuda.cuMemFreeHost(own), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemHostUnregister(own), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemHostGetDevicePointer_v2(&address, own, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.emuMemoryBlocks(), blocks);
}

static void test_managed(void) {
    host_begin();
    CUdeviceptr a;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CHECK_INT(cuda.cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    uint32_t *words = (uint32_t *)(uintptr_t)a;
    words[5] = 37;
    CUfunction add = host_function(host_module(), "add");
    CHECK_INT(host_add(add, a, 6, 5, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuCtxSynchronize(), CUDA_SUCCESS);
    CHECK_INT(words[5], 42);
    CHECK_INT(cuda.cuMemPrefetchAsync_v2(a, 4096, here, 0, NULL), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAdvise_v2(a, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAdvise_v2(a, 4097, CU_MEM_ADVISE_SET_READ_MOSTLY, here),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemAllocManaged(&a, 16, 7), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemFree_v2((CUdeviceptr)(uintptr_t)words), CUDA_SUCCESS);
}

static void test_pointers(void) {
    CUcontext context = host_begin(), of;
    CUdeviceptr a, value;
    void *pinned;
    unsigned type;
    CHECK_INT(cuda.cuMemAlloc_v2(&a, 64), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAllocHost_v2(&pinned, 64), CUDA_SUCCESS);
    CUdeviceptr host = (CUdeviceptr)(uintptr_t)pinned;
    CHECK_INT(cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 8),
              CUDA_SUCCESS);
    CHECK_INT(type, CU_MEMORYTYPE_DEVICE);
    CHECK_INT(cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host),
              CUDA_SUCCESS);
    CHECK_INT(type, CU_MEMORYTYPE_HOST);
    CHECK_INT(cuda.cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, a), CUDA_SUCCESS);
    CHECK(of == context);
    CHECK_INT(cuda.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, a),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 8),
              CUDA_SUCCESS);
    CHECK(value == a);
    CHECK_INT(cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 64),
              CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned managed = 9;
    void *data[] = {&type, &value, &managed};
    CHECK_INT(cuda.cuPointerGetAttributes(3, asked, data, a + 4), CUDA_SUCCESS);
    CHECK(type == CU_MEMORYTYPE_DEVICE && value == a + 4 && managed == 0);
    CHECK_INT(cuda.cuPointerGetAttributes(3, asked, data, 12345), CUDA_SUCCESS);
    CHECK(type == 0 && value == 0 && managed == 0);
}

static void test_pools(void) {
    host_begin();
    CUmemoryPool pool, first, current;
    CUmemPoolProps properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 .max_size = 1000};
    CUstream stream;
    CUdeviceptr a, b, c;
    uint64_t used, threshold = 77;
    uint64_t blocks = cuda.emuMemoryBlocks();
    CHECK_INT(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetDefaultMemPool(&first, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
    CHECK(current == pool);
    CHECK_INT(cuda.cuMemAllocAsync(&a, 600, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAllocFromPoolAsync(&b, 400, pool, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAllocAsync(&c, 1, stream), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(cuda.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used),
              CUDA_SUCCESS);
    CHECK_INT(used, 1000);
    CHECK_INT(cuda.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
              CUDA_SUCCESS);
    threshold = 0;
    CHECK_INT(cuda.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
              CUDA_SUCCESS);
    CHECK_INT(threshold, 77);
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int flags = 0;
    CHECK_INT(cuda.cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemPoolGetAccess(&flags, pool, &access.location), CUDA_SUCCESS);
    CHECK_INT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK_INT(cuda.cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD8Async(a, 1, 600, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFreeAsync(a, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFree_v2(b), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFreeAsync(a, stream), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda.cuMemPoolDestroy(pool), CUDA_SUCCESS);
    CHECK_INT(cuda.cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
    CHECK(current == first);
    CHECK_INT(cuda.emuMemoryBlocks(), blocks);
}

// What is freed in the order of a stream and used behind that is used after its end.
static void test_use_after_ordered_free(void) {
    host_begin();
    CUstream stream;
    CUdeviceptr a;
    CHECK_INT(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemAllocAsync(&a, 64, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemFreeAsync(a, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuMemsetD8Async(a, 0, 64, stream), CUDA_SUCCESS);
    CHECK_INT(cuda.cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(void) {
    RUN_FRESH(test_allocations, NULL);
    RUN_FRESH(test_flat_copies, NULL);
    RUN_FRESH(test_flat_copies, "TCC_EMU_STREAMS=eager");
    RUN_FRESH(test_boxes, NULL);
    RUN_FRESH(test_extents, NULL);
    RUN_FRESH(test_nobodys, NULL);
    RUN_FRESH(test_rows, NULL);
    RUN_FRESH(test_fills, NULL);
    RUN_FRESH(test_host_memory, NULL);
    RUN_FRESH(test_managed, NULL);
    RUN_FRESH(test_pointers, NULL);
    RUN_FRESH(test_pools, NULL);
    RUN_FRESH(test_use_after_ordered_free, NULL);
    return test_done();
}
