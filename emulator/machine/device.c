/* Devices: the models, and one device of a model. */
#include "emulator/machine/device.h"

#include <stdlib.h>

const EmuModel emu_models[] = {
#define MODEL(model_name, model_key, x, y, specific, sms, gib, l2_mib, clock, memory_clock, bus,   \
              threads, sm_threads, sm_blocks, block_registers, sm_registers, shared, optin,        \
              sm_shared, reserved, cluster)                                                        \
    {.name = model_name,                                                                           \
     .key = model_key,                                                                             \
     .major = x,                                                                                   \
     .minor = y,                                                                                   \
     .arch_specific = specific,                                                                    \
     .multiprocessors = sms,                                                                       \
     .memory = (uint64_t)(gib) << 30,                                                              \
     .l2 = (uint64_t)(l2_mib) << 20,                                                               \
     .clock_khz = clock,                                                                           \
     .memory_clock_khz = memory_clock,                                                             \
     .memory_bus_bits = bus,                                                                       \
     .max_threads_per_block = threads,                                                             \
     .max_threads_per_multiprocessor = sm_threads,                                                 \
     .max_blocks_per_multiprocessor = sm_blocks,                                                   \
     .registers_per_block = block_registers,                                                       \
     .registers_per_multiprocessor = sm_registers,                                                 \
     .shared_per_block = shared,                                                                   \
     .shared_per_block_optin = optin,                                                              \
     .shared_per_multiprocessor = sm_shared,                                                       \
     .shared_reserved = reserved,                                                                  \
     .max_cluster = cluster},
#include "emulator/machine/devices.def"
#undef MODEL
};
const int emu_model_count = sizeof emu_models / sizeof *emu_models;

EmuDevice *emu_device_new(const EmuModel *model) {
    EmuDevice *device = calloc(1, sizeof *device);
    if (!device) return NULL;
    device->model = model;
    device->memory = emu_memory_new(model->memory);
    if (device->memory) return device;
    free(device);
    return NULL;
}

void emu_device_free(EmuDevice *device) {
    if (!device) return;
    emu_memory_free(device->memory);
    free(device);
}

const EmuModel *emu_device_model(const EmuDevice *device) { return device->model; }

EmuMemory *emu_device_memory(EmuDevice *device) { return device->memory; }

static uint32_t fit(uint32_t limit, uint32_t has, uint32_t needs) {
    uint32_t count = needs ? has / needs : limit;
    return count < limit ? count : limit;
}

uint32_t device_resident(const EmuModel *model, uint32_t threads, uint32_t shared,
                         uint32_t registers) {
    uint32_t warps = (threads + EMU_LANES - 1) / EMU_LANES;
    uint32_t most = (uint32_t)model->registers_per_multiprocessor / (warps * EMU_LANES);
    if (registers > most) registers = most; /* a compiler would spill what does not fit */
    uint32_t count = (uint32_t)model->max_blocks_per_multiprocessor;
    count = fit(count, (uint32_t)model->max_threads_per_multiprocessor, warps * EMU_LANES);
    count = fit(count, (uint32_t)model->shared_per_multiprocessor,
                shared + (uint32_t)model->shared_reserved);
    return fit(count, (uint32_t)model->registers_per_multiprocessor, warps * EMU_LANES * registers);
}
