# Cells of recurrent networks. Parameters are named as in torch.nn, and shared: a cell that is called again under
# one name, as in a loop over time, is one cell.

# One step of torch.nn.LSTMCell: weight_ih[4 H, I], weight_hh[4 H, H] and biases, gates in the order
# input, forget, cell, output. Gives h and c.
fn lstm_cell(x, h, c) {
    n = h.shape[-1]
    d = wide(x.dtype)
    shared param weight_ih: x.dtype[4 * n, x.shape[-1]]
    shared param weight_hh: x.dtype[4 * n, n]
    shared param bias_ih: x.dtype[4 * n]
    shared param bias_hh: x.dtype[4 * n]
    g = matmul(x, weight_ih.T, dtype=d) + cast(bias_ih, to=d) + matmul(h, weight_hh.T, dtype=d) + cast(bias_hh, to=d)
    kept = sigmoid(g[:, n:2 * n]) * cast(c, to=d)
    cell = kept + sigmoid(g[:, :n]) * tanh(g[:, 2 * n:3 * n])
    return cast(sigmoid(g[:, 3 * n:]) * tanh(cell), to=x.dtype), cast(cell, to=x.dtype)
}

# One step of torch.nn.GRUCell: weight_ih[3 H, I], weight_hh[3 H, H] and biases, gates in the order reset,
# update, new. Gives h.
fn gru_cell(x, h) {
    n = h.shape[-1]
    d = wide(x.dtype)
    shared param weight_ih: x.dtype[3 * n, x.shape[-1]]
    shared param weight_hh: x.dtype[3 * n, n]
    shared param bias_ih: x.dtype[3 * n]
    shared param bias_hh: x.dtype[3 * n]
    a = matmul(x, weight_ih.T, dtype=d) + cast(bias_ih, to=d)
    b = matmul(h, weight_hh.T, dtype=d) + cast(bias_hh, to=d)
    r = sigmoid(a[:, :n] + b[:, :n])
    z = sigmoid(a[:, n:2 * n] + b[:, n:2 * n])
    fresh = tanh(a[:, 2 * n:] + r * b[:, 2 * n:])
    return cast((1.0 - z) * fresh + z * cast(h, to=d), to=x.dtype)
}
