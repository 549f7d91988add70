/* Devices: there is one, of the model that was chosen. */
#include "emulator/driver/driver.h"

#include <stdio.h>
#include <string.h>

static const char BUS_ID[] = "0000:00:00.0";

CUresult device_get(CUdevice *device, int ordinal) {
    if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult device_count(int *count) {
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
}

/* CUDA_SUCCESS when that is the device and there is where to write. */
static CUresult check(const void *out, CUdevice device) {
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult device_name(char *name, int size, CUdevice device) {
    CUresult result = size > 0 ? check(name, device) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(name, (size_t)size, "%s (tcc emulator)", driver_model()->name);
    return result;
}

CUresult device_uuid(CUuuid *uuid, CUdevice device) {
    CUresult result = check(uuid, device);
    if (result != CUDA_SUCCESS) return result;
    memset(uuid, 0, sizeof *uuid);
    const char *key = driver_model()->key;
    memcpy(uuid->bytes, key, strnlen(key, sizeof uuid->bytes));
    return CUDA_SUCCESS;
}

CUresult device_memory(size_t *bytes, CUdevice device) {
    CUresult result = check(bytes, device);
    if (result == CUDA_SUCCESS) *bytes = (size_t)emu_memory_capacity(driver.memory);
    return result;
}

CUresult device_capability(int *major, int *minor, CUdevice device) {
    CUresult result = minor != NULL ? check(major, device) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) return result;
    *major = driver_model()->major;
    *minor = driver_model()->minor;
    return CUDA_SUCCESS;
}

static int attribute_of(const EmuModel *m, CUdevice_attribute attribute) {
    switch (attribute) {
#define ATTRIBUTE(name, number, value)                                                             \
    case CU_DEVICE_ATTRIBUTE_##name:                                                               \
        return (value);
#include "emulator/driver/device_attributes.def"
#undef ATTRIBUTE
    default: return 0;
    }
}

/* The numbers up to LAST that are not in the table are of what the device does not have. */
CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    enum { FIRST = 1, LAST = 147 };
    CUresult result = check(value, device);
    if (result != CUDA_SUCCESS) return result;
    if ((int)attribute < FIRST || (int)attribute > LAST) return CUDA_ERROR_INVALID_VALUE;
    *value = attribute_of(driver_model(), attribute);
    return CUDA_SUCCESS;
}

CUresult device_bus_id(char *id, int size, CUdevice device) {
    CUresult result = size > 0 ? check(id, device) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) snprintf(id, (size_t)size, "%s", BUS_ID);
    return result;
}

CUresult device_by_bus_id(CUdevice *device, const char *id) {
    if (device == NULL || id == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (strcmp(id, BUS_ID) != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult device_can_access_peer(int *can, CUdevice device, CUdevice peer) {
    if (can == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0 || peer != 0) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

/* There is no profiler to switch. */
CUresult profiler_switch(void) { return CUDA_SUCCESS; }
