# One layer of LSTM, 512 wide, over 64 steps, as torch.nn.LSTM with batch_first. What the inputs give to the gates does
# not depend on the state, so it is one product for all steps.
dim N in 1..8 tune 1

fn lstm_layer(x, h, c, width) {
    param weight_ih_l0: x.dtype[4 * width, x.shape[2]]
    param weight_hh_l0: x.dtype[4 * width, width]
    param bias_ih_l0: x.dtype[4 * width]
    param bias_hh_l0: x.dtype[4 * width]
    inputs = x @ weight_ih_l0.T + bias_ih_l0 + bias_hh_l0
    steps = []
    for t in 0..<x.shape[1] {
        g = inputs[:, t] + h @ weight_hh_l0.T
        c = sigmoid(g[:, width:2 * width]) * c + sigmoid(g[:, :width]) * tanh(g[:, 2 * width:3 * width])
        h = sigmoid(g[:, 3 * width:]) * tanh(c)
        steps = steps + [h[:, None]]
    }
    return concat(steps, axis=1)
}

model lstm(x: f32[N, 64, 512], h: f32[N, 512], c: f32[N, 512]) -> (all: f32[N, 64, 512]) {
    all = lstm_layer(x, h, c, 512) as "rnn"
}
