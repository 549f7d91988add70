/* A compiled model on a GPU, for tcc_unit_check_on: its kernels one at a time, each on memory of
 * its own, and the whole of it by a session. */
#ifndef TCC_COMPILER_CHECK_DEVICE_H
#define TCC_COMPILER_CHECK_DEVICE_H

#include "base/arena.h"
#include "runtime/image.h"

#include <stdbool.h>
#include <tcc/model.h>

typedef struct CheckDevice CheckDevice;

/* Opens the artefact as `options` say; what is remembered is in `arena`. TCC_OK with *out_device
 * NULL when they name the CPU. What failed is in `text`, here and below. The caller closes it. */
tcc_status check_device_open(const TccArtefact *artefact, const tcc_open_options *options,
                             Arena *arena, CheckDevice **out_device, char *text, size_t size);
void check_device_close(CheckDevice *device); /* NULL is allowed */

typedef struct DeviceBuffer {
    void *data; /* the host's, which the device's memory is copied from or to */
    size_t bytes;
    uint32_t element; /* bytes that its address is a multiple of */
    bool output;      /* nothing is written before the launch; copied back behind it */
    bool packed;      /* of 4-bit elements: whole words, cleared (runtime/abi_gpu.h) */
} DeviceBuffer;

typedef struct DeviceLaunch {
    uint32_t kernel;
    const DeviceBuffer *buffers;
    uint32_t buffer_count;
    const int64_t *dims;     /* the model's, by slot */
    int64_t points, scratch; /* bytes of a block */
    bool misaligned;         /* buffers lie at odd multiples of their elements' size */
} DeviceLaunch;

/* Runs one kernel and waits for it; `arena` is for the time of the call. */
tcc_status check_device_launch(CheckDevice *device, const DeviceLaunch *launch, Arena *arena,
                               TccErrorWord *out_error, char *text, size_t size);

/* A run of the whole model in a session that stays for the next, which is recorded then. */
tcc_status check_device_run(CheckDevice *device, const tcc_tensor *inputs, uint32_t input_count,
                            const tcc_tensor *outputs, uint32_t output_count, char *text,
                            size_t size);

/* How many faults the software device has found so far; 0 on any other. */
uint64_t check_device_findings(const CheckDevice *device);

#endif
