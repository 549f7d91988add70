# Functions stand outside of models, and are told so where they do not.
model nested(x: f32[4]) -> (y: f32[4]) {
    fn twice(x) { return x + x }               # error: syntax@5
    y = twice(x)
}
