# Attention. Each model is one kernel that reads its inputs and writes its outputs, in whatever words it
# is written.
dim T in 1..80 tune 40
dim S in 1..150 tune 70

model library(q: f32[2, 3, T, 16], k: f32[2, 3, S, 16], v: f32[2, 3, S, 24]) -> (y: f32[2, 3, T, 24]) {
    y = attention(q, k, v)
}
model causal(q: f32[2, T, 16], k: f32[2, T, 16], v: f32[2, T, 16]) -> (y: f32[2, T, 16]) {
    y = attention(q, k, v, causal=true)
}
model added_mask(q: f32[2, T, 16], k: f32[2, S, 16], v: f32[2, S, 16], mask: f32[T, S]) -> (y: f32[2, T, 16]) {
    y = attention(q, k, v, mask=mask, scale=0.5)
}
model chosen(q: f16[2, T, 16], k: f16[2, S, 16], v: f16[2, S, 16], mask: bool[2, 1, S]) -> (y: f16[2, T, 16]) {
    y = attention(q, k, v, mask=mask)
}
model primitives(q: bf16[2, T, 16], k: bf16[2, S, 16], v: bf16[2, S, 8]) -> (y: bf16[2, T, 8]) {
    s = matmul(q, k.T, dtype=f32) * 0.25
    e = exp(s - max(s, axis=-1, keep=true))
    p = e / sum(e, axis=-1, keep=true)
    y = cast(matmul(p, cast(v, to=f32)), to=bf16)
}
model reordered(a: f32[T, 16], b: f32[S, 16], c: f32[S, 8]) -> (y: f32[T, 8]) {
    s = a @ b.T
    top = max(s, axis=1)
    w = exp(s + (-top)[:, None])
    l = sum(w, axis=1)
    y = (w * (1.0 / l)[:, None]) @ c
}
model divided_behind(a: f32[T, 16], b: f32[S, 16], c: f32[S, 8]) -> (y: f32[T, 8]) {
    s = tanh(a @ b.T * 0.1) * 10.0
    w = exp(s - max(s, axis=1, keep=true))
    y = (w @ c) / sum(w, axis=1, keep=true)
}
model safe(a: f32[T, 16], b: f32[S, 16], c: f32[S, 8], keep: bool[T, S]) -> (y: f32[T, 8]) {
    y = safe_softmax(select(keep, a @ b.T, -inf)) @ c
}
model window(q: f32[2, T, 16], k: f32[2, T, 16], v: f32[2, T, 16]) -> (y: f32[2, T, 16]) {
    s = q @ k.T
    row = iota([T, T], axis=0)
    column = iota([T, T], axis=1)
    near = column <= row and column > row - 20
    y = softmax(select(near, s, -inf)) @ v
}
model grouped(q: f32[2, 6, T, 16], k: f32[2, 2, S, 16], v: f32[2, 2, S, 16]) -> (y: f32[2, 6, T, 16]) {
    h = reshape(q, [2, 2, 3, T, 16])
    y = reshape(attention(h, k[:, :, None], v[:, :, None]), [2, 6, T, 16])
}
model joined_heads(x: f32[2, T, 3, 16], k: f32[2, S, 3, 16], v: f32[2, S, 3, 16]) -> (y: f32[2, T, 48]) {
    o = attention(permute(x, [0, 2, 1, 3]), permute(k, [0, 2, 1, 3]), permute(v, [0, 2, 1, 3]))
    y = reshape(permute(o, [0, 2, 1, 3]), [2, T, 48])
}
