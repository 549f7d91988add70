# Two numbers a row in, the probabilities of three classes out.
dim N in 1..1024 tune 8

model hello(x: f32[N, 2]) -> (probs: f32[N, 3], best: i64[N]) {
    w = tensor([[1.0, -1.0, 0.5], [0.0, 2.0, -0.5]])
    b = tensor([0.0, 0.1, 0.2])
    logits = x @ w + b
    probs = softmax(logits)
    best = argmax(logits, axis=1)
}
