// The software GPU's driver with one function that lies: of what is copied back from the device one
// bit is wrong, where the environment's LIAR says so. "kernels": in copies of no stream, as `tcc
// check` makes them behind single kernels; "odd": in those of them from odd multiples of 4 bytes;
// "runs": in copies of streams, as sessions make them.
//
// Words in which kernels report a wrong index stay as they are. All other functions are found in
// the library that this one is linked with.
#include "emulator/driver/cuda_types.h"
#include "runtime/abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef CUresult CopyOut(void *to, CUdeviceptr from, size_t size, CUstream stream);

static int lies(CUdeviceptr from, CUstream stream) {
    const char *when = getenv("LIAR");
    if (when == NULL) return 0;
    if (strcmp(when, "runs") == 0) return stream != NULL;
    if (strcmp(when, "odd") == 0) return stream == NULL && from % 8 != 0;
    return stream == NULL && strcmp(when, "kernels") == 0;
}

__attribute__((visibility("default"))) CopyOut cuMemcpyDtoHAsync_v2;

// A copy to pageable memory is done when the function returns; for one to pinned memory it waits.
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    CopyOut *copy;
    CUresult (*wait)(CUstream);
    void *address = dlsym(RTLD_NEXT, "cuMemcpyDtoHAsync_v2");
    memcpy(&copy, &address, sizeof copy);
    CUresult result = copy(to, from, size, stream);
    if (result != CUDA_SUCCESS || !lies(from, stream) || size == sizeof(TccErrorWord))
        return result;
    address = dlsym(RTLD_NEXT, "cuStreamSynchronize");
    memcpy(&wait, &address, sizeof wait);
    result = wait(stream);
    ((unsigned char *)to)[2] ^= 0x40; // of an f32's mantissa
    return result;
}
