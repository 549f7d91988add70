/* What compiled kernels and the runtime agree on. Changing anything here changes TCC_ABI_VERSION.
 *
 * A CPU kernel runs the grid points begin..end-1 of its tile program, numbered row-major, on the
 * calling thread. It imports nothing and keeps no state.
 */
#ifndef TCC_RUNTIME_ABI_H
#define TCC_RUNTIME_ABI_H

#include <stdint.h>

enum { TCC_ABI_VERSION = 3 };

/* The first index error of a run; written once (state 0 -> 1 -> 2) by whichever thread finds it
 * first. */
typedef struct TccErrorWord {
    int32_t state; /* 0: none, 1: being written, 2: complete */
    int32_t site;  /* which check of the kernel */
    int64_t index; /* the value out of range */
    int64_t bound; /* it had to be in [-bound, bound) */
} TccErrorWord;

typedef struct TccKernelArgs {
    void *const *buffers; /* by argument number */
    const int64_t *dims;  /* the values of the model's dims, by slot */
    void *scratch;        /* this thread's, 64-byte aligned */
    TccErrorWord *error;
} TccKernelArgs;

typedef void TccKernel(const TccKernelArgs *args, int64_t begin, int64_t end);

#endif
