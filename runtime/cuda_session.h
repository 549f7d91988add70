/* What the files of a session on a GPU share. cuda_session.c makes it and reserves its memory,
 * cuda_tensors.c brings the caller's tensors there and back, cuda_run.c does the work between.
 *
 * Tensors come and go through one block of pinned memory, whose places depend on the dims alone, as
 * all device addresses do: so a run with the dims of the one before is the same work on the same
 * addresses, and is recorded as a CUDA graph.
 *
 *     pinned   | inputs | outputs | error words |      one part each, aligned
 *     device   | inputs | outputs | error words |      the same layout
 *     arena, scratch                                   by the plan; per block of a launch
 */
#ifndef TCC_RUNTIME_CUDA_SESSION_H
#define TCC_RUNTIME_CUDA_SESSION_H

#include "runtime/cuda.h"

typedef struct CudaBlock {
    uint64_t address, size;
} CudaBlock;

struct CudaSession {
    void *stream, *begin, *end; /* the events around a kernel, for profiles */
    CudaBlock io, arena, scratch;
    void *pinned;
    size_t pinned_size;
    uint64_t *part;      /* by buffer: an input's or output's place in io and pinned */
    uint64_t *buffers;   /* by buffer: its device address */
    int64_t *points;     /* by launch */
    uint32_t *blocks;    /* likewise */
    uint64_t *arguments; /* room for those of one launch */
    uint64_t errors;     /* the place of the error words */
    uint64_t io_bytes;
    void *tables;
    size_t tables_size;
    void *exec;    /* the recorded run; NULL: none yet */
    uint32_t runs; /* with these dims */
};

/* Says what the driver could not do, on the session. */
tcc_status cuda_session_fail(tcc_session *s, const CudaError *error);

/* Drops the recorded run. */
void cuda_forget_run(const Cuda *cuda, CudaSession *c);

/* cuda_run.c: a run from beginning to end. */
tcc_status cuda_run(tcc_session *s, const tcc_tensor *inputs, const tcc_tensor *outputs);

/* cuda_tensors.c: between the caller's tensors and pinned memory. */
void cuda_take_inputs(tcc_session *s, const tcc_tensor *inputs);
void cuda_give_outputs(tcc_session *s, const tcc_tensor *outputs);

#endif
