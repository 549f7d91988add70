// Every kernel of these tests reads `a` and `b`, writes `out`, and is told `n`, so that one runner
// serves all: KERNEL(name, type of a, of b, of out). INDEX is the thread's place in the grid.
#pragma once
#define KERNEL(name, A, B, OUT)                                                                    \
    extern "C" __global__ void name(const A *a, const B *b, OUT *out, int n)
#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu
