# Products with what is made of whole rows of them: one kernel each.
dim M in 1..70 tune 24

model norm(x: f32[2, M, 20], r: f32[2, M, 48]) -> (y: f32[2, M, 48]) { y = layer_norm(r + (linear(x, 48) as "norm.product")) as "norm" }
model both(x: f32[M, 20], r: f32[M, 33]) -> (sum: f32[M, 33], y: f32[M, 33]) {
    sum = r + (linear(x, 33) as "both.product")
    y = rms_norm(sum) as "both"
}
model classes(x: f32[M, 9]) -> (p: f32[M, 130]) { p = softmax(linear(x, 130) as "classes") }
model best(x: f32[M, 9], w: f32[9, 17]) -> (i: i64[M], top: f32[M]) {
    s = x @ w
    i = argmax(s, axis=-1)
    top = max(s, axis=-1)
}
model scaled(x: f32[M, 21], w: f32[21, 70]) -> (q: i8[M, 70], scale: f32[M, 1]) {
    s = x @ w
    scale = max(abs(s), axis=-1, keep=true) / 127
    q = cast(round(s / maximum(scale, 1e-9)), to=i8)
}
model half(x: bf16[M, 20], r: bf16[M, 48]) -> (y: bf16[M, 48]) { y = layer_norm(r + (linear(x, 48) as "half.product")) as "half" }
