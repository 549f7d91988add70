/* Finding the CUDA driver: libcuda.so.1, the software device beside this code, or the library that
 * TCC_CUDA_LIBRARY names. */
#include "runtime/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 2 };

static const char EMULATOR[] = "libtcc-emu.so";

/* ---- errors ---------------------------------------------------------------------------------- */

tcc_status cuda_describe(const Cuda *cuda, const CudaError *error, char *text, size_t size) {
    static const struct {
        const char *call, *words;
    } calls[] = {
#define SYMBOL(name, symbol, words, parameters) {#name, words},
#include "runtime/cuda_symbols.def"
    };
    const char *words = "", *name = NULL, *string = NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].call, error->call) == 0) words = calls[i].words;
    const char *last = strrchr(words, ' ');
    bool kernel = error->kernel != NULL && last != NULL && strcmp(last, " kernel") == 0;
    cuda->f.error_name(error->result, &name);
    cuda->f.error_string(error->result, &string);
    snprintf(text, size, "%s: could not %s%s%s: %s (%s)", cuda->name, words, kernel ? " " : "",
             kernel ? error->kernel : "", string != NULL ? string : "unknown error",
             name != NULL ? name : "?");
    return error->result == OUT_OF_MEMORY ? TCC_MEMORY : TCC_ENVIRONMENT;
}

/* ---- the library ----------------------------------------------------------------------------- */

/* `folder` is cut behind its last slash; false when it has none. */
static bool cut_file(char *folder) {
    char *slash = strrchr(folder, '/');
    if (slash == NULL) return false;
    slash[1] = 0;
    return true;
}

static void *open_in(const char *folder, const char *below) {
    char path[4096 + 64];
    snprintf(path, sizeof path, "%s%s%s", folder, below, EMULATOR);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Beside the file that this code is in, or where the program's libraries are, or by its name. */
static void *open_emulator(void) {
    static const char *const places[] = {"", "../lib/", "../lib/x86_64-linux-gnu/", "../lib64/"};
    char folder[4096] = "";
    void *library = NULL;
    Dl_info self;
    if (dladdr((void *)(uintptr_t)open_emulator, &self) != 0 && self.dli_fname != NULL) {
        snprintf(folder, sizeof folder, "%s", self.dli_fname);
        if (cut_file(folder)) library = open_in(folder, "");
    }
    ssize_t size = library == NULL ? readlink("/proc/self/exe", folder, sizeof folder - 1) : -1;
    if (size > 0) folder[size] = 0;
    if (size > 0 && cut_file(folder))
        for (size_t i = 0; i < sizeof places / sizeof *places && library == NULL; i++)
            library = open_in(folder, places[i]);
    return library != NULL ? library : dlopen(EMULATOR, RTLD_NOW | RTLD_LOCAL);
}

static bool find_functions(Cuda *cuda, const char **out_missing) {
    static const struct {
        const char *symbol;
        size_t offset;
    } rows[] = {
#define SYMBOL(name, symbol, words, parameters) {symbol, offsetof(CudaFunctions, name)},
#include "runtime/cuda_symbols.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *address = dlsym(cuda->library, rows[i].symbol);
        *out_missing = rows[i].symbol;
        if (address == NULL) return false;
        memcpy((char *)&cuda->f + rows[i].offset, &address, sizeof address);
    }
    return true;
}

/* "emu:sm_80" names the model, which the library can be told before it is initialised. */
static bool choose_model(const Cuda *cuda, const char *key) {
    int (*choose)(const char *);
    void *address = dlsym(cuda->library, "emuChooseDevice");
    if (address == NULL) return false;
    memcpy(&choose, &address, sizeof choose);
    return choose(key) == 0;
}

tcc_status cuda_load(Cuda *cuda, const char *device, char *text, size_t size) {
    bool emulator = strncmp(device, "emu", 3) == 0;
    const char *name = getenv("TCC_CUDA_LIBRARY"), *missing = NULL;
    const char *part = strchr(device, ':');
    bool named = !emulator && name != NULL && *name != 0;
    snprintf(cuda->name, sizeof cuda->name, "%s", device);
    if (!named) name = emulator ? EMULATOR : "libcuda.so.1";
    cuda->library = emulator && !named ? open_emulator() : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (cuda->library == NULL) {
        const char *why = dlerror();
        snprintf(text, size, "device %s: could not load %s: %s", device, name,
                 why != NULL ? why : "out of memory");
        return TCC_ENVIRONMENT;
    }
    if (!find_functions(cuda, &missing)) {
        snprintf(text, size, "device %s: %s has no function %s", device, name, missing);
        return TCC_ENVIRONMENT;
    }
    if (emulator && part != NULL && !choose_model(cuda, part + 1)) {
        snprintf(text, size, "device %s: %s has no such device, or is one already", device, name);
        return TCC_INVALID;
    }
    CudaError error = {0};
    return CUDA_TRY(&error, cuda, init, 0) ? TCC_OK : cuda_describe(cuda, &error, text, size);
}
