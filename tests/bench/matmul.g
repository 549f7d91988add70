# The product that tests/bench/emulator.c runs as a kernel for GPUs.
model matmul(a: f16[512, 512], b: f16[512, 512]) -> (c: f16[512, 512]) {
    c = a @ b
}
