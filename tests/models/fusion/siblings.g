# Products of one tensor with several weights: one product where kernels read the results through slices.
dim T in 1..40 tune 12

# A product, and attention.
model heads(x: f32[2, T, 24]) -> (y: f32[2, T, 24]) {
    q = split_heads(linear(x, 24) as "query", 3)
    k = split_heads(linear(x, 24) as "key", 3)
    v = split_heads(linear(x, 24) as "value", 3)
    y = join_heads(attention(q, k, v))
}
# Of different widths, without what is added, scaled by a number a row.
model groups(x: f32[T, 20], s: f32[T]) -> (y: f32[T, 40]) {
    q = (linear(x, 40, bias=false) as "q") * s[:, None]
    k = (linear(x, 8, bias=false) as "k") * s[:, None]
    v = (linear(x, 8, bias=false) as "v") * s[:, None]
    y = k @ (k.T @ v) @ (v.T @ q)
}
# Results that are outputs would be copies, and those that meet are an epilogue of one of the products.
model outputs(x: f32[T, 20]) -> (y: f32[T, 7], z: f32[T, 9]) {
    y = linear(x, 7) as "first"
    z = linear(x, 9) as "second"
}
model gate(x: f32[T, 20]) -> (y: f32[T, 30]) {
    y = silu(linear(x, 30) as "gate") * (linear(x, 30) as "gated")
}
# A layer of an encoder: one product, attention, two products with a norm behind each, one with an activation.
# What leaves the last norm is an output, so that none of them is cut off.
fn add_and_norm(x, made) { return layer_norm(x + (linear(made, 24) as "dense")) as "norm" }
model layer(x: f32[2, T, 24]) -> (y: f32[2, T, 24]) {
    q = split_heads(linear(x, 24) as "query", 3)
    k = split_heads(linear(x, 24) as "key", 3)
    v = split_heads(linear(x, 24) as "value", 3)
    x = add_and_norm(x, join_heads(attention(q, k, v))) as "attention"
    y = add_and_norm(x, gelu(linear(x, 96) as "wide")) as "mlp"
}
