// The software device with another compiler in it: TCC_SPOIL=FROM=TO replaces words of every module
// that is loaded, the first time that they occur, and the rest is libtcc-emu.so. So tests have
// kernels that the driver refuses, and kernels that compute something else. TCC_CUDA_LIBRARY names
// it; functions that it lacks are found in the library that it is linked with.
#include "emulator/driver/cuda_types.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef CUresult Load(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                      void **values);

// The text with `from` replaced by `to`; NULL when it is not there. The caller frees it.
static char *spoil(const char *text, const char *from, size_t from_size, const char *to) {
    const char *at = text;
    while (*at != 0 && strncmp(at, from, from_size) != 0) at++;
    char *copy = *at != 0 ? malloc(strlen(text) + strlen(to) + 1) : NULL;
    if (copy == NULL) return NULL;
    memcpy(copy, text, (size_t)(at - text));
    strcpy(copy + (at - text), to);
    strcat(copy, at + from_size);
    return copy;
}

__attribute__((visibility("default"))) CUresult
cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                   void **values) {
    const char *words = getenv("TCC_SPOIL");
    const char *equals = words != NULL ? strchr(words, '=') : NULL;
    char *text = equals != NULL ? spoil(image, words, (size_t)(equals - words), equals + 1) : NULL;
    void *address = dlsym(RTLD_NEXT, "cuModuleLoadDataEx");
    Load *load;
    memcpy(&load, &address, sizeof load);
    CUresult result = load(module, text != NULL ? text : image, count, options, values);
    free(text);
    return result;
}
