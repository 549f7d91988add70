# minilm.g: all-MiniLM-L6-v2, a sentence encoder of the BERT family. Parameters have the names of its file.
dim B in 1..64 tune 1
dim T in 1..512 tune 128

# Token ids to vectors of the hidden size. The type of all tokens is 0: they are of the first sentence.
fn embed(ids, dtype) {
    words = embedding(ids, 30522, 384, dtype=dtype) as "word_embeddings"
    places = embedding(arange(ids.shape[1]), 512, 384, dtype=dtype) as "position_embeddings"
    types = embedding(zeros([1], dtype=i64), 2, 384, dtype=dtype) as "token_type_embeddings"
    return layer_norm(words + places + types, eps=1e-12) as "LayerNorm"
}

fn self_attention(x, mask) {
    q = split_heads(linear(x, 384) as "query", 12)
    k = split_heads(linear(x, 384) as "key", 12)
    v = split_heads(linear(x, 384) as "value", 12)
    return join_heads(attention(q, k, v, mask=mask))
}

# What a part of a layer made of x, through a dense layer, added to x.
fn add_and_norm(x, made) {
    return layer_norm(x + (linear(made, 384) as "dense"), eps=1e-12) as "LayerNorm"
}

fn layer(x, mask) {
    x = add_and_norm(x, self_attention(x, mask) as "attention.self") as "attention.output"
    made = gelu(linear(x, 1536) as "intermediate.dense")
    return add_and_norm(x, made) as "output"
}

# The mean over the tokens that mask keeps, of length 1.
fn pool(x, mask) {
    w = f32(mask)[:, :, None]
    mean = sum(f32(x) * w, axis=1) / maximum(sum(w, axis=1), 1e-9)
    return mean / maximum(sqrt(sum(mean * mean, axis=-1, keep=true)), 1e-12)
}

fn encode(ids, mask, dtype) {
    x = embed(ids, dtype) as "embeddings"
    keep = mask[:, None, None, :] != 0
    for i in 0..<6 { x = layer(x, keep) as "encoder.layer.{i}" }
    return pool(x, mask)
}

# mask is 1 for a token and 0 for padding behind the last; each sentence has a token at least.
model minilm(ids: i64[B, T], mask: i64[B, T]) -> (embedding: f32[B, 384]) {
    embedding = encode(ids, mask, f32)
}

# The same with parameters and activations of bf16, and sums of f32.
model minilm_bf16(ids: i64[B, T], mask: i64[B, T]) -> (embedding: f32[B, 384]) {
    embedding = encode(ids, mask, bf16)
}
