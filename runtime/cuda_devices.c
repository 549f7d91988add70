#include "runtime/cuda_devices.h"

#include "runtime/cuda.h"

#include <stdio.h>

enum { MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_… */

int cuda_count_devices(const char *kind, char *text, size_t size) {
    Cuda cuda = {0};
    CudaError error = {0};
    int count = 0;
    if (cuda_load(&cuda, kind, text, size) != TCC_OK) return 0;
    if (!CUDA_TRY(&error, &cuda, device_count, &count)) {
        cuda_describe(&cuda, &error, text, size);
        return 0;
    }
    if (count == 0) snprintf(text, size, "the driver has no devices");
    return count;
}

bool cuda_describe_device(const char *kind, int ordinal, char *text, size_t size) {
    Cuda cuda = {0};
    CudaError error = {0};
    char name[96] = "";
    int device, major, minor, processors;
    size_t bytes;
    if (cuda_load(&cuda, kind, text, size) != TCC_OK) return false;
    bool good = CUDA_TRY(&error, &cuda, device_get, &device, ordinal) &&
                CUDA_TRY(&error, &cuda, device_name, name, sizeof name, device) &&
                CUDA_TRY(&error, &cuda, device_memory, &bytes, device) &&
                CUDA_TRY(&error, &cuda, device_attribute, &major, MAJOR, device) &&
                CUDA_TRY(&error, &cuda, device_attribute, &minor, MINOR, device) &&
                CUDA_TRY(&error, &cuda, device_attribute, &processors, MULTIPROCESSORS, device);
    if (good)
        snprintf(text, size, "%s, sm_%d%d, %d multiprocessors, %.1f GB", name, major, minor,
                 processors, (double)bytes / 1e9);
    else
        cuda_describe(&cuda, &error, text, size);
    return good;
}
