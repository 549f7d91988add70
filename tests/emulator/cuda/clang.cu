// Kernels that clang compiles without the headers of CUDA.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define INDEX (int)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + \
                    __nvvm_read_ptx_sreg_tid_x())
#define KERNEL(name, A, B, OUT)                                                                    \
    extern "C" __global__ void name(const A *a, const B *b, OUT *out, int n)

KERNEL(clang_axpy, float, float, float) {
    int i = INDEX;
    if (i < n) out[i] = a[i] * 3.0f + b[i];
}

__device__ __attribute__((noinline)) int twist(int x, long long y) { return x ^ (int)(y >> 7); }

KERNEL(clang_calls, int, int, int) {
    int i = INDEX;
    out[i] = twist(a[i], (long long)b[i] * a[i]) + twist(i, 99999);
}

KERNEL(clang_reverse, int, int, int) {
    static __shared__ int box[64];
    int t = (int)__nvvm_read_ptx_sreg_tid_x();
    box[t] = a[INDEX];
    __nvvm_bar_sync(0);
    out[INDEX] = box[63 - t];
}

KERNEL(clang_switch, int, int, int) {
    int i = INDEX, x = a[i];
    switch (x & 3) {
    case 0: x += 100; break;
    case 1: x = x * x; break;
    case 2: x = -x / 3; break;
    default: x = b[i] % 17; break;
    }
    out[i] = x;
}
