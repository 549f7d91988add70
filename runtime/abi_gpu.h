/* What GPU kernels and the runtime agree on: how an entry of a PTX module is launched. The code
 * generator fills a TccGpuLaunch for each kernel (codegen/nvptx/launch.c); the runtime launches by
 * it. Changing anything here changes TCC_ABI_VERSION.
 *
 * PARAMETERS. 64 bits each, at offsets 0, 8, 16, … of the parameter buffer, in this order:
 *
 *     buffer_0 … buffer_{n-1}   device addresses by argument number, as in TccKernelArgs
 *     dim_0 … dim_{m-1}         i64: of the model's dims those that the kernel mentions, by rising
 *                               slot
 *     error                     address of a TccErrorWord (abi.h) in device memory
 *     scratch                   address of scratch memory, a multiple of 64; 0 if there is none
 *     points                    i64: the points of the kernel's grid
 *
 * BLOCKS. A block has `threads` × 1 × 1 threads (the entry says .reqntid) and takes
 * `points_per_block` points of the kernel's grid at a time; blocks take them in turn, so a launch
 * may have any number of blocks from 1 on, in x. More than points / points_per_block, rounded up,
 * have nothing to do; more than run at the same time (some per multiprocessor) gain nothing, and
 * each needs its own scratch. No launch is needed for 0 points. Blocks never wait for each other.
 *
 * MEMORY. A block has `shared_bytes` of dynamic shared memory (above 48 KiB the function's
 * attribute must allow it first), and scratch bytes of global memory, block b the b-th part. What
 * is in either at the start does not matter. Buffers are aligned as their dtype is: a kernel that
 * accesses 16 bytes at a time asks first whether its buffers are, and has other code if not. Single
 * elements of 4 bits are stored by atomic operations on the word of 4 bytes around them, so memory
 * for such buffers is whole words, cleared once when it is allocated: what was never written would
 * be read, and the half of a byte behind an odd number of elements stays zero.
 *
 * ERRORS. A kernel that meets an index out of range claims the word by compare-and-swap (state 0 ->
 * 1), writes it and sets state 2; it goes on with the index clamped. The word is all zero before
 * the launch. With a word of its own for each launch of a run (an array in device memory, cleared
 * before the run and read behind it) the first with a state is the error to report: what follows
 * has computed on clamped data, and the outputs are not to be used.
 */
#ifndef TCC_RUNTIME_ABI_GPU_H
#define TCC_RUNTIME_ABI_GPU_H

#include "runtime/abi.h"

typedef struct TccGpuLaunch {
    uint32_t threads;
    uint32_t points_per_block;
    uint32_t shared_bytes;
    uint32_t dim_count; /* m: how many of the model's dims it takes */
} TccGpuLaunch;

#endif
