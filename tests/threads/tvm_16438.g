# tvm#16438, ROCm/triton#900, executorch#22324: tanh written with exp(2 x) is NaN from 45 on, and gelu by it at -13.24.
#: x = [45, 50, -50, 1e30, -inf, inf, nan, -0.0] -> t = [1, 1, -1, 1, -1, 1, nan, -0.0]
#:      g = [45, 50, -0.0, 1e30, nan, inf, nan, -0.0]
#: x = [-13.24, -20, -100, 13.24, 1, -1, 0, 9.5] -> t ~1e-6 [-1, -1, -1, 1, 0.761594156, -0.761594156, 0, 1]
#:      g ~1e-6 [-0.0, -0.0, -0.0, 13.24, 0.841191991, -0.158808009, 0, 9.5]
model m(x: f32[8]) -> (t: f32[8], g: f32[8]) {
    t = tanh(x)
    g = gelu_tanh(x)
}
