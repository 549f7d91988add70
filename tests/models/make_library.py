#!/usr/bin/env python3
"""Writes the parameters, inputs and expected outputs of library.g, computed with numpy in double precision.

    pip install numpy; python3 make_library.py

library.safetensors holds the parameters; library_cases.safetensors holds MODEL/INPUT and MODEL/OUTPUT.
"""
import json
import math
import struct
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
rng = np.random.default_rng(7)
params, cases = {}, {}
erf = np.vectorize(math.erf)
erfc = np.vectorize(math.erfc)


def draw(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def param(name, *shape, positive=False):
    value = draw(*shape)
    params[name] = np.abs(value) + np.float32(0.5) if positive else value
    return params[name].astype(np.float64)


def case(model, **tensors):
    for name, value in tensors.items():
        cases[f"{model}/{name}"] = value


def wide(x):
    return x.astype(np.float64)


def out(x, dtype=np.float32):
    return np.asarray(x).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu(x):
    return 0.5 * x * erfc(-x / math.sqrt(2))


def activations():
    x = np.concatenate([draw(2, 8) * 3, np.float32([[0.0], [-13.25]])], axis=1)
    w = wide(x)
    u = math.sqrt(2 / math.pi) * (w + 0.044715 * w**3)
    sp = np.logaddexp(0, w)
    elu = np.where(w > 0, w, np.expm1(w))
    selu = 1.0507009873554805 * np.where(w > 0, w, 1.6732632423543772 * np.expm1(w))
    hard = np.clip(w + 3, 0, 6) / 6
    case("activations", x=x, relu_y=out(np.maximum(w, 0)), relu6_y=out(np.clip(w, 0, 6)),
         leaky=out(np.where(w > 0, w, 0.2 * w)), elu_y=out(elu), selu_y=out(selu),
         sigmoid_y=out(sigmoid(w)), silu_y=out(w * sigmoid(w)), softplus_y=out(sp),
         log_sigmoid_y=out(-np.logaddexp(0, -w)), mish_y=out(w * np.tanh(sp)), gelu_y=out(gelu(w)),
         gelu_tanh_y=out(w * sigmoid(2 * u)), hardsigmoid_y=out(hard), hardswish_y=out(w * hard),
         softsign_y=out(w / (1 + np.abs(w))), clip_y=out(np.clip(w, -1, 2.5)))


def softmaxes():
    x, m = draw(3, 5), np.zeros((3, 5), np.float32)
    m[0, 1] = m[2, :] = -np.inf
    w, masked = wide(x), wide(x + m)
    with np.errstate(invalid="ignore"):
        safe = softmax(masked)
    safe[2] = 0
    lse = np.log(np.exp(w).sum(-1, keepdims=True))
    with np.errstate(divide="ignore"):
        masked_lse = np.log(np.exp(masked).sum(-1))
    case("softmaxes", x=x, masked=x + m, y=out(softmax(w)), first=out(softmax(w, 0)), safe=out(safe),
         logs=out(w - lse), lse=out(masked_lse), lse_keep=out(lse), var=out(w.var(-1)))


def layer_norm(w, weight, bias):
    d = w - w.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * weight + bias


def halves():
    x = draw(2, 5).astype(np.float16)
    w = wide(x)
    params["halves.weight"] = draw(5).astype(np.float16)
    params["halves.bias"] = draw(5).astype(np.float16)
    n = layer_norm(w, wide(params["halves.weight"]), wide(params["halves.bias"]))
    case("halves", x=x, y=out(gelu(w), np.float16), s=out(softmax(w), np.float16), n=out(n, np.float16))


def channels(v):
    return v[:, None]


def norms():
    x = draw(2, 6, 4)
    w = wide(x)
    ln = layer_norm(w, param("ln.weight", 4), param("ln.bias", 4))
    rms = w / np.sqrt((w * w).mean(-1, keepdims=True) + 1e-6) * param("rms.weight", 4)
    mean, var = param("bn.running_mean", 6), param("bn.running_var", 6, positive=True)
    bn = (w - channels(mean)) / np.sqrt(channels(var) + 1e-5)
    bn = bn * channels(param("bn.weight", 6)) + channels(param("bn.bias", 6))
    g = w.reshape(2, 3, 8)
    d = g - g.mean(-1, keepdims=True)
    gn = (d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)).reshape(2, 6, 4)
    gn = gn * channels(param("gn.weight", 6)) + channels(param("gn.bias", 6))
    case("norms", x=x, ln=out(ln), rms=out(rms), bn=out(bn), gn=out(gn))


