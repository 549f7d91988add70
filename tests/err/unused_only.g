weights "small.safetensors"              # warning: weights-unused@9
fn layer(x) {
    param w: f32[2, 3]
    return w @ x
}
model m(x: f32[3]) -> (y: f32[2]) { y = layer(x) as "a" }
