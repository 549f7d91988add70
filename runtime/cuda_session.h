/* What the files of a session on a GPU share. cuda_session.c makes it and reserves its memory,
 * cuda_tensors.c says where the caller's tensors are used, cuda_run.c does the work between.
 *
 * Tensors in the host's memory come and go through one block of pinned memory; those in the
 * device's are used where they lie, or are copied there (staged) when kernels cannot: outputs that
 * share memory with another tensor, what is not aligned, outputs of 4-bit elements. The places of
 * all depend on the dims and on which tensors are where. So a run with the dims and the device
 * addresses of the one before is the same work on the same addresses, and is recorded as a CUDA
 * graph.
 *
 *     device   | host in | staged in | staged out | host out | error words |   parts, aligned
 *     pinned   | host in |                        | host out | error words |   the same places
 *     arena, scratch                                   by the plan; per block of a launch
 *
 * A run that was put on the caller's stream is *in flight* until somebody waits for the event
 * behind it (cuda_settle). Another that is put on a stream need not wait on the host, unless memory
 * that the host reads or writes is in use.
 */
#ifndef TCC_RUNTIME_CUDA_SESSION_H
#define TCC_RUNTIME_CUDA_SESSION_H

#include "runtime/cuda.h"

typedef struct CudaBlock {
    uint64_t address, size;
} CudaBlock;

/* Where a run uses a tensor. */
typedef enum CudaPlace { PLACE_host, PLACE_staged, PLACE_direct } CudaPlace;

struct CudaSession {
    void *stream;      /* our own */
    void *begin, *end; /* the events around a kernel, for profiles */
    void *done;        /* the event behind the last run that was put on a stream */
    void *on;          /* the stream of the last run */
    bool in_flight;    /* it has not been waited for */
    bool has_later;    /* it has outputs in the host's memory, */
    tcc_tensor *later; /* which are these */
    CudaBlock io, arena, scratch;
    void *pinned;
    size_t pinned_size;
    bool placed;       /* what follows is that of the last run's tensors */
    bool is_stale;     /* the error words and 4-bit memory must be cleared */
    uint64_t *given;   /* by buffer: the caller's address on the device; 0: in the host's memory */
    uint64_t *place;   /* by buffer: a CudaPlace, of inputs and outputs */
    uint64_t *part;    /* by buffer: its place in io and pinned, where it has one */
    uint64_t *buffers; /* by buffer: its device address in the kernels */
    int64_t *points;   /* by launch */
    uint32_t *blocks;  /* likewise */
    uint64_t *arguments; /* room for those of one launch */
    uint64_t host_in_end, host_out_begin;
    uint64_t errors; /* the place of the error words */
    uint64_t io_bytes;
    void *tables;
    size_t tables_size;
    void *exec;    /* the recorded run; NULL: none yet */
    uint32_t runs; /* with these dims and addresses */
};

/* Says what the driver could not do, on the session. */
tcc_status cuda_session_fail(tcc_session *s, const CudaError *error);

/* Drops the recorded run. */
void cuda_forget_run(const Cuda *cuda, CudaSession *c);

/* At least `size` bytes of device memory; the contents are not kept. */
bool cuda_reserve_block(const Cuda *cuda, CudaBlock *block, uint64_t size, CudaError *error);
bool cuda_reserve_pinned(const Cuda *cuda, CudaSession *c, uint64_t size, CudaError *error);

/* cuda_run.c: a run from beginning to end. */
tcc_status cuda_run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs);
/* A run on the caller's stream; it may not be done yet. */
tcc_status cuda_enqueue(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs,
                        void *stream);
/* Waits for what is in flight, and brings its outputs to the host; what was wrong with it is kept
 * for sync. */
void cuda_settle(tcc_session *s);
/* The same in the device's context. */
void cuda_finish(tcc_session *s);

/* cuda_tensors.c: where a run uses its tensors, and memory for those that are copied. */
tcc_status cuda_place_tensors(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs);
/* Between the caller's tensors and pinned memory. */
void cuda_take_inputs(tcc_session *s, const tcc_tensor *inputs);
void cuda_give_outputs(tcc_session *s, const tcc_tensor *outputs);

#endif
