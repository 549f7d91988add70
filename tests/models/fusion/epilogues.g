# What follows a sum of products goes into its kernel.
dim N in 1..256 tune 32

# ---- bias, GELU, residual after a matmul
model mlp_library(x: f32[N, 64], r: f32[N, 48]) -> (y: f32[N, 48]) {
    y = gelu(linear(x, 48) as "fc") + r
}
model mlp_primitives(x: f32[N, 64], w: f32[64, 48], b: f32[48], r: f32[N, 48]) -> (y: f32[N, 48]) {
    h = x @ w + b
    y = r + 0.5 * h * (1.0 + erf(h / sqrt(2.0)))
}
model mlp_reordered(a: f32[N, 64], k: f32[48, 64], c: f32[48], skip: f32[N, 48]) -> (out: f32[N, 48]) {
    t = c + matmul(a, k.T)
    g = erfc(t * -0.7071067811865476)
    out = t * (g * 0.5) + skip
}
model mlp_batched(x: f32[N, 5, 64], w: f32[64, 48], b: f32[48], r: f32[N, 5, 48]) -> (y: f32[N, 5, 48]) {
    y = gelu_tanh(x @ w + b) + r
}

# ---- convolution, batch norm, relu
model conv_library(x: f32[N, 3, 12, 12]) -> (y: f32[N, 16, 12, 12]) {
    y = relu(batch_norm(conv2d(x, out=16, kernel=3, pad=1) as "conv") as "bn")
}
fn channel(v) { return reshape(v, [16, 1, 1]) }
model conv_primitives(x: f32[N, 3, 12, 12]) -> (y: f32[N, 16, 12, 12]) {
    param gamma: f32[16]
    param beta: f32[16]
    param mean: f32[16]
    param var: f32[16]
    h = conv2d(x, out=16, kernel=3, pad=1) as "conv"
    h = (h - channel(mean)) / sqrt(channel(var) + 1e-5)
    y = maximum(h * channel(gamma) + channel(beta), 0.0)
}
model conv_reordered(image: f32[N, 3, 12, 12]) -> (out: f32[N, 16, 12, 12]) {
    param scale: f32[16]
    param shift: f32[16]
    t = conv2d(image, out=16, kernel=3, pad=1) as "c"
    out = maximum(0.0, channel(shift) + channel(scale) * t)
}
