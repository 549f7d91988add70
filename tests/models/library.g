# One model a case of the library; library_cases.safetensors holds its inputs and what numpy expects.
weights "library.safetensors"
dim N in 1..16 tune 2
dim T in 1..16 tune 3

model activations(x: f32[N, 9]) -> (relu_y: f32[N, 9], relu6_y: f32[N, 9], leaky: f32[N, 9], elu_y: f32[N, 9], selu_y: f32[N, 9],
                                     sigmoid_y: f32[N, 9], silu_y: f32[N, 9], softplus_y: f32[N, 9], log_sigmoid_y: f32[N, 9],
                                     mish_y: f32[N, 9], gelu_y: f32[N, 9], gelu_tanh_y: f32[N, 9], hardsigmoid_y: f32[N, 9],
                                     hardswish_y: f32[N, 9], softsign_y: f32[N, 9], clip_y: f32[N, 9]) {
    relu_y = relu(x)
    relu6_y = relu6(x)
    leaky = leaky_relu(x, slope=0.2)
    elu_y = elu(x)
    selu_y = selu(x)
    sigmoid_y = sigmoid(x)
    silu_y = silu(x)
    softplus_y = softplus(x)
    log_sigmoid_y = log_sigmoid(x)
    mish_y = mish(x)
    gelu_y = gelu(x)
    gelu_tanh_y = gelu_tanh(x)
    hardsigmoid_y = hardsigmoid(x)
    hardswish_y = hardswish(x)
    softsign_y = softsign(x)
    clip_y = clip(x, -1, 2.5)
}

model softmaxes(x: f32[N, 5], masked: f32[N, 5]) -> (y: f32[N, 5], first: f32[N, 5], safe: f32[N, 5], logs: f32[N, 5], lse: f32[N],
                                                  lse_keep: f32[N, 1], var: f32[N]) {
    y = softmax(x)
    first = softmax(x, axis=0)
    safe = safe_softmax(masked)
    logs = log_softmax(x)
    lse = logsumexp(masked)
    lse_keep = logsumexp(x, keep=true)
    var = variance(x, axis=-1)
}

model halves(x: f16[N, 5]) -> (y: f16[N, 5], s: f16[N, 5], n: f16[N, 5]) {
    y = gelu(x)
    s = softmax(x)
    n = layer_norm(x) as "halves"
}

model norms(x: f32[N, 6, 4]) -> (ln: f32[N, 6, 4], rms: f32[N, 6, 4], bn: f32[N, 6, 4], gn: f32[N, 6, 4]) {
    ln = layer_norm(x) as "ln"
    rms = rms_norm(x) as "rms"
    bn = batch_norm(x) as "bn"
    gn = group_norm(x, 3) as "gn"
}

model linears(x: f32[N, 3, 4], ids: i64[N, 2]) -> (y: f32[N, 3, 5], z: f32[N, 3, 5], e: f32[N, 2, 3], hot: f32[N, 2, 4], flat: f32[N, 12]) {
    y = linear(x, 5) as "fc"
    z = linear(x, 5, bias=false) as "bare"
    e = embedding(ids, 4, 3) as "table"
    hot = one_hot(ids, 4)
    flat = flatten(x, 1)
}

model convs(x: f32[N, 4, 6, 7], s: f32[N, 2, 9], v: f32[1, 1, 3, 4, 5]) -> (plain: f32[N, 3, 4, 5], strided: f32[N, 4, 3, 4],
            dilated: f32[N, 4, 4, 3], depth: f32[N, 4, 6, 7], one: f32[N, 3, 5], three: f32[1, 2, 2, 3, 4]) {
    plain = conv2d(x, out=3, kernel=3) as "plain"
    strided = conv2d(x, out=4, kernel=[3, 2], stride=2, pad=1, groups=2) as "strided"
    dilated = conv2d(x, out=4, kernel=3, dilation=[1, 2], bias=false) as "dilated"
    depth = depthwise_conv2d(x, kernel=3, pad=1) as "depth"
    one = conv1d(s, out=3, kernel=5) as "one"
    three = conv3d(v, out=2, kernel=2) as "three"
}

model pools(x: f32[N, 2, 5, 6], s: f32[N, 2, 7], v: f32[1, 1, 4, 4, 4]) -> (m: f32[N, 2, 2, 3], mp: f32[N, 2, 3, 3], mc: f32[N, 2, 3, 3],
            a: f32[N, 2, 2, 3], ai: f32[N, 2, 3, 4], ae: f32[N, 2, 3, 4], m1: f32[N, 2, 3], a1: f32[N, 2, 3], m3: f32[1, 1, 2, 2, 2],
            a3: f32[1, 1, 2, 2, 2], ga: f32[N, 2], gm: f32[N, 2, 1, 1]) {
    m = max_pool2d(x, 2)
    mp = max_pool2d(x, 3, stride=2, pad=1)
    mc = max_pool2d(x, 2, ceil_mode=true)
    a = avg_pool2d(x, 2)
    ai = avg_pool2d(x, 2, pad=1)
    ae = avg_pool2d(x, 2, pad=1, count_include_pad=false)
    m1 = max_pool1d(s, 2)
    a1 = avg_pool1d(s, 2)
    m3 = max_pool3d(v, 2)
    a3 = avg_pool3d(v, 2)
    ga = global_avg_pool(x)
    gm = global_max_pool(x, keep=true)
}

model attentions(q: f32[N, 2, T, 4], k: f32[N, 2, 5, 4], v: f32[N, 2, 5, 3], mask: bool[N, 1, T, 5], bias: f32[T, 5], x: f32[N, T, 6]) -> (
        plain: f32[N, 2, T, 3], masked: f32[N, 2, T, 3], biased: f32[N, 2, T, 3], causal: f32[N, 2, T, 3], heads: f32[N, T, 6]) {
    plain = attention(q, k, v)
    masked = attention(q, k, v, mask=mask)
    biased = attention(q, k, v, mask=bias, scale=0.3)
    causal = attention(q, k, v, causal=true)
    heads = multi_head_attention(x, 2) as "mha"
}

model losses(x: f32[N, 4], t: f32[N, 4], label: i32[N]) -> (ce: f32, rows: f32[N], mse: f32, l1: f32, smooth: f32, bce: f32, logits: f32) {
    ce = cross_entropy(x, label)
    rows = cross_entropy_rows(x, i64(label))
    mse = mse_loss(x, t)
    l1 = l1_loss(x, t)
    smooth = smooth_l1_loss(x, t, beta=0.5)
    bce = bce_loss(sigmoid(x), t)
    logits = bce_with_logits_loss(x, t)
}

model cells(x: f32[N, 3], h: f32[N, 4], c: f32[N, 4]) -> (lh: f32[N, 4], lc: f32[N, 4], gh: f32[N, 4]) {
    lh, lc = lstm_cell(x, h, c) as "lstm"
    gh = gru_cell(x, h) as "gru"
}

model steps(x: f32[N, 3, 3], h: f32[N, 4], c: f32[N, 4]) -> (lh: f32[N, 4], gh: f32[N, 4]) {
    g = h
    for t in 0..<3 {
        h, c = lstm_cell(x[:, t], h, c) as "steps.lstm"
        g = gru_cell(x[:, t], g) as "steps.gru"
    }
    lh = h
    gh = g
}
