# Uses what allocates, reads and starts threads: weights, a contraction, rows, a branch and a loop.
weights "weights.safetensors"
dim N in 1..64 tune 8

model small(x: f32[N, 8]) -> (y: f32[N, 4], best: i64[N]) {
    h = relu(linear(x, 16) as "fc1")
    z = linear(h, 4) as "fc2"
    y = softmax(z)
    best = argmax(z, axis=1)
}
