/* NVIDIA GPUs through the CUDA driver, which is found when a model is opened for one.
 *
 * A model on a GPU has the driver's functions, the device's primary context (so that hosts may use
 * the same memory), its module and its weights there (cuda_model.c). Each session has a stream, its
 * buffers and pinned memory through which tensors come and go (cuda_session.h). The same run again
 * is launched as one CUDA graph.
 *
 * Every call leaves the thread's current context as it was. When the device is lost, sessions say
 * so in every run, and other models go on. */
#ifndef TCC_RUNTIME_CUDA_H
#define TCC_RUNTIME_CUDA_H

#include "runtime/session_internal.h"

typedef struct CudaFunctions {
#define SYMBOL(name, symbol, words, parameters) int(*name) parameters;
#include "runtime/cuda_symbols.def"
} CudaFunctions;

typedef struct Cuda {
    CudaFunctions f;
    void *library;
    int device;
    bool retained;
    void *context, *module;
    void **functions; /* by kernel; those of one variant's */
    uint32_t function_count;
    uint64_t weights;
    int multiprocessors;
    char name[128];
} Cuda;

/* The first call that failed, and how. */
typedef struct CudaError {
    int result;
    const char *call;
    const char *kernel; /* that calls were about last; NULL: none */
} CudaError;

/* Whether the call was good; else it is remembered, unless one is already. */
static inline bool cuda_good(CudaError *error, const char *call, int result) {
    if (result != 0 && error->result == 0) {
        error->result = result;
        error->call = call;
    }
    return result == 0;
}

#define CUDA_TRY(error, cuda, function, ...)                                                       \
    cuda_good((error), #function, (cuda)->f.function(__VA_ARGS__))

/* "could not get device memory: out of memory (CUDA_ERROR_OUT_OF_MEMORY)", terminated, and its
 * status. */
tcc_status cuda_describe(const Cuda *cuda, const CudaError *error, char *text, size_t size);

/* cuda_library.c: loads the driver that `device` asks for ("cuda", "cuda:1", "emu", "emu:sm_80")
 * and initialises it; TCC_OK, or why not in `text`. The library stays loaded. */
tcc_status cuda_load(Cuda *cuda, const char *device, char *text, size_t size);

/* cuda_model.c: makes the model one on that device; the model's artefact must have PTX. */
tcc_status cuda_model_begin(tcc_model *model, const char *device, char *text, size_t size);
void cuda_model_end(tcc_model *model);

/* cuda_run.c: waits for all that is on a stream of the host's. */
tcc_status cuda_stream_sync(const Cuda *cuda, void *stream);

/* cuda_session.c */
extern const DeviceTable cuda_device;

#endif
