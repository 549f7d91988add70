# A perceptron for images of 28 × 28.
dim N in 1..64 tune 1

model mlp(image: f32[N, 784]) -> (logits: f32[N, 10]) {
    h = relu(linear(image, 256) as "fc1")
    h = relu(linear(h, 256) as "fc2")
    logits = linear(h, 10) as "fc3"
}
