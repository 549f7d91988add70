# Dims that are not proved equal meet, in every kind of kernel: each pair is a check at entry.
dim N in 1..40 tune 21
dim M in 1..40 tune 21
dim K in 1..40 tune 21
dim L in 1..40 tune 21
dim P in 2..40 tune 21

model meet(x: f32[N, K], b: f32[M, K], c: f32[L], d: f32[M, L], v: f32[M], q: f32[P, K], i: i64[M]) -> (
    y: f32[N, K], z: f32[N], w: f32[N, L], s: f32[N, K], g: f32[M, K], u: f32[N, 2, K], t: f32[M, N], m: f32[M, N], e: f32[K, L]) {
    y = x + b * 2.0
    z = sum(x * b, axis=1) + v
    w = x @ (d.T @ b).T + (x[:, :1] * c)
    s = select(x > b, softmax(x + c), b[::-1] - q)
    g = gather(q + x, i)
    u = reshape(concat([x + b, x * q], axis=1), [N, 2, K])
    t = reshape(x, [N, K])[:, None, :][:, 0] @ q.T + d
    m = (x - q)[::-1] @ x.T + v[:, None]
    e = einsum("nk,nl->kl", x, d)
}
