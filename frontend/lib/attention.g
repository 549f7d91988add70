# Attention.

# softmax(q k^T scale + mask) v over the last two axes. A bool mask keeps where it holds, one of floats is
# added; scale is 1 / sqrt(width) unless given.
fn attention(q, k, v, mask=None, scale=None, causal=false) {
    d = wide(q.dtype)
    s = matmul(q, k.T, dtype=d)
    if scale == None { s = s * rsqrt(cast(q.shape[-1], to=d)) } else { s = s * cast(scale, to=d) }
    if mask != None {
        assert mask.dtype == bool or wide(mask.dtype) == d
        if mask.dtype == bool { s = select(mask, s, -inf) } else { s = s + cast(mask, to=d) }
    }
    if causal {
        row = iota([s.shape[-2], s.shape[-1]], axis=0)
        s = select(iota([s.shape[-2], s.shape[-1]], axis=1) <= row, s, -inf)
    }
    return cast(softmax(s, axis=-1) @ cast(v, to=d), to=q.dtype)
}

# x[B, T, heads * w] to [B, heads, T, w], and back.
fn split_heads(x, heads) {
    return permute(reshape(x, [x.shape[0], x.shape[1], heads, -1]), [0, 2, 1, 3])
}

fn join_heads(x) {
    return reshape(permute(x, [0, 2, 1, 3]), [x.shape[0], x.shape[2], -1])
}

# Self-attention of x[B, T, E] with in_proj_weight[3 E, E], in_proj_bias and out_proj, as
# torch.nn.MultiheadAttention with batch_first.
fn multi_head_attention(x, heads, mask=None, causal=false) {
    assert len(x.shape) == 3
    e = x.shape[-1]
    d = wide(x.dtype)
    param in_proj_weight: x.dtype[3 * e, e]
    param in_proj_bias: x.dtype[3 * e]
    p = cast(matmul(x, in_proj_weight.T, dtype=d) + cast(in_proj_bias, to=d), to=x.dtype)
    q = split_heads(p[:, :, :e], heads)
    k = split_heads(p[:, :, e:2 * e], heads)
    v = split_heads(p[:, :, 2 * e:], heads)
    return linear(join_heads(attention(q, k, v, mask=mask, causal=causal)), e) as "out_proj"
}
