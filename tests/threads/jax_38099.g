# jax#38099, jax#38100: log(exp(89)) was 89, log2(exp2(128)) 128. exp(89) and exp2(128) are inf in f32.
#: x = [89, 128] -> y = [inf, inf] z = [89, inf]
#: x = [-inf, inf] -> y = [-inf, inf] z = [-inf, inf]
model m(x: f32[2]) -> (y: f32[2], z: f32[2]) {
    y = log(exp(x))
    z = log2(exp2(x))
}
