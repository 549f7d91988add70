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

static inline uint64_t library_none(void) { return 0; }

static inline bool library_find(void *out_pointer, const char *name) {
    void *address = dlsym(cuda_library, name);
    memcpy(out_pointer, &address, sizeof address);
    return address != NULL;
}

static inline bool library_load(const char *path) {
    cuda_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (cuda_library == NULL) printf("%s\n", dlerror());
    return cuda_library != NULL;
}

// The functions of the table, and those of emu.h; false when one is missing, which is told.
static inline bool library_find_all(void) {
    bool good = true;
#define FIND(name)                                                                                 \
    if (!library_find(&cuda.name, #name)) good = false, printf("%s: not exported\n", #name)
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments) FIND(symbol);
#include "emulator/driver/functions.def"
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

static inline bool library_open(void) { return library_load(library_path()) && library_find_all(); }

// Any driver, which may be older than the table and has nothing of emu.h: it finds no faults and
// does not tell what memory is in use.
static inline bool library_open_driver(const char *path) {
    if (!library_load(path)) return false;
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    library_find(&cuda.symbol, #symbol);
#include "emulator/driver/functions.def"
    if (!library_find(&cuda.emuFindingCount, "emuFindingCount"))
        cuda.emuFindingCount = library_none;
    if (!library_find(&cuda.emuMemoryBlocks, "emuMemoryBlocks"))
        cuda.emuMemoryBlocks = library_none;
    return true;
}

#endif
