# modular#7165, pytorch#188492: partial sums and dots in bf16. 14336 times 1 + 2^-7 is 14448, 14464 in bf16; kept in bf16 it stays at 256.
#: x = [1*14336] w = [1.0078125*14336] -> y = 14464 s = 14336
model m(x: bf16[1, 14336], w: bf16[14336, 1]) -> (y: bf16[1, 1], s: bf16) {
    y = x @ w
    s = sum(x)
}
