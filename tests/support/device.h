// The GPU that tests of models run on: what TCC_TEST_DEVICE names, which tests/run --device=NAME
// sets, else the software GPU.
#ifndef TCC_TESTS_SUPPORT_DEVICE_H
#define TCC_TESTS_SUPPORT_DEVICE_H

#include <stdlib.h>
#include <string.h>

#ifndef TCC_EMU_BUILT
#define TCC_EMU_BUILT "libtcc-emu.so"
#endif

static inline const char *test_device(void) {
    const char *name = getenv("TCC_TEST_DEVICE");
    return name != NULL && *name != 0 ? name : "emu";
}

// The path of that device's driver.
static inline const char *test_driver(void) {
    const char *library = getenv("TCC_CUDA_LIBRARY");
    if (strncmp(test_device(), "emu", 3) == 0) return TCC_EMU_BUILT;
    return library != NULL && *library != 0 ? library : "libcuda.so.1";
}

#endif
