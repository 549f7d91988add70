# triton#2630: split-K partial sums in f16 were off by 0.125. 4096 ones are 4096: a sum that was kept in f16 stays at 2048.
#: x = [1*4096] w = [1*4096, 0.5*4096] -> y = [4096, 2048] s = 4096
model m(x: f16[1, 4096], w: f16[2, 4096]) -> (y: f16[1, 2], s: f16) {
    y = x @ w.T
    s = sum(x)
}
