# Two dims, or a dim and a size, that only a check at entry makes equal: a warning, where they meet first, unless
# it is asserted.
dim N in 1..8
dim M in 1..8
dim K in 1..8

model meet(x: f32[N, 3], b: f32[M, 3], c: f32[K, 3]) -> (y: f32[N, 3], z: f32[N, 3]) {
    y = x + b                            # warning: dims-equal@11
    assert K == N
    z = x - b * 2.0 + softmax(c)
}

model fixed(x: f32[N, 3], b: f32[M, 2]) -> (y: f32[N, 3], z: f32[N, 2]) {
    y = x - mean(x, axis=1)              # warning: dims-equal@11
    assert M == 2
    z = zeros([N, 2]) + b[0] + b[:, 0]
}
