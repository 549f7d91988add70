/* What the files of the session share: its state. session.c makes sessions and holds the API,
 * session_dims.c binds dims and finds what follows from them, session_tensors.c takes the caller's
 * tensors in, session_launch.c runs kernels, session_queue.c has runs done by streams. */
#ifndef TCC_RUNTIME_SESSION_INTERNAL_H
#define TCC_RUNTIME_SESSION_INTERNAL_H

#include "runtime/model.h"

#include <pthread.h>

enum { MESSAGE_SIZE = 512, ALIGNMENT = 64, PAGE = 4096 };

/* Memory that grows and never shrinks. */
typedef struct Block {
    char *data;
    size_t size;
} Block;

/* What one thread has of a launch, in a cache line of its own. */
typedef struct SessionShare {
    _Alignas(MEMORY_LINE) _Atomic int64_t taken; /* of its points */
    int64_t begin, end;
} SessionShare;

typedef struct CudaSession CudaSession;

struct tcc_session {
    tcc_model *model;
    CudaSession *cuda; /* NULL on the CPU */
    char message[MESSAGE_SIZE];
    atomic_uint queued; /* runs on a stream; while there are some, all here is the stream's */
    pthread_mutex_t lock;
    pthread_cond_t idle; /* `queued` went to 0 */
    tcc_stream *stream;  /* that has them */
    void *tables;        /* where the arrays below lie */
    size_t tables_size;
    int64_t *dims; /* by slot */
    bool bound;    /* what follows is that of `dims` */
    uint32_t bucket;
    int64_t *points;       /* by launch */
    SessionShare *shares;  /* by thread */
    const void *weights;   /* of the last launch of some size */
    bool backward;         /* whether it went through its points from the end */
    double shared_ns;      /* the least time of a run's launches that threads can share */
    double close_ns;       /* the same of this run and those that it followed closely */
    uint64_t last_end;     /* when the last run ended */
    int64_t *buffer_bytes; /* by buffer */
    size_t scratch_bytes;  /* the greatest of all launches */
    uint64_t arena_high;   /* as far as the arena has been handed out in this run */
    Block arena, scratch;  /* scratch: one of scratch_stride bytes a thread */
    size_t scratch_stride;
    Block *staged;      /* by port: inputs, then outputs */
    void **buffers;     /* the address of each buffer */
    void **arguments;   /* the same by launch buffer table */
    tcc_status pending; /* what sync will say */
    tcc_profile_callback *profile;
    void *profile_user;
};

/* Sets the session's message, words and "[id]" (messages.h); returns `status`. */
tcc_status session_fail(tcc_session *s, tcc_status status, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* At least `size` bytes, aligned; the contents are not kept. */
bool block_reserve(const tcc_session *s, Block *block, size_t size);

/* session_queue.c: waits until no stream has runs of the session. */
void session_settle(tcc_session *s);

/* session.c: a run, now. */
tcc_status session_run_now(tcc_session *s, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count);

/* session_dims.c: checks the inputs' shapes, and with `data` that they have some, binds the dims,
 * and evaluates all that follows from them. */
tcc_status session_bind_inputs(tcc_session *s, const tcc_tensor *inputs, uint32_t count, bool data);
tcc_status session_check_outputs(tcc_session *s, const tcc_tensor *outputs, uint32_t count);
bool session_evaluate(const tcc_session *s, TccExpr expr, int64_t *out_value);
/* The record of a kernel of the variant in use. */
const TccKernelInfo *session_kernel(const tcc_session *s, uint32_t kernel);

/* session_dims.c: memory on the CPU for the dims that were bound. */
tcc_status session_reserve(tcc_session *s);

/* session_tensors.c: the address of every buffer, staging what kernels cannot use as it is; after
 * the run the staged outputs are copied back. */
tcc_status session_point_buffers(tcc_session *s, const tcc_tensor *inputs,
                                 const tcc_tensor *outputs);
void session_unstage_outputs(tcc_session *s, const tcc_tensor *outputs);

/* session.c: the CPU. */
extern const DeviceTable cpu_device;

/* session_launch.c: says which index of the kernel was wrong. */
tcc_status session_say_index(tcc_session *s, const TccKernelInfo *kernel,
                             const TccErrorWord *error);

/* session_launch.c: runs one launch; what is done before all of them and behind; the least time on
 * one thread of those that threads can share, for the dims that were bound. */
tcc_status session_launch(tcc_session *s, uint32_t number);
void session_begin_launches(tcc_session *s);
void session_end_launches(tcc_session *s);
double session_shared_ns(const tcc_session *s);

#endif
