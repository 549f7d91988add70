# Recurrent layers over five steps: what the inputs give is one product, and each step has one of its own.
dim N in 1..8 tune 2

model lstm(x: f32[N, 5, 20], h: f32[N, 12], c: f32[N, 12]) -> (y: f32[N, 12], z: f32[N, 12]) {
    for t in 0..<5 { h, c = lstm_cell(x[:, t], h, c) as "rnn" }
    y = h
    z = c
}
model gru_time_first(x: f32[5, N, 20], h: f32[N, 12]) -> (y: f32[N, 12]) {
    for t in 0..<5 { h = gru_cell(x[t], h) as "gru" }
    y = h
}
