/* A model in memory: the artefact, made ready. */
#ifndef TCC_RUNTIME_MODEL_H
#define TCC_RUNTIME_MODEL_H

#include "runtime/image.h"
#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/session.h"
#include "runtime/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <tcc/model.h>

/* What differs between devices: where a session's memory is and how it runs. */
typedef struct DeviceTable {
    /* What the device needs for a new session; ends itself when it fails. */
    tcc_status (*session_begin)(tcc_session *session);
    void (*session_end)(tcc_session *session);
    /* Memory for the dims that were bound, and all that follows from them. */
    tcc_status (*reserve)(tcc_session *session);
    tcc_status (*run)(tcc_session *session, const tcc_tensor *inputs, const tcc_tensor *outputs);
    /* A run on a stream of the device's own (tcc_stream_options.native), and waiting for it; NULL
     * where there are none. */
    tcc_status (*enqueue)(tcc_session *session, const tcc_tensor *inputs, const tcc_tensor *outputs,
                          void *stream);
    void (*settle)(tcc_session *session);
} DeviceTable;

struct tcc_model {
    TccArtefact artefact;
    Memory memory;    /* of the model, its sessions and streams */
    atomic_int holds; /* the opener's and each session's and stream's */
    uint32_t variant;
    const DeviceTable *device;
    struct Cuda *cuda; /* NULL on the CPU */
    Pool *pool;        /* NULL when the caller has its own threads */
    tcc_parallel_for *parallel_for;
    void *parallel_user;
    int32_t threads;
};

/* The records of a table of the image. */
static inline const void *image_at(const TccImage *image, TccTable table) {
    return (const char *)image + table.offset;
}

static inline const char *image_string(const TccImage *image, uint32_t offset) {
    return (const char *)image + offset;
}

/* How many kernels each variant has. */
static inline uint32_t image_kernel_count(const TccImage *image) {
    return image->kernels.count / image->variants.count;
}

/* What tcc_model_api.open does, for the artefact that is given; it must outlive the model, unless
 * it has an owner, which the model then holds. `allocator` serves where the options name none;
 * NULL: malloc. */
tcc_status model_open(const TccArtefact *artefact, const tcc_open_options *options,
                      const tcc_allocator *allocator, tcc_model **out_model, char *message,
                      size_t message_size);
void model_hold(tcc_model *model);
void model_release(tcc_model *model);

const char *model_metadata(const tcc_model *model, size_t *out_size);
uint32_t model_input_count(const tcc_model *model);
uint32_t model_output_count(const tcc_model *model);
tcc_status model_input_port(const tcc_model *model, uint32_t index, tcc_port *out_port);
tcc_status model_output_port(const tcc_model *model, uint32_t index, tcc_port *out_port);

/* The members of the API table that do not depend on the artefact. */
#define MODEL_API_COMMON                                                                           \
    .version = TCC_MODEL_API_VERSION, .size = sizeof(tcc_model_api), .close = model_release,       \
    .metadata = model_metadata, .input_count = model_input_count,                                  \
    .output_count = model_output_count, .input_port = model_input_port,                            \
    .output_port = model_output_port, .session_new = session_new, .session_free = session_free,    \
    .session_message = session_message, .output_dims = session_output_dims, .run = session_run,    \
    .enqueue = session_enqueue, .sync = session_sync, .run_info = session_run_info,                \
    .profile = session_profile, .stream_new = stream_new, .stream_sync = stream_sync,              \
    .stream_free = stream_free

#endif
