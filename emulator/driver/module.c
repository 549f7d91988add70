/* Modules and libraries: PTX that was loaded, its functions and variables. */
#include "emulator/driver/driver.h"

#include "base/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options of the just-in-time compiler ---------------------------------------------------- */

typedef struct Log {
    char *text;
    size_t size;
    void **size_value; /* where its size was given, and the size used is told */
} Log;

typedef struct JitOptions {
    Log info, error;
    void **time; /* milliseconds, a float */
} JitOptions;

/* What compilers may be told about code is of no use here, but has to be a known option. */
static CUresult read_options(unsigned count, const CUjit_option *options, void **values,
                             JitOptions *out) {
    *out = (JitOptions){0};
    if (count > 0 && (options == NULL || values == NULL)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        Log *log = options[i] <= CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ? &out->info : &out->error;
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
        case CU_JIT_ERROR_LOG_BUFFER: log->text = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->size = (unsigned)(uintptr_t)values[i];
            log->size_value = &values[i];
            break;
        case CU_JIT_WALL_TIME: out->time = &values[i]; break;
        default:
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static void write_log(const Log *log, Str text) {
    size_t size = 0;
    if (log->text != NULL && log->size > 0) {
        size = text.size < log->size - 1 ? text.size : log->size - 1;
        if (size > 0) memcpy(log->text, text.data, size);
        log->text[size] = 0;
        size++;
    }
    if (log->size_value != NULL) *log->size_value = (void *)(uintptr_t)size;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void functions_free(Function *function) {
    while (function != NULL) {
        Function *next = function->next;
        object_free(function);
        function = next;
    }
}

/* First nobody finds its functions any more, then all is done that they are in, on any stream. */
static void module_free(Module *module) {
    functions_free(module->functions);
    module->functions = NULL;
    object_free(module);
    context_finish_all();
    if (module->machine != NULL) emu_module_free(module->machine);
    arena_free(module->arena);
}

static bool add_function(Module *module, const EmuFunction *machine) {
    Function *function = object_new(OBJECT_function, sizeof *function, module->object.context);
    if (function == NULL) return false;
    emu_function_info(machine, &function->info);
    function->module = module;
    function->machine = machine;
    function->name = str_terminated(module->arena, function->info.name);
    function->dynamic_shared_limit =
        driver_model()->shared_per_block - (int)function->info.static_shared;
    function->carveout = -1;
    function->next = module->functions;
    module->functions = function;
    return true;
}

/* Under a guard: out of memory leaves by a jump. */
static CUresult load_guarded(Module *module, const void *image, const JitOptions *options) {
    module->arena = arena_new(NULL);
    CUresult error;
    Str ptx = image_ptx(image, module->arena, &error);
    if (ptx.data == NULL) return error;
    ptx = str_copy(module->arena, ptx); /* the host may free its own */
    Str log = {NULL, 0};
    EmuStatus status = emu_module_load(driver.device, ptx, module->arena, &module->machine, &log);
    write_log(&options->info, STR(""));
    write_log(&options->error, status == EMU_OK ? STR("") : log);
    if (status != EMU_OK) {
        module->machine = NULL;
        return result_from_status(status);
    }
    for (int i = emu_module_function_count(module->machine); i-- > 0;)
        if (!add_function(module, emu_module_function_at(module->machine, i)))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

static CUresult load(Context *context, const void *image, const JitOptions *options,
                     Module **out_module) {
    if (image == NULL) return CUDA_ERROR_INVALID_VALUE;
    Module *module = object_new(OBJECT_module, sizeof *module, context);
    if (module == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    Guard guard;
    CUresult result;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0)
        result = load_guarded(module, image, options);
    else if (guard.kind == GUARD_memory)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else {
        report_line("could not load a module: %s", guard.message);
        result = CUDA_ERROR_UNKNOWN;
    }
    guard_leave(&guard);
    if (result != CUDA_SUCCESS)
        module_free(module);
    else
        *out_module = module;
    return result;
}

CUresult module_load_options(CUmodule *module, const void *image, unsigned count,
                             CUjit_option *options, void **values) {
    JitOptions jit;
    if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = read_options(count, options, values, &jit);
    return result == CUDA_SUCCESS ? load(context_current_any(), image, &jit, module) : result;
}

CUresult module_load_data(CUmodule *module, const void *image) {
    return module_load_options(module, image, 0, NULL, NULL);
}

/* The whole file with a zero behind it; NULL when it cannot be read. The caller frees it. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    char *bytes = NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)size + 1);
    if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes != NULL) bytes[size] = 0;
    fclose(file);
    return bytes;
}

CUresult module_load(CUmodule *module, const char *path) {
    if (module == NULL || path == NULL) return CUDA_ERROR_INVALID_VALUE;
    char *image = read_file(path);
    if (image == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = module_load_data(module, image);
    free(image);
    return result;
}

CUresult module_unload(CUmodule module) {
    if (!object_is(module, OBJECT_module) || module->library != NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    module_free(module);
    return CUDA_SUCCESS;
}

/* ---- what is in a module --------------------------------------------------------------------- */

static Function *find_function(const Module *module, const char *name) {
    Function *function = module->functions;
    while (function != NULL && strcmp(function->name, name) != 0) function = function->next;
    return function;
}

static unsigned count_functions(const Module *module) {
    unsigned count = 0;
    for (const Function *f = module->functions; f != NULL; f = f->next) count++;
    return count;
}

CUresult module_function(CUfunction *function, CUmodule module, const char *name) {
    if (function == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(module, OBJECT_module)) return CUDA_ERROR_INVALID_HANDLE;
    Function *found = find_function(module, name);
    if (found == NULL) return CUDA_ERROR_NOT_FOUND;
    *function = found;
    return CUDA_SUCCESS;
}

CUresult module_global(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
    if (name == NULL || (address == NULL && size == NULL)) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(module, OBJECT_module)) return CUDA_ERROR_INVALID_HANDLE;
    uint64_t at, bytes;
    if (!emu_module_variable(module->machine, str_from(name), &at, &bytes))
        return CUDA_ERROR_NOT_FOUND;
    if (address != NULL) *address = at;
    if (size != NULL) *size = (size_t)bytes;
    return CUDA_SUCCESS;
}

CUresult module_function_count(unsigned *count, CUmodule module) {
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(module, OBJECT_module)) return CUDA_ERROR_INVALID_HANDLE;
    *count = count_functions(module);
    return CUDA_SUCCESS;
}

CUresult module_functions(CUfunction *functions, unsigned count, CUmodule module) {
    if (functions == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(module, OBJECT_module)) return CUDA_ERROR_INVALID_HANDLE;
    Function *function = module->functions;
    for (unsigned i = 0; i < count && function != NULL; i++, function = function->next)
        functions[i] = function;
    return CUDA_SUCCESS;
}

CUresult module_loading_mode(CUmoduleLoadingMode *mode) {
    if (mode == NULL) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---- libraries: modules that belong to no context -------------------------------------------- */

struct Kernel {
    Object object;
    Library *library;
    Function *function;
    Kernel *next;
};

struct Library {
    Object object;
    Module *module;
    Kernel *kernels;
};

static void library_free(Library *library) {
    while (library->kernels != NULL) {
        Kernel *kernel = library->kernels;
        library->kernels = kernel->next;
        object_free(kernel);
    }
    object_free(library);
    if (library->module != NULL) module_free(library->module);
}

static bool add_kernels(Library *library) {
    for (Function *f = library->module->functions; f != NULL; f = f->next) {
        Kernel *kernel = object_new(OBJECT_kernel, sizeof *kernel, NULL);
        if (kernel == NULL) return false;
        kernel->library = library;
        kernel->function = f;
        kernel->next = library->kernels;
        library->kernels = kernel;
    }
    return true;
}

CUresult library_load_data(CUlibrary *library, const void *image, CUjit_option *options,
                           void **values, unsigned count, int *library_options,
                           void **library_values, unsigned library_count) {
    (void)library_options; /* how the host keeps the image, which is copied anyway */
    (void)library_values;
    (void)library_count;
    JitOptions jit;
    if (library == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = read_options(count, options, values, &jit);
    if (result != CUDA_SUCCESS) return result;
    Library *made = object_new(OBJECT_library, sizeof *made, NULL);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    result = load(NULL, image, &jit, &made->module);
    if (result == CUDA_SUCCESS) made->module->library = made;
    if (result == CUDA_SUCCESS && !add_kernels(made)) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        *library = made;
    else
        library_free(made);
    return result;
}

CUresult library_load_file(CUlibrary *library, const char *path, CUjit_option *options,
                           void **values, unsigned count, int *library_options,
                           void **library_values, unsigned library_count) {
    if (library == NULL || path == NULL) return CUDA_ERROR_INVALID_VALUE;
    char *image = read_file(path);
    if (image == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = library_load_data(library, image, options, values, count, library_options,
                                        library_values, library_count);
    free(image);
    return result;
}

CUresult library_unload(CUlibrary library) {
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    library_free(library);
    return CUDA_SUCCESS;
}

CUresult library_kernel(CUkernel *kernel, CUlibrary library, const char *name) {
    if (kernel == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    Kernel *found = library->kernels;
    while (found != NULL && strcmp(found->function->name, name) != 0) found = found->next;
    if (found == NULL) return CUDA_ERROR_NOT_FOUND;
    *kernel = found;
    return CUDA_SUCCESS;
}

CUresult library_kernel_count(unsigned *count, CUlibrary library) {
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    *count = count_functions(library->module);
    return CUDA_SUCCESS;
}

CUresult library_kernels(CUkernel *kernels, unsigned count, CUlibrary library) {
    if (kernels == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    Kernel *kernel = library->kernels;
    for (unsigned i = 0; i < count && kernel != NULL; i++, kernel = kernel->next)
        kernels[i] = kernel;
    return CUDA_SUCCESS;
}

CUresult library_module(CUmodule *module, CUlibrary library) {
    if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    *module = library->module;
    return CUDA_SUCCESS;
}

CUresult library_global(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name) {
    if (!object_is(library, OBJECT_library)) return CUDA_ERROR_INVALID_HANDLE;
    return module_global(address, size, library->module, name);
}

Function *function_from_handle(const void *handle) {
    if (object_is(handle, OBJECT_function)) return (Function *)(uintptr_t)handle;
    if (object_is(handle, OBJECT_kernel)) return ((const Kernel *)handle)->function;
    return NULL;
}

CUresult kernel_function(CUfunction *function, CUkernel kernel) {
    if (function == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(kernel, OBJECT_kernel)) return CUDA_ERROR_INVALID_HANDLE;
    *function = kernel->function;
    return CUDA_SUCCESS;
}

CUresult kernel_library(CUlibrary *library, CUkernel kernel) {
    if (library == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!object_is(kernel, OBJECT_kernel)) return CUDA_ERROR_INVALID_HANDLE;
    *library = kernel->library;
    return CUDA_SUCCESS;
}
