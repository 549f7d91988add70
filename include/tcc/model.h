/* model.h: run a compiled model (model.so).
 *
 * A model.so exports one function, tcc_model_get_api, which gives a table of functions:
 *
 *     void *library = dlopen("./digits.so", RTLD_NOW);
 *     tcc_model_get_api_function *get =
 *         (tcc_model_get_api_function *)dlsym(library, TCC_MODEL_GET_API);
 *     const tcc_model_api *api = get(TCC_MODEL_API_VERSION);
 *     tcc_model *model;
 *     tcc_session *session;
 *     char message[256];
 *     api->open(NULL, &model, message, sizeof message);
 *     api->session_new(model, &session);
 *     api->run(session, inputs, input_count, outputs, output_count);
 *
 * A model is immutable and may be shared by any number of threads; a session serves one caller at a
 * time. Functions return a status; what there is to say about a failure is on the session
 * (session_message) or in the buffer that was passed; a message ends in a stable id in brackets:
 * "input \"x\": dim N is 9, not in 1..8 [dim-range]". A pointer that is NULL where it is not said
 * that it may be is TCC_INVALID; functions without a status do nothing then and return 0 or an
 * empty text. Nothing here exits, aborts or prints. The table of version v+1 begins with that of v.
 * Compiles as C99 and as C++.
 */
#ifndef TCC_MODEL_H
#define TCC_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TCC_API __attribute__((visibility("default")))
#else
#define TCC_API
#endif

#define TCC_MODEL_API_VERSION 2
#define TCC_MODEL_GET_API "tcc_model_get_api"

typedef enum tcc_status {
    TCC_OK = 0,
    TCC_INVALID = 1,     /* an argument or an input is wrong */
    TCC_ENVIRONMENT = 2, /* a file, a library or a device: could not */
    TCC_MEMORY = 3,      /* out of memory */
    TCC_INTERNAL = 4,    /* a bug in tcc */
    TCC_MISMATCH = 5,    /* a check failed */
    TCC_INDEX = 6,       /* an index of the data was out of range; the outputs are void */
    TCC_CANCELLED = 7    /* the host stopped it */
} tcc_status;

/* Element types. bool is a byte of 0 or 1; 4-bit values are packed, low nibble first, the last
 * nibble of an odd number of them being 0; the 8-bit floats are those of OCP; bf16 is the upper
 * half of an f32. */
typedef enum tcc_dtype {
    TCC_BOOL,
    TCC_I4,
    TCC_U4,
    TCC_I8,
    TCC_U8,
    TCC_I16,
    TCC_U16,
    TCC_I32,
    TCC_U32,
    TCC_I64,
    TCC_U64,
    TCC_F8E4M3,
    TCC_F8E5M2,
    TCC_F16,
    TCC_BF16,
    TCC_F32,
    TCC_F64
} tcc_dtype;

/* Where a tensor's memory is: the host's, or that of the GPU which the model runs on (allocated in
 * the device's primary context). Tensors there must be dense, and are used without a copy on the
 * host. */
typedef enum tcc_device { TCC_CPU = 0, TCC_CUDA = 1 } tcc_device;

enum { TCC_MAX_RANK = 8 };

/* A tensor in the caller's memory. Tensors are given as arrays, so that this struct never grows.
 * `strides` count elements; all zero means dense and row-major.
 * The data need be aligned for its dtype only. */
typedef struct tcc_tensor {
    uint32_t size; /* of this struct: sizeof(tcc_tensor) */
    int32_t device;
    int32_t dtype;
    uint32_t rank;
    void *data;           /* on the GPU: the device's address */
    uint64_t byte_offset; /* of the first element in data */
    int64_t dims[TCC_MAX_RANK];
    int64_t strides[TCC_MAX_RANK];
} tcc_tensor;

typedef struct tcc_model tcc_model;
typedef struct tcc_session tcc_session;
typedef struct tcc_stream tcc_stream;

/* An input or output of a model. A dim that is not fixed has dims[i] = -1 and lies in lo[i]..hi[i];
 * its name is dim_names[i] (an expression for outputs). */
typedef struct tcc_port {
    uint32_t size; /* of this struct */
    const char *name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[TCC_MAX_RANK];
    int64_t lo[TCC_MAX_RANK], hi[TCC_MAX_RANK];
    const char *dim_names[TCC_MAX_RANK]; /* NULL for fixed ones */
} tcc_port;

/* Runs body(data, i) for i in 0..count-1, concurrently or not, and returns when all are done. */
typedef void tcc_parallel_for(void *user, int32_t count, void (*body)(void *data, int32_t i),
                              void *data);

/* Where memory comes from. `allocate` gives `size` bytes, aligned to `alignment`, a power of two,
 * or NULL when there are none; `release` gets back what it gave, with the size that was asked for.
 * Both are called by any thread, at the same time too, and must be there until the last handle
 * that they made is gone. */
typedef struct tcc_allocator {
    uint32_t size; /* of this struct */
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} tcc_allocator;

typedef struct tcc_open_options {
    uint32_t size;                  /* of this struct */
    int32_t threads;                /* 0: one a core; 1: the caller's alone */
    tcc_parallel_for *parallel_for; /* the caller's threads instead of our own; NULL: our own */
    void *parallel_user;
    const tcc_allocator *allocator; /* of the model, its sessions and streams; NULL: malloc */
    /* Where it runs: "cpu" (NULL too); "cuda" or "cuda:1", an NVIDIA GPU; "emu" or "emu:sm_80", the
     * software GPU; "auto", the first GPU that can be used, else the CPU. A GPU runs what was
     * compiled for one, and where it cannot be used open fails and says why. */
    const char *device;
} tcc_open_options;

