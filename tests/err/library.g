dim N in 1..4

# The place in the user's file comes first, whatever is wrong inside the library.
fn mine(x) { return softmax(x, axis=3) } # error: axis-range@21

model m(x: f32[N, 4], i: i64[N]) -> (y: f32[N, 4]) {
    a = gelu(i)                          # error: literal-range@9
    b = mine(x)
    c = batch_norm(i[:, None]) as "bn"   # error: literal-range@9
    d = cross_entropy(x, x)              # error: dtype-index@9
    e = attention(x, x[:, :2], x)        # error: matmul-shape@9
    f = max_pool2d(x, 2)                 # error: assert-failed@9
    g = layer_norm(x[0, 0]) as "ln"      # error: index-range@9
    h = layer_norm(x, 4) as "ln4"        # error: assert-failed@9
    j = batch_norm(x, 4) as "bn4"        # error: assert-failed@9
    k = attention(x, x, x, mask=i)       # error: assert-failed@9
    l = multi_head_attention(x, 2)       # error: assert-failed@9
    o = attention(x, x, x, mask=f64(x))  # error: assert-failed@9
    p = attention(x, x, x, mask=f16(x[:, :1])) + attention(x, x, x, mask=x[:, :1] > 0.0)
    y = x
}
