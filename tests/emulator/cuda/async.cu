// Copies to shared memory that go on while the program does.
#include "kernel.cuh"

#define SHARED_ADDRESS(p) (unsigned)__cvta_generic_to_shared(p)
#define COPY16(to, from)                                                                           \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED_ADDRESS(to)), "l"(from)  \
                 : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")

// Blocks of 64 threads; each block sums n / gridDim.x values in stages of 256, three in flight.
KERNEL(copy_pipeline, float, int, float) {
    __shared__ __align__(16) float stage[3][256];
    int count = n / gridDim.x / 256, t = threadIdx.x;
    const float *from = a + blockIdx.x * count * 256;
    float sum = 0;
    for (int k = 0; k < 2; k++) {
        if (k < count) COPY16(&stage[k][t * 4], from + k * 256 + t * 4);
        COMMIT();
    }
    for (int k = 0; k < count; k++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int i = 0; i < 4; i++) sum += stage[k % 3][t + i * 64];
        if (k + 2 < count) COPY16(&stage[(k + 2) % 3][t * 4], from + (k + 2) * 256 + t * 4);
        COMMIT();
    }
    out[INDEX] = sum;
}

// Bytes behind src-size are zeros.
KERNEL(copy_zero_fill, int, int, int) {
    __shared__ __align__(16) int box[4 * 64];
    int t = threadIdx.x, bytes = 4 * (b[t] & 3);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SHARED_ADDRESS(&box[4 * t])),
                 "l"(a + 4 * t), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 4; i++) out[4 * t + i] = box[4 * t + i];
}

// Small copies, and an mbarrier that waits for them.
KERNEL(copy_with_barrier, int, int, int) {
    __shared__ unsigned long long done;
    __shared__ int box[64];
    unsigned bar = SHARED_ADDRESS(&done);
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(bar) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED_ADDRESS(&box[t])), "l"(a + t)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory");
    asm volatile("{.reg .pred p; again: mbarrier.test_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(bar)
                 : "memory");
    out[t] = box[63 - t];
}