/* What the last run of a session used. */
typedef struct tcc_run_info {
    uint32_t size; /* of this struct */
    uint32_t bucket;
    uint64_t planned_bytes; /* the arena of the bucket, as planned at compile time */
    uint64_t arena_bytes;   /* the high-water mark of the arena in the run */
    uint64_t scratch_bytes; /* of each thread */
    uint32_t launches;
} tcc_run_info;

/* Calls work(data) once, on whatever thread, now or later; work that was submitted for one stream
 * is submitted anew only after it returned. */
typedef void tcc_submit(void *user, void (*work)(void *data), void *data);

typedef struct tcc_stream_options {
    uint32_t size;      /* of this struct */
    tcc_submit *submit; /* the caller's threads; NULL: a thread of the stream's own */
    void *submit_user;
    /* For models on a GPU, a stream of the caller's there, in the device's primary context (a
     * CUstream or cudaStream_t; CU_STREAM_LEGACY for the default one): what is enqueued goes behind
     * the work that is on it, and enqueue returns when it has been submitted. It must be there
     * until stream_free, which leaves it as it is. `submit` must be NULL then. NULL: none. */
    void *native;
} tcc_stream_options;

/* Called around each kernel of a session's runs, for profiles: `ns` is its time, `threads` how many
 * it ran on. */
typedef void tcc_profile_callback(void *user, const char *kernel, uint64_t ns, uint32_t threads);

typedef struct tcc_model_api {
    uint32_t version, size;

    /* Makes the model ready: checks the processor, maps the weights. `options` may be NULL. On
     * failure a text is written to `message` (may be NULL). Sessions keep their model alive; close
     * drops the caller's hold. */
    tcc_status (*open)(const tcc_open_options *options, tcc_model **out_model, char *message,
                       size_t message_size);
    void (*close)(tcc_model *model);

    /* The metadata as JSON (interface, dims, versions, targets, build id, kernels); lives as long
     * as the model. */
    const char *(*metadata)(const tcc_model *model, size_t *out_size);

    uint32_t (*input_count)(const tcc_model *model);
    uint32_t (*output_count)(const tcc_model *model);
    tcc_status (*input_port)(const tcc_model *model, uint32_t index, tcc_port *out_port);
    tcc_status (*output_port)(const tcc_model *model, uint32_t index, tcc_port *out_port);

    tcc_status (*session_new)(tcc_model *model, tcc_session **out_session);
    void (*session_free)(tcc_session *session);
    const char *(*session_message)(
        const tcc_session *session); /* of the last failure; never NULL */

    /* The dims that output `index` will have for inputs of these dims (their data is not read). */
    tcc_status (*output_dims)(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                              uint32_t index, int64_t *out_dims);

    /* Runs the model: reads the inputs, writes the outputs, all of the caller's memory. Returns
     * when done. Arrays of no tensors may be NULL. */
    tcc_status (*run)(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                      const tcc_tensor *outputs, uint32_t output_count);

    /* The same in two steps: enqueue may return before the work is done, sync waits for all that
     * was enqueued for the session. The tensors are copied, their memory must live until then.
     * `stream` says in which order with other work: a tcc_stream (below), on a GPU too, or NULL,
     * where enqueue does the work itself. enqueue tells of wrong arguments that can be seen at
     * once, sync of the first error of all else; what was enqueued behind that for the session is
     * left out, or, on a stream of the caller's (`native`), may have run: its outputs are void as
     * well. On such a stream inputs in the host's memory are read by enqueue, outputs there are
     * written by sync, and only tensors in the device's memory need no waiting between runs. Every
     * other call on a session with such work waits for it first, but for session_message, which is
     * to be asked after a sync. */
    tcc_status (*enqueue)(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                          const tcc_tensor *outputs, uint32_t output_count, void *stream);
    tcc_status (*sync)(tcc_session *session);

    tcc_status (*run_info)(const tcc_session *session, tcc_run_info *out_info);
    /* `callback` NULL: no more. */
    void (*profile)(tcc_session *session, tcc_profile_callback *callback, void *user);

    /* ---- from version 2 ---- */

    /* A stream: what is enqueued on it, by any threads, for sessions of any models, is done in that
     * order, one after the other, beside the callers. `options` may be NULL. A `native` stream is
     * for models on the GPU that `model` is on. */
    tcc_status (*stream_new)(tcc_model *model, const tcc_stream_options *options,
                             tcc_stream **out_stream);
    /* Waits for all that was enqueued on it (outputs in the host's memory of a `native` one are
     * brought by the sessions' sync); errors stay with their sessions. */
    tcc_status (*stream_sync)(tcc_stream *stream);
    /* The same, and frees it; NULL is allowed. */
    void (*stream_free)(tcc_stream *stream);
} tcc_model_api;

typedef const tcc_model_api *tcc_model_get_api_function(uint32_t version);

/* The one exported function of a model.so: the table of that version or a later one, which begins
 * with it, or NULL when `version` is not known to it. */
TCC_API const tcc_model_api *tcc_model_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
