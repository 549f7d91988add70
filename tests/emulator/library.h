// The software device's library, as programs have it: opened by its path, its functions by name.
#ifndef TCC_TESTS_EMULATOR_LIBRARY_H
#define TCC_TESTS_EMULATOR_LIBRARY_H

#include "emulator/driver/cuda_types.h"
#include "emulator/driver/emu.h"
#include "tests/unit/test.h"

#include <dlfcn.h>

typedef struct Cuda {
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    CUresult(*symbol) parameters;
#include "emulator/driver/functions.def"
    uint64_t (*emuFindingCount)(void);
    int (*emuFindingGet)(uint64_t index, emu_finding *out_finding);
    void (*emuGetCounters)(emu_counters *out_counters);
    void (*emuClear)(void);
    int (*emuFail)(const char *failure);
    long (*emuCalls)(void);
    long (*emuFailures)(void);
    uint64_t (*emuHandles)(void);
    uint64_t (*emuMemoryBlocks)(void);
    uint64_t (*emuMemoryBytes)(void);
} Cuda;

static Cuda cuda;
static void *cuda_library;

#ifndef TCC_EMU_BUILT
#define TCC_EMU_BUILT "libtcc-emu.so"
#endif

// The library that was built, or the one that TCC_EMU_LIBRARY names.
static inline const char *library_path(void) {
    const char *path = getenv("TCC_EMU_LIBRARY");
    return path != NULL ? path : TCC_EMU_BUILT;
}

static inline bool library_find(void *out_pointer, const char *name) {
    void *address = dlsym(cuda_library, name);
    memcpy(out_pointer, &address, sizeof address);
    if (address == NULL) printf("%s: not exported\n", name);
    return address != NULL;
}

static inline bool library_open(void) {
    cuda_library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
    if (cuda_library == NULL) {
        printf("%s\n", dlerror());
        return false;
    }
    bool good = true;
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    good = library_find(&cuda.symbol, #symbol) && good;
#include "emulator/driver/functions.def"
#define FIND(name) good = library_find(&cuda.name, #name) && good
    FIND(emuFindingCount);
    FIND(emuFindingGet);
    FIND(emuGetCounters);
    FIND(emuClear);
    FIND(emuFail);
    FIND(emuCalls);
    FIND(emuFailures);
    FIND(emuHandles);
    FIND(emuMemoryBlocks);
    FIND(emuMemoryBytes);
#undef FIND
    return good;
}

#endif
