/* What the parts of the machine know of devices, modules and functions. */
#ifndef TCC_EMULATOR_MACHINE_DEVICE_H
#define TCC_EMULATOR_MACHINE_DEVICE_H

#include "emulator/machine/execute.h"

struct EmuDevice {
    const EmuModel *model;
    EmuMemory *memory;
    atomic_ullong next_grid;
};

struct EmuFunction {
    const EmuModule *module;
    const Program *program;
    EmuFunctionInfo info;
};

/* CTAs of a launch that one multiprocessor holds at a time; 0: not even one. */
uint32_t device_resident(const EmuModel *model, uint32_t threads, uint32_t shared,
                         uint32_t registers);

#endif
