// Kernels on the software CUDA device, launched as runtime/abi_gpu.h says, with all checks on and
// approximate instructions as wrong as they may be.
#ifndef TCC_TESTS_SUPPORT_EMULATED_H
#define TCC_TESTS_SUPPORT_EMULATED_H

#include "emulator/machine/machine.h"
#include "runtime/abi_gpu.h"

typedef struct Emulated {
    EmuDevice *device;
    long launches;
    uint64_t instructions; // of warps
    uint64_t tensor;       // of them, products of matrices
} Emulated;

typedef struct EmulatedBuffer {
    void *data; // the host's, which the device's is copied from and to
    size_t bytes;
    size_t element; // bytes that its address is a multiple of
    bool output;    // unwritten before the launch, copied back behind it
    bool packed;    // of 4-bit elements: written before nevertheless (runtime/abi_gpu.h)
} EmulatedBuffer;

typedef struct EmulatedLaunch {
    Str ptx;
    const char *symbol;
    TccGpuLaunch shape;
    int64_t points, scratch; // bytes of a block
    const int64_t *dims;     // shape.dim_count of them
    const EmulatedBuffer *buffers;
    uint32_t buffer_count;
    bool misaligned; // buffers lie at odd multiples of their elements' size
    uint64_t seed;   // of the order that warps run in
} EmulatedLaunch;

// A device like `target` ("sm_80"); false when there is no such model or no memory.
bool emulated_open(Emulated *host, const char *target);
void emulated_close(Emulated *host);

// NULL when it ran without a finding, else what went wrong, in `arena`.
const char *emulated_run(Emulated *host, const EmulatedLaunch *launch, Arena *arena,
                         TccErrorWord *out_error);

#endif
