weights "small.safetensors"
model m(x: f32[3]) -> (y: f32[2]) {
    param w: f32[2]                      # error: missing-weight@11
    y = w
}