def linears():
    x, ids = draw(2, 3, 4), np.array([[0, 3], [-1, 1]], np.int64)
    w = wide(x)
    y = w @ param("fc.weight", 5, 4).T + param("fc.bias", 5)
    z = w @ param("bare.weight", 5, 4).T
    table = param("table.weight", 4, 3)
    hot = (ids[..., None] == np.arange(4)).astype(np.float32)
    case("linears", x=x, ids=ids, y=out(y), z=out(z), e=out(table[ids]), hot=hot, flat=x.reshape(2, 12))


def conv(x, w, bias, stride, pad, dilation, groups):
    """Cross-correlation by the definition, one output element at a time."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:])]
    size = [(x.shape[i + 2] - reach[i]) // stride[i] + 1 for i in range(rank)]
    y = np.zeros([x.shape[0], w.shape[0]] + size)
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for n, o, *at in np.ndindex(*y.shape):
        first = o // per_out * per_in
        part = tuple(slice(a * s, a * s + r, d) for a, s, r, d in zip(at, stride, reach, dilation))
        y[(n, o, *at)] = (x[(n, slice(first, first + per_in), *part)] * w[o]).sum()
    return y if bias is None else y + bias.reshape([-1] + [1] * rank)


def convs():
    x, s, v = draw(2, 4, 6, 7), draw(2, 2, 9), draw(1, 1, 3, 4, 5)

    def run(name, x, shape, bias=True, stride=1, pad=0, dilation=None, groups=1):
        rank = x.ndim - 2
        w = param(f"{name}.weight", *shape)
        b = param(f"{name}.bias", shape[0]) if bias else None
        return out(conv(wide(x), w, b, [stride] * rank, [pad] * rank, dilation or [1] * rank, groups))

    case("convs", x=x, s=s, v=v, plain=run("plain", x, (3, 4, 3, 3)),
         strided=run("strided", x, (4, 2, 3, 2), stride=2, pad=1, groups=2),
         dilated=run("dilated", x, (4, 4, 3, 3), bias=False, dilation=[1, 2]),
         depth=run("depth", x, (4, 1, 3, 3), pad=1, groups=4), one=run("one", s, (3, 2, 5)),
         three=run("three", v, (2, 1, 2, 2, 2)))


def pool(x, kernel, stride, pad, how, ceil=False):
    rank = x.ndim - 2
    size = []
    for i in range(rank):
        room = x.shape[i + 2] + 2 * pad - kernel
        n = -(-room // stride) + 1 if ceil else room // stride + 1
        if ceil and (n - 1) * stride >= x.shape[i + 2] + pad:
            n -= 1
        size.append(n)
    y = np.zeros(list(x.shape[:2]) + size)
    for n, c, *at in np.ndindex(*y.shape):
        lo = [a * stride - pad for a in at]
        part = tuple(slice(max(l, 0), max(l + kernel, 0)) for l in lo)
        y[(n, c, *at)] = how(x[(n, c, *part)])
    return out(y)


def pools():
    x, s, v = draw(2, 2, 5, 6), draw(2, 2, 7), draw(1, 1, 4, 4, 4)
    w = wide(x)
    case("pools", x=x, s=s, v=v, m=pool(w, 2, 2, 0, np.max), mp=pool(w, 3, 2, 1, np.max),
         mc=pool(w, 2, 2, 0, np.max, ceil=True), a=pool(w, 2, 2, 0, np.mean),
         ai=pool(w, 2, 2, 1, lambda p: p.sum() / 4), ae=pool(w, 2, 2, 1, np.mean),
         m1=pool(wide(s), 2, 2, 0, np.max), a1=pool(wide(s), 2, 2, 0, np.mean),
         m3=pool(wide(v), 2, 2, 0, np.max), a3=pool(wide(v), 2, 2, 0, np.mean),
         ga=out(w.mean((2, 3))), gm=out(w.max((2, 3), keepdims=True)))


def attend(q, k, v, scale, add=0.0):
    return softmax(q @ np.swapaxes(k, -1, -2) * scale + add) @ v


def attentions():
    q, k, v = draw(2, 2, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 3)
    mask = rng.random((2, 1, 3, 5)) < 0.6
    mask[..., 0] = True
    bias, x = draw(3, 5), draw(2, 3, 6)
    a = wide(q), wide(k), wide(v)
    lower = np.where(np.tril(np.ones((3, 5), bool)), 0, -np.inf)
    p = wide(x) @ param("mha.in_proj_weight", 18, 6).T + param("mha.in_proj_bias", 18)
    parts = [np.swapaxes(p[..., 6 * i:6 * i + 6].reshape(2, 3, 2, 3), 1, 2) for i in range(3)]
    joined = np.swapaxes(attend(*parts, 1 / math.sqrt(3)), 1, 2).reshape(2, 3, 6)
    heads = joined @ param("mha.out_proj.weight", 6, 6).T + param("mha.out_proj.bias", 6)
    case("attentions", q=q, k=k, v=v, mask=mask, bias=bias, x=x, plain=out(attend(*a, 0.5)),
         masked=out(attend(*a, 0.5, np.where(mask, 0, -np.inf))), biased=out(attend(*a, 0.3, bias)),
         causal=out(attend(*a, 0.5, lower)), heads=out(heads))


def losses():
    x, t, label = draw(3, 4), rng.random((3, 4)).astype(np.float32), np.array([0, 3, 1], np.int32)
    w, target = wide(x), wide(t)
    rows = np.log(np.exp(w).sum(-1)) - w[np.arange(3), label]
    d = np.abs(w - target)
    p = sigmoid(w)
    bce = -(target * np.log(p) + (1 - target) * np.log(1 - p)).mean()
    smooth = np.where(d < 0.5, d * d / (2 * 0.5), d - 0.25).mean()
    case("losses", x=x, t=t, label=label, ce=out(rows.mean()), rows=out(rows), mse=out((d * d).mean()),
         l1=out(d.mean()), smooth=out(smooth), bce=out(bce), logits=out(bce))


def cells():
    x, h, c = draw(2, 3), draw(2, 4), draw(2, 4)

    def gates(name, count):
        wi, wh = param(f"{name}.weight_ih", count * 4, 3), param(f"{name}.weight_hh", count * 4, 4)
        return (wide(x) @ wi.T + param(f"{name}.bias_ih", count * 4),
                wide(h) @ wh.T + param(f"{name}.bias_hh", count * 4))

    a, b = gates("lstm", 4)
    i, f, g, o = np.split(a + b, 4, axis=1)
    cell = sigmoid(f) * wide(c) + sigmoid(i) * np.tanh(g)
    a, b = gates("gru", 3)
    (ar, az, an), (br, bz, bn) = np.split(a, 3, axis=1), np.split(b, 3, axis=1)
    r, z = sigmoid(ar + br), sigmoid(az + bz)
    n = np.tanh(an + r * bn)
    case("cells", x=x, h=h, c=c, lh=out(sigmoid(o) * np.tanh(cell)), lc=out(cell),
         gh=out((1 - z) * n + z * wide(h)))


def steps():
    """The cells called three times with the same parameters."""
    x, h, c = draw(2, 3, 3), draw(2, 4), draw(2, 4)

    def gates(name, count):
        wi, wh = param(f"{name}.weight_ih", count * 4, 3), param(f"{name}.weight_hh", count * 4, 4)
        bi, bh = param(f"{name}.bias_ih", count * 4), param(f"{name}.bias_hh", count * 4)
        return lambda x, h: (x @ wi.T + bi, h @ wh.T + bh)

    lstm, gru = gates("steps.lstm", 4), gates("steps.gru", 3)
    lh, lc, gh = wide(h), wide(c), wide(h)
    for t in range(3):
        a, b = lstm(wide(x[:, t]), lh)
        i, f, g, o = np.split(a + b, 4, axis=1)
        lc = sigmoid(f) * lc + sigmoid(i) * np.tanh(g)
        lh = sigmoid(o) * np.tanh(lc)
        a, b = gru(wide(x[:, t]), gh)
        (ar, az, an), (br, bz, bn) = np.split(a, 3, axis=1), np.split(b, 3, axis=1)
        z = sigmoid(az + bz)
        gh = (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * gh
    case("steps", x=x, h=h, c=c, lh=out(lh), gh=out(gh))


NAMES = {"float16": "F16", "float32": "F32", "int32": "I32", "int64": "I64", "bool": "BOOL"}


def save(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        value = np.ascontiguousarray(value)
        span = [len(data), len(data) + value.nbytes]
        header[name] = {"dtype": NAMES[str(value.dtype)], "shape": list(np.shape(tensors[name])), "data_offsets": span}
        data += value.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


for make in (activations, softmaxes, halves, norms, linears, convs, pools, attentions, losses, cells,
             steps):
    make()
save(HERE / "library.safetensors", params)
save(HERE / "library_cases.safetensors", cases)
