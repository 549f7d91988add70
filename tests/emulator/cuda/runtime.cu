// What the device's runtime does, and what the machine says of itself.
#include "kernel.cuh"

#include <cassert>
#include <cstdio>

KERNEL(prints, int, int, int) {
    if (INDEX < 2) printf("thread %d of %s: %5.2f %x %c %lld\n", INDEX, "block", a[INDEX] * 0.5, 255, 'c', 1ll << 40);
    out[INDEX] = 1;
}

KERNEL(assertions, int, int, int) {
    assert(a[INDEX] < 100000);
    out[INDEX] = a[INDEX] + 1;
}

KERNEL(geometry, int, int, int) {
    int i = INDEX;
    unsigned warps, clock0, clock1;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock0));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock1));
    out[4 * i] = blockIdx.x * 1000 + threadIdx.x;
    out[4 * i + 1] = gridDim.x * 1000 + blockDim.x;
    out[4 * i + 2] = warpSize + (clock1 >= clock0) + (warps > 0);
    out[4 * i + 3] = threadIdx.y + blockDim.y + gridDim.z;
}

KERNEL(heap, int, int, int) {
    int *words = (int *)malloc(16 * sizeof(int));
    if (!words) return;
    for (int i = 0; i < 16; i++) words[i] = a[INDEX] + i;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += words[i] * (i & 3);
    free(words);
    out[INDEX] = sum;
}
