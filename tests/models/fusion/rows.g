# Chains over a row. Each model is one kernel that reads its inputs and writes its outputs; the
# names say which computation it is a spelling of.
dim N in 0..512 tune 64
dim M in 1..64 tune 8
dim D in 1..4096 tune 1000

# ---- softmax
model softmax_library(x: f32[N, 300]) -> (y: f32[N, 300]) { y = softmax(x, axis=-1) }
model softmax_primitives(x: f32[N, 300]) -> (y: f32[N, 300]) {
    m = max(x, axis=-1, keep=true)
    e = exp(x - m)
    y = e / sum(e, axis=-1, keep=true)
}
model softmax_reordered(scores: f32[N, 300]) -> (p: f32[N, 300]) {
    top = max(scores, axis=1)
    shifted = exp(scores + (-top)[:, None])
    p = shifted * (1.0 / sum(shifted, axis=1))[:, None]
}
model softmax_dynamic(x: f32[N, M, D]) -> (y: f32[N, M, D]) { y = softmax(x, axis=-1) }
model softmax_half(x: f16[N, 300]) -> (y: f16[N, 300]) { y = softmax(x, axis=-1) }
model softmax_columns(x: f32[N, 40, 33]) -> (y: f32[N, 40, 33]) { y = softmax(x, axis=1) }
model softmax_masked(x: f32[N, 300], mask: bool[N, 300]) -> (y: f32[N, 300]) {
    y = safe_softmax(select(mask, x * 0.125, -inf), axis=-1)
}

# ---- log-softmax
model log_softmax_library(x: f32[N, 300]) -> (y: f32[N, 300]) { y = log_softmax(x, axis=-1) }
model log_softmax_primitives(x: f32[N, 300]) -> (y: f32[N, 300]) {
    m = max(x, axis=-1, keep=true)
    y = x - m - log(sum(exp(x - m), axis=-1, keep=true))
}
model log_softmax_reordered(a: f32[N, 300]) -> (b: f32[N, 300]) {
    top = max(a, axis=1)
    norm = top + log(sum(exp(a - top[:, None]), axis=1))
    b = a - norm[:, None]
}

# ---- layer norm
model layer_norm_library(x: f32[N, 384]) -> (y: f32[N, 384]) { y = layer_norm(x) as "norm" }
model layer_norm_primitives(x: f32[N, 384], w: f32[384], b: f32[384]) -> (y: f32[N, 384]) {
    mu = sum(x, axis=-1, keep=true) / 384.0
    d = x - mu
    var = sum(d * d, axis=-1, keep=true) / 384.0
    y = d / sqrt(var + 1e-5) * w + b
}
model layer_norm_reordered(t: f32[N, 384], gain: f32[384], shift: f32[384]) -> (out: f32[N, 384]) {
    squares = mean(t * t, axis=1)
    centre = mean(t, axis=1)
    scale = rsqrt(1e-5 + (squares - centre * centre))
    out = shift + gain * ((t - centre[:, None]) * scale[:, None])
}
model layer_norm_residual(x: f32[N, M, 384], r: f32[N, M, 384]) -> (y: f32[N, M, 384]) {
    y = layer_norm(x + r) as "norm"
}

# ---- rms norm
model rms_norm_library(x: f32[N, 384]) -> (y: f32[N, 384]) { y = rms_norm(x) as "norm" }
model rms_norm_primitives(x: f32[N, 384], w: f32[384]) -> (y: f32[N, 384]) {
    y = x * rsqrt(mean(x * x, axis=-1, keep=true) + 1e-6) * w
}
model rms_norm_reordered(v: f32[N, 384], gain: f32[384]) -> (u: f32[N, 384]) {
    power = sum(v ** 2, axis=1) * (1.0 / 384.0)
    u = gain * v / sqrt(power + 1e-6)[:, None]
}

# ---- softmax cross entropy, a number a row
model cross_entropy_library(x: f32[N, 300], label: i64[N]) -> (loss: f32[N]) {
    loss = cross_entropy_rows(x, label)
}
model cross_entropy_primitives(x: f32[N, 300], label: i64[N]) -> (loss: f32[N]) {
    m = max(x, axis=-1)
    loss = m + log(sum(exp(x - m[:, None]), axis=-1)) - gather(x, label, axis=1, batch=1)
}
model cross_entropy_reordered(logits: f32[N, 300], target: i64[N]) -> (nll: f32[N]) {
    top = max(logits, axis=1, keep=true)
    e = exp(logits - top)
    hit = target[:, None] == arange(300, dtype=i64)
    picked = sum(select(hit, logits - top, 0.0), axis=1)
    nll = log(sum(e, axis=1)) - picked
}

# ---- other chains
model chain_elementwise(x: f32[N, 300], b: f32[300]) -> (y: f32[N, 300]) {
    y = tanh(x * 2.0 + b) * x - 1.0
}
model chain_statistics(x: f32[N, 300]) -> (lo: f32[N], hi: f32[N], where: i64[N]) {
    lo = min(x, axis=1)
    hi = max(x, axis=1)
    where = argmax(x, axis=1)
}
model chain_standardise(x: f32[N, 300], s: f32[N]) -> (y: f32[N, 300]) {
    d = x - max(x, axis=1, keep=true)
    z = d / (sum(abs(d), axis=1, keep=true) + 1.0)
    y = z * s[:, None] + min(z, axis=1, keep=true)
}
model chain_norm_of_rows(x: f32[N, 300]) -> (y: f32[N, 300]) {
    y = x / maximum(sqrt(sum(x * x, axis=-1, keep=true)), 1e-12)
}
