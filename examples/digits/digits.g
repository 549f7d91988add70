# digits.g: a small CNN
weights "digits.safetensors"
dim N in 1..256 tune 32

fn linear(x, n) {
    param weight: f32[n, x.shape[-1]]
    param bias:   f32[n]
    return x @ weight.T + bias
}

fn logits(image) {
    h = relu(conv2d(image, out=16, kernel=3, pad=1) as "conv1")
    h = max_pool2d(relu(conv2d(h, out=32, kernel=3, pad=1) as "conv2"), 2)
    return linear(relu(linear(flatten(h, 1), 64) as "fc1"), 10) as "fc2"
}

model digits(image: f32[N, 1, 8, 8]) -> (probs: f32[N, 10]) {
    probs = softmax(logits(image), axis=-1)
}
