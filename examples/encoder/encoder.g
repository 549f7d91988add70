# encoder.g: a transformer encoder
dim B in 1..64 tune 8
dim T in 1..512 tune 128

fn heads(x, n) { return permute(reshape(x, [x.shape[0], x.shape[1], n, -1]), [0, 2, 1, 3]) }

fn block(x, mask, n) {
    q = heads(linear(x, 384) as "query", n)
    k = heads(linear(x, 384) as "key", n)
    v = heads(linear(x, 384) as "value", n)
    s = q @ k.T / sqrt(f32(q.shape[-1])) + mask
    c = reshape(permute(softmax(s, axis=-1) @ v, [0, 2, 1, 3]), x.shape)
    x = layer_norm(x + (linear(c, 384) as "out")) as "norm1"
    return layer_norm(x + (linear(gelu(linear(x, 1536) as "up"), 384) as "down")) as "norm2"
}

model encode(ids: i64[B, T], mask: i64[B, T]) -> (embedding: f32[B, 384]) {
    param table: f32[30522, 384]
    x = gather(table, ids)
    m = select(mask[:, None, None, :] != 0, 0.0, -1e9)
    for i in 0..<6 { x = block(x, m, 12) as "encoder.layer.{i}" }
    w = f32(mask)[:, :, None]
    e = sum(x * w, axis=1) / maximum(sum(w, axis=1), 1e-9)
    embedding = e / sqrt(sum(e * e, axis=-1, keep=true))
}
