# pytorch#122260: x/1e-6 + y/1e-6 was contracted to one fma, which rounds one of the two quotients only. Each op rounds; judge.py says
# that the values differ from those of every contraction, and that x y is rounded.
#: x = [1.95, 2.3, 2.07] y = [-2.07, -2.07, -1.43] -> s = [-120000, 230000, 640000] d = [0*3]
model m(x: f32[3], y: f32[3]) -> (s: f32[3], d: f32[3]) {
    s = x / 1e-6 + y / 1e-6
    d = x * y + x * -y
}
