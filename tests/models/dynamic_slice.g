# Dims whose products have intervals that reach below 0, though they themselves do not.
dim N in 2..9
model m(x: u8[N, 3, N, 17]) -> (y: u8[N - 1, N, 17], z: u8[N, N - 1, 17]) {
    y = x[:, -2, :, :][1:]
    z = permute(y, [1, 0, 2])
}
